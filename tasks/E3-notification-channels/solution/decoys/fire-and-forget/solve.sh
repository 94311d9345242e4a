#!/bin/bash
# Answers before the channels are settled.
set -eu
here=$(cd "$(dirname "$0")" && pwd)

"$here/../../solve.sh"
install -m 644 "$here/project/src/services/notification-service.ts" /app/fixture/src/services/notification-service.ts
