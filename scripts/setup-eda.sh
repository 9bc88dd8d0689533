#!/usr/bin/env bash
# Installs the open hardware tools in .venv: Yosys, formal, the SystemVerilog parser; and Tcl and Icarus Verilog.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/common.sh

command -v tclsh > /dev/null || need tcl
command -v iverilog > /dev/null || need iverilog
need_python eda
install_needs
