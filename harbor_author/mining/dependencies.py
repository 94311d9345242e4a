"""Packages that a plugin needs when it starts and that git does not hold."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from harbor_author.mining.hostdata import Host
from harbor_author.mining.javascript import SOURCE_SUFFIXES, code_only
from harbor_author.mining.states import Tree

_BUILTIN: Final = frozenset(
    re.findall(
        r"\w+",
        "assert async_hooks buffer child_process cluster console constants crypto dgram diagnostics_channel dns domain "
        "events fs http http2 https inspector module net os path perf_hooks process punycode querystring readline repl "
        "sqlite stream string_decoder sys test timers tls trace_events tty url util v8 vm wasi worker_threads zlib",
    )
)
#: Bounded: a text of nothing but "import" must not be read to its end from each of them.
_STATEMENT: Final = re.compile(
    r"""\bimport\s+(?P<type>type\b[^'"]{0,600}?from\s*)?(?:[\w$*{},\s]{1,600}?\bfrom\s*)?["'](?P<import>[^"'\n]+)["']"""
    r"""|\bexport\s+(?P<type2>type\b)?[\w$*{},\s]{0,600}?\bfrom\s*["'](?P<export>[^"'\n]+)["']"""
    r"""|\b(?:import|require)\(\s*["'](?P<call>[^"'\n]+)["']\s*\)"""
)
_PNPM_PACKAGE: Final = re.compile(
    r"(?m)^  ['\"]?/?((?:@[\w.~-]+/)?[\w.~-]+)@(\d+\.\d+\.\d+[\w.+-]*)['\"]?(?:\(.*)?:$"
)
_NAME: Final = re.compile(r"^(@[a-z0-9~][\w.~-]*/)?[a-zA-Z0-9~][\w.~-]*$")


@dataclass(frozen=True)
class Dependency:
    """A package that code reachable from the entry points imports.

    Attributes:
        declared: the section of package.json that names it; None when none does, which is what a link hides.
        version: an exact version from the repository's lock file, else the declared range, else None.
        importers: the files that import it.
    """

    name: str
    declared: str | None
    version: str | None
    importers: tuple[str, ...]

    @property
    def undeclared(self) -> bool:
        """Only `dependencies`, `peerDependencies` and `optionalDependencies` reach somebody who installs the plugin."""
        return self.declared in (None, "devDependencies")


def runtime_dependencies(
    tree: Tree, manifest: Mapping[str, Any] | None, entries: list[str], host: Host
) -> tuple[Dependency, ...]:
    """The packages that must be installed beside the plugin; the host's own and Node.js' are not among them."""
    manifest = manifest or {}
    own = manifest.get("name")
    importers: dict[str, set[str]] = {}
    for path in _reachable(tree, entries):
        for specifier in imports(tree[path].data.decode("utf-8", "replace")):
            name = package_name(specifier)
            if name is not None and name != own and not host.is_host_package(name):
                importers.setdefault(name, set()).add(path)
    locked = _locked_versions(tree)
    found = []
    for name, paths in sorted(importers.items()):
        section, wanted = _declaration(manifest, name)
        found.append(
            Dependency(
                name=name, declared=section, version=locked.get(name, wanted), importers=tuple(sorted(paths))
            )
        )
    return tuple(found)


def imports(text: str) -> list[str]:
    """Specifiers that are loaded when the code runs; type imports are not."""
    found = []
    for match in _STATEMENT.finditer(code_only(text)):
        if match["type"] or match["type2"]:
            continue
        found.append(match["import"] or match["export"] or match["call"])
    return found


def package_name(specifier: str) -> str | None:
    """The package of a bare specifier; None for a path, an address or one of Node.js' own."""
    if specifier.startswith((".", "/", "#")) or ":" in specifier:
        return None
    parts = specifier.split("/")
    name = "/".join(parts[:2]) if specifier.startswith("@") else parts[0]
    return None if name in _BUILTIN or not _NAME.match(name) else name


def _reachable(tree: Tree, entries: list[str]) -> list[str]:
    """Source files that the entry points load, by relative imports; every source file when no entry is in the tree."""
    waiting = [path for entry in entries if (path := _resolve(tree, entry)) is not None]
    if not waiting:
        return sorted(path for path in tree if path.endswith(SOURCE_SUFFIXES))
    seen: set[str] = set()
    while waiting:
        path = waiting.pop()
        if path in seen or not path.endswith(SOURCE_SUFFIXES):
            continue
        seen.add(path)
        for specifier in imports(tree[path].data.decode("utf-8", "replace")):
            if specifier.startswith("."):
                target = _resolve(
                    tree, posixpath.normpath(posixpath.join(posixpath.dirname(path), specifier))
                )
                waiting += [target] if target is not None else []
    return sorted(seen)


def _resolve(tree: Tree, path: str) -> str | None:
    path = posixpath.normpath(path)
    stem = re.sub(r"\.[cm]?jsx?$", "", path)
    candidates = [
        path,
        *(stem + suffix for suffix in SOURCE_SUFFIXES),
        *(f"{path}/index{suffix}" for suffix in SOURCE_SUFFIXES),
    ]
    return next((candidate for candidate in candidates if candidate in tree), None)


def _declaration(manifest: Mapping[str, Any], name: str) -> tuple[str | None, str | None]:
    for section in ("dependencies", "peerDependencies", "optionalDependencies", "devDependencies"):
        ranges = manifest.get(section)
        if isinstance(ranges, dict) and isinstance(ranges.get(name), str):
            return section, ranges[name]
    return None, None


def _locked_versions(tree: Tree) -> dict[str, str]:
    """Exact versions from package-lock.json or pnpm-lock.yaml, of packages at the top of node_modules."""
    versions: dict[str, str] = {}
    if (lock := tree.get("package-lock.json")) is not None:
        try:
            packages = json.loads(lock.data).get("packages", {})
        except (ValueError, AttributeError):
            packages = {}
        for path, entry in packages.items() if isinstance(packages, dict) else ():
            name = path.removeprefix("node_modules/")
            if name != path and "node_modules/" not in name and isinstance(entry, dict):
                versions[name] = str(entry.get("version", ""))
    if (lock := tree.get("pnpm-lock.yaml")) is not None:
        text = lock.data.decode("utf-8", "replace")
        for name, version in re.findall(
            r"(?m)^  ['\"]?/?((?:@[\w.~-]+/)?[\w.~-]+)@(\d+\.\d+\.\d+[\w.+-]*)['\"]?(?:\(.*)?:$", text
        ):
            versions.setdefault(name, version)
    return {name: version for name, version in versions.items() if version}
