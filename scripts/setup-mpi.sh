#!/usr/bin/env bash
# Installs what mining on several machines needs on Debian or Ubuntu: Open MPI, which also starts the
# processes, and libclang, with which Rust reads MPI's header.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/common.sh

command -v mpicc > /dev/null || need libopenmpi-dev
command -v mpirun > /dev/null || need openmpi-bin
compgen -G '/usr/lib/llvm-*/lib/libclang.so*' > /dev/null || compgen -G '/usr/lib*/*/libclang*.so*' > /dev/null || need libclang-dev
install_needs
mpirun --version | head -n 1
