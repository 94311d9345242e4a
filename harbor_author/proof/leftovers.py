"""What a trial left behind in its container."""

from __future__ import annotations

import hashlib
import re
import tarfile
import tempfile

from harbor_author.proof.session import Session
from harbor_author.sandbox import EngineError

#: Our suites' judges work in profiles and folders of these names only, and remove them.
PROBE = r"""
for p in /tmp/bench-* "${DSH_HOME:-$HOME/.dsh}"/profiles/bench-* /root/.dsh/profiles/bench-*; do
  [ -e "$p" ] && echo "path $p"
done
for f in /proc/net/tcp /proc/net/tcp6; do
  [ -r "$f" ] && while read -r _ local _ state _; do
    [ "$state" = 0A ] && echo "port $((16#${local##*:}))"
  done < "$f"
done
true
"""
#: The same, with the processes beside the first one and the shell itself; without any program but that shell.
FULL_PROBE = (
    r"""
for d in /proc/[0-9]*; do
  p=${d#/proc/}
  [ "$p" = 1 ] || [ "$p" = "$$" ] && continue
  line=
  while IFS= read -r -d '' word; do line+="${line:+ }$word"; done < "$d/cmdline"
  [ -n "$line" ] && echo "process ${line//$'\n'/ }"
done 2>/dev/null
"""
    + PROBE
)
_PROBE_TIMEOUT_S = 10.0
_FIXTURE_BYTES = 256 << 20
_SHOWN = 8
#: Where a submission and a judge may write: the task's own places, and those that are for what is temporary.
_ALLOWED = ("/app", "/logs", "/tests", "/solution", "/tmp", "/var/tmp", "/run", "/dev", "/proc", "/sys")  # noqa: S108
_DIFF_TIMEOUT_S = 20.0
# git runs in the container, on whatever is left there of the baseline commit.
_DIFF = r"""
cd /app 2>/dev/null || exit 0
git="git -c safe.directory=* -c core.fsmonitor=false --no-pager"
{
  $git diff --no-ext-diff --no-textconv --no-color HEAD -- .
  $git status --porcelain --untracked-files=all -- .
} 2>/dev/null | head -c 400000
"""
#: The container's own first process, and one that has ended and is only not collected.
_NOTHING = ("sleep infinity", "<defunct>")
#: The shells that we run a script by, which are there when it ran out of time.
_OURS = re.compile(r"bash (?:-c|-s --) \(/.*\) > /logs/\S+ 2>&1")


def find_leftovers(session: Session, *, thorough: bool, probed: str | None = None) -> tuple[str, ...]:
    """Processes, listening ports, `bench-*` profiles and folders, one text each, such as `process: node server.js`.

    Args:
        thorough: look for paths even when no process is left, which costs a command in the container.
        probed: what `FULL_PROBE` printed already; None: the engine is asked.
    """
    try:
        processes = _listed(session) if probed is None else _probed_processes(probed)
    except (EngineError, ValueError):
        return ()
    processes = [
        command for command in processes if not command.endswith(_NOTHING) and not _OURS.fullmatch(command)
    ]
    found = [f"process: {command[:200]}" for command in processes]
    if thorough or processes:
        if probed is None:
            probed = session.exec(PROBE, user="root", timeout_s=_PROBE_TIMEOUT_S).output
        found += _read_probe(probed)
    return tuple(dict.fromkeys(found))


def _listed(session: Session) -> list[str]:
    return [command for _, command in session.engine.processes(session.container)]


def _probed_processes(output: str) -> list[str]:
    lines = (line.partition(" ") for line in output.splitlines())
    return [value for kind, _, value in lines if kind == "process"]


def _read_probe(output: str) -> list[str]:
    found = []
    for line in output.splitlines():
        kind, _, value = line.partition(" ")
        if kind == "path":
            found.append(f"path: {value[:200]}")
        elif kind == "port":
            found.append(f"port: {value}")
    return found


def fixture_state(session: Session, path: str) -> dict[str, str] | None:
    """Digest of each file below a path, or None when there is none: to see what a judge changes of it."""
    session.flush()
    with tempfile.SpooledTemporaryFile(16 << 20) as archive:
        if not session.engine.archive(session.container, path, _FIXTURE_BYTES, archive):
            return None
        archive.seek(0)
        state = {}
        with tarfile.open(fileobj=archive, mode="r:") as tar:
            for member in tar:
                content = tar.extractfile(member) if member.isreg() else None
                data = content.read() if content is not None else member.linkname.encode()
                state[member.name] = f"{member.mode:o} {hashlib.sha256(data).hexdigest()}"
    return state


def changed_by_judge(before: dict[str, str] | None, after: dict[str, str] | None) -> tuple[str, ...]:
    """What a judge changed of the fixture, one text each, such as `fixture: package.json`."""
    if before is None or after is None:
        return ()
    paths = [path for path in sorted(before.keys() | after.keys()) if before.get(path) != after.get(path)]
    return tuple(f"fixture: {path.partition('/')[2] or path}" for path in paths[:_SHOWN])


def outside(session: Session, workdir: str) -> tuple[str, ...]:
    """What was written outside the allowed places, such as `outside: /etc/hosts`."""
    try:
        changes = session.engine.changes(session.container)
    except EngineError:
        return ()
    allowed = (*_ALLOWED, workdir) if workdir not in ("", "/") else _ALLOWED
    paths = [
        path
        for _, path in changes
        if not any(path == place or path.startswith(place + "/") for place in allowed)
    ]
    # A folder is listed because of what changed in it.
    leaves = [path for path in paths if not any(other.startswith(path + "/") for other in paths)]
    inside = {change for _, change in changes}
    leaves = [path for path in leaves if not any(change.startswith(path + "/") for change in inside)]
    return tuple(f"outside: {path}" for path in leaves[:_SHOWN])


def fixture_diff(session: Session) -> str:
    """What differs from the image's baseline commit, and untracked names; "" where there is no repository."""
    return session.exec(_DIFF, user="root", timeout_s=_DIFF_TIMEOUT_S).output
