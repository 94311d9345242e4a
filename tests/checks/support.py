"""A sound task outside of any suite and one inside a suite, and a hand to change them."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from harbor_author.suite import Suite, Task, contract_block, find_suite

TOML = """\
schema_version = "1.4"

[task]
name = "demo/word-count"
description = "Count the words of a text"

[agent]
timeout_sec = 300.0

[verifier]
timeout_sec = 120.0

[environment]
cpus = 1
memory_mb = 512
network_mode = "no-network"
"""
INSTRUCTION = """\
Count the words of every line of /app/data/poem.txt and write the numbers to /app/counts.txt, one a line.
Leave /app/data/poem.txt as it is.
"""
DOCKERFILE = """\
FROM debian:bookworm-20260101
WORKDIR /app
COPY data/ /app/data/
"""
SOLVE = """\
#!/bin/bash
set -euo pipefail
awk '{ print NF; total += NF } END { print "total " total > "/dev/stderr" }' /app/data/poem.txt > /app/counts.txt
"""
TEST = """\
#!/bin/bash
mkdir -p /logs/verifier
wanted=$(awk '{ print NF }' /tests/poem.txt)
if [ "$(cat /app/counts.txt 2>/dev/null)" = "$wanted" ]; then
  echo 1 > /logs/verifier/reward.txt
else
  echo 0 > /logs/verifier/reward.txt
fi
"""
POEM = "a rose is a rose\nand nothing else but that\n\nso it goes\n"


@dataclass(frozen=True)
class Draft:
    """A task directory to be changed; paths are relative to it."""

    root: Path

    def write(self, path: str, content: str | bytes, mode: int = 0o644) -> None:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content if isinstance(content, bytes) else content.encode())
        target.chmod(mode)

    def script(self, path: str, content: str) -> None:
        self.write(path, content, 0o755)

    def judge(self, body: str) -> None:
        """Replace test.sh by its first line and `body`."""
        self.script("tests/test.sh", f"#!/bin/bash\n{body}")

    def before(self, line: str) -> None:
        """Put a line into test.sh before it decides."""
        self.change("tests/test.sh", "wanted=", f"{line}\nwanted=")

    def change(self, path: str, old: str, new: str) -> None:
        target = self.root / path
        text = target.read_bytes().decode()
        assert old in text, (path, old)
        target.write_bytes(text.replace(old, new, 1).encode())

    def append(self, path: str, text: str) -> None:
        target = self.root / path
        target.write_bytes(target.read_bytes() + text.encode())

    def remove(self, path: str) -> None:
        (self.root / path).unlink()

    def link(self, path: str, target: str) -> None:
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).symlink_to(target)

    def git(self, path: str, *arguments: str) -> str:
        return git(self.root / path, *arguments)


def git(directory: Path, *arguments: str) -> str:
    """Run git without the configuration of whoever runs the tests."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    environment |= {
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_CONFIG_SYSTEM": "/dev/null",
        **{
            f"GIT_{who}_{what}": "t@example.invalid"
            for who in ("AUTHOR", "COMMITTER")
            for what in ("NAME", "EMAIL")
        },
    }
    done = subprocess.run(
        ["git", "-C", str(directory), *arguments], env=environment, check=True, capture_output=True, text=True
    )
    return done.stdout


def sound_task(root: Path) -> Draft:
    """A task that no rule has anything against."""
    draft = Draft(root)
    draft.write("task.toml", TOML)
    draft.write("instruction.md", INSTRUCTION)
    draft.write("environment/Dockerfile", DOCKERFILE)
    draft.write("environment/data/poem.txt", POEM)
    draft.write("tests/poem.txt", POEM)
    draft.script("tests/test.sh", TEST)
    draft.script("solution/solve.sh", SOLVE)
    return draft


AUTHOR_TOML = """\
[suite]
name = "demo-suite"

[host]
image = "node:24-bookworm"
pnpm = "11.24.0"
dsh = "0.1.2-alpha.2"
source = "npm"

[registry]
reserved = ["H1-H6"]
retired = { H7 = "answer leaked" }
"""
CARD_FIELDS = "".join(
    f"- **{name}**: {value}\n"
    for name, value in {
        "Type": "breaking",
        "Applies to": "plugins",
        "Touch points": "inject",
        "Action level": "required",
        "Symptoms": "pending",
        "Migration recipe": "rename",
        "Verification": "boot",
        "Source": "https://example.org/commit/1",
    }.items()
)
CARD_HEAD = """\
---
kind: dsh-version-card-set
schema: 1
from: dsh-v0.1.1
to: dsh-v0.1.2-alpha.1
status: reviewed
coverage: curated
cardCount: 3
idPrefix: DSH-0.1.2-A1
verifiedAt: 2026-01-01
---
# Cards
"""
CARDS = CARD_HEAD + "".join(
    f"\n### DSH-0.1.2-A1-{number} · Change {number}\n\n{CARD_FIELDS}" for number in ("01", "02", "04")
)
SUITE_TOML = """\
schema_version = "1.4"

[task]
name = "demo-suite/h9"
description = "A trap"

[metadata]
execution_contract = "BENCHMARK-AUTH-v1"
mode = "mutable"
cards = ["DSH-0.1.2-A1-01"]

[agent]
timeout_sec = 900.0

[verifier]
timeout_sec = 600.0

[environment]
cpus = 1
memory_mb = 2048
network_mode = "public"
"""
SUITE_DOCKERFILE = """\
FROM node:24-bookworm
RUN npm install --global pnpm@11.24.0 && npm install --global @deepseek-ai/dsh@0.1.2-alpha.2
WORKDIR /app
COPY fixture/ /app/fixture/
RUN git init --quiet /app && git -C /app add fixture && git -C /app commit --quiet -m baseline
"""
SUITE_TEST = """\
#!/bin/bash
set -u
mkdir -p /logs/verifier
if reward=$(node /tests/judge.mjs | tail -n 1 | node /tests/share.mjs); then
  echo "$reward" > /logs/verifier/reward.txt
else
  echo 0 > /logs/verifier/reward.txt
fi
"""
JUDGE = """\
// H9: what the boot graph holds
import fs from "node:fs";
const plan = {
  checks: [{ id: "gone", points: 60 }, { id: "entry", points: 40 }],
  steps: [{ id: "add", budget_s: 180 }, { id: "boot", budget_s: 150, times: 2 }],
  time_limit_s: 600,
};
const profile = "bench-h9-trap";
const gone = !fs.existsSync("/app/fixture/old.json");
console.log(JSON.stringify({ score: gone ? 100 : 0, max: 100, reasons: [profile, plan.checks.length] }));
"""
SHARE = """\
const line = (await new Response(process.stdin).text()).trim();
console.log(JSON.parse(line).score / 100);
"""
SOLUTION_MD = """\
# H9: A trap

## Reference Changes

- `old.json` is removed: DSH-0.1.2-A1-01

## The Point (one sentence)

A green boot proves nothing.

## Grading Boundary

- Not graded: looks.

## Warning

Renaming the file is as right.
"""
SUITE_INSTRUCTION = (
    "The plugin in /app/fixture fell out of the host's page after the upgrade. Bring it back.\n"
)


def sound_suite(root: Path) -> Draft:
    """A suite at `root` with one task that no rule has anything against."""
    root.mkdir(parents=True, exist_ok=True)
    (root / "author.toml").write_text(AUTHOR_TOML)
    (root / "references").mkdir()
    (root / "references/v0.1.2-alpha.1.md").write_text(CARDS)
    draft = Draft(root / "tasks/H9-trap")
    draft.write("task.toml", SUITE_TOML)
    draft.write("instruction.md", f"{SUITE_INSTRUCTION}\n{contract_block('mutable')}")
    draft.write("README.md", "# H9: A trap\n\nSee [the cards](../../references/v0.1.2-alpha.1.md).\n")
    draft.write("environment/Dockerfile", SUITE_DOCKERFILE)
    draft.write("environment/fixture/README.md", "Exam material only; not to be published.\n\n# plugin\n")
    draft.write("environment/fixture/package.json", '{\n  "name": "plugin",\n  "private": true\n}\n')
    draft.write("environment/fixture/old.json", '{"dsh": {"entry": "./old-entry.js"}}\n')
    draft.script("tests/test.sh", SUITE_TEST)
    draft.write("tests/judge.mjs", JUDGE)
    draft.write("tests/share.mjs", SHARE)
    draft.script("solution/solve.sh", "#!/bin/bash\nset -eu\nrm -f /app/fixture/old.json\n")
    draft.write("solution/SOLUTION.md", SOLUTION_MD)
    return draft


def task_at(path: Path, suite: Suite | None = None) -> Task:
    return Task(path.resolve(), suite)


def suite_task(draft: Draft) -> Task:
    """The task of a `sound_suite`, whatever its directory is called by now."""
    suite = find_suite(draft.root.parent.parent)
    return next(task for task in suite.tasks() if task.path == draft.root.resolve())


Mutation = Callable[[Draft], None]
