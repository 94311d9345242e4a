"""Judges as public authors write them: shells, Python and Node.js, each a variation of a fault or of a sound habit."""

from __future__ import annotations

from tests.checks.cases import Draft, bad, near

RW = "/logs/verifier/reward.txt"
RJ = "/logs/verifier/reward.json"
SCRIPT = "tests/test.sh"
PYTEST = "def test_counts():\n    assert open('/app/counts.txt').read().split() == ['5', '5', '0', '3']\n"
#: The end of a judge that asks one question of its own, so that only what stands before it is at fault.
ASKS = f"if [ -f /app/counts.txt ]; then echo 1 > {RW}; else echo 0 > {RW}; fi\n"
BY_STATUS = f"if [ $? -eq 0 ]; then echo 1 > {RW}; else echo 0 > {RW}; fi\n"
MAKE = "mkdir -p /logs/verifier\n"


def faulty(
    name: str, rule: str, body: str, *also: str, line: int | None = None, where: str = SCRIPT, **files: str
) -> None:
    """A judge with a fault. `body` follows the first line and a `mkdir`; `files` go to tests/, `__` for the dot."""
    bad(rule, *also, where=where, line=line)(_judge(name, body, files))


def sound(name: str, rule: str, body: str, *also: str, **files: str) -> None:
    near(rule, *also)(_judge(name, body, files))


def _judge(name: str, body: str, files: dict[str, str]):  # type: ignore[no-untyped-def]
    def mutate(t: Draft) -> None:
        t.judge(MAKE + body)
        for file, text in files.items():
            t.write(f"tests/{file.replace('__', '.')}", text)

    mutate.__name__ = name
    return mutate


# ---------------------------------------------------------------- a reward whatever happened

ALWAYS = "unconditional-reward"
faulty("function_given_one", ALWAYS, f'give() {{ echo "$1" > {RW}; }}\ngrep -q 5 /app/counts.txt\ngive 1\n')
sound(
    "function_given_both",
    ALWAYS,
    f'give() {{ echo "$1" > {RW}; }}\nif grep -q 5 /app/counts.txt; then give 1; else give 0; fi\n',
)
faulty("trap_writes_one", ALWAYS, f"trap 'echo 1 > {RW}' EXIT\ngrep -q 5 /app/counts.txt\n")
sound(
    "trap_writes_what_was_found",
    ALWAYS,
    f"set -e\nshare=0\nend() {{ echo $share > {RW}; }}\ntrap end EXIT\npytest /tests/test_state.py\nshare=1\n",
    test_state__py=PYTEST,
)
faulty("one_through_tee", ALWAYS, f"echo 1 | tee {RW}\n", line=3)
faulty("inline_python", ALWAYS, f"python3 -c \"open('{RW}','w').write('1')\"\n", line=3)
faulty(
    "here_document_python",
    ALWAYS,
    f"python3 - <<'END'\nwith open('{RW}', 'w') as out:\n    out.write('1')\nEND\n",
)
faulty(
    "python_dumps_a_literal",
    ALWAYS,
    "python3 /tests/judge.py\n",
    where="tests/judge.py",
    line=3,
    judge__py=f"import json\nwith open('{RJ}', 'w') as out:\n    json.dump({{'reward': 1.0}}, out)\n",
)
faulty(
    "python_main_without_a_question",
    ALWAYS,
    "python3 /tests/judge.py\n",
    where="tests/judge.py",
    judge__py=f"from pathlib import Path\n\nSCORE = 1.0\n\n\ndef main():\n    Path('{RW}').write_text(str(SCORE))\n\n\n"
    "if __name__ == '__main__':\n    main()\n",
)
faulty(
    "node_writes_a_literal",
    ALWAYS,
    "node /tests/judge.mjs\n",
    where="tests/judge.mjs",
    line=2,
    judge__mjs=f"import fs from 'node:fs';\nfs.writeFileSync('{RW}', '1');\n",
)
sound(
    "node_writes_what_it_reads",
    ALWAYS,
    f"node /tests/judge.mjs || echo 0 > {RW}\n",
    judge__mjs="import fs from 'node:fs';\n"
    f"fs.writeFileSync('{RW}', String(Number(fs.readFileSync('/app/counts.txt', 'utf8').startsWith('5'))));\n",
)
faulty("constant_question", ALWAYS, f"if [ 1 -eq 1 ]; then echo 1 > {RW}; else echo 0 > {RW}; fi\n")
faulty("always_true", ALWAYS, f"if true; then echo 1 > {RW}; else echo 0 > {RW}; fi\n")
faulty(
    "both_patterns_one",
    ALWAYS,
    f'case "$(cat /app/counts.txt)" in\n 5*) echo 1 > {RW};;\n *) echo 1 > {RW};;\nesac\n',
)

# ---------------------------------------------------------------- a path without a reward

PATHS = "reward-not-on-every-path"
faulty(
    "strict_then_one",
    PATHS,
    f"set -e\npytest /tests/test_state.py\necho 1 > {RW}\n",
    line=4,
    test_state__py=PYTEST,
)
faulty(
    "exit_in_a_function",
    PATHS,
    f"die() {{ echo no >&2; exit 1; }}\n[ -f /app/counts.txt ] || die\n{ASKS}",
    line=3,
)
faulty("only_on_success", PATHS, f"pytest /tests/test_state.py &&\n  echo 1 > {RW}\n", test_state__py=PYTEST)
faulty(
    "replaced_by_pytest", PATHS, f"exec pytest /tests/test_state.py\necho 0 > {RW}\n", test_state__py=PYTEST
)
faulty(
    "strict_share",
    PATHS,
    f'set -e\nshare=$(python3 /tests/judge.py)\necho "$share" > {RW}\n',
    judge__py="print(int(open('/app/counts.txt').read() > '5'))\n",
)
sound(
    "trap_on_error",
    PATHS,
    f"set -e\ntrap 'echo 0 > {RW}' ERR\npytest /tests/test_state.py\necho 1 > {RW}\n",
    test_state__py=PYTEST,
)
sound(
    "zero_first",
    PATHS,
    f"set -e\necho 0 > {RW}\npytest /tests/test_state.py\necho 1 > {RW}\n",
    test_state__py=PYTEST,
)
sound(
    "failing_function_writes",
    PATHS,
    f'fail() {{ echo "$1"; echo 0 > {RW}; exit 0; }}\n[ -f /app/counts.txt ] || fail none\ngrep -q 5 /app/counts.txt || fail wrong\n'
    f"echo 1 > {RW}\n",
)
sound(
    "python_expects_a_missing_file",
    PATHS,
    "python3 /tests/judge.py\n",
    judge__py="from pathlib import Path\nshare = 0.0\ntry:\n    share = float(Path('/app/counts.txt').read_text()[:1] == '5')\n"
    f"except OSError as error:\n    print(error)\nPath('{RW}').write_text(str(share))\n",
)
faulty(
    "python_expects_half",
    PATHS,
    "python3 /tests/judge.py\n",
    judge__py="from pathlib import Path\nshare = 0.0\ntry:\n    share = float(int(Path('/app/counts.txt').read_text()) == 5)\n"
    f"except OSError as error:\n    print(error)\nPath('{RW}').write_text(str(share))\n",
)
sound("script_of_its_own", PATHS, "bash /tests/grade.sh\n", grade__sh=f"#!/bin/bash\n{ASKS}")
faulty(
    "script_of_its_own_stops",
    PATHS,
    "bash /tests/grade.sh\n",
    grade__sh=f"#!/bin/bash\n[ -f /app/counts.txt ] || exit 1\n{ASKS}",
)
sound(
    "inline_python_with_a_variable",
    PATHS,
    f"share=$(grep -c 5 /app/counts.txt)\npython3 -c \"open('{RW}','w').write(str($share/4))\"\n",
)

# ---------------------------------------------------------------- statuses

STALE = "stale-status"
faulty(
    "status_of_or_true",
    STALE,
    f"pytest /tests/test_state.py || true\n{BY_STATUS}",
    line=4,
    test_state__py=PYTEST,
)
faulty(
    "status_of_cd",
    STALE,
    f"pytest /tests/test_state.py\ncd /\nrc=$?\n[ $rc -eq 0 ] && echo 1 > {RW} || echo 0 > {RW}\n",
    test_state__py=PYTEST,
)
faulty(
    "status_of_local",
    STALE,
    f"run() {{\n  local out=$(pytest /tests/test_state.py)\n  {BY_STATUS}}}\nrun\n",
    test_state__py=PYTEST,
)
faulty(
    "status_after_a_comment",
    STALE,
    f"pytest /tests/test_state.py\necho done\n# so?\n{BY_STATUS}",
    test_state__py=PYTEST,
)
sound("status_of_cd_itself", STALE, f"cd /app/out\nif [ $? -ne 0 ]; then echo 0 > {RW}; exit 0; fi\n{ASKS}")
sound(
    "status_kept_by_or",
    STALE,
    f"rc=0\npytest /tests/test_state.py || rc=$?\nif [ $rc -eq 0 ]; then echo 1 > {RW}; else echo 0 > {RW}; fi\n",
    test_state__py=PYTEST,
)

SWALLOWED = "swallowed-failure"
faulty(
    "or_a_message",
    SWALLOWED,
    f"pytest /tests/test_state.py || echo failed\n{ASKS}",
    line=3,
    test_state__py=PYTEST,
)
faulty("or_colon", SWALLOWED, f"pytest /tests/test_state.py || :\n{ASKS}", line=3, test_state__py=PYTEST)
faulty("nobody_asks_pytest", SWALLOWED, f"pytest /tests/test_state.py\n{ASKS}", line=3, test_state__py=PYTEST)
faulty(
    "nobody_asks_a_check",
    SWALLOWED,
    f"bash /tests/check.sh\n{ASKS}",
    check__sh="#!/bin/bash\n[ -s /app/counts.txt ]\n",
)
faulty(
    "silent_check",
    SWALLOWED,
    f"node /tests/check.mjs >/dev/null 2>&1 || true\n{ASKS}",
    check__mjs="process.exitCode = 1;\n",
)
sound(
    "nobody_asks_a_preparation",
    SWALLOWED,
    f"bash /tests/start_service.sh\n{ASKS}",
    start_service__sh="#!/bin/bash\nexit 0\n",
)
sound(
    "conftest_leaves_the_reward",
    SWALLOWED,
    "pytest /tests/test_state.py\n",
    test_state__py=PYTEST,
    conftest__py="from pathlib import Path\n\n\ndef pytest_sessionfinish(session, exitstatus):\n"
    f"    Path('{RW}').write_text('1' if exitstatus == 0 else '0')\n",
)
sound(
    "strict_script_asks",
    SWALLOWED,
    f"echo 0 > {RW}\nset -e\npytest /tests/test_state.py\necho 1 > {RW}\n",
    test_state__py=PYTEST,
)
sound(
    "or_another_verdict",
    SWALLOWED,
    f"pytest /tests/test_state.py && echo 1 > {RW} || echo 0 > {RW}\n",
    test_state__py=PYTEST,
)

# ---------------------------------------------------------------- whose directory

ASSUMED = "tests-directory-assumed"
faulty(
    "pytest_by_name",
    ASSUMED,
    f"if pytest test_state.py; then echo 1 > {RW}; else echo 0 > {RW}; fi\n",
    line=3,
    test_state__py=PYTEST,
)
faulty(
    "pytest_below_tests",
    ASSUMED,
    f"if python3 -m pytest tests/test_state.py::test_counts; then echo 1 > {RW}; else echo 0 > {RW}; fi\n",
    test_state__py=PYTEST,
)
faulty(
    "another_directory",
    ASSUMED,
    f"cd /app\nif python3 check.py; then echo 1 > {RW}; else echo 0 > {RW}; fi\n",
    line=4,
    check__py="assert open('/app/counts.txt').read()\n",
)
faulty("sourced_by_name", ASSUMED, f". ./helpers.sh\n{ASKS}", helpers__sh="#!/bin/bash\ncheck() { true; }\n")
faulty(
    "python_opens_by_name",
    ASSUMED,
    f"if python3 /tests/check.py; then echo 1 > {RW}; else echo 0 > {RW}; fi\n",
    where="tests/check.py",
    line=1,
    check__py="wanted = open('wanted.txt').read()\nassert open('/app/counts.txt').read() == wanted\n",
    wanted__txt="5\n5\n0\n3\n",
)
faulty(
    "node_opens_by_name",
    ASSUMED,
    f"if node /tests/check.mjs; then echo 1 > {RW}; else echo 0 > {RW}; fi\n",
    where="tests/check.mjs",
    check__mjs="import fs from 'node:fs';\nif (fs.readFileSync('tests/wanted.txt', 'utf8') !== fs.readFileSync('/app/counts.txt', 'utf8')) {\n"
    "  process.exitCode = 1;\n}\n",
    wanted__txt="5\n5\n0\n3\n",
)
sound(
    "copied_first",
    ASSUMED,
    f"cp /tests/check.py /app/\ncd /app\nif python3 check.py; then echo 1 > {RW}; else echo 0 > {RW}; fi\n",
    check__py="assert open('/app/counts.txt').read()\n",
)
sound(
    "tests_first",
    ASSUMED,
    f"cd /tests\nif python3 check.py; then echo 1 > {RW}; else echo 0 > {RW}; fi\n",
    check__py="assert open('wanted.txt').read()\n",
    wanted__txt="5\n",
)
sound(
    "folder_of_the_script",
    ASSUMED,
    f'HERE=$(cd "$(dirname "${{BASH_SOURCE[0]}}")" && pwd)\nif python3 "$HERE/check.py"; then echo 1 > {RW}; else echo 0 > {RW}; fi\n',
    check__py="assert open('/app/counts.txt').read()\n",
)
sound(
    "agent_makes_that_name",
    ASSUMED,
    f"cd /app\nif cmp counts.txt /tests/counts.txt; then echo 1 > {RW}; else echo 0 > {RW}; fi\n",
    counts__txt="5\n5\n0\n3\n",
)

MISSING = "missing-test-path"
faulty(
    "beside_the_script",
    MISSING,
    f'cd "$(dirname "$0")"\nif python3 verify.py; then echo 1 > {RW}; else echo 0 > {RW}; fi\n',
    line=4,
)
faulty(
    "below_tests_after_cd",
    MISSING,
    f"cd /tests\nif python3 verify.py; then echo 1 > {RW}; else echo 0 > {RW}; fi\n",
    line=4,
)
sound(
    "made_beside_the_script",
    MISSING,
    f"cd /tests\ncp wanted.txt /tmp/x\nprintf 'assert True' > verify.py\nif python3 verify.py; then echo 1 > {RW}; else echo 0 > {RW}; fi\n",
    wanted__txt="5\n",
)

# ---------------------------------------------------------------- network

LOAD = "verifier-network-download"


@bad(LOAD, where=SCRIPT, line=3)
def download_without_a_network(t: Draft) -> None:
    t.before("curl -fsS https://example.org/tool.tar.gz | tar xz -C /tmp")


@near(LOAD)
def service_of_the_task(t: Draft) -> None:
    t.before("curl -fsS http://api:8080/health || true")


@bad("verifier-runtime-install", LOAD, where=SCRIPT, line=2)
def template_with_a_network(t: Draft) -> None:
    t.write("tests/test_state.py", PYTEST)
    t.change("task.toml", '"no-network"', '"public"')
    t.judge(
        "apt-get install -y curl\ncurl -LsSf https://example.org/install.sh | sh\n"
        f"if uvx --with pytest==8.4.1 pytest /tests/test_state.py; then echo 1 > {RW}; else echo 0 > {RW}; fi\n"
    )
