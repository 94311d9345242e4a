"""What test.sh leaves in the reward file."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from harbor_author.checks import guests, reward
from harbor_author.checks.context import TaskFiles
from harbor_author.checks.findings import Problem
from harbor_author.checks.registry import rule
from harbor_author.checks.reward import NO_HABIT, Habit, Outcome
from harbor_author.checks.script import UNKNOWN

#: Ends without a reward that are told of one script.
_SHOWN = 3


def outcomes(files: TaskFiles) -> dict[str, Outcome]:
    """The outcome of each entry script, computed once."""
    return files.once(
        "reward outcomes", lambda: {path: _analyse(files, path, ()) for path in files.entry_scripts}
    )


#: Scripts that call scripts are followed so far.
_MAX_SCRIPTS = 4


def _analyse(files: TaskFiles, path: str, callers: tuple[str, ...]) -> Outcome:
    prefix = next((p for p in reversed(files.tests_prefixes) if path.startswith(p)), "tests/")

    def delegate(word: str, text: str) -> Habit:
        if text:
            return guests.habit(word, text)
        inside = re.search(r"(?:^|/)tests/(.+)$", word)
        for name in (inside[1] if inside else word, word.rsplit("/", 1)[-1]):
            for folder in (prefix, "tests/"):
                candidate = folder + name
                if candidate == path or not files.is_file(candidate) or files.is_binary(candidate):
                    continue
                if candidate.endswith((".sh", ".bash")):
                    return _script_habit(files, candidate, (*callers, path))
                return guests.habit(candidate, files.text(candidate))
        return NO_HABIT

    refusal = files.suite is not None and files.suite.settings.on_error == "no-reward"
    return reward.analyse(files.script(path), delegate, allow_refusal=refusal)


def _script_habit(files: TaskFiles, path: str, callers: tuple[str, ...]) -> Habit:
    """What a script that another one runs does with the reward."""
    if path in callers or len(callers) > _MAX_SCRIPTS:
        return NO_HABIT
    outcome = _analyse(files, path, callers)
    if not outcome.writes:
        return NO_HABIT
    if outcome.unwritten_at or "unwritten" in outcome.end:
        return Habit("may")
    blind = outcome.end == {"positive"}
    return Habit("always", outcome.writes[0].line if blind else None)


def _mentions(files: TaskFiles) -> bool:
    """Some text below tests/ names a reward file."""
    for prefix in files.tests_prefixes:
        for entry in files.files(prefix):
            if not files.is_binary(entry.path) and reward.REWARD_NAME.search(files.text(entry.path)):
                return True
    return False


@rule(name="unconditional-reward", pack="harbor", severity="error")
def unconditional_reward(files: TaskFiles) -> Iterator[Problem]:
    """Every path through the judge ends with the same reward, whatever the agent did.

    Why: a released task's test.sh was `echo 1.0 > reward.txt` and nothing else: a stub that was never replaced, on
        which every model scored 100 %.
    Bad: pytest /tests; echo 1 > /logs/verifier/reward.txt
    Good: if pytest /tests; then echo 1 > ...; else echo 0 > ...; fi
    Fix: write the reward in both branches of a condition on what the agent made.
    """
    blind = False
    for prefix in files.tests_prefixes:
        for entry in files.files(prefix):
            if entry.name.endswith(guests.PROGRAMS) and not files.is_binary(entry.path):
                line = guests.habit(entry.path, files.text(entry.path)).line
                if line is not None:
                    blind = True
                    yield Problem("the reward is written without looking at anything", entry.path, line)
    for path, outcome in outcomes(files).items():
        if outcome.end in ({"positive"}, {"zero"}) and outcome.writes and not blind:
            writes = [w for w in outcome.writes if w.value in outcome.end]
            word = "full or partial reward" if "positive" in outcome.end else "zero"
            message = f"the reward is written without looking at anything: every path ends with {word}"
            yield Problem(message, path, writes[0].line, writes[0].column)


@rule(name="reward-not-on-every-path", pack="harbor", severity="warning")
def reward_not_on_every_path(files: TaskFiles) -> Iterator[Problem]:
    """The judge can end without having written a reward.

    Why: a judge that crashed on a missing output file left no reward at all; a runner counted that as 0, another as an
        error, and the two boards could not be compared.
    Bad: python3 /tests/judge.py  (which writes the reward in its last line)
    Good: python3 /tests/judge.py || echo 0 > /logs/verifier/reward.txt
    Fix: write a reward in the branch that is named, or in a trap on EXIT.
    """
    for path, outcome in outcomes(files).items():
        if not outcome.writes and not outcome.unreached:
            continue
        ends = list(dict.fromkeys(outcome.unwritten_at))
        for line, why in ends[:_SHOWN]:
            more = f" (and {len(ends) - _SHOWN} more ends)" if len(ends) > _SHOWN else ""
            yield Problem(f"not every path writes a reward: {why}{more}", path, line)


@rule(name="reward-never-written", pack="harbor", severity="error")
def reward_never_written(files: TaskFiles) -> Iterator[Problem]:
    """Nothing below tests/ writes a reward file.

    Why: the comment in Harbor's own scaffold says `rewards.json`; the file that Harbor reads is `reward.json`. Each
        trial of such a task ends in RewardFileNotFoundError.
    Bad: echo '{"reward": 1}' > /logs/verifier/rewards.json
    Good: echo '{"reward": 1}' > /logs/verifier/reward.json
    Fix: write /logs/verifier/reward.txt (one number) or /logs/verifier/reward.json.
    """
    if not files.entry_scripts or _mentions(files):
        return
    for path, outcome in outcomes(files).items():
        if not files.text(path).strip() or outcome.writes:
            continue
        text = "".join(files.text(e.path) for p in files.tests_prefixes for e in files.files(p))
        if outcome.opaque and "/logs/verifier" not in text:
            message = (
                "nothing here writes /logs/verifier/reward.txt or reward.json; a program outside tests/ must"
            )
            yield Problem(message, path, severity="warning")
        else:
            yield Problem("nothing writes /logs/verifier/reward.txt or reward.json", path)


_NEAR_MISS = re.compile(r"/logs/verifier/+(?P<name>[\w.-]*(?:reward|score|result)[\w.-]*)", re.IGNORECASE)
_ELSEWHERE = re.compile(r"(?P<folder>(?:/?(?:[\w.-]+/)+|/|(?<![\w/.$}-])))reward\.(?:txt|json)\b")


@rule(name="misspelt-reward-file", pack="harbor", severity="error")
def misspelt_reward_file(files: TaskFiles) -> Iterator[Problem]:
    """The reward is written under a name, or in a directory, where Harbor does not look for it.

    Why: `rewards.json`, `Reward.txt`, `/logs/verifer/reward.txt` stand in released tasks; Harbor reads
        /logs/verifier/reward.json, else /logs/verifier/reward.txt, and nothing else, so the trial is an error.
    Bad: > /logs/verifier/rewards.json
    Good: > /logs/verifier/reward.json
    Fix: write /logs/verifier/reward.txt or /logs/verifier/reward.json, exactly so.
    """
    texts = [
        (e.path, files.text(e.path))
        for prefix in files.tests_prefixes
        for e in files.files(prefix)
        if not e.name.endswith((".md", ".bat", ".ps1")) and not files.is_binary(e.path)
    ]
    known = any("/logs/verifier" in text for _, text in texts)
    for path, text in texts:
        if "/logs/verifier" not in text and (known or "reward." not in text):
            continue
        for number, line in enumerate(text.split("\n"), 1):
            if line.lstrip().startswith(("#", "//", "*")):
                continue
            for match in _NEAR_MISS.finditer(line):
                name = match["name"].rstrip(".")
                if _near(name):
                    message = f"Harbor does not read {name}: it reads reward.json or reward.txt"
                    yield Problem(message, path, number, match.start("name") + 1)
            if known:
                continue
            found = _ELSEWHERE.search(line[:500])  # each place of a longer one would be tried
            if found is not None and not re.search(r"\b(?:cd|join)\b", text):
                message = (
                    f"Harbor does not look for {found[0]}: it reads /logs/verifier/reward.txt or reward.json"
                )
                yield Problem(message, path, number, found.start() + 1)


def _near(name: str) -> bool:
    """A misspelling of the reward file and no side file such as reward-details.json."""
    if name in ("reward.txt", "reward.json"):
        return False
    return (
        re.fullmatch(r"_?rewards?(?:\.(?:txt|json|jsn|yaml|yml|toml|log))?|rewrad\.\w+", name.lower())
        is not None
    )


@rule(name="both-reward-files", pack="harbor", severity="warning")
def both_reward_files(files: TaskFiles) -> Iterator[Problem]:
    """The judge writes reward.txt and reward.json, and Harbor reads only the second.

    Why: a structured reward.json of a newer judge shadowed the scalar that everybody looked at; it held no key
        `reward`, and the trials had no result.
    Bad: echo 1 > reward.txt, then a report into reward.json
    Good: one of the two; details go into another file, such as /logs/verifier/details.json
    Fix: write only one; when both are there, reward.json wins.
    """
    found: dict[str, tuple[str, int]] = {}
    for prefix in files.tests_prefixes:
        for entry in files.files(prefix):
            if files.is_binary(entry.path) or entry.name.endswith(".md"):
                continue
            if "reward." not in files.text(entry.path):
                continue
            for number, line in enumerate(files.text(entry.path).split("\n"), 1):
                if line.lstrip().startswith(("#", "//", "*")):
                    continue
                if re.search(r"\brm\b|\bunlink|\brmSync", line):
                    continue
                for name in re.findall(r"\breward\.(?:txt|json)\b", line):
                    found.setdefault(name, (entry.path, number))
    if len(found) == 2:
        path, place = found["reward.json"]
        other = found["reward.txt"]
        message = f"reward.json is written here and reward.txt at {other[0]}:{other[1]}: Harbor reads reward.json alone"
        yield Problem(message, path, place)


@rule(name="reward-read-before-written", pack="harbor", severity="warning")
def reward_read_before_written(files: TaskFiles) -> Iterator[Problem]:
    """test.sh reads the reward file that it should write, or appends to it.

    Why: `[ -e reward.txt ] || echo 0 > reward.txt` keeps whatever lies there. An agent, or a background process that
        it left, writes a 1 first, and the judge never contradicts it.
    Bad: [ -e /logs/verifier/reward.txt ] || echo 0 > /logs/verifier/reward.txt
    Good: rm -f /logs/verifier/reward.txt first; then decide; then write in every branch
    Fix: write the reward on every path instead of asking whether it is there.
    """
    for path, outcome in outcomes(files).items():
        for line, column in sorted(set(outcome.reads))[:1]:
            message = "test.sh reads or extends the reward file before it has surely written it: a forged one survives"
            yield Problem(message, path, line, column)


@rule(name="reward-out-of-range", pack="harbor", severity="error")
def reward_out_of_range(files: TaskFiles) -> Iterator[Problem]:
    """A literal reward is none that Harbor takes, or lies outside 0 to 1.

    Why: Harbor checks no range: a judge that wrote its points (85) instead of a share was averaged with the others and
        lifted a whole board; `yes` instead of 1 is a VerifierOutputParseError, and a reward.json without the key
        `reward`, or with a bare number, leaves the trial without a reward.
    Bad: echo 100 > /logs/verifier/reward.txt
    Good: echo 1 > /logs/verifier/reward.txt
    Fix: divide by the maximum, and write one number, or {"reward": NUMBER}.
    """
    for path in files.entry_scripts:
        for command in files.script(path).commands:
            target = [
                r for r in command.redirects if ">" in r.operator and reward.REWARD_FILE.search(r.target)
            ]
            if not target or command.name not in ("echo", "printf"):
                continue
            words = [a for a in command.args if not re.fullmatch(r"-[neE]+", a)]
            text = " ".join(words).replace("\\n", "").strip()
            if UNKNOWN in text or "%" in text:
                continue
            fault = _json_fault(text) if target[0].target.endswith(".json") else _number_fault(text)
            if fault:
                yield Problem(fault, path, command.line, command.column)


def _number_fault(text: str) -> str:
    try:
        value = float(text)
    except ValueError:
        return f"'{text[:40]}' is no number, so the trial has no reward"
    return "" if 0 <= value <= 1 else f"the reward {text[:40]} lies outside 0 to 1"


def _json_fault(text: str) -> str:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return f"'{text[:40]}' is no JSON, so the trial has no reward"
    if not isinstance(document, dict):
        return "reward.json must be an object: Harbor takes no bare value"
    if "reward" not in document:
        return 'reward.json has no key "reward", so the trial has none'
    value = document["reward"]
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return f"the reward {value!r} is no number"
    return "" if 0 <= value <= 1 else f"the reward {value} lies outside 0 to 1"


@rule(name="reward-directory-missing", pack="harbor", severity="warning")
def reward_directory_missing(files: TaskFiles) -> Iterator[Problem]:
    """The reward is written below a directory that nobody makes.

    Why: Harbor makes /logs/verifier and nothing deeper; `> /logs/verifier/out/reward.txt` failed, and a judge that
        removed /logs and did not make it again lost every reward.
    Bad: rm -rf /logs/verifier; echo 1 > /logs/verifier/reward.txt
    Good: rm -rf /logs/verifier; mkdir -p /logs/verifier; echo 1 > /logs/verifier/reward.txt
    Fix: mkdir -p the directory before the first write.
    """
    for path in files.entry_scripts:
        removed = False
        for command in files.script(path).commands:
            if command.name == "rm" and any(re.fullmatch(r"/logs(?:/verifier)?/?", a) for a in command.args):
                removed = True
            elif command.name in ("mkdir", "install") and any("/logs" in a for a in command.args):
                removed = False
            elif removed and any(reward.REWARD_FILE.search(r.target) for r in command.redirects):
                yield Problem(
                    "/logs/verifier was removed and not made again", path, command.line, command.column
                )
                break
