"""Small Harbor tasks that are broken or unusual in one respect each, for comparison with the real Harbor.

Each function returns what differs from a task whose solution writes `done` into /app/answer and whose judge rewards
just that. Its docstring says what is odd about it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

Files = dict[str, str | bytes | None]

_TASK = """\
schema_version = "1.4"

[task]
name = "odd/{name}"
description = "An odd task"

[agent]
timeout_sec = 60.0

[verifier]
timeout_sec = 60.0

[environment]
build_timeout_sec = 120.0
"""
_DOCKERFILE = "FROM node:24-bookworm\nWORKDIR /app\n"
_SOLVE = "#!/bin/bash\necho done > /app/answer\n"
_JUDGE = """\
#!/bin/bash
mkdir -p /logs/verifier
if [ "$(cat /app/answer 2>/dev/null)" = done ]; then reward=1; else reward=0; fi
echo $reward > /logs/verifier/reward.txt
"""

ODD_TASKS: dict[str, Callable[[], Files]] = {}


def _odd(function: Callable[[], Files]) -> Callable[[], Files]:
    ODD_TASKS[function.__name__.replace("_", "-")] = function
    return function


def write_task(name: str, parent: Path) -> Path:
    """Create the odd task under `parent`, in a directory of its own name; scripts are executable."""
    directory = parent / name
    files: Files = {
        "task.toml": _TASK,
        "instruction.md": "Write done into /app/answer.\n",
        "environment/Dockerfile": _DOCKERFILE,
        "solution/solve.sh": _SOLVE,
        "tests/test.sh": _JUDGE,
        **ODD_TASKS[name](),
    }
    for relative, content in files.items():
        if content is None:
            continue
        path = directory / relative
        path.parent.mkdir(parents=True, exist_ok=True)
        data = (
            content if isinstance(content, bytes) else content.replace("odd/{name}", f"odd/{name}").encode()
        )
        path.write_bytes(data)
        path.chmod(0o755 if path.suffix == ".sh" else 0o644)
    return directory


def _task_with(changes: Mapping[str, str], root: str = "") -> str:
    """The task file with lines added under the named tables (`""`: before the first) and new tables at the end."""
    text = _TASK.replace('schema_version = "1.4"\n', f'schema_version = "1.4"\n{root}')
    for table, lines in changes.items():
        header = f"[{table}]\n"
        text = text.replace(header, f"{header}{lines}\n") if header in text else f"{text}\n{header}{lines}\n"
    return text


def _judge_that(lines: str) -> Files:
    return {"tests/test.sh": f"#!/bin/bash\n{lines}\n"}


def _judge_when(condition: str) -> Files:
    """A judge whose reward is whether a condition of bash holds and the answer is there."""
    return _judge_that(
        f'if [ "$(cat /app/answer)" = done ] && {condition}; then reward=1; else reward=0; fi\n'
        "echo $reward > /logs/verifier/reward.txt"
    )


# --- the rows of the table "Twenty broken tasks"


@_odd
def sound() -> Files:
    """Nothing is odd."""
    return {}


@_odd
def solve_fails_undone() -> Files:
    """solve.sh ends with status 3 and has done nothing."""
    return {"solution/solve.sh": "#!/bin/bash\nexit 3\n"}


@_odd
def solve_fails_done() -> Files:
    """solve.sh ends with status 3 after solving."""
    return {"solution/solve.sh": _SOLVE + "exit 3\n"}


@_odd
def judge_exits_1_with_reward() -> Files:
    """test.sh writes its reward, then ends with status 1."""
    return {"tests/test.sh": _JUDGE + "exit 1\n"}


@_odd
def judge_writes_nothing() -> Files:
    """test.sh writes no reward."""
    return _judge_that("echo nothing to say")


@_odd
def crlf_judge() -> Files:
    """test.sh has CRLF line endings."""
    return {"tests/test.sh": _JUDGE.replace("\n", "\r\n")}


@_odd
def crlf_solve() -> Files:
    """solve.sh has CRLF line endings."""
    return {"solution/solve.sh": _SOLVE.replace("\n", "\r\n")}


@_odd
def no_solution() -> Files:
    """There is no solution directory."""
    return {"solution/solve.sh": None}


@_odd
def reward_word() -> Files:
    """reward.txt holds a word."""
    return _judge_that("echo yes > /logs/verifier/reward.txt")


@_odd
def reward_empty() -> Files:
    """reward.txt is empty."""
    return _judge_that(": > /logs/verifier/reward.txt")


@_odd
def reward_json_wins() -> Files:
    """reward.txt says 0, reward.json says 1 and more."""
    return _judge_that(
        """echo 0 > /logs/verifier/reward.txt; echo '{"reward": 1, "style": 0.5}' > /logs/verifier/reward.json"""
    )


@_odd
def reward_json_string() -> Files:
    """The reward in reward.json is a string."""
    return _judge_that("""echo '{"reward": "1"}' > /logs/verifier/reward.json""")


@_odd
def reward_json_true() -> Files:
    """The reward in reward.json is a boolean."""
    return _judge_that("""echo '{"reward": true}' > /logs/verifier/reward.json""")


@_odd
def reward_above_one() -> Files:
    """The reward is 2.5."""
    return _judge_that("echo 2.5 > /logs/verifier/reward.txt")


@_odd
def no_shebang() -> Files:
    """Neither script has a first line that names an interpreter."""
    first = "#!/bin/bash\n"
    return {"tests/test.sh": _JUDGE.removeprefix(first), "solution/solve.sh": _SOLVE.removeprefix(first)}


@_odd
def judge_too_slow() -> Files:
    """test.sh runs into [verifier] timeout_sec."""
    return {
        "task.toml": _TASK.replace("[verifier]\ntimeout_sec = 60.0", "[verifier]\ntimeout_sec = 3.0"),
        "tests/test.sh": "#!/bin/bash\nsleep 40\n" + _JUDGE,
    }


@_odd
def solve_too_slow() -> Files:
    """solve.sh runs into [agent] timeout_sec after it solved the task: the judge still runs."""
    return {
        "task.toml": _TASK.replace("[agent]\ntimeout_sec = 60.0", "[agent]\ntimeout_sec = 3.0"),
        "solution/solve.sh": _SOLVE + "sleep 40\n",
    }


@_odd
def build_fails() -> Files:
    """A RUN of the Dockerfile fails."""
    return {"environment/Dockerfile": _DOCKERFILE + "RUN echo the reason >&2; exit 7\n"}


@_odd
def agent_user_unknown() -> Files:
    """[agent] user is not in the image."""
    return {"task.toml": _task_with({"agent": 'user = "nobody-here"'})}


@_odd
def unknown_keys() -> Files:
    """[environment] has a key that Harbor does not know."""
    return {"task.toml": _task_with({"environment": 'memroy_mb = 64\ncolour = "blue"'})}


@_odd
def cpus_many() -> Files:
    """[environment] cpus is no number, so Harbor does not load the task."""
    return {"task.toml": _task_with({"environment": 'cpus = "many"'})}


# --- rewards


@_odd
def reward_json_scalar() -> Files:
    """reward.json is a bare number."""
    return _judge_that("echo 0.25 > /logs/verifier/reward.json")


@_odd
def reward_json_other_key() -> Files:
    """reward.json has numbers, none of them called reward."""
    return _judge_that("""echo '{"style": 1, "speed": 0.5}' > /logs/verifier/reward.json""")


@_odd
def reward_json_list() -> Files:
    """reward.json is a list."""
    return _judge_that("echo '[1]' > /logs/verifier/reward.json")


@_odd
def reward_json_broken() -> Files:
    """reward.json is no JSON, while reward.txt is fine."""
    return _judge_that("echo 1 > /logs/verifier/reward.txt; echo '{' > /logs/verifier/reward.json")


@_odd
def reward_json_empty() -> Files:
    """reward.json is empty, while reward.txt is fine."""
    return _judge_that("echo 1 > /logs/verifier/reward.txt; : > /logs/verifier/reward.json")


@_odd
def reward_nan() -> Files:
    """The reward is not a number."""
    return _judge_that("echo nan > /logs/verifier/reward.txt")


@_odd
def reward_infinite() -> Files:
    """The reward is infinite."""
    return _judge_that("echo inf > /logs/verifier/reward.txt")


@_odd
def reward_negative() -> Files:
    """The reward is below 0."""
    return _judge_that("echo -1 > /logs/verifier/reward.txt")


@_odd
def reward_spaced() -> Files:
    """Space and empty lines stand around the reward."""
    return _judge_that(r"printf '\n  1e0 \n\n' > /logs/verifier/reward.txt")


@_odd
def reward_two_lines() -> Files:
    """reward.txt holds two numbers."""
    return _judge_that(r"printf '1\n0\n' > /logs/verifier/reward.txt")


@_odd
def rewards_file_misnamed() -> Files:
    """The judge writes rewards.json, as Harbor's own scaffold says, which nobody reads."""
    return _judge_that("""echo '{"reward": 1}' > /logs/verifier/rewards.json""")


@_odd
def reward_in_image() -> Files:
    """The image brings a reward, and the judge writes none."""
    return {
        "environment/Dockerfile": _DOCKERFILE
        + "RUN mkdir -p /logs/verifier && echo 1 > /logs/verifier/reward.txt\n",
        **_judge_that("true"),
    }


@_odd
def reward_by_solution() -> Files:
    """The solution writes the reward, and the judge writes none."""
    return {"solution/solve.sh": _SOLVE + "echo 1 > /logs/verifier/reward.txt\n", **_judge_that("true")}


# --- users, folders, variables


@_odd
def agent_user_node() -> Files:
    """solve.sh runs as another user than the judge."""
    return {
        "task.toml": _task_with({"agent": 'user = "node"'}),
        "environment/Dockerfile": _DOCKERFILE + "RUN chmod 777 /app\n",
        **_judge_when("[ $(stat -c %U /app/answer) = node ] && [ $(id -u) = 0 ]"),
    }


@_odd
def image_user_node() -> Files:
    """The image has a USER, who runs both scripts."""
    return {
        "environment/Dockerfile": _DOCKERFILE + "RUN chmod 777 /app\nUSER node\n",
        **_judge_when(
            '[ $(stat -c %U /app/answer) = node ] && [ "$(id -un)" = node ] && [ "$HOME" = /home/node ]'
        ),
    }


@_odd
def verifier_user_node() -> Files:
    """The judge runs as another user, by number."""
    return {"task.toml": _task_with({"verifier": "user = 1000"}), **_judge_when("[ $(id -u) = 1000 ]")}


@_odd
def workdir_set() -> Files:
    """[environment] workdir wins over the image's WORKDIR, for both scripts."""
    return {
        "task.toml": _task_with({"environment": 'workdir = "/srv"'}),
        "solution/solve.sh": '#!/bin/bash\n[ "$PWD" = /srv ] && echo done > /app/answer\n',
        **_judge_when('[ "$PWD" = /srv ]'),
    }


@_odd
def variables() -> Files:
    """Each script has its own variables; the solution's win over the environment's and stay out of the judge."""
    return {
        "task.toml": _task_with(
            {
                "environment.env": 'WHERE = "environment"\nBOTH = "environment"\nELSE = "${ODD_TASK_UNSET:-else}"',
                "solution.env": 'BOTH = "solution"',
                "verifier.env": 'ONLY = "verifier"',
            }
        ),
        "solution/solve.sh": '#!/bin/bash\nseen="$BOTH $WHERE $ELSE $ONLY $DEBIAN_FRONTEND"\n'
        '[ "$seen" = "solution environment else  noninteractive" ] && echo done > /app/answer\n',
        **_judge_when(
            '[ "$BOTH $WHERE $ELSE $ONLY $DEBIAN_FRONTEND" = "environment environment else verifier " ]'
        ),
    }


@_odd
def bare_environment() -> Files:
    """The judge sees HOME, PATH, HOSTNAME and what bash adds, nothing more."""
    image = "NODE_.*|PIP_CERT|SSL_CERT_FILE|YARN_VERSION"
    names = f"env | sed 's/=.*//' | grep -vxE '_|HOME|HOSTNAME|OLDPWD|PATH|PWD|SHLVL|{image}'"
    return _judge_when(f'[ -z "$({names})" ]')


@_odd
def folders() -> Files:
    """Where things lie: the judge in /tests, the solution in /solution (the oracle's alone), logs open to all."""
    return {
        "solution/data/extra.txt": "extra\n",
        "tests/data/expected.txt": "done\n",
        "solution/solve.sh": "#!/bin/bash\n"
        "[ $(cat /solution/data/extra.txt) = extra ] && [ ! -e /tests ] && echo done > /app/answer\n",
        **_judge_when(
            "cmp -s /app/answer /tests/data/expected.txt && [ $(stat -c %a /logs/agent) = 777 ] && "
            "[ $(stat -c %a /logs/verifier) = 777 ] && [ $(stat -c %a /logs/artifacts) = 777 ]"
        ),
    }


@_odd
def scripts_not_executable() -> Files:
    """Only the two scripts are made executable, not what lies beside them."""
    return {
        "tests/helper.txt": "#!/bin/bash\nexit 0\n",
        **_judge_when("[ -x /tests/test.sh ] && ! [ -x /tests/helper.txt ]"),
    }


@_odd
def harborignore() -> Files:
    """What .harborignore names is not copied."""
    return {
        "tests/.harborignore": "secret.txt\n*.log\n",
        "tests/secret.txt": "secret\n",
        "tests/kept.txt": "kept\n",
        "tests/deep/trace.log": "log\n",
        **_judge_when(
            "[ -e /tests/kept.txt ] && [ ! -e /tests/secret.txt ] && [ ! -e /tests/deep/trace.log ]"
        ),
    }


@_odd
def hidden_and_odd_names() -> Files:
    """Hidden files and names with space, quotes and Chinese arrive as they are."""
    return {
        "tests/.hidden": "x",
        "tests/a b/'quoted' 文件.txt": "x",
        **_judge_when("[ -e /tests/.hidden ] && [ -e \"/tests/a b/'quoted' 文件.txt\" ]"),
    }


# --- processes and output


@_odd
def stdin_closed() -> Files:
    """Scripts that read standard input do not hang."""
    return {
        "solution/solve.sh": "#!/bin/bash\ncat > /app/input\necho done > /app/answer\n",
        **_judge_when('[ -z "$(timeout 5 cat)" ]'),
    }


@_odd
def background_process() -> Files:
    """The solution leaves a process behind, which still runs when the judge does."""
    return {
        "solution/solve.sh": "#!/bin/bash\n"
        "nohup bash -c 'while sleep 0.1; do echo done > /app/answer; done' >/dev/null 2>&1 &\n",
        **_judge_that("rm -f /app/answer; sleep 0.5\n" + _JUDGE),
    }


@_odd
def judge_leaves_process() -> Files:
    """The judge leaves a process behind that keeps no output open."""
    return {"tests/test.sh": _JUDGE + "nohup sleep 300 >/dev/null 2>&1 </dev/null &\n"}


@_odd
def binary_output() -> Files:
    """Both scripts print what is no text."""
    noise = "head -c 200000 /dev/urandom\n"
    return {"solution/solve.sh": _SOLVE + noise, "tests/test.sh": _JUDGE + noise}


@_odd
def judge_killed() -> Files:
    """The judge kills itself before it has written a reward."""
    return _judge_that("kill -9 $$")


@_odd
def judge_killed_with_reward() -> Files:
    """The judge is killed after it has written its reward."""
    return {"tests/test.sh": _JUDGE + "kill -9 $$\n"}


@_odd
def judge_out_of_memory() -> Files:
    """The judge takes more memory than the container has."""
    return {
        "task.toml": _task_with({"environment": "memory_mb = 128"}),
        **_judge_that("node -e 'const all = []; for (;;) all.push(Buffer.alloc(1 << 24, 1))'"),
    }


@_odd
def judge_not_a_shell() -> Files:
    """test.sh names an interpreter that is not there."""
    return {"tests/test.sh": _JUDGE.replace("#!/bin/bash", "#!/usr/bin/no-such-shell")}


@_odd
def entrypoint() -> Files:
    """The image has an entrypoint that passes its arguments on."""
    return {
        "environment/entry.sh": '#!/bin/sh\ntouch /app/entered\nexec "$@"\n',
        "environment/Dockerfile": _DOCKERFILE + 'COPY entry.sh /entry.sh\nENTRYPOINT ["/entry.sh"]\n',
        **_judge_when("[ -e /app/entered ]"),
    }


# --- other parts of the format


@_odd
def prebuilt_image() -> Files:
    """docker_image instead of a Dockerfile."""
    return {
        "task.toml": _task_with({"environment": 'docker_image = "node:24-bookworm"'}),
        "environment/Dockerfile": None,
        "solution/solve.sh": "#!/bin/bash\nmkdir -p /app\necho done > /app/answer\n",
    }


@_odd
def prebuilt_image_no_workdir() -> Files:
    """docker_image with a workdir that is not there."""
    return {
        "task.toml": _task_with({"environment": 'docker_image = "node:24-bookworm"\nworkdir = "/nowhere"'}),
        "environment/Dockerfile": None,
    }


@_odd
def healthy() -> Files:
    """A health check that passes at its second try."""
    return {
        "task.toml": _task_with(
            {
                "environment.healthcheck": 'command = "test -e /app/tried || { touch /app/tried; false; }"\n'
                "interval_sec = 0.2\nstart_interval_sec = 0.2\nretries = 3"
            }
        ),
        **_judge_when("[ -e /app/tried ]"),
    }


@_odd
def unhealthy() -> Files:
    """A health check that never passes."""
    return {
        "task.toml": _task_with(
            {"environment.healthcheck": 'command = "false"\ninterval_sec = 0.2\nretries = 2'}
        )
    }


def _memory_is(megabytes: int) -> str:
    """A condition of bash, for both generations of control groups."""
    files = "/sys/fs/cgroup/memory/memory.limit_in_bytes /sys/fs/cgroup/memory.max"
    return f"[ $(cat {files} 2>/dev/null | head -1) = {megabytes * 1024 * 1024} ]"


@_odd
def memory_limit() -> Files:
    """The container has the memory of task.toml."""
    return {
        "task.toml": _task_with({"environment": "memory_mb = 256\ncpus = 1"}),
        **_judge_when(_memory_is(256)),
    }


@_odd
def deprecated_keys() -> Files:
    """`version`, and memory as text, as old tasks have them."""
    return {
        "task.toml": _task_with({"environment": 'memory = "512M"'}).replace("schema_version", "version"),
        **_judge_when(_memory_is(512)),
    }


@_odd
def no_task_table() -> Files:
    """task.toml without [task], which only publishing needs."""
    return {"task.toml": _TASK.replace('[task]\nname = "odd/{name}"\ndescription = "An odd task"\n', "")}


@_odd
def no_judge() -> Files:
    """There is no test.sh, so Harbor does not load the task."""
    return {"tests/test.sh": None, "tests/other.txt": "x"}


@_odd
def separate_verifier() -> Files:
    """The judge runs in a container of its own, which gets only what is declared."""
    return {
        "task.toml": _task_with(
            {"verifier": 'environment_mode = "separate"'}, root='artifacts = ["/app/answer"]\n'
        ),
        "solution/solve.sh": _SOLVE + "touch /app/undeclared\n",
        **_judge_when("[ ! -e /app/undeclared ]"),
    }


@_odd
def separate_verifier_undeclared() -> Files:
    """The same without the declaration: the answer does not cross."""
    return {"task.toml": _task_with({"verifier": 'environment_mode = "separate"'})}


@_odd
def separate_verifier_own_image() -> Files:
    """The judge's image holds the judge."""
    return {
        "task.toml": _task_with(
            {"verifier": 'environment_mode = "separate"'}, root='artifacts = ["/app/answer"]\n'
        ),
        "tests/Dockerfile": "FROM node:24-bookworm\nWORKDIR /app\nCOPY test.sh /tests/test.sh\n",
    }


@_odd
def collect() -> Files:
    """A command after the agent makes the artifact that the separate judge needs."""
    return {
        "task.toml": _task_with(
            {"verifier": 'environment_mode = "separate"'}, root='artifacts = ["/app/answer"]\n'
        )
        + '\n[[verifier.collect]]\ncommand = "cp /app/draft /app/answer"\n',
        "solution/solve.sh": "#!/bin/bash\necho done > /app/draft\n",
    }


def _steps(minimum: str) -> Files:
    judge = "#!/bin/bash\n[ -e /app/{0} ] && r=1 || r=0; echo $r > /logs/verifier/reward.txt\n"
    return {
        "task.toml": _TASK + f'\n[[steps]]\nname = "first"\n{minimum}\n[[steps]]\nname = "second"\n',
        "instruction.md": None,
        "tests/test.sh": None,
        "solution/solve.sh": None,
        "steps/first/instruction.md": "First.\n",
        "steps/first/tests/test.sh": judge.format("one"),
        "steps/first/solution/solve.sh": "#!/bin/bash\ntouch /app/one\n",
        "steps/second/instruction.md": "Second.\n",
        "steps/second/tests/test.sh": judge.format("two"),
        "steps/second/workdir/setup.sh": "#!/bin/bash\ntouch /app/ready\n",
        "steps/second/solution/solve.sh": "#!/bin/bash\n[ -e /app/one ] && [ -e /app/ready ] && touch /app/two\n",
    }


@_odd
def two_steps() -> Files:
    """Two steps in one container."""
    return _steps("")


@_odd
def two_steps_with_minimum() -> Files:
    """The second step only runs when the first was good enough."""
    return _steps("min_reward = 1.0")
