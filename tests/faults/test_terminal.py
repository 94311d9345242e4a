"""Nothing that a task, a card or a manifest holds is obeyed by a terminal."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from harbor_author.cli.main import main
from tests.faults.commands import make_suite
from tests.faults.injection import run

EVIL = "\x1b]0;owned\x07\x9b31m\u202egnp\x1b[2J"
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
COMMANDS = [
    ["list"], ["cards", "list"], ["cards", "show", "DSH-0.1.2-A3-01"], ["cards", "coverage"], ["validate"],
    ["fix", "--dry-run"], ["rename", "H23", "H23-other", "--dry-run"], ["manifest", "--check"],
    ["manifest", "--compare", "other.json"], ["publish", "H23"], ["proof", "show", "H23"], ["sync", "--check"],
    ["import", "..", "--dry-run"], ["vendor"], ["report"], ["retire", "H23", "--reason", EVIL], ["explain", EVIL],
    ["new", "--series", "H", "--title", EVIL], ["next-id", "--series", EVIL], ["validate", f"H23{EVIL}"],
]  # fmt: skip


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("terminal") / "suite"
    make_suite(root)
    (root / "references" / "cards.md").write_text(
        f"# Cards\n\n### DSH-0.1.2-A3-01: a {EVIL} title\n\n- type: {EVIL}\n- change: {EVIL}\n\n"
        f"### DSH-0.1.2-A3-02 {EVIL}\n\ntext {EVIL}\n"
    )
    task = root / "tasks" / "H23-first"
    (task / "environment" / "fixture" / f"H23{EVIL}").write_text(f"H23 {EVIL}\r\n")
    (task / "instruction.md").write_text(
        (task / "instruction.md").read_text() + f"\nDSH-9.9.9-A3-99 {EVIL}\n"
    )
    toml = (task / "task.toml").read_text()
    spelt = EVIL.encode("unicode_escape").decode().replace("\\x", "\\u00")
    (task / "task.toml").write_text(
        toml.replace('description = "', f'description = "{spelt}') + f'\n["{spelt}"]\na = 1\n'
    )
    (root / "other.json").write_text(
        json.dumps({"schema": "author/manifest/1", "tasks": {EVIL: {
            "name": EVIL, "version": dict.fromkeys(("definition", "environment", "fixture", "package"), EVIL),
            "baseline": None, "changes": [EVIL], "history": [], "retired": EVIL}}})
    )  # fmt: skip
    (task / "proof.json").write_text(
        json.dumps({"schema": EVIL, "verdict": EVIL, "trials": [{"name": EVIL}]})
    )
    assert run(["list"], root).status == 0
    return root


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments", COMMANDS, ids=lambda words: " ".join(words).encode("ascii", "replace").decode()
)
def test_no_command_prints_what_a_terminal_obeys(
    suite: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    monkeypatch.chdir(suite)
    monkeypatch.setattr(sys, "argv", ["author", *arguments])
    with pytest.raises(SystemExit):
        main()
    said = capsys.readouterr()
    found = CONTROL.search(said.out + said.err)
    assert found is None, (
        ascii((said.out + said.err)[max(0, found.start() - 60) : found.end() + 20]) if found else ""
    )
    assert "unforeseen" not in said.err
