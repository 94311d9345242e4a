"""Where `author` begins: so little that an interrupt while the rest is imported is still a sentence."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Run the command line."""
    try:
        if os.environ.get("_AUTHOR_COMPLETE") == "words":  # a shell waits at a key press
            from harbor_author.cli.words import main as run
        else:
            from harbor_author.cli.main import main as run
        run()
    except KeyboardInterrupt:
        sys.stderr.write("author: interrupted\n")
        sys.exit(130)
