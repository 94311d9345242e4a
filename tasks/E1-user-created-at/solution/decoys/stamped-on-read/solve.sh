#!/bin/bash
# Stamps the answers instead of the user.
set -eu
here=$(cd "$(dirname "$0")" && pwd)

install -m 644 "$here/project/src/types/user.ts" /app/fixture/src/types/user.ts
install -m 644 "$here/project/src/routes/users.ts" /app/fixture/src/routes/users.ts
