"""What comes out of a container that means harm: it ends in an error with its cause, or stays inside."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import AuthorRunner
from tests.proof.tasks import TOML, make_task

pytestmark = pytest.mark.engine

SEPARATE = TOML.replace("[verifier]\n", '[verifier]\nenvironment_mode = "separate"\n')
#: Where a reward should be: what a script puts there instead -> the cause.
REWARDS = {
    "fifo": ("mkfifo /logs/verifier/reward.txt", "reward-missing"),
    "device": ("mknod /logs/verifier/reward.txt c 1 5", "reward-missing"),
    "loop": ("ln -s reward.txt /logs/verifier/reward.txt", "reward-missing"),
    "directory": ("mkdir /logs/verifier/reward.txt", "reward-missing"),
    "sparse": ("truncate -s 100G /logs/verifier/reward.txt", "reward-unparsable"),
    "digits": ("head -c 3000000 /dev/zero | tr '\\0' 9 > /logs/verifier/reward.txt", "reward-unparsable"),
    "deep": (
        "for i in $(seq 4000); do printf '['; done > /logs/verifier/reward.json; rm -f /logs/verifier/reward.txt",
        "reward-unparsable",
    ),
}
#: What an agent leaves for a judge in another container.
HARMFUL = r"""#!/bin/bash
cd /logs/artifacts
ln -s /etc/passwd absolute; ln -s ../../../etc/passwd upwards; ln -s inside relative; ln -s loop loop
echo inside > inside; ln inside hard; chmod 4755 inside
mkfifo fifo; mknod zero c 1 5; mknod disk b 7 0
touch $'\033]0;owned\007' $'line\nbreak' -- '-rf' '{{ 7*7 }}' $'\xff\xfe'
touch "$(printf 'n%.0s' $(seq 250))"
touch -d '1900-01-01' old; touch -d '2900-01-01' late
d=deep; for i in $(seq 120); do d=$d/d; done; mkdir -p $d
truncate -s 300M sparse
echo done > /app/answer
"""
LISTING = r"""#!/bin/bash
find /logs/artifacts -mindepth 1 -maxdepth 1 -printf '%f %y %m %l\n' | sort | cat -v
[ -e /app/answer ] || [ "$(cat /logs/artifacts/inside 2>/dev/null)" = inside ] && r=1 || r=0
echo $r > /logs/verifier/reward.txt
"""


def test_a_reward_that_is_no_file_is_an_error(author: AuthorRunner, tmp_path: Path) -> None:
    tasks = [
        make_task(tmp_path, name, tests__test_sh=f"#!/bin/bash\n{line}\n")
        for name, (line, _) in REWARDS.items()
    ]
    ran = author("oracle-check", "--json", "--jobs", "2", *(task.path for task in tasks))
    results = {result["task"]: result["trials"][0] for result in json.loads(ran.out)["results"]}
    assert {name: trial["reward"] for name, trial in results.items()} == dict.fromkeys(REWARDS)
    assert {name: trial["cause"] for name, trial in results.items()} == {
        name: cause for name, (_, cause) in REWARDS.items()
    }
    assert len(ran.out) < 400_000


def test_what_crosses_to_a_separate_judge_leads_nowhere(author: AuthorRunner, tmp_path: Path) -> None:
    task = make_task(
        tmp_path, "crossing", task_toml=SEPARATE, solution__solve_sh=HARMFUL, tests__test_sh=LISTING
    )
    ran = author("oracle-check", "--json", "--artifacts", tmp_path / "out", task.path)
    (result,) = json.loads(ran.out)["results"]
    assert result["verdict"] == "pass", result
    log = result["trials"][1]["judge_log"]
    assert "inside f 755" in log, log
    for name in ("absolute l", "upwards l", "fifo p", "zero c", "disk b"):
        assert name not in log
    assert "\x1b" not in log


def test_an_artifact_without_end_is_refused(author: AuthorRunner, tmp_path: Path) -> None:
    bomb = "#!/bin/bash\ntruncate -s 200G /logs/artifacts/sparse\n"
    task = make_task(tmp_path, "bomb", task_toml=SEPARATE, solution__solve_sh=bomb, tests__test_sh=LISTING)
    ran = author("oracle-check", "--json", task.path)
    (result,) = json.loads(ran.out)["results"]
    assert (result["verdict"], result["cause"]) == ("error", "environment-failed")
    assert "is larger than 1024 MiB" in result["message"]
