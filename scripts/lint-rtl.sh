#!/usr/bin/env bash
# Verilator's lint with all warnings, for every machine of the repository.
set -euo pipefail
cd "$(dirname "$0")/.."

for machine in accelerator.yaml machines/*.yaml; do
  out=target/lint/$(basename "$machine" .yaml)
  mkdir -p "$out"
  cargo run -q --locked -p gramer-machine --example generate -- "$machine" > "$out/gramer_pkg.sv"
  verilator --lint-only -Wall -sv --assert --top-module gramer_core rtl/verilator.vlt \
    "$out/gramer_pkg.sv" rtl/gramer_types_pkg.sv -y rtl +libext+.sv rtl/gramer_core.sv
  echo "$machine: no warning"
done
