"""Findings about the checking itself."""

from __future__ import annotations

from collections.abc import Iterator

from harbor_author.checks.context import TaskFiles
from harbor_author.checks.findings import Problem
from harbor_author.checks.registry import rule
from harbor_author.checks.suppress import fault_problems, task_suppressions


@rule(name="rule-crashed", pack="harbor", severity="error")
def rule_crashed(files: TaskFiles) -> Iterator[Problem]:
    """A rule failed on this task, so the task is not known to be sound.

    Why: a checker that swallowed its own failure reported a broken dataset as clean, because the one file that it
        could not digest was the broken one.
    Bad: any task on which one of our rules raises an exception.
    Good: every rule ran to its end.
    Fix: report it with the task; until then --ignore the rule that is named.
    """
    # The engine makes these findings when it catches the exception.
    yield from ()


@rule(name="unreadable-file", pack="harbor", severity="error", late=True)
def unreadable_file(files: TaskFiles) -> Iterator[Problem]:
    """A file or directory of the task cannot be read.

    Why: a dataset check skipped a directory without permission and counted the task as valid; Harbor then failed to
        upload it in the middle of a run.
    Bad: tests/test.sh with mode 000, owned by somebody else.
    Good: every file is readable by the one who runs the checks.
    Fix: correct its permissions or its owner.
    """
    for path, cause in [*files.tree.unreadable, *files.unreadable.items()]:
        yield Problem(f"cannot be read: {cause}", path)


@rule(name="missing-checker", pack="harbor", severity="note", late=True)
def missing_checker(files: TaskFiles) -> Iterator[Problem]:
    """A program that checks this task's scripts is missing or hung, so they went unchecked by it.

    Why: a syntax check that silently does nothing where node is not installed lets a broken judge pass on one machine
        and fail on another.
    Bad: tests/judge.mjs on a machine without node.
    Good: bash, node and shellcheck are on PATH.
    Fix: install the program; 'author doctor' shows what this machine lacks.
    """
    if files.programs is None:
        return
    missing = files.programs.missing
    if "bash" in missing and files.shell_scripts:
        yield Problem(f"the shell scripts were not parsed by bash: {missing['bash']}", files.shell_scripts[0])
    if "shellcheck" in missing and files.shell_scripts:
        cause = missing["shellcheck"]
        yield Problem(f"shellcheck did not look at the shell scripts: {cause}", files.shell_scripts[0])
    if "node" in missing:
        from harbor_author.checks.external import judge_modules

        for path in judge_modules(files)[:1]:
            yield Problem(f"the judge was not parsed by node: {missing['node']}", path)


@rule(name="bad-suppression", pack="harbor", severity="error")
def bad_suppression(files: TaskFiles) -> Iterator[Problem]:
    """A suppression in task.toml names no rule, gives no reason or has a date that is none.

    Why: a suppression with a misspelt rule name looks like a decision and silences nothing; one without a reason can
        never be taken back, since nobody knows what it was for.
    Bad: [metadata.author.ignore] fixed-port = ""
    Good: [metadata.author.ignore] fixed-port = "the old client knows only 3080; the port is free in the image"
    Fix: write rule-name = "reason", or rule-name = {reason = "...", until = 2027-01-31}.
    """
    yield from fault_problems(files)


@rule(name="expired-suppression", pack="harbor", severity="warning")
def expired_suppression(files: TaskFiles) -> Iterator[Problem]:
    """A suppression's last day is past, so it no longer holds.

    Why: a time limit was raised "until the new image is out"; the image came, and the exception stayed for a year.
    Bad: until = 2020-01-31
    Good: an end that is still to come, or no end where the reason is permanent.
    Fix: correct the fault that it hid, or decide again and set a new date.
    """
    for item in task_suppressions(files).items:
        if item.expired(files.today):
            line, column = files.where(*item.key)
            yield Problem(
                f"the suppression of '{item.rule}' ended on {item.until}", "task.toml", line, column
            )


@rule(name="unused-suppression", pack="harbor", severity="warning")
def unused_suppression(files: TaskFiles) -> Iterator[Problem]:
    """A suppression silences nothing.

    Why: after a fault was corrected its exception stayed behind, and hid the same fault when it came back.
    Bad: [metadata.author.ignore] pkill-broad = "..." in a task without pkill
    Good: only suppressions that a finding still needs.
    Fix: remove it.
    """
    # The engine makes these findings, for it alone knows what was silenced.
    yield from ()
