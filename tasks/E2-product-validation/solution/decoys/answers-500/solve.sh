#!/bin/bash
# Throws, and leaves the error to a handler that answers 500.
set -eu
here=$(cd "$(dirname "$0")" && pwd)

mkdir -p /app/fixture/src/validation
install -m 644 "$here/project/src/validation/product-input.ts" /app/fixture/src/validation/product-input.ts
install -m 644 "$here/project/src/routes/products.ts" /app/fixture/src/routes/products.ts
