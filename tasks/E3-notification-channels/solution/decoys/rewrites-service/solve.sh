#!/bin/bash
# Gives the service another interface.
set -eu
here=$(cd "$(dirname "$0")" && pwd)

"$here/../../solve.sh"
install -m 644 "$here/project/src/services/notification-service.ts" /app/fixture/src/services/notification-service.ts
install -m 644 "$here/project/src/routes/notifications.ts" /app/fixture/src/routes/notifications.ts
install -m 644 "$here/project/src/jobs/reminders.ts" /app/fixture/src/jobs/reminders.ts
