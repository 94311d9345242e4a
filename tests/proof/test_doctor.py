"""`author doctor` on machines that lack something."""

from __future__ import annotations

import os
import shutil
import socket
import tempfile
from pathlib import Path

import pytest

from harbor_author.proof.doctor import Diagnosis, diagnose
from harbor_author.sandbox import docker_engine
from harbor_author.suite import HostSettings


@pytest.fixture
def lacking(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without any engine or program; a folder for its PATH."""
    programs = tmp_path / "bin"
    programs.mkdir()
    monkeypatch.setenv("PATH", str(programs))
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none.sock")
    monkeypatch.setattr(docker_engine, "other_sockets", list)
    return programs


def found() -> dict[str, Diagnosis]:
    return {item.name: item for item in diagnose(HostSettings())}


def program(folder: Path, name: str, says: str) -> None:
    (folder / name).write_text(f"#!/bin/sh\necho '{says}'\n")
    (folder / name).chmod(0o755)


def test_everything_that_is_missing_has_a_remedy(lacking: Path) -> None:
    items = found()
    assert {name for name, item in items.items() if item.status == "missing"} == {
        "engine",
        "base image",
        "git",
    }
    assert items["node"].status == "warning"
    assert all(item.remedy for item in items.values() if item.status != "ok")
    assert (
        items["engine"].remedy == "DOCKER_HOST names it: start that engine, or correct or unset DOCKER_HOST"
    )


@pytest.mark.parametrize(("version", "status"), [("2.11.0", "warning"), ("2.25.0", "ok"), ("3.0", "ok")])
def test_an_old_git(lacking: Path, version: str, status: str) -> None:
    program(lacking, "git", f"git version {version}")
    item = found()["git"]
    assert (item.status, "install git 2.25" in item.remedy) == (status, status == "warning")


@pytest.mark.parametrize("host", ["nonsense", "tcp://127.0.0.1:1", "http://", "tcp://[::1"])
def test_a_wrong_docker_host_is_named(lacking: Path, monkeypatch: pytest.MonkeyPatch, host: str) -> None:
    monkeypatch.setenv("DOCKER_HOST", host)
    item = found()["engine"]
    assert item.status == "missing"
    assert "DOCKER_HOST" in item.remedy


def test_a_socket_that_may_not_be_used(
    lacking: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    item = found()["engine"]
    assert "permission denied" in item.found
    assert "usermod -aG docker" in item.remedy


def test_too_little_room_or_none_at_all(lacking: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = shutil.disk_usage("/")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=1 << 20))
    assert found()["disk"].status == "warning"
    monkeypatch.setattr(os, "access", lambda *_: False)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=1 << 40))
    assert found()["disk"].status == "missing"

    def none() -> str:
        raise FileNotFoundError(2, "No usable temporary directory found")

    monkeypatch.setattr(tempfile, "gettempdir", none)
    assert (found()["disk"].status, "TMPDIR" in found()["disk"].remedy) == ("missing", True)
