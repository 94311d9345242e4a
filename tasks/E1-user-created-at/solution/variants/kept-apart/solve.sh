#!/bin/bash
# Another right solution: what the client says and what we know are kept apart.
set -eu
here=$(cd "$(dirname "$0")" && pwd)

install -m 644 "$here/project/src/types/user.ts" /app/fixture/src/types/user.ts
install -m 644 "$here/project/src/services/user-service.ts" /app/fixture/src/services/user-service.ts
