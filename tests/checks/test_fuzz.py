"""Any bytes in any file: no traceback, no hang, and a verdict on every task.

The quick profile runs about a hundred cases. `HARBOR_AUTHOR_FUZZ_CASES=20000` is the full run.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harbor_author.checks import all_rules, plan_fixes, validate
from harbor_author.output import findings_github, findings_junit, findings_sarif
from harbor_author.suite import SuiteError, find_suite
from tests.checks.support import CARDS, JUDGE, SUITE_DOCKERFILE, SUITE_TEST, SUITE_TOML, sound_suite

CASES = int(os.environ.get("HARBOR_AUTHOR_FUZZ_CASES", "90"))
#: A case that takes longer has found an exploding pattern.
LIMIT_S = 5.0

fuzz = settings(
    max_examples=max(10, CASES // 6),
    deadline=None,
    derandomize=CASES <= 90,
    suppress_health_check=list(HealthCheck),
)

_TOKENS = st.sampled_from(
    r"""[ ] [[ ]] = == . , " ' \"\"\" # \ { } ( ) $( ` && || | ; ;; & > >> << <<EOF < ! * ** ? ~ - -- : @ % ^ + /
    FROM RUN COPY ADD --from=a --chmod=755 USER WORKDIR ENTRYPOINT CMD ONBUILD ARG $X ${X:-y} .. ../.. /tests/
    /logs/verifier/reward.txt reward.json rewards.json if then else elif fi case esac for while do done function set -e
    trap EXIT exit 1 return echo cat pkill -f killall bash sh -c python3 node curl https://x.example pip install npm git
    clone tee test -e [ true false DSH-0.1.2-A1-01 A1-02 A1-* A1-01..04 DSH-0.1.2-A1-01/02 ALPHA1-01 R-08 H9 H8 H9-trap
    bench-h8 BENCHMARK-AUTH-v1 ### --- kind: cards timeout_sec inf nan -1 1e999 [agent] [environment] [[steps]] name
    network_mode allowlist artifacts memory 2G cpus 0x1f 1979-05-27 process.exit( try { } finally catch checks: [{
    steps: budget_s ??0 await import( /* // export const =>""".split()
) | st.sampled_from(
    ["\r\n", "\n", "\t", "\0", "\ufeff", "\u2028", "\u202e", "\ud83d", "é", "中文", "🎉", "?? 0"]
)
_WORDS = st.lists(_TOKENS | st.text(max_size=8), max_size=60).map(" ".join)
_TEXT = (_WORDS | st.text(max_size=300)).map(lambda text: text.encode("utf-8", "surrogatepass"))
BYTES = _TEXT | st.binary(max_size=300)


@st.composite
def spoilt(draw: st.DrawFn, original: str) -> bytes:
    """`original` with pieces removed, doubled, moved and put in."""
    data = original.encode()
    for _ in range(draw(st.integers(1, 5))):
        start = draw(st.integers(0, len(data)))
        end = min(len(data), start + draw(st.integers(0, 40)))
        piece = draw(st.just(b"") | BYTES | st.just(data[start:end] * 2) | st.just(data[end:start:-1]))
        data = data[:start] + piece + data[end:]
    return data


@pytest.fixture(scope="module", autouse=True)
def no_cache_on_disk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Thousands of verdicts on texts that nobody will see again are not worth keeping."""
    blocked = tmp_path_factory.mktemp("cache") / "file"
    blocked.write_text("")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(blocked))
        yield


@pytest.fixture(scope="module")
def suite_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("fuzz") / "suite"
    sound_suite(root)
    return root


def check(root: Path) -> None:
    """Validate a suite of one task in every way and hold what must hold of any input."""
    started = time.perf_counter()
    suite = find_suite(root)
    tasks = suite.tasks()
    report = validate(tasks, suite=suite, jobs=1)
    assert report.summary.tasks == len(tasks)
    crashed = [f for f in report.findings if f.rule == "rule-crashed"]
    assert not crashed, crashed
    for finding in report.findings:
        assert finding.rule in all_rules()
        assert finding.message.isprintable()
        assert finding.line is None or finding.line >= 1
    plan_fixes(tasks)
    findings_sarif.document(report, base=root)
    findings_junit.render(report, base=root)
    findings_github.render(report, base=root).encode()
    assert time.perf_counter() - started < LIMIT_S * (1 + os.getloadavg()[0])


def replaced(root: Path, path: str, data: bytes) -> None:
    target = root / path
    before = target.read_bytes()
    target.write_bytes(data)
    try:
        check(root)
    finally:
        target.write_bytes(before)


TASK = "tasks/H9-trap"


@fuzz
@given(data=BYTES | spoilt(SUITE_TOML))
def test_task_toml(suite_root: Path, data: bytes) -> None:
    replaced(suite_root, f"{TASK}/task.toml", data)


@fuzz
@given(data=BYTES | spoilt(CARDS))
def test_cards(suite_root: Path, data: bytes) -> None:
    replaced(suite_root, "references/v0.1.2-alpha.1.md", data)


@fuzz
@given(data=BYTES, where=st.sampled_from(["instruction.md", "README.md", "solution/SOLUTION.md"]))
def test_documents(suite_root: Path, data: bytes, where: str) -> None:
    replaced(suite_root, f"{TASK}/{where}", data)


@fuzz
@given(
    data=BYTES | spoilt(SUITE_DOCKERFILE),
    where=st.sampled_from(["Dockerfile", ".dockerignore", "docker-compose.yaml"]),
)
def test_environment(suite_root: Path, data: bytes, where: str) -> None:
    target = suite_root / TASK / "environment" / where
    made = not target.exists()
    if made:
        target.write_bytes(b"")
    replaced(suite_root, f"{TASK}/environment/{where}", data)
    if made:
        target.unlink()


@pytest.mark.slow
@fuzz
@given(
    data=BYTES | spoilt(JUDGE) | spoilt(SUITE_TEST),
    where=st.sampled_from(["tests/judge.mjs", "tests/test.sh", "solution/solve.sh"]),
)
def test_programs(suite_root: Path, data: bytes, where: str) -> None:
    replaced(suite_root, f"{TASK}/{where}", data)


_NAMES = st.sampled_from(
    "task.toml instruction.md environment Dockerfile tests test.sh solution solve.sh .git steps HEAD objects refs "
    "provenance fixture package.json .gitignore .harborignore a".split()
) | st.text(
    st.characters(blacklist_characters="/\0", blacklist_categories=()), min_size=1, max_size=12
).filter(lambda name: name not in (".", ".."))


@fuzz
@given(
    entries=st.lists(
        st.tuples(
            st.lists(_NAMES, min_size=1, max_size=4),
            st.sampled_from(["file", "file", "file", "dir", "link", "pipe"]),
            BYTES,
        ),
        max_size=12,
    )
)
def test_whole_trees(suite_root: Path, entries: list[tuple[list[str], str, bytes]]) -> None:
    root = suite_root.parent / "trees"
    shutil.rmtree(root, ignore_errors=True)
    task = root / "tasks/H9-trap"
    task.mkdir(parents=True)
    (root / "author.toml").write_text('[suite]\nname = "fuzz"\n')
    for parts, kind, data in entries:
        try:
            path = task.joinpath(*(os.fsdecode(part.encode("utf-8", "surrogateescape")) for part in parts))
            path.parent.mkdir(parents=True, exist_ok=True)
            if kind == "dir":
                path.mkdir(exist_ok=True)
            elif kind == "link":
                path.symlink_to(os.fsdecode(data[:50].replace(b"\0", b"") or b"."))
            elif kind == "pipe":
                os.mkfifo(path)
            elif not path.is_symlink() and (path.is_file() or not path.exists()):  # no pipes, nothing outside
                path.write_bytes(data)
        except (OSError, ValueError, UnicodeEncodeError):
            continue  # a name that this file system does not take, or one under a file
    try:
        check(root)
    except SuiteError:
        pytest.fail("a task's content must not make the suite unreadable")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("task.toml", "a = " + "[" * 5000),
        ("task.toml", "a." * 3000 + "b = 1"),
        ("task.toml", 'k = "' + "\\" * 5001),
        ("task.toml", "x = 1" + "0" * 5000),
        ("tests/test.sh", "if " * 3000),
        ("tests/test.sh", "$(" * 3000),
        ("tests/test.sh", "{ " * 3000 + "} " * 3000),
        ("tests/test.sh", "a && " * 4000 + "b"),
        (
            "tests/test.sh",
            "pkill\nkillall\nkill\nrm\ncp\ncd\nsource\ntrap\ntrap '' EXIT\ndate\nsleep\ntimeout\nenv\ngit\npip",
        ),
        ("tests/test.sh", "echo {\U0007f249 ${\U0007f249} $\U0010ffff 中{文}"),
        ("tests/test.sh", "f() { f; f; g; }; g() { f; g; }; f"),
        ("tests/test.sh", "".join(f"f{n}() {{ {f'f{n + 1}; ' * 9}:; }}\n" for n in range(18)) + "f0"),
        ("tests/test.sh", "set -e\n" + "cat /app/x\n" * 3000),
        ("tests/test.sh", 'sh -c "' * 500),
        (
            "tests/test.sh",
            "pkill -f '(a+)+$'; sh -c 'pkill -f (a+)+b aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'",
        ),
        ("tests/judge.mjs", "(" * 20000),
        ("tests/judge.mjs", "try{" * 3000),
        ("tests/judge.mjs", "`${" * 3000),
        ("tests/judge.mjs", "const checks = {checks:[" + "[" * 5000),
        ("tests/judge.py", "(" * 5000),
        ("tests/judge.py", "x = " + "-" * 50000 + "1"),
        ("environment/Dockerfile", "RUN " + "\\\n" * 20000),
        ("environment/Dockerfile", "FROM " + "${A:-" * 2000),
        ("environment/Dockerfile", "FROM a AS a\nFROM a AS b\nFROM b AS a\nFROM a"),
        ("environment/.dockerignore", "**/" * 2000 + "x"),
        ("environment/.dockerignore", "*a" * 60 + "b\n" + "a" * 200),
        (".gitignore", "*a" * 60 + "b"),
        ("environment/docker-compose.yaml", "a: &a [*a, *a]"),
        (
            "environment/docker-compose.yaml",
            "a: &a [x]\n" + "".join(f"b{n}: &b{n} [*a, *a]\n" for n in range(300)),
        ),
        ("environment/docker-compose.yaml", "{" * 5000),
        ("instruction.md", "[" * 50000),
        ("instruction.md", "DSH-0.1.2-A1-01" + "/02" * 20000),
        ("README.md", "[a](" * 20000),
        ("README.md", "bench-h8" + "-a" * 20000),
        ("solution/SOLUTION.md", "#" * 50000),
        ("tests/truth.json", "[" * 200000),
        ("environment/fixture/package.json", '{"a":' * 50000),
        ("environment/provenance/x.json", "[" * 100000),
    ],
)
def test_pathological(tmp_path: Path, path: str, text: str) -> None:
    draft = sound_suite(tmp_path / "suite")
    draft.write(path, text)
    check(tmp_path / "suite")
