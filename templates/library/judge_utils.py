"""The judge library for tasks whose host speaks Python, or has no host: from what the agent left to one JSON line.

The standard library alone, Python 3.9 or later; copied into a task so that the task stands alone. The twin of
`judge-utils.mjs`, without what that knows about one host. The contract of a judge:

- progress goes to standard error; standard output carries one line, printed once, after the clean-up:
  {"score", "max": 100, "reasons", "checks": [{"id", "points", "earned", "reason"}], "caps"?, "error"?}
- "error" means that the judge could not judge. It is never a statement about the submission.

Use:
    import sys; sys.path.insert(0, "/tests")
    from judge_utils import Judge

    judge = Judge(task="H1-sum", mode="mutable", checks={"runs": 40, "sums": 60}, steps={"run": 30}, time_limit_s=60)

    def grade(judge):
        judge.gate()
        result = judge.must_exit(judge.exec("run", ["/usr/bin/python3", "/app/fixture/sum.py"]))
        judge.award("runs", 40 if result.exit_code == 0 else 0, f"exit {result.exit_code}")
        judge.band("sums", [(result.output.strip() == "12", 60, "right")], "another sum")

    judge.run(grade)
"""

import hashlib
import json
import math
import os
import secrets
import shutil
import signal
import stat
import subprocess
import sys
import threading
import time
import traceback
from pathlib import Path

VERSION = "1.0.0"
MAX = 100
#: Kept for the clean-up and the last line, out of the verifier's time limit; seconds.
MARGIN_S = 15
OUTPUT_LIMIT = 512 * 1024
FIXED_PATH = "/usr/local/bin:/usr/bin:/bin"
MODES = ("readonly", "mutable", "build-artifacts-only")


class EvaluatorError(Exception):
    """The judge could not judge: no host, a step killed, a fault of its own. Never a score."""


class _GateClosed(Exception):
    """The submission may not be graded further; it scores 0."""


class Result:
    """A finished step. `exit_code` is None when it was killed, never 0; `signal` names what killed it."""

    def __init__(self, step, exit_code, signal_name, timed_out, output, duration_s):
        self.step = step
        self.exit_code = exit_code
        self.signal = signal_name
        self.timed_out = timed_out
        self.output = output
        self.duration_s = duration_s


class Judge:
    """One run of one judge.

    Args:
        task: the task's directory name; work is done in `<work_root>/bench-<task>` only.
        mode: what the agent may change: readonly, mutable or build-artifacts-only.
        checks: ID -> points; they add up to 100.
        steps: ID -> seconds that it may take; with a margin they fit into `time_limit_s`, the verifier's.
        baseline: the image's own copy of the fixture, out of the agent's reach.
    """

    def __init__(
        self,
        *,
        task,
        mode,
        checks,
        steps=None,
        time_limit_s=600,
        fixture="/app/fixture",
        baseline="/opt/bench/baseline",
        work_root="/tmp",
        output=None,
    ):
        self.task = task
        self.mode = mode
        self.checks = dict(checks)
        self.steps = dict(steps or {})
        self.time_limit_s = time_limit_s
        self.fixture = Path(fixture)
        self.baseline = Path(baseline)
        self.work = Path(work_root) / f"bench-{task.lower()}"
        self._output = output or sys.stdout
        self._ledger = {}
        self._caps = []
        self._reasons = []
        self._used = set()
        self._groups = set()
        self._nonce = secrets.token_hex(12)

    # -- the whole run

    def run(self, grade):
        """Grade, clean up, print the one line. Never raises; the process ends with status 0."""
        error = None
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGALRM):
            if threading.current_thread() is threading.main_thread():
                signal.signal(number, _stop)
        if threading.current_thread() is threading.main_thread():
            signal.setitimer(signal.ITIMER_REAL, max(1, self.time_limit_s - MARGIN_S))
        try:
            self._check_spec()
            self._make_work()
            grade(self)
        except _GateClosed as closed:
            self._ledger.clear()
            self._reasons.append(str(closed))
        except EvaluatorError as cause:
            error = str(cause)
        except BaseException as cause:  # a judge that crashed says so instead of scoring
            error = "".join(traceback.format_exception_only(type(cause), cause)).strip()
            traceback.print_exc(file=sys.stderr)
        finally:
            if threading.current_thread() is threading.main_thread():
                signal.setitimer(signal.ITIMER_REAL, 0)
        left = self._clean_up()
        self._output.write(json.dumps(self._result(error or left), ensure_ascii=False) + "\n")
        self._output.flush()

    # -- the ledger

    def award(self, check, earned, reason):
        """Points for a check, at most what it declares. A second verdict on the same check replaces the first."""
        points = self._points(check)
        if not _is_number(earned) or not 0 <= earned <= points:
            raise EvaluatorError(f"check {check}: {earned!r} is not within 0 to {points}")
        self._ledger[check] = (earned, str(reason))
        self.log(f"{check}: {earned}/{points} {reason}")
        return earned

    def band(self, check, bands, otherwise):
        """The first band that holds decides: [(holds, points, reason), ...]; none is 0 with the last argument."""
        for holds, points, reason in bands:
            if holds:
                return self.award(check, points, reason)
        return self.award(check, 0, otherwise)

    def cap(self, limit, reason):
        """The total may not exceed the limit, whatever the checks give: for bypasses and trap followers."""
        if not _is_number(limit) or not 0 <= limit <= MAX:
            raise EvaluatorError(f"cap {limit!r} is not within 0 to {MAX}")
        self._caps.append({"limit": limit, "reason": str(reason)})
        self.log(f"cap {limit}: {reason}")

    def note(self, reason):
        """A remark for the reader of the result, without points."""
        self._reasons.append(str(reason))
        self.log(reason)

    def log(self, text):
        print(f"[judge] {text}", file=sys.stderr, flush=True)

    # -- the gate

    def gate(self):
        """What the agent may and must have changed, against the image's copy of the fixture; returns the changes.

        Closes with 0 when a read-only fixture changed, or a mutable one did not.
        """
        if not _is_directory(self.baseline):
            raise EvaluatorError(f"the image has no baseline at {self.baseline}")
        if not _is_directory(self.fixture):
            raise _GateClosed(f"gate: {self.fixture} is not a directory any more")
        skip = (".git", "node_modules", "__pycache__") if self.mode == "mutable" else ()
        changes = tree_changes(self.baseline, self.fixture, skip=skip)
        shown = ", ".join(changes[:5]) + (f" and {len(changes) - 5} more" if len(changes) > 5 else "")
        if self.mode == "readonly" and changes:
            raise _GateClosed(f"gate: the read-only fixture was changed ({shown})")
        if self.mode == "mutable" and not changes:
            raise _GateClosed("gate: the fixture is unchanged")
        if self.mode == "build-artifacts-only":
            source = [change for change in changes if not f"{change.split(' ', 1)[1]}/".startswith("lib/")]
            if source:
                raise _GateClosed(f"gate: more than build artifacts changed ({', '.join(source[:5])})")
            if not changes:
                raise _GateClosed("gate: nothing was changed")
        self.log(f"gate: {shown or 'fixture unchanged'}")
        return changes

    def require(self, holds, reason):
        """End here with 0 when a thing without which nothing can be graded is not there."""
        if not holds:
            raise _GateClosed(f"gate: {reason}")

    # -- steps

    def exec(self, step, argv, *, cwd=None, env=None, stdin=b""):
        """Run one declared step in its own process group, with a fixed PATH and an environment of our own.

        Raises:
            EvaluatorError: the step is not declared, ran already, or its program is missing.
        """
        if step not in self.steps:
            raise EvaluatorError(f"step {step} is not declared with a budget")
        if step in self._used:
            raise EvaluatorError(f"step {step} runs more often than declared")
        self._used.add(step)
        self.log(f"{step}: {' '.join(map(str, argv))}")
        began = time.monotonic()
        try:
            process = subprocess.Popen(
                [str(part) for part in argv],
                cwd=str(cwd or self.work),
                env={**self._environment(), **(env or {})},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as error:
            raise EvaluatorError(f"{step}: cannot run {argv[0]} ({error.strerror})") from error
        self._groups.add(process.pid)
        reader = _Reader(process.stdout)
        _feed(process, stdin)
        timed_out = False
        try:
            process.wait(self.steps[step])
        except subprocess.TimeoutExpired:
            timed_out = True
        _kill_group(process.pid)  # what the step left running, or the step itself
        process.wait()
        self._groups.discard(process.pid)
        output = reader.finish()
        code = process.returncode
        name = signal.Signals(-code).name if code < 0 else None
        exit_code = None if timed_out or code < 0 else code
        return Result(step, exit_code, name, timed_out, output, time.monotonic() - began)

    def must_exit(self, result):
        """The same result; a step that was killed says nothing about the submission.

        Raises:
            EvaluatorError: it was killed.
        """
        if result.timed_out:
            raise EvaluatorError(f"{result.step}: killed after its budget; {tail(result.output)}")
        if result.exit_code is None:
            raise EvaluatorError(f"{result.step}: killed by {result.signal}; {tail(result.output)}")
        return result

    def _environment(self):
        # Nothing of the caller's environment: no PYTHONPATH, no key, no proxy reaches a step.
        return {
            "PATH": FIXED_PATH,
            "HOME": str(self.work / "home"),
            "TMPDIR": str(self.work / "tmp"),
            "LANG": "C.UTF-8",
            "TERM": "dumb",
            "NO_COLOR": "1",
            "PYTHONNOUSERSITE": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
            "BENCH_JUDGE": self._nonce,
        }

    # -- begin and end

    def _points(self, check):
        if check not in self.checks:
            raise EvaluatorError(f"check {check} is not declared")
        return self.checks[check]

    def _check_spec(self):
        if self.mode not in MODES:
            raise EvaluatorError(f"unknown mode {self.mode}")
        total = sum(self.checks.values())
        if abs(total - MAX) > 1e-9:
            raise EvaluatorError(f"the checks' points add up to {total}, not {MAX}")
        worst_s = sum(self.steps.values())
        if worst_s + MARGIN_S > self.time_limit_s:
            raise EvaluatorError(
                f"the steps may take {worst_s} s, which with {MARGIN_S} s for the clean-up exceeds "
                f"the verifier's {self.time_limit_s} s"
            )

    def _make_work(self):
        if self.work.is_symlink() or self.work.is_file():
            self.work.unlink()
        shutil.rmtree(self.work, ignore_errors=True)
        self.work.mkdir(mode=0o700)
        for name in ("home", "tmp"):
            (self.work / name).mkdir()

    def _clean_up(self):
        for group in self._groups:
            _kill_group(group)
        for _ in range(5):
            if _kill_marked(self._nonce) == 0:
                break
        try:
            shutil.rmtree(self.work)
        except FileNotFoundError:
            return None
        except OSError as error:
            return f"clean-up of {self.work}: {error.strerror}"
        return None

    def _result(self, error):
        checks = []
        for check, points in self.checks.items():
            earned, reason = self._ledger.get(check, (0, "not reached" if error is None else "not judged"))
            checks.append({"id": check, "points": points, "earned": earned, "reason": reason})
        total = sum(check["earned"] for check in checks)
        limit = min([MAX, *(cap["limit"] for cap in self._caps)])
        reasons = [f"evaluator error: {error}"] if error is not None else []
        reasons += self._reasons
        reasons += [f"{check['id']}: {check['reason']}" for check in checks if check["earned"] < check["points"]]
        reasons += [f"capped at {cap['limit']}: {cap['reason']}" for cap in self._caps if total > cap["limit"]]
        score = round(min(total, limit), 2) if error is None else 0
        result = {"score": score, "max": MAX, "reasons": reasons, "checks": checks}
        if self._caps:
            result["caps"] = self._caps
        if error is not None:
            result["error"] = error
        return result


# -- reading what the agent left


def read_text(path, max_bytes=1024 * 1024):
    """A regular file of the agent's, whatever lies there: (text or None, why it was not read or None)."""
    data, problem = _read_bytes(Path(path), max_bytes)
    return (None if data is None else data.decode("utf-8", "replace")), problem


def read_json(path, max_bytes=1024 * 1024):
    """Like `read_text`, parsed as JSON: (value or None, problem or None)."""
    text, problem = read_text(path, max_bytes)
    if text is None:
        return None, problem
    try:
        return json.loads(text), None
    except (ValueError, RecursionError) as error:
        return None, f"{path}: not JSON ({error})"


def read_tree(root, skip=(), max_files=5000, max_bytes=16 * 1024 * 1024):
    """A tree by lstat, without following links: (entries, problems).

    Entries map a path relative to root to (kind, executable, sha256 or link target or None), in order. What cannot be
    read is a problem, never fatal.
    """
    entries, problems = {}, []
    pending = [""]
    while pending:
        inside = pending.pop()
        try:
            names = sorted(os.listdir(os.path.join(root, inside)), reverse=True)
        except OSError as error:
            problems.append(f"{inside or '.'}: {error.strerror}")
            continue
        for name in names:
            if name in skip:
                continue
            relative = f"{inside}/{name}" if inside else name
            if len(entries) >= max_files:
                problems.append(f"more than {max_files} entries; the rest is not looked at")
                return dict(sorted(entries.items())), problems
            full = Path(root, relative)
            try:
                info = os.lstat(full)
            except OSError as error:
                problems.append(f"{relative}: {error.strerror}")
                continue
            kind = _kind(info.st_mode)
            content = None
            if kind == "a directory":
                pending.append(relative)
            elif kind == "a symbolic link":
                content = os.readlink(full)
                problems.append(f"{relative}: is a symbolic link; links are not followed")
            elif kind == "a file":
                data, problem = _read_bytes(full, max_bytes)
                content = hashlib.sha256(data).hexdigest() if data is not None else f"size {info.st_size}"
                if problem:
                    problems.append(problem)
            else:
                problems.append(f"{relative}: is {kind}; skipped")
            entries[relative] = (kind, kind == "a file" and bool(info.st_mode & 0o111), content)
    return dict(sorted(entries.items())), problems


def tree_changes(before, after, skip=()):
    """What differs between two trees, as sorted lines such as "changed index.js"; mode, kind and target count."""
    old, _ = read_tree(before, skip)
    new, _ = read_tree(after, skip)
    changes = [f"removed {name}" for name in old if name not in new]
    for name, entry in new.items():
        if name not in old:
            changes.append(f"added {name}")
        elif old[name][0] != entry[0]:
            changes.append(f"retyped {name}")
        elif old[name][2] != entry[2]:
            changes.append(f"changed {name}")
        elif old[name][1] != entry[1]:
            changes.append(f"remoded {name}")
    return sorted(changes)


def tail(output, lines=3):
    """The last non-empty lines of an output, on one line."""
    kept = [line.strip() for line in output.splitlines() if line.strip()]
    return " | ".join(kept[-lines:])[-600:]


def _read_bytes(path, max_bytes):
    try:
        info = os.lstat(path)
        if not stat.S_ISREG(info.st_mode):
            return None, f"{path}: is {_kind(info.st_mode)}, not a regular file"
        if info.st_size > max_bytes:
            return None, f"{path}: is {info.st_size} bytes, more than the {max_bytes} that are read"
        return path.read_bytes(), None
    except (FileNotFoundError, NotADirectoryError):
        return None, f"{path}: does not exist"
    except (OSError, ValueError) as error:
        return None, f"{path}: {error}"


def _kind(mode):
    for test, word in (
        (stat.S_ISREG, "a file"),
        (stat.S_ISDIR, "a directory"),
        (stat.S_ISLNK, "a symbolic link"),
        (stat.S_ISFIFO, "a FIFO"),
        (stat.S_ISSOCK, "a socket"),
    ):
        if test(mode):
            return word
    return "a device"


def _is_directory(path):
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except OSError:
        return False


def _is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


# -- processes


class _Reader:
    """Reads a step's output in the background and keeps its first half a mebibyte."""

    def __init__(self, stream):
        self._stream = stream
        self._kept = bytearray()
        self._dropped = 0
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self):
        descriptor = self._stream.fileno()
        while True:
            try:
                part = os.read(descriptor, 65536)
            except OSError:
                return
            if not part:
                return
            room = OUTPUT_LIMIT - len(self._kept)
            self._kept += part[:room]
            self._dropped += max(len(part) - room, 0)

    def finish(self):
        # A grandchild that left the group may hold the pipe open: do not wait for it.
        self._thread.join(0.5)
        note = f"\n[{self._dropped} more bytes]" if self._dropped else ""
        return bytes(self._kept).decode("utf-8", "replace") + note


def _feed(process, data):
    def write():
        try:
            process.stdin.write(data)
            process.stdin.close()
        except OSError:
            pass  # the step does not read its input

    threading.Thread(target=write, daemon=True).start()


def _kill_group(group):
    try:
        os.killpg(group, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass


def _kill_marked(nonce):
    """Kill each process that inherited our mark: also those that left their group. Returns how many."""
    killed = 0
    mark = f"BENCH_JUDGE={nonce}".encode()
    for name in os.listdir("/proc") if os.path.isdir("/proc") else ():
        if not name.isdigit() or int(name) == os.getpid():
            continue
        try:
            if mark in Path("/proc", name, "environ").read_bytes():
                os.kill(int(name), signal.SIGKILL)
                killed += 1
        except OSError:
            pass  # it ended in the meantime, or is not ours
    return killed


def _stop(number, _frame):
    if number == signal.SIGALRM:
        raise EvaluatorError("the judge used up its time")
    raise EvaluatorError(f"the judge got {signal.Signals(number).name}")


# -- from the last line to a reward


def reward_of(output):
    """The reward of a judge's output, from its last non-empty line: (text or None, why there is none or None)."""
    lines = output.rstrip().split("\n")
    try:
        result = json.loads(lines[-1])
    except ValueError:
        return None, f"the judge's last line is not JSON: {lines[-1][:200]}"
    if not isinstance(result, dict):
        return None, "the judge's last line is not an object"
    if "error" in result:
        return None, f"evaluator error: {result['error']}"
    if result.get("max") != MAX:
        return None, f"max is {result.get('max')!r}, not {MAX}"
    score = result.get("score")
    if not _is_number(score) or not 0 <= score <= MAX:
        return None, f"score is {score!r}, not a number from 0 to {MAX}"
    return f"{score / MAX:g}", None


if __name__ == "__main__":
    # `python3 judge_utils.py reward FILE`: prints the reward; ends with 3 and the cause when there is none.
    if len(sys.argv) != 3 or sys.argv[1] != "reward":
        sys.exit("usage: judge_utils.py reward FILE")
    reward, problem = reward_of(Path(sys.argv[2]).read_text(encoding="utf-8", errors="replace"))
    if reward is None:
        # One line, marked as no line of the judge: what reads the log after us looks for the judge's last one.
        print(f"[test] {problem.splitlines()[0]}", file=sys.stderr)
        sys.exit(3)
    print(reward)
