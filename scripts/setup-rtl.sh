#!/usr/bin/env bash
# Installs what building the simulated core needs on Debian or Ubuntu: Verilator and a C++ compiler.
set -euo pipefail

missing=()
for tool in verilator g++ make; do
  command -v "$tool" > /dev/null || missing+=("$tool")
done
if [ ${#missing[@]} -eq 0 ]; then
  verilator --version
  exit 0
fi
if ! command -v apt-get > /dev/null; then
  echo "missing: ${missing[*]}; install Verilator 5.006 or later, g++ and make" >&2
  exit 1
fi
as_root=()
[ "$(id -u)" -eq 0 ] || as_root=(sudo)
"${as_root[@]}" apt-get update --quiet
"${as_root[@]}" apt-get install --yes --no-install-recommends "${missing[@]}"
verilator --version
