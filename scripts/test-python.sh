#!/usr/bin/env bash
# Runs the tests of the Python package on the extension module and the program `gramer` (for the devices
# that need a process of their own) that scripts/test.py has built.
set -euo pipefail
cd "$(dirname "$0")/.."

# Where Python looks for it; made elsewhere first, so that none sees half of it.
module=host/python/gramer/_gramer.abi3.so
built=$(cd "${CARGO_TARGET_DIR:-target}/debug" && pwd)
cp "$built/lib_gramer.so" "$module.new"
mv "$module.new" "$module"
PYTHONPATH=host/python GRAMER=$built/gramer .venv/bin/python -B -m pytest --quiet host/python -p no:cacheprovider
