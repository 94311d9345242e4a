"""Work in a second process: its result, its failure and its death."""

from __future__ import annotations

import os
import signal

import pytest

from harbor_author.report.apart import apart, by_parts


def test_the_result_comes_from_another_process() -> None:
    wait = apart(lambda: (os.getpid(), "x" * 1_000_000))
    process, text = wait()
    assert process != os.getpid()
    assert len(text) == 1_000_000


def test_an_error_is_raised_here(capfd: pytest.CaptureFixture[str]) -> None:
    wait = apart(lambda: {}["no such key"])
    with pytest.raises(KeyError, match="no such key"):
        wait()
    assert capfd.readouterr() == ("", "")


def test_what_a_dead_process_left_undone_is_done_here() -> None:
    here = os.getpid()

    def work() -> int:
        if os.getpid() != here:
            os.kill(os.getpid(), signal.SIGKILL)
        return os.getpid()

    assert apart(work)() == here


@pytest.mark.parametrize("count", [0, 1, 23, 24, 25, 101])
def test_parts_keep_their_order(count: int) -> None:
    assert by_parts(lambda part: [number * 2 for number in part], range(count)) == [
        number * 2 for number in range(count)
    ]
