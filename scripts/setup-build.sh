#!/usr/bin/env bash
# Makes sure that the host can be built: a Rust toolchain, a C compiler (zstd is C), Python 3 for
# the scripts. What is there already is left alone.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/common.sh

oldest=$(oldest_rust)
if ! command -v cargo > /dev/null || ! command -v rustc > /dev/null; then
  echo "setup: cargo or rustc was not found; install Rust $oldest or later" >&2
  exit 1
fi
installed=$(rustc --version | sed 's/^rustc \([0-9.]*\).*/\1/')
if [ "$(printf '%s\n' "$oldest" "$installed" | sort -V | head -n 1)" != "$oldest" ]; then
  echo "setup: rustc is $installed, but Rust $oldest or later is needed (\`rustup update\`)" >&2
  exit 1
fi

command -v cc > /dev/null || need gcc libc6-dev
command -v make > /dev/null || need make
command -v python3 > /dev/null || need python3
install_needs
