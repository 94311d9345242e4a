"""The findings of `author validate` in each of its formats."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tarfile
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urljoin, urlsplit
from xml.etree import ElementTree

import jsonschema
import pytest

from harbor_author.checks import Finding, Report, all_rules
from harbor_author.output import findings_github, findings_json, findings_junit, findings_sarif, findings_text
from tests.conftest import AuthorRunner

BASE = Path("/suite")
HOSTILE = 'it\'s <100%> & [bold]: "x", done::'
REPORT = Report(
    (
        Finding(
            "H23", "broad-kill", "error", "/suite/tasks/H23-a/tests/test.sh", 3, 7, HOSTILE, "kill, by number"
        ),
        Finding(
            "H23", "placeholder", "note", "/suite/tasks/H23-a/README.md", 5, None, "still to be written", None
        ),
        Finding(
            "S17", "no-oracle", "warning", "/elsewhere/S17 b/solution", None, None, "missing", "write it"
        ),
    ),
    ("H23", "S17", "M15"),
)

#: What of the SARIF 2.1.0 schema concerns our documents: names, types, limits and the closed objects.
_MESSAGE = {
    "type": "object",
    "required": ["text"],
    "additionalProperties": False,
    "properties": {"text": {"type": "string"}},
}
SARIF: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "required": ["version", "runs"],
    "additionalProperties": False,
    "properties": {
        "$schema": {"type": "string", "format": "uri"},
        "version": {"const": "2.1.0"},
        "runs": {"type": "array", "items": {"$ref": "#/$defs/run"}},
    },
    "$defs": {
        "run": {
            "type": "object",
            "required": ["tool"],
            "additionalProperties": False,
            "properties": {
                "tool": {
                    "type": "object",
                    "required": ["driver"],
                    "additionalProperties": False,
                    "properties": {"driver": {"$ref": "#/$defs/component"}},
                },
                "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
                "originalUriBaseIds": {
                    "type": "object",
                    "additionalProperties": {
                        "type": "object",
                        "properties": {"uri": {"type": "string", "pattern": "/$"}},
                        "additionalProperties": False,
                    },
                },
                "results": {"type": "array", "items": {"$ref": "#/$defs/result"}},
            },
        },
        "component": {
            "type": "object",
            "required": ["name"],
            "additionalProperties": False,
            "properties": {
                "name": {"type": "string"},
                "version": {"type": "string"},
                "rules": {"type": "array", "uniqueItems": True, "items": {"$ref": "#/$defs/rule"}},
            },
        },
        "rule": {
            "type": "object",
            "required": ["id"],
            "additionalProperties": False,
            "properties": {
                "id": {"type": "string"},
                "shortDescription": _MESSAGE,
                "fullDescription": _MESSAGE,
                "help": _MESSAGE,
                "defaultConfiguration": {
                    "type": "object",
                    "additionalProperties": False,
                    "properties": {"level": {"enum": ["none", "note", "warning", "error"]}},
                },
                "properties": {
                    "type": "object",
                    "properties": {
                        "tags": {"type": "array", "uniqueItems": True, "items": {"type": "string"}}
                    },
                },
            },
        },
        "result": {
            "type": "object",
            "required": ["message"],
            "additionalProperties": False,
            "properties": {
                "ruleId": {"type": "string"},
                "ruleIndex": {"type": "integer", "minimum": -1},
                "level": {"enum": ["none", "note", "warning", "error"]},
                "message": _MESSAGE,
                "locations": {"type": "array", "items": {"$ref": "#/$defs/location"}},
                "partialFingerprints": {"type": "object", "additionalProperties": {"type": "string"}},
            },
        },
        "location": {
            "type": "object",
            "additionalProperties": False,
            "properties": {
                "physicalLocation": {
                    "type": "object",
                    "required": ["artifactLocation"],
                    "additionalProperties": False,
                    "properties": {
                        "artifactLocation": {
                            "type": "object",
                            "additionalProperties": False,
                            "properties": {
                                "uri": {"type": "string", "pattern": r"^[^\s\\]*$"},
                                "uriBaseId": {"type": "string"},
                            },
                        },
                        "region": {
                            "type": "object",
                            "additionalProperties": False,
                            "properties": {
                                "startLine": {"type": "integer", "minimum": 1},
                                "startColumn": {"type": "integer", "minimum": 1},
                            },
                        },
                    },
                },
                "logicalLocations": {
                    "type": "array",
                    "uniqueItems": True,
                    "items": {
                        "type": "object",
                        "additionalProperties": False,
                        "properties": {"name": {"type": "string"}, "kind": {"type": "string"}},
                    },
                },
            },
        },
    },
}


def test_text_groups_by_task_and_ends_in_one_line() -> None:
    assert findings_text.render(REPORT, base=BASE, colour=False).split("\n") == [
        "H23",
        f"  tasks/H23-a/tests/test.sh:3:7: error: broad-kill: {HOSTILE}",
        "    fix: kill, by number",
        "  tasks/H23-a/README.md:5: note: placeholder: still to be written",
        "",
        "S17",
        "  /elsewhere/S17 b/solution: warning: no-oracle: missing",
        "    fix: write it",
        "",
        "3 tasks: 1 error, 1 warning, 1 note",
    ]


def test_one_remedy_stands_once_below_all_that_it_is_for() -> None:
    def note(line: int, fix: str) -> Finding:
        return Finding("H23", "placeholder", "note", "/a/README.md", line, None, "still to be written", fix)

    report = Report((note(1, "write it"), note(2, "write it"), note(3, "ask"), note(4, "write it")), ("H23",))
    lines = findings_text.render(report, base=BASE, colour=False).split("\n")
    assert [line.strip() for line in lines[1:8]] == [
        "/a/README.md:1: note: placeholder: still to be written",
        "/a/README.md:2: note: placeholder: still to be written",
        "fix: write it",
        "/a/README.md:3: note: placeholder: still to be written",
        "fix: ask",
        "/a/README.md:4: note: placeholder: still to be written",
        "fix: write it",
    ]


def test_colour_adds_escapes_and_nothing_else() -> None:
    import re

    coloured = findings_text.render(REPORT, base=BASE, colour=True)
    assert "\x1b[31merror\x1b[0m" in coloured
    assert re.sub(r"\x1b\[\d+m", "", coloured) == findings_text.render(REPORT, base=BASE, colour=False)


def test_a_clean_report_is_one_line() -> None:
    assert (
        findings_text.render(Report((), ("H23",)), base=BASE, colour=False)
        == "1 task: 0 errors, 0 warnings, 0 notes"
    )


def test_json() -> None:
    document = findings_json.document(REPORT, base=BASE)
    assert set(document) == {"schema", "findings", "summary"}
    keys = ["task", "rule", "severity", "path", "line", "column", "message", "fix"]
    assert [list(finding) for finding in document["findings"]] == [keys] * 3
    assert document["findings"][0]["path"] == "tasks/H23-a/tests/test.sh"
    assert document["findings"][2]["path"] == "/elsewhere/S17 b/solution"
    assert document["findings"][2]["line"] is None
    assert document["summary"] == {"tasks": 3, "errors": 1, "warnings": 1, "notes": 1}


def test_sarif_is_valid() -> None:
    document = findings_sarif.document(REPORT, base=BASE)
    jsonschema.Draft202012Validator(SARIF).validate(document)
    (run,) = document["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    for result, finding in zip(run["results"], REPORT.findings, strict=True):
        assert rules[result["ruleIndex"]] == result["ruleId"] == finding.rule
        assert result["level"] == finding.severity
    assert run["results"][0]["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "tasks/H23-a/tests/test.sh", "uriBaseId": "ROOT"},
        "region": {"startLine": 3, "startColumn": 7},
    }
    outside = run["results"][2]["locations"][0]["physicalLocation"]["artifactLocation"]
    assert outside == {"uri": "file:///elsewhere/S17%20b/solution"}


#: Names that a URI cannot hold as they are, or would take for something else.
ODD = [
    "/suite/tasks/H23-a/中文 名.md",
    "/suite/a:b/c.sh",
    "/suite/tasks/100%/x#y?z=1&[1].md",
    "/suite/tasks/back\\slash/\\xff.txt",
    "/suite/tasks/'quote'\"<angle>|^`{}.md",
    "/else where/中:文/a.md",
    "/suite",
]
ODD_REPORT = Report(
    tuple(
        Finding("H23", "broad-kill", severity, path, line, column, f"{HOSTILE} 中文 \U0001f389", fix)  # type: ignore[arg-type]
        for path in ODD
        for severity in ("error", "warning", "note")
        for line, column in ((None, None), (1, None), (3, 7))
        for fix in (None, "write\nit")
    ),
    ("H23", "中文"),
)
#: RFC 3986: what a reference may consist of; no colon in the first segment of a relative one.
_PCHAR = r"(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-F]{2})"
_REFERENCE = re.compile(rf"file:///(?:{_PCHAR}|/)*|(?![^/]*:){_PCHAR}+(?:/{_PCHAR}*)*")


def test_sarif_names_each_place_by_a_uri() -> None:
    document = findings_sarif.document(ODD_REPORT, base=BASE)
    jsonschema.Draft202012Validator(SARIF).validate(document)
    for result, finding in zip(document["runs"][0]["results"], ODD_REPORT.findings, strict=True):
        place = result["locations"][0]["physicalLocation"]["artifactLocation"]
        assert _REFERENCE.fullmatch(place["uri"]), place
        root = document["runs"][0]["originalUriBaseIds"]["ROOT"]["uri"] if "uriBaseId" in place else ""
        assert unquote(urlsplit(urljoin(root, place["uri"])).path).rstrip("/") == finding.path


def test_sarif_of_a_folder_whose_name_is_no_text() -> None:
    base = Path(os.fsdecode(b"/su\xffite \xe4\xb8\xad"))
    document = findings_sarif.document(Report((), ()), base=base)
    assert document["runs"][0]["originalUriBaseIds"]["ROOT"]["uri"] == "file:///su%FFite%20%E4%B8%AD/"


@pytest.fixture(scope="module")
def real_schema(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The schema of SARIF 2.1.0 itself, out of a package that carries it; no part of this repository."""
    folder = tmp_path_factory.mktemp("schema")
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not on PATH: the schema of SARIF comes in an npm package")
    package = "@microsoft/jest-sarif@1.0.0-beta.0"
    done = subprocess.run(
        [npm, "pack", "--silent", package],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    if done.returncode:
        pytest.skip(f"npm cannot fetch {package} (no registry?): {done.stderr.strip()[-200:]}")
    (archive,) = folder.glob("*.tgz")
    with tarfile.open(archive) as content:
        stream = content.extractfile("package/lib/schemas/sarif-2.1.0-rtm.5.json")
        assert stream is not None
        schema: dict[str, Any] = json.load(stream)
    return schema


@pytest.mark.slow
def test_sarif_is_valid_against_the_real_schema(
    real_schema: dict[str, Any], tmp_path: Path, author: AuthorRunner
) -> None:
    validator = jsonschema.validators.validator_for(real_schema)(real_schema)
    validator.check_schema(real_schema)
    every = tuple(Finding("中文", name, "error", "/suite/x", 1, 1, "m", "f") for name in all_rules())
    (tmp_path / "名 字").mkdir()
    (tmp_path / "名 字/task.toml").write_text("[task]\n")
    ran = author("validate", "名 字", "--format", "sarif")
    documents = [
        findings_sarif.document(REPORT, base=BASE),
        findings_sarif.document(ODD_REPORT, base=BASE),
        findings_sarif.document(Report(every, ("中文",)), base=BASE),
        findings_sarif.document(Report((), ()), base=Path("/")),
        json.loads(ran.out),
    ]
    for document in documents:
        validator.validate(document)
    documents[0]["runs"][0]["results"][0]["level"] = "fatal"
    with pytest.raises(jsonschema.ValidationError):
        validator.validate(documents[0])


def test_sarif_describes_every_rule() -> None:
    findings = tuple(Finding("t", name, "error", "/suite/x", 1, 1, "m", None) for name in all_rules())
    document = findings_sarif.document(Report(findings, ("t",)), base=BASE)
    jsonschema.Draft202012Validator(SARIF).validate(document)
    fingerprints = {result["partialFingerprints"]["finding/v1"] for result in document["runs"][0]["results"]}
    assert len(fingerprints) == len(all_rules())


def test_fingerprint_outlives_a_moved_line() -> None:
    one = Finding("t", "r", "error", "/suite/x", 1, 1, "m", None)
    assert one.fingerprint == Finding("t", "r", "error", "/other/x", 9, 2, "m", "fix").fingerprint
    assert one.fingerprint != Finding("t", "r", "error", "/suite/x", 1, 1, "other", None).fingerprint


def test_junit_counts_and_escapes() -> None:
    root = ElementTree.fromstring(findings_junit.render(REPORT, base=BASE))
    suites = {suite.get("name"): suite for suite in root}
    assert set(suites) == {"H23", "S17", "M15"}
    assert (root.get("tests"), root.get("failures")) == ("4", "2")
    assert (suites["H23"].get("tests"), suites["H23"].get("failures")) == ("2", "1")
    failure = suites["H23"].find("testcase[@name='broad-kill']/failure")
    assert failure is not None
    assert failure.get("message") == HOSTILE
    assert "tests/test.sh:3:7" in (failure.text or "")
    assert suites["M15"].find("testcase/failure") is None
    assert suites["M15"].get("tests") == "1"


def test_junit_has_the_shape_that_readers_want() -> None:
    """Jenkins' and GitLab's: nothing beside these elements and attributes, counts that add up, a link to the file."""
    root = ElementTree.fromstring(findings_junit.render(ODD_REPORT, base=BASE))
    assert root.tag == "testsuites"
    assert [suite.tag for suite in root] == ["testsuite"] * 2
    for suite in root:
        assert {"name", "tests", "failures", "errors", "skipped", "time"} == set(suite.keys())
        assert int(suite.get("tests", "")) == len(suite)
        assert int(suite.get("failures", "")) == len(suite.findall("testcase/failure"))
        for case in suite:
            assert case.tag == "testcase"
            assert (
                {"classname", "name", "time"}
                <= set(case.keys())
                <= {"classname", "name", "time", "file", "line"}
            )
            assert {child.tag for child in case} <= {"failure", "system-out"}
    for name in ("tests", "failures", "errors"):
        assert int(root.get(name, "")) == sum(int(suite.get(name, "")) for suite in root)
    (case,) = root.findall("testsuite[@name='H23']/testcase")
    assert case.get("file") == "tasks/H23-a/中文 名.md"


def test_github_escapes_as_its_runner_reads() -> None:
    """`%`, CR and LF in a message; also `:` and `,` in a property. Reading back gives the text."""
    finding = Finding("a,b:c", "r", "error", "/suite/x,y:z%25.md", 3, 7, "100%0A, done:\r\nnext", "f%")
    line = findings_github.render(Report((finding,), ("a",)), base=BASE).split("\n")[0]
    assert line.startswith("::error file=x%2Cy%3Az%2525.md,line=3,col=7,title=a%2Cb%3Ac%3A r::")
    text = line.split("::", 2)[2]
    for code, char in (("%0D", "\r"), ("%0A", "\n"), ("%25", "%")):
        text = text.replace(code, char)
    assert text == "100%0A, done:\r\nnext\nfix: f%"


def test_github_escapes_what_would_end_a_command() -> None:
    lines = findings_github.render(REPORT, base=BASE).split("\n")
    assert lines[0] == (
        "::error file=tasks/H23-a/tests/test.sh,line=3,col=7,title=H23%3A broad-kill::"
        + HOSTILE.replace("%", "%25")
        + "%0Afix: kill, by number"
    )
    assert lines[1].startswith("::notice file=tasks/H23-a/README.md,line=5,title=")
    assert lines[2].startswith("::warning file=/elsewhere/S17 b/solution,title=")
    assert lines[3] == "3 tasks: 1 error, 1 warning, 1 note"


@pytest.mark.parametrize("output", ["text", "json", "sarif", "junit", "github"])
def test_each_format_from_the_command_line(output: str, tmp_path: Path, author: AuthorRunner) -> None:
    (tmp_path / "words").mkdir()
    (tmp_path / "words/task.toml").write_text("[task]\n")
    ran = author("validate", "words", "--format", output)
    assert ran.status == 1
    assert "\x1b" not in ran.out
    if output in ("json", "sarif"):
        assert json.loads(ran.out)
    if output == "sarif":
        jsonschema.Draft202012Validator(SARIF).validate(json.loads(ran.out))
    if output == "junit":
        ElementTree.fromstring(ran.out)
    assert "invalid-task-files" in ran.out
