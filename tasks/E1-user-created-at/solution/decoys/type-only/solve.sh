#!/bin/bash
# Adds the field to the type, and to nothing else.
set -eu
here=$(cd "$(dirname "$0")" && pwd)

install -m 644 "$here/project/src/types/user.ts" /app/fixture/src/types/user.ts
