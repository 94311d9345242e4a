#!/bin/bash
# Takes the time once, when the module is loaded.
set -eu
here=$(cd "$(dirname "$0")" && pwd)

"$here/../../solve.sh"
install -m 644 "$here/project/src/services/user-service.ts" /app/fixture/src/services/user-service.ts
