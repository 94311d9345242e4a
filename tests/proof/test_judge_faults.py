"""Judges with the faults that real tasks had: each is caught by a trial, with the right verdict."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from harbor_author.proof import Options, oracle_check, report
from harbor_author.proof.matrix import Scope, with_scope
from harbor_author.suite import Task
from tests.conftest import AuthorRunner
from tests.proof.tasks import FILES, TOML, write_files

pytestmark = pytest.mark.engine

REWARD = "> /logs/verifier/reward.txt\n"
LINE = """printf '{"score":%s,"max":100,"reasons":[],"checks":[]}\\n' $1"""
GIVE = f'give() {{ {LINE}; awk "BEGIN {{print $1 / 100}}" {REWARD}}}\n'
ANSWERED = '[ "$(cat /app/answer 2>/dev/null)" = done ]'
FIXTURE_FILES = {
    "environment/fixture/old.js": "old();\n",
    "environment/fixture/package.json": '{"private": true}\n',
    "environment/Dockerfile": "FROM node:24-bookworm\nWORKDIR /app\nCOPY fixture /app/fixture\n",
    "solution/solve.sh": "#!/bin/bash\ncd /app/fixture\necho 'migrated();' > old.js\necho '{}' > package.json\n",
    "instruction.md": "Migrate the plugin.\n",
}
MIGRATED = "grep -q migrated /app/fixture/old.js"


@dataclass(frozen=True)
class Fault:
    """A faulty task, how it is proved, and what must come out: verdict, cause, and what else the result shows."""

    files: Mapping[str, str]
    verdict: str
    cause: str | None
    matrix: bool = False
    shows: Callable[[dict[str, Any]], object] = lambda result: True


def judge(text: str, **more: str) -> dict[str, str]:
    return {"tests/test.sh": f"#!/bin/bash\n{text}\n", **more}


def trial(result: dict[str, Any], name: str) -> dict[str, Any]:
    return next(trial for trial in result["trials"] if trial["name"] == name)


MATRIX = True
#: Repetition has tests of its own.
SCOPE = Scope(budget=4, untouched_runs=1, oracle_runs=1)
FAULTS = {
    "the reward is no finite number": Fault(judge(f"echo nan {REWARD}"), "error", "reward-unparsable"),
    "the reward is in per cent": Fault(
        judge(f"if {ANSWERED}; then echo 100 {REWARD}else echo 0 {REWARD}fi"),
        "fail",
        "reward-unexpected",
        shows=lambda result: "reward 100, expected 1" in result["message"],
    ),
    "a crash is read as zero": Fault(
        judge(f"if node -e 'require(\"/tests/lost.js\")' 2>&1; then echo 1 {REWARD}else echo 0 {REWARD}fi"),
        "fail",
        "reward-too-low",
        shows=lambda result: "Cannot find module" in trial(result, "oracle")["judge_log"],
    ),
    "the reward is written before the judge, which then crashes": Fault(
        judge(f"echo 1 {REWARD}node -e 'throw new Error(1)' || exit 1\necho 0 {REWARD}"),
        "fail",
        "reward-too-high",
        shows=lambda result: trial(result, "untouched")["judge_exit"] == 1,
    ),
    "no test is collected, which counts as passed": Fault(
        judge(f"cd /tests; if python3 -m unittest discover 2>&1; then echo 1 {REWARD}else echo 0 {REWARD}fi"),
        "fail",
        "reward-too-high",
        shows=lambda result: "Ran 0 tests" in trial(result, "untouched")["judge_log"],
    ),
    "the judge counts on its own folder as working directory": Fault(
        judge(
            f"if bash ./check.sh 2>&1; then echo 1 {REWARD}else echo 0 {REWARD}fi",
            **{"tests/check.sh": "#!/bin/bash\ngrep -q done /app/answer\n"},
        ),
        "fail",
        "reward-too-low",
        shows=lambda result: "No such file" in trial(result, "oracle")["judge_log"],
    ),
    "the judge counts on a variable of its author's shell": Fault(
        judge(f'set -u\nif {ANSWERED} && [ -n "$USER" ]; then echo 1 {REWARD}else echo 0 {REWARD}fi'),
        "error",
        "reward-missing",
        shows=lambda result: "unbound variable" in trial(result, "oracle")["judge_log"],
    ),
    "the judge counts on a year that is over": Fault(
        judge(f'if {ANSWERED} && [ "$(date +%Y)" -lt 2025 ]; then echo 1 {REWARD}else echo 0 {REWARD}fi'),
        "fail",
        "reward-too-low",
    ),
    "the reference needs a network that the task does not have": Fault(
        {
            "solution/solve.sh": "#!/bin/bash\nset -e\necho done > /app/answer\ncurl -sS http://nowhere.invalid/\n",
            **judge(f"if {ANSWERED}; then echo 1 {REWARD}else echo 0 {REWARD}fi"),
        },
        "fail",
        "solve-failed",
        shows=lambda result: "Could not resolve" in trial(result, "oracle")["solve_log"],
    ),
    "a judge of its own does not get what it looks at": Fault(
        {
            "task.toml": TOML.replace("[verifier]\n", '[verifier]\nenvironment_mode = "separate"\n'),
            **judge(f"if {ANSWERED}; then echo 1 {REWARD}else echo 0 {REWARD}fi"),
        },
        "fail",
        "reward-too-low",
    ),
    "two rewards disagree": Fault(
        judge(f"echo 1 {REWARD}echo '{{\"reward\": 0}}' > /logs/verifier/reward.json"),
        "fail",
        "reward-too-low",
    ),
    "a reward is text": Fault(
        judge('echo \'{"reward": "1"}\' > /logs/verifier/reward.json'), "error", "reward-unparsable"
    ),
    "the reward is written by a process that outlives the judge": Fault(
        judge(f"(sleep 60; echo 1 {REWARD.strip()}) & disown"),
        "error",
        "reward-missing",
        shows=lambda result: (
            any("sleep 60" in text for text in trial(result, "oracle")["leftovers"])
            and "something still ran" in result["message"]
        ),
    ),
    "sound: a reward with a line break before and keys beside": Fault(
        judge(
            f"if {ANSWERED}; then r=1; else r=0; fi\n"
            'printf \'\\n{"style": 0.5, "reward": %s}\\n\' $r > /logs/verifier/reward.json'
        ),
        "pass",
        None,
    ),
    "sound: exit status of the judge means nothing": Fault(
        judge(f"if {ANSWERED}; then echo 1 {REWARD}else echo 0 {REWARD}fi; exit 3"), "pass", None
    ),
    "a comment of the reference holds the token that is grepped as removed": Fault(
        judge(f"if {ANSWERED}; then echo 0.9 {REWARD}else echo 0 {REWARD}fi"),
        "fail",
        "reward-too-low",
        shows=lambda result: "0.9" in result["message"],
    ),
    "the judge may not read what the agent wrote": Fault(
        {
            **judge(f'if [ "$(cat /app/answer)" = done ]; then echo 1 {REWARD}else echo 0 {REWARD}fi'),
            "solution/solve.sh": "#!/bin/bash\numask 077\necho done > /app/answer\n",
            "task.toml": TOML.replace("[verifier]", '[verifier]\nuser = "nobody"'),
        },
        "fail",
        "reward-too-low",
        shows=lambda result: any("ran as root, test.sh as nobody" in note for note in result["notes"]),
    ),
    "a single quote ends the shell's quote": Fault(
        judge(f"if node -e 'process.exit('0'' 2>&1; then echo 1 {REWARD}else echo 0 {REWARD}fi"),
        "fail",
        "reward-too-low",
        shows=lambda result: "SyntaxError" in trial(result, "oracle")["judge_log"],
    ),
    "a missing host is marked as the judge's own error": Fault(
        judge(
            f"""echo '{{"score":0,"max":100,"error":"no host"}}'; echo 0 {REWARD}""",
            **{"tests/judge.mjs": ""},
        ),
        "error",
        "judge-error",
        shows=lambda result: "no host" in result["message"],
    ),
    "a structured reward shadows the scalar": Fault(
        judge(f"echo 1 {REWARD}echo '{{}}' > /logs/verifier/reward.json"), "error", "reward-unnamed"
    ),
    "the verdict is not the last line": Fault(
        judge(
            f"{GIVE}if {ANSWERED}; then give 100; else give 0; fi; echo cleaned up", **{"tests/judge.mjs": ""}
        ),
        "error",
        "judge-line-unparsable",
    ),
    "the steps take longer than the verifier's time": Fault(
        {
            **judge(f"sleep 20; echo 1 {REWARD}"),
            "task.toml": TOML.replace("[verifier]\ntimeout_sec = 60.0", "[verifier]\ntimeout_sec = 2.0"),
        },
        "error",
        "judge-timeout",
        shows=lambda result: (
            "process: sleep 20" in trial(result, "oracle")["leftovers"]
            and not any("> /logs/" in text for text in trial(result, "oracle")["leftovers"])
            and "[verifier] timeout_sec" in result["message"]
        ),
    ),
    "the clean-up is never reached": Fault(
        judge(
            f"{GIVE}mkdir -p /tmp/bench-left; (exec -a stray sleep 300) &\n"
            f"if {ANSWERED}; then give 100; else give 0; fi",
            **{"tests/judge.mjs": ""},
        ),
        "pass",
        None,
        shows=lambda result: (
            {"path: /tmp/bench-left", "process: stray 300"} <= set(trial(result, "oracle")["leftovers"])
        ),
    ),
    "a link to nowhere aborts grading": Fault(
        {
            **FIXTURE_FILES,
            **judge(
                'set -e\nfor f in /app/fixture/*; do cat "$f"; done > /tmp/all\n'
                "if grep -q migrated /tmp/all && ! grep -q private /tmp/all; "
                f"then echo 1 {REWARD}else echo 0 {REWARD}fi"
            ),
        },
        "pass",  # a judge of our own protocol would fail for it
        None,
        MATRIX,
        shows=lambda result: "neither /logs/verifier/reward.txt" in trial(result, "dangling-link")["note"],
    ),
    "a report is graded by words of the instruction": Fault(
        {
            "instruction.md": "Write /app/report.md: which service was renamed?\n",
            "solution/solve.sh": "#!/bin/bash\nprintf '# R\\n\\n## One\\nservice renamed\\n' > /app/report.md\n",
            **judge(f"if grep -q service /app/report.md; then echo 1 {REWARD}else echo 0 {REWARD}fi"),
        },
        "fail",
        "reward-too-high",
        MATRIX,
        shows=lambda result: trial(result, "prompt-copy")["verdict"] == "fail",
    ),
    "a right answer other than the oracle scores less": Fault(
        {
            **judge(
                f'if {ANSWERED} && [ "$(cat /app/by-the-book)" = x ]; '
                f" then echo 1 {REWARD}else echo 0 {REWARD}fi"
            ),
            "solution/solve.sh": "#!/bin/bash\necho done > /app/answer; echo x > /app/by-the-book\n",
            "solution/variants/other/solve.sh": "#!/bin/bash\necho done > /app/answer\n",
            "solution/variants/other/variant.toml": 'why = "it does not go by the book"\n',
        },
        "fail",
        "reward-too-low",
        MATRIX,
        shows=lambda result: trial(result, "variant:other")["verdict"] == "fail",
    ),
    "touching any file scores": Fault(
        {
            **FIXTURE_FILES,
            **judge(
                "if [ $(ls /app/fixture | wc -l) != 2 ] || ! grep -q '^old();$' /app/fixture/old.js || "
                f"[ $(wc -l < /app/fixture/old.js) != 1 ]; then echo 1 {REWARD}else echo 0 {REWARD}fi"
            ),
        },
        "fail",
        "reward-too-high",
        MATRIX,
        shows=lambda result: trial(result, "touched")["verdict"] == "fail",
    ),
    "the judge takes the submission's program into its own": Fault(
        {
            **judge(
                "if node -e 'process.exit(require(\"/app/answer.js\").ok() ? 0 : 1)' 2>&1; "
                f"then echo 1 {REWARD}else echo 0 {REWARD}fi"
            ),
            "solution/solve.sh": "#!/bin/bash\necho 'exports.ok = () => true;' > /app/answer.js\n",
        },
        "fail",
        "reward-too-high",
        MATRIX,
        shows=lambda result: (
            [t["name"] for t in result["trials"] if t["verdict"] == "fail"] == ["perturbed:ended"]
        ),
    ),
    "sound: a program is run by itself and its output compared": Fault(
        {
            "instruction.md": "Write /app/answer.js, which prints the square of its argument.\n",
            **judge(
                'if [ "$(node /app/answer.js 7 2>&1)$(node /app/answer.js 3 2>&1)" = 499 ]; '
                f"then echo 1 {REWARD}else echo 0 {REWARD}fi"
            ),
            "solution/solve.sh": "#!/bin/bash\necho 'console.log(process.argv[2] ** 2);' > /app/answer.js\n",
        },
        "pass",
        None,
        MATRIX,
        shows=lambda result: trial(result, "perturbed:ended")["reward"] == 0,
    ),
    "existence is enough": Fault(
        judge(f"if [ -e /app/answer ]; then echo 1 {REWARD}else echo 0 {REWARD}fi"),
        "fail",
        "reward-too-high",
        MATRIX,
        shows=lambda result: trial(result, "created")["verdict"] == "fail",
    ),
    "a change is not looked at": Fault(
        {**FIXTURE_FILES, **judge(f"if {MIGRATED}; then echo 1 {REWARD}else echo 0 {REWARD}fi")},
        "fail",
        "blind-spot",
        MATRIX,
        shows=lambda result: (
            {change: row["state"] for change, row in result["ablation"]["changes"].items()}
            == {"old.js": "killed", "package.json": "blind"}
        ),
    ),
    "one of two hunks is looked at": Fault(
        {
            **FIXTURE_FILES,
            "environment/fixture/old.js": "old(1);\nkept();\nold(2);\n",
            "solution/solve.sh": "#!/bin/bash\nsed -i 's/^old/migrated/' /app/fixture/old.js\n",
            **judge(
                f"if head -1 /app/fixture/old.js | grep -q migrated; then echo 1 {REWARD}else echo 0 {REWARD}fi"
            ),
        },
        "fail",
        "blind-spot",
        MATRIX,
        shows=lambda result: result["message"] == "no check notices: old.js@3",
    ),
    "the judge reads a result that the submission wrote": Fault(
        {
            "instruction.md": "Write done into /app/answer, and your checks' result into /app/passed.\n",
            "solution/solve.sh": "#!/bin/bash\necho done > /app/answer\necho yes > /app/passed\n",
            **judge(f'if [ "$(cat /app/passed 2>&1)" = yes ]; then echo 1 {REWARD}else echo 0 {REWARD}fi'),
        },
        "fail",
        "reward-too-high",
        MATRIX,
        shows=lambda result: (
            {change: row["state"] for change, row in result["ablation"]["changes"].items()}
            == {"/app/answer": "blind", "/app/passed": "killed"}
        ),
    ),
    "the blind spot is declared": Fault(
        {
            **FIXTURE_FILES,
            **judge(f"if {MIGRATED}; then echo 1 {REWARD}else echo 0 {REWARD}fi"),
            "solution/SOLUTION.md": "# S\n\n## Grading Boundary\n\npackage.json is not graded.\n",
        },
        "pass",
        None,
        MATRIX,
    ),
    "a decoy scores too much": Fault(
        {
            **judge(
                f"if {ANSWERED}; then echo 1 {REWARD}"
                f"elif [ -e /app/half ]; then echo 0.6 {REWARD}else echo 0 {REWARD}fi"
            ),
            "solution/decoys/half/solve.sh": "#!/bin/bash\ntouch /app/half\n",
            "solution/decoys/half/decoy.toml": 'max_score = 40\nwhy = "it looks done"\n',
        },
        "fail",
        "reward-too-high",
        MATRIX,
        shows=lambda result: trial(result, "decoy:half")["reward"] == 0.6,
    ),
    "the judge changes the fixture": Fault(
        {
            **FIXTURE_FILES,
            "solution/solve.sh": "#!/bin/bash\necho 'migrated();' > /app/fixture/old.js\n",
            **judge(f"touch /app/fixture/built; if {MIGRATED}; then echo 1 {REWARD}else echo 0 {REWARD}fi"),
        },
        "pass",
        None,
        MATRIX,
        shows=lambda result: any("fixture: built" in note for note in result["notes"]),
    ),
}


@pytest.fixture(scope="module")
def proved(tmp_path_factory: pytest.TempPathFactory, engine: None) -> dict[str, dict[str, Any]]:
    """Every faulty task's result, by name; all those of one kind in one run."""
    root = tmp_path_factory.mktemp("faults")
    found: dict[str, dict[str, Any]] = {}
    for matrix in (False, True):
        chosen = {f"fault-{n}": name for n, name in enumerate(FAULTS) if FAULTS[name].matrix == matrix}
        for folder, name in chosen.items():
            write_files(root / folder, {**FILES, **FAULTS[name].files})
        results = oracle_check(
            [Task(root / folder) for folder in chosen], with_scope(Options(), SCOPE) if matrix else Options()
        )
        found |= {chosen[result["task"]]: result for result in report.document(results)["results"]}
    return found


@pytest.mark.parametrize("name", FAULTS)
def test_the_fault_is_caught(name: str, proved: dict[str, dict[str, Any]]) -> None:
    fault, result = FAULTS[name], proved[name]
    assert (result["verdict"], result["cause"]) == (fault.verdict, fault.cause), result["message"]
    assert fault.shows(result)


def test_a_prefix_match_is_seen_by_a_spoilt_output(author: AuthorRunner, tmp_path: Path) -> None:
    write_files(
        tmp_path / "prefix",
        {**FILES, **judge(f"if grep -q ^done /app/answer; then echo 1 {REWARD}else echo 0 {REWARD}fi")},
    )
    ran = author("oracle-check", tmp_path / "prefix", "--matrix", "--json")
    (result,) = json.loads(ran.out)["results"]
    assert (ran.status, result["verdict"], result["cause"]) == (1, "fail", "reward-too-high")
    assert trial(result, "perturbed:appended")["verdict"] == "fail"
    assert trial(result, "forged")["reward"] == 0
    assert len([t for t in result["trials"] if t["name"].startswith("oracle")]) == 5
