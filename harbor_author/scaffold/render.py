"""Templates -> files: which templates make a task, and the words that they may use."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harbor_author.scaffold.errors import ScaffoldError
from harbor_author.suite import HostSettings

SUFFIX = ".j2"
BASE_TOML = "task.base.toml"
_PEP440 = {"alpha": "a", "beta": "b", "rc": "rc"}


@dataclass(frozen=True)
class RenderedFile:
    """A file of a task in the making. `path` is relative to the task; `data` its bytes."""

    path: str
    data: bytes

    @property
    def mode(self) -> int:
        return 0o755 if self.path.endswith(".sh") else 0o644


def templates_dir() -> Path:
    """Where the templates lie: inside an installed package, or beside it in a checkout.

    Raises:
        ScaffoldError: neither is there.
    """
    package = Path(__file__).resolve().parents[1]
    for candidate in (package / "_templates", package.parent / "templates"):
        if (candidate / "shared").is_dir():
            return candidate
    raise ScaffoldError(
        "the templates are missing from this installation", hint="install harbor-author again"
    )


def pypi_version(version: str) -> str:
    """A host's version as PyPI spells it: `0.1.2-alpha.3` is `0.1.2a3` (PEP 440)."""
    return re.sub(r"-(alpha|beta|rc)\.?(\d+)", lambda match: _PEP440[match[1]] + match[2], version)


def host_words(host: HostSettings) -> dict[str, str]:
    """The host as templates see it: image, pnpm, dsh, source, pypi_version."""
    return {
        "image": host.image,
        "pnpm": host.pnpm,
        "dsh": host.dsh,
        "source": host.source,
        "pypi_version": pypi_version(host.dsh),
    }


def layers(series: str, mode: str, *, host: bool = True) -> list[Path]:
    """The template folders of a series, later ones winning.

    A series that a suite declared itself, without templates of its own, takes those of a series of its kind:
    `S` for reports, `M` for changes to a plugin of the host, `hostless` for changes to a project without one.
    """
    root = templates_dir()
    own = root / series
    if not own.is_dir():
        own = root / ("S" if mode == "readonly" else "M" if host else "hostless")
    return [root / "shared", own]


def base_toml(folders: list[Path]) -> str:
    """The skeleton of task.toml among some template folders: that of the last one."""
    return (folders[-1] / BASE_TOML).read_text(encoding="utf-8")


def render(folders: list[Path], words: Mapping[str, Any]) -> list[RenderedFile]:
    """Render every file of some template folders, sorted by path. `words` is what the templates may use.

    A title or any other word is data: braces in it are never read as a template.
    """
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folders),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # noqa: S701 - the output is code and Markdown; each place names the filter it needs
    )
    environment.filters.update(FILTERS)
    files: dict[str, RenderedFile] = {}
    for folder in folders:
        for source in sorted(path for path in folder.rglob("*") if path.is_file()):
            name = source.relative_to(folder).as_posix()
            if name == BASE_TOML or "__pycache__" in name:
                continue
            if name.endswith(SUFFIX):
                text = environment.from_string(source.read_text(encoding="utf-8")).render(words)
                name = name.removesuffix(SUFFIX)
                files[name] = RenderedFile(name, text.encode("utf-8"))
            else:
                files[name] = RenderedFile(name, source.read_bytes())
    return [files[name] for name in sorted(files)]


def one_line(text: str) -> str:
    """`text` with control characters and line breaks made blanks."""
    return re.sub(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+", " ", text).strip()


def _json(value: Any) -> str:
    # U+2028 and U+2029 end a line in older JavaScript even inside a string.
    text = json.dumps(value, ensure_ascii=False)
    return text.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _toml(value: str) -> str:
    import tomlkit

    return tomlkit.string(str(value)).as_string()


def _comment(value: str) -> str:
    return one_line(str(value)).replace("*/", "* /").replace("-->", "-- >")


def _markdown(value: str) -> str:
    return re.sub(r"([\\`*_\[\]<>|#])", r"\\\1", one_line(str(value)))


FILTERS = {
    "json": _json,
    "toml": _toml,
    "comment": _comment,
    "md": _markdown,
    "sh": lambda value: shlex.quote(one_line(str(value))),
}
