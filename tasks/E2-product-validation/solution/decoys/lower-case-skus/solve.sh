#!/bin/bash
# Judges the SKU after its correction, so lower case passes.
set -eu
here=$(cd "$(dirname "$0")" && pwd)

"$here/../../solve.sh"
install -m 644 "$here/project/src/validation/product-input.ts" /app/fixture/src/validation/product-input.ts
