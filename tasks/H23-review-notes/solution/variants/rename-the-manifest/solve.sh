#!/bin/bash
# Keeps the inner manifest for its module type, without the package's name.
set -eu

printf '%s\n' '{ "private": true, "type": "module" }' > /app/fixture/.dsh-plugin/package.json
