"""Faults in task.toml, the layout, names and links, what leaks, and where a fixture comes from."""

import hashlib
import os

from tests.checks.cases import Draft, bad, near

RW = "/logs/verifier/reward.txt"

# ---------------------------------------------------------------- task.toml


@bad("invalid-task-config", where="task.toml", line=5)
def unescaped_backslash(t: Draft) -> None:
    t.change("task.toml", "Count the words of a text", r"Count \words of a text")


@bad("invalid-task-config", where="task.toml", line=14)
def many_cpus(t: Draft) -> None:
    t.change("task.toml", "cpus = 1", 'cpus = "many"')


@bad("invalid-task-config", where="task.toml", line=8)
def negative_limit(t: Draft) -> None:
    t.change("task.toml", "timeout_sec = 300.0", "timeout_sec = -1")


@bad("invalid-task-config")
def key_twice(t: Draft) -> None:
    t.change("task.toml", "cpus = 1", "cpus = 1\ncpus = 2")


@bad("invalid-task-config")
def infinite_limit(t: Draft) -> None:
    t.change("task.toml", "timeout_sec = 300.0", "timeout_sec = inf")


@bad("invalid-task-config", where="task.toml", line=4)
def name_without_slash(t: Draft) -> None:
    t.change("task.toml", "demo/word-count", "word-count")


@bad("invalid-task-config")
def unknown_network(t: Draft) -> None:
    t.change("task.toml", '"no-network"', '"offline"')


@bad("invalid-task-config")
def boolean_memory(t: Draft) -> None:
    t.change("task.toml", "memory_mb = 512", "memory_mb = true")


@near("invalid-task-config")
def odd_but_valid(t: Draft) -> None:
    t.change("task.toml", "cpus = 1\n", 'cpus = 1.5\nos = "Linux"\nenv = { A = "${A:-b}" }\n')
    t.change(
        "task.toml",
        "[agent]",
        "[metadata]\nanything = [1, { goes = true }]\npath = 'C:\\data'\n\n[agent]\nuser = 1000",
    )


@bad("unknown-config-field", where="task.toml", line=16)
def wrong_table(t: Draft) -> None:
    t.change("task.toml", "network_mode", "timeout_sec = 5\nnetwork_mode")


@bad("unknown-config-field", "no-agent-timeout", where="task.toml", line=8)
def misspelt_limit(t: Draft) -> None:
    t.change("task.toml", "timeout_sec = 300.0", "timeout_seconds = 300.0")


@bad("unknown-config-field")
def artifacts_in_table(t: Draft) -> None:
    t.append("task.toml", 'artifacts = ["/app/counts.txt"]\n')


@near("unknown-config-field")
def free_metadata(t: Draft) -> None:
    t.append(
        "task.toml", '\n[metadata.notes]\ntimeout_seconds = 5\n\n[[verifier.collect]]\ncommand = "true"\n'
    )


@bad("deprecated-config-field", where="task.toml", line=15)
def old_memory(t: Draft) -> None:
    t.change("task.toml", "memory_mb = 512", 'memory = "2G"')


@bad("deprecated-config-field", where="task.toml", line=1)
def old_version(t: Draft) -> None:
    t.change("task.toml", "schema_version", "version")


@near("deprecated-config-field")
def old_schema_old_words(t: Draft) -> None:
    t.change("task.toml", '"1.4"', '"1.1"')
    t.change("task.toml", 'network_mode = "no-network"', "allow_internet = false")


@bad("conflicting-config", where="task.toml", line=18)
def shared_with_environment(t: Draft) -> None:
    t.change("task.toml", "timeout_sec = 120.0", 'timeout_sec = 120.0\nenvironment_mode = "shared"')
    t.append("task.toml", "[verifier.environment]\ncpus = 1\n")


@bad("conflicting-config")
def hosts_without_list(t: Draft) -> None:
    t.append("task.toml", 'allowed_hosts = ["example.org"]\n')


@bad("conflicting-config")
def host_with_scheme(t: Draft) -> None:
    t.change("task.toml", '"no-network"', '"allowlist"\nallowed_hosts = ["https://example.org/x"]')


@near("conflicting-config")
def allowlist(t: Draft) -> None:
    t.change(
        "task.toml", '"no-network"', '"allowlist"\nallowed_hosts = ["*.example.org", "10.0.0.0/8", "::1"]'
    )


@bad("no-agent-timeout", where="task.toml")
def no_agent_table(t: Draft) -> None:
    t.change("task.toml", "[agent]\ntimeout_sec = 300.0\n", "")


@near("no-agent-timeout")
def limits_in_steps(t: Draft) -> None:
    t.change("task.toml", "[agent]\ntimeout_sec = 300.0\n", "")
    t.append("task.toml", '\n[[steps]]\nname = "one"\n[steps.agent]\ntimeout_sec = 5\n')
    t.write("steps/one/instruction.md", "Count.\n")


@bad("time-limit-told-wrong", where="instruction.md", line=3)
def other_limit_told(t: Draft) -> None:
    t.append("instruction.md", "You have 10 minutes to complete this task.\n")


@near("time-limit-told-wrong")
def same_limit_told(t: Draft) -> None:
    t.append(
        "instruction.md",
        "You have 300 seconds to complete this task. A job within 20 seconds of another is late.\n",
    )


# ---------------------------------------------------------------- layout


@bad("invalid-task-files", where="task.toml")
def no_toml(t: Draft) -> None:
    t.remove("task.toml")


@bad("invalid-task-files", where="instructions.md")
def instructions_plural(t: Draft) -> None:
    (t.root / "instruction.md").rename(t.root / "instructions.md")


@bad("invalid-task-files", where="instruction.md", line=1)
def only_a_canary(t: Draft) -> None:
    t.write("instruction.md", "<!-- harbor-canary GUID 1 -->\n\n  \n")


@bad("invalid-task-files", where="tests/test.sh")
def empty_test(t: Draft) -> None:
    t.script("tests/test.sh", "")


@bad("invalid-task-files", where="tests/run.sh")
def renamed_test(t: Draft) -> None:
    (t.root / "tests/test.sh").rename(t.root / "tests/run.sh")


@bad("invalid-task-files", where="tests/.harborignore", line=1)
def ignored_test(t: Draft) -> None:
    t.write("tests/.harborignore", "*.sh\n")


@bad("invalid-task-files")
def no_definition(t: Draft) -> None:
    t.remove("environment/Dockerfile")


@near("invalid-task-files")
def ready_image(t: Draft) -> None:
    t.remove("environment/Dockerfile")
    t.change("task.toml", "cpus = 1", 'cpus = 1\ndocker_image = "debian:bookworm-20260101"')


@near("invalid-task-files")
def two_steps(t: Draft) -> None:
    t.remove("instruction.md")
    t.append("task.toml", '\n[[steps]]\nname = "one"\n\n[[steps]]\nname = "two"\n')
    for name in ("one", "two"):
        t.write(f"steps/{name}/instruction.md", "Count.\n")


@near("invalid-task-files")
def bundled_tests(t: Draft) -> None:
    t.append("task.toml", '\n[verifier.environment]\ndocker_image = "judges/count:1.0"\n')
    for path in ("tests/test.sh", "tests/poem.txt"):
        t.remove(path)


@bad("no-oracle", where="solution/solve.sh")
def no_solution(t: Draft) -> None:
    t.remove("solution/solve.sh")


@near("no-oracle")
def windows_solution(t: Draft) -> None:
    t.change("task.toml", "cpus = 1", 'cpus = 1\nos = "windows"')
    t.remove("solution/solve.sh")
    t.remove("tests/test.sh")
    t.write("solution/solve.bat", "echo 1\r\n")
    t.write("tests/test.bat", "echo 1 > C:\\logs\\verifier\\reward.txt\r\n")


@bad("bad-step-name", where="task.toml", line=22)
def steps_collide(t: Draft) -> None:
    t.append("task.toml", '\n[[steps]]\nname = "one"\n\n[[steps]]\nname = "One"\n')
    t.write("steps/one/instruction.md", "Count.\n")


@bad("bad-step-name")
def step_without_directory(t: Draft) -> None:
    t.append("task.toml", '\n[[steps]]\nname = "one"\n')


@near("bad-step-name")
def step_with_blank(t: Draft) -> None:
    t.append("task.toml", '\n[[steps]]\nname = "step one"\n')
    t.write("steps/step one/instruction.md", "Count.\n")


@bad("unused-harborignore", where=".harborignore")
def harborignore_in_root(t: Draft) -> None:
    t.write(".harborignore", "*.log\n")


@near("unused-harborignore")
def harborignore_in_tests(t: Draft) -> None:
    t.write("tests/.harborignore", "*.log\n")


# ---------------------------------------------------------------- the verifier's place


@bad("invalid-artifact", where="task.toml", line=2)
def artifact_climbs(t: Draft) -> None:
    t.change(
        "task.toml",
        "\n[task]",
        'artifacts = ["/app/../etc", { source = "/app/counts.txt", destination = "manifest.json" }]\n\n[task]',
    )


@near("invalid-artifact")
def artifact_fine(t: Draft) -> None:
    t.change(
        "task.toml",
        "\n[task]",
        'artifacts = [{ source = "/app/counts.txt", destination = "out/counts.txt" }]\n\n[task]',
    )


@bad("overlapping-artifacts")
def artifacts_overlap(t: Draft) -> None:
    t.change("task.toml", "\n[task]", 'artifacts = ["/app", "/app/counts.txt"]\n\n[task]')


@near("overlapping-artifacts")
def artifacts_side_by_side(t: Draft) -> None:
    t.change("task.toml", "\n[task]", 'artifacts = ["/app/out", "/app/output"]\n\n[task]')


@bad("artifact-log-overlap")
def artifact_in_logs(t: Draft) -> None:
    t.change("task.toml", "\n[task]", 'artifacts = ["/logs/verifier/out"]\n\n[task]')


@near("artifact-log-overlap")
def artifact_beside_logs(t: Draft) -> None:
    t.change("task.toml", "\n[task]", 'artifacts = ["/logs2/out"]\n\n[task]')


@bad("artifact-not-carried", where="tests/test.sh", line=4)
def output_stays_behind(t: Draft) -> None:
    t.change("task.toml", "timeout_sec = 120.0", 'timeout_sec = 120.0\nenvironment_mode = "separate"')


@bad("artifact-not-carried", where="tests/judge.py", line=2)
def output_of_python_stays(t: Draft) -> None:
    t.change("task.toml", "timeout_sec = 120.0", 'timeout_sec = 120.0\nenvironment_mode = "separate"')
    t.write(
        "tests/judge.py",
        f"try:\n    ok = open('/app/counts.txt').read()\nfinally:\n    open('{RW}', 'w').write('0')\n",
    )
    t.judge("python3 /tests/judge.py\n")


@near("artifact-not-carried")
def output_carried(t: Draft) -> None:
    t.change("task.toml", "timeout_sec = 120.0", 'timeout_sec = 120.0\nenvironment_mode = "separate"')
    t.change("task.toml", "\n[task]", 'artifacts = ["/app/counts.txt"]\n\n[task]')
    t.before("cd /app && ls /app/data/poem.txt /logs/artifacts/x")


@bad("shared-verifier", select="shared-verifier")
def shares_container(t: Draft) -> None:
    t.append("task.toml", "")


@near("shared-verifier", select="shared-verifier")
def own_container(t: Draft) -> None:
    t.append("task.toml", "[verifier.environment]\ncpus = 1\n")


@bad("root-agent", select="root-agent")
def works_as_root(t: Draft) -> None:
    t.append("task.toml", "")


@near("root-agent", select="root-agent")
def works_as_user(t: Draft) -> None:
    t.append("environment/Dockerfile", "RUN useradd -m agent\nUSER agent\n")


@bad("offline-solution", where="solution/solve.sh", line=4)
def oracle_downloads(t: Draft) -> None:
    t.append("solution/solve.sh", "pip install numpy==2.0.0\n")


@near("offline-solution")
def oracle_may_download(t: Draft) -> None:
    t.append("solution/solve.sh", "pip install numpy==2.0.0\n")
    t.change("task.toml", '"no-network"', '"public"')


# ---------------------------------------------------------------- names and links


@bad("colliding-names", where="environment/data/poem.txt")
def case_collision(t: Draft) -> None:
    t.write("environment/data/Poem.txt", "another\n")


@bad("colliding-names", "unportable-name")
def unicode_collision(t: Draft) -> None:
    t.write("environment/data/caf\u00e9.txt", "one\n")
    t.write("environment/data/cafe\u0301.txt", "two\n")


@near("colliding-names")
def nearly_the_same(t: Draft) -> None:
    t.write("environment/data/Poem.md", "another\n")
    t.write("environment/poem.txt", "deeper\n")


@bad("unportable-name", where="environment/data/aux.js")
def device_name(t: Draft) -> None:
    t.write("environment/data/aux.js", "1\n")


@bad("unportable-name")
def line_break_in_name(t: Draft) -> None:
    t.write("environment/data/a\nb.txt", "1\n")


@bad("unportable-name")
def name_not_utf8(t: Draft) -> None:
    t.write(os.fsdecode(b"environment/data/caf\xe9.txt"), "1\n")


@bad("unportable-name")
def colon_and_dot(t: Draft) -> None:
    t.write("environment/data/a:b", "1\n")
    t.write("environment/data/end.", "1\n")


@near("unportable-name")
def plain_names(t: Draft) -> None:
    t.write("environment/data/auxiliary.js", "1\n")
    t.write("environment/data/名字 with blank.txt", "1\n")


@bad("bad-symlink", where="environment/data/out")
def link_outside(t: Draft) -> None:
    t.link("environment/data/out", "../../../other")


@bad("bad-symlink")
def link_absolute(t: Draft) -> None:
    t.link("tests/hosts", "/etc/hosts")


@bad("bad-symlink")
def link_circle(t: Draft) -> None:
    t.link("environment/data/a", "b")
    t.link("environment/data/b", "a")


@bad("bad-symlink")
def link_dangling(t: Draft) -> None:
    t.link("environment/data/current", "gone.txt")


@bad("bad-symlink")
def link_to_parent(t: Draft) -> None:
    t.link("environment/data/up", "..")


@near("bad-symlink")
def link_inside(t: Draft) -> None:
    t.link("environment/data/current", "./poem.txt")
    t.link("environment/data/twice", "../data/current")


@bad("special-file", where="environment/data/pipe")
def a_pipe(t: Draft) -> None:
    os.mkfifo(t.root / "environment/data/pipe")


@near("special-file")
def empty_file_and_folder(t: Draft) -> None:
    t.write("environment/data/empty", "")
    os.mkdir(t.root / "environment/data/folder")


# ---------------------------------------------------------------- leaks


@bad("answer-leak", where="environment/ref/run.sh")
def solution_copied(t: Draft) -> None:
    t.write("environment/ref/run.sh", (t.root / "solution/solve.sh").read_bytes(), 0o755)


@bad("answer-leak", where="environment/data/notes.txt")
def solution_contained(t: Draft) -> None:
    text = (t.root / "solution/solve.sh").read_text()
    t.write("environment/data/notes.txt", f"Notes\n=====\n  {text.splitlines()[2]}\nthe end\n")


@bad("answer-leak", where="environment/data/solved.txt")
def expected_values(t: Draft) -> None:
    t.write("tests/expected.txt", "5\n5\n0\n3\nand a line\n")
    t.write("environment/data/solved.txt", "5\n5\n0\n3\nand a line\n")


@bad("answer-leak", where="environment/Dockerfile")
def solution_in_dockerfile(t: Draft) -> None:
    text = (t.root / "solution/solve.sh").read_text()
    t.append("environment/Dockerfile", f"RUN {text.splitlines()[2]} || true\n")


@bad("answer-leak", where="instruction.md")
def answer_in_instruction(t: Draft) -> None:
    text = (t.root / "solution/solve.sh").read_text()
    t.append("instruction.md", f"\n    {text.splitlines()[2]}\n")


@bad("answer-leak", where="environment/data/next/app.js")
def migrated_file(t: Draft) -> None:
    old = "".join(f"export const part{n} = 'kept as it was {n}';\n" for n in range(20))
    new = old + "".join(f"export const added{n} = 'only in the answer {n}';\n" for n in range(5))
    t.write("environment/data/now/app.js", old)
    t.write("environment/data/now/same.js", "export const untouched = 'in both states';\n")
    t.write("solution/now/app.js", new)
    t.write("solution/now/same.js", "export const untouched = 'in both states';\n")
    t.write("environment/data/next/app.js", new + "// a copy\n")


@near("answer-leak")
def migration_keeps_files(t: Draft) -> None:
    old = "".join(f"export const part{n} = 'kept as it was {n}';\n" for n in range(20))
    t.write("environment/data/now/app.js", old)
    t.write("environment/data/now/same.js", "export const untouched = 'in both states';\n")
    t.write("solution/now/app.js", old.replace("part3", "renamed3"))
    t.write("solution/now/same.js", "export const untouched = 'in both states';\n")


@near("answer-leak")
def left_out_of_the_image(t: Draft) -> None:
    t.write("environment/ref/run.sh", (t.root / "solution/solve.sh").read_bytes(), 0o755)
    t.write("environment/.dockerignore", "ref\n")


@near("answer-leak")
def shared_library(t: Draft) -> None:
    t.write("tests/data/words.csv", "word,count\na,3\nrose,2\nis,1\n")
    t.write("environment/data/words.csv", "word,count\na,3\nrose,2\nis,1\n")


@bad("agent-image-test-leak", "copy-source-missing", where="environment/Dockerfile", line=4)
def copies_tests(t: Draft) -> None:
    t.append("environment/Dockerfile", "COPY ../tests/test.sh /opt/check.sh\n")


@near("agent-image-test-leak")
def copies_fixture_tests(t: Draft) -> None:
    t.write("environment/tests/unit.js", "export const works = true;\n")
    t.append("environment/Dockerfile", "COPY tests /app/tests\n")


@bad("secret-in-task", where="environment/data/.npmrc", line=1)
def npm_token(t: Draft) -> None:
    t.write("environment/data/.npmrc", "//registry.acme.dev/:_authToken=npm_" + "aB3dE6gH9" * 4 + "\n")


@bad("secret-in-task")
def private_key(t: Draft) -> None:
    t.write("tests/key.pem", "-----BEGIN RSA PRIVATE" + " KEY-----\nMIIE\n")


@near("secret-in-task")
def example_token(t: Draft) -> None:
    t.write("environment/data/.env", "KEY=AKIAIOSFODNN7EXAMPLE\nTOKEN=sk-test\n")


@bad("machine-path", where="instruction.md", line=3)
def home_of_author(t: Draft) -> None:
    t.append("instruction.md", "The source is in /Users/somebody/src/words.\n")


@near("machine-path")
def path_in_container(t: Draft) -> None:
    t.append("instruction.md", "The source is in /home/agent/words and ~/words.\n")
    t.append("environment/Dockerfile", "RUN mkdir -p /home/mary/words\n")
    t.append("solution/solve.sh", "ls /home/mary/words\n")


# ---------------------------------------------------------------- history


def _repository(t: Draft) -> None:
    t.write("environment/data/repo/app.py", "def add(a, b):\n    return a - b\n")
    t.git("environment/data/repo", "init", "-q", "-b", "main")
    t.git("environment/data/repo", "add", ".")
    t.git("environment/data/repo", "commit", "-qm", "before")


@bad("git-history-leak", where="environment/data/repo/.git")
def another_branch(t: Draft) -> None:
    _repository(t)
    t.git("environment/data/repo", "checkout", "-qb", "fix")
    t.write("environment/data/repo/app.py", "def add(a, b):\n    return a + b\n")
    t.git("environment/data/repo", "commit", "-qam", "the fix")
    t.git("environment/data/repo", "checkout", "-q", "main")


@bad("git-history-leak")
def only_the_reflog(t: Draft) -> None:
    _repository(t)
    t.write("environment/data/repo/app.py", "def add(a, b):\n    return a + b\n")
    t.git("environment/data/repo", "commit", "-qam", "the fix")
    t.git("environment/data/repo", "reset", "-q", "--hard", "HEAD~1")


@bad("git-history-leak")
def a_stash(t: Draft) -> None:
    _repository(t)
    t.write("environment/data/repo/app.py", "def add(a, b):\n    return a + b\n")
    t.git("environment/data/repo", "stash", "-q")


@bad("git-history-leak")
def unreachable_blob(t: Draft) -> None:
    _repository(t)
    t.write("environment/data/repo/fixed.py", "def add(a, b):\n    return a + b\n")
    t.git("environment/data/repo", "hash-object", "-w", "fixed.py")
    t.remove("environment/data/repo/fixed.py")


@bad("git-history-leak")
def bare_repository(t: Draft) -> None:
    _repository(t)
    t.write("environment/data/repo/app.py", "def add(a, b):\n    return a + b\n")
    t.git("environment/data/repo", "commit", "-qam", "the fix")
    t.git("environment/data", "clone", "-q", "--bare", "repo", "upstream")
    import shutil

    shutil.rmtree(t.root / "environment/data/repo")


@near("git-history-leak")
def one_commit(t: Draft) -> None:
    _repository(t)


@bad("git-clone-history", where="environment/Dockerfile", line=4)
def whole_clone(t: Draft) -> None:
    t.append(
        "environment/Dockerfile", "RUN git clone https://code.example.net/x.git && git -C x checkout 1a2b3c\n"
    )


@near("git-clone-history")
def shallow_clone(t: Draft) -> None:
    t.append("environment/Dockerfile", "RUN git clone --depth 1 https://code.example.net/x.git\n")


@bad("nested-git-folder", where="environment/data/repo/.git")
def git_in_git(t: Draft) -> None:
    t.git("", "init", "-q", "-b", "main")
    _repository(t)


@near("nested-git-folder")
def git_without_outer(t: Draft) -> None:
    _repository(t)


# ---------------------------------------------------------------- provenance


def _slice(t: Draft, *, licence: bool = True) -> None:
    digest = hashlib.sha256((t.root / "environment/data/poem.txt").read_bytes()).hexdigest()
    t.write(
        "environment/provenance/SOURCE.md", f"https://code.example.net/poems\ncommit {'1a2b3c4d5e' * 4}\n"
    )
    t.write("environment/provenance/SHA256SUMS", f"{digest}  data/poem.txt\n")
    if licence:
        t.write("environment/LICENSE", "Do what you want.\n")


@bad("provenance-incomplete", where="environment/provenance")
def commit_missing(t: Draft) -> None:
    _slice(t)
    t.write("environment/provenance/SOURCE.md", "https://code.example.net/poems, last spring\n")


@near("provenance-incomplete")
def provenance_whole(t: Draft) -> None:
    _slice(t)


@bad("provenance-mismatch", where="environment/data/poem.txt")
def slice_changed(t: Draft) -> None:
    _slice(t)
    t.append("environment/data/poem.txt", "one more line\n")


@bad("provenance-mismatch", where="environment/provenance/SHA256SUMS", line=2)
def slice_file_gone(t: Draft) -> None:
    _slice(t)
    t.append("environment/provenance/SHA256SUMS", f"{'0' * 64}  data/gone.txt\n")


@near("provenance-mismatch")
def digests_as_json(t: Draft) -> None:
    _slice(t)
    digest = hashlib.sha256((t.root / "environment/data/poem.txt").read_bytes()).hexdigest()
    t.write(
        "environment/provenance/files.json",
        f'{{"files": [{{"path": "data/poem.txt", "sha256": "{digest}"}}]}}\n',
    )


@bad("licence-missing", where="environment/provenance")
def no_licence(t: Draft) -> None:
    _slice(t, licence=False)


@near("licence-missing")
def accepted_licence(t: Draft) -> None:
    _slice(t, licence=False)
    record = '{"licence": {"accepted_by": "Kim Lee", "accepted_why": "written permission"}}\n'
    t.write("environment/provenance/provenance.json", record)


@near("licence-missing")
def british_licence(t: Draft) -> None:
    _slice(t, licence=False)
    t.write("environment/data/LICENCE.txt", "Do what you want.\n")
