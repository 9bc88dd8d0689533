#!/usr/bin/env bash
# Installs what builds and tests the Python package: maturin, pytest, mypy for its stubs, and the libraries that
# its answers are compared with.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/common.sh

need_python python
install_needs
