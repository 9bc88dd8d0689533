#!/usr/bin/env bash
# Formal proofs of the core's modules: formal.sh [--changed | NAME...]. Sets up .venv when it is needed.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/setup-eda.sh
exec .venv/bin/python scripts/formal.py "$@"
