#!/usr/bin/env bash
# C simulation of the data movers and of the core's functional model. What uses Vitis' types is
# compiled twice and must pass both times: with the small headers of hls/simulation, which the
# emulator is built with, and the address and undefined behaviour sanitizers; and with the open
# ap_types headers, which come of the same source as Vitis' own (without the sanitizers: they shift
# negative numbers to the left by themselves).
set -euo pipefail
cd "$(dirname "$0")/.."

out=target/hls
mkdir -p "$out"
common=(-std=c++17 -O1 -Ihls -Itarget/generated/accelerator)
small=(-Wall -Wextra -Wno-unknown-pragmas -Ihls/simulation
  -fsanitize=address,undefined -fno-sanitize-recover=all)
# Theirs first; of ours it takes the one that they don't have.
open=(-w -DOPEN_AP_TYPES -isystem .venv/ap_types -isystem hls/simulation)
movers=(hls/gramer_fill.cpp hls/gramer_drain.cpp)

run() { # NAME SOURCE... -- FLAG...
  local name=$1 sources=()
  shift
  while [ "$1" != -- ]; do sources+=("$1"); shift; done
  shift
  g++ "${common[@]}" "$@" -o "$out/$name" "${sources[@]}"
  echo "$name: $("$out/$name")"
}

# The longest one beside the others: it uses none of Vitis' types.
run core_model hls/tests/core_model_test.cpp -- "${small[@]}" &
model=$!
run movers hls/tests/movers_test.cpp "${movers[@]}" -- "${small[@]}"
run movers-ap_types hls/tests/movers_test.cpp "${movers[@]}" -- "${open[@]}"
run kernels hls/tests/kernels_test.cpp "${movers[@]}" hls/core_model.cpp -- "${small[@]}"
run kernels-ap_types hls/tests/kernels_test.cpp "${movers[@]}" hls/core_model.cpp -- "${open[@]}"
wait "$model"
