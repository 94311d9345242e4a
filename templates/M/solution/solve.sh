#!/bin/bash
# The reference migration: file by file over the fixture.
set -eu
here=$(cd "$(dirname "$0")" && pwd)

install -m 644 "$here/plugin/index.js" /app/fixture/index.js
