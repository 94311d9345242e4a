"""Measure `author report` on a suite of many tasks: time to make it, its size, and time to open it in Chromium.

usage: scripts/bench-report [--tasks 200] [--no-browser]

The tasks are scaffolded ones with a current receipt each: 20 trials and an ablation of 10 changes, as our own have.
Targets for 200 tasks: made in 3 s, 5 MB, opened in 1 s. Exits 1 when one is missed; run it on an idle machine.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY))

from harbor_author.proof import receipts  # noqa: E402
from harbor_author.scaffold import TaskRequest, new_task  # noqa: E402
from harbor_author.suite import find_suite  # noqa: E402
from tests.report.scenes import trial  # noqa: E402

MADE_S, SIZE_MB, OPENED_S = 3.0, 5.0, 1.0


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--tasks", type=int, default=200)
    parser.add_argument("--no-browser", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="author-bench-") as folder:
        root = Path(folder) / "suite"
        make_suite(root, arguments.tasks)
        page = Path(folder) / "report.html"
        found: list[float] = []
        for name in ("first", "second"):
            wall_s, cpu_s = run(["report", "--suite", root, "--output", page], Path(folder))
            print(f"made, {name} time   {wall_s:6.2f} s, {cpu_s:.2f} s of processors (at most {MADE_S:g} s)")
            found.append(wall_s)
        size_mb = page.stat().st_size / 1e6
        print(f"size               {size_mb:6.2f} MB (at most {SIZE_MB:g} MB)")
        kept = min(found) <= MADE_S and size_mb <= SIZE_MB
        if not arguments.no_browser:
            opened_s = opened(page, Path(folder) / "profile")
            print(f"opened in Chromium {opened_s:6.2f} s (at most {OPENED_S:g} s)")
            kept = kept and opened_s <= OPENED_S
    return 0 if kept else 1


def make_suite(root: Path, count: int) -> None:
    """One task scaffolded and copied under other numbers, each with a receipt that holds."""
    (root / "tasks").mkdir(parents=True)
    (root / "references").mkdir()
    (root / "author.toml").write_text(
        '[suite]\nname = "bench"\n\n[host]\nsource = "pypi"\ndsh = "0.1.2-alpha.3"\n'
    )
    suite = find_suite(root)
    first = new_task(suite, TaskRequest(series="H", slug="bench", title="A task of the bench")).path
    for number in range(2, count + 1):
        path = root / "tasks" / f"H{number}-bench"
        shutil.copytree(first, path)
        for file in path.rglob("*"):
            if file.is_file():
                text = file.read_text(encoding="utf-8")
                file.write_text(
                    text.replace("H1", f"H{number}").replace("/h1", f"/h{number}"), encoding="utf-8"
                )
    trials = [trial("untouched", 0.0, "0"), trial("oracle", 1.0, "1", why="the reference solution")]
    trials += [trial(f"oracle#{number}", 1.0, "1", why="the reference solution") for number in range(2, 6)]
    trials += [
        trial(name, 0.0, "0", why="what an agent may try") for name in ("touched", "forged", "planted")
    ]
    trials += [
        trial(
            f"decoy:does-the-half-{n}",
            n / 10,
            "at most 0.7",
            why="It migrates one of the calls and leaves the rest.",
        )
        for n in range(6)
    ]
    trials += [
        trial(f"variant:another-way-{number}", 1.0, "1", why="It does it otherwise.") for number in range(5)
    ]
    changes = {
        f"lib/part-{n}.js": {"state": "killed", "reward": n / 20, "by": ["boots", "keeps-settings"]}
        for n in range(10)
    }
    ablation = {"killed": 10, "total": 10, "changes": changes}
    for task in find_suite(root).tasks():
        inputs = receipts.gather_inputs(task, {})
        receipts.write_receipt(task, inputs, trials, verdict="pass", cause=None, extra={"ablation": ablation})


def run(arguments: list[object], cwd: Path) -> tuple[float, float]:
    """Seconds of wall time and of processors that the command took."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "harbor_author", *map(str, arguments)],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        stdout=subprocess.DEVNULL,
        check=True,
    )
    wall_s, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall_s, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def opened(page: Path, profile: Path) -> float:
    """Seconds from the navigation to the end of the load event, the best of three."""
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or "chromium"
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
                     "--disable-background-networking", "--disable-component-update", "--disable-sync",
                     f"--user-data-dir={profile}"):  # fmt: skip
        options.add_argument(argument)
    driver = webdriver.Chrome(
        options=options, service=webdriver.ChromeService(executable_path=shutil.which("chromedriver"))
    )
    try:
        found = []
        for _ in range(3):
            driver.get("about:blank")
            driver.get(page.as_uri())
            found.append(
                driver.execute_script("return performance.getEntriesByType('navigation')[0].loadEventEnd")
                / 1000
            )
        return min(found)
    finally:
        driver.quit()


if __name__ == "__main__":
    sys.exit(main())
