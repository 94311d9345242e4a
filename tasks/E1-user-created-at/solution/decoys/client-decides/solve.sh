#!/bin/bash
# Lets a request body choose and change the time.
set -eu
here=$(cd "$(dirname "$0")" && pwd)

install -m 644 "$here/project/src/types/user.ts" /app/fixture/src/types/user.ts
install -m 644 "$here/project/src/services/user-service.ts" /app/fixture/src/services/user-service.ts
