#!/bin/bash
# Another right solution: a table of requests; the service itself refuses channels.
set -eu
here=$(cd "$(dirname "$0")" && pwd)

install -m 644 "$here/project/src/delivery.ts" /app/fixture/src/delivery.ts
install -m 644 "$here/project/src/services/notification-service.ts" /app/fixture/src/services/notification-service.ts
install -m 644 "$here/project/src/routes/notifications.ts" /app/fixture/src/routes/notifications.ts
