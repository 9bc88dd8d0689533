#!/usr/bin/env bash
# Tests that are too long for `make test`: the tests of graphs and engines with AddressSanitizer, which finds reads and
# writes outside of objects and uses after free; machines, graphs and models beyond the quick share (GRAMER_LONG=1); the
# benches of modules from eight seeds; random tasks and graphs of both cores from a seed that differs in every run:
# 1,000 tasks of the small machine, 1,000 that are stopped and continued, and more of the other machines; 1,000 graphs
# each for cliques and for motifs, 250 on a cluster of eight PUs. GRAMER_SEED=N repeats those of a run; a task that fails
# prints the seed that repeats it alone.
set -euo pipefail
cd "$(dirname "$0")/.."

# Sanitizers are not stable options of the compiler, which takes them if it is told that it may. The
# instrumented libraries have a target folder of their own. Leaks are not looked for: names and messages
# for signal handlers are never freed, since a handler may read them at any time. Two tests limit the memory of a
# process, of which the sanitizer itself needs more.
target=x86_64-unknown-linux-gnu
if [ "$(rustc -vV | sed -n 's/^host: //p')" = $target ]; then
  ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 RUSTC_BOOTSTRAP=1 RUSTFLAGS="-C target-cpu=x86-64-v2 -Z sanitizer=address" CARGO_TARGET_DIR=target/asan \
    cargo test --locked --target $target -p gramer-base -p gramer-graph -p gramer-engine -p gramer-cpu --lib --tests -- \
    --skip a_graph_of_twice_the_memory_is_mined_within_it --skip small_allocations_go_on_until_the_caller_looks
fi

# Parquet and Arrow, which release builds read: each byte of the samples damaged in turn.
make test-columnar

# Tests of which `make test` runs a quick share: machines, graphs and models beyond it.
GRAMER_LONG=1 scripts/test.py emulation paper python
make four-state
GRAMER_LONG=1 GRAMER_REQUIRE_RTL=1 cargo test --locked --workspace --test real --test set_counters

# Benches of modules, with the seeds of every night.
GRAMER_REQUIRE_RTL=1 GRAMER_BENCH_SEEDS="1 2 3 4 5 6 7 8" cargo test --locked --workspace --test units

# The first task's seed; the others' follow it. Below it are those of every commit (`make test-rtl`).
seed=${GRAMER_SEED:-$(($(date +%s) * 10000 + RANDOM % 10000))}
echo "test-long: GRAMER_SEED=$seed repeats this run"
export GRAMER_SEED=$seed GRAMER_REQUIRE_RTL=1 GRAMER_LONG=1
cases() {
  GRAMER_CASES=$1 cargo test --locked --workspace --test core "$2" -- --exact --nocapture
}
cases 1000 random_tasks
cases 1000 random_tasks_that_are_stopped_and_continued
cases 400 random_tasks_without_compaction
cases 200 random_tasks_with_short_filters
cases 400 random_tasks_with_the_candidate_s_lists
cases 400 random_tasks_with_the_candidate_s_lists_that_are_stopped
cases 400 random_tasks_in_a_uniform_memory
cases 200 random_tasks_on_the_paper_s_machine
cases 200 random_tasks_with_registers_between_regions
cases 200 weights_are_aged_many_times
export GRAMER_GRAPHS=1000
for test in cliques_of_random_graphs motifs_of_random_graphs; do
  cargo test --locked --workspace --test set $test -- --exact --nocapture
done
# Limits of memory and threads: every task, reader, converter and generator at each of 29 sizes.
GRAMER_LIMITS=all cargo test --locked --workspace --test limits -- --nocapture
# What the progress bar promises after a tenth of a run, for tasks of 5 to 30 s: where the real graphs are.
if [ -d "${GRAMER_DATA:-../shared/data}" ]; then
  cargo build --locked --release -p gramer-cli --bin gramer
  scripts/bench_progress.py --check
else
  echo "SKIPPED: the promises of the progress bar are measured on real graphs (GRAMER_DATA)"
fi
echo "test-long: passed; GRAMER_SEED=$seed repeats this run"
