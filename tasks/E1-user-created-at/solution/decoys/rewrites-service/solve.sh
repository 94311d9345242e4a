#!/bin/bash
# Makes the service a class and leaves its importers behind.
set -eu
here=$(cd "$(dirname "$0")" && pwd)

"$here/../../solve.sh"
install -m 644 "$here/project/src/services/user-service.ts" /app/fixture/src/services/user-service.ts
install -m 644 "$here/project/src/routes/users.ts" /app/fixture/src/routes/users.ts
