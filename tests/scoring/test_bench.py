"""The model benchmark against a local server that speaks the real protocol."""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from harbor_author.scoring import ScoringError, read_truth
from harbor_author.scoring.bench import KINDS, Run, anthropic_model, load_inputs, run_benchmark, with_retries
from harbor_author.scoring.bench.api import Answer
from harbor_author.scoring.bench.inputs import Agent, Fixture, Inputs, fixture_domain, strip_front_matter
from harbor_author.scoring.bench.journal import Journal
from tests.conftest import REPOSITORY, AuthorRunner, author_command
from tests.scoring import golden
from tests.scoring.model_server import ModelServer, Reply, error, message, serving, without_text
from tests.scoring.truths import finding, truth

RIGHT = "## Critical\n- The service `tasks` became `jobs`, at index.js:3\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two agents, two fixtures."""
    root = tmp_path / "bench"
    for path, text in {
        "prompts/quick.md": "---\nname: quick\n---\nBe quick.\n",
        "prompts/careful.md": "Be careful.\n",
        "fixtures/tasks/first.md": "Rename the service.",
        "fixtures/tasks/second.ts": "const second = 2;",
        "fixtures/tasks/notes.txt": "no fixture",
    }.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, "utf-8")
    (root / "ground-truth").mkdir()
    for name in ("first", "second"):
        document = truth(finding("service", ["tasks", "jobs"]), fixtureId=name, domain="task")
        (root / f"ground-truth/{name}.json").write_text(json.dumps(document), "utf-8")
    return root


class Bench:
    """A benchmark over a server, with every wait recorded instead of waited for."""

    def __init__(self, folder: Path, server: ModelServer) -> None:
        self.folder = folder
        self.server = server
        self.waits: list[float] = []
        self.said: list[str] = []
        self.warned: list[str] = []

    def run(self, *agents: str, fixture: str | None = "first", jobs: int = 1, **options: Any) -> list[Any]:
        inputs = load_inputs(self.folder, KINDS["executor"], agents or ("quick",), fixture=fixture)
        model = anthropic_model(
            "model-x",
            environment=self.server.environment(),
            timeout_s=options.pop("timeout_s", 30),
            client_retries=options.pop("client_retries", 0),
        )
        run = Run(
            KINDS["executor"],
            model,
            say=self.said.append,
            warn=self.warned.append,
            jobs=jobs,
            sleep=self.waits.append,
        )
        return run_benchmark(inputs, run, **options)

    @property
    def text(self) -> str:
        return "".join(self.said)


@pytest.fixture
def bench(folder: Path) -> Iterator[Callable[..., Any]]:
    """Start a server with a script: a reply for each request, the last one repeated; or a function."""
    with_server = []

    def start(*replies: Reply, by: Callable[[dict[str, Any], int], Reply] | None = None) -> Bench:
        context = serving(by or (lambda _, number: replies[min(number, len(replies) - 1)]))
        server = context.__enter__()
        with_server.append(context)
        return Bench(folder, server)

    yield start
    for context in with_server:
        context.__exit__(None, None, None)


def test_a_completed_run(bench: Callable[..., Bench]) -> None:
    one = bench(message(RIGHT))
    (result,) = one.run()
    assert result["completion"] == "completed"
    assert result["matchedFindings"] == ["service"]
    assert result["parsedOutput"]["rawOutput"] == RIGHT
    assert (result["inputTokens"], result["outputTokens"], result["totalTokens"]) == (7, 3, 10)
    assert list(result) == [
        "fixtureId", "domain", "agentType", "completion", "parsedOutput", "scores", "matchedFindings",
        "missedFindings", "spuriousFindings", "latencyMs", "harnessOverheadMs", "inputTokens", "outputTokens",
        "totalTokens",
    ]  # fmt: skip
    (request,) = one.server.requests
    assert request["path"] == "/v1/messages"
    assert (request["model"], request["max_tokens"], request["system"]) == ("model-x", 8192, "Be quick.")
    assert request["messages"] == [
        {
            "role": "user",
            "content": "Implement the following task. Describe your approach, the files you would modify, and the "
            "changes you would make:\n\nRename the service.",
        }
    ]
    sent = one.server.headers[0]
    assert sent.get("x-api-key", sent.get("authorization", "")).removeprefix("Bearer ") == "key-1"


def test_agents_are_the_outer_loop(bench: Callable[..., Bench]) -> None:
    one = bench(message(RIGHT))
    results = one.run("careful", "quick", fixture=None)
    order = [(result["agentType"], result["fixtureId"]) for result in results]
    assert order == [("careful", "first"), ("careful", "second"), ("quick", "first"), ("quick", "second")]
    assert [line.split("...")[0] for line in one.text.splitlines()] == [
        "Running careful on first", "Running careful on second", "Running quick on first", "Running quick on second",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "reply",
    [
        error(529, "overloaded_error", "Overloaded"),
        error(429, "rate_limit_error", "too many"),
        error(500, "api_error", "Internal server error"),
    ],
)
def test_transient_errors_are_tried_again(bench: Callable[..., Bench], reply: Reply) -> None:
    one = bench(reply, reply, message(RIGHT))
    (result,) = one.run()
    assert result["completion"] == "completed"
    assert one.waits == [1, 2]
    assert "\n    Retrying in 1s (attempt 1/5)... \n    Retrying in 2s (attempt 2/5)... done (" in one.text


def test_retries_end(bench: Callable[..., Bench]) -> None:
    one = bench(error(529, "overloaded_error"))
    (result,) = one.run()
    assert (result["completion"], result["failureReason"]) == ("failed", "api")
    assert one.waits == [1, 2, 4, 8, 16]
    assert len(one.server.requests) == 6
    assert "scores" not in result
    assert "parsedOutput" not in result
    assert set(result) & {"inputTokens", "harnessOverheadMs"} == set()
    assert "529" in one.warned[0]


@pytest.mark.parametrize(
    "reply",
    [
        error(400, "invalid_request_error", "bad"),
        error(401, "authentication_error", "bad key"),
        error(404, "not_found_error", "no model"),
    ],
)
def test_other_errors_fail_at_once(bench: Callable[..., Bench], reply: Reply) -> None:
    one = bench(reply)
    (result,) = one.run()
    assert result["failureReason"] == "api"
    assert len(one.server.requests) == 1
    assert one.waits == []


def test_the_client_waits_as_the_server_asks(bench: Callable[..., Bench]) -> None:
    one = bench(error(429, "rate_limit_error", retry_after_ms="1", retry_after="0.001"), message(RIGHT))
    (result,) = one.run(client_retries=2)
    assert result["completion"] == "completed"
    assert len(one.server.requests) == 2
    assert one.waits == []


@pytest.mark.parametrize(
    "reply",
    [
        without_text(),
        Reply(body=b"{}"),
        Reply(body=b"[]"),
        Reply(body=b'{"content": "text"}'),
        Reply(body=b'{"content": [{"type": "text", "text": 5}]}'),
        Reply(body=b"<html>proxy</html>", content_type="text/html"),
        Reply(body=b'{"content": [', content_type="application/json"),
    ],
)
def test_malformed_answers_are_failures_of_their_run(bench: Callable[..., Bench], reply: Reply) -> None:
    one = bench(reply, message(RIGHT))
    first, second = one.run(fixture=None)
    assert (first["completion"], first["failureReason"]) == ("failed", "api")
    assert second["completion"] == "completed"
    assert one.warned[0].startswith("quick on first: ")


@pytest.mark.parametrize("cut", ["at once", "inside the body"])
def test_cut_connections_are_failures_of_their_run(bench: Callable[..., Bench], cut: str) -> None:
    one = bench(Reply(cut=cut, body=b'{"content"'), message(RIGHT))
    first, second = one.run(fixture=None)
    assert first["failureReason"] == "api"
    assert second["completion"] == "completed"


def test_slow_answers_end_at_the_time_limit(bench: Callable[..., Bench]) -> None:
    release = threading.Event()
    one = bench(Reply(hold=release), message(RIGHT))
    try:
        first, second = one.run(fixture=None, timeout_s=0.3)
    finally:
        release.set()
    assert first["failureReason"] == "api"
    assert first["latencyMs"] >= 300
    assert second["completion"] == "completed"


def test_jobs_run_at_the_same_time_and_keep_their_order(bench: Callable[..., Bench]) -> None:
    both = threading.Barrier(2, timeout=30)

    def together(_: dict[str, Any], number: int) -> Reply:
        both.wait()  # answered only when a second call is under way
        return message(RIGHT)

    one = bench(by=together)
    results = one.run(fixture=None, jobs=2)
    assert [result["fixtureId"] for result in results] == ["first", "second"]
    assert sorted(line.split("...")[0] for line in one.text.splitlines()) == [
        "Running quick on first",
        "Running quick on second",
    ]


def test_missing_ground_truth_keeps_the_telemetry(bench: Callable[..., Bench], folder: Path) -> None:
    (folder / "ground-truth/first.json").unlink()
    one = bench(message(RIGHT))
    (result,) = one.run()
    assert result["failureReason"] == "missing-ground-truth"
    assert result["groundTruthMissing"] is True
    assert result["totalTokens"] == 10
    assert "FAILED (missing ground truth)" in one.text


def test_partial_usage(bench: Callable[..., Bench]) -> None:
    (result,) = bench(message(RIGHT, output_tokens=None)).run()
    assert result["inputTokens"] == 7
    assert set(result) & {"outputTokens", "totalTokens"} == set()


def test_an_interrupted_run_is_resumed(bench: Callable[..., Bench], folder: Path, tmp_path: Path) -> None:
    class StopError(BaseException):
        pass

    def stop_at_third(body: dict[str, Any], number: int) -> Reply:
        return message(RIGHT)

    one = bench(by=stop_at_third)
    out = tmp_path / "out"

    journal = Journal(out, model="m", resume=False, force=False)
    asked = itertools.count()

    def stopping(text: str) -> None:
        if text.startswith("Running") and next(asked) == 2:
            raise StopError

    one.said = type("Said", (list,), {"append": lambda self, text: stopping(text)})()
    with pytest.raises(StopError):
        one.run("quick", "careful", fixture=None, journal=journal)
    journal.close()
    assert len(one.server.requests) == 2
    with journal.path.open("ab") as file:
        file.write(b'{"digest": "x", "resu')  # cut off by a crash

    with pytest.raises(ScoringError, match="a run was interrupted here"):
        Journal(out, model="m", resume=False, force=False)

    (folder / "prompts/careful.md").write_text("Be more careful.", "utf-8")
    (folder / "fixtures/tasks/second.ts").write_text("const second = 3;", "utf-8")
    one.said = []
    journal = Journal(out, model="m", resume=True, force=False)
    results = one.run("quick", "careful", fixture=None, journal=journal)
    journal.finish()
    assert [result["completion"] for result in results] == ["completed"] * 4
    # Only the first is unchanged; the second one's fixture is another now.
    assert len(one.server.requests) == 2 + 3
    assert one.text.startswith("Keeping quick on first\nRunning quick on second... ")
    assert list(out.iterdir()) == []


def test_failed_runs_are_tried_again_on_resume(bench: Callable[..., Bench], tmp_path: Path) -> None:
    one = bench(error(400, "invalid_request_error"), message(RIGHT))
    journal = Journal(tmp_path / "out", model="m", resume=False, force=False)
    assert one.run(journal=journal)[0]["completion"] == "failed"
    journal.close()
    again = Journal(tmp_path / "out", model="m", resume=True, force=False)
    assert one.run(journal=again)[0]["completion"] == "completed"
    again.finish()


class Scripted:
    """Fails as told, then answers."""

    def __init__(self, errors: list[Any]) -> None:
        self.calls = 0
        self.errors = iter(errors)

    def __call__(self) -> Answer:
        self.calls += 1
        error_ = next(self.errors, None)
        if error_ is None:
            return Answer("OK", 1, 2)
        raise ScoringError("No text content in Claude response" if isinstance(error_, dict) else error_)


def test_retries_as_in_the_golden_cases() -> None:
    for case in golden.load("runner")["retry"]:
        model = Scripted(case["errors"])
        waits: list[float] = []
        said: list[str] = []
        try:
            answer = with_retries(model, say=said.append, sleep=waits.append, max_retries=case["maxRetries"])
            outcome = {
                "text": answer.text,
                "inputTokens": answer.input_tokens,
                "outputTokens": answer.output_tokens,
            }
        except ScoringError as problem:
            outcome = problem.message
        assert outcome == case.get("ok", case.get("error")), case["name"]
        assert [round(wait * 1000) for wait in waits] == case["delaysMs"]
        assert (model.calls, "".join(said)) == (case["calls"], case["stdout"])


def test_the_run_loop_as_in_the_golden_cases() -> None:
    """With a model that is a function and a clock that ticks: what is said, and what a result holds."""
    cases = {case["id"].split("-")[0]: case for case in golden.load("executor_cases")}
    document = golden.truth_file("data/benchmarks/executor/ground-truth/task-add-timestamp.json")
    truths = {"task:task-add-timestamp": read_truth(document)}
    names = ("ok", "api throws", "usage half missing", "order: agents outer, fixtures inner")
    compared = 0
    for case in golden.load("runner")["runs"]:
        if case["name"] not in names:
            continue  # the others break a step from inside, or read a broken ground truth, which we do beforehand
        options = case["options"]
        fixtures = options.get("fixtures", [{"id": "task-add-timestamp", "content": "c", "domain": "task"}])
        agents = options.get("agents", [{"agentType": "executor", "systemPrompt": "s"}])
        answer = options.get(
            "api", {"text": cases["ex01"]["agent_output"], "inputTokens": 7, "outputTokens": 3}
        )

        def model(*, system: str, message: str, case: Any = case, answer: Any = answer) -> Answer:
            if "apiThrows" in case["options"]:
                raise ScoringError("no")
            return Answer(answer["text"], answer.get("inputTokens"), answer.get("outputTokens"))

        ticks = itertools.count(0, 10)
        said: list[str] = []
        run = Run(
            KINDS["executor"],
            model,
            say=said.append,
            warn=lambda _: None,
            clock_ms=lambda ticks=ticks: float(next(ticks)),  # type: ignore[misc]
        )
        inputs = Inputs(
            tuple(Agent(one["agentType"], one["systemPrompt"]) for one in agents),
            tuple(Fixture(one["id"], one["domain"], one["content"]) for one in fixtures),
            truths,
        )
        results = run_benchmark(inputs, run)
        for result, wanted in zip(results, case["results"], strict=True):
            parsed = {"parsedOutput": result["parsedOutput"]} if "parsedOutput" in wanted else {}
            assert result == {**wanted, **parsed}, case["name"]
        assert "".join(said) == case["stdout"]
        compared += 1
    assert compared == len(names)


@pytest.mark.slow
def test_the_critics_benchmark(author: AuthorRunner, bench: Callable[..., Bench], folder: Path) -> None:
    for name in ("critic", "harsh-critic"):
        (folder / f"prompts/{name}.md").write_text(name, "utf-8")
    (folder / "fixtures/plans").mkdir()
    (folder / "fixtures/plans/plan-one.md").write_text("A plan.", "utf-8")
    document = truth(finding("service", ["tasks", "jobs"]), fixtureId="plan-one", domain="plan")
    (folder / "ground-truth/plan-one.json").write_text(json.dumps(document), "utf-8")
    reports = {
        "critic": "**REJECT**\n## Summary\n- tasks became jobs\n",
        "harsh-critic": "## Critical Findings\n1. no\n",
    }
    one = bench(by=lambda body, _: message(reports[body["system"]]))
    ran = author("bench", folder, "--kind", "harsh-critic", env=environment(one.server))
    assert ran.status == 0, ran.err
    assert one.server.requests[0]["messages"][0]["content"] == "Review the following work:\n\nA plan."
    (duel,) = json.loads((folder / "results/results.json").read_bytes())["headToHead"]
    assert (duel["fixtureId"], duel["winner"]) == ("plan-one", "critic")
    assert (folder / "results/report.md").read_text("utf-8").startswith("# Harsh-Critic Benchmark Report")


def test_front_matter_and_folders_as_in_the_golden_cases() -> None:
    tables = golden.load("validation")
    assert all(strip_front_matter(case["in"]) == case["out"] for case in tables["stripFrontmatter"])
    for case in tables["fixtureDirectories"]:
        if "ok" in case:
            assert fixture_domain(case["in"]) == case["ok"]
        else:
            with pytest.raises(ScoringError, match=case["error"]):
                fixture_domain(case["in"])


# -- the command


def environment(server: ModelServer) -> dict[str, str]:
    return {**server.environment(), "ANTHROPIC_AUTH_TOKEN": ""}


@pytest.mark.slow
def test_the_command_writes_its_reports(
    author: AuthorRunner, bench: Callable[..., Bench], folder: Path
) -> None:
    def by_agent(body: dict[str, Any], _: int) -> Reply:
        return message(
            RIGHT if body["system"] == "Be careful." else "## Critical\n- Something else entirely\n"
        )

    one = bench(by=by_agent)
    ran = author("bench", folder, "--agents", "careful,quick", env=environment(one.server))
    assert ran.status == 0, ran.err
    assert ran.out.startswith(
        "Loading agent prompts...\nLoading fixtures...\n  2 fixture(s) found: first, second\n"
    )
    assert "=== Benchmark Results ===" in ran.out
    assert ran.out.endswith("\nGenerating reports...\n\nBenchmark complete.\n\n")
    names = sorted(path.name for path in (folder / "results").iterdir())
    assert [name[:8] for name in names] == ["report.m", "report_2", "results.", "results_"]
    document = json.loads((folder / "results/results.json").read_bytes())
    assert document["headToHead"][0]["winner"] == "careful"
    assert document["diagnostics"]["validity"] == "valid"
    stamped = next(path for path in (folder / "results").iterdir() if path.name.startswith("results_"))
    assert stamped.read_bytes() == (folder / "results/results.json").read_bytes()
    assert not (folder / "results/report.md").read_text("utf-8").endswith("\n")


@pytest.mark.slow
def test_the_command_with_failures(author: AuthorRunner, bench: Callable[..., Bench], folder: Path) -> None:
    one = bench(Reply(400, b"bad \x1b[2J words", content_type="text/plain"), message(RIGHT))
    ran = author(
        "bench",
        folder,
        "--agents",
        "careful,quick",
        "--fixture",
        "first",
        "--json",
        env=environment(one.server),
    )
    assert ran.status == 1
    document = json.loads(ran.out)
    assert document["schema"] == "author/bench/1"
    assert document["diagnostics"]["completion"]["failureReasonsA"] == {"api": 1}
    assert "Running careful on first... FAILED (" in ran.err
    assert "\x1b" not in ran.err


@pytest.mark.slow
def test_an_interrupt_and_the_command_that_goes_on(
    author: AuthorRunner, bench: Callable[..., Bench], folder: Path
) -> None:
    second, release = threading.Event(), threading.Event()

    def by_number(_: dict[str, Any], number: int) -> Reply:
        if number == 1:
            second.set()
            return Reply(hold=release)
        return message(RIGHT)

    one = bench(by=by_number)
    command = [*author_command(), "bench", str(folder), "--agent", "quick"]
    env = {**os.environ, **environment(one.server), "PYTHONPATH": str(REPOSITORY)}
    with subprocess.Popen(
        command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert second.wait(120)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=120)
    release.set()
    assert process.returncode == 130
    assert "--resume goes on with" in err
    refused = author("bench", folder, "--agent", "quick", env=environment(one.server))
    assert refused.status == 2
    assert "a run was interrupted here" in refused.err
    ran = author("bench", folder, "--agent", "quick", "--resume", env=environment(one.server))
    assert ran.status == 0
    assert "Keeping quick on first\nRunning quick on second... done (" in ran.out
    assert len(one.server.requests) == 3
    assert not (folder / "results/unfinished.jsonl").exists()


@pytest.mark.slow
def test_a_dry_run_needs_no_key_and_writes_nothing(author: AuthorRunner, folder: Path) -> None:
    keyless = {"ANTHROPIC_API_KEY": "", "ANTHROPIC_AUTH_TOKEN": ""}
    ran = author("bench", folder, "--agent", "quick", "--dry-run", env=keyless)
    assert ran.status == 0
    assert ran.out.endswith("\nDry run complete. Pipeline validated — skipping API calls.\n")
    assert not (folder / "results").exists()
    ran = author("bench", folder, "--agent", "quick", env=keyless)
    assert ran.status == 2
    assert "ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN is not set" in ran.err
    assert not (folder / "results").exists()


def test_the_later_of_agent_and_agents_counts(author: AuthorRunner, folder: Path) -> None:
    def agents(*options: str) -> Any:
        return json.loads(author("bench", folder, *options, "--dry-run", "--json").out)["agents"]

    assert agents("--agent", "quick", "--agents", "careful,quick") == ["careful", "quick"]
    assert agents("--agents", "careful,quick", "--agent", "quick") == ["quick"]


@pytest.mark.parametrize(
    ("options", "message_"),
    [
        (["--agent", "absent"], 'Could not load agent prompt for "absent"'),
        (["--agent", "../quick"], "'../quick' is no agent's name"),
        (["--agents", "quick,"], "'' is no agent's name"),
        (["--agents", "quick,quick"], "agent quick is named twice"),
        (["--agent", "quick", "--fixture", "third"], 'Fixture "third" not found'),
        (["--agent", "quick", "--fixture", "../first"], "is no fixture's id"),
        (["--agent", "quick", "--dry-runn"], "No such option"),
    ],
)
def test_wrong_usage(author: AuthorRunner, folder: Path, options: list[str], message_: str) -> None:
    ran = author("bench", folder, *options, "--dry-run")
    assert ran.status == 2
    assert message_ in ran.err


@pytest.mark.slow
def test_wrong_folders(author: AuthorRunner, folder: Path) -> None:
    def complaint() -> str:
        ran = author("bench", folder, "--agent", "quick", "--dry-run")
        assert ran.status == 2
        return ran.err

    (folder / "ground-truth/second.json").write_text("{", "utf-8")
    assert "second.json:1:2: the ground truth is no JSON" in complaint()
    document = truth(finding("a", ["b"]), fixtureId="second", domain="code")
    (folder / "ground-truth/second.json").write_text(json.dumps(document), "utf-8")
    assert "Ground truth identity mismatch: expected task:second, got code:second" in complaint()
    (folder / "fixtures/tasks/first.ts").write_text("", "utf-8")
    assert "Duplicate fixture key: task:first" in complaint()
    (folder / "fixtures/odd").mkdir()
    assert "Unsupported fixture directory: odd" in complaint()
    (folder / "fixtures").rename(folder / "elsewhere")
    assert "Fixtures directory not found" in complaint()
