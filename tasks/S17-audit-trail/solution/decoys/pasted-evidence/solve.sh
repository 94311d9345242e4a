#!/bin/bash
# Everything that can be copied: the instruction's subject, the recorded evidence and the plugin's own source.
set -eu
cd /app/fixture

{
  echo "# Which parts of audit-trail break on dsh 0.1.2-alpha.3"
  echo
  cat README.md evidence/web-session.txt evidence/host-0.1.2-alpha.3.json index.js lib/*.js scripts/*.mjs docs/*.md
} > /app/report.md
