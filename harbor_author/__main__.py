"""`python -m harbor_author` is `author`."""

from harbor_author.cli.entry import main

main()
