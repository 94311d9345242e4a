"""`author extract`: the reference is upstream's tree after, the fixture its tree before, and little else travels."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from harbor_author.errors import AuthorError
from harbor_author.mining import Extracted, ExtractRequest, MiningError, extract_task
from harbor_author.scaffold import TaskRequest
from harbor_author.suite import Task, find_suite
from harbor_author.suite.task_facts import read_facts
from tests.conftest import REPOSITORY, AuthorRunner
from tests.mining.history import File, History, git
from tests.mining.replay import LICENSE, README, entry, make_replay, manifest
from tests.mining.trees import provenance, solved, tree_id, upstream_again

BASE: dict[str, File] = {
    "package.json": manifest(),
    "LICENSE": LICENSE,
    "README.md": README,
    "src/index.js": entry(inject=["tasks"], body="ctx.tasks.list()", helper="./format.js"),
    "src/format.js": "export const line = (a, b) => `${a}: ${b}`\n",
}
MIGRATED: dict[str, File] = {
    "src/index.js": entry(inject=["jobs"], body="ctx.jobs.list()", helper="./format.js")
}


def repository(path: Path, *states: dict[str, File], base: dict[str, File] | None = None) -> dict[int, str]:
    """A repository whose commits are `states`, on top of `base`."""
    history = History(path)
    history.commit("start", BASE | (base or {}))
    for index, state in enumerate(states, start=1):
        history.commit(f"step {index}", state)
    return history.write()


def extracted(
    suite: Path, path: Path, commit: str, *, series: str = "M", dry_run: bool = False, **options: Any
) -> Extracted:
    """Extract into a suite."""
    return extract_task(
        find_suite(suite),
        ExtractRequest(repository=path, commit=commit, **options),
        TaskRequest(series=series, cards=options.get("cards", ())),
        dry_run=dry_run,
    )


def test_every_kind_of_change_gives_upstreams_tree(tmp_path: Path, suite_root: Path) -> None:
    before: dict[str, File] = {
        "kept.txt": "kept\n",
        "changed.txt": "old\n",
        "removed.txt": "gone\n",
        "deep/er/removed.txt": "gone\n",
        "moved-from.txt": "moved content, the same on both sides\n",
        "no-newline.txt": "old",
        "crlf.txt": "a\r\nb\r\n",
        "binary.bin": bytes(range(256)),
        "mode.sh": "#!/bin/sh\n",
        "unmode.sh": ("100755", "#!/bin/sh\n"),
        "file-to-folder": "a file\n",
        "folder-to-file/inside.txt": "inside\n",
        "empty.txt": "",
        "-dash.txt": "dash\n",
        "sp ace $HOME `x` 'q' \"d\".txt": "old\n",
        "ünïcode/日本.txt": "old\n",
        "case/Name.txt": "x\n",
    }
    after: dict[str, File] = {
        "changed.txt": "new\n",
        "removed.txt": None,
        "deep/er/removed.txt": None,
        "moved-from.txt": None,
        "moved/to.txt": "moved content, the same on both sides\n",
        "no-newline.txt": "new, still without",
        "crlf.txt": "a\r\nc\r\n",
        "binary.bin": bytes(reversed(range(256))),
        "mode.sh": ("100755", "#!/bin/sh\n"),
        "unmode.sh": ("100644", "#!/bin/sh\n"),
        "file-to-folder": None,
        "file-to-folder/now.txt": "inside\n",
        "folder-to-file/inside.txt": None,
        "folder-to-file": "a file\n",
        "empty.txt": "no longer",
        "new-empty.txt": "",
        "-dash.txt": "dashed\n",
        "sp ace $HOME `x` 'q' \"d\".txt": "new\n",
        "ünïcode/日本.txt": "new\n",
        "case/Name.txt": None,
        "case/name.md": "x\n",
    }
    path = tmp_path / "r"
    marks = repository(path, after | MIGRATED, base=before)
    task = extracted(suite_root, path, marks[2]).path
    result = solved(task, tmp_path / "work")
    upstream_again(task, result, path, marks[2])
    assert tree_id(result, tmp_path) == git(path, "rev-parse", f"{marks[2]}^{{tree}}").decode().strip()


@pytest.mark.parametrize("seed", range(4))
def test_random_changes_give_upstreams_tree(seed: int, tmp_path: Path, suite_root: Path) -> None:
    chance = random.Random(seed)
    names = [
        f"{folder}{stem}{suffix}"
        for folder in ("", "a/", "a/b/", "c d/")
        for stem in "xyz"
        for suffix in ("", ".js", ".bin")
    ]

    def content() -> File:
        data = (
            chance.randbytes(chance.randrange(40))
            if chance.random() < 0.3
            else f"{chance.random()}\n".encode()
        )
        return ("100755" if chance.random() < 0.2 else "100644", data)

    before: dict[str, File] = {name: content() for name in names if chance.random() < 0.6}
    after: dict[str, File] = {
        name: None if name in before and chance.random() < 0.4 else content()
        for name in names
        if chance.random() < 0.5
    }
    # A name cannot be a file and a folder at once: `a/b` only when nothing lies in it.
    path = tmp_path / "r"
    marks = repository(
        path,
        {name: value for name, value in after.items() if value or name in before} | MIGRATED,
        base=before,
    )
    task = extracted(suite_root, path, marks[2]).path
    result = solved(task, tmp_path / "work")
    upstream_again(task, result, path, marks[2])
    assert tree_id(result, tmp_path) == git(path, "rev-parse", f"{marks[2]}^{{tree}}").decode().strip()


def test_digests_in_provenance_are_upstreams(tmp_path: Path, suite_root: Path) -> None:
    path = tmp_path / "r"
    marks = repository(path, MIGRATED)
    task = extracted(suite_root, path, marks[2]).path
    record = provenance(task)
    assert record["commits"] == {"before": marks[1], "after": marks[2], "migration": [marks[2]]}
    assert record["repository"]["url"] == "https://github.com/example/board"
    assert (task / "provenance" / "LICENSE").read_text() == LICENSE
    assert (task / "provenance" / "package.json").read_text() == manifest()
    edited = {edit["path"] for edit in record["edited"]}
    changed = {
        entry["path"].removeprefix("environment/fixture/")
        for entry in record["fixture"]
        if "upstream" in entry
    }
    assert edited == changed == {"package.json", "README.md"}


def test_the_fixture_is_private_and_says_so(tmp_path: Path, suite_root: Path) -> None:
    odd = (
        '{"name":"board",\r\n\t"version" : "1.0.0" ,\r\n\t"license":"MIT", "nested": {"private": false}}\r\n'
    )
    path = tmp_path / "r"
    marks = repository(path, MIGRATED, base={"package.json": odd, "README.md": "# b\r\n"})
    fixture = extracted(suite_root, path, marks[2]).path / "environment" / "fixture"
    text = (fixture / "package.json").read_bytes().decode()
    assert json.loads(text)["private"] is True
    assert text.replace(',\r\n\t"private": true', "") == odd
    assert (fixture / "README.md").read_bytes() == b"Exam material only; not to be published.\r\n\r\n# b\r\n"


def test_what_must_not_travel_stays_behind_and_is_named(tmp_path: Path, suite_root: Path) -> None:
    behind: dict[str, File] = {
        ".github/workflows/ci.yml": "on: push\n",
        ".gitlab-ci.yml": "x: y\n",
        ".gitattributes": "*.js filter=lfs\n",
        "src/.gitignore": "*.js\n",
        ".npmrc": "//registry.test/:_authToken=npm_abcdefghijklmnopqrstuvwxyz0123456789\n",
        "CLAUDE.md": "be quick\n",
        "tests/index.test.js": "// x\n",
        "link": ("120000", "src/index.js"),
        "module": ("160000", "1" * 40),
        "model.bin": "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n",
        "big.txt": "x" * (1024 * 1024 + 1),
        "node_modules/dep/index.js": "1\n",
    }
    path = tmp_path / "r"
    marks = repository(path, MIGRATED, base=behind)
    task = extracted(suite_root, path, marks[2]).path
    fixture = task / "environment" / "fixture"
    assert {file.relative_to(fixture).as_posix() for file in fixture.rglob("*") if file.is_file()} == set(
        BASE
    )
    assert {item["path"] for item in provenance(task)["left_out"]} == set(behind)


def test_tests_travel_when_asked_for(tmp_path: Path, suite_root: Path) -> None:
    path = tmp_path / "r"
    marks = repository(
        path, MIGRATED, base={"tests/a.test.js": "1\n", "tests/deep/b.js": "2\n", "e2e/c.js": "3\n"}
    )
    task = extracted(suite_root, path, marks[2], wanted=("tests/**",)).path
    kept = {file.name for file in (task / "environment" / "fixture").rglob("*.js")}
    assert {"a.test.js", "b.js"} <= kept
    assert "c.js" not in kept


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ({"l": ("120000", "a")}, {"l": ("120000", "b")}, "symbolic link"),
        ({"m": ("160000", "1" * 40)}, {"m": ("160000", "2" * 40)}, "submodule"),
        ({}, {"data.bin": "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n"}, "Git LFS"),
        ({"A.txt": "1"}, {"a.txt": "2"}, "case does not count"),
        ({}, {"e\u0301.txt": "2"}, "NFC"),
    ],
)
def test_what_a_task_cannot_hold_is_refused(
    before: dict[str, File],
    after: dict[str, File],
    words: str,
    tmp_path: Path,
    suite_root: Path,
) -> None:
    marks = repository(tmp_path / "r", after | MIGRATED, base=before)
    with pytest.raises(MiningError, match=words):
        extracted(suite_root, tmp_path / "r", marks[2])
    assert list((suite_root / "tasks").iterdir()) == []


def test_secrets_and_addresses_are_replaced_on_both_sides(tmp_path: Path, suite_root: Path) -> None:
    token = "ghp_" + "a1B2" * 9
    key = "-----BEGIN RSA PRIVATE KEY-----\nMIIB\n-----END RSA PRIVATE KEY-----\n"
    marks = repository(
        tmp_path / "r",
        MIGRATED | {"b.txt": f"token {token}, call joe.doe@corp.com\n"},
        base={"a.js": f"const t = '{token}'\n", "k.txt": key, "url.txt": "https://user:hunter22@host.com/\n"},
    )
    task = extracted(suite_root, tmp_path / "r", marks[2]).path
    everything = b"".join(file.read_bytes() for file in task.rglob("*") if file.is_file())
    for private in (token, "MIIB", "joe.doe", "hunter22"):
        assert private.encode() not in everything
    assert (task / "environment/fixture/a.js").read_text() == "const t = 'REDACTED'\n"
    assert (task / "environment/fixture/k.txt").read_bytes().count(b"\n") == key.count("\n")
    kinds = {edit["path"]: edit["what"] for edit in provenance(task)["edited"]}
    assert kinds["a.js"] == "line 1: github token replaced"
    assert "e-mail" in kinds["b.txt"] or "token" in kinds["b.txt"]


HINTS: dict[str, File] = {
    "CHANGELOG.md": "# Changes\n\n- next: use webServer and `onJobDone`\n- older\n",
    "src/other.js": "export const x = 1 // becomes webServer\n/* the webServer\n   comes */\n"
    "export const y = '// webServer'\n",
}
WITH_NAMES: dict[str, File] = {
    "src/index.js": entry(inject=["webServer"], body="ctx.webServer.onJobDone()", helper="./format.js")
}


def test_names_of_the_after_state_are_reported(tmp_path: Path, suite_root: Path) -> None:
    marks = repository(tmp_path / "r", WITH_NAMES, base=HINTS)
    found = extracted(suite_root, tmp_path / "r", marks[2], dry_run=True).extraction
    hints = {(hint.path, hint.line, hint.name) for hint in found.hints}
    assert hints == {
        ("CHANGELOG.md", 3, "webServer"),
        ("CHANGELOG.md", 3, "onJobDone"),
        ("src/other.js", 1, "webServer"),
        ("src/other.js", 2, "webServer"),
    }


def test_scrub_removes_them_and_the_reference_does_not_bring_them_back(
    tmp_path: Path, suite_root: Path
) -> None:
    marks = repository(tmp_path / "r", WITH_NAMES, base=HINTS)
    task = extracted(suite_root, tmp_path / "r", marks[2], scrub=True).path
    fixture = task / "environment" / "fixture"
    assert (fixture / "CHANGELOG.md").read_text() == "# Changes\n\n- older\n"
    assert (fixture / "src/other.js").read_text() == "export const x = 1\nexport const y = '// webServer'\n"
    result = solved(task, tmp_path / "work")
    assert (result / "CHANGELOG.md").read_text() == "# Changes\n\n- older\n"
    assert "webServer" in (result / "src/index.js").read_text()


def test_the_score_of_its_judge_can_be_read_from_the_text(tmp_path: Path, suite_root: Path) -> None:
    """A register shows it: each touch point beside the checks on the host, 100 together."""
    marks = repository(tmp_path / "r", MIGRATED)
    task = extracted(suite_root, tmp_path / "r", marks[2]).path
    breakdown = read_facts(Task(task, find_suite(suite_root))).breakdown
    assert sum(float(points) for _, points in breakdown) == 100
    judge = (task / "tests/judge.mjs").read_text()
    assert [id_ for id_, _ in breakdown] == re.findall(r'\bid: "([\w-]+)",\s+points: ', judge)
    assert len(breakdown) > 1
    (task / "tests/judge.mjs").write_text(judge.replace("const TOUCH_POINTS", "const OTHERS"))
    assert read_facts(Task(task, find_suite(suite_root))).breakdown == (), "a part is worse than nothing"


def test_a_corridor_with_its_trap(tmp_path: Path, suite_root: Path) -> None:
    half: dict[str, File] = {
        "src/index.js": entry(inject=["jobs"], body="ctx.tasks.list()", helper="./format.js")
    }
    marks = repository(tmp_path / "r", half, MIGRATED)
    task = extracted(suite_root, tmp_path / "r", marks[3], first=marks[2], series="H", trap=True).path
    assert provenance(task)["commits"] == {
        "before": marks[1],
        "after": marks[3],
        "migration": [marks[2], marks[3]],
    }
    halfway = solved(task, tmp_path / "half", solution="solution/decoys/halfway")
    assert (halfway / "src/index.js").read_text() == half["src/index.js"]
    whole = solved(task, tmp_path / "whole")
    assert (whole / "src/index.js").read_text() == MIGRATED["src/index.js"]
    assert "max_score = 40" in (task / "solution/decoys/halfway/decoy.toml").read_text()
    assert "judge.cap(40" in (task / "tests/judge.mjs").read_text()


def test_a_folder_of_a_repository(tmp_path: Path, suite_root: Path) -> None:
    inside: dict[str, File] = {
        f"packages/board/{path}": content for path, content in BASE.items() if path != "LICENSE"
    }
    moved: dict[str, File] = {f"packages/board/{path}": content for path, content in MIGRATED.items()}
    path = tmp_path / "r"
    marks = repository(path, moved | {"other.txt": "1\n"}, base=inside)
    made = extracted(suite_root, path, marks[2], subdir="packages/board/")
    assert "1 changed files lie outside packages/board/ and stay behind: other.txt" in made.extraction.remarks
    task = made.path
    assert (task / "environment/fixture/LICENSE").read_text() == LICENSE
    result = solved(task, tmp_path / "work")
    upstream_again(task, result, path, marks[2], subdir="packages/board")
    assert tree_id(result, tmp_path) == git(path, "rev-parse", f"{marks[2]}:packages/board").decode().strip()


@pytest.mark.parametrize(
    ("files", "words"),
    [
        (
            {"LICENSE": None, "package.json": manifest(license=None)},
            "names no licence; there is no licence file",
        ),
        ({"LICENSE": None, "package.json": manifest(license="GPL-3.0-only")}, "GPL-3.0-only"),
        ({"LICENSE": "GNU GENERAL PUBLIC LICENSE\nVersion 3\n"}, "LICENSE is GPL"),
        ({"LICENSE": "All rights reserved.\n"}, "not recognised"),
    ],
)
def test_the_licence_gate(files: dict[str, File], words: str, tmp_path: Path, suite_root: Path) -> None:
    path = tmp_path / "r"
    history = History(path)
    history.commit("start", {key: value for key, value in (BASE | files).items() if value is not None})
    history.commit("step", MIGRATED)
    marks = history.write()
    with pytest.raises(MiningError, match=words):
        extracted(suite_root, path, marks[2])
    task = extracted(suite_root, path, marks[2], accept_licence="Kim:they said yes").path
    licence = provenance(task)["licence"]
    assert (licence["accepted_by"], licence["accepted_why"]) == ("Kim", "they said yes")


def test_dependencies_are_found_and_installed_locked(
    tmp_path: Path, suite_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = {
        "packages": {
            "": {},
            "node_modules/left": {"version": "1.3.0"},
            "node_modules/left/node_modules/x": {},
        }
    }
    code = "import left from 'left'\nimport type { T } from 'types-only'\n"
    code += "import fs from 'node:fs'\nimport p from 'path'\n"
    code += "// import no from 'commented'\nconst r = require('@scope/right/deep')\nimport('@deepseek-ai/dsh-base')\n"
    marks = repository(
        tmp_path / "r",
        MIGRATED,
        base={
            "package.json": manifest(
                main="src/index.js",
                dependencies={"left": "^1.0.0"},
                devDependencies={"@scope/right": "~2.0.0"},
            ),
            "src/format.js": code + "export const line = 1\n",
            "src/unused.js": "import 'never-loaded'\n",
            "package-lock.json": json.dumps(lock),
        },
    )
    made = extracted(suite_root, tmp_path / "r", marks[2], dry_run=True)
    found = {item.name: (item.version, item.declared) for item in made.extraction.dependencies}
    assert found == {"left": ("1.3.0", "dependencies"), "@scope/right": ("~2.0.0", "devDependencies")}
    # Without npm there is no lock file, but the install is as exact as the repository is.
    (tmp_path / "bin").mkdir()
    git_path = shutil.which("git")
    assert git_path is not None
    (tmp_path / "bin" / "git").symlink_to(git_path)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    made = extracted(suite_root, tmp_path / "r", marks[2])
    assert not made.locked
    task = made.path
    dockerfile = (task / "environment/Dockerfile").read_text()
    assert "npm install --prefix /opt/runtime" in dockerfile
    assert dockerfile.index("/opt/runtime") < dockerfile.index("COPY fixture/")
    installed = json.loads((task / "environment/runtime/package.json").read_text())["dependencies"]
    assert installed == {"@scope/right": "~2.0.0", "left": "1.3.0"}


def test_build_output_that_the_migration_regenerates(tmp_path: Path, suite_root: Path) -> None:
    built: dict[str, File] = {"dist/index.js": "old\n", "lib/index.js": "old\n"}
    rebuilt: dict[str, File] = {"dist/index.js": "new\n", "lib/index.js": "new\n"}
    marks = repository(
        tmp_path / "r", MIGRATED | rebuilt, base=built | {"package.json": manifest(main="./lib/index.js")}
    )
    task = extracted(suite_root, tmp_path / "r", marks[2]).path
    assert not (task / "environment/fixture/dist").exists()
    assert (task / "environment/fixture/lib/index.js").exists()
    assert {item["path"] for item in provenance(task)["left_out"]} == {"dist/index.js"}


def test_the_instruction_names_neither_commit_nor_answer(tmp_path: Path, suite_root: Path) -> None:
    path = tmp_path / "r"
    marks = repository(path, WITH_NAMES)
    task = extracted(suite_root, path, marks[2]).path
    for told in [task / "instruction.md", *(task / "environment").rglob("*")]:
        if told.is_file():
            text = told.read_text()
            assert not any(oid[:10] in text for oid in marks.values()), told
            assert "webServer" not in text, told


@pytest.mark.slow
def test_extracted_tasks_validate(tmp_path: Path, suite_root: Path, author: AuthorRunner) -> None:
    replay = make_replay(tmp_path / "board.git", noise=1)
    for oid in replay.forced:
        extracted(suite_root, replay.path, oid)
    ran = author("validate", "--json", cwd=suite_root)
    findings = [item for item in json.loads(ran.out)["findings"] if item["severity"] != "note"]
    assert findings == []
    assert [task.name for task in sorted((suite_root / "tasks").iterdir())] == [
        f"M{number}-board" for number in (15, 16, 17, 18)
    ]


def test_a_report_series_is_refused(tmp_path: Path, suite_root: Path) -> None:
    marks = repository(tmp_path / "r", MIGRATED)
    with pytest.raises(MiningError, match="asks for a report"):
        extracted(suite_root, tmp_path / "r", marks[2], series="S")


def test_without_a_host_the_files_alone_are_judged(
    tmp_path: Path, suite_root: Path, author: AuthorRunner
) -> None:
    with (suite_root / "author.toml").open("a") as settings:
        settings.write('\n[series.K]\ntitle = "kiosk"\nmode = "mutable"\nhost = "none"\n')
    marks = repository(tmp_path / "r", {"src/format.js": "export const line = (a, b) => [a, b].join(': ')\n"})
    made = extracted(suite_root, tmp_path / "r", marks[2], series="K")
    assert made.extraction.runtime.kind == "none"
    assert sum(item.points for item in made.extraction.points) == 100
    ran = author("validate", "K1", "--json", cwd=suite_root)
    assert [item for item in json.loads(ran.out)["findings"] if item["severity"] != "note"] == []


@pytest.mark.slow
def test_a_dry_run_writes_nothing(tmp_path: Path, suite_root: Path, author: AuthorRunner) -> None:
    marks = repository(tmp_path / "r", MIGRATED)
    ran = author("extract", tmp_path / "r", marks[2], "--series", "M", "--dry-run", cwd=suite_root)
    assert ran.status == 0
    assert ran.out.startswith("Would make M15-board")
    assert list((suite_root / "tasks").iterdir()) == []


@pytest.mark.parametrize(
    ("commit", "options", "words"),
    [
        (None, {}, "names no commit"),
        (1, {}, "no parent"),
        (3, {}, "changes nothing that travels"),
        (2, {"trap": True}, "--from"),
        (2, {"first": 3}, "does not lead to"),
        (2, {"subdir": "absent"}, "no folder 'absent'"),
        (2, {"subdir": "../x"}, "not a folder inside"),
        (2, {"cards": ("DSH-9.9.9-A1-01",)}, "no card DSH-9.9.9-A1-01"),
        (2, {"accept_licence": "somebody"}, "WHO:WHY"),
        (2, {"host": "dhs"}, "no host 'dhs'"),
    ],
)
def test_what_cannot_be_extracted_is_a_sentence(
    commit: int | None, options: dict[str, Any], words: str, tmp_path: Path, suite_root: Path
) -> None:
    marks = repository(tmp_path / "r", MIGRATED, {"tests/a.js": "1\n"})
    given = options | ({"first": marks[options["first"]]} if "first" in options else {})
    with pytest.raises(AuthorError, match=words):
        extracted(suite_root, tmp_path / "r", marks[commit] if commit else "nope", **given)
    assert list((suite_root / "tasks").iterdir()) == []


def test_the_command_line_exits_2_with_a_sentence(
    tmp_path: Path, suite_root: Path, author: AuthorRunner
) -> None:
    marks = repository(tmp_path / "r", MIGRATED)
    ran = author("extract", tmp_path / "r", marks[1], "--series", "M", cwd=suite_root)
    assert (ran.status, ran.out) == (2, "")
    assert "has no parent" in ran.err


@pytest.mark.slow
def test_json_tells_what_was_made(tmp_path: Path, suite_root: Path, author: AuthorRunner) -> None:
    marks = repository(tmp_path / "r", MIGRATED)
    ran = author(
        "extract", tmp_path / "r", marks[2], "--series", "M", "--slug", "mine", "--json", cwd=suite_root
    )
    document = json.loads(ran.out)
    assert (document["schema"], document["id"], document["name"]) == ("author/extract/1", "M15", "M15-mine")
    assert document["copies"] == ["src/index.js"]
    assert document["touch_points"][0]["checks"] == [
        "the plugin injects `jobs`",
        "the plugin does not inject `tasks`",
        "the code does not use the service `tasks`",
    ]
    assert sum(point["points"] for point in document["touch_points"]) == 60


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="limits the size of files by the kernel")
def test_a_full_disk_leaves_nothing(tmp_path: Path, suite_root: Path) -> None:
    marks = repository(tmp_path / "r", MIGRATED, base={"data.bin": "x" * 600_000})
    command = f"ulimit -f 512; exec {sys.executable} -m harbor_author extract {tmp_path / 'r'} {marks[2]} --series M"
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=suite_root,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2, done.stderr
    assert "cannot write the task" in done.stderr
    assert list((suite_root / "tasks").iterdir()) == []


@pytest.mark.slow
def test_an_interrupt_leaves_nothing(tmp_path: Path, suite_root: Path) -> None:
    many: dict[str, File] = {f"data/{index}.txt": f"{index}\n" * 50 for index in range(4000)}
    marks = repository(tmp_path / "r", MIGRATED, base=many)
    process = subprocess.Popen(
        [sys.executable, "-m", "harbor_author", "extract", str(tmp_path / "r"), marks[2], "--series", "M"],
        cwd=suite_root,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    staging = suite_root / "tasks" / ".M15.new"
    deadline = time.monotonic() + 60
    while not (staging / "environment").exists() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.002)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert b"Traceback" not in err
    assert list((suite_root / "tasks").iterdir()) == []
