#!/usr/bin/env bash
# A second reader of docs/tree-hash.md, version 1, for a tree that it does not refuse: prints the hash of the directory $1.
set -euo pipefail
export LC_ALL=C
netstring() { printf '%d:%s,' "${#1}" "$1"; }
cd "$1"
{
  netstring 'harbor-author tree hash 1'
  find . -mindepth 1 \( -name .git -o -name .hg -o -name .svn -o -name .bzr -o -name .jj -o -name CVS -o -name _darcs \
    -o -name node_modules -o -name __pycache__ -o -name .DS_Store \) -prune -o -mindepth 1 -printf '%P\0' | sort -z |
    while IFS= read -r -d '' path; do
      netstring "$path"
      if [[ -d ./$path ]]; then
        printf '1:d,1:-,0:,'
      else
        mode=$(stat -c %a "./$path")
        if (( 0$mode & 0100 )); then executable=x; else executable=-; fi
        read -r content _ < <(sha256sum <"./$path")
        printf '1:f,1:%s,64:%s,' "$executable" "$content"
      fi
    done
} | sha256sum | sed 's/^\(.\{64\}\).*/th1:\1/'
