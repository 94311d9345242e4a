"""What is the author's own: credentials and paths of a machine."""

from __future__ import annotations

import re
from collections.abc import Iterator

from harbor_author.checks.context import TaskFiles
from harbor_author.checks.findings import Problem
from harbor_author.checks.registry import rule

_SECRETS = (
    ("a private key", re.compile(r"-----BEGIN (?:RSA |EC |OPENSSH |DSA |PGP )?PRIVATE KEY")),
    ("an AWS key", re.compile(r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b")),
    ("a GitHub token", re.compile(r"\bgh[pousr]_[A-Za-z0-9]{36,}\b|\bgithub_pat_[A-Za-z0-9_]{60,}\b")),
    ("a model provider's key", re.compile(r"\bsk-(?:ant-|proj-)?[A-Za-z0-9_-]{32,}\b")),
    ("a Slack token", re.compile(r"\bxox[abprs]-[A-Za-z0-9-]{20,}\b")),
    ("a Google key", re.compile(r"\bAIza[0-9A-Za-z_-]{35}\b")),
    ("an npm token", re.compile(r"\bnpm_[A-Za-z0-9]{36}\b|_authToken=[A-Za-z0-9_-]{20,}")),
    ("a Hugging Face token", re.compile(r"\bhf_[A-Za-z0-9]{34}\b")),
)
#: A text that holds none of these holds no secret, and looking for them costs a fraction of a pattern.
_SIGNS = (
    *("-----BEGIN ", "AKIA", "ASIA", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "sk-", "xox"),
    *("AIza", "npm_", "_authToken=", "hf_"),
)
_FAKE = re.compile(
    r"example|dummy|fake|placeholder|redacted|xxxx|0000000|1234567890|abcdef0123|test[-_]?key", re.IGNORECASE
)


@rule(name="secret-in-task", pack="harbor", severity="error")
def secret_in_task(files: TaskFiles) -> Iterator[Problem]:
    """A credential lies in the task.

    Why: a fixture cut from a real project carried its .npmrc with a publish token into a public dataset.
    Bad: environment/fixture/.npmrc with //registry/:_authToken=npm_...
    Good: no credential, or one that says that it is an example
    Fix: remove it, revoke it where it was issued, and rewrite the history that holds it.
    """
    for entry in files.files():
        if files.is_binary(entry.path):
            continue
        text = files.text(entry.path)
        if not any(map(text.__contains__, _SIGNS)):
            continue
        for what, pattern in _SECRETS:
            for match in pattern.finditer(text):
                start = text.rfind("\n", 0, match.start()) + 1
                end = text.find("\n", match.end())
                if _FAKE.search(text[start : end if end >= 0 else len(text)][:500]):
                    continue
                yield Problem(
                    f"holds {what}",
                    entry.path,
                    text.count("\n", 0, match.start()) + 1,
                    match.start() - start + 1,
                )
                break


_MACHINE = re.compile(
    r"(?<![\w/.~-])(?:/home/(?!user\b|node\b|agent\b|ubuntu\b|app\b)[a-z][\w.-]*|/Users/[A-Za-z][\w.-]*|[A-Z]:\\\\?Users\\\\?\w+)(?=[/\\])"
)


@rule(name="machine-path", pack="harbor", severity="warning")
def machine_path(files: TaskFiles) -> Iterator[Problem]:
    """A path of the author's own machine stands in the task.

    Why: `/Users/<name>/src/...` in an instruction sent agents looking for a folder that no container has, and told the
        world the author's name.
    Bad: see /Users/somebody/work/plugin
    Good: see /app/fixture
    Fix: write the path inside the container.
    """
    for path in [*files.instructions, "README.md", "task.toml", *files.shell_scripts, *files.dockerfiles]:
        text = files.text(path)
        for match in _MACHINE.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            made = any(match[0] in d.text for f in files.dockerfiles.values() for d in f.instructions)
            if not made:
                yield Problem(f"'{match[0]}/...' is a path of somebody's machine", path, line)
                break
