#!/bin/bash
# Takes each 200 of the SMS gateway for a success.
set -eu
here=$(cd "$(dirname "$0")" && pwd)

"$here/../../solve.sh"
install -m 644 "$here/project/src/gateways/sms.ts" /app/fixture/src/gateways/sms.ts
