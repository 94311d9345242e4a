#!/bin/bash
# Names the first broken field alone.
set -eu
here=$(cd "$(dirname "$0")" && pwd)

"$here/../../solve.sh"
install -m 644 "$here/project/src/routes/products.ts" /app/fixture/src/routes/products.ts
