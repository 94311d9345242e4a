"""Setuid programs in trials: denied their rights unless the task asks for them, and never to a score of zero."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harbor_author.proof.causes import CAUSES
from harbor_author.proof.config import load_config
from harbor_author.proof.errors import TaskRefusedError
from tests.conftest import AuthorRunner
from tests.proof.tasks import TOML, make_task

DECLARED = "\n[metadata.author]\nnew_privileges = true\n"
AS_NODE = TOML.replace("[agent]\n", '[agent]\nuser = "node"\n')
#: A setuid program that tells whom it runs as.
DOCKERFILE = """\
FROM node:24-bookworm
RUN cp /usr/bin/id /usr/local/bin/effective && chmod 4755 /usr/local/bin/effective
WORKDIR /app
RUN chmod 777 /app
"""
#: Says what sudo 1.9 says, where sudo would.
SOLVE = """\
#!/bin/bash
if [ "$(effective -u)" != 0 ]; then
  echo 'sudo: The "no new privileges" flag is set, which prevents sudo from running as root.' >&2
  exit 1
fi
echo done > /app/answer
"""
FLAG = "#!/bin/bash\ngrep -q '^NoNewPrivs:.1$' /proc/self/status && [ -e /app/answer ] && r=1 || r=0\n"


@pytest.mark.engine
def test_a_setuid_program_is_denied_unless_the_task_declares_its_need(
    author: AuthorRunner, tmp_path: Path
) -> None:
    tasks = [
        make_task(
            tmp_path, name, task_toml=toml, environment__Dockerfile=DOCKERFILE, solution__solve_sh=SOLVE
        ).path
        for name, toml in (("silent", AS_NODE), ("declared", AS_NODE + DECLARED), ("root", TOML))
    ]
    ran = author("oracle-check", "--json", *tasks)
    results = {result["task"]: result for result in json.loads(ran.out)["results"]}
    assert {name: (result["verdict"], result["cause"]) for name, result in results.items()} == {
        "silent": ("error", "new-privileges"),
        "declared": ("pass", None),
        "root": ("pass", None),
    }
    untouched, oracle = results["silent"]["trials"]
    assert (untouched["verdict"], oracle["verdict"], oracle["reward"]) == ("pass", "error", None)


@pytest.mark.engine
def test_a_judge_that_is_denied_gives_no_zero_either(author: AuthorRunner, tmp_path: Path) -> None:
    judge = SOLVE.replace("exit 1", "echo 0 > /logs/verifier/reward.txt; exit 0")
    judge += "echo 1 > /logs/verifier/reward.txt\n"
    toml = TOML.replace("[verifier]\n", '[verifier]\nuser = "node"\n')
    task = make_task(tmp_path, task_toml=toml, environment__Dockerfile=DOCKERFILE, tests__test_sh=judge)
    (result,) = json.loads(author("oracle-check", "--json", task.path).out)["results"]
    assert [(trial["cause"], trial["reward"]) for trial in result["trials"]] == [("new-privileges", None)] * 2
    assert "new_privileges = true" in CAUSES["new-privileges"].hint
    assert "[metadata.author]" in CAUSES["new-privileges"].hint


@pytest.mark.engine
def test_the_flag_is_set_for_root_and_in_a_judges_own_container(author: AuthorRunner, tmp_path: Path) -> None:
    judge = FLAG + "echo $r > /logs/verifier/reward.txt\n"
    apart = TOML.replace("[verifier]\n", '[verifier]\nenvironment_mode = "separate"\n')
    apart = apart.replace("[task]\n", 'artifacts = ["/app/answer"]\n\n[task]\n')
    tasks = [
        make_task(tmp_path, name, task_toml=toml, tests__test_sh=judge).path
        for name, toml in (("shared", TOML), ("apart", apart))
    ]
    ran = author("oracle-check", "--json", *tasks)
    assert [result["verdict"] for result in json.loads(ran.out)["results"]] == ["pass", "pass"], ran.out


@pytest.mark.parametrize("value", ['"yes"', "1", "[]"])
def test_a_declaration_that_is_no_boolean_is_refused(tmp_path: Path, value: str) -> None:
    task = make_task(tmp_path, task_toml=f"{TOML}[metadata.author]\nnew_privileges = {value}\n")
    with pytest.raises(TaskRefusedError, match=r"metadata\.author\.new_privileges is neither true nor false"):
        load_config(task.path)


def test_a_declaration_holds_for_a_judges_own_container_too(tmp_path: Path) -> None:
    toml = f'{TOML}{DECLARED}[verifier.environment]\ndocker_image = "x"\n'
    config = load_config(make_task(tmp_path, task_toml=toml).path)
    assert config.environment.new_privileges
    assert config.verifier.environment is not None
    assert config.verifier.environment.new_privileges
