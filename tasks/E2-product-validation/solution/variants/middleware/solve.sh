#!/bin/bash
# Another right solution: a middleware in front of the route, a table of checks.
set -eu
here=$(cd "$(dirname "$0")" && pwd)

mkdir -p /app/fixture/src/middleware
install -m 644 "$here/project/src/middleware/validate.ts" /app/fixture/src/middleware/validate.ts
install -m 644 "$here/project/src/routes/products.ts" /app/fixture/src/routes/products.ts
install -m 644 "$here/project/src/app.ts" /app/fixture/src/app.ts
