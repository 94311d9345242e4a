"""What a trial left behind in its container."""

from __future__ import annotations

from harbor_author.proof.session import Session
from harbor_author.sandbox import EngineError

#: Our suites' judges work in profiles and folders of these names only, and remove them.
_PROBE = r"""
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
_PROBE_TIMEOUT_S = 10.0
_SLEEPERS = ("sleep infinity",)


def find_leftovers(session: Session, *, thorough: bool) -> tuple[str, ...]:
    """Processes, listening ports, `bench-*` profiles and folders, one text each, such as `process: node server.js`.

    Args:
        thorough: look for paths even when no process is left, which costs a command in the container.
    """
    try:
        processes = [
            command
            for _, command in session.engine.processes(session.container)
            if not command.endswith(_SLEEPERS)
        ]
    except (EngineError, ValueError):
        return ()
    found = [f"process: {command[:200]}" for command in processes]
    if thorough or processes:
        found += _probe(session)
    return tuple(dict.fromkeys(found))


def _probe(session: Session) -> list[str]:
    result = session.exec(_PROBE, user="root", timeout_s=_PROBE_TIMEOUT_S)
    found = []
    for line in result.output.splitlines():
        kind, _, value = line.partition(" ")
        if kind == "path":
            found.append(f"path: {value[:200]}")
        elif kind == "port":
            found.append(f"port: {value}")
    return found
