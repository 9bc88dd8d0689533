#!/usr/bin/env bash
# Sets up the open hardware tools in .venv: Yosys, formal, the SystemVerilog parser. Nothing is done
# when they are there.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/common.sh

command -v tclsh > /dev/null || install_packages tcl
python_packages eda scripts/requirements-formal.txt scripts/requirements-eda.txt
