#!/bin/bash
# The reference repair: the left-over manifest of the old layout goes.
set -eu

rm -f /app/fixture/.dsh-plugin/package.json
