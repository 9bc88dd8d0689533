#!/usr/bin/env bash
# Makes sure that the host can be built: a Rust toolchain, a C compiler (zstd is C), Python 3 for
# the scripts. What is there already is left alone.
set -euo pipefail

if ! command -v cargo >/dev/null; then
  echo "setup: cargo was not found; install Rust 1.85 or later" >&2
  exit 1
fi

missing=()
command -v cc >/dev/null || missing+=(gcc libc6-dev)
command -v make >/dev/null || missing+=(make)
command -v python3 >/dev/null || missing+=(python3)
[ ${#missing[@]} -eq 0 ] && exit 0

if ! command -v apt-get >/dev/null; then
  echo "setup: please install: ${missing[*]}" >&2
  exit 1
fi
as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || { echo "setup: as root, run: apt-get install ${missing[*]}" >&2; exit 1; }
  as_root=(sudo)
fi
"${as_root[@]}" apt-get update -q
"${as_root[@]}" apt-get install -qy --no-install-recommends "${missing[@]}"
