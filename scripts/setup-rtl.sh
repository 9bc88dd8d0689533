#!/usr/bin/env bash
# Installs what building the simulated core needs on Debian or Ubuntu: Verilator (5.006 or later), a
# C++ compiler, clang, whose models are the fastest, and zlib, with which waveforms are written.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/common.sh

missing=()
for tool in verilator g++ make; do
  command -v "$tool" > /dev/null || missing+=("$tool")
done
command -v clang++ > /dev/null || missing+=(clang)
[ -f /usr/include/zlib.h ] || missing+=(zlib1g-dev)
install_packages "${missing[@]}"
verilator --version
