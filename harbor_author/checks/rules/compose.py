"""docker-compose.yaml beside the Dockerfile: what breaks parallel trials or opens the machine."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from typing import Any

from harbor_author.checks.composefile import composes, line_of, parsed, services
from harbor_author.checks.context import TaskFiles
from harbor_author.checks.findings import Problem
from harbor_author.checks.registry import rule

_HARMLESS_CAPABILITIES = frozenset({"CHOWN", "NET_BIND_SERVICE", "SETGID", "SETUID"})


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


@rule(name="compose-syntax", pack="harbor", severity="error")
def compose_syntax(files: TaskFiles) -> Iterator[Problem]:
    """docker-compose.yaml is no YAML, or has no services.

    Why: a tab in the file stopped every trial at `docker compose up`, with a message that Harbor cut off.
    Bad: services: [main
    Good: services: {main: {build: {context: .}}}
    Fix: correct the syntax at the line that is named.
    """
    for path, (document, error) in parsed(files).items():
        if error is not None:
            yield Problem(f"is not YAML: {error[0]}", path, error[1])
        elif not isinstance(document, dict) or not isinstance(document.get("services"), dict):
            yield Problem("has no services", path, 1)


@rule(name="compose-fixed-name", pack="harbor", severity="error")
def compose_fixed_name(files: TaskFiles) -> Iterator[Problem]:
    """A container, network or project has a fixed name, so two trials cannot run at once.

    Why: `container_name: app` made every second trial fail with "name is already in use" as soon as the job ran with
        four at a time.
    Bad: container_name: app
    Good: no container_name; services reach each other by their service names
    Fix: remove the fixed name.
    """
    for path, name, service in services(files):
        if isinstance(service.get("container_name"), str) and "$" not in service["container_name"]:
            yield Problem(
                f"service '{name}' has a fixed container_name", path, line_of(files, path, "container_name")
            )
    for path, document in composes(files):
        if isinstance(document.get("name"), str):
            yield Problem("the project has a fixed name", path, line_of(files, path, "name:"))
        for kind in ("networks", "volumes"):
            table = document.get(kind)
            for key, value in table.items() if isinstance(table, dict) else ():
                if isinstance(value, dict) and (value.get("name") or value.get("external")):
                    message = f"the {kind[:-1]} '{key}' has a name of its own on the machine: trials share it"
                    yield Problem(message, path, line_of(files, path, str(key)))


@rule(name="compose-host-port", pack="harbor", severity="error")
def compose_host_port(files: TaskFiles) -> Iterator[Problem]:
    """A service publishes a fixed port of the machine, so two trials cannot run at once.

    Why: `ports: ["8080:8080"]` let the first trial of a job run and made the others fail with "port is already
        allocated".
    Bad: ports: ["8080:8080"]
    Good: expose: ["8080"], reached as main:8080 inside the project's network
    Fix: remove the published port; containers of one project need none.
    """
    for path, name, service in services(files):
        for port in _list(service.get("ports")):
            published = _published(port)
            if published:
                yield Problem(
                    f"service '{name}' publishes port {published}", path, line_of(files, path, str(published))
                )
        if service.get("network_mode") == "host":
            yield Problem(
                f"service '{name}' uses the machine's network", path, line_of(files, path, "network_mode")
            )


def _published(port: Any) -> str:
    if isinstance(port, dict):
        return str(port.get("published") or "")
    text = re.sub(r"/(?:tcp|udp)$", "", str(port))
    parts = text.rsplit(":", 1)
    if len(parts) < 2:
        return ""
    outside = parts[0].rsplit(":", 1)[-1]
    return "" if outside in ("", "0") or "$" in outside else outside


@rule(name="compose-privileged", pack="harbor", severity="error", harbor=True)
def compose_privileged(files: TaskFiles) -> Iterator[Problem]:
    """A service is privileged, or shares the machine's processes.

    Why: an agent in a privileged container can leave it; one task's clean-up unmounted the runner's own disk.
    Bad: privileged: true
    Good: the one capability that is needed, and a reason
    Fix: remove it.
    """
    for path, name, service in services(files):
        if service.get("privileged") is True:
            yield Problem(f"service '{name}' is privileged", path, line_of(files, path, "privileged"))
        for key in ("pid", "ipc", "userns_mode", "uts"):
            if service.get(key) == "host":
                yield Problem(
                    f"service '{name}' shares the machine's {key}", path, line_of(files, path, f"{key}:")
                )


@rule(name="compose-additional-capabilities", pack="harbor", severity="warning", harbor=True)
def compose_additional_capabilities(files: TaskFiles) -> Iterator[Problem]:
    """A service gets capabilities beyond the engine's default ones, devices, or less confinement.

    Why: SYS_ADMIN lets an agent mount and leave the container; cloud runners refuse such tasks.
    Bad: cap_add: [SYS_ADMIN]
    Good: no cap_add
    Fix: remove it, or say why in a suppression's reason.
    """
    for path, name, service in services(files):
        for option in _list(service.get("security_opt")):
            if re.search(r"unconfined|label[:=]disable|no-new-privileges[:=]false", str(option)):
                message = f"service '{name}' gives up {str(option)[:60]}"
                yield Problem(message, path, line_of(files, path, "security_opt"))
        if _list(service.get("devices")):
            message = f"service '{name}' needs a device of the machine"
            yield Problem(message, path, line_of(files, path, "devices"))
        added = [str(item) for item in _list(service.get("cap_add"))]
        more = [item for item in added if item.removeprefix("CAP_") not in _HARMLESS_CAPABILITIES]
        if more:
            yield Problem(
                f"service '{name}' gets {', '.join(more)[:80]}", path, line_of(files, path, "cap_add")
            )


def _mounts(files: TaskFiles) -> Iterator[tuple[str, str, str, bool]]:
    """(path, service, source, read-only) of each bind mount."""
    for path, name, service in services(files):
        for volume in _list(service.get("volumes")):
            if isinstance(volume, dict):
                if volume.get("type", "bind") == "bind" and volume.get("source"):
                    yield path, name, str(volume["source"]), bool(volume.get("read_only"))
                continue
            parts = str(volume).split(":")
            # Harbor's own variables stand for the trial's folders.
            if len(parts) > 1 and re.match(r"[./~]|\$\{?[A-Z_]*(?:PATH|DIR)", parts[0]):
                if re.match(r"\$\{?(?:ENV|HOST)_(?:VERIFIER|AGENT|ARTIFACTS)", parts[0]):
                    continue
                yield path, name, parts[0], "ro" in parts[-1].split(",")


@rule(name="compose-external-bind-mount", pack="harbor", severity="error", harbor=True)
def compose_external_bind_mount(files: TaskFiles) -> Iterator[Problem]:
    """A service mounts a path outside of the task.

    Why: a mount of ~/.cache existed on the author's machine alone; /var/run/docker.sock hands the whole machine to the
        agent.
    Bad: volumes: ["/var/run/docker.sock:/var/run/docker.sock"]
    Good: COPY in the Dockerfile
    Fix: copy what is needed into the image.
    """
    for path, name, source, _ in _mounts(files):
        outside = source.startswith(("/", "~", "$"))
        if not outside:
            folder = posixpath.dirname(path)
            outside = posixpath.normpath(posixpath.join(folder, source)).startswith("..")
        if outside:
            message = f"service '{name}' mounts {source[:80]} of the machine"
            yield Problem(message, path, line_of(files, path, source))


@rule(name="compose-writable-bind-mount", pack="harbor", severity="error", harbor=True)
def compose_writable_bind_mount(files: TaskFiles) -> Iterator[Problem]:
    """A service mounts a folder of the task and may write to it.

    Why: the first agent changed the fixture for all that came after it.
    Bad: volumes: ["./data:/app/data"]
    Good: volumes: ["./data:/app/data:ro"], or COPY
    Fix: append :ro, or copy the folder into the image.
    """
    for path, name, source, read_only in _mounts(files):
        if not read_only and not source.startswith(("/", "~", "$")):
            yield Problem(f"service '{name}' may write to {source[:80]}", path, line_of(files, path, source))


@rule(name="compose-symlink-bind-mount", pack="harbor", severity="error", harbor=True)
def compose_symlink_bind_mount(files: TaskFiles) -> Iterator[Problem]:
    """A service mounts a link.

    Why: the engine follows it on the machine, so the container sees what lies outside of the task.
    Bad: volumes: ["./current:/app/data:ro"] with environment/current -> /srv/data
    Good: a mount of the folder itself
    Fix: replace the link by its content.
    """
    for path, name, source, _ in _mounts(files):
        inside = posixpath.normpath(posixpath.join(posixpath.dirname(path), source))
        entry = files.entries.get(inside)
        if entry is not None and entry.kind == "link":
            yield Problem(
                f"service '{name}' mounts the link {source[:80]}", path, line_of(files, path, source)
            )


@rule(name="compose-context-leak", pack="harbor", severity="error")
def compose_context_leak(files: TaskFiles) -> Iterator[Problem]:
    """A service is built from a folder that holds solution/ and tests/, or mounts one of them.

    Why: with `context: ..` a plain `COPY . /app` puts the answer into the agent's image; `../tests:/app/tests:ro` lets
        the agent read the expected values, and write nothing.
    Bad: build: {context: ..}
    Good: build: {context: .}
    Fix: build from environment/, and move there what the image needs.
    """
    for path, name, service in services(files):
        if not path.startswith("environment/"):
            continue
        build = service.get("build")
        context = (
            build if isinstance(build, str) else build.get("context") if isinstance(build, dict) else None
        )
        if isinstance(context, str) and posixpath.normpath(posixpath.join("environment", context)) in (
            ".",
            "..",
        ):
            yield Problem(f"service '{name}' is built from {context}", path, line_of(files, path, context))
    for path, name, source, _ in _mounts(files):
        place = posixpath.normpath(posixpath.join(posixpath.dirname(path), source)) + "/"
        secrets = (*files.tests_prefixes, *files.solution_prefixes)
        inside = path.startswith("environment/") and not source.startswith(("/", "~", "$"))
        if inside and (place == "./" or place.startswith(secrets)):
            yield Problem(f"service '{name}' mounts {source[:80]}", path, line_of(files, path, source))
