#!/usr/bin/env bash
# Checks that everything builds with the oldest Rust that Cargo.toml promises (`rust-version`),
# tests, benches and examples included. Installs that toolchain with rustup if it isn't there.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/common.sh

oldest=$(oldest_rust)
if ! command -v rustup > /dev/null; then
  echo "msrv: rustup was not found, which has older toolchains; see https://rustup.rs" >&2
  exit 1
fi
rustup run "$oldest" rustc --version 2> /dev/null ||
  rustup toolchain install "$oldest" --profile minimal --no-self-update
# A separate folder: two compilers sharing one would rebuild everything each time.
cargo "+$oldest" check --locked --workspace --all-targets --target-dir target/msrv
echo "msrv: everything builds with Rust $oldest"
