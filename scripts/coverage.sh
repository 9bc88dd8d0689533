#!/usr/bin/env bash
# Which lines of the core ran, and which bits toggled, in its tests on the small machines: rewrites
# docs/coverage.md. GRAMER_CASES sets how many random tasks are drawn (200 of each kind).
set -euo pipefail
cd "$(dirname "$0")/.."

out=$PWD/target/coverage
rm -rf "$out"
mkdir -p "$out"
export GRAMER_COVERAGE=1 GRAMER_COVERAGE_OUT=$out GRAMER_REQUIRE_RTL=1
export GRAMER_CASES=${GRAMER_CASES:-200}
# Not what takes the paper's machine or the build without compaction: other sizes of the same lines,
# and a variant of its own.
cargo test --release --locked -p gramer-sim --test core --test control --test generated -- \
  --skip paper --skip counters_are_as_last_seen --skip random_tasks_without_compaction
verilator_coverage --write "$out/merged.dat" "$out"/*-*.dat
scripts/coverage.py "$out/merged.dat"
