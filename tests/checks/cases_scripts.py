"""Faults in shell scripts, judges and the reward."""

from tests.checks.cases import Draft, bad, near

RW = "/logs/verifier/reward.txt"
RJ = "/logs/verifier/reward.json"
SCRIPT = "tests/test.sh"

# ---------------------------------------------------------------- bytes


@bad("byte-order-mark", where="task.toml", line=1)
def bom_toml(t: Draft) -> None:
    t.write("task.toml", b"\xef\xbb\xbf" + (t.root / "task.toml").read_bytes())


@bad("byte-order-mark", where=SCRIPT)
def bom_script(t: Draft) -> None:
    t.write(SCRIPT, b"\xef\xbb\xbf" + (t.root / SCRIPT).read_bytes(), 0o755)


@bad("byte-order-mark", where="instruction.md")
def utf16_instruction(t: Draft) -> None:
    t.write("instruction.md", "Count the words.\n".encode("utf-16"))


@near("byte-order-mark")
def bom_in_data(t: Draft) -> None:
    t.write("environment/data/exported.csv", b"\xef\xbb\xbfa,b\n1,2\n")


@bad("crlf-line-ends", where=SCRIPT, line=1)
def crlf_test(t: Draft) -> None:
    t.write(SCRIPT, (t.root / SCRIPT).read_bytes().replace(b"\n", b"\r\n"), 0o755)


@bad("crlf-line-ends", where="solution/solve.sh", line=2)
def crlf_one_line(t: Draft) -> None:
    t.change("solution/solve.sh", "pipefail\n", "pipefail\r\n")


@near("crlf-line-ends")
def crlf_in_data(t: Draft) -> None:
    t.write("environment/data/dos.txt", b"one\r\ntwo\r\n")


@bad("not-utf8", where="instruction.md", line=2)
def latin1_instruction(t: Draft) -> None:
    t.write("instruction.md", "Count the words,\nplease, in the café.\n".encode("latin-1"))


@bad("not-utf8", where=SCRIPT)
def nul_in_script(t: Draft) -> None:
    t.append(SCRIPT, "# a\0b\n")


@near("not-utf8")
def latin1_data(t: Draft) -> None:
    t.write("environment/data/old.txt", "café".encode("latin-1"))


@bad("bad-shebang", where=SCRIPT, line=2)
def shebang_second(t: Draft) -> None:
    t.write(SCRIPT, "\n" + (t.root / SCRIPT).read_text(), 0o755)


@bad("bad-shebang", where=SCRIPT, line=1)
def shebang_misspelt(t: Draft) -> None:
    t.change(SCRIPT, "#!/bin/bash", "#!/bin/bsah")


@bad("bad-shebang", where=SCRIPT, line=1)
def shebang_two_words(t: Draft) -> None:
    t.change(SCRIPT, "#!/bin/bash", "#!/bin/bash -e -u")


@near("bad-shebang")
def shebang_env(t: Draft) -> None:
    t.change(SCRIPT, "#!/bin/bash", "#!/usr/bin/env -S bash -u")


@near("bad-shebang")
def shebang_absent(t: Draft) -> None:
    t.change(SCRIPT, "#!/bin/bash\n", "# run by Harbor's bash\n")


# ---------------------------------------------------------------- shell


@bad("shell-syntax", where=SCRIPT, line=8)
def missing_fi(t: Draft) -> None:
    t.change(SCRIPT, "\nfi\n", "\n")


@bad("shell-syntax", where="solution/solve.sh")
def open_quote(t: Draft) -> None:
    t.append("solution/solve.sh", "echo 'done\n")


@near("shell-syntax")
def here_document(t: Draft) -> None:
    t.append("solution/solve.sh", "cat <<'END' >> /tmp/note\nif then fi ' \"\nEND\n")


@bad("shellcheck", where=SCRIPT, line=3)
def unquoted_test(t: Draft) -> None:
    t.before("[ -n $HOME ] || HOME=/root")
    t.before("true")


@near("shellcheck")
def quoted_test(t: Draft) -> None:
    t.before('[ -n "$HOME" ] || HOME=/root')


@near("shellcheck")
def disabled_check(t: Draft) -> None:
    t.before("# shellcheck disable=SC2070\n[ -n $HOME ] || HOME=/root")


@bad("bash-in-sh", where=SCRIPT, line=4)
def double_bracket_in_sh(t: Draft) -> None:
    t.change(SCRIPT, "#!/bin/bash", "#!/bin/sh")
    t.change(SCRIPT, 'if [ "$(cat /app/counts.txt 2>/dev/null)" = "$wanted" ]', "if [[ -s /app/counts.txt ]]")


@bad("bash-in-sh")
def pipefail_in_sh(t: Draft) -> None:
    t.change(SCRIPT, "#!/bin/bash", "#!/bin/sh\nset -o pipefail")


@near("bash-in-sh")
def plain_sh(t: Draft) -> None:
    t.change(SCRIPT, "#!/bin/bash", "#!/bin/sh")


# ---------------------------------------------------------------- the reward


@bad("unconditional-reward", where=SCRIPT, line=3)
def always_one(t: Draft) -> None:
    t.judge(f"mkdir -p /logs/verifier\necho 1 > {RW}\n")


@bad("unconditional-reward", where=SCRIPT, line=4)
def both_branches_one(t: Draft) -> None:
    t.judge(
        f"mkdir -p /logs/verifier\nif grep -q 4 /app/counts.txt; then\n  echo 1 > {RW}\nelse\n  echo 1.0 > {RW}\nfi\n"
    )


@bad("unconditional-reward", "swallowed-failure", where=SCRIPT)
def after_the_tests(t: Draft) -> None:
    t.write("tests/check.py", "assert open('/app/counts.txt').read()\n")
    t.judge(f"python3 /tests/check.py || true\nOUT={RW}\nprintf '1\\n' > \"$OUT\"\n")


@bad("unconditional-reward", where=SCRIPT)
def by_tee(t: Draft) -> None:
    t.judge(f"write() {{ echo '{{\"reward\": 1}}' > {RJ}; }}\nwrite\n")


@bad("unconditional-reward", where="tests/judge.py", line=2)
def python_always_one(t: Draft) -> None:
    t.write("tests/judge.py", f"import pathlib\npathlib.Path('{RW}').write_text('1')\n")
    t.judge("python3 /tests/judge.py\n")


@bad("unconditional-reward")
def always_zero(t: Draft) -> None:
    t.judge(f"echo 0 > {RW}\n")


@near("unconditional-reward")
def default_zero_first(t: Draft) -> None:
    t.judge(f"echo 0 > {RW}\ngrep -qx 5 /app/counts.txt && echo 1 > {RW}\nexit 0\n")


@near("unconditional-reward")
def and_or_list(t: Draft) -> None:
    t.judge(f"cmp -s /app/counts.txt /tests/poem.txt && echo 1 > {RW} || echo 0 > {RW}\n")


@near("unconditional-reward")
def computed_share(t: Draft) -> None:
    t.judge(
        f"right=$(grep -cx 5 /app/counts.txt)\ncase $right in\n  4) echo 1 > {RW} ;;\n  *) echo 0 > {RW} ;;\nesac\n"
    )


@bad("reward-not-on-every-path", where=SCRIPT, line=3)
def crash_leaves_nothing(t: Draft) -> None:
    t.write(
        "tests/judge.py",
        f"text = open('/app/counts.txt').read()\nopen('{RW}', 'w').write(str(int(bool(text))))\n",
    )
    t.judge("mkdir -p /logs/verifier\npython3 /tests/judge.py\n")


@bad("reward-not-on-every-path", where=SCRIPT, line=2)
def early_exit(t: Draft) -> None:
    t.judge(
        f"[ -f /app/counts.txt ] || exit 1\nif grep -q 5 /app/counts.txt; then echo 1 > {RW}; else echo 0 > {RW}; fi\n"
    )


@bad("reward-not-on-every-path", where=SCRIPT, line=3)
def errexit_on_missing(t: Draft) -> None:
    t.judge(
        f'set -e\ngot=$(cat /app/counts.txt)\nif [ "$got" = 5 ]; then echo 1 > {RW}; else echo 0 > {RW}; fi\n'
    )


@bad("reward-not-on-every-path")
def no_else(t: Draft) -> None:
    t.judge(f"if grep -q 5 /app/counts.txt; then\n  echo 1 > {RW}\nfi\n")


@near("reward-not-on-every-path")
def trap_writes(t: Draft) -> None:
    t.judge(
        f"reward=0\ntrap 'echo \"$reward\" > {RW}' EXIT\nset -e\n"
        'grep -q 5 /app/counts.txt\ngot=$(cat /app/counts.txt)\n[ -n "$got" ] && reward=1\n'
    )


@near("reward-not-on-every-path")
def judge_guards_itself(t: Draft) -> None:
    t.write(
        "tests/judge.py",
        f"score = 0\ntry:\n    score = int(open('/app/counts.txt').read() != '')\nfinally:\n    open('{RW}', 'w').write(str(score))\n",
    )
    t.judge("python3 /tests/judge.py\n")


@near("reward-not-on-every-path")
def judge_has_fallback(t: Draft) -> None:
    t.write(
        "tests/judge.py",
        f"text = open('/app/counts.txt').read()\nopen('{RW}', 'w').write(str(int(bool(text))))\n",
    )
    t.judge(f"python3 /tests/judge.py || echo 0 > {RW}\n")


@near("reward-not-on-every-path")
def wrong_container(t: Draft) -> None:
    t.before('if [ "$PWD" = / ]; then echo "no working directory" >&2; exit 1; fi')


@bad("reward-never-written", "misspelt-reward-file", where=SCRIPT)
def rewards_json(t: Draft) -> None:
    t.judge(
        'if grep -q 5 /app/counts.txt; then r=1; else r=0; fi\necho "{\\"reward\\": $r}" > /logs/verifier/rewards.json\n'
    )


@bad("reward-never-written", where=SCRIPT)
def prints_only(t: Draft) -> None:
    t.judge("if grep -q 5 /app/counts.txt; then echo passed; else echo failed; fi\n")


@near("reward-never-written")
def reward_from_python(t: Draft) -> None:
    t.write(
        "tests/judge.py",
        "import os\ntry:\n    ok = open('/app/counts.txt').read() == '5\\n'\nexcept Exception:\n    ok = False\n"
        "open(os.path.join('/logs/verifier', 'reward.txt'), 'w').write(str(int(ok)))\n",
    )
    t.judge("python3 /tests/judge.py\n")


@bad("misspelt-reward-file", where=SCRIPT, line=3)
def misspelt_beside(t: Draft) -> None:
    t.change(
        SCRIPT,
        "mkdir -p /logs/verifier\n",
        "mkdir -p /logs/verifier\necho '{}' > /logs/verifier/Rewards.json\n",
    )


@bad("misspelt-reward-file", where=SCRIPT, line=2)
def misspelt_directory(t: Draft) -> None:
    wrong = "/logs/verifer/reward.txt"
    t.judge(f"if grep -q 5 /app/counts.txt; then echo 1 > {wrong}; else echo 0 > {wrong}; fi\n")


@bad("misspelt-reward-file", where=SCRIPT, line=2)
def in_the_working_directory(t: Draft) -> None:
    t.judge("if grep -q 5 /app/counts.txt; then echo 1 > reward.txt; else echo 0 > reward.txt; fi\n")


@near("misspelt-reward-file")
def made_aside(t: Draft) -> None:
    t.judge(
        f"grep -q 5 /app/counts.txt && echo 1 > /tmp/reward.txt || echo 0 > /tmp/reward.txt\ncp /tmp/reward.txt {RW}\n"
    )


@near("misspelt-reward-file")
def details_beside(t: Draft) -> None:
    t.change(
        SCRIPT,
        "mkdir -p /logs/verifier\n",
        "mkdir -p /logs/verifier\necho '{}' > /logs/verifier/reward-details.json\n",
    )


@bad("both-reward-files", where=SCRIPT)
def two_rewards(t: Draft) -> None:
    t.append(SCRIPT, f"cat /app/style.json > {RJ}\n")


@near("both-reward-files")
def one_removed(t: Draft) -> None:
    t.change(SCRIPT, "mkdir -p /logs/verifier\n", f"mkdir -p /logs/verifier\nrm -f {RJ}\n")


@bad("reward-read-before-written", where=SCRIPT, line=3)
def keeps_forged(t: Draft) -> None:
    t.judge(f"grep -q 5 /app/counts.txt && echo 1 > {RW}\n[ -e {RW} ] || echo 0 > {RW}\n")


@bad("reward-read-before-written", where=SCRIPT)
def reads_old(t: Draft) -> None:
    t.before(f"old=$(cat {RW} 2>/dev/null)")


@bad("reward-read-before-written", where=SCRIPT, line=5)
def appended(t: Draft) -> None:
    t.change(SCRIPT, f"echo 1 > {RW}", f"echo 1 >> {RW}")


@near("reward-read-before-written")
def cleared_first(t: Draft) -> None:
    t.judge(f"rm -f {RW}\ngrep -q 5 /app/counts.txt && echo 1 > {RW}\n[ -e {RW} ] || echo 0 > {RW}\n")


@near("reward-read-before-written")
def shown_afterwards(t: Draft) -> None:
    t.append(SCRIPT, f"cat {RW}\n")


@bad("reward-out-of-range", where=SCRIPT, line=5)
def points_not_share(t: Draft) -> None:
    t.change(SCRIPT, "echo 1 >", "echo 100 >")


@bad("reward-out-of-range")
def word_not_number(t: Draft) -> None:
    t.change(SCRIPT, "echo 1 >", "echo pass >")


@bad("reward-out-of-range", where=SCRIPT, line=2)
def json_without_key(t: Draft) -> None:
    t.judge(
        f"if grep -q 5 /app/counts.txt; then echo '{{\"style\": 1}}' > {RJ}; else echo '{{\"reward\": 0}}' > {RJ}; fi\n"
    )


@bad("reward-out-of-range")
def json_scalar(t: Draft) -> None:
    t.judge(f"if grep -q 5 /app/counts.txt; then echo 1 > {RJ}; else echo '{{\"reward\": 0}}' > {RJ}; fi\n")


@near("reward-out-of-range")
def json_reward(t: Draft) -> None:
    t.judge(
        f'if grep -q 5 /app/counts.txt; then echo \'{{"reward": 1, "style": 7}}\' > {RJ}; else echo \'{{"reward": 0}}\' > {RJ}; fi\n'
    )


@near("reward-out-of-range")
def half_reward(t: Draft) -> None:
    t.change(SCRIPT, "echo 1 >", "echo 0.5 >")


@bad("reward-directory-missing", where=SCRIPT)
def removes_logs(t: Draft) -> None:
    t.before("rm -rf /logs/verifier")


@near("reward-directory-missing")
def makes_logs_anew(t: Draft) -> None:
    t.before("rm -rf /logs/verifier; mkdir -p /logs/verifier")


# ---------------------------------------------------------------- network


@bad("verifier-network-download", where=SCRIPT, line=3)
def curl_pipe_sh(t: Draft) -> None:
    t.before("curl -LsSf https://tools.example.net/install.sh | sh")


@bad("verifier-network-download")
def git_clone(t: Draft) -> None:
    t.before("timeout 30 git clone --depth 1 https://code.example.net/x.git /tmp/x")


@bad("verifier-network-download", where="tests/remote.py", line=3)
def python_request(t: Draft) -> None:
    t.write(
        "tests/remote.py",
        "import requests\n\nrequests.get('https://api.example.net/v1').raise_for_status()\n",
    )


@near("verifier-network-download")
def curl_local(t: Draft) -> None:
    t.before("curl -s http://localhost:8080/health -o /tmp/health.json")
    t.append("instruction.md", "Serve it on port 8080.\n")


@near("verifier-network-download")
def url_in_text(t: Draft) -> None:
    t.before("echo 'see https://tools.example.net/install.sh' >&2\ngit clone /app/repo /tmp/repo")


@bad("verifier-runtime-install", where=SCRIPT)
def pip_install(t: Draft) -> None:
    t.before("python3 -m pip install pytest==8.4.1")


@bad("verifier-runtime-install")
def apt_and_uvx(t: Draft) -> None:
    t.before("apt-get update && apt-get install -y jq\nuvx --with pytest==8.4.1 pytest /tests/poem.txt")


@near("verifier-runtime-install")
def offline_install(t: Draft) -> None:
    t.before("pip install --no-index --find-links /opt/wheels thing==1.0\nnpm run test\nnpm --version")


# ---------------------------------------------------------------- paths


@bad("missing-test-path", "swallowed-failure", where=SCRIPT, line=3)
def swallowed_missing(t: Draft) -> None:
    t.before("python3 /tests/prepare.py || true")


@bad("missing-test-path")
def oracle_needs_tests(t: Draft) -> None:
    t.append("solution/solve.sh", "cp /tests/poem.txt /tmp/poem\n")


@bad("missing-test-path", where="solution/solve.sh", line=4)
def solution_file_gone(t: Draft) -> None:
    t.append("solution/solve.sh", "cp /solution/answers/final.txt /app/final.txt\n")


@near("missing-test-path")
def made_by_the_script(t: Draft) -> None:
    t.before("grep -c . /tests/poem.txt > /tests/lines\nread -r lines < /tests/lines")


@near("missing-test-path")
def directory_and_glob(t: Draft) -> None:
    t.before("ls /tests /tests/*.txt /tests/../tests")


@bad("swallowed-failure", where=SCRIPT, line=3)
def nobody_looks(t: Draft) -> None:
    t.write("tests/check.py", "assert open('/app/counts.txt').read()\n")
    t.before("python3 /tests/check.py || true")


@near("swallowed-failure")
def clean_up_may_fail(t: Draft) -> None:
    t.write("tests/check.py", "print(open('/app/counts.txt').read())\n")
    t.before(
        "rm -r /tmp/none || true\npython3 /tests/check.py > /tmp/log 2>&1 || true\nsame=$(python3 /tests/check.py || true)"
    )


@bad("tests-directory-assumed", where=SCRIPT, line=3)
def relative_python(t: Draft) -> None:
    t.write("tests/check.py", "print(open('/app/counts.txt').read())\n")
    t.before("python3 check.py > /tmp/log")


@bad("tests-directory-assumed")
def relative_redirect(t: Draft) -> None:
    t.before("read -r first < poem.txt")


@bad("tests-directory-assumed", where=SCRIPT, line=3)
def relative_data(t: Draft) -> None:
    t.change(SCRIPT, "awk '{ print NF }' /tests/poem.txt", "awk '{ print NF }' poem.txt")


@near("tests-directory-assumed")
def given_in_workdir(t: Draft) -> None:
    t.append("environment/Dockerfile", "COPY data/poem.txt ./\n")
    t.before("wc -l poem.txt; cp /tests/poem.txt poem.txt")


@near("tests-directory-assumed")
def changed_directory(t: Draft) -> None:
    t.write("tests/check.py", "print(1)\n")
    t.before('cd "$(dirname "$0")" || exit 2\npython3 check.py > /tmp/log')


@near("tests-directory-assumed")
def own_output_relative(t: Draft) -> None:
    t.before("touch seen.txt; cat seen.txt")


# ---------------------------------------------------------------- processes


@bad("broad-kill", where=SCRIPT, line=3)
def pkill_bash(t: Draft) -> None:
    t.before("pkill -9 -f bash")


@bad("broad-kill")
def killall_node(t: Draft) -> None:
    t.append("solution/solve.sh", "killall node || true\n")


@bad("broad-kill")
def kill_everything(t: Draft) -> None:
    t.before("kill -9 -1")


@near("broad-kill")
def kill_own(t: Draft) -> None:
    t.before(
        'sleep 1 & pid=$!\nkill -TERM "$pid"\npkill -f bench-x9-trap/server.mjs\nkill -1 "$pid"\nkillall my-own-daemon'
    )


@bad("self-match-kill", where=SCRIPT, line=3)
def kills_its_shell(t: Draft) -> None:
    t.before("sh -c 'pkill -f [b]ench-x9; rm -rf /tmp/bench-x9'")


@bad("self-match-kill", where="tests/clean.mjs", line=2)
def kills_in_code(t: Draft) -> None:
    t.write(
        "tests/clean.mjs", "import { execSync } from 'node:child_process';\nexecSync('pkill -f bench-x9');\n"
    )


@near("self-match-kill")
def bracket_alone(t: Draft) -> None:
    t.before("sh -c 'pkill -f [b]ench-x9; rm -rf /tmp/other'")


# ---------------------------------------------------------------- how programs are run


@bad("status-of-pipe", where=SCRIPT, line=3)
def status_of_tee(t: Draft) -> None:
    t.write("tests/check.py", "print(open('/app/counts.txt').read())\n")
    t.judge(
        f"mkdir -p /logs/verifier\npython3 /tests/check.py 2>&1 | tee /tmp/log\n"
        f"if [ $? -eq 0 ]; then echo 1 > {RW}; else echo 0 > {RW}; fi\n"
    )


@bad("status-of-pipe")
def if_of_tee(t: Draft) -> None:
    t.write("tests/check.py", "print(open('/app/counts.txt').read())\n")
    t.judge(f"if python3 /tests/check.py | tee /tmp/log; then echo 1 > {RW}; else echo 0 > {RW}; fi\n")


@near("status-of-pipe")
def with_pipefail(t: Draft) -> None:
    t.write("tests/check.py", "print(open('/app/counts.txt').read())\n")
    t.judge(
        f"set -o pipefail\nif python3 /tests/check.py | tee /tmp/log; then echo 1 > {RW}; else echo 0 > {RW}; fi\n"
    )


@bad("node-quote-broken", where=SCRIPT, line=3)
def quote_ends(t: Draft) -> None:
    t.before("node -e 'console.log('hello')'")


@near("node-quote-broken")
def quotes_kept(t: Draft) -> None:
    t.before(
        "node -e 'console.log(\"hello\", `x`)'\nnode -e 'console.log('\"$HOME\"')'\nnode -e 'console.log('\\''x'\\'')'"
    )


@bad("stale-status", where=SCRIPT, line=4)
def status_of_echo(t: Draft) -> None:
    t.write("tests/check.py", "print(open('/app/counts.txt').read())\n")
    t.judge(
        f"python3 /tests/check.py\necho checked\nif [ $? -eq 0 ]; then echo 1 > {RW}; else echo 0 > {RW}; fi\n"
    )


@near("stale-status")
def status_kept(t: Draft) -> None:
    t.write("tests/check.py", "print(open('/app/counts.txt').read())\n")
    t.judge(
        f'python3 /tests/check.py\nstatus=$?\necho checked\nif [ "$status" -eq 0 ]; then echo 1 > {RW}; else echo 0 > {RW}; fi\n'
    )


PYTEST = "def test_counts():\n    assert open('/app/counts.txt').read()\n"


def _pytest(t: Draft, command: str) -> None:
    t.write("tests/test_counts.py", PYTEST)
    t.judge(
        f"mkdir -p /logs/verifier\n{command}\nif [ $? -eq 0 ]; then echo 1 > {RW}; else echo 0 > {RW}; fi\n"
    )


@bad("workspace-imports", where=SCRIPT, line=3)
def module_in_workdir(t: Draft) -> None:
    _pytest(t, "python3 -m pytest /tests/test_counts.py")


@bad("workspace-imports", where=SCRIPT, line=3)
def tests_of_the_agent(t: Draft) -> None:
    _pytest(t, "cd /app && pytest -q")


@bad("workspace-imports")
def path_of_agent(t: Draft) -> None:
    t.before("export PYTHONPATH=/app:/opt/lib")


@bad("workspace-imports", where=SCRIPT, line=3)
def agents_settings(t: Draft) -> None:
    t.before("source /app/.env")


@near("workspace-imports")
def pytest_by_absolute_path(t: Draft) -> None:
    _pytest(t, "pytest /tests/test_counts.py -rA")


@near("workspace-imports")
def isolated_module(t: Draft) -> None:
    _pytest(t, "python3 -I -m pytest --confcutdir=/tests /tests/test_counts.py")


# ---------------------------------------------------------------- the judge's program


@bad("judge-syntax", where="tests/judge.mjs", line=2)
def broken_module(t: Draft) -> None:
    t.write("tests/judge.mjs", "const a = 1;\nconst score = ;\n")


@bad("judge-syntax", where="tests/judge.mjs")
def declared_twice(t: Draft) -> None:
    t.write("tests/judge.mjs", "let a = 1;\nlet a = 2;\n")


@bad("judge-syntax", where="tests/check.py", line=1)
def broken_python(t: Draft) -> None:
    t.write("tests/check.py", "def f(:\n    pass\n")


@near("judge-syntax")
def modern_module(t: Draft) -> None:
    t.write(
        "tests/judge.mjs",
        "#!/usr/bin/env node\nconst x = await Promise.resolve(1);\nexport const y = x ?? 2;\n",
    )
    t.write("tests/old.cjs", "const fs = require('fs');\nif (!fs) return;\n")
    t.write("tests/either.js", "module.exports = { a: 1 };\n")


@bad("json-syntax", where="tests/truth.json", line=1)
def trailing_comma(t: Draft) -> None:
    t.write("tests/truth.json", '{"findings": [1, 2,]}\n')


@near("json-syntax")
def broken_on_purpose(t: Draft) -> None:
    t.write("tests/inputs/malformed.json", "{")
    t.write("environment/data/whatever.json", "{")


@bad("exit-in-try", where="tests/judge.mjs", line=3)
def exit_skips_cleanup(t: Draft) -> None:
    t.write(
        "tests/judge.mjs",
        "try {\n  console.log(1);\n  process.exit(0);\n} finally {\n  console.log('clean');\n}\n",
    )


@near("exit-in-try")
def exit_after_cleanup(t: Draft) -> None:
    t.write(
        "tests/judge.mjs",
        "try {\n  setTimeout(() => process.exit(3), 9000).unref();\n} finally {\n  console.log('clean');\n}\nprocess.exit(0);\n",
    )


@bad("killed-counts-as-zero", where="tests/judge.mjs", line=3)
def null_is_zero(t: Draft) -> None:
    t.write(
        "tests/judge.mjs",
        "import { spawnSync } from 'node:child_process';\nconst done = spawnSync('true');\nconst code = done.status ?? 0;\nconsole.log(code);\n",
    )


@near("killed-counts-as-zero")
def null_is_failure(t: Draft) -> None:
    t.write(
        "tests/judge.mjs",
        "// never: done.status ?? 0\nconst done = { status: null, count: 1 };\nconsole.log(done.status ?? 1, done.count || 0, done.status ?? 0.5);\n",
    )


@bad("fixed-port", where="tests/judge.mjs", line=1)
def port_3080(t: Draft) -> None:
    t.write(
        "tests/judge.mjs", "const page = await fetch('http://127.0.0.1:3080/');\nconsole.log(page.status);\n"
    )


@near("fixed-port")
def port_agreed(t: Draft) -> None:
    t.write(
        "tests/judge.mjs", "const page = await fetch('http://127.0.0.1:3080/');\nconsole.log(page.status);\n"
    )
    t.append("instruction.md", "Serve the page on port 3080.\n")


@bad("step-budget", where="tests/judge.mjs", line=3)
def steps_too_long(t: Draft) -> None:
    t.write(
        "tests/judge.mjs",
        "export const plan = {\n  checks: [{ id: 'a', points: 100 }],\n  steps: [{ id: 'boot', budget_s: 50, times: 3 }],\n};\n",
    )


@bad("step-budget", where=SCRIPT)
def timeouts_too_long(t: Draft) -> None:
    t.before("timeout 100 true\ntimeout -k 5 1m true")


@bad("step-budget", where=SCRIPT, line=3)
def sleeps_too_long(t: Draft) -> None:
    t.before("sleep 1m; sleep 70")


@near("step-budget")
def steps_fit(t: Draft) -> None:
    t.write(
        "tests/judge.mjs",
        "export const plan = {\n  checks: [{ id: 'a', points: 100 }],\n  steps: [{ id: 'boot', budget_s: 50, times: 2 }],\n  time_limit_s: 120,\n};\n",
    )
    t.before("timeout 60 true")


@bad("wall-clock", where="tests/judge.mjs", line=1)
def date_passed(t: Draft) -> None:
    t.write("tests/judge.mjs", "if (Date.now() > Date.parse('2026-01-01')) console.log('late');\n")


@bad("wall-clock", where=SCRIPT, line=3)
def date_in_shell(t: Draft) -> None:
    t.before('[ "$(date +%Y)" -le 2027 ] || echo late >&2')


@near("wall-clock")
def date_as_data(t: Draft) -> None:
    t.write("tests/judge.mjs", "console.log(JSON.stringify({ since: '2026-01-01' }));\n")
