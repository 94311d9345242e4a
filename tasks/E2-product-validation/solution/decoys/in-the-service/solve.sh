#!/bin/bash
# Puts the rules where the supplier import meets them, too.
set -eu
here=$(cd "$(dirname "$0")" && pwd)

mkdir -p /app/fixture/src/validation
install -m 644 "$here/project/src/validation/product-input.ts" /app/fixture/src/validation/product-input.ts
install -m 644 "$here/project/src/services/product-service.ts" /app/fixture/src/services/product-service.ts
install -m 644 "$here/project/src/app.ts" /app/fixture/src/app.ts
