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

# An object of each source: the tests share the movers and the core's model.
object() { # NAME SOURCE FLAG...
  local name=$1 source=$2
  shift 2
  g++ "${common[@]}" "$@" -c -o "$out/$name.o" "$source"
}

run() { # NAME OBJECT... -- FLAG...
  local name=$1 objects=() said
  shift
  while [ "$1" != -- ]; do objects+=("$out/$1.o"); shift; done
  shift
  g++ "$@" -o "$out/$name" "${objects[@]}"
  # By itself, so that its failure ends the script.
  said=$("$out/$name")
  echo "$name: $said"
}

both() { # END FLAG...: of the tests' names, and how what uses Vitis' types is compiled
  local end=$1
  shift
  object "gramer_fill$end" hls/gramer_fill.cpp "$@"
  object "gramer_drain$end" hls/gramer_drain.cpp "$@"
  object "core_model$end" hls/core_model.cpp "$@"
  object "movers_test$end" hls/tests/movers_test.cpp "$@"
  object "kernels_test$end" hls/tests/kernels_test.cpp "$@"
  run "movers$end" "movers_test$end" "gramer_fill$end" "gramer_drain$end" -- "$@"
  run "kernels$end" "kernels_test$end" "gramer_fill$end" "gramer_drain$end" "core_model$end" -- "$@"
}

# The longest one runs in parallel with the others: it uses none of Vitis' types.
{
  object core_model_test hls/tests/core_model_test.cpp "${small[@]}"
  run core_model core_model_test -- "${small[@]}"
} &
model=$!
both "" "${small[@]}"
both -ap_types "${open[@]}"
wait "$model"
