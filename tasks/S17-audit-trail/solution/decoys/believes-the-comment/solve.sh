#!/bin/bash
set -eu

install -m 644 "$(dirname "$0")/believes-the-comment.md" /app/report.md
