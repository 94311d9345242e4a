#!/bin/bash
# Follows the decision record: the inner manifest stays, and the outer one is made more explicit.
set -eu
fixture=/app/fixture

sed -i 's/"client": { "platform": "web" }/"client": { "platform": "web", "immediately": true, "inject": [] }/; s/"version": "1.5.0"/"version": "1.5.1"/' "$fixture/package.json"
sed -i 's/"version": "1.5.0"/"version": "1.5.1"/' "$fixture/.dsh-plugin/package.json"
