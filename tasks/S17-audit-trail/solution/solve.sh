#!/bin/bash
# The reference report.
set -eu
here=$(cd "$(dirname "$0")" && pwd)

install -m 644 "$here/report.md" /app/report.md
