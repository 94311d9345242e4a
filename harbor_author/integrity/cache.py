"""What is kept from run to run in the user's cache, as JSON: losing it costs time and nothing else."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from harbor_author.integrity.errors import IntegrityError


def cache_path(*parts: str) -> Path:
    """A place below `$XDG_CACHE_HOME/harbor-author`, by default `~/.cache/harbor-author`."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base, "harbor-author", *parts)


def load_json(path: Path) -> Any:
    """What was kept there; None when there is nothing, or nothing that can be read."""
    try:
        return json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None


def keep_json(path: Path, document: Any) -> None:
    """Keep a document, for its owner's eyes only; where it cannot be written it is not kept."""
    from harbor_author.integrity.files import reap_siblings, write_atomic

    text = json.dumps(document, separators=(",", ":"))
    with suppress(OSError, IntegrityError):
        path.parent.mkdir(parents=True, exist_ok=True)
        reap_siblings(path.parent)
        write_atomic(path, text, mode=0o600)
