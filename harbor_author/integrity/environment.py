"""What a process that works on a copy may see of this machine: named variables, an empty home, no configuration."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from harbor_author.integrity.errors import IntegrityError, printable
from harbor_author.integrity.removal import RUN_VARIABLE

#: Taken over from this machine; everything else is set here or stays out.
INHERITED = ("PATH",)

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SECRET_NAME = re.compile(
    r"(?:^|_)(?:KEY|KEYS|APIKEY|TOKEN|SECRET|SECRETS|PASSWORD|PASSWD|CREDENTIALS?|AUTH|COOKIE|SESSION)(?:_|$)"
    r"|^(?:AWS|AZURE|GCP|GOOGLE|ANTHROPIC|OPENAI|GITHUB|GH|NPM|SSH|GPG)_",
    re.IGNORECASE,
)
#: A variable that would change how the tools below load code or configuration.
_LOADER_NAME = re.compile(r"^(?:LD_|DYLD_|GIT_|PYTHON(?!HASHSEED$)|NODE_OPTIONS$|BASH_ENV$|ENV$)")
_TOOLS = {"git": ["git", "--version"], "node": ["node", "--version"], "npm": ["npm", "--version"]}


def workspace_environment(
    workspace: Path,
    *,
    variables: Mapping[str, str] | None = None,
    clock_s: int | None = None,
    seed: int | None = None,
) -> dict[str, str]:
    """The whole environment for a process in `workspace`, a copy made by `with_fixture_copy`.

    HOME, TMPDIR and the caches are fresh directories beside the workspace and vanish with it; git and the tools that
    look for configuration in a home or above a working directory find none.

    Args:
        variables: further ones that the task's definition names.
        clock_s: a fixed clock, seconds since the epoch, as SOURCE_DATE_EPOCH.
        seed: of random numbers, as PYTHONHASHSEED and HARBOR_AUTHOR_SEED.

    Raises:
        IntegrityError: a variable's name is not one, or is that of a secret or of a loader's setting.
    """
    home, temporary = workspace.parent / "home", workspace.parent / "tmp"
    for folder in (home, temporary):
        folder.mkdir(mode=0o700, exist_ok=True)
    environment = {name: os.environ[name] for name in INHERITED if name in os.environ}
    for name, value in (variables or {}).items():
        environment[_allowed(name)] = value
    environment |= {
        "HOME": str(home),
        "TMPDIR": str(temporary),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "XDG_CACHE_HOME": str(home / ".cache"),
        "LANG": "C.UTF-8",
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_SYSTEM": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CEILING_DIRECTORIES": str(workspace.parent),
        "GIT_TERMINAL_PROMPT": "0",
        RUN_VARIABLE: workspace.parent.name,
    }
    if clock_s is not None:
        environment["SOURCE_DATE_EPOCH"] = str(clock_s)
    if seed is not None:
        environment |= {"PYTHONHASHSEED": str(seed), "HARBOR_AUTHOR_SEED": str(seed)}
    return environment


def toolchain() -> dict[str, str]:
    """Versions of the platform, Python, git, Node.js and npm as their tools print them; "absent" where missing."""
    found = {
        "platform": f"{platform.system()} {platform.release()} {platform.machine()}",
        "python": platform.python_version(),
    }
    for name, command in _TOOLS.items():
        found[name] = _first_line(command)
    return found


def _first_line(command: Sequence[str]) -> str:
    try:
        output = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return "absent"
    return printable((output.splitlines() or ["absent"])[0])


def _allowed(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise IntegrityError(f"{printable(name)!r} is not the name of an environment variable")
    if _SECRET_NAME.search(name) or _LOADER_NAME.search(name):
        raise IntegrityError(
            f"the variable {name} may not reach a working copy",
            hint="secrets and settings of loaders stay out; name the variable after what the test needs",
        )
    return name
