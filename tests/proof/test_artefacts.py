"""`oracle-check --artifacts`: what trials that did not pass leave, and its expiry."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from tests.conftest import AuthorRunner
from tests.proof.tasks import FILES, write_files

DOCKERFILE = """FROM node:24-bookworm
WORKDIR /app
COPY fixture /app/fixture
RUN git init -q && git add -A && git -c user.name=x -c user.email=x@x commit -qm baseline
"""
SECRET = "ghp_" + "a1" * 18
SOLVE = "#!/bin/bash\necho 'const changed = true;' > /app/fixture/index.js\ntouch /app/fixture/added\n"
JUDGE = f"#!/bin/bash\necho 'judging with {SECRET}'\nprintf '\\033]0;owned\\007'\necho 0 > /logs/verifier/reward.txt\n"


@pytest.mark.engine
def test_r122_failed_trials_leave_outputs_and_a_diff_without_secrets(
    author: AuthorRunner, tmp_path: Path
) -> None:
    files = {
        **FILES,
        "environment/Dockerfile": DOCKERFILE,
        "environment/fixture/index.js": "const changed = false;\n",
        "solution/solve.sh": SOLVE,
        "tests/test.sh": JUDGE,
    }
    write_files(tmp_path / "kept", files)
    out = tmp_path / "out"
    ran = author("oracle-check", "--artifacts", out, tmp_path / "kept")
    assert ran.status == 1
    # The untouched trial passed (0, as it should be): nothing of it is kept.
    assert [path.name for path in (out / "kept").iterdir() if path.is_dir()] == ["oracle"]
    kept = {path.name: path.read_text() for path in (out / "kept" / "oracle").iterdir()}
    assert kept.keys() == {"trial.json", "judge-output.txt", "fixture.diff"}
    assert "judging with [redacted]" in kept["judge-output.txt"]
    assert "-const changed = false;\n+const changed = true;" in kept["fixture.diff"]
    assert "?? fixture/added" in kept["fixture.diff"]
    assert json.loads(kept["trial.json"])["cause"] == "reward-too-low"
    for text in kept.values():
        assert SECRET not in text
        assert "\x1b" not in text
        assert str(tmp_path) not in text


@pytest.mark.engine
def test_r122_the_diff_is_kept_for_a_judge_of_its_own_and_for_steps(
    author: AuthorRunner, tmp_path: Path
) -> None:
    common = {
        "environment/Dockerfile": DOCKERFILE,
        "environment/fixture/index.js": "const changed = false;\n",
    }
    toml = str(FILES["task.toml"])
    separate = {
        **FILES,
        **common,
        "task.toml": toml.replace("[verifier]\n", '[verifier]\nenvironment_mode = "separate"\n'),
        "solution/solve.sh": SOLVE,
        "tests/test.sh": JUDGE,
    }
    steps: dict[str, str | None] = {**common, "task.toml": toml}
    for number, name in enumerate(("one", "two")):
        steps["task.toml"] = f'{steps["task.toml"]}\n[[steps]]\nname = "{name}"\n'
        steps |= {
            f"steps/{name}/instruction.md": "Do it.\n",
            f"steps/{name}/solution/solve.sh": SOLVE
            if number
            else "#!/bin/bash\necho one > /app/fixture/one\n",
            f"steps/{name}/tests/test.sh": "#!/bin/bash\necho 0 > /logs/verifier/reward.txt\n",
        }
    write_files(tmp_path / "separate", separate)
    write_files(tmp_path / "steps", steps)
    out = tmp_path / "out"
    ran = author("oracle-check", "--artifacts", out, tmp_path / "separate", tmp_path / "steps")
    assert ran.status == 1, ran.out + ran.err
    for name in ("separate", "steps"):
        diff = (out / name / "oracle" / "fixture.diff").read_text()
        assert "+const changed = true;" in diff
        assert "?? fixture/added" in diff
    assert "?? fixture/one" in diff, "what all steps changed"


def test_r122_artefacts_expire(author: AuthorRunner, tmp_path: Path) -> None:
    from harbor_author.integrity import ArtefactFolder

    ArtefactFolder(tmp_path / "out").save("H23", "oracle", "summary.txt", "x")
    (tmp_path / "out" / "mine").mkdir()
    assert author("clean", "--artifacts", tmp_path / "out").out == "nothing to remove\n"
    for path in (tmp_path / "out").rglob("*"):
        os.utime(path, (time.time() - 3 * 24 * 3600,) * 2)
    ran = author("clean", "--artifacts", tmp_path / "out", "--older-than", "2", "--dry-run")
    assert ran.out == f"would remove artifacts {tmp_path / 'out' / 'H23'}\n"
    assert author("clean", "--artifacts", tmp_path / "out", "--older-than", "2").status == 0
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["mine"]
