"""The judge library, on this machine's Node.js, against a pretended host; and test.sh's contract."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import REPOSITORY

LIBRARY = REPOSITORY / "templates/shared/tests/judge-utils.mjs"
NODE = shutil.which("node")

pytestmark = [pytest.mark.node, pytest.mark.skipif(NODE is None, reason="Node.js is not on PATH")]

#: A host that behaves as the real one's signals say, and misbehaves when the plugin's index.js asks it to.
PRETENDED_HOST = r"""
import fs from "node:fs";
import path from "node:path";
const args = process.argv.slice(2);
const profile = path.join(process.env.DSH_HOME, "profiles", args[args.indexOf("--profile") + 1]);
const manifest = JSON.parse(fs.readFileSync(path.join(profile, "package.json")));
if (args[0] === "plugin") {
  const plugin = args.at(-1);
  const { name, dsh } = JSON.parse(fs.readFileSync(path.join(plugin, "package.json")));
  manifest.dependencies[name] = `link:${plugin}`;
  if (dsh?.bundle) manifest.dsh.profile.bundles.push(name);
  fs.writeFileSync(path.join(profile, "package.json"), JSON.stringify(manifest));
} else {
  const link = Object.values(manifest.dependencies)[0];
  const code = link ? fs.readFileSync(path.join(link.slice(5), "index.js"), "utf8") : "";
  if (code.includes("HANG")) setInterval(() => {}, 1000);
  else if (code.includes("SEGFAULT")) process.kill(process.pid, "SIGSEGV");
  else if (code.includes("ODD")) console.log("something odd");
  else if (code.includes("FLOOD")) {
    console.error("dsh: MISSING_CREDENTIAL: no key");
    console.log("x".repeat(3_000_000));
  } else if (code.includes("apiProxy")) console.log("t: pending (waiting for service: apiProxy)\nt did not activate");
  else console.error(process.env.SICK_HOST ? "host is sick" : "dsh: MISSING_CREDENTIAL: no key");
  if (!code.includes("HANG")) process.exitCode = 1;
}
"""


@dataclass(frozen=True)
class Judged:
    """A judge's run: its exit status, all of its output, and its last line as parsed."""

    status: int
    out: str
    err: str
    line: Mapping[str, Any]

    @property
    def earned(self) -> dict[str, float]:
        return {check["id"]: check["earned"] for check in self.line["checks"]}


class Bench:
    """A fixture, its baseline and a judge of one's own making."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.fixture = root / "app/fixture"
        self.baseline = root / "baseline"
        self.tests = root / "tests"
        self.fixture.mkdir(parents=True)
        self.tests.mkdir()
        shutil.copy(LIBRARY, self.tests / "judge-utils.mjs")
        (self.fixture / "package.json").write_text('{"name": "t", "dsh": {"bundle": {}}}')
        (self.fixture / "index.js").write_text("export const inject = [];\n")
        self.host = root / "dsh"
        self.host.write_text(f'#!/bin/sh\nexec {NODE} {root / "host.mjs"} "$@"\n')
        self.host.chmod(0o755)
        (root / "host.mjs").write_text(PRETENDED_HOST)

    def judge(self, grade: str, *, env: Mapping[str, str] | None = None, **spec: Any) -> Judged:
        """Run a judge whose body is `grade`; the fixture as it was when first judged is the baseline."""
        if not self.baseline.exists():
            shutil.copytree(self.fixture, self.baseline)
        full = {
            "task": "H1-bench",
            "mode": "mutable",
            "checks": [{"id": "a", "points": 40}, {"id": "b", "points": 60}],
            "steps": [
                {"id": "add", "budget_s": 20},
                {"id": "boot", "budget_s": 20},
                {"id": "control", "budget_s": 20},
            ],
            "fixture": str(self.fixture),
            "baseline": str(self.baseline),
            "work_root": str(self.root),
            "dsh": str(self.host),
            **spec,
        }
        text = (
            'import * as lib from "./judge-utils.mjs";\n'
            f"const judge = lib.defineJudge({json.dumps(full)});\n"
            f"await judge.run(async () => {{\n{grade}\n}});\n"
        )
        (self.tests / "judge.mjs").write_text(text)
        done = subprocess.run(
            [str(NODE), str(self.tests / "judge.mjs")],
            env={**os.environ, **(env or {})},
            capture_output=True,
            text=True,
            timeout=90,
            check=False,
        )
        lines = done.stdout.strip().splitlines()
        assert len(lines) == 1, f"stdout carries one line only: {done.stdout}\n{done.stderr}"
        assert not (self.root / "bench-h1-bench").exists(), "the work directory is removed"
        return Judged(done.returncode, done.stdout, done.stderr, json.loads(lines[0]))

    def evaluate(self, expression: str) -> Any:
        """The value of a JavaScript expression over the library `lib`."""
        script = (
            f"import * as lib from {json.dumps(LIBRARY.as_uri())}; console.log(JSON.stringify({expression}))"
        )
        done = subprocess.run(
            [str(NODE), "--input-type=module", "-e", script],
            capture_output=True,
            text=True,
            timeout=30,
            check=True,
        )
        return json.loads(done.stdout)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


# ---------------------------------------------------------------- the ledger and the line


def test_points_bands_and_caps_become_one_line(bench: Bench) -> None:
    judged = bench.judge(
        """
        judge.band("a", [[false, 40, "whole"], [true, 20, "half"]], "none");
        judge.award("b", 60, "right");
        judge.cap(70, "a bypass");
        """
    )
    assert (judged.status, judged.line["score"], judged.line["max"]) == (0, 70, 100)
    assert judged.earned == {"a": 20, "b": 60}
    assert judged.line["caps"] == [{"limit": 70, "reason": "a bypass"}]
    assert judged.line["reasons"] == ["a: half", "capped at 70: a bypass"]
    assert "error" not in judged.line


def test_a_cap_that_does_not_bite_is_no_reason(bench: Bench) -> None:
    judged = bench.judge('judge.award("a", 40, ""); judge.cap(70, "a bypass");')
    assert judged.line["score"] == 40
    assert judged.line["reasons"] == ["b: not reached"]


@pytest.mark.parametrize(
    ("change", "cause"),
    [
        ({"checks": [{"id": "a", "points": 40}, {"id": "b", "points": 50}]}, "add up to 90"),
        ({"checks": [{"id": "a", "points": 40}, {"id": "a", "points": 60}]}, "same id"),
        ({"steps": [{"id": "boot", "budget_s": 300, "times": 2}]}, "exceeds the verifier's 600 s"),
        ({"mode": "loose"}, "unknown mode"),
    ],
)
def test_a_judge_that_is_declared_wrongly_judges_nothing(
    bench: Bench, change: dict[str, Any], cause: str
) -> None:
    judged = bench.judge('judge.award("a", 40, "");', **change)
    assert judged.line["score"] == 0
    assert cause in judged.line["error"]


@pytest.mark.parametrize(
    "grade",
    [
        "throw new TypeError('mine')",
        "await new Promise((_, reject) => reject(new Error('mine')))",
        "setTimeout(() => { throw new Error('mine') }, 10); await new Promise(() => setTimeout(() => {}, 60000))",
        'judge.award("a", 41, "mine")',
        'judge.award("c", 1, "mine")',
    ],
)
def test_an_exception_of_the_judge_is_an_error_and_no_score(bench: Bench, grade: str) -> None:
    judged = bench.judge(f'judge.award("b", 60, "");\n{grade};')
    assert (judged.status, judged.line["score"]) == (0, 0)
    assert judged.line["error"]


def test_the_judge_stops_itself_before_the_verifier_does(bench: Bench) -> None:
    began = time.monotonic()
    judged = bench.judge("await new Promise(() => setTimeout(() => {}, 60000))", time_limit_s=16, steps=[])
    assert "used up its 1 s" in judged.line["error"]
    assert time.monotonic() - began < 15


# ---------------------------------------------------------------- the gate


def test_an_untouched_mutable_fixture_closes_the_gate(bench: Bench) -> None:
    judged = bench.judge('judge.gate(); judge.award("a", 40, "")')
    assert judged.line["score"] == 0
    assert "error" not in judged.line
    assert judged.line["reasons"][0] == "gate: the fixture is unchanged"


@pytest.mark.slow
@pytest.mark.parametrize("change", ["content", "mode", "added", "removed", "link", "folder"])
def test_every_kind_of_change_is_seen(bench: Bench, change: str) -> None:
    bench.judge("judge.gate()")
    index = bench.fixture / "index.js"
    if change == "content":
        index.write_text("changed\n")
    elif change == "mode":
        index.chmod(0o755)
    elif change == "added":
        (bench.fixture / ".hidden").write_text("")
    elif change == "removed":
        index.unlink()
    elif change == "link":
        index.unlink()
        index.symlink_to("package.json")
    else:
        (bench.fixture / "empty").mkdir()
    readonly = bench.judge('judge.gate(); judge.award("a", 40, "")', mode="readonly")
    assert readonly.line["score"] == 0
    assert "read-only fixture was changed" in readonly.line["reasons"][0]
    assert bench.judge('judge.gate(); judge.award("a", 40, "")').line["score"] == 40


def test_a_commit_of_the_agents_does_not_hide_a_change(bench: Bench) -> None:
    bench.judge("judge.gate()")
    git = ["git", "-C", str(bench.fixture.parent), "-c", "user.name=a", "-c", "user.email=a@example.invalid"]
    (bench.fixture / "index.js").write_text("changed\n")
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "add", "-A"], check=True)
    subprocess.run([*git, "commit", "-q", "-m", "nothing to see"], check=True)
    judged = bench.judge("judge.gate()", mode="readonly")
    assert "index.js changed" in judged.line["reasons"][0]


@pytest.mark.parametrize(
    ("path", "passes"), [("lib/out.js", True), ("src/lib/out.js", False), ("library.js", False)]
)
def test_build_artifacts_are_those_in_lib(bench: Bench, path: str, passes: bool) -> None:
    bench.judge("judge.gate()")
    target = bench.fixture / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text("built")
    judged = bench.judge('judge.gate(); judge.award("a", 40, "")', mode="build-artifacts-only")
    assert judged.line["score"] == (40 if passes else 0)


def test_an_image_without_a_baseline_is_an_evaluators_error(bench: Bench) -> None:
    judged = bench.judge("judge.gate()", baseline=str(bench.root / "nowhere"))
    assert "no baseline" in judged.line["error"]


# ---------------------------------------------------------------- reading what the agent left


@pytest.mark.slow
def test_odd_files_are_named_and_never_fatal(bench: Bench) -> None:
    (bench.fixture / "dangling").symlink_to("nowhere")
    (bench.fixture / "loop").symlink_to(".")
    os.mkfifo(bench.fixture / "pipe")
    (bench.fixture / "huge").write_bytes(b"\0" * 100)
    listed = bench.evaluate(
        f"(({{entries, problems}}) => ({{names: [...entries.keys()], problems}}))"
        f"(lib.readTree({json.dumps(str(bench.fixture))}, {{maxBytes: 99}}))"
    )
    assert listed["names"] == ["dangling", "huge", "index.js", "loop", "package.json", "pipe"]
    assert len(listed["problems"]) == 4
    for name in ("dangling", "loop", "pipe", "huge"):
        assert any(problem.startswith(f"{name}: ") for problem in listed["problems"])
    for name, word in (
        ("dangling", "link"),
        ("pipe", "FIFO"),
        (".", "a directory"),
        ("none", "does not exist"),
    ):
        read = bench.evaluate(f"lib.readText({json.dumps(str(bench.fixture / name))})")
        assert read["text"] is None
        assert word in read["problem"]


def test_a_copy_leaves_odd_files_out(bench: Bench) -> None:
    (bench.fixture / "dangling").symlink_to("nowhere")
    os.mkfifo(bench.fixture / "pipe")
    target = bench.root / "copy"
    problems = bench.evaluate(f"lib.copyTree({json.dumps(str(bench.fixture))}, {json.dumps(str(target))})")
    assert sorted(path.name for path in target.iterdir()) == ["index.js", "package.json"]
    assert len(problems) == 2


@pytest.mark.parametrize(
    ("source", "code"),
    [
        ("a // onTaskDone", "a              "),
        ("/* x\ny */b", "    \n    b"),
        ("'// kept' + \"/* kept */\" + `// kept`", "'// kept' + \"/* kept */\" + `// kept`"),
        ("x = /\\/\\/ kept/; // gone", "x = /\\/\\/ kept/;        "),
        ("a = b / c; // gone / too", "a = b / c;              "),
        ("f('it\\'s') // gone", "f('it\\'s')        "),
    ],
)
def test_comments_are_blanked_and_nothing_else(bench: Bench, source: str, code: str) -> None:
    assert bench.evaluate(f"lib.withoutComments({json.dumps(source)})") == code


# ---------------------------------------------------------------- steps


def test_a_killed_step_has_no_exit_code(bench: Bench) -> None:
    judged = bench.judge(
        """
        const hung = await judge.exec("boot", ["/bin/sleep", "60"]);
        judge.note(JSON.stringify([hung.exitCode, hung.timedOut]));
        const shot = await judge.exec("add", ["/bin/sh", "-c", "kill -SEGV $$"]);
        judge.note(JSON.stringify([shot.exitCode, shot.signal, shot.timedOut]));
        judge.mustExit(shot);
        """,
        steps=[{"id": "boot", "budget_s": 0.3}, {"id": "add", "budget_s": 20}],
    )
    assert "[null,true]" in judged.line["reasons"]
    assert '[null,"SIGSEGV",false]' in judged.line["reasons"]
    assert "killed by SIGSEGV" in judged.line["error"]


def test_a_step_takes_its_descendants_with_it(bench: Bench) -> None:
    marker = bench.root / "alive"
    judged = bench.judge(
        f"""
        const script = "(while :; do date +%s%N > {marker}; sleep 0.05; done) & setsid sh -c 'while :; do date +%s%N > "
          + "{marker}.own; sleep 0.05; done' & sleep 0.4";
        await judge.exec("boot", ["/bin/sh", "-c", script]);
        judge.award("a", 40, "");
        """
    )
    assert judged.line["score"] == 40
    for left in (marker, Path(f"{marker}.own")):
        before = left.read_text()
        time.sleep(0.3)
        assert left.read_text() == before, "a descendant of the step is still alive"


def test_a_step_gets_nothing_of_the_callers_environment(bench: Bench) -> None:
    shims = bench.root / "shims"
    shims.mkdir()
    (shims / "env").write_text("#!/bin/sh\necho shim\n")
    (shims / "env").chmod(0o755)
    judged = bench.judge(
        """
        const { output } = await judge.exec("boot", ["/bin/sh", "-c", "env"]);
        judge.note(output);
        """,
        env={"PATH": f"{shims}:{os.environ['PATH']}", "DEEPSEEK_API_KEY": "secret", "NODE_PATH": "/evil"},
    )
    shown = judged.line["reasons"][0]
    assert "PATH=/usr/local/bin:/usr/bin:/bin\n" in shown
    for name in ("shim", "DEEPSEEK_API_KEY", "NODE_PATH", "NODE_OPTIONS"):
        assert name not in shown


@pytest.mark.parametrize(
    ("grade", "cause"),
    [
        ('await judge.exec("boot", ["/nowhere/dsh"])', "cannot run /nowhere/dsh"),
        ('await judge.exec("undeclared", ["/bin/true"])', "not declared"),
        ('for (const _ of "ab") await judge.exec("boot", ["/bin/true"])', "more often than declared"),
    ],
)
def test_a_step_that_cannot_run_is_an_error(bench: Bench, grade: str, cause: str) -> None:
    assert cause in bench.judge(grade).line["error"]


# ---------------------------------------------------------------- the host

BOOT = """
judge.makeProfile(["base"]);
const added = await judge.addPlugin();
if (!added.layer) return judge.award("a", 0, added.why);
const boot = await judge.bootHeadless({ control: "control" });
judge.band("a", [[boot.outcome === "activated", 40, boot.why]], `${boot.outcome}: ${boot.why}`);
"""


@pytest.mark.parametrize(
    ("code", "earned", "reason"),
    [
        ("export const inject = [];", 40, "the whole plugin tree activated"),
        ("FLOOD", 40, "the whole plugin tree activated"),
        ("export const inject = ['apiProxy'];", 0, "pending: pending (waiting for service: apiProxy)"),
        ("ODD", 0, "unknown: the boot ended with 1: something odd"),
    ],
)
def test_a_boot_is_read_from_the_hosts_signals(bench: Bench, code: str, earned: int, reason: str) -> None:
    (bench.fixture / "index.js").write_text(code)
    judged = bench.judge(BOOT)
    assert "error" not in judged.line
    assert judged.earned["a"] == earned
    assert next(check["reason"] for check in judged.line["checks"] if check["id"] == "a") == reason


def test_a_plugin_that_hangs_the_host_is_at_fault_when_the_host_boots_alone(bench: Bench) -> None:
    (bench.fixture / "index.js").write_text("HANG")
    steps = [
        {"id": "add", "budget_s": 20},
        {"id": "boot", "budget_s": 1.5},
        {"id": "control", "budget_s": 20},
    ]
    judged = bench.judge(BOOT, steps=steps)
    assert "error" not in judged.line
    assert judged.earned["a"] == 0
    assert "without" not in judged.line["reasons"][0]


def test_a_host_that_cannot_boot_alone_is_an_evaluators_error(bench: Bench) -> None:
    bench.host.write_text(f'#!/bin/sh\nSICK_HOST=1 exec {NODE} {bench.root / "host.mjs"} "$@"\n')
    judged = bench.judge(BOOT)
    assert "does not boot even without the plugin: host is sick" in judged.line["error"]


def test_a_boot_killed_by_a_signal_is_an_evaluators_error(bench: Bench) -> None:
    (bench.fixture / "index.js").write_text("SEGFAULT")
    assert "boot: killed by SIGSEGV" in bench.judge(BOOT).line["error"]


def test_an_old_shape_installs_silently_and_is_no_layer(bench: Bench) -> None:
    (bench.fixture / "package.json").write_text('{"name": "t", "dsh": {"entry": "./index.js"}}')
    judged = bench.judge(BOOT)
    assert judged.line["reasons"][0] == "a: installed, but not as a profile layer"


@pytest.mark.parametrize("manifest", ["{", "[]", "{}", '{"name": 1}', "null"])
def test_a_manifest_that_is_none_is_the_submissions_fault(bench: Bench, manifest: str) -> None:
    (bench.fixture / "package.json").write_text(manifest)
    judged = bench.judge(BOOT)
    assert "error" not in judged.line
    assert judged.earned["a"] == 0


def test_the_fixture_is_not_written_to(bench: Bench) -> None:
    before = sorted((path.name, path.stat().st_mtime_ns) for path in bench.fixture.iterdir())
    bench.judge(BOOT)
    assert sorted((path.name, path.stat().st_mtime_ns) for path in bench.fixture.iterdir()) == before


@pytest.mark.parametrize(
    ("output", "outcome", "services"),
    [
        ("dsh: MISSING_CREDENTIAL: llm-deepseek: no API key", "activated", []),
        ("t: pending (waiting for service: remote)", "pending", ["remote"]),
        ("t: pending (waiting for services: httpServer, tasks)", "pending", ["httpServer", "tasks"]),
        ("module 'x' does not provide an export named 'y'", "missing-export", []),
        ("Cannot find package '@deepseek-ai/x' imported", "missing-package", []),
        ("dsh: plugin tree failed to load: boom", "refused", []),
        ("dsh: plugin tree failed to load: boom\ndsh: MISSING_CREDENTIAL: x", "refused", []),
        ("Killed", "unknown", []),
    ],
)
def test_outcomes_of_a_boot(bench: Bench, output: str, outcome: str, services: list[str]) -> None:
    verdict = bench.evaluate(
        f"lib.classifyBoot({{output: {json.dumps(output)}, timedOut: false, exitCode: 1, signal: null}})"
    )
    assert (verdict["outcome"], verdict["services"]) == (outcome, services)


@pytest.mark.slow
def test_boot_graphs_of_both_generations_are_read(bench: Bench) -> None:
    old = '<script>window.__DSH_BOOT__ = {"rev":"r","entries":[{"id":"p"}]}</script>'
    new = '<script>globalThis["__DSH_BOOT__"] = {"rev":"r","entries":[{"id":"p"}],"batches":[]}</script>'
    for page in (old, new):
        assert bench.evaluate(f"lib.parseBootGraph({json.dumps(page)})")["entries"] == [{"id": "p"}]
    for page in ("", "<script>__DSH_BOOT__ = {</script>", "<script>__DSH_BOOT__ = {}</script>"):
        assert bench.evaluate(f"lib.parseBootGraph({json.dumps(page)})") is None


def test_probes_stay_in_the_container(bench: Bench) -> None:
    with pytest.raises(subprocess.CalledProcessError) as failure:
        bench.evaluate("lib.httpGet('http://example.invalid/')")
    assert "127.0.0.1 only" in failure.value.stderr


# ---------------------------------------------------------------- from the last line to a reward


@pytest.mark.parametrize(
    ("output", "reward"),
    [
        ('{"score":100,"max":100}\n', "1"),
        ('noise\n{"score":85,"max":100,"reasons":[]}\n\n', "0.85"),
        ('{"score":33.33,"max":100}', "0.3333"),
        ('{"score":100,"max":100}\nTypeError: later\n', None),
        ('{"score":0,"max":100,"error":"no host"}', None),
        ('{"score":"100","max":100}', None),
        ('{"score":101,"max":100}', None),
        ('{"score":-1,"max":100}', None),
        ('{"score":1,"max":1}', None),
        ('{"score":NaN,"max":100}', None),
        ("true", None),
        ("null", None),
        ("[]", None),
        ("", None),
    ],
)
def test_the_reward_is_that_of_the_last_line_strictly_read(
    bench: Bench, output: str, reward: str | None
) -> None:
    file = bench.root / "output"
    file.write_text(output)
    done = subprocess.run(
        [str(NODE), str(LIBRARY), "reward", str(file)],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    if reward is None:
        assert (done.returncode, done.stdout) == (3, "")
        assert done.stderr.strip()
    else:
        assert (done.returncode, done.stdout) == (0, f"{reward}\n")


def test_why_there_is_no_reward_is_one_marked_line(tmp_path: Path) -> None:
    """What follows the judge's line in a log must not be taken for it, nor hide it."""
    judged = tmp_path / "output"
    judged.write_text(
        json.dumps({"score": 0, "max": 100, "error": "SyntaxError: x\n    at grade\n    at run"}) + "\n"
    )
    command = ["node", REPOSITORY / "templates" / "shared" / "tests" / "judge-utils.mjs", "reward", judged]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr == "[test] evaluator error: SyntaxError: x\n"


def test_a_steps_standard_output_stands_alone(bench: Bench) -> None:
    body = """
    const step = await judge.exec("boot", ["/bin/sh", "-c", "echo said; echo trouble >&2"]);
    judge.award("a", step.stdout.trim() === "said" && step.output.includes("trouble") ? 40 : 0, "streams");
    """
    assert bench.judge(body).earned["a"] == 40
