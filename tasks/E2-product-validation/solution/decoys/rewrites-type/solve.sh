#!/bin/bash
# Makes the price a text.
set -eu
here=$(cd "$(dirname "$0")" && pwd)

"$here/../../solve.sh"
install -m 644 "$here/project/src/types/product.ts" /app/fixture/src/types/product.ts
install -m 644 "$here/project/src/services/product-service.ts" /app/fixture/src/services/product-service.ts
