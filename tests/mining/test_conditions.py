"""The static checks of a generated judge: asked here in Python, in the judge in JavaScript, answered alike."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from harbor_author.mining import ExtractRequest, extract_task
from harbor_author.mining.conditions import Condition, Reading
from harbor_author.mining.states import Tree, TreeFile
from harbor_author.scaffold import TaskRequest
from harbor_author.suite import find_suite
from tests.conftest import REPOSITORY
from tests.mining.history import File, History
from tests.mining.replay import LICENSE
from tests.mining.trees import solved

SOURCES = {
    "list.js": "export const inject = ['jobs', \"webServer\", `llm`]\n",
    "object.ts": "export const inject: Inject = { tools: true, 'session': { required: true } }\n",
    "strict.mts": "export default { inject: { required: ['persona'], optional: ['timer'] } }\n",
    "call.tsx": "ctx.inject(['remote'], (ctx) => ctx.remote.go())\n",
    "decorated.ts": "class A { @Inject('loader') loader }\n",
    "not.js": "const reinject = ['nope']; /* inject = ['never'] */ // inject: ['neither']\n",
    "members.js": "ctx.jobs.list(); ctx?.llm; context['tasks']; notctx.fake; ctx.jobsX; ctx . spaced\n",
    "strings.js": "const a = '// ctx.inString'; const b = `/* ${ctx.inTemplate} */`\n",
    "regex.js": "const c = /[/*]/.test(ctx.afterRegex)\n",
    "division.js": "const a = b / c // ctx.inComment / 2\n",
    "imports.js": "import x from '@scope/pkg/deep'\nconst y = require(\"plain\")\nimport('lazy')\n",
    "not-imported.js": "// import 'commented'\n",
    "words.js": "onJobDone(); myonTaskDone; $onTaskDone; on.apiProxy\n",
    "types.d.ts": "declare const onlyDeclared: string\n",
    "tests/a.test.js": "onlyInTest()\n",
    "notes.md": "onlyInDocs\n  a line of text  \r\nlast",
    "data.bin": "\x00\x01",
}
MANIFEST = {
    "name": "x",
    "dsh": {"bundle": {"patch": "p.yml"}, "": 1},
    "exports": {".": "a", "./client": "b"},
    "list": [1],
}
TREE: Tree = {name: TreeFile(text.encode()) for name, text in SOURCES.items()} | {
    "package.json": TreeFile(json.dumps(MANIFEST).encode())
}

QUESTIONS = [
    *(
        ("injects", name)
        for name in [
            "jobs",
            "webServer",
            "llm",
            "tools",
            "session",
            "persona",
            "timer",
            "remote",
            "loader",
            "nope",
            "never",
            "neither",
        ]
    ),
    *(
        ("member", name)
        for name in [
            "jobs",
            "llm",
            "tasks",
            "fake",
            "jobsX",
            "spaced",
            "inString",
            "inTemplate",
            "afterRegex",
            "inComment",
        ]
    ),
    *(
        ("word", name)
        for name in [
            "onJobDone",
            "onTaskDone",
            "apiProxy",
            "onlyDeclared",
            "onlyInTest",
            "onlyInDocs",
            "inject",
            "$onTaskDone",
        ]
    ),
    *(("imports", name) for name in ("@scope/pkg", "plain", "lazy", "commented", "@scope", "pkg", "la.y")),
    *(("file", name) for name in ("list.js", "tests", "tests/a.test.js", "absent", "./list.js")),
    *(
        ("manifest", keys)
        for keys in (("dsh",), ("dsh", "bundle", "patch"), ("dsh", "bundle", "x"), ("exports", "./client"))
    ),
    *(
        ("manifest", keys)
        for keys in (("dsh", "bundle", "patch", "0"), ("list", "0"), ("toString",), ("dsh", ""))
    ),
    ("line", ("notes.md", "a line of text")),
    ("line", ("notes.md", "last")),
    ("line", ("notes.md", "line")),
    ("line", ("absent.md", "last")),
    ("digest", ("data.bin", "b413f47d13ee2fe6c845b2ee141af81de858df4ec549a58b7970bb96645bc8d2")),
    ("digest", ("list.js", "00")),
]
TRUE = {
    "injects": {"jobs", "webServer", "llm", "tools", "session", "persona", "timer", "remote", "loader"},
    "member": {"jobs", "llm", "tasks", "jobsX", "spaced", "inString", "inTemplate", "afterRegex"},
    "word": {"onJobDone", "apiProxy", "inject", "$onTaskDone"},
    "imports": {"@scope/pkg", "plain", "lazy", "@scope"},
    "file": {"list.js", "tests/a.test.js"},
    "manifest": {("dsh",), ("dsh", "bundle", "patch"), ("exports", "./client"), ("dsh", "")},
    "line": {("notes.md", "a line of text"), ("notes.md", "last")},
    "digest": {("data.bin", "b413f47d13ee2fe6c845b2ee141af81de858df4ec549a58b7970bb96645bc8d2")},
}


def expected() -> list[bool]:
    return [value in TRUE[kind] for kind, value in QUESTIONS]


def test_python_answers() -> None:
    reading = Reading(TREE, ("ctx", "context"))
    answers = [reading.meets(Condition(kind, value, holds=True)) for kind, value in QUESTIONS]
    wrong = [
        question for question, got, right in zip(QUESTIONS, answers, expected(), strict=True) if got != right
    ]
    assert wrong == []


def test_gone_is_the_opposite_of_there() -> None:
    reading = Reading(TREE, ("ctx",))
    for kind, value in QUESTIONS:
        assert reading.meets(Condition(kind, value, holds=True)) != reading.meets(
            Condition(kind, value, holds=False)
        )


@pytest.mark.node
def test_javascript_answers_alike(tmp_path: Path) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("no Node.js on PATH")
    for name in ("extract/tests/conditions.mjs", "shared/tests/judge-utils.mjs"):
        shutil.copy(REPOSITORY / "templates" / name, tmp_path)
    fixture = tmp_path / "fixture"
    for path, file in TREE.items():
        (fixture / path).parent.mkdir(parents=True, exist_ok=True)
        (fixture / path).write_bytes(file.data)
    questions = [Condition(kind, value, holds=True).as_json() for kind, value in QUESTIONS]
    (tmp_path / "ask.mjs").write_text(
        "import { readPlugin } from './conditions.mjs';\n"
        f"const plugin = readPlugin({json.dumps(str(fixture))}, ['ctx', 'context']);\n"
        f"console.log(JSON.stringify({json.dumps(questions)}.map((question) => plugin.meets(question))));\n"
    )
    done = subprocess.run(
        [node, "ask.mjs"], cwd=tmp_path, capture_output=True, text=True, timeout=30, check=True
    )
    answers = json.loads(done.stdout)
    wrong = [
        question for question, got, right in zip(QUESTIONS, answers, expected(), strict=True) if got != right
    ]
    assert wrong == []


def score(node: str, judge: Path, fixture: Path, baseline: Path, work: Path) -> int:
    """What a generated judge without a host gives a tree."""
    places = {"fixture": fixture, "baseline": baseline, "work_root": work}
    text = judge.read_text("utf-8")
    given = "".join(f"  {name}: {json.dumps(str(path))},\n" for name, path in places.items())
    changed = judge.with_name(f"judge-{fixture.parent.name}.mjs")
    changed.write_text(text.replace("  time_limit_s: 600,\n", "  time_limit_s: 600,\n" + given), "utf-8")
    done = subprocess.run([node, changed], capture_output=True, text=True, timeout=30, check=True)
    result = json.loads(done.stdout.splitlines()[-1])
    assert "error" not in result, result
    return int(result["score"])


@pytest.mark.node
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"app.py": "print('a')\n"}, {"app.py": "print('brand new')\n"}),
        ({"data.bin": b"\x00\x01"}, {"data.bin": b"\x00\x02"}),
        ({"old.txt": "1\n"}, {"old.txt": None, "new.txt": "2\n"}),
        ({"src/a.js": "export const inject = ['tasks']\n"}, {"src/a.js": "export const inject = ['jobs']\n"}),
    ],
    ids=["another language", "binary", "files", "no manifest"],
)
def test_a_generated_judge_gives_the_reference_everything(
    before: dict[str, File], after: dict[str, File], tmp_path: Path, suite_root: Path
) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("no Node.js on PATH")
    with (suite_root / "author.toml").open("a") as settings:
        settings.write('\n[series.K]\ntitle = "kiosk"\nmode = "mutable"\nhost = "none"\n')
    history = History(tmp_path / "r")
    history.commit("start", {"LICENSE": LICENSE, **before})
    history.commit("step", after)
    marks = history.write()
    task = extract_task(
        find_suite(suite_root),
        ExtractRequest(repository=tmp_path / "r", commit=marks[2]),
        TaskRequest(series="K"),
    ).path
    baseline = task / "environment" / "fixture"
    result = solved(task, tmp_path / "oracle")
    (tmp_path / "touched").mkdir()
    touched = tmp_path / "touched" / "fixture"
    shutil.copytree(baseline, touched)
    (touched / "unrelated.txt").write_text("x")
    work = tmp_path / "work"
    work.mkdir()
    judge = task / "tests" / "judge.mjs"
    assert score(node, judge, result, baseline, work) == 100
    assert score(node, judge, touched, baseline, work) == 0
