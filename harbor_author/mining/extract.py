"""A commit, or a corridor of commits, becomes a task: what it is made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from harbor_author.mining.conditions import Condition, Reading
from harbor_author.mining.dependencies import Dependency, runtime_dependencies
from harbor_author.mining.edits import Edit, prepare, scrub_fixture
from harbor_author.mining.errors import MiningError
from harbor_author.mining.facts import is_source
from harbor_author.mining.git import Repository
from harbor_author.mining.git_open import open_repository
from harbor_author.mining.git_stream import BlobReader
from harbor_author.mining.hostdata import Host, load_host
from harbor_author.mining.licence import Licence, find_licence, gate, is_licence_file
from harbor_author.mining.manifest import declared_address, entry_points, parse
from harbor_author.mining.oracle import Plan, plan
from harbor_author.mining.private import Find, Redactor
from harbor_author.mining.runtime import STATIC_POINTS, Runtime, choose_runtime
from harbor_author.mining.scrub import Hint, after_names, find_hints
from harbor_author.mining.states import (
    SIZE_LIMIT,
    LeftOut,
    States,
    Tree,
    TreeFile,
    build_output,
    drop,
    read_states,
)
from harbor_author.mining.touchpoints import TouchPoint, differing_facts, touch_points

TRAP_CAP = 40


@dataclass(frozen=True)
class ExtractRequest:
    """What to extract.

    Attributes:
        first: the first commit of a corridor that ends with `commit`; None for `commit` alone.
        wanted: globs of tests or automation to keep.
        trap: make the state before the last commit a decoy.
        scrub: remove what gives the answer away; else it is only reported.
        accept_licence: `WHO:WHY` when the licence is not permissive.
        source: the repository's address, when neither its own settings nor its package.json tell.
    """

    repository: Path
    commit: str
    first: str | None = None
    subdir: str = ""
    wanted: tuple[str, ...] = ()
    cards: tuple[str, ...] = ()
    trap: bool = False
    scrub: bool = False
    accept_licence: str | None = None
    source: str | None = None
    host: str = "dsh"
    size_limit: int = SIZE_LIMIT


@dataclass(frozen=True)
class Source:
    """Where a task comes from."""

    name: str
    remote: str | None
    before: str
    after: str
    commits: tuple[str, ...]
    subdir: str


@dataclass(frozen=True)
class JudgedPoint:
    """A touch point with its share of the static points; 0 for one without conditions."""

    point: TouchPoint
    points: int


@dataclass(frozen=True)
class Extraction:
    """All that the task is made of. `upstream_*` are git's own bytes, the others what travels."""

    source: Source
    package: str | None
    licence: Licence
    fixture: Tree
    after: Tree
    between: Tree | None
    upstream_before: Tree
    upstream_after: Tree
    plan: Plan
    points: tuple[JudgedPoint, ...]
    trap: tuple[Condition, ...]
    runtime: Runtime
    dependencies: tuple[Dependency, ...]
    contexts: tuple[str, ...]
    left_out: tuple[LeftOut, ...]
    edits: tuple[Edit, ...]
    hints: tuple[Hint, ...]
    finds: tuple[Find, ...]
    remarks: tuple[str, ...] = field(default=())

    @property
    def is_plugin(self) -> bool:
        """Whether there is something that a judge may ask to be still there: a manifest and code."""
        return "package.json" in self.after and any(is_source(path) for path in self.after)

    @property
    def cards(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(card for point in self.points for card in point.point.cards))


def read_extraction(request: ExtractRequest, *, known_cards: Sequence[str], host_runs: bool) -> Extraction:
    """Read all of a migration from git's objects; nothing is written.

    Args:
        known_cards: the cards that the suite declares; others are not cited.
        host_runs: whether the task's image has the host, so that the judge can boot it.

    Raises:
        MiningError: repository or commit cannot be read, the licence forbids it, or nothing would be left to migrate.
    """
    host = load_host(request.host)
    with open_repository(request.repository) as repository, repository.blobs() as blobs:
        source, between = _source(repository, request)
        states, remarks = _states(repository, blobs, request, source, between, host)
        manifest_before, manifest_after = (_manifest(tree) for tree in (states.before, states.after))
        licence = gate(
            find_licence(
                states.after, manifest_after or manifest_before, _root_licences(repository, blobs, source)
            ),
            request.accept_licence,
        )
    address = request.source or source.remote or declared_address(manifest_after or manifest_before)
    source = replace(source, remote=address)
    if address is None:
        remarks.append("nothing tells where the repository can be had: say it with --source URL")
    if licence.path is None and licence.accepted_by is None:
        remarks.append("no licence text travels: the licence is only declared in package.json")
    redactor = Redactor()
    fixture, edits, finds = prepare(states.before, licence, redactor)
    after, after_edits, after_finds = prepare(states.after, licence, redactor)
    middle = prepare(states.between, licence, redactor)[0] if states.between is not None else None
    if plan(fixture, after).empty:
        raise MiningError(
            "the commit changes nothing that travels into a task",
            path=request.repository,
            hint=f"Left out: {', '.join(sorted({item.why for item in states.left_out if item.changed})) or 'nothing'}.",
        )
    gained = differing_facts(after, fixture, host) - differing_facts(fixture, after, host)
    hints = find_hints(fixture, after_names(fixture, after, gained, host))
    if request.scrub and hints:
        fixture, scrub_edits = scrub_fixture(
            fixture, [after, *([middle] if middle is not None else [])], hints
        )
        edits += scrub_edits
    points = _judged(touch_points(fixture, after, host, request.cards), known_cards, request.cards)
    static = any(point.points for point in points)
    runtime = (
        choose_runtime(after, manifest_after, host, static=static)
        if host_runs and manifest_after is not None
        else Runtime(kind="none", bundles=(), checks=())
    )
    if host_runs and manifest_after is None:
        remarks.append(
            "there is no package.json that the host could load: is the plugin in a folder (--subdir)?"
        )
    if runtime.kind == "none":
        points = _share(points, 100)
        if not static:
            raise MiningError("no check can tell the two states apart, and no host is known that could")
    elif not static:
        remarks.append("no static check separates the two states: the judge rests on the host alone")
    if [point.point.id for point in points] == ["change"]:
        remarks.append(
            f"nothing that {host.name} reads has changed: is this a migration that the host forced?"
        )
    entries = [*entry_points(manifest_before, host.manifest), *entry_points(manifest_after, host.manifest)]
    remarks += _missing_entries(manifest_after, after, host)
    return Extraction(
        source=source,
        package=_package_name(manifest_after or manifest_before),
        licence=licence,
        fixture=fixture,
        after=after,
        between=middle,
        upstream_before=states.before,
        upstream_after=states.after,
        plan=plan(fixture, after),
        points=points,
        trap=_trap(points, middle, host) if middle is not None else (),
        runtime=runtime,
        dependencies=_dependencies(fixture, after, manifest_after, entries, host),
        contexts=host.contexts,
        left_out=states.left_out,
        edits=tuple(dict.fromkeys([*edits, *(edit for edit in after_edits if edit.path not in fixture)])),
        hints=tuple(hints),
        finds=tuple(dict.fromkeys([*finds, *after_finds])),
        remarks=tuple(remarks),
    )


def _source(repository: Repository, request: ExtractRequest) -> tuple[Source, str | None]:
    after = repository.resolve(request.commit)
    first = repository.resolve(request.first) if request.first is not None else after
    parents = repository.commit(first).parents
    if not parents:
        raise MiningError(
            f"commit {first[:12]} has no parent, so there is no state before it",
            path=request.repository,
            hint="Choose a later commit.",
        )
    before = parents[0]
    commits = repository.corridor(before, after)
    between = None
    if request.trap:
        if len(commits) < 2:
            raise MiningError(
                "--trap needs a corridor: the state before its last commit becomes the decoy",
                hint="Give the first commit of the migration with --from.",
            )
        between = commits[-2]
    subdir = request.subdir.strip("/").removeprefix("./")
    if any(part in ("", ".", "..") for part in subdir.split("/")) and subdir:
        raise MiningError(f"--subdir '{request.subdir}' is not a folder inside the repository")
    source = Source(
        name=request.repository.resolve().name.removesuffix(".git"),
        remote=repository.remote(),
        before=before,
        after=after,
        commits=commits,
        subdir=subdir,
    )
    return source, between


def _states(
    repository: Repository,
    blobs: BlobReader,
    request: ExtractRequest,
    source: Source,
    between: str | None,
    host: Host,
) -> tuple[States, list[str]]:
    remarks: list[str] = []
    states = read_states(
        blobs,
        before=repository.tree(repository.tree_id(source.before, source.subdir)),
        after=repository.tree(repository.tree_id(source.after, source.subdir)),
        between=repository.tree(repository.tree_id(between, source.subdir)) if between is not None else None,
        wanted=request.wanted,
        size_limit=request.size_limit,
    )
    if source.subdir:
        outside = [
            path
            for path in repository.changed_paths(source.before, source.after)
            if not path.startswith(source.subdir + "/")
        ]
        if outside:
            shown = ", ".join(outside[:3]) + (" ..." if len(outside) > 3 else "")
            remarks.append(
                f"{len(outside)} changed files lie outside {source.subdir}/ and stay behind: {shown}"
            )
    entries = [
        path
        for tree in (states.before, states.after)
        for path in entry_points(_manifest(tree), host.manifest)
    ]
    reasons, kept = build_output(states.before, states.after, entries)
    return drop(states, reasons), [*remarks, *kept]


def _manifest(tree: Tree) -> dict[str, object] | None:
    return parse(tree["package.json"].data) if "package.json" in tree else None


def _package_name(manifest: dict[str, object] | None) -> str | None:
    name = (manifest or {}).get("name")
    return name if isinstance(name, str) and name else None


def _root_licences(repository: Repository, blobs: BlobReader, source: Source) -> Tree:
    if not source.subdir:
        return {}
    entries = [
        entry
        for entry in repository.top_files(source.after)
        if is_licence_file(entry.path) and entry.mode.startswith("100")
    ]
    return {entry.path: TreeFile(data=blobs.read(entry.oid)) for entry in entries}


def _judged(
    found: Sequence[TouchPoint], known_cards: Sequence[str], asked: Sequence[str]
) -> tuple[JudgedPoint, ...]:
    citable = {*known_cards, *asked}
    points = [
        JudgedPoint(
            point=TouchPoint(
                id=point.id,
                title=point.title,
                cards=tuple(card for card in point.cards if card in citable),
                conditions=point.conditions,
            ),
            points=0,
        )
        for point in found
    ]
    return _share(points, STATIC_POINTS)


def _share(points: Sequence[JudgedPoint], total: int) -> tuple[JudgedPoint, ...]:
    """Spread `total` over the points that can be judged; the first takes the remainder."""
    able = [point for point in points if point.point.conditions]
    if not able:
        return tuple(points)
    each, rest = divmod(total, len(able))
    shares = {id(point): each + (rest if index == 0 else 0) for index, point in enumerate(able)}
    return tuple(JudgedPoint(point=point.point, points=shares.get(id(point), 0)) for point in points)


def _trap(points: Sequence[JudgedPoint], middle: Tree, host: Host) -> tuple[Condition, ...]:
    """The conditions that the state between still fails, when it meets some other."""
    reading = Reading(middle, host.contexts)
    conditions = [condition for point in points for condition in point.point.conditions]
    failing = tuple(condition for condition in conditions if not reading.meets(condition))
    return failing if len(failing) < len(conditions) else ()


def _dependencies(
    fixture: Tree, after: Tree, manifest: dict[str, object] | None, entries: list[str], host: Host
) -> tuple[Dependency, ...]:
    found = {
        item.name: item
        for tree in (fixture, after)
        for item in runtime_dependencies(tree, manifest, entries, host)
    }
    return tuple(found[name] for name in sorted(found))


def _missing_entries(manifest: dict[str, object] | None, tree: Tree, host: Host) -> list[str]:
    missing = [path for path in entry_points(manifest, host.manifest) if "*" not in path and path not in tree]
    return [
        f"the entry point {path} is not in git: the package must be built before the host can load it"
        for path in missing
    ]


def condition_words(condition: Condition) -> dict[str, object]:
    """A condition as the generated judge holds it."""
    return {**condition.as_json(), "says": condition.describe()}
