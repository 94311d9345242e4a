#!/bin/bash
# Another right solution: an interface for all that has a time of creation.
set -eu
here=$(cd "$(dirname "$0")" && pwd)

install -m 644 "$here/project/src/types/created.ts" /app/fixture/src/types/created.ts
install -m 644 "$here/project/src/types/user.ts" /app/fixture/src/types/user.ts
install -m 644 "$here/project/src/services/user-service.ts" /app/fixture/src/services/user-service.ts
