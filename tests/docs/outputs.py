"""Every JSON document of the tool, made by its commands in one process."""

from __future__ import annotations

import contextlib
import io
import json
import os
import shutil
import subprocess
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harbor_author.cli.main import cli
from harbor_author.scoring import ScoringError
from harbor_author.scoring.bench.api import Answer
from tests.conftest import REPOSITORY, author_command
from tests.mining.history import History
from tests.mining.replay import LICENSE, make_replay
from tests.proof.tasks import make_task
from tests.scoring.truths import ENGLISH, RENAMED, finding, truth

Documents = dict[str, list[Any]]


class Collector:
    """Runs commands in a folder and keeps the documents they print, by schema."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.documents: Documents = defaultdict(list)

    def __call__(self, *arguments: str | Path) -> Any:
        out = io.StringIO()
        with (
            contextlib.chdir(self.folder),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(io.StringIO()),
        ):
            cli.main([*map(str, arguments), "--json"], prog_name="author", standalone_mode=False)
        document = json.loads(out.getvalue())
        self.documents[document["schema"]].append(document)
        return document

    def read(self, path: Path) -> None:
        document = json.loads(path.read_text(encoding="utf-8"))
        self.documents[document["schema"]].append(document)


def collect(folder: Path) -> Documents:
    """Run every command that reports and needs no engine, so that each field appears."""
    run = Collector(folder)
    root = folder / "suite"
    suite = ("--suite", root)
    run("init", root, "--host", "0.1.2-alpha.3", "--source", "pypi")
    shutil.copytree(REPOSITORY / "references", root / "references", dirs_exist_ok=True)
    (root / "references" / "zz-broken.md").write_text(
        "### DSH-0.1.0-R6-01 · declared twice\n", encoding="utf-8"
    )
    with (root / "author.toml").open("a", encoding="utf-8") as toml:
        toml.write('\n[registers]\nreadme = "README.md"\n')
    (root / "README.md").write_text(
        "<!-- author:tasks:begin -->\n<!-- author:tasks:end -->\n", encoding="utf-8"
    )
    for series in "HHSM":
        run("new", "--series", series, "--cards", "DSH-0.1.0-R6-01", *suite)
    task = root / "tasks" / "H1-untitled"
    _tasks(run, task, suite)
    _mining(run, suite)
    _scoring(run, root / "tasks" / "S1-untitled")
    _runs(run)
    run("retire", "H2", "--reason", "it leaked", *suite)
    run("manifest", *suite)
    run.read(root / "manifest.json")
    older = folder / "older"
    (older / "tasks" / "H7-a").mkdir(parents=True)
    run("import", older, "--dry-run")
    run("doctor")
    (folder / "kept").mkdir()
    run("clean", "--artifacts", folder / "kept")
    return run.documents


def _tasks(run: Collector, task: Path, suite: tuple[str | Path, ...]) -> None:
    for arguments in (["next-id"], ["list"], ["rules"], ["cards", "list"], ["cards", "coverage"]):
        run(*arguments, *(() if arguments == ["rules"] else suite))
    run("cards", "show", "DSH-0.1.0-R6-01", *suite)
    run("validate", *suite)
    run("vendor", *suite)
    run("publish", "H1", *suite)
    run("rename", "H1", "other", "--dry-run", *suite)
    (task / "tests" / "test.sh").chmod(0o644)
    run("fix", "H1", "--dry-run", *suite)
    run("sync", *suite)
    run("manifest", *suite)
    instruction = task / "instruction.md"
    instruction.write_text(instruction.read_text(encoding="utf-8") + "\nMore.\n", encoding="utf-8")
    run("manifest", "--check", *suite)
    old = run.folder / "old.json"
    shutil.copy(run.folder / "suite" / "manifest.json", old)
    (task / "CHANGES.md").write_text(
        "## 2026-11-30: more\n\n- Intent: a\n- Grading: b\n- Comparability: c\n", encoding="utf-8"
    )
    run("manifest", *suite)
    run("manifest", "--compare", old, *suite)


def _mining(run: Collector, suite: tuple[str | Path, ...]) -> None:
    replay = make_replay(run.folder / "board.git", noise=1)
    run("survey", replay.path)
    for commit in replay.forced:
        run("extract", replay.path, commit, "--series", "M", "--dry-run", *suite)
    made = run("extract", replay.path, replay.layout, "--series", "M", *suite)
    run.read(Path(made["path"]) / "provenance" / "provenance.json")
    code = "import left from 'left'\nexport const inject = ['{}']\nexport function apply(ctx) {{ left(ctx.{}) }}\n"
    package = {
        "name": "one",
        "license": "MIT",
        "type": "module",
        "main": "index.js",
        "dependencies": {"left": "1.3.0"},
    }
    history = History(run.folder / "one.git")
    history.commit(
        "start",
        {
            "LICENSE": LICENSE,
            "package.json": json.dumps(package | {"dsh": {"bundle": {"patch": "cordis.patch.yml"}}}),
            "cordis.patch.yml": "- insert:\n    - id: one\n      name: one\n",
            "index.js": "// later onJobDone\n" + code.format("tasks", "tasks.onTaskDone"),
            ".env": "SECRET=1\n",
        },
    )
    step = history.commit("fix: follow the host", {"index.js": code.format("jobs", "jobs.onJobDone")})
    run("extract", history.path, history.write()[step], "--series", "M", "--dry-run", *suite)


def _scoring(run: Collector, task: Path) -> None:
    (run.folder / "truth.json").write_text(json.dumps(RENAMED), encoding="utf-8")
    for number, text in enumerate((ENGLISH, "## Critical\n- Something else, at index.js:3\n")):
        (run.folder / f"report{number}.md").write_text(text, encoding="utf-8")
        run("score", f"report{number}.md", "--truth", "truth.json")
    run("calibrate", task)
    bench = run.folder / "bench"
    for path, text in {
        "prompts/quick.md": "Be quick.\n",
        "prompts/careful.md": "Be careful.\n",
        "fixtures/tasks/first.md": "Rename the service.",
        "fixtures/tasks/second.md": "Rename it again.",
    }.items():
        (bench / path).parent.mkdir(parents=True, exist_ok=True)
        (bench / path).write_text(text, encoding="utf-8")
    (bench / "ground-truth").mkdir()
    for name in ("first", "second"):
        document = truth(finding("service", ["tasks", "jobs"]), fixtureId=name, domain="task")
        (bench / f"ground-truth/{name}.json").write_text(json.dumps(document), encoding="utf-8")
    run("bench", bench, "--agents", "careful,quick", "--dry-run")
    with (
        pytest.MonkeyPatch.context() as patch
    ):  # the real client costs seconds to import, and has its own tests
        patch.setattr("harbor_author.scoring.bench.anthropic_model", lambda model, timeout_s: _answer)
        run("bench", bench, "--agents", "careful,quick")


def _answer(*, system: str, message: str) -> Answer:
    if system.startswith("Be quick") and "again" in message:
        raise ScoringError("no")
    return Answer("## Critical\n- `tasks` became `jobs`, at index.js:3\n", 7, 3)


def _runs(run: Collector) -> None:
    for job, rewards in {"old": {"H1": [0, 1], "H2": [1]}, "new": {"H1": [1], "H3": [None]}}.items():
        for task, values in rewards.items():
            for number, reward in enumerate(values):
                folder = run.folder / "jobs" / job / f"{task}__{number:07d}"
                folder.mkdir(parents=True)
                document = {
                    "task_name": f"suite/{task}",
                    "trial_name": folder.name,
                    "verifier_result": None if reward is None else {"rewards": {"reward": reward}},
                    "exception_info": None,
                }
                (folder / "result.json").write_text(json.dumps(document), encoding="utf-8")
        (run.folder / "jobs" / job / "result.json").write_text('{"n_total_trials": 3}', encoding="utf-8")
    run("runs", "summarize", "jobs/new", "--against", "jobs/old")


JUDGE = """\
#!/bin/bash
if [ "$(cat /app/answer 2>/dev/null)" = done ]; then score=100; else score=0; fi
judged='"checks":[{"id":"answer","points":100,"earned":'$score',"reason":"looked"}]'
echo '{"score":'$score',"max":100,"reasons":["looked"],'"$judged"'}'
sleep 300 &
echo $((score / 100)) > /logs/verifier/reward.txt
"""


def collect_proofs(folder: Path) -> Documents:
    """What proofs print and keep, in processes of their own: a matrix that passes, a task whose judge is blind, and one
    that cannot be judged."""
    documents: Documents = defaultdict(list)
    names = []
    for name, changes in {
        "sound": {
            "tests__test_sh": JUDGE,
            "solution__decoys__half__solve_sh": "#!/bin/bash\necho half > /app/answer\n",
            "solution__decoys__half__decoy_toml": 'max_score = 10\nwhy = "it is half"\n',
        },
        "blind": {"solution__solve_sh": "#!/bin/bash\necho done > /app/answer\necho x > /app/unseen\n"},
        "broken": {"tests__test_sh": "#!/bin/bash\nexit 1\n"},
    }.items():
        names.append(str(make_task(folder, name, **changes).path))
    for arguments in (["oracle-check", "--matrix", "--clock", "+1d"], ["proof", "show"], ["proof", "check"]):
        done = subprocess.run(
            [*author_command(), *arguments, "--json", *names],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode in (0, 1), done.stderr
        document = json.loads(done.stdout)
        documents[document["schema"]].append(document)
    for receipt in folder.glob("*/proof.json"):
        document = json.loads(receipt.read_text(encoding="utf-8"))
        documents[document["schema"]].append(document)
    return documents


def paths(value: Any, known: set[str] | None = None, at: str = "") -> Iterator[tuple[str, str]]:
    """Each field of a document with its type, such as `results[].task`, `string`.

    Where `known` has `x.*`, `x` is a map whose keys are data.
    """
    if isinstance(value, dict):
        is_map = known is not None and any(
            path == f"{at}.*" or path.startswith((f"{at}.*.", f"{at}.*[")) for path in known
        )
        for key, inner in value.items():
            path = f"{at}.*" if is_map else f"{at}.{key}" if at else key
            yield path, _type(inner)
            yield from paths(inner, known, path)
    elif isinstance(value, list):
        for inner in value:
            if isinstance(inner, dict | list):
                yield from paths(inner, known, f"{at}[]")


def _type(value: Any) -> str:
    if isinstance(value, list):
        kinds = sorted({_type(item) for item in value})
        return f"list of {' or '.join(kinds)}" if kinds else "list"
    names = {
        bool: "boolean",
        int: "number",
        float: "number",
        str: "string",
        dict: "object",
        type(None): "null",
    }
    return names[type(value)]
