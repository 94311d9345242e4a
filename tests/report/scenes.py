"""A suite with all that a report may have to show: hostile, long and Chinese names, many trials, every state."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from harbor_author.proof import receipts
from harbor_author.proof.verdict import Trial
from harbor_author.scaffold import TaskRequest, new_task
from harbor_author.suite import Task, find_suite

HOSTILE = "<script>alert(1)</script> \"'><img src=x onerror=alert(2)> {{ 7*7 }} & 插件"
CHINESE = "把旧的通知渠道迁移到新的宿主接口，并保留用户已经保存的全部设置与历史记录"
LONG = "a-submission-whose-name-goes-on-and-on-" * 4


def receipt(task: Path, trials: list[dict[str, object]], **extra: object) -> None:
    """A receipt as a proof leaves one; its digests are of another state, so it is stale."""
    document = {
        "schema": receipts.SCHEMA,
        "semantics": 0,
        "task": task.name,
        "verdict": "pass",
        "inputs": {"package": "sha256:0", "bases": {"node": "sha256:1"}, "platform": "linux/amd64"},
        "trials": trials,
        **extra,
    }
    (task / "proof.json").write_text(json.dumps(document), encoding="utf-8")


TRIALS: list[dict[str, object]] = [
    {"name": "untouched", "verdict": "pass", "expected": "0", "reward": 0.0, "duration_s": 2.0},
    {
        "name": "oracle",
        "verdict": "pass",
        "expected": "1",
        "reward": 1.0,
        "duration_s": 9.5,
        "judge_s": 6.0,
        "solve_s": 1.0,
    },
    {
        "name": f"decoy:{HOSTILE}",
        "verdict": "fail",
        "expected": "at most 0.4",
        "reward": 0.75,
        "duration_s": 1.0,
    },
    {
        "name": "repeat",
        "verdict": "error",
        "expected": "1",
        "reward": None,
        "cause": "judge-killed",
        "duration_s": 1.0,
    },
]
ABLATION = {
    "killed": 1,
    "total": 3,
    "changes": {
        "index.js": {"state": "killed", "reward": 0.4, "by": ["boot"]},
        "package.json": {"state": "blind", "reward": 1.0, "by": []},
        "README.md": {"state": "declared", "reward": 1.0, "by": []},
    },
}


def trial(name: str, reward: float | None, expected: str, **rest: Any) -> Trial:
    """A trial with the times of its steps; it passes unless `rest` says otherwise."""
    score = {} if reward is None else {"score": reward * 100, "max": 100.0}
    return Trial(
        **{
            "name": name,
            "verdict": "pass",
            "reward": reward,
            "expected": expected,
            "duration_s": 4.0 + len(name) % 7,
            "solve_s": 0.8,
            "judge_s": 2.0,
            **score,
            **rest,
        }  # type: ignore[arg-type]
    )


def many_trials(count: int = 40) -> list[Trial]:
    """Basic ones, repetitions, decoys of every kind of name with caps and floors, and a few that say why."""
    trials = [trial("untouched", 0.0, "0"), trial("oracle", 1.0, "1", why="the reference solution")]
    trials += [trial(f"oracle#{number}", 1.0, "1") for number in range(2, 6)]
    trials += [
        trial(f"decoy:{CHINESE}", 0.4, "at most 0.4", why=CHINESE),
        trial(f"decoy:{LONG}", 0.05, "at most 0.1"),
        trial("decoy:" + "WMWMWMWM" * 9, 0.995, "at most 0.999"),
        trial(f"decoy:{HOSTILE}", 0.2, "at most 0.25", why=HOSTILE),
        trial("report:half", 0.5, "0.333333 to 0.666667"),
    ]
    trials += [
        trial(f"decoy:number-{number}", number / 100, f"at most {number / 100 + 0.1:g}")
        for number in range(count - len(trials))
    ]
    return trials


def big_ablation(rows: int = 60, checks: int = 12) -> dict[str, Any]:
    """A heat map of many rows with names of all kinds."""
    names = [CHINESE, LONG, HOSTILE, "WMWMWMWM" * 9]
    names += [f"src/modules/part-{number}/index.js:{number * 10}" for number in range(rows - len(names))]
    ids = [f"check-{number}" for number in range(checks - 3)] + [
        "检查用户设置是否仍然保留下来",
        "W" * 40,
        "x",
    ]
    states = ["killed", "killed", "killed", "blind", "declared", "error"]
    changes = {
        name: {
            "state": states[number % 6],
            "reward": None if states[number % 6] == "error" else round(1 - number / 100, 6),
            "by": ids[number % 10 : number % 10 + 3] if states[number % 6] == "killed" else [],
        }
        for number, name in enumerate(names)
    }
    return {
        "killed": rows // 2,
        "total": rows,
        "changes": changes,
        "not_tried": {"prose": ["README.md", LONG], "over_budget": 3},
        "checks_nothing_moves": ["check-1"],
        "checks_passing_unsolved": [],
    }


def make_scenes(root: Path) -> Path:
    """Fill a suite's folder; its tasks, in order:

    H23 hostile title and a stale receipt, H24 a long name with 40 trials and 60 changes, H25 Chinese and failed,
    H26 an error, H27 findings with excerpts and no receipt, H28 proved, M15 a broken receipt, and one with an odd name.
    """
    cards = [f"### DSH-0.1.2-A3-01 · The service `a` is `b` {HOSTILE}", f"### DSH-0.1.2-A3-02 · {CHINESE}"]
    cards += [f"### DSH-0.1.2-A3-{number:02} · {'words ' * number}" for number in range(3, 9)]
    text = (
        "---\nkind: dsh-version-card-set\nschema: 1\n---\n\n# Cards\n\n"
        + "\n\n- **Change**: text\n\n".join(cards)
    )
    (root / "references" / "v0.1.2-alpha.3.md").write_text(text + "\n", encoding="utf-8")
    suite = find_suite(root)
    first = new_task(
        suite, TaskRequest(series="H", slug="one", title=HOSTILE[:100], cards=("DSH-0.1.2-A3-01",))
    ).path
    receipt(first, TRIALS, ablation=ABLATION)
    made: dict[str, Path] = {}
    for number, slug, title in (
        (24, "long-" * 9 + "name", "word " * 40),
        (25, "chinese", CHINESE),
        (26, "error", "A judge that was killed"),
        (27, "findings", "Findings with their source"),
        (28, "proved", "All is well"),
    ):
        path = made[str(number)] = root / "tasks" / f"H{number}-{slug}"
        shutil.copytree(first, path, ignore=shutil.ignore_patterns("proof.json"))
        toml = path / "task.toml"
        text = toml.read_text(encoding="utf-8").replace("/h23", f"/h{number}")
        start = text.index("description = ")
        end = text.index("\n", start)
        text = text[:start] + f"description = {json.dumps(title.strip(), ensure_ascii=False)}" + text[end:]
        toml.write_text(text, encoding="utf-8")
    (made["27"] / "tests" / "test.sh").write_text(
        "#!/bin/bash\nif\n" + "x" * 400 + "\n" * 3, encoding="utf-8"
    )
    (made["27"] / "instruction.md").write_text(f"TODO {HOSTILE}\n" * 3, encoding="utf-8")
    tasks = {task.id: task for task in find_suite(root).tasks()}
    _prove(tasks["H24"], many_trials(), "pass", ablation=big_ablation())
    low = trial(
        "oracle",
        0.6,
        "1",
        verdict="fail",
        cause="reward-too-low",
        message="reward 0.6, expected 1",
        checks=_checks(),
    )
    high = trial(
        f"decoy:{CHINESE}",
        0.75,
        "at most 0.4",
        verdict="fail",
        cause="reward-too-high",
        message="reward 0.75, expected at most 0.4",
        why=CHINESE,
        checks=_checks(),
    )
    _prove(tasks["H25"], [trial("untouched", 0.0, "0"), low, high], "fail", cause="reward-too-low")
    killed = trial(
        "oracle", None, "1", verdict="error", cause="judge-killed", message="the judge was killed by signal 9"
    )
    _prove(tasks["H26"], [trial("untouched", 0.0, "0"), killed], "error", cause="judge-killed")
    _prove(tasks["H28"], many_trials(14), "pass")
    broken = root / "tasks" / "M15-broken"
    shutil.copytree(first, broken)
    (broken / "task.toml").write_text("x = \n", encoding="utf-8")
    (broken / "proof.json").write_text("{")
    (root / "tasks" / "<b>odd").mkdir()
    return root


def _prove(task: Task, trials: list[Trial], verdict: str, *, cause: str | None = None, **extra: Any) -> None:
    inputs = receipts.gather_inputs(task, {})
    receipts.write_receipt(task, inputs, trials, verdict=verdict, cause=cause, extra=extra)


def _checks() -> tuple[Any, ...]:
    from harbor_author.proof.reward import Check

    return (Check("boots", 50.0, 50.0, ""), Check("设置保留", 50.0, 10.0, "missing"))
