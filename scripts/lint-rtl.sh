#!/usr/bin/env bash
# Verilator's lint with all warnings, for every machine of the repository: the core, and the top
# module for Vitis around it.
set -euo pipefail
cd "$(dirname "$0")/.."

for machine in accelerator.yaml machines/*.yaml; do
  out=target/generated/$(basename "$machine" .yaml)
  cargo run -q --locked -p gramer-machine --example generate -- "$machine" "$out" > /dev/null
  verilator --lint-only -Wall -sv --assert --top-module gramer_kernel rtl/verilator.vlt \
    "$out/gramer_pkg.sv" rtl/gramer_types_pkg.sv -y rtl +libext+.sv "$out/gramer_kernel.sv"
  echo "$machine: no warning"
done
