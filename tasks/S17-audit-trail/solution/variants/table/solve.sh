#!/bin/bash
set -eu

install -m 644 "$(dirname "$0")/table.md" /app/report.md
