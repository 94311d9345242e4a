# ruff: noqa: E501 - lists of hostile things are clearer as lists
"""Hostile task directories, generated: each tries to lead a reader out of itself, to hang it or to break it.

python -m tests.faults.hostile WORKDIR FIRST COUNT    validate that many of them, audited; prints one JSON line
"""

from __future__ import annotations

import json
import os
import random
import re
import resource
import shutil
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path

CANARY_TEXT = "the canary's secret"

_TASK = {
    "task.toml": (
        'schema_version = "1.4"\n[task]\nname = "scratch/x"\ndescription = "x"\n[metadata]\ncategory = "x"\n'
        "[agent]\ntimeout_sec = 60.0\n[verifier]\ntimeout_sec = 60.0\n[environment]\n"
    ),
    "instruction.md": "Do it.\n",
    "README.md": "# x\n",
    "environment/Dockerfile": "FROM node:24-bookworm\nCOPY fixture /app/fixture\nWORKDIR /app\n",
    "environment/fixture/package.json": '{"name": "x", "private": true}\n',
    "environment/fixture/index.js": "export const x = 1;\n",
    "tests/test.sh": "#!/bin/bash\nnode /tests/judge.mjs\necho 1 > /logs/verifier/reward.txt\n",
    "tests/judge.mjs": "console.log(JSON.stringify({ score: 100, max: 100, reasons: [] }));\n",
    "solution/solve.sh": "#!/bin/bash\ntouch /app/fixture/done\n",
    "solution/SOLUTION.md": "# x\n",
}
_NAMES = [
    *_TASK,
    "environment",
    "environment/fixture",
    "tests",
    "solution",
    ".gitignore",
    "environment/.dockerignore",
    "tests/.harborignore",
    "environment/docker-compose.yaml",
    "tests/ground-truth.json",
    "solution/decoys",
    "solution/variants",
    "CHANGES.md",
    "proof.json",
    "steps",
    ".git",
    "provenance",
    "environment/fixture/LICENSE",
    "solution/plugin",
    "solution/report.md",
    "tests/judge-utils.mjs",
]
_ODD = [
    "\x1b]0;owned\x07",
    "a\nb",
    "\u202egnp.exe",
    "-rf",
    "$(touch pwned)",
    "`id`",
    "{{ 7*7 }}",
    "<script>",
    "é",
    "é",
    "CON",
    "a" * 250,
]
_TEXTS = [
    b"",
    b"\x00" * 64,
    b"\xff\xfe\x00",
    b"\xef\xbb\xbfx",
    b"[" * 3000,
    b"{" * 3000,
    b"a = " + b"[" * 2000,
    b"x" * 200_000,
    b"\r\n" * 5000,
    b'{"a": ' * 2000,
    b"[a." + b"b." * 3000 + b"c]\n",
    b"FROM ../../../canary\nCOPY ../../canary/file /x\nADD /etc/passwd /x\n",
    b'FROM x\nCOPY --from=../canary a b\nCOPY ["../canary/file", "/x"]\nRUN --mount=type=bind,source=../canary cat x\n',
    b"services:\n  main:\n    privileged: true\n    volumes: ['../../canary:/x', '/var/run/docker.sock:/s']\n    env_file: ../../canary/file\n",
    b"a: &a [x]\nb: &b [*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c]\ne: [*d,*d,*d,*d]\n",
    b"!!python/object/apply:os.system ['touch pwned']\n",
    b"../../canary/file\n",
    b"!../../canary/**\n/../canary\n**/**/**/**/**/**/x\n" + b"*a" * 200 + b"\n",
    b"#include ../../canary/file\nimport x from '../../../canary/file.js';\nrequire('../../canary/file')\n",
    b"source ../../canary/file\n. /etc/profile\n",
    b"gitdir: ../../canary/gitdir\n",
    b"[core]\n\tfsmonitor = touch pwned\n",
    ("\u202e" * 400 + "\x1b[31m" * 400).encode(),
    b"(" * 4000,
    b"<" * 5000,
    b"`" * 9999,
    b'[task]\nname = "../../canary/file"\n[metadata]\nmode = "../.."\ncards = ["../../canary/file", 1, [], {}]\n[environment]\ndocker_image = "../x"\n',
    b'artifacts = [{source = "../../canary", destination = "/etc/x"}, ".."]\nsteps = [{name = "../../canary"}]\n',
    b'{"schema": "x", "trials": [{"name": "../../canary"}], "inputs": null}',
    b"max_score = 1e999\nreason = 1\n",
]


def make(folder: Path, canary: Path, seed: int) -> Path:
    """One hostile task directory below `folder`; the same for the same seed."""
    chance = random.Random(seed)
    task = folder.resolve() / f"H{seed + 1}-hostile"
    task.mkdir()
    for name, text in _TASK.items():
        path = task / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    for _ in range(chance.randint(1, 5)):
        with suppress(OSError):
            chance.choice(_ATTACKS)(task, canary, chance)
    return task


def _place(task: Path, chance: random.Random) -> Path:
    """A path in the task, free for something else: what was there is moved away or gone."""
    name = chance.choice(
        [*_NAMES, *(f"environment/fixture/{odd}" for odd in _ODD), *(f"tests/{odd}" for odd in _ODD)]
    )
    path = task / name
    _within(task, path.parent)
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_dir() and not path.is_symlink():
        path.rename(task / f"moved-{chance.random()}")
    elif os.path.lexists(path):
        path.unlink()
    return path


def _within(task: Path, folder: Path) -> None:
    """Refuse to go on through a link that an earlier attack has put in the way: the generator is no attacker."""
    if os.path.realpath(folder) != str(folder):
        raise OSError(f"{folder} leads out of {task}")


#: Neither through a link nor waiting for the reader of a FIFO.
_OVERWRITE = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_NONBLOCK


def _write(path: Path, data: bytes) -> None:
    """Write a file, never through a link: an earlier attack may have left one here that leads to the machine's own files."""
    with os.fdopen(os.open(path, _OVERWRITE, 0o644), "wb") as stream:
        stream.write(data)


def _link(task: Path, canary: Path, chance: random.Random) -> None:
    path = _place(task, chance)
    relative = os.path.relpath(canary, path.parent)
    targets = [
        canary,
        canary / "file",
        canary / "file.js",
        relative,
        f"{relative}/file",
        "/proc/version",
        "/proc/self/environ",
        "/dev/zero",
    ]
    targets += [
        "/",
        "..",
        ".",
        path.name,
        "/nowhere",
        task,
        f"{relative}/fifo",
        "/dev/stdin",
        "../" * 60,
        f"{canary}/../canary/file",
    ]
    path.symlink_to(chance.choice(targets))


def _chain(task: Path, canary: Path, chance: random.Random) -> None:
    path = _place(task, chance)
    (task / "hop1").symlink_to("hop2")
    (task / "hop2").symlink_to(chance.choice([canary / "file", canary, "hop1"]))
    path.symlink_to(os.path.relpath(task / "hop1", path.parent))


def _special(task: Path, _: Path, chance: random.Random) -> None:
    path = _place(task, chance)
    kind = chance.choice(["fifo", "socket", "zero", "block"])
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(str(path))
    else:
        os.mknod(path, 0o600 | (0o020000 if kind == "zero" else 0o060000), os.makedev(1, 5))


def _text(task: Path, _: Path, chance: random.Random) -> None:
    data = b"".join(chance.choices(_TEXTS, k=chance.randint(1, 2)))
    _write(_place(task, chance), data)


def _mangle(task: Path, _: Path, chance: random.Random) -> None:
    path = task / chance.choice(list(_TASK))
    _within(task, path.parent)
    if path.is_symlink() or not path.is_file() or path.stat().st_size > 1 << 20:
        return
    data = bytearray(path.read_bytes())
    for _ in range(chance.randint(1, 12)):
        at = chance.randrange(len(data) + 1)
        data[at : at + chance.randint(0, 3)] = chance.randbytes(chance.randint(0, 3))
    _write(path, data)


def _directory(task: Path, _: Path, chance: random.Random) -> None:
    path = _place(task, chance)
    path.mkdir(mode=chance.choice([0o755, 0o000, 0o4755]))


def _deep(task: Path, _: Path, chance: random.Random) -> None:
    path = task / chance.choice(["environment/fixture", "tests", "solution"])
    _within(task, path)
    for _ in range(chance.choice([60, 210])):
        path /= "d"
    path.mkdir(parents=True)


def _huge(task: Path, _: Path, chance: random.Random) -> None:
    with _place(task, chance).open("wb") as stream:
        stream.truncate(chance.choice([1 << 24, 1 << 30, 1 << 36]))


def _odd_name(task: Path, _: Path, chance: random.Random) -> None:
    folder = task / chance.choice(["environment/fixture", "tests", "solution"])
    _within(task, folder)
    name = chance.choice([os.fsencode(odd) for odd in _ODD] + [b"\xff\xfe", b"a\\b", b" ", b"..."])
    _write(folder / os.fsdecode(name), chance.choice(_TEXTS))


def _git(task: Path, canary: Path, chance: random.Random) -> None:
    """A repository whose configuration and hooks would run something or read outside."""
    git = task / chance.choice([".git", "environment/fixture/.git"])
    _within(task, git)
    if git.exists():
        return  # one that leads astray already, perhaps by links
    for part in ("objects/info", "refs/heads", "hooks", "info"):
        (git / part).mkdir(parents=True, exist_ok=True)
    (git / "HEAD").write_text(
        chance.choice(["ref: refs/heads/main\n", "ref: ../../../canary/file\n", "x" * 40, ""])
    )
    pwned = f"touch {canary.parent / 'pwned'}"
    settings = [
        f"fsmonitor = {pwned}",
        f"sshCommand = {pwned}",
        f"pager = {pwned}",
        f"editor = {pwned}",
        f"hooksPath = {canary}",
        f"worktree = {canary}",
        f"excludesFile = {canary / 'file'}",
        f"attributesFile = {canary / 'file'}",
        f"gitProxy = {pwned}",
        "bare = true",
    ]
    config = "[core]\n\trepositoryformatversion = 0\n\t" + "\n\t".join(chance.choices(settings, k=2))
    config += chance.choice(
        [
            "",
            f"\n[include]\n\tpath = {canary / 'file'}\n",
            f'\n[filter "x"]\n\tclean = {pwned}\n\tsmudge = {pwned}\n',
        ]
    )
    config += f'\n[diff "x"]\n\ttextconv = {pwned}\n\tcommand = {pwned}\n[alias]\n\tstatus = !{pwned}\n'
    (git / "config").write_text(config)
    (git / "objects" / "info" / "alternates").write_text(f"{canary}\n")
    (git / "info" / "attributes").write_text("* filter=x diff=x\n")
    for hook in ("post-checkout", "pre-commit", "fsmonitor-watchman", "post-index-change"):
        (git / "hooks" / hook).write_text(f"#!/bin/sh\n{pwned}\n")
        (git / "hooks" / hook).chmod(0o755)


#: Settings that make git run something (`{run}`) or read something (`{canary}`), each in a repository that it would open.
_SETTINGS = [
    "[core]\n\tfsmonitor = {run}\n",
    "[core]\n\thooksPath = .git/hooks\n",
    "[core]\n\tworktree = {canary}\n",
    "[core]\n\talternateRefsCommand = {run}\n",
    "[core]\n\tattributesFile = {canary}/file\n\texcludesFile = {canary}/file\n",
    "[core]\n\tpager = {run}\n\teditor = {run}\n\tsshCommand = {run}\n\askPass = {run}\n",
    '[filter "x"]\n\tclean = {run}\n\tsmudge = {run}\n\tprocess = {run}\n\trequired = true\n',
    '[diff "x"]\n\ttextconv = {run}\n\tcachetextconv = true\n[diff]\n\texternal = {run}\n',
    '[diff "x"]\n\tcommand = {run}\n[merge "x"]\n\tdriver = {run}\n',
    "[include]\n\tpath = {canary}/config\n",
    '[includeIf "gitdir:**"]\n\tpath = {canary}/config\n',
    "[extensions]\n\tworktreeConfig = true\n",
    "[uploadpack]\n\tpackObjectsHook = {run}\n[gpg]\n\tprogram = {run}\n[log]\n\tshowSignature = true\n",
    "[alias]\n\tls-files = !{run}\n\tlog = !{run}\n\trev-list = !{run}\n[credential]\n\thelper = !{run}\n",
    '[mailmap]\n\tfile = {canary}/file\n[blame]\n\tignoreRevsFile = {canary}/file\n[trailer "x"]\n\tcmd = {run}\n',
]
_HOOKS = ("post-checkout", "pre-commit", "fsmonitor-watchman", "post-index-change", "reference-transaction")
#: What of a git directory may be a link, into that of the canary.
_GIT_LINKS = (
    "objects",
    "refs",
    "HEAD",
    "index",
    "packed-refs",
    "config",
    "logs",
    "refs/heads/main",
    "shallow",
)


#: How a repository leads astray.
GIT_KINDS = ("settings", "gitdir", "commondir", "alternates", "link")


def make_astray(folder: Path, canary: Path, chance: random.Random, kind: str) -> None:
    """Put a whole repository, with commits and an index, into `folder`, that leads git outside or has it run something."""
    git = folder / ".git"
    _within(folder, git)
    if kind == "gitdir":
        _write(git, f"gitdir: {chance.choice((canary, os.path.relpath(canary, folder)))}/.git\n".encode())
        return
    shutil.copytree(_own_repository(str(canary.parent)), git)
    run = f"touch {canary.parent / 'pwned'}"
    if kind == "settings":
        for text in chance.sample(_SETTINGS, 3):
            with (git / "config").open("a") as stream:
                stream.write(text.format(run=run, canary=canary))
        (git / "config.worktree").write_text(_SETTINGS[0].format(run=run))
    elif kind == "commondir":
        (git / "commondir").write_text(f"{canary}/.git\n")
    elif kind == "alternates":
        shutil.rmtree(git / "objects")
        (git / "objects" / "info").mkdir(parents=True)
        (git / "objects" / "info" / "alternates").write_text(f"{canary}/.git/objects\n")
        (git / "objects" / "info" / "http-alternates").write_text(f"{canary}/.git/objects\n")
    else:
        name = chance.choice(_GIT_LINKS)
        if (git / name).is_dir():
            shutil.rmtree(git / name)
        (git / name).unlink(missing_ok=True)
        (git / name).symlink_to(canary / ".git" / name)
    for hook in _HOOKS:
        (git / "hooks").mkdir(exist_ok=True)
        (git / "hooks" / hook).write_text(f"#!/bin/sh\n{run}\n")
        (git / "hooks" / hook).chmod(0o755)
    _write(
        folder / ".gitattributes", b"* filter=x diff=x merge=x ident text=auto working-tree-encoding=utf-7\n"
    )
    _write(
        folder / ".gitmodules", f'[submodule "x"]\n\tpath = x\n\turl = {canary}\n\tupdate = !{run}\n'.encode()
    )


@lru_cache
def _own_repository(folder: str) -> Path:
    """A sound git directory of two commits, made once in `folder`."""
    from tests.faults.commands import make_repository

    made = Path(folder) / "repository" / ".git"
    if not made.exists():
        make_repository(made.parent)
    return made


def _repository(task: Path, canary: Path, chance: random.Random) -> None:
    folder = task / chance.choice(["", "environment/fixture", "solution/plugin"])
    _within(task, folder)
    folder.mkdir(parents=True, exist_ok=True)
    make_astray(folder, canary, chance, chance.choice(("settings", "settings", *GIT_KINDS)))


_ATTACKS: list[Callable[[Path, Path, random.Random], None]] = [
    _link,
    _link,
    _link,
    _chain,
    _special,
    _text,
    _text,
    _text,
    _mangle,
    _mangle,
    _directory,
    _deep,
    _huge,
    _odd_name,
    _git,
    _repository,
    _repository,
]


def make_canary(folder: Path) -> Path:
    """What must be neither read nor changed: a directory beside the tasks, with files and a FIFO."""
    canary = folder / "canary"
    canary.mkdir()
    for name in (
        "file",
        "file.js",
        "gitdir",
        "index.js",
        "package.json",
        "solve.sh",
        "test.sh",
        "Dockerfile",
    ):
        (canary / name).write_text(CANARY_TEXT)
    os.mkfifo(canary / "fifo")
    (canary / "config").write_text(CANARY_TEXT)
    shutil.copytree(_own_repository(str(folder)), canary / ".git")
    return canary


@contextmanager
def audited(allowed: tuple[Path, ...]) -> Iterator[list[str]]:
    """What this process opens or lists outside `allowed` while the block runs; the hook itself cannot be removed."""
    seen: list[str] = []
    watching = [True]
    roots = tuple(str(path.resolve()) for path in allowed)

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        if (
            watching[0]
            and event in ("open", "os.listdir", "os.scandir")
            and isinstance(arguments[0], str | bytes)
        ):
            given = os.fsdecode(arguments[0])
            path = os.path.realpath(given)
            if event == "open" and isinstance(arguments[2], int) and arguments[2] & os.O_NOFOLLOW:
                path = f"{os.path.realpath(Path(given).parent)}/{Path(given).name}"
            if re.fullmatch(r"/proc/\d+/stat", path):
                return  # the owner of a temporary folder, which may be a batch beside this one
            if not any(path == root or path.startswith(root + "/") for root in roots):
                seen.append(f"{event} {path}")

    sys.addaudithook(hook)
    try:
        yield seen
    finally:
        watching[0] = False


def validate_batch(folder: Path, first: int, count: int) -> dict[str, object]:
    """Make `count` hostile tasks and validate them in this process, audited."""
    import sysconfig

    from harbor_author.checks import all_rules, find_tasks, validate

    canary = folder / "canary"
    tasks_dir = folder / f"tasks-{first}"
    tasks_dir.mkdir()
    for seed in range(first, first + count):
        make(tasks_dir, canary, seed)
    all_rules()
    repository = Path(__file__).parent.parent.parent
    libraries = [Path(path) for path in sysconfig.get_paths().values()] + [
        Path(sys.prefix),
        Path(sys.base_prefix),
    ]
    own = (folder / "tmp", folder / "cache", folder / "empty")
    # The last two: who owns a temporary folder.
    system = (
        *(Path("/dev/null"), Path("/usr"), Path("/proc/self/fd")),
        *(Path(f"/proc/{os.getpid()}/stat"), Path("/proc/sys/kernel/random/boot_id")),
    )
    allowed = (tasks_dir, *own, repository / "harbor_author", *libraries, *system)
    os.chdir(folder / "empty")
    with audited(allowed) as seen:
        report = validate(find_tasks([str(tasks_dir)], None), suite=None, jobs=1)
    text = json.dumps([asdict(finding) for finding in report.findings], default=str)
    return {
        "tasks": report.summary.tasks,
        "findings": len(report.findings),
        "tasks_with_findings": len({finding.task for finding in report.findings}),
        "opened_outside": sorted(set(seen)),
        "secret_in_findings": CANARY_TEXT in text,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10,
    }


if __name__ == "__main__":
    print(json.dumps(validate_batch(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))))
