"""What tests of several rooms share."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent
#: Facts, golden cases and tools that CI has beside the checkout.
SHARED = Path(os.environ.get("HARBOR_AUTHOR_SHARED", REPOSITORY.parent / "shared"))


@dataclass(frozen=True)
class Ran:
    """A finished `author`: exit status and both outputs as text."""

    status: int
    out: str
    err: str


AuthorRunner = Callable[..., Ran]


@pytest.fixture
def author(tmp_path: Path) -> AuthorRunner:
    """Run the real command line in a process of its own, without a terminal."""

    def run(
        *arguments: str | Path, cwd: Path | None = None, env: dict[str, str] | None = None, stdin: str = ""
    ) -> Ran:
        done = subprocess.run(
            [*author_command(), *map(str, arguments)],
            cwd=cwd or tmp_path,
            env={**os.environ, "PYTHONPATH": str(REPOSITORY), **(env or {})},
            input=stdin,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert "Traceback" not in done.stderr, done.stderr
        return Ran(done.returncode, done.stdout, done.stderr)

    return run


def author_command() -> Sequence[str]:
    """The command line under test."""
    import sys

    return [sys.executable, "-m", "harbor_author"]


@pytest.fixture
def suite_root(tmp_path: Path) -> Path:
    """As `make_suite` makes it."""
    return make_suite(tmp_path / "suite")


def make_suite(root: Path) -> Path:
    """An empty suite whose host installs today; H1-H22, M1-M14 and S1-S16 are reserved."""
    (root / "tasks").mkdir(parents=True)
    (root / "references").mkdir()
    (root / "author.toml").write_text(
        '[suite]\nname = "scratch"\n\n[host]\ndsh = "0.1.2-alpha.3"\nsource = "pypi"\n\n'
        '[registry]\nreserved = ["S1-S16", "M1-M14", "H1-H22"]\n',
        encoding="utf-8",
    )
    return root


def engine_is_up() -> bool:
    """Whether a container engine answers and the base image is there."""
    try:
        done = subprocess.run(
            ["docker", "image", "inspect", "node:24-bookworm"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=20,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


@pytest.fixture(scope="session")
def engine() -> None:
    """A real container engine; without one the test is skipped, or fails where one is required."""
    if engine_is_up():
        return
    reason = "no container engine with the base image node:24-bookworm; scripts/setup brings them up"
    if os.environ.get("HARBOR_AUTHOR_REQUIRE_ENGINE") == "1":
        pytest.fail(reason)
    pytest.skip(reason)


def pytest_configure() -> None:
    """A job in the background ignores Ctrl-C, and so would every child to which a test sends one."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A test that needs a host or real Harbor needs the engine, too."""
    for item in items:
        needs = {"engine", "host", "parity"} & {mark.name for mark in item.iter_markers()}
        if needs:
            item.add_marker(pytest.mark.engine)
            item.fixturenames.insert(0, "engine") if "engine" not in item.fixturenames else None  # type: ignore[attr-defined]
