#!/usr/bin/env bash
# Installs what `make bench` needs in addition to the build: zstd, with which tar reads the query sets.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/common.sh

command -v zstd > /dev/null || need zstd
install_needs
