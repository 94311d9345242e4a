from __future__ import annotations

import os
from pathlib import Path

import pytest

from harbor_author.suite import (
    HostSettings,
    SuiteError,
    find_suite,
    find_suite_or_none,
    load_settings,
    read_text,
)


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "author.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_defaults_are_the_published_pins(tmp_path: Path) -> None:
    settings = load_settings(write(tmp_path, '[suite]\nname = "s"\n'))
    assert settings.host == HostSettings("node:24-bookworm", "11.24.0", "0.1.2-alpha.2", "npm")
    assert settings.references == ("references",)
    assert settings.contract == "BENCHMARK-AUTH-v1"
    assert settings.on_error == "zero"
    assert settings.series["S"].mode == "readonly"
    assert settings.series["H"].mode == "mutable"


def test_a_suite_is_named_after_its_folder_by_default(tmp_path: Path) -> None:
    folder = tmp_path / "my-suite"
    folder.mkdir()
    assert load_settings(write(folder, "")).name == "my-suite"


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("[suite]\nnmae = 'x'\n", 2, ["suite.nmae", "suite.name"]),
        ("[hots]\ndsh = '1'\n", 1, ["hots", "host"]),
        ("[suite]\nname = 'x'\n\n[suite.dsh]\n", 4, ["suite.dsh", "host.dsh"]),
        ("[host]\nsource = 'nmp'\n", 2, ["host.source", "npm"]),
        ("[host]\nimage = 'node\\nRUN x'\n", 2, []),
        ('[host]\nimage = "node\\nRUN x"\n', 2, ["one word"]),
        ("[registry]\nreserved = ['H3-H1']\n", 2, ["H3-H1"]),
        ("[registry.retired]\nH4 = ''\n", 2, ["H4", "reason"]),
        ("[registry.retired]\nfour = 'x'\n", 2, ["four"]),
        ("[judge]\non_error = 'one'\n", 2, ["judge.on_error"]),
        ("[suite]\nreferences = ['../elsewhere']\n", 2, ["leaves the suite"]),
        ("[registers]\nreadme = '/etc/passwd'\n", 2, ["leaves the suite"]),
        ("[suite]\nname = 'a b'\n", 2, ["a b"]),
        ("[series.X]\nmode = 'mutabel'\n", 2, ["mutabel", "mutable"]),
        ("[series.XY]\nmode = 'mutable'\n", 1, ["XY"]),
        ("[suite]\nname = 3\n", 2, ["a string"]),
        ("suite = 3\n", 1, ["a table"]),
    ],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path: Path, text: str, line: int, words: list[str]) -> None:
    path = write(tmp_path, text)
    with pytest.raises(SuiteError) as caught:
        load_settings(path)
    message = str(caught.value)
    assert message.startswith(f"{path}:{line}: ")
    assert "fix: " in message
    for word in words:
        assert word in message


def test_a_syntax_error_has_line_and_column(tmp_path: Path) -> None:
    path = write(tmp_path, '[suite]\nname = "a\\sb"\n')
    with pytest.raises(SuiteError) as caught:
        load_settings(path)
    assert (caught.value.line, caught.value.path) == (2, path)
    assert caught.value.column is not None
    assert "backslash" in (caught.value.hint or "")


def test_a_key_inside_a_multi_line_value_is_not_taken_for_a_key(tmp_path: Path) -> None:
    path = write(tmp_path, '[suite]\nname = "x"\nreferences = [\n  "contract = 1",\n]\ncontract = "nope"\n')
    with pytest.raises(SuiteError) as caught:
        load_settings(path)
    assert caught.value.line == 6


@pytest.mark.parametrize(
    ("data", "word"),
    [(b"\xef\xbb\xbf[suite]\n", "byte-order mark"), (b"[suite]\nname = '\xff'\n", "not UTF-8")],
)
def test_encoding(tmp_path: Path, data: bytes, word: str) -> None:
    path = tmp_path / "author.toml"
    path.write_bytes(data)
    with pytest.raises(SuiteError, match=word):
        load_settings(path)


def test_a_suite_is_found_from_any_folder_inside_it(
    suite_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep = suite_root / "tasks" / "H23-a" / "tests"
    deep.mkdir(parents=True)
    monkeypatch.chdir(deep)
    assert find_suite().root == suite_root.resolve()


def test_no_suite_is_said_with_the_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SuiteError, match="author init"):
        find_suite()
    with pytest.raises(SuiteError, match=r"has no author\.toml"):
        find_suite(tmp_path)
    with pytest.raises(SuiteError, match="does not exist"):
        find_suite(tmp_path / "absent")


def test_an_author_toml_that_is_no_file_is_said_and_not_passed_over(suite_root: Path) -> None:
    inner = suite_root / "tasks" / "inner"
    (inner / "author.toml").mkdir(parents=True)
    with pytest.raises(SuiteError, match="is no regular file"):
        find_suite(inner)
    with pytest.raises(SuiteError, match="is no regular file"):
        find_suite_or_none(inner)


def test_a_value_cannot_forge_lines_of_output(tmp_path: Path) -> None:
    with pytest.raises(SuiteError) as caught:
        load_settings(write(tmp_path, '[suite]\nname = "a\\nauthor: all is well\\u001b[2J"\n'))
    assert str(caught.value).count("\n") == 1
    assert "\x1b" not in str(caught.value)


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "task.toml")
    with pytest.raises(SuiteError, match="is no regular file"):
        read_text(tmp_path / "task.toml")
