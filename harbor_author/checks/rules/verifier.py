"""Where the judge runs, and what is carried to it."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from typing import Any

from harbor_author.checks.context import TaskFiles
from harbor_author.checks.findings import Problem
from harbor_author.checks.images import agent_image
from harbor_author.checks.registry import rule
from harbor_author.checks.rules.judge import judge_texts


def _artifacts(files: TaskFiles) -> Iterator[tuple[str, dict[str, Any], tuple[str | int, ...]]]:
    """(source, table, place) of each declared artifact of the task and its steps."""
    owners: list[tuple[Any, tuple[str | int, ...]]] = [(files.toml.get("artifacts"), ("artifacts",))]
    steps = files.toml.get("steps")
    for index, step in enumerate(steps if isinstance(steps, list) else []):
        if isinstance(step, dict):
            owners.append((step.get("artifacts"), ("steps", index, "artifacts")))
    for items, place in owners:
        for item in items if isinstance(items, list) else []:
            if isinstance(item, str):
                yield item, {}, place
            elif isinstance(item, dict) and isinstance(item.get("source"), str):
                yield item["source"], item, place


@rule(name="invalid-artifact", pack="harbor", severity="error")
def invalid_artifact(files: TaskFiles) -> Iterator[Problem]:
    """An artifact's source or destination is one that Harbor refuses, or `artifacts` stands inside a table.

    Why: `artifacts = [...]` below [environment] is a key of that table and carries nothing; the separate verifier saw
        an empty folder, and a right answer scored 0.
    Bad: artifacts = ["/app/out"] as the last line of the file
    Good: artifacts = ["/app/out"] above the first [table]
    Fix: move it to the top of the file; sources hold no "..", destinations are relative and not manifest.json.
    """
    for source, table, place in _artifacts(files):
        where = files.where(*place)
        if not source or ".." in source.split("/"):
            yield Problem(f"artifact source '{source[:60]}' is empty or holds '..'", "task.toml", *where)
        destination = table.get("destination")
        if isinstance(destination, str) and (
            destination.startswith("/")
            or ".." in destination.split("/")
            or "\\" in destination
            or destination == "manifest.json"
        ):
            yield Problem(
                f"artifact destination '{destination[:60]}' is refused by Harbor", "task.toml", *where
            )
        if table.get("service") not in (None, "main") and not source.startswith("/"):
            message = f"artifact '{source[:60]}' of another service needs an absolute source"
            yield Problem(message, "task.toml", *where)


@rule(name="overlapping-artifacts", pack="harbor", severity="warning", harbor=True)
def overlapping_artifacts(files: TaskFiles) -> Iterator[Problem]:
    """Two artifacts carry the same files.

    Why: an error until Harbor 0.22; since then the first one wins without a word, and the `exclude` of the second has
        no effect.
    Bad: artifacts = ["/app", "/app/out"]
    Good: artifacts = ["/app/out"]
    Fix: keep the one that is meant.
    """
    seen: list[tuple[str, Any]] = []
    for source, table, place in _artifacts(files):
        path = posixpath.normpath(source)
        for other, service in seen:
            if service == table.get("service", "main") and _covers(other, path):
                yield Problem(
                    f"the artifacts '{other}' and '{path}' overlap", "task.toml", *files.where(*place)
                )
        seen.append((path, table.get("service", "main")))


def _covers(one: str, other: str) -> bool:
    return one == other or other.startswith(one.rstrip("/") + "/") or one.startswith(other.rstrip("/") + "/")


@rule(name="artifact-log-overlap", pack="harbor", severity="warning", harbor=True)
def artifact_log_overlap(files: TaskFiles) -> Iterator[Problem]:
    """An artifact lies below /logs, which Harbor carries or empties itself.

    Why: /logs/artifacts is always carried; /logs/verifier is emptied before the judge starts, so what was declared
        there is gone.
    Bad: artifacts = ["/logs/verifier/out"]
    Good: artifacts = ["/app/out"]
    Fix: write the output elsewhere, or rely on /logs/artifacts.
    """
    for source, _, place in _artifacts(files):
        path = posixpath.normpath(source)
        if path == "/logs" or path.startswith("/logs/"):
            yield Problem(f"the artifact '{path}' lies below /logs", "task.toml", *files.where(*place))


@rule(name="artifact-not-carried", pack="harbor", severity="error")
def artifact_not_carried(files: TaskFiles) -> Iterator[Problem]:
    """A separate verifier reads a path that no artifact carries to it.

    Why: the agent's container is gone when a separate verifier starts; only artifacts cross. An oracle that worked
        scored 0 because /app/out.txt was not declared.
    Bad: [verifier] environment_mode = "separate", test.sh with cat /app/out.txt, and no artifacts
    Good: artifacts = ["/app/out.txt"]
    Fix: declare the path (at the top of task.toml), or let the agent write below /logs/artifacts.
    """
    if not files.separate_verifier:
        return
    carried = [posixpath.normpath(source) for source, _, _ in _artifacts(files)] + ["/logs/artifacts"]
    own = _judges_own(files)
    told: set[str] = set()
    for path in files.verifier_scripts:
        for command in files.script(path).commands:
            words = list(command.words)
            if words[:1] == ["["]:
                words = re.findall(r"/[\w./-]+", words[-1])
            for word in [*words, *(r.target for r in command.redirects if r.operator.endswith("<"))]:
                match = _AGENT_PATH.fullmatch(word)
                if match is None or match[1] in told:
                    continue
                if any(_covers(source, match[1]) for source in carried) or _among(match[1], own):
                    continue
                if command.name in ("cd", "mkdir", "rm", "export"):
                    continue
                told.add(match[1])
                message = f"{match[1]} is read here, but no artifact carries it to the separate verifier"
                yield Problem(message, path, command.line, command.column)
    for path, text in judge_texts(files, (".py", ".mjs", ".cjs", ".js")):
        for match in re.finditer(r"[\"'`](/[\w./@-]+)[\"'`]", text):
            place = _AGENT_PATH.fullmatch(match[1])
            if place is None or place[1] in told or _among(place[1], own):
                continue
            if not any(_covers(source, place[1]) for source in carried):
                told.add(place[1])
                message = f"{place[1]} is read here, but no artifact carries it to the separate verifier"
                yield Problem(message, path, text.count("\n", 0, match.start()) + 1)


_AGENT_PATH = re.compile(r"(?:[\w-]+=)?(/(?:app|workspace|home|root|srv|data|output|repo)(?:/[\w.@-]+)*)/?")


def _among(path: str, own: set[str]) -> bool:
    """The path is one of the verifier's own, or a folder that holds one."""
    return path in own or any(item.startswith(path + "/") for item in own)


def _judges_own(files: TaskFiles) -> set[str]:
    """Absolute paths that the verifier's own image makes: without tests/Dockerfile it is built from environment/."""
    dockerfile = files.dockerfiles.get("tests/Dockerfile")
    if dockerfile is None:
        image = agent_image(files)
        return (
            {c.inside(p, image.context) for c in image.copies for p in c.files}
            if image is not None
            else set()
        )
    return {word for i in dockerfile.instructions for word in re.findall(r"/[\w./-]+", i.text)}


@rule(name="shared-verifier", pack="harbor", severity="warning", default=False, harbor=True)
def shared_verifier(files: TaskFiles) -> Iterator[Problem]:
    """The judge runs in the agent's container.

    Why: what the agent left running can touch the judge. Harbor's lint warns for each such task; our proof tries it
        instead (the forged trial), so this is off unless it is selected.
    Bad: no [verifier.environment]
    Good: [verifier] environment_mode = "separate"
    Fix: give the verifier its own environment, and declare what is carried to it.
    """
    if files.toml and not files.separate_verifier:
        line, column = files.where("verifier")
        yield Problem("the judge shares the agent's container", "task.toml", line, column)


@rule(name="root-agent", pack="harbor", severity="warning", default=False, harbor=True)
def root_agent(files: TaskFiles) -> Iterator[Problem]:
    """The agent works as root.

    Why: root can replace the programs that the judge calls. Harbor has this rule off by default, and so have we.
    Bad: neither [agent] user nor USER in the Dockerfile
    Good: [agent] user = "agent"
    Fix: make a user in the Dockerfile and name it in [agent].
    """
    user = files.table("agent").get("user")
    if not files.toml or user not in (None, "root", 0):
        return
    dockerfile = files.dockerfiles.get("environment/Dockerfile")
    users = [i.words[0] for i in dockerfile.final if i.op == "USER" and i.words] if dockerfile else []
    if user is None and users and users[-1].partition(":")[0] not in ("root", "0"):
        return
    line, column = files.where("agent", "user")
    yield Problem("the agent works as root", "task.toml", line, column)


@rule(name="offline-solution", pack="harbor", severity="error")
def offline_solution(files: TaskFiles) -> Iterator[Problem]:
    """The reference solution needs the network, and the task has none.

    Why: `pip install` in solve.sh worked while the author wrote it; with network_mode = "no-network" the oracle failed.
    Bad: network_mode = "no-network", and curl https://... in solve.sh
    Good: what the solution needs is in the image
    Fix: install it in the Dockerfile, or allow the hosts that are needed.
    """
    from harbor_author.checks.rules.network import download, installs

    environment = files.table("environment")
    mode = files.table("agent").get("network_mode", environment.get("network_mode"))
    offline = mode == "no-network" or (mode is None and environment.get("allow_internet") is False)
    if not offline:
        return
    for path in files.shell_scripts:
        if path.startswith(tuple(files.solution_prefixes)):
            for command in files.script(path).commands:
                what = download(command) or installs(command)
                if what:
                    message = f"needs the network, which the task does not have: {what[:80]}"
                    yield Problem(message, path, command.line, command.column)
