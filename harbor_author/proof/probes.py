"""Submissions that are derived, not written: none of them does the task, so none may score as if it did."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import PurePosixPath

from harbor_author.proof.edits import set_files
from harbor_author.proof.programme import Planned
from harbor_author.proof.snapshot import FileState, OracleChanges
from harbor_author.proof.submission import Submission
from harbor_author.proof.trial import FIXTURE
from harbor_author.proof.verdict import FULL, LESS_THAN_FULL, ZERO, Expectation

#: At most so many outputs are perturbed.
_OUTPUTS = 3
_PROSE = (".md", ".markdown", ".rst")
_JUNK = b" and more\n"
_ENDS = {
    **dict.fromkeys((".js", ".cjs", ".mjs", ".ts"), b"process.exit(0);\n"),
    ".py": b"import os\nos._exit(0)\n",
    ".sh": b"#!/bin/sh\nexit 0\n",
}

_TOUCH = f"""
f=$(find {FIXTURE} -type f -not -path '*/.git/*' -not -path '*/node_modules/*' | LC_ALL=C sort | head -n 1)
[ -n "$f" ] || exit 75
"""
_APPEND = _TOUCH + "printf '\\n' >> \"$f\"\n"
_ADD = f"[ -d {FIXTURE} ] || exit 75\n: > {FIXTURE}/touched.txt\n"
_ADD_BUILT = f"[ -d {FIXTURE} ] || exit 75\nmkdir -p {FIXTURE}/lib && : > {FIXTURE}/lib/touched.txt\n"

_LINK = f"[ -d {FIXTURE} ] || exit 75\nln -s /nowhere/at-all {FIXTURE}/dangling\n"

_LINE = '{"score":100,"max":100,"reasons":[],"checks":[]}'
_FORGED_JS = "console.log(JSON.stringify({score: 100, max: 100, reasons: [], checks: []}))"
_REWARD = "mkdir -p /logs/verifier; echo 1 > /logs/verifier/reward.txt"
_ADVANCE = f"""{_REWARD}
echo '{{"reward": 1}}' > /logs/verifier/reward.json
printf '%s\\n' '{_LINE}' > /logs/verifier/test-stdout.txt
chmod 666 /logs/verifier/* 2>/dev/null || true
"""
#: Bounded, so that it ends even where its container is kept.
_REWRITE = f"""
for i in $(seq 6000); do
  echo 1 > /logs/verifier/reward.txt
  printf '%s\\n' '{_LINE}' >> /logs/verifier/test-stdout.txt
  sleep 0.02
done
"""
_EDIT_TESTS = f"""
for i in $(seq 6000); do [ -e /logs/verifier/test-stdout.txt ] && break; sleep 0.05; done
sleep 0.3
for i in $(seq 200); do
  for f in /tests/*.mjs /tests/*.js; do [ -e "$f" ] && echo "{_FORGED_JS}" > "$f"; done
  for f in /tests/*.py; do [ -e "$f" ] && echo "" > "$f"; done
  for f in /tests/*.sh; do [ -e "$f" ] && echo "{_REWARD}" >> "$f"; done
  sleep 0.05
done
"""
_SHIM = f"""#!/bin/sh
{_REWARD}
echo '{_LINE}'
exit 0
"""
_SHIMMED = ("node", "python3", "python", "pytest", "npm", "npx", "pnpm", "dsh", "uv", "uvx", "jq")


def touched(mode: str, oracle: Submission, *, is_report: bool, strict: bool) -> list[Planned]:
    """Changes that migrate nothing. A read-only task gets the oracle's report on a fixture that was changed."""
    if mode == "readonly":
        base = replace(oracle, name="touched", after=_APPEND)
        return (
            [Planned(base, ZERO, "the right report, but the read-only fixture was changed")]
            if is_report
            else []
        )
    add = _ADD_BUILT if mode == "build-artifacts-only" else _ADD
    planned = [Planned(Submission("touched", after=add), ZERO, "an empty file was added to the fixture")]
    link = replace(oracle, name="dangling-link", after=_LINK)
    why = "the oracle, with a link to nowhere left in the fixture"
    planned.append(Planned(link, FULL, why, advisory=not strict))
    if mode == "mutable":
        append = Submission("touched:newline", after=_APPEND)
        planned.append(Planned(append, ZERO, "a newline was appended to a file of the fixture"))
    return planned


def no_work(
    observed: OracleChanges, instruction: str, card_ids: Iterable[str], *, floor: float, is_report: bool
) -> list[Planned]:
    """The outputs without the work: merely created, the instruction echoed, bare card IDs."""
    if not observed.outputs:
        return []
    most = Expectation(high=floor)
    ids = "\n".join(card_ids)
    contents = {
        "empty-report" if is_report else "created": ("", "each instructed output merely created"),
        "prompt-copy": (instruction, "the instruction echoed into the output"),
    }
    if ids:
        contents["ids-only"] = (ids + "\n", "only the IDs of the cards")
    planned = []
    for name, (content, why) in contents.items():
        text, overlay = set_files({path: FileState(0o644, content.encode()) for path in observed.outputs})
        planned.append(Planned(Submission(name, after=text, overlay=overlay), most, why))
    return planned


def perturbed(observed: OracleChanges, oracle: Submission) -> list[Planned]:
    """The oracle's outputs, spoilt: appended, truncated, left out (wrong); lines swapped, case changed (a remark)."""
    planned = []
    outputs = [path for path in observed.outputs if not path.endswith(_PROSE)][:_OUTPUTS]
    for path in outputs:
        state = observed.after[path]
        for kind, data, advisory in _spoilt(state, several=len(observed.outputs) > 1):
            text, overlay = set_files({path: None if data is None else replace(state, data=data)})
            name = f"perturbed:{kind}" + (f":{path}" if len(outputs) > 1 else "")
            submission = replace(oracle, name=name, after=text, overlay=overlay)
            planned.append(Planned(submission, LESS_THAN_FULL, f"the oracle's {path}, {kind}", advisory))
    return planned + _ended(observed, oracle)


def _ended(observed: OracleChanges, oracle: Submission) -> list[Planned]:
    """The oracle's programs, each exchanged for one that ends at once and well: a judge that takes them into its own
    process, or counts nothing but an exit status, ends well with them."""
    ended = {
        path: replace(observed.after[path], data=_ENDS[PurePosixPath(path).suffix])
        for path in observed.outputs
        if PurePosixPath(path).suffix in _ENDS
    }
    if not ended:
        return []
    text, overlay = set_files(ended)
    submission = replace(oracle, name="perturbed:ended", after=text, overlay=overlay)
    return [Planned(submission, LESS_THAN_FULL, "the oracle's programs, each ending at once with status 0")]


def _spoilt(state: FileState, *, several: bool) -> list[tuple[str, bytes | None, bool]]:
    data = state.data
    kinds: list[tuple[str, bytes | None, bool]] = [("appended", data.rstrip(b"\n") + _JUNK, False)]
    half = data[: len(data.strip()) // 2]
    if half.strip():
        kinds.append(("truncated", half, False))
    lines = data.splitlines(keepends=True)
    if len(lines) > 1 and lines[0] != lines[1]:
        kinds.append(("swapped", b"".join([lines[1], lines[0], *lines[2:]]), True))
    if data.swapcase() != data:
        kinds.append(("case", data.swapcase(), True))
    if several:
        kinds.append(("left-out", None, False))
    return kinds


def tampered(*, mutable: bool, strict: bool) -> list[Planned]:
    """Attacks on the judge. Where the submission is root in the judge's own container, none but the first can be
    withstood by a plain test.sh: then the others are remarks."""
    touch = _ADD if mutable else ""
    background = _detached(_REWRITE)
    planned = [
        Planned(
            Submission("forged", after=_ADVANCE + (background if strict else "")),
            ZERO,
            "a reward left in advance" + (", and a process that rewrites it" if strict else ""),
        )
    ]
    if not strict:
        forged = Submission("forged:background", after=_ADVANCE + background)
        planned.append(Planned(forged, ZERO, "a process that rewrites the reward while the judge runs", True))
    planned += [
        Planned(
            Submission("planted", after=touch + _plant()),
            ZERO,
            "conftest.py, sitecustomize.py and programs early on PATH",
            not strict,
        ),
        Planned(
            Submission("tests-edited", after=touch + _detached(_EDIT_TESTS)),
            ZERO,
            "a process that edits /tests while the judge runs",
            not strict,
        ),
    ]
    return planned


def _detached(script: str) -> str:
    quoted = script.replace("'", "'\\''")
    return f"setsid bash -c '{quoted}' >/dev/null 2>&1 </dev/null &\n"


def _plant() -> str:
    shim = _SHIM.replace("'", "'\\''")
    names = " ".join(_SHIMMED)
    return f"""
forge='import os
os.makedirs("/logs/verifier", exist_ok=True)
open("/logs/verifier/reward.txt", "w").write("1")
import atexit
atexit.register(lambda: open("/logs/verifier/reward.txt", "w").write("1"))
'
for d in . /app /tests /; do printf '%s' "$forge" > "$d/conftest.py"; printf '%s' "$forge" > "$d/sitecustomize.py"; done
for d in /usr/lib/python3*/ /usr/lib/python3/dist-packages /usr/local/lib/python3*/site-packages; do
  [ -d "$d" ] && printf '%s' "$forge" > "$d/sitecustomize.py"
done
mkdir -p /usr/local/sbin
for n in {names}; do printf '%s' '{shim}' > /usr/local/sbin/$n && chmod 755 /usr/local/sbin/$n; done
true
""".replace("/tests ", "")
