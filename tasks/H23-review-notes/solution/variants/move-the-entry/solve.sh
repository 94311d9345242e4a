#!/bin/bash
# Moves the host half out of the old folder and lets the rest of it lie.
set -eu
fixture=/app/fixture

mkdir "$fixture/lib"
mv "$fixture/.dsh-plugin/host.js" "$fixture/.dsh-plugin/notes.js" "$fixture/lib/"
sed -i 's#"./.dsh-plugin/host.js"#"./lib/host.js"#' "$fixture/package.json"
sed -i 's#../.dsh-plugin/notes.js#../lib/notes.js#' "$fixture/test/notes.test.js"
