#!/usr/bin/env bash
# The crates that are meant for others, packed as a registry would get them (target/package). Nothing is
# published. `scripts/package.sh --build` builds each from its package alone, too.
set -euo pipefail
cd "$(dirname "$0")/.."

verify=--no-verify
[ "${1:-}" = --build ] && verify=
crates=(gramer-machine gramer-graph gramer-pattern gramer-engine gramer-accelerator gramer)
# shellcheck disable=SC2086 # nothing or one option
cargo package --locked $verify "${crates[@]/#/--package=}"
