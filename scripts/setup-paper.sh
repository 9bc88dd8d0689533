#!/usr/bin/env bash
# Installs what the paper's experiments need in addition to the simulated core: valgrind, which counts the
# misses of a CPU's caches (figure 3).
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/common.sh

command -v valgrind > /dev/null || need valgrind
install_needs
