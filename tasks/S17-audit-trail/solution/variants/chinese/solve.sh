#!/bin/bash
set -eu

install -m 644 "$(dirname "$0")/chinese.md" /app/report.md
