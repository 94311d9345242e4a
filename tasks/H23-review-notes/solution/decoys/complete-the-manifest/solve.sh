#!/bin/bash
# Half way: the manifest that the host takes gets a browser half, and it is the stale one beside it.
set -eu

cat > /app/fixture/.dsh-plugin/package.json << 'END'
{
  "name": "dsh-review-notes",
  "version": "1.5.0",
  "private": true,
  "type": "module",
  "exports": { ".": "./host.js", "./client": "./client.js" },
  "dsh": { "entry": "./host.js", "client": { "platform": "web" } }
}
END
