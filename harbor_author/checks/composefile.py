"""docker-compose.yaml, parsed once: its services, and the folders that they are built from."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harbor_author.checks.context import TaskFiles

FILES = ("environment/docker-compose.yaml", "tests/docker-compose.yaml")
#: What was read, or why it could not be and on which line.
Parsed = tuple[Any, tuple[str, int | None] | None]


def parsed(files: TaskFiles) -> Mapping[str, Parsed]:
    """Path -> content of each compose file."""
    return files.once("composes", lambda: {p: _parse(files.text(p)) for p in FILES if files.is_file(p)})


def _parse(text: str) -> Parsed:
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    if len(re.findall(r"[*&]\w", text)) > 200 or re.search(r"[\[{]{200}", text):
        # Aliases of aliases unfold exponentially when a document is walked.
        return None, ("it has too many aliases or levels to be a compose file", None)
    try:
        return yaml.load(text, Loader=loader), None  # noqa: S506 - a safe loader
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or "it cannot be read"
        return None, (str(problem), mark.line + 1 if mark is not None else None)
    except (ValueError, RecursionError, TypeError, KeyError, AttributeError, OverflowError) as error:
        return None, (str(error) or type(error).__name__, None)


def composes(files: TaskFiles) -> Iterator[tuple[str, dict[str, Any]]]:
    """(path, document) of each compose file that parses."""
    for path, (document, _) in parsed(files).items():
        if isinstance(document, dict):
            yield path, document


def services(files: TaskFiles) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """(path, name, service) of each service."""
    for path, document in composes(files):
        found = document.get("services")
        for name, service in found.items() if isinstance(found, dict) else ():
            if isinstance(service, dict):
                yield path, str(name), service


def build_contexts(files: TaskFiles) -> dict[str, str]:
    """Dockerfile -> build context (with its slash; "" is the task's folder) of each service that says so itself."""
    found: dict[str, str] = {}
    for path, _, service in services(files):
        build = service.get("build")
        context = (
            build
            if isinstance(build, str)
            else build.get("context", ".")
            if isinstance(build, dict)
            else None
        )
        dockerfile = build.get("dockerfile", "Dockerfile") if isinstance(build, dict) else "Dockerfile"
        if not isinstance(context, str) or not isinstance(dockerfile, str) or "$" in context + dockerfile:
            continue
        folder = posixpath.normpath(posixpath.join(posixpath.dirname(path), context))
        place = posixpath.normpath(posixpath.join(folder, dockerfile))
        if not folder.startswith("..") and not place.startswith("..") and files.is_file(place):
            found.setdefault(place, "" if folder == "." else folder + "/")
    return found


def line_of(files: TaskFiles, path: str, needle: str) -> int | None:
    """The first line that holds a text; YAML's own parse keeps no places."""
    for number, line in enumerate(files.text(path).split("\n"), 1):
        if needle in line:
            return number
    return None
