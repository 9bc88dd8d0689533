#!/usr/bin/env bash
# Makes sure that the host can be built: a Rust toolchain, a C compiler (zstd is C), Python 3 for
# the scripts. What is there already is left alone.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/common.sh

if ! command -v cargo > /dev/null; then
  echo "setup: cargo was not found; install Rust 1.85 or later" >&2
  exit 1
fi

missing=()
command -v cc > /dev/null || missing+=(gcc libc6-dev)
command -v make > /dev/null || missing+=(make)
command -v python3 > /dev/null || missing+=(python3)
install_packages "${missing[@]}"
