#!/usr/bin/env bash
# Builds the accelerator's binary with Vitis: packages the core, compiles the movers, links.
#
#   TARGET=hw|hw_emu|sw_emu BOARD=u250 PLATFORM=… FREQUENCY=200 MACHINE=accelerator build.sh
#
# For Vitis 2022.1 and later. Everything goes under target/xclbin/MACHINE-BOARD-TARGET; the binary
# is gramer.xclbin there, and summary.txt says what came out.
set -euo pipefail
cd "$(dirname "$0")/../.."
root=$PWD

TARGET=${TARGET:-hw}
BOARD=${BOARD:-u250}
MACHINE=${MACHINE:-accelerator}
FREQUENCY=${FREQUENCY:-200}

usage() { echo "error: $1" >&2; exit 2; }
case $TARGET in hw | hw_emu | sw_emu) ;; *) usage "TARGET=$TARGET; it is hw, hw_emu or sw_emu" ;; esac
[[ $FREQUENCY =~ ^[0-9]+$ ]] || usage "FREQUENCY=$FREQUENCY; it is a number of MHz"
generated=$root/target/generated/$MACHINE
[ -f "$generated/gramer_core.xml" ] || usage "no machine $MACHINE; run make generate"
scripts/board.py "$BOARD" part > /dev/null || exit 2
PLATFORM=${PLATFORM:-$(scripts/board.py "$BOARD" platform)}
part=$(scripts/board.py "$BOARD" part)
if [ "$TARGET" = hw ] && grep -q "SLR_REGISTERS = 0;" "$generated/gramer_pkg.sv"; then
  echo "warning: machine $MACHINE has no registers between the card's regions (machine.slr_registers: 0);" \
    "the clock may not be met. docs/vitis.md says how to build one with them." >&2
fi

missing=()
for tool in vivado v++; do command -v "$tool" > /dev/null || missing+=("$tool"); done
hls=()
if command -v vitis_hls > /dev/null; then hls=(vitis_hls -f)
elif command -v vitis-run > /dev/null; then hls=(vitis-run --mode hls --tcl)
else missing+=("vitis_hls (or vitis-run)"); fi
if [ ${#missing[@]} -gt 0 ]; then
  {
    echo "error: Vitis is not there: ${missing[*]} not found on the PATH."
    echo "  Install AMD Vitis 2022.1 or later and the platform $PLATFORM, and source its"
    echo "  settings64.sh. Without Vitis, \`make emulator\` runs the same kernels: gramer mine … --device emulator"
  } >&2
  exit 1
fi

build=$root/target/xclbin/$MACHINE-$BOARD-$TARGET
mkdir -p "$build"
cd "$build"
run() { echo "+ $*" >&2; "$@"; }
period=$(awk "BEGIN { printf \"%.3f\", 1000 / $FREQUENCY }")

run vivado -mode batch -notrace -source "$root/scripts/vitis/package_core.tcl" \
  -log package.log -journal package.jou \
  -tclargs "$generated" "$root/rtl" "$root/hls" "$build/core" "$part" "$build/gramer_core.xo"

for kernel in gramer_fill gramer_drain; do
  if [ "$TARGET" = sw_emu ]; then
    run v++ --compile --target "$TARGET" --platform "$PLATFORM" --kernel "$kernel" \
      -I "$root/hls" --output "$build/$kernel.xo" "$root/hls/$kernel.cpp"
  else
    run "${hls[@]}" "$root/scripts/vitis/compile_movers.tcl" \
      "$kernel" "$root/hls" "$build" "$part" "$period"
  fi
done

# The linker's configuration: streams and banks from the machine, memory and regions of the board.
"$root/scripts/board.py" "$BOARD" link "$MACHINE" > link.cfg
link=(--link --target "$TARGET" --platform "$PLATFORM" --config link.cfg
  --kernel_frequency "$FREQUENCY" --save-temps --report_level 2)
if [ "$TARGET" = hw ]; then
  # The floorplan must be there before placement, and the reports are taken after routing.
  link+=(--linkhook.do_first "vpl.impl.place_design,$root/constraints/$BOARD.tcl"
    --linkhook.do_last "vpl.impl.route_design,$root/scripts/vitis/reports.tcl")
fi
run v++ "${link[@]}" --output gramer.xclbin gramer_core.xo gramer_fill.xo gramer_drain.xo
[ "$TARGET" = hw ] || run emconfigutil --platform "$PLATFORM" --nd 1

python3 "$root/scripts/vitis/summary.py" "$build" > summary.txt
cat summary.txt
