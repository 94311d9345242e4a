"""Setting off the clock that a container's programs see, by libfaketime."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from harbor_author.proof.session import Session, TrialAbortedError

_LIBRARY = "/usr/lib/harbor-author-faketime.so"
_PLACES = ("/usr/lib/*/faketime/libfaketime.so.1", "/usr/lib*/faketime/libfaketime.so.1")


@lru_cache(maxsize=1)
def _library_here() -> Path | None:
    """This machine's libfaketime, which works in an image of the same architecture with GNU's C library."""
    for pattern in _PLACES:
        for path in sorted(Path("/").glob(pattern.lstrip("/"))):
            return path
    return None


def set_clock(session: Session, offset: str) -> None:
    """Let every program that is started from now on see the time set off by `offset`, such as `+365d`.

    By the loader's own list and the library's own file, so that a script that clears its environment sees it, too.

    Raises:
        TrialAbortedError: there is no libfaketime, in the image or here (`not-applicable`).
    """
    found = session.exec(f"ls {' '.join(_PLACES)} 2>/dev/null | head -1", user="root").output.strip()
    if not found:
        library = _library_here()
        if library is None:
            raise TrialAbortedError(
                "not-applicable", "a set-off clock needs libfaketime, in the image or on this machine"
            )
        session.pending.data(_LIBRARY, library.read_bytes(), 0o755)
        found = _LIBRARY
    session.pending.data("/etc/faketimerc", f"{offset}\n".encode())
    session.exec(f"echo {found} > /etc/ld.so.preload", user="root")
    seen = session.exec("date +%s", user="root")
    if seen.exit_code != 0:
        raise TrialAbortedError(
            "not-applicable", "libfaketime does not work in this image", seen.output[-500:]
        )
