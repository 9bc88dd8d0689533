#!/usr/bin/env bash
# Feeds every parser with broken input: fuzz.sh [SECONDS [TARGET…]], 60 seconds each by default.
# Plain cargo on stable Rust: the coverage counters that libFuzzer reads come from LLVM's own
# pass. Inputs that were found are kept in host/fuzz/corpus, failures in host/fuzz/artifacts.
set -euo pipefail
cd "$(dirname "$0")/../host/fuzz"

seconds=${1:-60}
shift || true
all=$(sed -n 's/^name = "\(.*\)"/\1/p' Cargo.toml | tail -n +2)
targets=${*:-$all}

# Instrument the crates of the target only; --target keeps build scripts out of it.
host=$(rustc -vV | sed -n 's/^host: //p')
export RUSTFLAGS="--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
-Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
-Cllvm-args=-sanitizer-coverage-trace-compares"
words=()
for target in $targets; do
  words+=(--bin "$target")
  [ "$target" = image ] && words+=(--features engines)
done
cargo build --release --locked --quiet --target "$host" "${words[@]}"

for target in $targets; do
  seeds=seeds/$target
  # The reader of any format starts from the samples of all of them.
  [ "$target" = any ] && seeds=$(echo seeds/* ../graph/tests/formats)
  if [ "$target" = formats ] || [ "$target" = table ]; then seeds=../graph/tests/formats; fi
  mkdir -p "corpus/$target" "artifacts/$target"
  echo "fuzz: $target, $seconds s"
  if ! "${CARGO_TARGET_DIR:-target}/$host/release/$target" -max_total_time="$seconds" -max_len=4096 -timeout=10 \
    -rss_limit_mb=2048 -print_final_stats=1 -artifact_prefix="artifacts/$target/" \
    "corpus/$target" $seeds >"artifacts/$target.log" 2>&1; then
    tail -n 40 "artifacts/$target.log"
    echo "fuzz: $target failed; the input is in host/fuzz/artifacts/$target" >&2
    exit 1
  fi
  awk '/stat::number_of_executed_units/ { runs = $2 } / cov: / { for (i = 1; i < NF; i++) if ($i == "cov:") cov = $(i + 1) }
    END { printf "fuzz:   %d runs, %d branches reached, no failure\n", runs, cov }' "artifacts/$target.log"
done
