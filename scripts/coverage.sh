#!/usr/bin/env bash
# Which lines of the core ran in its tests on the small machine: rewrites docs/hardware/coverage.md.
# GRAMER_CASES sets how many random tasks are drawn (60 of each kind), GRAMER_COVERAGE=toggles counts
# bits of signals too (the build takes many minutes).
set -euo pipefail
cd "$(dirname "$0")/.."

out=$PWD/target/coverage
rm -rf "$out"
mkdir -p "$out"
export GRAMER_COVERAGE=${GRAMER_COVERAGE:-lines} GRAMER_COVERAGE_OUT=$out GRAMER_REQUIRE_RTL=1
export GRAMER_CASES=${GRAMER_CASES:-60}
# Other machines have the same lines, but for the variants that the reasons name.
cargo test --locked --workspace --test core --test control -- \
  --skip paper --skip counters_are --skip without_compaction --skip uniform --skip counts_stay
verilator_coverage --write "$out/merged.dat" "$out"/*-*.dat
scripts/coverage.py "$out/merged.dat"
