#!/bin/bash
# Another right solution: a class a channel.
set -eu
here=$(cd "$(dirname "$0")" && pwd)

mkdir -p /app/fixture/src/channels
install -m 644 "$here/project/src/channels/channel.ts" /app/fixture/src/channels/channel.ts
mkdir -p /app/fixture/src/channels
install -m 644 "$here/project/src/channels/email-channel.ts" /app/fixture/src/channels/email-channel.ts
mkdir -p /app/fixture/src/channels
install -m 644 "$here/project/src/channels/sms-channel.ts" /app/fixture/src/channels/sms-channel.ts
mkdir -p /app/fixture/src/channels
install -m 644 "$here/project/src/channels/push-channel.ts" /app/fixture/src/channels/push-channel.ts
install -m 644 "$here/project/src/types/notification.ts" /app/fixture/src/types/notification.ts
install -m 644 "$here/project/src/services/notification-service.ts" /app/fixture/src/services/notification-service.ts
install -m 644 "$here/project/src/routes/notifications.ts" /app/fixture/src/routes/notifications.ts
