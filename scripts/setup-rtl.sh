#!/usr/bin/env bash
# Installs what building the simulated core needs on Debian or Ubuntu: Verilator (5.006 or later), a
# C++ compiler, clang, whose models are the fastest, and zlib, with which waveforms are written.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/common.sh

for tool in verilator g++ make; do
  command -v "$tool" > /dev/null || need "$tool"
done
command -v clang++ > /dev/null || need clang
[ -f /usr/include/zlib.h ] || need zlib1g-dev
install_needs
verilator --version
