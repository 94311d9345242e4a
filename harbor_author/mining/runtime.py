"""Which run of the host shows that a migration worked."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final, Literal

from harbor_author.mining.conditions import Condition, Reading
from harbor_author.mining.hostdata import Host
from harbor_author.mining.javascript import SOURCE_SUFFIXES, code_only
from harbor_author.mining.states import Tree

STATIC_POINTS: Final = 60
_RUNTIME_POINTS: Final = 100 - STATIC_POINTS
_ROUTE_POINTS: Final = 10
#: A literal path in a registration with the web server: `register({... path: "/x" ...})` or `get("/x", ...)`.
_ROUTE: Final = re.compile(
    r"""\.\s*(?:register|route|get|use|addRoute)\s*\(\s*(?:\{[^{}]{0,300}?\bpath\s*:\s*)?(["'])(/[\w./-]{1,100})\1"""
)


@dataclass(frozen=True)
class RuntimeCheck:
    """One check of the judge's runtime segment."""

    id: Literal["boot", "graph", "route"]
    points: int
    says: str


@dataclass(frozen=True)
class Runtime:
    """The runtime segment: the profile's bundles and its checks, which take the points that static checks leave."""

    kind: Literal["none", "headless", "web"]
    bundles: tuple[str, ...]
    checks: tuple[RuntimeCheck, ...]
    route: str | None = None

    @property
    def says(self) -> str:
        return "; ".join(check.says for check in self.checks)


def choose_runtime(after: Tree, manifest: dict[str, Any] | None, host: Host, *, static: bool) -> Runtime:
    """The segment that fits the state after.

    Args:
        static: whether static checks take their share of the points.
    """
    points = _RUNTIME_POINTS if static else 100
    if host.runtime is None:
        return Runtime(kind="none", bundles=(), checks=())
    reading = Reading(after, host.contexts)
    client = _has_keys(manifest, host.runtime.client)
    web = any(
        reading.meets(Condition(kind, service, holds=True))
        for service in host.runtime.web_services
        for kind in ("injects", "member")
    )
    if not client and not web:
        check = RuntimeCheck("boot", points, "the plugin activates in a headless profile")
        return Runtime(kind="headless", bundles=host.runtime.headless, checks=(check,))
    route = _route(after) if web else None
    left = points - (_ROUTE_POINTS if route else 0)
    if client:
        checks = [RuntimeCheck("graph", left, "the boot graph of a web profile lists the plugin")]
    else:
        checks = [RuntimeCheck("boot", left, "the plugin activates in a web profile")]
    if route:
        checks.append(RuntimeCheck("route", _ROUTE_POINTS, f"the route {route} answers"))
    return Runtime(kind="web", bundles=host.runtime.web, checks=tuple(checks), route=route)


def _has_keys(manifest: dict[str, Any] | None, keys: tuple[str, ...]) -> bool:
    value: Any = manifest
    for key in keys:
        if not isinstance(value, dict) or key not in value:
            return False
        value = value[key]
    return bool(keys)


def _route(tree: Tree) -> str | None:
    for path in sorted(tree):
        if path.endswith(SOURCE_SUFFIXES):
            text = tree[path].data.decode("utf-8", "replace")
            if "webServer" in text and _ROUTE.search(text) and (match := _ROUTE.search(code_only(text))):
                return match.group(2)
    return None
