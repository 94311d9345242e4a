"""A new task, sound from the start: reserved, rendered aside, renamed into place."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal

from harbor_author.scaffold.errors import ScaffoldError
from harbor_author.scaffold.render import (
    RenderedFile,
    base_toml,
    host_words,
    layers,
    one_line,
    render,
)
from harbor_author.suite import (
    MODES,
    HostSettings,
    Suite,
    TaskName,
    check_series,
    check_slug,
    contract_block,
    next_id,
    reserve_task,
)

DEFAULT_SLUG = "untitled"
MAX_TITLE_LENGTH = 200


@dataclass(frozen=True)
class TaskRequest:
    """What a new task shall be. `None` means the suite's or the series' default.

    Attributes:
        title: any one line of text, at most 200 characters.
        cards: full card IDs that the task is about; each must be declared in the suite.
    """

    series: str
    slug: str = DEFAULT_SLUG
    title: str | None = None
    cards: tuple[str, ...] = ()
    mode: str | None = None
    host: HostSettings | None = None
    language: Literal["en", "zh"] = "en"


@dataclass(frozen=True)
class NewTask:
    """A task that was made (or, in a dry run, would be): its name, place and files."""

    name: TaskName
    path: Path
    files: tuple[RenderedFile, ...]


def new_task(suite: Suite, request: TaskRequest, *, remotes: bool = False, dry_run: bool = False) -> NewTask:
    """Make a task directory, complete or not at all.

    Args:
        remotes: numbers on remote-tracking branches are in use too.
        dry_run: render everything and write nothing.

    Raises:
        ScaffoldError, SuiteError: unknown series, mode or card, a bad slug or title, or a full disk; nothing is left.
    """
    check_request(suite, request)
    if dry_run:
        task_id = next_id(suite, request.series, remotes=remotes)
        name = TaskName(task_id.series, task_id.number, request.slug)
        return NewTask(name, suite.tasks_dir / str(name), tuple(task_files(suite, request, name)))
    with reserve_task(suite, request.series, request.slug, remotes=remotes) as reservation:
        files = task_files(suite, request, reservation.name)
        for file in files:
            path = reservation.staging / file.path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(file.data)
            path.chmod(file.mode)
    return NewTask(reservation.name, reservation.final, tuple(files))


def check_request(suite: Suite, request: TaskRequest) -> None:
    """Raise what is wrong with a request before anything is touched."""
    check_series(suite, request.series)
    check_slug(request.slug)
    if request.mode is not None and request.mode not in MODES:
        near = get_close_matches(request.mode, MODES, n=1)
        hint = f"did you mean '{near[0]}'?" if near else "use one of: " + ", ".join(MODES)
        raise ScaffoldError(f"there is no mode '{request.mode}'", hint=hint)
    if request.title is not None:
        if not request.title.strip():
            raise ScaffoldError("the title is empty", hint="give a title, or leave --title out")
        if request.title != one_line(request.title):
            raise ScaffoldError(
                "the title has line breaks, control characters or blanks at an end",
                hint="give it as one clean line",
            )
        if len(request.title) > MAX_TITLE_LENGTH:
            raise ScaffoldError(
                f"the title has {len(request.title)} characters, more than {MAX_TITLE_LENGTH}",
                hint="shorten it",
            )
    cards = suite.cards()
    for card_id in request.cards:
        if cards.get(card_id) is None:
            near_card = cards.nearest(card_id)
            hint = (
                f"did you mean {near_card}?" if near_card else "'author cards list' shows the suite's cards"
            )
            raise ScaffoldError(f"no card {card_id} is declared in this suite", hint=hint)


def task_files(suite: Suite, request: TaskRequest, name: TaskName) -> list[RenderedFile]:
    """Every file of a new task."""
    words = task_words(suite, request, name)
    folders = layers(name.series, words["mode"], host=suite.settings.series[name.series].host)
    files = render(folders, words)
    text = task_toml(
        base_toml(folders), suite, name, title=words["title"], mode=words["mode"], cards=request.cards
    )
    return [RenderedFile("task.toml", text.encode("utf-8")), *files]


def task_words(suite: Suite, request: TaskRequest, name: TaskName) -> dict[str, Any]:
    """What the templates of a task may use."""
    settings = suite.settings
    mode = request.mode or settings.series[name.series].mode
    return {
        "id": name.id,
        "id_lower": name.id.lower(),
        "slug": name.slug,
        "name": str(name),
        "title": request.title or default_title(name),
        "series": name.series,
        "number": name.number,
        "mode": mode,
        "language": request.language,
        "cards": list(request.cards),
        "contract": contract_block(mode, request.language),
        "host": host_words(request.host or settings.host),
        "suite_name": settings.name,
        "on_error": settings.on_error,
        "profile": f"bench-{str(name).lower()}",
        "package": f"{str(name).lower()}-plugin",
        "today": datetime.datetime.now(tz=datetime.UTC).date().isoformat(),
    }


def default_title(name: TaskName) -> str:
    return name.slug.replace("-", " ").capitalize()


def task_toml(base: str, suite: Suite, name: TaskName, *, title: str, mode: str, cards: Sequence[str]) -> str:
    """A task.toml from its skeleton; parsed again by the consumer's parser before anyone sees it."""
    import tomllib

    import tomlkit
    from tomlkit.items import Table

    document = tomlkit.parse(base)
    task = document["task"]
    metadata = document["metadata"]
    assert isinstance(task, Table)
    assert isinstance(metadata, Table)
    rest = dict(task)
    task.clear()
    task["name"] = f"{suite.settings.name}/{name.id.lower()}"
    task["description"] = title
    task.update(rest)
    metadata["execution_contract"] = suite.settings.contract
    metadata["mode"] = mode
    if cards:
        metadata["cards"] = list(cards)
    text = tomlkit.dumps(document)
    parsed = tomllib.loads(text)
    if parsed["task"]["description"] != title or parsed["metadata"]["mode"] != mode:
        raise ScaffoldError(
            f"the title {title!r} does not survive TOML", hint="choose another title and report this"
        )
    return text


def parse_host(text: str, default: HostSettings) -> HostSettings:
    """`--host`: a version, or `npm:VERSION` / `pypi:VERSION`; image and pnpm stay the suite's.

    Raises:
        ScaffoldError: neither.
    """
    source, colon, version = text.rpartition(":")
    if colon and source not in ("npm", "pypi"):
        raise ScaffoldError(
            f"'{text}' names no source of a host", hint="write VERSION, npm:VERSION or pypi:VERSION"
        )
    if not version or any(not (character.isalnum() or character in ".-+") for character in version):
        raise ScaffoldError(f"'{text}' is no version of a host", hint="write a version such as 0.1.2-alpha.3")
    chosen = source or default.source
    return replace(default, dsh=version, source="pypi" if chosen == "pypi" else "npm")
