"""`python -m harbor_author` is `author`."""

from harbor_author.cli.main import main

main()
