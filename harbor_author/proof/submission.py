"""What takes the agent's place in a trial."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Submission:
    """Files for `/solution` and the script that is run as the agent.

    Attributes:
        name: the trial's name, such as `oracle` or `decoy:half`.
        script: the script below /solution, relative; None: nothing is run.
        source: the host folder that is uploaded to /solution, or None.
        overlay: files (relative to /solution) that replace the source's; None as content leaves one out.
        after: shell text run as the agent after the script, whatever the script's status was.
        is_reference: nothing but the task's own reference solution and edits of ours is run, so that what it leaves
            in the container may be trusted to hand files in and out. Never of what is there to deceive.
    """

    name: str
    script: str | None = None
    source: Path | None = None
    overlay: Mapping[str, bytes | None] = field(default_factory=dict)
    after: str = ""
    is_reference: bool = False

    @property
    def leaves_processes(self) -> bool:
        """Whether it is meant to leave something running, which is then no finding."""
        return "setsid " in self.after

    @property
    def is_nothing(self) -> bool:
        return self.script is None and not self.after


UNTOUCHED = Submission("untouched", is_reference=True)


def oracle(task_dir: Path, *, name: str = "oracle", step: str | None = None) -> Submission:
    """The reference solution; of a step's own folder where that exists, as in Harbor."""
    source = task_dir / "solution"
    if step is not None and (task_dir / "steps" / step / "solution").is_dir():
        source = task_dir / "steps" / step / "solution"
    return Submission(name, script="solve.sh", source=source, is_reference=True)
