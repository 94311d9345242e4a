"""Tasks of several steps and judges in a container of their own, on real containers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harbor_author.proof.steps import combine
from tests.conftest import AuthorRunner
from tests.proof.tasks import FILES, TOML, write_files

STEP = """
[[steps]]
name = "{name}"
{more}
"""
STEP_JUDGE = (
    "#!/bin/bash\n[ ! -e /logs/verifier/left ] || exit 0\ntouch /logs/verifier/left\n"
    '[ "$(cat /app/{name} 2>/dev/null)" = {name} ] && r=1 || r=0\n[ -e /app/given-{name} ] || r=0\n'
    "echo $r > /logs/verifier/reward.txt\n"
)


#: The judge's folder is emptied before the next step.
STEP_SOLVE = '#!/bin/bash\n[ -z "$(ls /tests 2>/dev/null)" ] && echo {name} > /app/{name}\n'


def steps(*names: str, more: str = "", root: str = "") -> dict[str, str | None]:
    files: dict[str, str | None] = {
        "task.toml": root + TOML + "".join(STEP.format(name=name, more=more) for name in names),
        "environment/Dockerfile": FILES["environment/Dockerfile"],
    }
    for name in names:
        files |= {
            f"steps/{name}/instruction.md": f"Write {name}.\n",
            f"steps/{name}/solution/solve.sh": STEP_SOLVE.format(name=name),
            f"steps/{name}/tests/test.sh": STEP_JUDGE.format(name=name),
            f"steps/{name}/workdir/setup.sh": f"touch given-{name}\n",
        }
    return files


def check(author: AuthorRunner, root: Path, files: dict[str, str | None]) -> dict[str, Any]:
    write_files(root / "t", files)
    ran = author("oracle-check", root / "t", "--json")
    (result,) = json.loads(ran.out)["results"]
    return result


def rewards(result: dict[str, Any]) -> dict[str, float | None]:
    return {trial["name"]: trial["reward"] for trial in result["trials"]}


@pytest.mark.engine
def test_steps_share_a_container_and_the_reward_is_their_mean(author: AuthorRunner, tmp_path: Path) -> None:
    result = check(author, tmp_path, steps("one", "two"))
    assert (result["verdict"], rewards(result)) == ("pass", {"untouched": 0.0, "oracle": 1.0}), result


@pytest.mark.engine
def test_half_of_the_steps_is_half_of_the_reward_or_the_last_ones(
    author: AuthorRunner, tmp_path: Path
) -> None:
    files = steps("one", "two") | {"steps/two/solution/solve.sh": "#!/bin/bash\ntrue\n"}
    assert rewards(check(author, tmp_path / "mean", files))["oracle"] == 0.5
    final = steps("one", "two", root='multi_step_reward_strategy = "final"\n') | {
        "steps/one/solution/solve.sh": "#!/bin/bash\ntrue\n"
    }
    assert rewards(check(author, tmp_path / "final", final))["oracle"] == 1.0


@pytest.mark.engine
def test_a_step_below_its_least_reward_ends_the_trial(author: AuthorRunner, tmp_path: Path) -> None:
    files = steps("one", "two", more="min_reward = 0.5") | {
        "steps/one/solution/solve.sh": "#!/bin/bash\ntrue\n"
    }
    result = check(author, tmp_path, files)
    assert rewards(result)["oracle"] == 0.0


@pytest.mark.engine
def test_a_step_whose_setup_fails_is_an_error(author: AuthorRunner, tmp_path: Path) -> None:
    files = steps("one") | {"steps/one/workdir/setup.sh": "echo no luck\nexit 4\n"}
    result = check(author, tmp_path, files)
    assert (result["verdict"], result["cause"]) == ("error", "step-setup-failed")
    assert "no luck" in result["trials"][0]["judge_log"]


@pytest.mark.engine
def test_a_separate_judge_sees_only_what_crosses(author: AuthorRunner, tmp_path: Path) -> None:
    judge = (
        '#!/bin/bash\n[ ! -e /app/hidden ] && [ ! -e /solution ] && [ "$(cat /app/answer 2>/dev/null)" = done ] '
        '&& [ "$(cat /logs/artifacts/note 2>/dev/null)" = noted ] && r=1 || r=0\n'
        "echo $r > /logs/verifier/reward.txt\n"
    )
    files: dict[str, str | None] = {
        **FILES,
        "task.toml": 'artifacts = ["/app/answer"]\n'
        + TOML.replace("[verifier]\n", '[verifier]\nenvironment_mode = "separate"\n')
        + '[[verifier.collect]]\ncommand = "echo noted > /logs/artifacts/note"\n',
        "solution/solve.sh": "#!/bin/bash\necho done > /app/answer; touch /app/hidden\nln -s / /logs/artifacts/root\n",
        "tests/test.sh": judge,
    }
    result = check(author, tmp_path, files)
    assert (result["verdict"], rewards(result)) == ("pass", {"untouched": 0.0, "oracle": 1.0}), result


@pytest.mark.engine
def test_a_judges_own_image_holds_its_tests(author: AuthorRunner, tmp_path: Path) -> None:
    files: dict[str, str | None] = {
        **FILES,
        "task.toml": 'artifacts = ["/app/answer"]\n'
        + TOML.replace("[verifier]\n", '[verifier]\nenvironment_mode = "separate"\n'),
        "tests/Dockerfile": "FROM node:24-bookworm\nWORKDIR /app\nCOPY test.sh /tests/test.sh\nRUN touch /own\n",
        "tests/test.sh": FILES["tests/test.sh"].replace("= done ]", "= done ] && [ -e /own ]"),  # type: ignore[union-attr]
    }
    result = check(author, tmp_path, files)
    assert (result["verdict"], rewards(result)) == ("pass", {"untouched": 0.0, "oracle": 1.0}), result


def test_rewards_of_steps_are_combined_as_in_harbor() -> None:
    assert combine([{"reward": 1.0, "style": 0.5}, {"reward": 0.0}], "mean") == {"reward": 0.5, "style": 0.25}
    assert combine([{"reward": 1.0}, None], "mean") == {"reward": 1.0}
    assert combine([{"reward": 1.0}, None], "final") is None
    assert combine([{"reward": 0.0}, {"reward": 1.0}], "final") == {"reward": 1.0}
    assert combine([], "mean") is None
