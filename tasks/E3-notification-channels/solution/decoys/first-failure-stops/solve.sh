#!/bin/bash
# Stops at the first channel that fails.
set -eu
here=$(cd "$(dirname "$0")" && pwd)

"$here/../../solve.sh"
install -m 644 "$here/project/src/channels.ts" /app/fixture/src/channels.ts
install -m 644 "$here/project/src/services/notification-service.ts" /app/fixture/src/services/notification-service.ts
