#!/usr/bin/env bash
# Sets up the open hardware tools in .venv: Yosys, formal, the SystemVerilog parser, place and
# route. Nothing is done when they are there. Python 3 with venv is installed if it is missing.
set -euo pipefail
cd "$(dirname "$0")/.."

wanted="$(cat scripts/requirements-formal.txt scripts/requirements-eda.txt)"
[ "$(cat .venv/eda-installed 2> /dev/null)" = "$wanted" ] && exit 0

missing=()
python3 -c 'import ensurepip, venv' 2> /dev/null || missing+=(python3-venv)
command -v tclsh > /dev/null || missing+=(tcl)
if [ ${#missing[@]} -gt 0 ]; then
  command -v apt-get > /dev/null || { echo "setup-eda: please install: ${missing[*]}" >&2; exit 1; }
  as_root=()
  [ "$(id -u)" -eq 0 ] || as_root=(sudo)
  "${as_root[@]}" apt-get update --quiet
  "${as_root[@]}" apt-get install --yes --no-install-recommends "${missing[@]}"
fi
[ -x .venv/bin/python ] || python3 -m venv .venv
.venv/bin/pip install --quiet -r scripts/requirements-formal.txt -r scripts/requirements-eda.txt
echo "$wanted" > .venv/eda-installed
