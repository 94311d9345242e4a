#!/bin/bash
# The reference solution: file by file over the fixture.
set -eu
here=$(cd "$(dirname "$0")" && pwd)

install -m 644 "$here/project/src/app.ts" /app/fixture/src/app.ts
