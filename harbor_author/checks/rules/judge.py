"""The judge's JavaScript and Python: syntax, and the habits that made real judges lie."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from harbor_author.checks import external
from harbor_author.checks.context import TaskFiles
from harbor_author.checks.findings import Problem
from harbor_author.checks.guests import parse_python
from harbor_author.checks.javascript import parse_javascript
from harbor_author.checks.registry import rule

_CODE = (".mjs", ".cjs", ".js")


def judge_texts(files: TaskFiles, suffixes: tuple[str, ...] = _CODE) -> Iterator[tuple[str, str]]:
    """(path, text) of programs that run while judging."""
    for prefix in files.tests_prefixes:
        for entry in files.files(prefix):
            if entry.name.endswith(suffixes) and not files.is_binary(entry.path):
                yield entry.path, files.text(entry.path)


@rule(name="judge-syntax", pack="harbor", severity="error", late=True)
def judge_syntax(files: TaskFiles) -> Iterator[Problem]:
    """A program of the judge does not parse.

    Why: a judge with a missing brace prints no JSON line; test.sh wrote 0, and the oracle's failure looked like a wrong
        solution.
    Bad: const score = ;
    Good: node --check tests/judge.mjs says nothing
    Fix: correct the syntax at the line that is named.
    """
    modules = set(external.judge_modules(files))
    for path, text in judge_texts(files):
        if files.programs is not None and "node" not in files.programs.missing and path in modules:
            for fault in files.programs.of("node", files.data(path)):
                yield Problem(f"does not parse: {fault.message}", path, fault.line)
        else:
            place = parse_javascript(text).fault
            if place is not None:
                yield Problem("does not parse", path, *place)
    for path, text in judge_texts(files, (".py",)):
        if parse_python(text) is None:
            line, message = _python_fault(text)
            yield Problem(f"does not parse: {message}", path, line)


def _python_fault(text: str) -> tuple[int | None, str]:
    import ast

    try:
        ast.parse(text)
    except SyntaxError as error:
        return error.lineno, error.msg
    except (ValueError, RecursionError, MemoryError) as error:
        return None, str(error) or type(error).__name__
    return None, "unknown"


@rule(name="json-syntax", pack="harbor", severity="error")
def json_syntax(files: TaskFiles) -> Iterator[Problem]:
    """A JSON file of the judge or the solution does not parse.

    Why: a trailing comma in ground-truth.json threw inside the judge, whose own handler printed score 0.
    Bad: {"findings": [1, 2,]}
    Good: {"findings": [1, 2]}
    Fix: correct the syntax at the line that is named.
    """
    for entry in files.files():
        path = entry.path
        owned = (
            path.startswith((*files.tests_prefixes, "solution/"))
            or path == "environment/fixture/package.json"
        )
        if not owned or not path.endswith(".json") or files.is_binary(path) or "tsconfig" in entry.name:
            continue
        _, error = files.json(path)
        if error is not None and path.count("/") <= 3 and not _broken_on_purpose(path):
            yield Problem(f"is not JSON: {error.msg}", path, error.lineno, error.colno)


def _broken_on_purpose(path: str) -> bool:
    return re.search(r"invalid|broken|malformed|bad|decoys/", path) is not None


@rule(name="exit-in-try", pack="harbor", severity="error")
def exit_in_try(files: TaskFiles) -> Iterator[Problem]:
    """`process.exit` inside `try` skips the `finally` that cleans up.

    Why: `emit()` ended the process inside `try`; profiles and hosts of one trial stayed, and the next trial judged
        them.
    Bad: try { emit(score); process.exit(0) } finally { cleanUp() }
    Good: try { score = judge() } finally { cleanUp() }  emit(score)
    Fix: print once, after the clean-up, and set process.exitCode.
    """
    for path, text in judge_texts(files):
        if "process.exit(" not in text or "finally" not in text:
            continue
        for line, column in parse_javascript(text).exits_in_try:
            yield Problem("process.exit here skips the clean-up in `finally`", path, line, column)


_KILLED = re.compile(r"\b(?:\w+\.)?(?:status|exitCode|exit_code|code|returncode)\s*(?:\?\?|\|\|)\s*0\b(?!\.)")


@rule(name="killed-counts-as-zero", pack="harbor", severity="error")
def killed_counts_as_zero(files: TaskFiles) -> Iterator[Problem]:
    """A process that was killed is read as one that ended well.

    Why: Node.js gives status null for a process that a signal or a time limit ended. `result.status ?? 0` counted a
        hung `dsh plugin add` as a success.
    Bad: const code = result.status ?? 0
    Good: if (result.status === null) throw new Error(`killed by ${result.signal}`)
    Fix: treat null as an error of the evaluator.
    """
    for path, text in judge_texts(files):
        for written, line, column in _killed(text):
            yield Problem(f"`{written}` reads a killed process as one that ended well", path, line, column)


@lru_cache(maxsize=128)  # the judge library is the same text in every task of a suite
def _killed(text: str) -> tuple[tuple[str, int, int], ...]:
    if not re.search(r"(?:\?\?|\|\|)\s*0", text):
        return ()
    matches = [match for match in _KILLED.finditer(text) if not _in_comment(text, match.start())]
    return tuple((match[0], *_place(text, match.start())) for match in matches)


def _place(text: str, offset: int) -> tuple[int, int]:
    start = text.rfind("\n", 0, offset) + 1
    return text.count("\n", 0, offset) + 1, offset - start + 1


def _in_comment(text: str, offset: int) -> bool:
    start = text.rfind("\n", 0, offset) + 1
    before = text[start:offset]
    return (
        before.lstrip().startswith(("//", "*", "/*", "#")) or re.search(r"(?:^|\s)//\s", before) is not None
    )


_PORT = re.compile(
    r"(?:localhost|127\.0\.0\.1|0\.0\.0\.0):(?P<a>\d{4,5})\b|--port[= \"',]+(?P<b>\d{4,5})\b"
    r"|\.listen\(\s*(?P<c>\d{4,5})\b"
    r"|\bPORT\s*=\s*[\"']?(?P<d>\d{4,5})\b"
)
_PORT_SIGNS = ("localhost:", "127.0.0.1:", "0.0.0.0:", "--port", ".listen(", "PORT")


@rule(name="fixed-port", pack="harbor", severity="warning")
def fixed_port(files: TaskFiles) -> Iterator[Problem]:
    """The judge uses a fixed port that the task does not give to anyone.

    Why: a web probe asked port 3080 because the host used to listen there; the host had printed another, and the
        judge graded an older process.
    Bad: fetch("http://127.0.0.1:3080/")
    Good: the URL that the host prints, or --port 0
    Fix: read the port from the program's output. A port that the instruction names is part of the task and fine.
    """
    agreed = "\n".join(
        files.text(p) for p in [*files.instructions, *files.dockerfiles, "environment/docker-compose.yaml"]
    )
    sources = [*judge_texts(files, (*_CODE, ".py")), *((p, files.text(p)) for p in files.verifier_scripts)]
    for path, text in sources:
        told: set[str] = set()
        for port, line, column in _ports(text):
            if port in told or port in agreed or _given_elsewhere(files, port):
                continue
            told.add(port)
            yield Problem(f"port {port} is fixed, and nothing in the task agrees on it", path, line, column)


@lru_cache(maxsize=128)
def _ports(text: str) -> tuple[tuple[str, int, int], ...]:
    """The ports that a judge's code names outside its comments, with line and column."""
    if not any(sign in text for sign in _PORT_SIGNS):
        return ()
    found = []
    for match in _PORT.finditer(text):
        port = next(group for group in match.groups() if group)
        if int(port) >= 1024 and not _in_comment(text, match.start()):
            found.append((port, *_place(text, match.start())))
    return tuple(found)


def _given_elsewhere(files: TaskFiles, port: str) -> bool:
    """The fixture or the solution uses the port: then it is what the task is about."""
    for entry in files.files():
        small = entry.path.startswith(("environment/", "solution/")) and entry.size < 64 << 10
        if small and not files.is_binary(entry.path) and port in files.text(entry.path):
            return True
    return False


@rule(name="points-not-100", pack="suite", severity="error")
def points_not_100(files: TaskFiles) -> Iterator[Problem]:
    """The points that the judge declares do not add up to 100.

    Why: a check was added and none lowered; the oracle scored 110 of 100, which test.sh wrote as a reward of 1.1.
    Bad: checks: [{ id: "a", points: 60 }, { id: "b", points: 50 }]
    Good: points that add up to 100
    Fix: change the points of a check.
    """
    for path, text in judge_texts(files):
        for line, total in parse_javascript(text).declared_points:
            if total != 100:
                yield Problem(f"the checks' points add up to {total:g}, not 100", path, line)


@rule(name="step-budget", pack="harbor", severity="error")
def step_budget(files: TaskFiles) -> Iterator[Problem]:
    """The judge's steps may together take longer than the verifier's time limit.

    Why: three boots of 150 s, an install of 180 s and a limit of 600 s: on a slow machine the verifier was ended before
        it wrote a reward, and a right answer had no result.
    Bad: steps of 180 + 3 x 150 s with [verifier] timeout_sec = 600
    Good: a limit above the sum, with a margin for the clean-up
    Fix: raise [verifier] timeout_sec or lower the steps' limits.
    """
    limit = files.table("verifier").get("timeout_sec", 600.0)
    if isinstance(limit, bool) or not isinstance(limit, (int, float)):
        return
    for path, text in judge_texts(files):
        declared = parse_javascript(text).budgets
        if declared is None:
            continue
        line, total, own_limit = declared
        if own_limit is not None and own_limit > limit:
            message = f"time_limit_s is {own_limit:g}, the verifier's limit {limit:g} s"
            yield Problem(message, path, line)
        elif total > limit:
            yield Problem(f"the steps may take {total:g} s, the verifier's limit is {limit:g} s", path, line)
    for path in files.entry_scripts:
        total = 0.0
        first: tuple[int, int] | None = None
        for command in files.script(path).commands:
            if command.words[:1] == ("timeout",):
                spans = [w for w in command.words[1:] if re.fullmatch(r"\d+(?:\.\d+)?[smh]?", w)]
                if spans:
                    total += _seconds(spans[0] if "-k" not in command.words else spans[-1])
                    first = first or (command.line, command.column)
            elif command.name == "sleep" and not command.nested:
                spans = [w for w in command.args if re.fullmatch(r"\d+(?:\.\d+)?[smh]?", w)]
                total += sum(_seconds(w) for w in spans)
                first = first or (command.line, command.column)
        if first is not None and total > limit:
            message = (
                f"waits and limits of the commands add up to {total:g} s, the verifier's limit is {limit:g} s"
            )
            yield Problem(message, path, *first)

    yield from _longer_than_all(files, limit)


#: The limit of one process or request, in seconds for Python and milliseconds for Node.js.
_OWN_LIMIT = {
    ".py": re.compile(r"\btimeout\s*=\s*(?P<number>\d{2,6}(?:\.\d+)?)\b(?!\s*[*/])"),
    ".js": re.compile(r"\btimeout\s*:\s*(?P<number>\d[\d_]{3,9})\b(?!\s*[*/])"),
}


def _longer_than_all(files: TaskFiles, limit: float) -> Iterator[Problem]:
    """A single step whose own limit lies above the verifier's: it can never be told from a hang."""
    for suffix, pattern, names in ((".py", _OWN_LIMIT[".py"], (".py",)), (".js", _OWN_LIMIT[".js"], _CODE)):
        for path, text in judge_texts(files, names):
            for match in pattern.finditer(text):
                span = float(match["number"].replace("_", "")) / (1 if suffix == ".py" else 1000)
                if span > limit and not _in_comment(text, match.start()):
                    what = f"this step may take {span:g} s alone, the verifier's limit is {limit:g} s"
                    yield Problem(what, path, *_place(text, match.start()), severity="warning")
                    break


def _seconds(text: str) -> float:
    factor = {"s": 1, "m": 60, "h": 3600}.get(text[-1], 1)
    return float(text.rstrip("smh")) * factor


_DATE = re.compile(r"[\"'`](20[2-9]\d-[01]\d-[0-3]\d)(?:T[\d:.]+Z?)?[\"'`]")


@rule(name="wall-clock", pack="harbor", severity="note")
def wall_clock(files: TaskFiles) -> Iterator[Problem]:
    """The judge compares with the current time and with a literal date.

    Why: a certificate in a fixture, valid until a date that was far away when the task was written, made all agents
        fail from that day on.
    Bad: if (Date.now() > Date.parse("2026-01-01")) fail()
    Good: a clock that the task sets, such as faketime or a parameter
    Fix: take the time from the task's data, or suppress this when the date cannot matter.
    """
    for path, text in judge_texts(files, (*_CODE, ".py")):
        clock = re.search(
            r"Date\.now\(\)|new Date\(\)|datetime\.(?:now|utcnow|today)|date\.today|time\.time\(\)", text
        )
        match = _DATE.search(text) if clock else None
        if match is not None:
            line, column = _place(text, match.start())
            yield Problem(f"the date {match[1]} is compared with a clock that moves on", path, line, column)
    for path in files.verifier_scripts:
        dates = [c for c in files.script(path).commands if c.name == "date" and any("+" in a for a in c.args)]
        match = (
            re.search(r"\b(?:20[2-9]\d(?:-?[01]\d-?[0-3]\d)?|1[6-9]\d{8})\b", files.text(path))
            if dates
            else None
        )
        if match is not None:
            line, column = _place(files.text(path), match.start())
            yield Problem(f"the date {match[0]} is compared with a clock that moves on", path, line, column)


@rule(name="judge-writes-fixture", pack="suite", severity="error")
def judge_writes_fixture(files: TaskFiles) -> Iterator[Problem]:
    """The judge writes into the agent's fixture.

    Why: a judge that repaired a manifest before it booted the host gave points for work that the agent had not done;
        and a second run judged the judge's own change.
    Bad: fs.writeFileSync("/app/fixture/package.json", ...)
    Good: a copy below /tmp/bench-<task>, changed there
    Fix: copy the fixture and work on the copy.
    """
    for path, text in judge_texts(files):
        for match in _WRITES.finditer(text):
            if not _in_comment(text, match.start()):
                yield Problem("writes into /app/fixture", path, *_place(text, match.start()))
    for path in files.verifier_scripts:
        for command in files.script(path).commands:
            into = [r.target for r in command.redirects if ">" in r.operator]
            if command.name in ("cp", "mv", "rm", "install", "tee", "touch", "mkdir", "ln"):
                into += command.operands[-1:] if command.name != "rm" else command.operands
            if command.name == "sed" and any(a.startswith("-i") for a in command.args):
                into += command.operands
            if any(re.match(r"/app/fixture(?:/|$)", target) for target in into):
                yield Problem("writes into /app/fixture", path, command.line, command.column)


_WRITES = re.compile(
    r"\b(?:writeFile|writeFileSync|appendFile|appendFileSync|rm|rmSync|unlink|unlinkSync|mkdir|mkdirSync|rename|renameSync)"
    r"\(\s*[\"'`]/app/fixture"
)


@rule(name="last-line-only", pack="suite", severity="error")
def last_line_only(files: TaskFiles) -> Iterator[Problem]:
    """test.sh searches the judge's output for a JSON line instead of taking the last one.

    Why: a search found an older line that the plugin under test had printed, and the agent's own words were its score.
    Bad: node /tests/judge.mjs | grep '"score"'
    Good: node /tests/judge.mjs | tail -n 1
    Fix: take the last line, and treat anything else there as an evaluator's error.
    """
    for path in files.entry_scripts:
        for command in files.script(path).commands:
            if command.name == "grep" and any(re.search(r"score|\\?\{", a) for a in command.args):
                yield Problem("searches the output for a result line", path, command.line, command.column)
