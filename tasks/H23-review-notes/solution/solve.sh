#!/bin/bash
# The reference repair: what the old layout left behind goes, first of all its manifest.
set -eu
fixture=/app/fixture

rm -f "$fixture/.dsh-plugin/package.json" "$fixture/.dsh-plugin/client.js"
install -m 644 "$(dirname "$0")/plugin/docs/decisions/0013-one-manifest.md" "$fixture/docs/decisions/0013-one-manifest.md"
