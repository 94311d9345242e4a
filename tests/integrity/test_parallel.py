"""Requirements 102 to 106: many runs at once."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from harbor_author.integrity import (
    Evidence,
    IntegrityError,
    PortAllocator,
    tree_hash,
    with_fixture_copy,
    workspace_environment,
)
from tests.integrity.support import PREFIX, leftovers


def test_r102_workspace_port_home_and_cache_are_each_runs_own(source: Path, temporary: Path) -> None:
    allocator = PortAllocator()
    barrier = Barrier(4, timeout=60)

    def run(number: int) -> tuple[str, ...]:
        def operation(workspace: Path) -> tuple[str, ...]:
            with allocator.ports(f"run-{number}") as (port,):
                environment = workspace_environment(workspace)
                barrier.wait()
                names = ("HOME", "TMPDIR", "XDG_CACHE_HOME", "HARBOR_AUTHOR_RUN")
                return (str(workspace), str(port), *(environment[name] for name in names))

        return with_fixture_copy(source, operation, prefix=PREFIX)

    with ThreadPoolExecutor(4) as pool:
        runs = list(pool.map(run, range(4)))
    for values in zip(*runs, strict=True):
        assert len(set(values)) == 4
    assert allocator.held() == {}


def test_r103_ports_are_mapped_to_runs_and_freed_at_last() -> None:
    allocator = PortAllocator()
    with contextlib.suppress(ZeroDivisionError), allocator.ports("a", 3) as ports:
        assert allocator.held() == {"a": ports}
        assert len(set(ports)) == 3
        with pytest.raises(IntegrityError, match="already holds"), allocator.ports("a"):
            pass
        assert allocator.held() == {"a": ports}
        for port in ports:
            with socket.create_server(("127.0.0.1", port)):
                pass
        raise ZeroDivisionError
    assert allocator.held() == {}


def test_r103_r133_a_port_held_by_another_process_is_not_given(monkeypatch: pytest.MonkeyPatch) -> None:
    code = """
import sys
from harbor_author.integrity import PortAllocator
with PortAllocator().ports("other") as (port,):
    print(port, flush=True)
    sys.stdin.read()
"""
    other = subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ},
    )
    assert other.stdout is not None
    assert other.stdin is not None
    taken = int(other.stdout.readline())
    real = socket.socket.bind
    offered = []

    def bind(self: socket.socket, address: tuple[str, int]) -> None:
        # The system would hardly offer the same port: offer it first.
        if self.type == socket.SOCK_STREAM and not offered:
            offered.append(taken)
            address = (address[0], taken)
        real(self, address)

    monkeypatch.setattr(socket.socket, "bind", bind)
    with PortAllocator().ports("mine") as (port,):
        assert offered == [taken]
        assert port != taken
    monkeypatch.undo()
    other.stdin.close()
    other.wait(10)
    other.stdout.close()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
        free.bind(("127.0.0.1", taken))


def test_r104_each_run_hashes_before_and_after(source: Path, temporary: Path) -> None:
    seen: list[Evidence] = []
    with ThreadPoolExecutor(3) as pool:
        list(
            pool.map(
                lambda _: with_fixture_copy(source, lambda _: None, prefix=PREFIX, evidence=seen.append),
                range(3),
            )
        )
    assert [(one.before, one.after) for one in seen] == [(tree_hash(source),) * 2] * 3


def test_r105_the_drill_of_two(source: Path, temporary: Path) -> None:
    before = tree_hash(source)
    barrier = Barrier(2, timeout=60)

    def change(workspace: Path) -> str:
        text = (workspace / "src" / "main.py").read_text()
        barrier.wait()
        (workspace / "src" / "main.py").write_text("changed")
        barrier.wait()
        return text

    def throw(workspace: Path) -> str:
        barrier.wait()
        barrier.wait()
        raise RuntimeError((workspace / "src" / "main.py").read_text())

    with ThreadPoolExecutor(2) as pool:
        changed = pool.submit(with_fixture_copy, source, change, prefix=PREFIX)
        thrown = pool.submit(with_fixture_copy, source, throw, prefix=PREFIX)
        assert changed.result() == "print('original')\n"
        assert str(thrown.exception()) == "print('original')\n"
    assert leftovers(temporary) == []
    assert tree_hash(source) == before


def test_r106_twenty_parallel_copies_half_of_which_fail(source: Path, temporary: Path) -> None:
    before = tree_hash(source)
    barrier = Barrier(20, timeout=120)

    def run(number: int) -> str:
        def operation(workspace: Path) -> str:
            barrier.wait()
            (workspace / "mine").write_text(str(number))
            barrier.wait()
            if number % 2:
                raise RuntimeError(str(number))
            return (workspace / "mine").read_text()

        try:
            return with_fixture_copy(source, operation, prefix=PREFIX)
        except RuntimeError as error:
            return f"failed {error}"

    with ThreadPoolExecutor(20) as pool:
        results = list(pool.map(run, range(20)))
    assert results == [f"failed {number}" if number % 2 else str(number) for number in range(20)]
    assert leftovers(temporary) == []
    assert tree_hash(source) == before
