"""`service.mjs`, by which judges run the agent's project: whose fault is a service that does not answer?"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import REPOSITORY

pytestmark = pytest.mark.node

TEMPLATES = REPOSITORY / "templates"
RIGHT = """\
import { createServer } from "node:http";
const server = createServer(async (request, response) => {
  let text = "";
  for await (const part of request) text += part;
  const { method, url, headers } = request;
  if (url === "/hang") return;
  if (url === "/die") process.exit(7);
  if (url === "/killed") process.kill(process.pid, "SIGKILL");
  response.end(JSON.stringify({ method, url, text, type: headers["content-type"] ?? null }));
});
server.listen(Number(process.env.PORT), "127.0.0.1", () => console.log(`listening on http://127.0.0.1:${server.address().port}`));
"""
CRASHES = 'throw new TypeError("no such thing");\n'
SILENT = "setInterval(() => {}, 1000);\n"

Judged = Callable[..., dict[str, Any]]


@pytest.fixture
def judged(tmp_path: Path) -> Judged:
    """Judge a project: `grade` is the body of the judge, which has `judge`, `start()` and `seen`."""
    if shutil.which("node") is None:
        pytest.skip("no Node.js")
    for library in ("hostless/tests/service.mjs", "shared/tests/judge-utils.mjs"):
        shutil.copy(TEMPLATES / library, tmp_path)

    def run(project: str, grade: str, *, before: str = RIGHT) -> dict[str, Any]:
        for name, source in (("fixture", project), ("baseline", before)):
            (tmp_path / name / "src").mkdir(parents=True)
            (tmp_path / name / "src" / "server.mjs").write_text(source, encoding="utf-8")
        (tmp_path / "judge.mjs").write_text(
            f"""
import {{ defineJudge }} from "./judge-utils.mjs";
import {{ SERVICE_STEPS, startService }} from "./service.mjs";
const root = {json.dumps(str(tmp_path))};
const judge = defineJudge({{
  task: "E1-test", mode: "mutable", steps: SERVICE_STEPS, checks: [{{ id: "all", points: 100 }}],
  fixture: `${{root}}/fixture`, baseline: `${{root}}/baseline`, work_root: root,
}});
const start = () => startService(judge, {{ entry: "src/server.mjs", baseline: `${{root}}/baseline`, start_s: 2 }});
await judge.run(async () => {{ {grade} }});
""",
            encoding="utf-8",
        )
        done = subprocess.run(
            ["node", "judge.mjs"], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=True
        )
        assert not (tmp_path / "bench-e1-test").exists()
        result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        return result

    return run


def test_requests_reach_the_service_as_they_are_given(judged: Judged) -> None:
    result = judged(
        RIGHT,
        """
        const service = await start();
        const answers = [
          await service.call("GET", "/a?b=c"),
          await service.call("POST", "/p", { price: 19.99 }),
          await service.call("POST", "/p", '{"price": NaN}'),
          await service.call("PUT", "/p", "text", { headers: { "content-type": "text/plain" } }),
        ];
        for (const answer of answers) judge.note(`${answer.status} ${answer.text}`);
        judge.award("all", answers[1].json.text === '{"price":19.99}' ? 100 : 0, "");
        """,
    )
    assert result["score"] == 100
    assert result["reasons"] == [
        '200 {"method":"GET","url":"/a?b=c","text":"","type":null}',
        '200 {"method":"POST","url":"/p","text":"{\\"price\\":19.99}","type":"application/json"}',
        '200 {"method":"POST","url":"/p","text":"{\\"price\\": NaN}","type":"application/json"}',
        '200 {"method":"PUT","url":"/p","text":"text","type":"text/plain"}',
    ]


@pytest.mark.parametrize(
    ("project", "why"),
    [(CRASHES, "ends with 1: TypeError: no such thing"), (SILENT, "does not listen within 2 s")],
)
def test_a_service_that_does_not_start_is_the_submission_s_fault(
    judged: Judged, project: str, why: str
) -> None:
    result = judged(
        project,
        """
        const service = await start();
        judge.award("all", 0, (await service.call("GET", "/")).summary);
        """,
    )
    assert "error" not in result
    assert result["score"] == 0
    assert any(why in reason for reason in result["reasons"])
    assert "all: the service does not run" in result["reasons"]


def test_a_project_that_never_started_is_the_evaluator_s_fault(judged: Judged) -> None:
    result = judged(CRASHES, "await start();", before=CRASHES)
    assert "does not even start as it was: it ends with 1: TypeError" in result["error"]


def test_a_request_without_answer_is_an_answer_and_patience_ends(judged: Judged) -> None:
    result = judged(
        RIGHT,
        """
        const service = await start();
        for (let tries = 0; tries < 4; tries++) {
          judge.note((await service.call("GET", "/hang", undefined, { timeout_s: 0.2 })).summary);
        }
        """,
    )
    assert "error" not in result
    assert result["reasons"][:4] == [*["no answer within 0.2 s"] * 3, "the service stopped answering"]


def test_a_service_that_ends_says_so(judged: Judged) -> None:
    result = judged(
        RIGHT,
        """
        const service = await start();
        judge.note((await service.call("GET", "/die")).summary);
        """,
    )
    assert "error" not in result
    assert "the service ended with 7" in result["reasons"][0]


def test_a_service_that_is_killed_is_the_evaluator_s_fault(judged: Judged) -> None:
    result = judged(
        RIGHT,
        """
        const service = await start();
        await service.call("GET", "/killed");
        """,
    )
    assert "killed by SIGKILL" in result["error"]
