#!/bin/bash
# The reference migration: file by file over the fixture; the gateway goes.
set -eu
plugin=$(cd "$(dirname "$0")" && pwd)/plugin
fixture=/app/fixture

for file in index.js lib/catalogue.js lib/workspaces.js test/catalogue.test.js docs/decisions/0008-domain-services.md; do
  install -m 644 "$plugin/$file" "$fixture/$file"
done
rm -f "$fixture/lib/gateway.js"
