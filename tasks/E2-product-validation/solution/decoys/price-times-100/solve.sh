#!/bin/bash
# Calls a price right when a hundred times it is a whole number.
set -eu
here=$(cd "$(dirname "$0")" && pwd)

mkdir -p /app/fixture/src/validation
install -m 644 "$here/project/src/validation/product-input.ts" /app/fixture/src/validation/product-input.ts
install -m 644 "$here/project/src/routes/products.ts" /app/fixture/src/routes/products.ts
install -m 644 "$here/project/src/app.ts" /app/fixture/src/app.ts
