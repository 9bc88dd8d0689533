#!/usr/bin/env bash
# Builds the extension module beside the package's sources and runs the package's tests against it.
# The program `gramer`, if it was built before, serves the devices that need a process of their own.
set -euo pipefail
cd "$(dirname "$0")/.."

cargo build --locked --quiet --package gramer-python
# Where Python looks for it; made elsewhere first, so that none sees half of it.
module=host/python/gramer/_gramer.abi3.so
cp target/debug/lib_gramer.so "$module.new"
mv "$module.new" "$module"
cargo build --locked --quiet --package gramer-cli --bin gramer
GRAMER=$PWD/target/debug/gramer .venv/bin/python -B -m pytest --quiet host/python -p no:cacheprovider
