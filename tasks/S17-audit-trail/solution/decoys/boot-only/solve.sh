#!/bin/bash
set -eu

install -m 644 "$(dirname "$0")/boot-only.md" /app/report.md
