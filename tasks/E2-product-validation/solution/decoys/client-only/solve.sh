#!/bin/bash
# Validates in the browser only.
set -eu
here=$(cd "$(dirname "$0")" && pwd)

install -m 644 "$here/project/public/form.js" /app/fixture/public/form.js
