#!/usr/bin/env bash
# Formal proofs of the core's modules: formal.sh [NAME...]. Sets up .venv when it is needed.
set -euo pipefail
cd "$(dirname "$0")/.."

wanted=scripts/requirements-formal.txt
if ! cmp -s "$wanted" .venv/formal-installed; then
  [ -x .venv/bin/python ] || python3 -m venv .venv
  .venv/bin/pip install --quiet -r "$wanted"
  cp "$wanted" .venv/formal-installed
fi
exec .venv/bin/python scripts/formal.py "$@"
