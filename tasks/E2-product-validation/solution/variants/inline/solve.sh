#!/bin/bash
# Another right solution: all in the route.
set -eu
here=$(cd "$(dirname "$0")" && pwd)

install -m 644 "$here/project/src/routes/products.ts" /app/fixture/src/routes/products.ts
install -m 644 "$here/project/src/app.ts" /app/fixture/src/app.ts
