#!/usr/bin/env bash
# Installs what mining on several machines needs on Debian or Ubuntu: Open MPI, which also starts the
# processes, and libclang, with which Rust reads MPI's header.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/common.sh

packages=()
command -v mpicc > /dev/null || packages+=(libopenmpi-dev)
command -v mpirun > /dev/null || packages+=(openmpi-bin)
compgen -G '/usr/lib/llvm-*/lib/libclang.so*' > /dev/null || compgen -G '/usr/lib*/*/libclang*.so*' > /dev/null || packages+=(libclang-dev)
install_packages "${packages[@]}"
mpirun --version | head -n 1
