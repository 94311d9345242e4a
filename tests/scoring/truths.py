"""Ground truths and reports of our own for tests."""

from __future__ import annotations

from typing import Any


def finding(name: str, keywords: Any, **fields: Any) -> dict[str, Any]:
    """One finding, CRITICAL unless said otherwise."""
    return {
        "id": name,
        "severity": "CRITICAL",
        "category": "finding",
        "summary": f"summary of {name}",
        "keywords": keywords,
        "explanation": "",
        **fields,
    }


def truth(*findings: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """A valid ground truth."""
    return {
        "fixtureId": "renamed-service",
        "fixturePath": "environment/fixture",
        "domain": "code",
        "findings": list(findings),
        "isCleanBaseline": False,
        **fields,
    }


RENAMED = truth(
    finding("service", {"en": ["tasks", "jobs", "service"], "zh": ["tasks", "jobs", "服务"]}),
    finding(
        "server", {"en": ["httpServer", "webServer", "inject"], "zh": ["httpServer", "webServer", "注入"]}
    ),
    finding(
        "listener", {"en": ["onTaskDone", "onJobDone"], "zh": ["onTaskDone", "onJobDone"]}, severity="MAJOR"
    ),
)

ENGLISH = """# Upgrade report

## The service

The service `tasks` is gone. Use `jobs`.

## The server

- `inject` names `httpServer`, which does not exist any more; it has to name `webServer`.

## The listener

1. `onTaskDone` is never called. Its name is `onJobDone` now.
"""

CHINESE = """# 升级报告

## 服务

服务 `tasks` 已经不存在，应当使用 `jobs`。

## 服务器

- 注入列表写的是 `httpServer`，宿主不再提供；应当写 `webServer`。

## 监听器

1. `onTaskDone` 不会再被调用，现在的名字是 `onJobDone`。
"""
