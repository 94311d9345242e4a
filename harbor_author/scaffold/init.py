"""A new suite."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from harbor_author.scaffold.errors import ScaffoldError
from harbor_author.scaffold.render import one_line
from harbor_author.suite import FILE_NAME, SuiteError, load_settings, slugify

_HEAD = "# A suite of Harbor tasks; `author` finds it by this file.\n"


def init_suite(
    root: Path,
    *,
    name: str | None = None,
    dsh: str | None = None,
    source: str | None = None,
    reserved: tuple[str, ...] = (),
) -> list[Path]:
    """Make `root` a suite: `author.toml`, `tasks/` and `references/`. Returns what was made.

    Args:
        name: the suite's name; default: the folder's.
        dsh, source: the host's version and registry; default: the published pins.
        reserved: IDs in use elsewhere, such as `H1-H22`.

    Raises:
        ScaffoldError: it is a suite already, or cannot be written.
        SuiteError: a value cannot stand in author.toml.
    """
    path = root / FILE_NAME
    if path.exists():
        raise ScaffoldError(
            "exists already: this folder is a suite", path=path, hint="edit it, or choose another folder"
        )
    import tomlkit

    chosen = name or slugify(root.resolve().name) or "suite"
    document = tomlkit.document()
    document["suite"] = tomlkit.item(
        {"name": one_line(chosen), "references": ["references"], "contract": "BENCHMARK-AUTH-v1"}
    )
    host = {
        "image": "node:24-bookworm",
        "pnpm": "11.24.0",
        "dsh": dsh or "0.1.2-alpha.2",
        "source": source or "npm",
    }
    document["host"] = tomlkit.item(host)
    document["registry"] = tomlkit.item({"reserved": list(reserved), "retired": {}})
    document["judge"] = tomlkit.item({"on_error": "zero"})
    made: list[Path] = []
    try:
        root.mkdir(parents=True, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(prefix=f".{FILE_NAME}.", dir=root)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
                stream.write(_HEAD + "\n" + tomlkit.dumps(document))
            Path(temporary).chmod(0o644)
            _check(Path(temporary), path)
            for directory in (root / "tasks", root / "references"):
                if not directory.is_dir():
                    directory.mkdir()
                    made.append(directory)
            Path(temporary).rename(path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise ScaffoldError(
            f"cannot be written: {error.strerror}",
            path=error.filename or root,
            hint="check permissions and free space",
        ) from error
    return [path, *made]


def _check(temporary: Path, path: Path) -> None:
    try:
        load_settings(temporary)
    except SuiteError as error:
        raise SuiteError(error.message, path=path, line=error.line, hint=error.hint) from error
