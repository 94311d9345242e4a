"""The judge of a scaffolded report task in real containers: what agents leave, and reports in other words."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import AuthorRunner

pytestmark = pytest.mark.engine

#: Nothing that a judge could read a report from; none of it may be more than a score of 0.
DECOYS = {
    "dangling-link": "ln -s /nowhere/at/all /app/report.md",
    "link-to-a-report": "cp $here/../../report.md /tmp/r.md; ln -s /tmp/r.md /app/report.md",
    "directory": "mkdir -p /app/report.md/inside",
    "huge": "cp $here/../../report.md /app/report.md; head -c 20000000 /dev/zero | tr '\\0' x >> /app/report.md",
    "binary": "cp $here/../../report.md /app/report.md; printf '\\0\\1\\2' >> /app/report.md",
    "fifo": "mkfifo /app/report.md",
    "card-ids": "printf -- '- DSH-0.1.2-A1-%02d\\n' 1 2 3 4 5 > /app/report.md",
}
VARIANTS = {
    "chinese": """1. `index.js` 注入的 `tasks` 服务已被移除，应改用 `jobs`。

2. `httpServer` 不再提供，应写 `webServer`。
""",
    "negated": """- Do not keep `tasks` in index.js; nothing but `jobs` will do.
- Never `httpServer`, always `webServer`.
""",
    "table": """| what | becomes |
|---|---|
| tasks in index.js | jobs |
| httpServer in index.js | webServer |
""",
}


def write(folder: Path, script: str, declaration: str) -> None:
    folder.mkdir(parents=True)
    solve = folder / "solve.sh"
    solve.write_text(f'#!/bin/bash\nset -eu\nhere=$(cd "$(dirname "$0")" && pwd)\n{script}\n', "utf-8")
    solve.chmod(0o755)
    kind = "decoy" if folder.parent.name == "decoys" else "variant"
    (folder / f"{kind}.toml").write_text(declaration, "utf-8")


def test_the_scaffolded_judge(author: AuthorRunner, suite_root: Path) -> None:
    made = author("new", "--series", "S", "--slug", "graded", "--json", cwd=suite_root)
    task = Path(json.loads(made.out)["path"])
    solution = (task if task.is_absolute() else suite_root / task) / "solution"
    for name, script in DECOYS.items():
        write(solution / "decoys" / name, script, 'max_score = 0\nwhy = "it is no report"\n')
    for name, report in VARIANTS.items():
        script = f"cat > /app/report.md <<'END'\n{report}END"
        write(solution / "variants" / name, script, 'why = "the same findings in another form"\n')
    ran = author("oracle-check", "S17", "--matrix", "--budget", "0", "--json", cwd=suite_root)
    assert ran.out, ran.err
    (result,) = json.loads(ran.out)["results"]
    scores = {trial["name"]: (trial["verdict"], trial["score"]) for trial in result["trials"]}
    assert {name: scores[f"decoy:{name}"] for name in DECOYS} == dict.fromkeys(DECOYS, ("pass", 0))
    assert {name: scores[f"variant:{name}"] for name in VARIANTS} == dict.fromkeys(VARIANTS, ("pass", 100))
    assert scores["prompt-copy"][1] <= 20
    assert scores["empty-report"][1] == 0
    reasons = {trial["name"]: " ".join(trial["reasons"]) for trial in result["trials"]}
    assert "symbolic link" in reasons["decoy:dangling-link"]
    assert "is a directory" in reasons["decoy:directory"]
    assert "is binary" in reasons["decoy:binary"]
    assert "bytes, more than" in reasons["decoy:huge"]
