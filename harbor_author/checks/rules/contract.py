"""The authorisation contract in the instruction, and its mark in task.toml."""

from __future__ import annotations

from collections.abc import Iterator

from harbor_author.checks.context import TaskFiles
from harbor_author.checks.findings import Problem
from harbor_author.checks.registry import rule
from harbor_author.suite import contract_gaps, has_contract, without_fences

_WHOLE = "put the block of the task's mode in"


@rule(name="contract-incomplete", pack="suite", severity="error")
def contract_incomplete(files: TaskFiles) -> Iterator[Problem]:
    """The instruction's contract lacks a clause of its mode, or stands there more than once.

    Why: an agent that waited for a confirmation which nobody would give ended with an unchanged fixture, and its 0 said
        nothing about its ability. A block in a code fence is an example and no contract.
    Bad: an instruction without BENCHMARK-AUTH-v1
    Good: the block that 'author new' writes
    Fix: let the block of the task's mode stand there once, with each of its clauses.
    """
    if files.suite is None:
        return
    for path in files.instructions:
        text = files.text(path)
        if not text.strip():
            continue  # an empty instruction has a finding of its own
        marker = files.suite.settings.contract
        if not has_contract(text, files.mode):
            fix = (
                f"{_WHOLE}; 'author fix' does it" if marker not in text else f"{_WHOLE}, outside code fences"
            )
            yield Problem(f"the contract {marker} ({files.mode}) is missing", path, fix=fix)
            continue
        gaps = contract_gaps(text, files.mode)
        body = without_fences(text)
        line = body.count("\n", 0, body.find(marker)) + 1 if marker in body else None
        for gap in gaps:
            yield Problem(f"contract ({files.mode}): {gap}", path, line)


@rule(name="contract-not-declared", pack="suite", severity="error")
def contract_not_declared(files: TaskFiles) -> Iterator[Problem]:
    """task.toml does not name the contract that the instruction holds.

    Why: the suite's runner reads `execution_contract` to know whether a task may run unattended; a task without it was
        left out of a night's run.
    Bad: [metadata] without execution_contract
    Good: execution_contract = "BENCHMARK-AUTH-v1"
    Fix: write it into [metadata]; 'author fix' does it.
    """
    if files.suite is None or not files.toml:
        return
    wanted = files.suite.settings.contract
    value = files.table("metadata").get("execution_contract")
    if value != wanted:
        line, column = files.where("metadata", "execution_contract")
        told = f"is {value!r}" if value is not None else "is missing"
        message = f"[metadata] execution_contract {told}; the suite's contract is {wanted}"
        yield Problem(message, "task.toml", line, column)
