#!/bin/bash
# Lets a request body choose and change the time.
set -eu
here=$(cd "$(dirname "$0")" && pwd)

"$here/../../solve.sh"
install -m 644 "$here/project/src/services/user-service.ts" /app/fixture/src/services/user-service.ts
