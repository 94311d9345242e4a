"""Which engine is talked to."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from harbor_author.sandbox.endpoint import endpoint


def test_docker_host_wins() -> None:
    assert (
        endpoint({"DOCKER_HOST": "tcp://elsewhere:2375", "DOCKER_CONTEXT": "other"}) == "tcp://elsewhere:2375"
    )


def test_without_configuration_it_is_the_default(tmp_path: Path) -> None:
    assert endpoint({"HOME": str(tmp_path)}) is None


@pytest.mark.parametrize("content", ["", "[]", "{", '{"currentContext": 3}', '{"currentContext": "default"}'])
def test_an_odd_configuration_is_the_default(tmp_path: Path, content: str) -> None:
    (tmp_path / "config.json").write_text(content)
    assert endpoint({"DOCKER_CONFIG": str(tmp_path)}) is None


def test_a_context_is_asked_of_the_docker_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "config.json").write_text(json.dumps({"currentContext": "far"}))
    script = tmp_path / "docker"
    script.write_text('#!/bin/sh\n[ "$3" = far ] && echo ssh://far\n')
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    assert endpoint({"DOCKER_CONFIG": str(tmp_path)}) == "ssh://far"
