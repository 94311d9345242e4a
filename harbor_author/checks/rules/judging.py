"""What the judge's shell scripts do while judging: programs, paths, network, other processes."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

from harbor_author.checks.context import TaskFiles
from harbor_author.checks.findings import Problem
from harbor_author.checks.registry import rule
from harbor_author.checks.reward import INTERPRETERS
from harbor_author.checks.script import UNKNOWN, Command

_LOCAL = re.compile(
    r"^(?:https?://)?(?:localhost|127\.\d+\.\d+\.\d+|0\.0\.0\.0|\[::1?\]|host\.docker\.internal)(?:[:/]|$)"
)
_REMOTE = re.compile(r"^(?:https?|ftp|git|ssh)://|^git@")
_OFFLINE = frozenset(
    {"--offline", "--no-index", "--prefer-offline", "--dry-run", "--no-download", "-h", "--help"}
)
_INSTALLERS: dict[str, tuple[str, ...]] = {
    "apt-get": ("install", "update", "upgrade", "dist-upgrade"),
    "apt": ("install", "update", "upgrade"),
    "apk": ("add", "update", "upgrade"),
    "yum": ("install", "update"),
    "dnf": ("install", "update"),
    "pip": ("install", "download"),
    "pip3": ("install", "download"),
    "pipx": ("install", "run"),
    "npm": ("install", "i", "ci", "add"),
    "pnpm": ("install", "i", "add", "dlx"),
    "yarn": ("install", "add", "dlx"),
    "bun": ("install", "add"),
    "gem": ("install",),
    "cargo": ("install",),
    "go": ("install", "get"),
    "conda": ("install",),
    "poetry": ("install", "add"),
    "corepack": ("prepare",),
}


def _judging(files: TaskFiles) -> Iterator[tuple[str, Command]]:
    """Every command of every shell script that runs while judging."""
    for path in files.verifier_scripts:
        for command in files.script(path).commands:
            yield path, command


def download(command: Command) -> str:
    """What a command fetches from the network, in words; "" when nothing, or only from this machine."""
    name, args = command.name, command.args
    if _OFFLINE & set(args):
        return ""
    if name in ("curl", "wget", "aria2c", "http", "https"):
        addresses = [a for a in command.operands if "." in a or "localhost" in a or "://" in a]
        if any(_REMOTE.search(a) and not _LOCAL.search(a) for a in addresses):
            return f"{name} {next(a for a in addresses if _REMOTE.search(a) and not _LOCAL.search(a))}"
        bare = [
            a for a in addresses if re.fullmatch(r"[\w-]+(?:\.[\w-]+)+(?:/.*)?", a) and not _LOCAL.search(a)
        ]
        # The value of -o is a file's name; a host stands alone or has a known ending.
        bare = [a for a in bare if re.search(r"\.(?:com|org|net|io|dev|sh|ai|cn)(?:/|$)", a)]
        return f"{name} {bare[0]}" if bare else ""
    if name == "git" and args[:1] and args[0] in ("clone", "fetch", "pull", "ls-remote", "submodule"):
        remote = [a for a in args[1:] if _REMOTE.search(a) and not _LOCAL.search(a)]
        return f"git {args[0]} {remote[0]}" if remote else ""
    return ""


def installs(command: Command) -> str:
    """What a command installs, in words; "" when it installs nothing from the network."""
    argv = list(command.argv)
    if argv[:1] and re.fullmatch(r"(?:.*/)?python[\d.]*", argv[0]) and argv[1:3] == ["-m", "pip"]:
        argv = ["pip", *argv[3:]]
    if not argv or _OFFLINE & set(argv):
        return ""
    name = argv[0].rsplit("/", 1)[-1]
    verbs = [a for a in argv[1:] if not a.startswith("-")]
    if name == "uvx" or (
        name == "uv" and verbs[:2] in (["tool", "run"], ["pip", "install"], ["tool", "install"])
    ):
        return " ".join(argv[:6])
    if name == "uv" and verbs[:1] in (["add"], ["sync"]):
        return " ".join(argv[:6])
    if name == "uv" and verbs[:1] == ["run"] and any(a in ("--with", "-w") for a in argv):
        return " ".join(argv[:6])
    if name == "npx" and ("-y" in argv or "--yes" in argv):
        return " ".join(argv[:6])
    if verbs[:1] and verbs[0] in _INSTALLERS.get(name, ()):
        local = verbs[1:] and all(re.match(r"\.{0,2}/|file:", v) for v in verbs[1:])
        # A path on this machine needs no network, but what it depends on may: only pip can be told not to look.
        if local and (name not in ("pip", "pip3") or "--no-deps" in argv):
            return ""
        return " ".join(argv[:6])
    return ""


@rule(name="verifier-network-download", pack="harbor", severity="error", harbor=True)
def verifier_network_download(files: TaskFiles) -> Iterator[Problem]:
    """The judge fetches something from the network while it judges.

    Why: a test.sh that began with `curl .../install.sh | sh` scored 0 for every agent on the day that the host was
        down, and what it fetches can change between two runs. Harbor's lint looks at separate verifiers alone; a
        shared one depends on the network just as much.
    Bad: curl -LsSf https://example.org/install.sh | sh
    Good: the tool is installed in the Dockerfile, with its version
    Fix: move the download into the Dockerfile and pin what it fetches.
    """
    for path, command in _judging(files):
        what = download(command)
        if what:
            yield Problem(f"network use while judging: {what[:100]}", path, command.line, command.column)
    yield from _code_downloads(files)


_CODE_FETCH = re.compile(
    r"""\b(?:requests\.(?:get|post|head|put|request)|urllib\.request\.urlopen|urlopen|httpx\.(?:get|post)|fetch|
    https?\.(?:get|request)|axios(?:\.(?:get|post))?)\(\s*f?["'`](?P<url>https?://[^"'`\s]+)""",
    re.VERBOSE,
)


def _code_downloads(files: TaskFiles) -> Iterator[Problem]:
    for prefix in files.tests_prefixes:
        for entry in files.files(prefix):
            if not entry.name.endswith((".py", ".mjs", ".js", ".cjs", ".ts")) or files.is_binary(entry.path):
                continue
            text = files.text(entry.path)
            for match in _CODE_FETCH.finditer(text):
                if _LOCAL.search(match["url"]) or re.match(r"https?://(?:\$\{|\{)", match["url"]):
                    continue
                line = text.count("\n", 0, match.start()) + 1
                start = text.rfind("\n", 0, match.start()) + 1
                if text[start : match.start()].lstrip().startswith(("#", "//", "*")):
                    continue
                message = f"network use while judging: {match['url'][:100]}"
                yield Problem(message, entry.path, line, match.start() - start + 1)


@rule(name="verifier-runtime-install", pack="harbor", severity="error", harbor=True)
def verifier_runtime_install(files: TaskFiles) -> Iterator[Problem]:
    """The judge installs software while it judges.

    Why: `uvx --with pytest` resolved anew for each trial took a third of the verifier's time limit, and failed with
        the network off; a new release of a plugin turned every reward to 0.
    Bad: pip install pytest==8.4.1 in test.sh
    Good: RUN pip install pytest==8.4.1 in the Dockerfile
    Fix: install it in the image that judges: environment/Dockerfile, or tests/Dockerfile for a separate verifier.
    """
    for path, command in _judging(files):
        what = installs(command)
        if what:
            yield Problem(f"installs while judging: {what[:100]}", path, command.line, command.column)


_PLACE = re.compile(r"^/(?P<root>tests|solution)/(?P<path>[^\s*?\[\]{}$\ufffc]+)$")


@rule(name="missing-test-path", pack="harbor", severity="error")
def missing_test_path(files: TaskFiles) -> Iterator[Problem]:
    """A script names a file below /tests or /solution that the task does not have.

    Why: a judge's helper was renamed, its call was `python3 /tests/missing.py || true`, and every later line ran
        without what it should have prepared; the task looked green for months.
    Bad: python3 /tests/missing.py || true
    Good: python3 /tests/check.py, and tests/check.py is there
    Fix: correct the path or add the file.
    """
    scripts = [(p, "tests") for p in files.verifier_scripts]
    scripts += [(p, "solution") for p in files.shell_scripts if p.startswith(tuple(files.solution_prefixes))]
    for path, home in scripts:
        made = _made(files, path)
        for command in files.script(path).commands:
            for word in (*command.argv, *(r.target for r in command.redirects if r.operator.endswith("<"))):
                match = _PLACE.match(word)
                if match is None or command.name in (
                    "mkdir",
                    "rm",
                    "touch",
                    "ls",
                    "chmod",
                    "tee",
                    "export",
                    "[",
                ):
                    continue
                if command.name in ("cp", "mv", "install", "ln", "tar") and word == command.argv[-1]:
                    continue
                if match["root"] != home and home == "tests":
                    # In a shared container the oracle alone brings /solution; a judge that needs it is wrong too.
                    yield Problem(
                        f"/solution is not there while judging: {word}", path, command.line, command.column
                    )
                    continue
                if match["root"] == "tests" and home == "solution":
                    yield Problem(
                        f"/tests is not there while the oracle runs: {word}",
                        path,
                        command.line,
                        command.column,
                    )
                    continue
                if _exists(files, match["root"], match["path"].rstrip("/")) or word in made:
                    continue
                hidden = ", and `|| true` hides that" if _swallowed(command) else ""
                message = f"{word} does not exist: the task has no {match['root']}/{match['path']}{hidden}"
                yield Problem(message, path, command.line, command.column)


def _exists(files: TaskFiles, root: str, path: str) -> bool:
    prefixes = files.tests_prefixes if root == "tests" else files.solution_prefixes
    if any(f"{prefix}{path}" in files.entries for prefix in prefixes):
        return True
    # A separate verifier's image may hold more than the folder.
    docker = files.dockerfiles.get("tests/Dockerfile")
    return root == "tests" and docker is not None


def _made(files: TaskFiles, path: str) -> set[str]:
    """Paths that a script writes itself."""
    made: set[str] = set()
    for command in files.script(path).commands:
        made.update(r.target for r in command.redirects if ">" in r.operator)
        if command.name in (
            "cp",
            "mv",
            "install",
            "ln",
            "tee",
            "touch",
            "mkdir",
            "curl",
            "wget",
            "git",
            "python3",
            "node",
        ):
            if command.name in ("cp", "mv", "install", "ln", "touch", "mkdir", "tee") and command.operands:
                made.add(command.operands[-1])
            for option, value in zip(command.args, command.args[1:], strict=False):
                if option in ("-o", "-O", "--output", "--out"):
                    made.add(value)
    return made


def _swallowed(command: Command) -> bool:
    """The command's failure is thrown away: `command || true`, or the same with `:`."""
    node = command.node
    while node is not None and node.parent is not None:
        parent = node.parent
        if parent.type == "list" and parent.named_children[0] == node:
            operator = next((c.type for c in parent.children if c.type in ("&&", "||")), "")
            other = parent.named_children[-1]
            text = other.text.decode("utf-8", "replace").strip() if other.text else ""
            if operator == "||":
                return text in ("true", ":", "/bin/true")
            return False
        if parent.type not in ("list", "redirected_statement", "pipeline"):
            return False
        node = parent
    return False


@rule(name="swallowed-failure", pack="harbor", severity="warning")
def swallowed_failure(files: TaskFiles) -> Iterator[Problem]:
    """The outcome of the judge's own program is thrown away.

    Why: `pytest /tests || true` followed by an unrelated test let a broken suite of tests pass for a year: nothing
        looked at what pytest had found.
    Bad: python3 /tests/check.py || true
    Good: if python3 /tests/check.py; then ...
    Fix: use the exit status, or write the output to a file that a later line reads.
    """
    for path in files.verifier_scripts:
        for command in files.script(path).commands:
            if command.name not in INTERPRETERS or not _swallowed(command):
                continue
            if not any("/tests" in word for word in command.argv) and command.name != "pytest":
                continue
            kept = any(">" in r.operator and r.target != "/dev/null" for r in command.redirects)
            written = any(re.search(r"--(?:ctrf|junit|json|out|report)", word) for word in command.argv)
            if kept or written or _captured(command) or _writes_reward(files, command):
                continue
            message = f"nothing looks at whether `{' '.join(command.words)[:60]}` succeeds"
            yield Problem(message, path, command.line, command.column)


def _writes_reward(files: TaskFiles, command: Command) -> bool:
    for word in command.argv:
        match = _PLACE.match(word)
        if match and match["root"] == "tests":
            for prefix in files.tests_prefixes:
                path = prefix + match["path"]
                if not files.is_file(path):
                    continue
                if re.search(r"/logs/verifier|/tmp/|writeFile|open\(", files.text(path)):
                    return True
    return False


def _captured(command: Command) -> bool:
    node = command.node
    while node is not None:
        if node.type in ("command_substitution", "pipeline", "if_statement"):
            return True
        node = node.parent
    return False


#: Programs that the judge, its engine or the agent's service run under too.
_COMMON = frozenset(
    [
        "bash",
        "sh",
        "dash",
        "zsh",
        "node",
        "nodejs",
        "npm",
        "npx",
        "pnpm",
        "yarn",
        "python",
        "python3",
        "ruby",
        "perl",
        "java",
        "php",
        "deno",
        "bun",
        "sleep",
        "cat",
        "tail",
        "init",
        "docker",
        "dsh",
        "make",
        "go",
        "cargo",
        "git",
        "ssh",
        "sudo",
        "tee",
        "timeout",
    ]
)


def broad_pattern(pattern: str) -> bool:
    """A pkill or killall pattern that matches processes of others."""
    bare = re.sub(r"\[(\w)\]", r"\1", pattern)
    bare = re.sub(r"\.\*|\.\+|[\^$\\]|\s+$", "", bare).strip()
    word = bare.split()[0].rsplit("/", 1)[-1] if bare.split() else ""
    if len(bare.split()) > 1:
        return False
    return not bare or word in _COMMON or (len(bare) < 3 and UNKNOWN not in bare)


@rule(name="broad-kill", pack="harbor", severity="error")
def broad_kill(files: TaskFiles) -> Iterator[Problem]:
    """A script ends processes by a name that others have too, its own shell among them.

    Why: `pkill -f bash` in a clean-up killed the shell that ran test.sh (exit 143) and, with it, the reward; the trial
        was counted as 0.
    Bad: pkill -f bash
    Good: kill "$server_pid", of a process that the script started itself
    Fix: keep the process's number (`cmd & pid=$!`) and kill that, or its own process group.
    """
    for path in (p for p in files.shell_scripts if not p.startswith("environment/")):
        for command in files.script(path).commands:
            message = _kills_others(command)
            if message:
                yield Problem(message, path, command.line, command.column)


def _kills_others(command: Command) -> str:
    name, args = command.name, command.args
    if name in ("pkill", "killall"):
        values = [a for a in command.operands if a != UNKNOWN]
        if any(a in ("-u", "-U", "--euid", "--uid", "-t", "--user") for a in args) and len(values) <= 1:
            return f"`{' '.join(command.words)[:60]}` ends every process of a user"
        signal = {"-s", "--signal"}
        values = [
            a for a, before in zip(args, ("", *args[:-1]), strict=True)
            if not a.startswith("-") and before not in signal and a != UNKNOWN
        ]  # fmt: skip
        if values and broad_pattern(values[-1]):
            return f"broad {name}: '{values[-1]}' matches processes that this script did not start, its own shell too"
    elif name == "kill" and any(a == "-1" for a in args[1:]):
        return "`kill ... -1` ends every process that it may"
    return ""


@rule(name="self-match-kill", pack="harbor", severity="error")
def self_match_kill(files: TaskFiles) -> Iterator[Problem]:
    """A `pkill -f` inside `sh -c` matches the very shell that runs it.

    Why: the whole string stands on that shell's command line. The bracket trick ([b]ench-h1) protects the pattern's own
        text alone; the plain name further on in the same string still matches, and the shell ends with 143.
    Bad: sh -c 'pkill -f [b]ench-x; rm -rf /tmp/bench-x'
    Good: sh -c 'rm -rf /tmp/bench-x', and kill "$pid" outside of it
    Fix: kill by process number, or put pkill on a line of its own outside `sh -c`.
    """
    for path in (p for p in files.shell_scripts if not p.startswith("environment/")):
        for command in files.script(path).commands:
            if not command.nested or command.name != "pkill" or not _full(command.args):
                continue
            if _matches_itself(command.operands[-1:] or [""], command.shell_line):
                message = "this pkill -f matches the `sh -c` line that it stands on, and ends its own shell"
                yield Problem(message, path, command.line, command.column)
    for prefix in files.tests_prefixes:
        for entry in files.files(prefix):
            if entry.name.endswith((".mjs", ".js", ".cjs", ".py")) and not files.is_binary(entry.path):
                yield from _in_code(files, entry.path)


def _full(args: tuple[str, ...]) -> bool:
    return any(re.fullmatch(r"-[a-zA-Z0-9]*f[a-zA-Z0-9]*", a) or a == "--full" for a in args)


def _matches_itself(pattern: list[str], line: str) -> bool:
    text = pattern[0] if pattern else ""
    if not text or UNKNOWN in text or len(text) > 200 or re.search(r"[*+{(]", text):
        return False
    try:
        return re.search(text, line) is not None
    except re.error:
        return False


_SHELL_CALL = re.compile(
    r"""(?:exec|execSync|os\.system|check_output|subprocess\.\w+)\(\s*f?(?P<q>["'`])(?P<line>(?:(?!(?P=q)).){0,500})(?P=q)""",
    re.DOTALL,
)
_SH_C = re.compile(
    r"""["'](?:ba|da)?sh["']\s*,\s*\[\s*["']-l?c["']\s*,\s*(?P<q>["'`])(?P<line>(?:(?!(?P=q)).){0,500})(?P=q)""",
    re.DOTALL,
)


def _in_code(files: TaskFiles, path: str) -> Iterator[Problem]:
    """The same in a judge: a string given to a shell that holds pkill."""
    from harbor_author.checks.script import parse_script

    text = files.text(path)
    if "pkill" not in text and "killall" not in text:
        return
    for match in [*_SHELL_CALL.finditer(text), *_SH_C.finditer(text)]:
        line = text.count("\n", 0, match.start()) + 1
        inner = re.sub(r"\$\{[^}]*\}|\{\w+\}", UNKNOWN, match["line"])
        for command in parse_script(inner).commands:
            broad = _kills_others(command)
            if broad:
                yield Problem(broad, path, line)
            elif (
                command.name == "pkill"
                and _full(command.args)
                and _matches_itself(command.operands[-1:], inner)
            ):
                yield Problem("this pkill -f matches the shell line that it stands on", path, line)


@rule(name="tests-directory-assumed", pack="harbor", severity="error")
def tests_directory_assumed(files: TaskFiles) -> Iterator[Problem]:
    """A script names one of its own files relative to the working directory, which is not /tests.

    Why: Harbor runs /tests/test.sh in the image's WORKDIR. `python3 check.py` worked where the author tried it, in
        tests/, and failed in every trial.
    Bad: python3 check.py
    Good: python3 /tests/check.py
    Fix: write the absolute path, or `cd "$(dirname "$0")"` first.
    """
    for path in files.verifier_scripts:
        folder = path.rsplit("/", 1)[0] + "/"
        moved = False
        for command in files.script(path).commands:
            if command.name in ("cd", "pushd"):
                moved = True
            if moved or command.name in ("[", "echo", "printf", "export", "local", "pytest", "cd"):
                continue
            words = (
                command.argv
                if command.name not in ("bash", "sh", "node", "python3", "python")
                else command.args
            )
            for word in [*words[:3], *(r.target for r in command.redirects if r.operator.endswith("<"))]:
                plain = word.removeprefix("./").removeprefix("tests/")
                if "/" in plain and not word.startswith(("tests/", "./")):
                    continue
                known = re.fullmatch(r"[\w.-]+\.\w+", plain) and files.is_file(folder + plain)
                if known and not word.startswith("/") and plain != "test.sh":
                    message = f"'{word}' is relative, but the working directory is the image's, not /tests"
                    yield Problem(message, path, command.line, command.column, f"write /tests/{plain}")
                    break


@rule(name="status-of-pipe", pack="harbor", severity="error")
def status_of_pipe(files: TaskFiles) -> Iterator[Problem]:
    """The status that decides the reward is that of `tee`, not of the tests.

    Why: `pytest ... | tee log; if [ $? -eq 0 ]` gave reward 1 to everyone: tee never fails.
    Bad: pytest /tests | tee log.txt; if [ $? -eq 0 ]; then echo 1 > reward.txt; fi
    Good: set -o pipefail first, or ${PIPESTATUS[0]}, or pytest /tests > log.txt
    Fix: begin the script with set -o pipefail.
    """
    for path in files.verifier_scripts:
        script = files.script(path)
        if "pipefail" in script.source or "PIPESTATUS" in script.source:
            continue
        for pipeline in script.nodes("pipeline"):
            parts = pipeline.named_children
            last = script.command(parts[-1]) if parts[-1].type == "command" else None
            first = (
                parts[0].child_by_field_name("body") if parts[0].type == "redirected_statement" else parts[0]
            )
            runs = script.command(first) if first is not None and first.type == "command" else None
            if (
                last is None
                or runs is None
                or last.name not in ("tee", "tail", "head", "cat", "sed", "ts", "sort")
            ):
                continue
            if runs.name not in INTERPRETERS:
                continue
            if _status_used(pipeline, script.slice):
                line, column = script.place(pipeline)
                yield Problem(
                    f"the status here is that of `{last.name}`, not of `{runs.name}`", path, line, column
                )


def _status_used(pipeline: object, text: object) -> bool:
    from tree_sitter import Node

    assert isinstance(pipeline, Node)
    assert callable(text)
    node: Node = pipeline
    while node.parent is not None and node.parent.type == "redirected_statement":
        node = node.parent
    parent = node.parent
    if parent is None:
        return False
    if parent.type == "list":
        return True
    if parent.type == "if_statement":
        children = parent.children
        then = next((c.start_byte for c in children if c.type == "then"), 0)
        if node.start_byte < then:
            return True
    after = node.next_named_sibling
    return after is not None and "$?" in text(after)[:300]


@rule(name="node-quote-broken", pack="harbor", severity="error")
def node_quote_broken(files: TaskFiles) -> Iterator[Problem]:
    r"""A single quote inside `node -e '...'` ends the shell's quoted string.

    Why: `node -e 'fetch('http://...')'` reached node as another program than was written; its syntax error was read as
        a failure of the agent's route.
    Bad: node -e 'console.log('x')'
    Good: node -e 'console.log("x")'
    Fix: use double quotes or backticks inside, or put the program into a file below tests/.
    """
    for path in (p for p in files.shell_scripts if not p.startswith("environment/")):
        for command in files.script(path).commands:
            if command.name not in ("node", "python3", "python", "perl", "ruby", "deno", "bun"):
                continue
            node = command.node
            if node is None:
                continue
            children = node.named_children
            for flag, value in itertools.pairwise(children):
                text = files.script(path).slice(flag)
                # 'abc'def'ghi': a quoted part, bare text and another quoted part without a blank between.
                if text not in ("-e", "-c", "-p", "--eval") or value.type != "concatenation":
                    continue
                kinds = [child.type for child in value.named_children]
                if kinds[0] == "raw_string" and kinds[-1] == "raw_string" and "word" in kinds:
                    bare = [c for c in value.named_children if c.type == "word"]
                    if any(files.script(path).slice(c) not in ("\\'", '"\'"') for c in bare):
                        message = f"a single quote inside the program of `{command.name} {text}` ends the shell's string"
                        yield Problem(message, path, command.line, command.column)
                        break


@rule(name="workspace-imports", pack="harbor", severity="warning")
def workspace_imports(files: TaskFiles) -> Iterator[Problem]:
    """The tests run where the agent's files shape them: conftest.py, sitecustomize, modules, PATH.

    Why: an agent's own conftest.py in /app was collected by `cd /app && pytest /tests` and turned failures into
        passes; `python3 -m pytest` puts the working directory first on the import path.
    Bad: cd /app && pytest /tests/test_outputs.py
    Good: cd / && pytest --rootdir=/tests --confcutdir=/tests -p no:cacheprovider /tests/test_outputs.py, or python3 -I
    Fix: leave the agent's directory before the tests start, or cut configuration off with --confcutdir and -I.
    """
    for path in files.verifier_scripts:
        inside = _workdir(files)
        for command in files.script(path).commands:
            if command.name in ("cd", "pushd") and command.operands:
                inside = command.operands[0]
                continue
            if command.name == "export" and any(
                re.match(r"(?:PYTHONPATH|PATH|NODE_PATH)=/app\b", a) for a in command.args
            ):
                yield Problem(
                    "the agent's directory is put first on a search path", path, command.line, command.column
                )
                continue
            argv = command.argv
            tool = command.name == "pytest" or ("pytest" in argv and command.name in INTERPRETERS)
            if not tool or not inside.startswith(("/app", "/workspace", "/home", "/root")):
                continue
            guarded = any(a.startswith(("--confcutdir", "--rootdir", "--noconftest", "-c")) for a in argv)
            if not guarded and any("/tests" in a for a in argv):
                message = f"pytest runs in {inside}, so a conftest.py or module there changes the outcome"
                yield Problem(message, path, command.line, command.column)


def _workdir(files: TaskFiles) -> str:
    """Where Harbor runs test.sh."""
    workdir = files.table("environment").get("workdir")
    if isinstance(workdir, str):
        return workdir
    return "/"
