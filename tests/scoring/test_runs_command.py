"""`author runs summarize` on job folders of the shape that Harbor 0.26 writes."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import AuthorRunner

_ids = itertools.count()


def trial(job: Path, task: str, reward: Any, **fields: Any) -> Path:
    """One trial folder; `reward` None leaves the verifier's result out."""
    number = next(_ids)
    folder = job / f"{task[:32]}__{number:07d}"
    folder.mkdir(parents=True)
    document = {
        "schema_version": 1,
        "id": f"id-{number}",
        "task_name": f"suite/{task}",
        "trial_name": folder.name,
        "task_checksum": f"checksum of {task}",
        "agent_info": {"name": "oracle", "version": "1.0.0", "model_info": None},
        "verifier_result": None if reward is None else {"rewards": {"reward": reward}},
        "exception_info": None,
        "reward_valid": reward is not None,
        **fields,
    }
    (folder / "result.json").write_text(json.dumps(document), "utf-8")
    (folder / "trial.log").write_text("", "utf-8")
    return folder


def close(job: Path, planned: int | None = None) -> Path:
    """Write the job's own files."""
    count = sum(entry.is_dir() for entry in job.iterdir())
    result = {"id": "job", "n_total_trials": count if planned is None else planned, "stats": {}}
    (job / "result.json").write_text(json.dumps(result), "utf-8")
    (job / "config.json").write_text("{}", "utf-8")
    (job / "job.log").write_text("", "utf-8")
    return job


@pytest.fixture
def job(tmp_path: Path) -> Callable[..., Path]:
    """A job of {task: [rewards]}."""

    def make(name: str, rewards: dict[str, list[Any]]) -> Path:
        folder = tmp_path / "jobs" / name
        for task, values in rewards.items():
            for value in values:
                trial(folder, task, value)
        return close(folder)

    return make


def summarize(author: AuthorRunner, *arguments: Any) -> tuple[int, Any]:
    ran = author("runs", "summarize", *arguments, "--json")
    return ran.status, json.loads(ran.out) if ran.out else ran.err


def test_statistics_of_a_task(author: AuthorRunner, job: Callable[..., Path]) -> None:
    status, document = summarize(author, job("one", {"h23": [1, 0, 0.5, 1.0], "h24": [0.25]}))
    assert (status, document["schema"]) == (0, "author/runs/1")
    (group,) = document["groups"]
    assert group["tasks"][0] == {
        "task": "suite/h23",
        "trials": 4,
        "mean": 0.625,
        "median": 0.75,
        "min": 0,
        "max": 1,
        "perfect": 2,
        "anomalies": 0,
    }
    assert (group["mean"], group["perfect"], group["agents"]) == (0.4375, 2, ["oracle"])
    assert document["comparison"] is None


def test_a_folder_of_jobs_and_a_single_trial(author: AuthorRunner, job: Callable[..., Path]) -> None:
    first, second = job("one", {"h23": [1]}), job("two", {"h23": [0]})
    assert summarize(author, first.parent)[1]["groups"][0]["trials"] == 2
    (single,) = (entry for entry in second.iterdir() if entry.is_dir())
    assert summarize(author, single)[1]["groups"][0]["trials"] == 1


def test_anomalies_are_never_zero(author: AuthorRunner, job: Callable[..., Path], tmp_path: Path) -> None:
    folder = job("one", {"h23": [1]})
    timeout = {"exception_type": "AgentTimeoutError", "exception_message": "late"}
    trial(folder, "h23", None, exception_info={"exception_type": "RewardFileNotFoundError"})
    trial(folder, "h24", 0, exception_info=timeout)
    trial(folder, "h25", None)
    trial(folder, "h26", "1")
    trial(folder, "h27", True)
    trial(folder, "h28", 0.5, reward_valid=False)
    trial(folder, "h29", 1, verifier_result={"rewards": {"a": 1, "b": 0}})
    (trial(folder, "h30", 1) / "result.json").write_text("{", "utf-8")
    (trial(folder, "h31", 1) / "result.json").unlink()
    status, document = summarize(author, close(folder, planned=12))
    assert status == 1
    (group,) = document["groups"]
    assert [(task["task"], task["mean"], task["anomalies"]) for task in group["tasks"]] == [
        ("suite/h23", 1, 1)
    ]
    causes = {anomaly["task"] or anomaly["trial"][:3]: anomaly["cause"] for anomaly in group["anomalies"]}
    assert causes == {
        "suite/h23": "RewardFileNotFoundError",
        "suite/h24": "AgentTimeoutError; its reward of 0 does not count",
        "suite/h25": "the trial has no reward",
        "suite/h26": "the reward '1' is no number",
        "suite/h27": "the reward True is no number",
        "suite/h28": "Harbor holds the reward of 0.5 for invalid",
        "suite/h29": "none of the rewards a, b is named reward",
        "h30": "result.json is no JSON",
        "h31": "the trial has no result.json: it did not end",
        "one": "the job planned 12 trials and has 10",
    }


def test_groups_are_paired_by_medians(author: AuthorRunner, job: Callable[..., Path]) -> None:
    old = job("old", {"h23": [0, 0, 1], "h24": [1], "h25": [0.5, 0.5], "h26": [1]})
    new = job("new", {"h23": [1, 1, 0], "h24": [0.5], "h25": [0.5], "h27": [1]})
    status, document = summarize(author, new, "--against", old)
    assert status == 1
    comparison = document["comparison"]
    assert [(pair["task"], pair["delta"], pair["direction"]) for pair in comparison["pairs"]] == [
        ("suite/h23", 1, "improved"),
        ("suite/h24", -0.5, "regressed"),
        ("suite/h25", 0, "tied"),
    ]
    assert (comparison["improved"], comparison["tied"], comparison["regressed"]) == (1, 1, 1)
    assert comparison["unpaired"] == [
        {"task": "suite/h26", "reason": "now has no trial"},
        {"task": "suite/h27", "reason": "base has no trial"},
    ]


def test_a_side_with_anomalies_only_is_not_compared(author: AuthorRunner, job: Callable[..., Path]) -> None:
    old, new = job("old", {"h23": [1]}), job("new", {"h23": [None]})
    _, document = summarize(author, new, "--against", old)
    assert document["comparison"]["unpaired"] == [{"task": "suite/h23", "reason": "now has only anomalies"}]
    assert document["comparison"]["meanDelta"] is None


def test_a_task_that_changed_is_told(author: AuthorRunner, job: Callable[..., Path], tmp_path: Path) -> None:
    old = job("old", {"h23": [1]})
    new = tmp_path / "jobs/new"
    trial(new, "h23", 1, task_checksum="another")
    status, document = summarize(author, close(new), "--against", old)
    assert (status, document["comparison"]["changedTasks"]) == (0, ["suite/h23"])


@pytest.mark.slow
def test_the_same_trial_twice_is_an_error(
    author: AuthorRunner, job: Callable[..., Path], tmp_path: Path
) -> None:
    folder = job("one", {"h23": [1]})
    for arguments in ([folder, folder], [folder, "--against", folder], [folder.parent, folder]):
        status, error = summarize(author, *arguments)
        assert status == 2
        assert "the same trial is given twice" in error
    copy = tmp_path / "copy"
    (single,) = (entry for entry in folder.iterdir() if entry.is_dir())
    (copy / single.name).mkdir(parents=True)
    (copy / single.name / "result.json").write_bytes((single / "result.json").read_bytes())
    assert summarize(author, folder, copy)[0] == 2


@pytest.mark.slow
def test_folders_without_trials(author: AuthorRunner, tmp_path: Path) -> None:
    assert "holds no trial" in author("runs", "summarize", tmp_path).err
    assert "there is no such folder" in author("runs", "summarize", tmp_path / "no").err
    assert author("runs", "summarize").status == 2


@pytest.mark.slow
def test_text_markdown_and_html(author: AuthorRunner, job: Callable[..., Path]) -> None:
    odd = "h23<script>|x"
    old, new = job("old", {odd.replace("/", ""): [0]}), job("new", {odd: [1]})
    text = author("runs", "summarize", new, "--against", old)
    assert text.status == 0
    assert re.search(r"suite/h23<script>\|x +0 +1 +\+1 +improved", text.out)
    assert "1 improved, 0 tied, 0 regressed; mean difference +1" in text.out
    markdown = author("runs", "summarize", new, "--against", old, "--format", "markdown").out
    assert "| suite/h23\\<script\\>\\|x | 0 | 1 | +1 | improved |" in markdown
    html = author("runs", "summarize", new, "--against", old, "--format", "html").out
    assert html.startswith("<!doctype html>")
    assert "<script" not in html
    assert '<td class="improved">improved</td>' in html
    assert "http" not in html
