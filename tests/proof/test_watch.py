"""Proving again what was saved."""

from __future__ import annotations

from pathlib import Path

from harbor_author.proof.watch import watch
from tests.proof.tasks import make_task


def test_only_the_saved_task_is_proved_again_and_a_receipt_is_no_save(tmp_path: Path) -> None:
    first, second = make_task(tmp_path, "one"), make_task(tmp_path, "two")
    proved: list[list[str]] = []

    def prove(tasks) -> None:
        proved.append([task.name for task in tasks])
        (second.path / "proof.json").write_text("{}")

    (second.path / "tests" / "test.sh").write_text("#!/bin/bash\n# saved before the first look\n")
    watch([first, second], prove, rounds=1, interval_s=0)
    assert proved == [], "what is there at the start is not a change"

    calls = 0

    def save_once(tasks) -> None:
        prove(tasks)

    class Saving(list):
        """The tasks, of which one is saved when they are first looked through again."""

        def __iter__(self):
            nonlocal calls
            calls += 1
            if calls == 2:
                (second.path / "tests" / "test.sh").write_text("#!/bin/bash\n# saved\n")
            return super().__iter__()

    watch(Saving([first, second]), save_once, rounds=3, interval_s=0)
    assert proved == [["two"]]
