"""What programs are, by name: the vocabulary of the rules about shell scripts."""

from __future__ import annotations

#: Run a file that is given to them.
INTERPRETERS = frozenset(
    "python python3 node nodejs bash sh dash zsh ruby perl php deno bun uv uvx pytest npx tsx ts-node java Rscript "
    "lua go cargo make".split()
)
#: Neither fail for what an agent did nor write a reward by themselves.
HARMLESS = frozenset(
    "echo printf mkdir cd pushd popd export local readonly declare set unset true : sleep date touch chmod chown "
    "trap shopt umask ulimit source . type hash wait alias test [ mktemp dirname basename pwd tee".split()
)
#: They can fail, but whoever asks for their status right after the tests meant that of the tests.
ASIDE = frozenset(
    "cd popd pushd mkdir rm touch date cat cp mv set sleep deactivate unset export chmod chown sync kill ls".split()
)
#: Their status is a verdict.
COMPARERS = frozenset("cmp diff grep test jq md5sum sha256sum".split())
#: Many run at once in a container: the judge's own shell, its engine, the agent's service.
COMMON = frozenset(
    "bash sh dash zsh node nodejs npm npx pnpm yarn python python3 ruby perl java php deno bun sleep cat tail init "
    "docker dsh make go cargo git ssh sudo tee timeout".split()
)
#: Stand in a `#!` line of an image.
SHEBANGS = frozenset(
    "sh bash dash ash zsh ksh env python python3 node perl ruby awk make busybox pwsh".split()
)
#: Top-level directories of a container that are the judge's or the system's, not the agent's.
OWN_PLACES = frozenset("tests logs tmp dev usr bin etc proc sys var opt sbin lib".split())
#: Accounts of Debian and its descendants.
ACCOUNTS = frozenset(
    "root daemon bin sys sync games man lp mail news uucp proxy www-data backup list irc gnats nobody _apt".split()
)
#: Instructions of a Dockerfile.
INSTRUCTIONS = frozenset(
    "ADD ARG CMD COPY ENTRYPOINT ENV EXPOSE FROM HEALTHCHECK LABEL MAINTAINER ONBUILD RUN SHELL STOPSIGNAL USER VOLUME "
    "WORKDIR".split()
)
