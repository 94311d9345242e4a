#!/bin/bash
# Another right solution: the body is turned into a product or an error, which the handler answers.
set -eu
here=$(cd "$(dirname "$0")" && pwd)

install -m 644 "$here/project/src/services/checked-product.ts" /app/fixture/src/services/checked-product.ts
install -m 644 "$here/project/src/routes/products.ts" /app/fixture/src/routes/products.ts
install -m 644 "$here/project/src/app.ts" /app/fixture/src/app.ts
