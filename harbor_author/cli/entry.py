"""Where `author` begins: so little that an interrupt while the rest is imported is still a sentence."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line."""
    try:
        from harbor_author.cli.main import main as run

        run()
    except KeyboardInterrupt:
        sys.stderr.write("author: interrupted\n")
        sys.exit(130)
