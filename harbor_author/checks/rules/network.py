"""Network use and installs while judging."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from harbor_author.checks.context import TaskFiles
from harbor_author.checks.findings import Problem, Severity
from harbor_author.checks.registry import rule
from harbor_author.checks.script import Command, parse_script

#: This machine, or a service of the task: its name has no dot.
_LOCAL = re.compile(
    r"^(?:(?:https?|git|ssh|ftp)://)?(?:[\w.-]+@)?"
    r"(?:[A-Za-z][\w-]*|127\.\d+\.\d+\.\d+|0\.0\.0\.0|\[::1?\]|host\.docker\.internal)(?::(?!//)|[/?]|$)"
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
        shared one depends on the network just as much. Where the task gives a shared judge its network, as
        Harbor's own template for those does, this is a warning.
    Bad: curl -LsSf https://example.org/install.sh | sh
    Good: the tool is installed in the Dockerfile, with its version
    Fix: move the download into the Dockerfile and pin what it fetches.
    """
    for path, (command, what, more) in _first_of_each(files, download).items():
        message = f"network use while judging: {what[:100]}{more}"
        yield Problem(message, path, command.line, command.column, severity=_severity(files, what))
    yield from _code_downloads(files)


def _first_of_each(
    files: TaskFiles, question: Callable[[Command], str]
) -> dict[str, tuple[Command, str, str]]:
    """Script -> the first command that the question has an answer to, the answer, and how many more there are."""
    found: dict[str, list[tuple[Command, str]]] = {}
    for path, command in _judging(files):
        what = question(command)
        if what:
            found.setdefault(path, []).append((command, what))
    return {
        path: (*all_[0], f" (and at line {', '.join(str(c.line) for c, _ in all_[1:])})" if all_[1:] else "")
        for path, all_ in found.items()
    }


def _severity(files: TaskFiles, what: str) -> Severity | None:
    """A warning where the task gives a shared judge its network, as Harbor's own template for those does."""
    if files.separate_verifier:
        return None
    environment, verifier = files.table("environment"), files.table("verifier")
    mode = verifier.get("network_mode", environment.get("network_mode"))
    if mode is None:
        mode = "no-network" if environment.get("allow_internet") is False else "public"
    if mode == "allowlist":
        hosts = verifier.get("allowed_hosts", environment.get("allowed_hosts"))
        allowed = [str(h).removeprefix("*.") for h in hosts] if isinstance(hosts, list) else []
        # An install names no host: a list that has any may be meant for it.
        named = re.search(r"://([^/:\s]+)", what)
        return "warning" if allowed and (not named or any(named[1].endswith(h) for h in allowed)) else None
    return "warning" if mode == "public" else None


_CODE_FETCH = re.compile(
    r"""\b(?:requests\.(?:get|post|head|put|request)|urllib\.request\.urlopen|urlopen|httpx\.(?:get|post)|fetch|urlretrieve|
    read_(?:csv|json|parquet|excel|table)|
    https?\.(?:get|request)|axios(?:\.(?:get|post))?)\(\s*f?["'`](?P<url>https?://[^"'`\s]+)""",
    re.VERBOSE,
)


def _code_downloads(files: TaskFiles) -> Iterator[Problem]:
    for prefix in files.tests_prefixes:
        for entry in files.files(prefix):
            if not entry.name.endswith((".py", ".mjs", ".js", ".cjs", ".ts")) or files.is_binary(entry.path):
                continue
            text = files.text(entry.path)
            if entry.name.endswith(".py"):
                yield from _hub_downloads(files, entry.path, text)
            if "http" not in text:
                continue
            for match in _CODE_FETCH.finditer(text):
                if _LOCAL.search(match["url"]) or re.match(r"https?://(?:\$\{|\{)", match["url"]):
                    continue
                line = text.count("\n", 0, match.start()) + 1
                start = text.rfind("\n", 0, match.start()) + 1
                if text[start : match.start()].lstrip().startswith(("#", "//", "*")):
                    continue
                message = f"network use while judging: {match['url'][:100]}"
                severity = _severity(files, match["url"])
                yield Problem(message, entry.path, line, match.start() - start + 1, severity=severity)


#: What Hugging Face's libraries fetch by a repository's name.
_HUB = re.compile(
    r"\b(?P<call>load_dataset|snapshot_download|hf_hub_download|from_pretrained)\(\s*(?:repo_id\s*=\s*)?"
    r"[\"'](?P<name>[A-Za-z0-9][\w.-]*/[\w.-]+)[\"']"
)


def _hub_downloads(files: TaskFiles, path: str, text: str) -> Iterator[Problem]:
    if (
        "HF_HUB_OFFLINE" in text
        or "local_files_only" in text
        or not re.search(r"huggingface_hub|datasets|transformers", text)
    ):
        return
    for match in _HUB.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        message = f"network use while judging: {match['call']} of {match['name'][:80]}"
        yield Problem(message, path, line, severity=_severity(files, "hub"))


_LIST_INSTALL = re.compile(
    r"""[\[(,]\s*["'](?P<tool>pip3?|npm|apt-get|apt|pnpm|cargo)["']\s*,\s*["']install["']"""
)
_LINE_INSTALL = re.compile(
    r"""\b(?:os\.system|subprocess\.\w+|check_call|check_output|execSync|exec|run)\(\s*f?["'`](?P<line>[^"'`\n]{4,300})["'`]"""
)


def _code_installs(files: TaskFiles) -> Iterator[Problem]:
    """Installs that the judge's programs start."""
    for prefix in files.tests_prefixes:
        for entry in files.files(prefix):
            if not entry.name.endswith((".py", ".mjs", ".js", ".cjs")) or files.is_binary(entry.path):
                continue
            text = files.text(entry.path)
            if "install" not in text:
                continue
            found = [(m.start(), f"{m['tool']} install") for m in _LIST_INSTALL.finditer(text)]
            for match in _LINE_INSTALL.finditer(text):
                commands = parse_script(match["line"]).commands
                found += [(match.start(), what) for what in map(installs, commands) if what]
            for offset, what in sorted(found)[:1]:
                line = text.count("\n", 0, offset) + 1
                if not text[text.rfind("\n", 0, offset) + 1 : offset].lstrip().startswith(("#", "//", "*")):
                    message = f"installs while judging: {what[:100]}"
                    yield Problem(message, entry.path, line, severity=_severity(files, what))


@rule(name="verifier-runtime-install", pack="harbor", severity="error", harbor=True)
def verifier_runtime_install(files: TaskFiles) -> Iterator[Problem]:
    """The judge installs software while it judges.

    Why: `uvx --with pytest` resolved anew for each trial took a third of the verifier's time limit, and failed with
        the network off; a new release of a plugin turned every reward to 0. A warning where a shared judge has its
        network.
    Bad: pip install pytest==8.4.1 in test.sh
    Good: RUN pip install pytest==8.4.1 in the Dockerfile
    Fix: install it in the image that judges: environment/Dockerfile, or tests/Dockerfile for a separate verifier.
    """
    for path, (command, what, more) in _first_of_each(files, installs).items():
        message = f"installs while judging: {what[:100]}{more}"
        yield Problem(message, path, command.line, command.column, severity=_severity(files, what))
    yield from _code_installs(files)
