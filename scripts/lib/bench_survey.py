"""Time and memory of `author survey` and `author extract` on generated repositories."""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

AUTHOR = [sys.executable, "-m", "harbor_author"]
PACKAGES = 40
FILES_A_PACKAGE = 15
SERVICES = ("tasks", "jobs", "httpServer", "webServer", "llm", "session")


def source(chance: random.Random, package: int, number: int) -> str:
    """A module of 2 to 12 KB; a third speak to the host."""
    lines = [f"import {{ helper{number} }} from './helper{number}.js'", ""]
    if number % 3 == 0:
        lines += [f"export const inject = ['{chance.choice(SERVICES)}', 'llm']", ""]
        lines += ["export function apply(ctx) {", f"  ctx.{chance.choice(SERVICES)}.list()", "}", ""]
    for index in range(chance.randrange(20, 120)):
        lines.append(f"export function step{index}(a, b) {{ // package {package}")
        lines.append(f"  return a * {chance.randrange(10_000)} + helper{number}(b, {index})\n}}")
    return "\n".join(lines) + "\n"


def manifest(package: int, version: int, host: int) -> str:
    return json.dumps(
        {
            "name": f"package-{package}",
            "version": f"1.{version}.0",
            "peerDependencies": {"@deepseek-ai/dsh-base": f"^0.1.{host}"},
            "dsh": {"bundle": {"patch": "cordis.patch.yml"}},
        },
        indent=2,
    )


def commits(count: int) -> Iterator[bytes]:
    """A `git fast-import` stream of so many commits: 1 to 4 files each, a twentieth with a manifest."""
    chance = random.Random(7)
    time_s = 1_600_000_000
    texts = {
        f"packages/p{package}/src/m{number}.js": source(chance, package, number)
        for package in range(PACKAGES)
        for number in range(FILES_A_PACKAGE)
    }
    files: dict[str, str] = dict(texts)
    files |= {f"packages/p{package}/package.json": manifest(package, 0, 0) for package in range(PACKAGES)}
    subjects = (
        "fix: rounding",
        "feat: a step",
        "refactor: names",
        "chore: bump",
        "docs: words",
        "修复：取整",
    )
    for index in range(count):
        time_s += chance.randrange(600, 20_000)
        message = f"{chance.choice(subjects)} {index}".encode()
        header = f"commit refs/heads/main\ncommitter A <a@b.test> {time_s} +0000\ndata {len(message)}\n"
        yield header.encode() + message + b"\n"
        for path, text in files.items():
            data = text.encode()
            yield f"M 100644 inline {path}\ndata {len(data)}\n".encode() + data + b"\n"
        files = {}
        for path in chance.sample(sorted(texts), chance.randrange(1, 5)):
            lines = texts[path].split("\n")
            lines[chance.randrange(len(lines) // 2, len(lines) - 1)] = (
                f"export const changed{index} = {index}"
            )
            if chance.random() < 0.01:
                lines[2] = f"export const inject = ['{chance.choice(SERVICES)}']"
            texts[path] = files[path] = "\n".join(lines)
        if chance.random() < 0.05:
            package = chance.randrange(PACKAGES)
            files[f"packages/p{package}/package.json"] = manifest(package, index, chance.randrange(4))


def make_repository(path: Path, count: int) -> None:
    path.mkdir()
    subprocess.run(["git", "-C", path, "init", "--quiet", "--bare", "--initial-branch=main"], check=True)
    with subprocess.Popen(["git", "-C", path, "fast-import", "--quiet"], stdin=subprocess.PIPE) as process:
        assert process.stdin is not None
        for part in commits(count):
            process.stdin.write(part)
    assert process.returncode == 0


def make_large(path: Path, megabytes: int) -> None:
    """Two commits on a tree of so many MB: code, documents and binaries of 25 KB."""
    chance = random.Random(3)
    path.mkdir()
    subprocess.run(["git", "-C", path, "init", "--quiet", "--bare", "--initial-branch=main"], check=True)
    entry = "export const inject = ['{}']\nexport function apply(ctx) {{ ctx.{}.list() }}\n"
    files: dict[str, bytes] = {
        "package.json": json.dumps({"name": "large", "license": "MIT", "main": "index.js"}).encode(),
        "index.js": entry.format("tasks", "tasks").encode(),
    }
    for index in range(megabytes * 40):
        kind = index % 4
        if kind == 0:
            files[f"assets/a{index}.bin"] = chance.randbytes(25_000)
        elif kind == 1:
            files[f"docs/d{index}.md"] = (f"Words about part {index} of it.\n" * 900).encode()
        else:
            text = source(chance, index, index % 7)
            files[f"src/s{index}.js"] = (text * (25_000 // len(text) + 1)).encode()
    parts = [b"commit refs/heads/main\ncommitter A <a@b.test> 1600000000 +0000\ndata 5\nstart\n"]
    parts += [
        f"M 100644 inline {name}\ndata {len(data)}\n".encode() + data + b"\n" for name, data in files.items()
    ]
    after = entry.format("jobs", "jobs").encode()
    parts.append(b"commit refs/heads/main\ncommitter A <a@b.test> 1600090000 +0000\ndata 4\nstep\n")
    parts.append(f"M 100644 inline index.js\ndata {len(after)}\n".encode() + after + b"\n")
    subprocess.run(["git", "-C", path, "fast-import", "--quiet"], input=b"".join(parts), check=True)


def measured(command: list[str], cwd: Path) -> tuple[float, float, float]:
    """Seconds, processor seconds of all processes, and the peak memory in MB of the largest."""
    probe = (
        "import resource, subprocess, sys\n"
        "done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL)\n"
        "used = resource.getrusage(resource.RUSAGE_CHILDREN)\n"
        "print(used.ru_maxrss, used.ru_utime + used.ru_stime)\n"
        "sys.exit(done.returncode)\n"
    )
    began = time.monotonic()
    done = subprocess.run([sys.executable, "-c", probe, *command], cwd=cwd, check=True, capture_output=True)
    peak, used = done.stdout.split()
    return time.monotonic() - began, float(used), int(peak) / 1024


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--commits", type=int, default=13_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-survey-") as folder:
        work = Path(folder)
        make_repository(work / "small", options.commits // 10)
        make_repository(work / "full", options.commits)
        make_large(work / "large", 50)
        suite = work / "suite"
        (suite / "tasks").mkdir(parents=True)
        (suite / "author.toml").write_text('[suite]\nname = "bench"\n')
        survey = [*AUTHOR, "survey", "--json"]
        extract = [*AUTHOR, "extract", str(work / "large"), "main", "--series", "M"]
        extract += ["--accept-licence", "bench:generated"]
        small = [measured([*survey, str(work / "small")], suite) for _ in range(options.rounds)]
        full = [measured([*survey, str(work / "full")], suite) for _ in range(options.rounds)]
        large = [measured(extract, suite) for _ in range(options.rounds)]
    figures = {
        "commits": options.commits,
        "survey_s": min(seconds for seconds, _, _ in full),
        "survey_cpu_s": min(used for _, used, _ in full),
        "survey_mb": max(memory for _, _, memory in full),
        "survey_mb_of_a_tenth": max(memory for _, _, memory in small),
        "extract_50_mb_s": min(seconds for seconds, _, _ in large),
        "extract_50_mb_cpu_s": min(used for _, used, _ in large),
        "extract_50_mb_mb": max(memory for _, _, memory in large),
    }
    held = {
        "survey within 15 s": figures["survey_s"] <= 15 * options.commits / 13_000,
        "survey within 64 MB": figures["survey_mb"] <= 64,
        "extract within 3 s": figures["extract_50_mb_s"] <= 3,
    }
    if options.json:
        print(json.dumps({"schema": "author/bench-survey/1", **figures, "held": held}, indent=2))
    else:
        for name, value in figures.items():
            print(f"{name:24} {value:10.1f}")
        for name, holds in held.items():
            print(f"{'held' if holds else 'MISSED':8} {name}")
    return 0 if all(held.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
