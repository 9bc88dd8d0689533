#!/usr/bin/env bash
# Builds the accelerator's binary with Vitis: packages the core, compiles the movers, links.
#
#   TARGET=hw|hw_emu|sw_emu BOARD=u250 PLATFORM=… MACHINE=card build.sh [--check]
#
# For Vitis 2022.1 and later. Everything goes under target/xclbin/MACHINE-BOARD-TARGET (XCLBIN_DIR
# names another folder than target/xclbin); the binary is gramer.xclbin there, with the description
# of the machine in it that the host wants, and summary.txt says what came out. The kernels' clock
# is the machine's, clock_mhz.
#
# It checks the board, the machine, the tools and the platform before anything else; with --check that is
# all, and needs no generated file. PLATFORM is the name of a platform or the path of its .xpfm.
set -euo pipefail
cd "$(dirname "$0")/../.."
root=$PWD

TARGET=${TARGET:-hw}
BOARD=${BOARD:-u250}
if [ -z "${MACHINE:-}" ]; then
  # On a card, paths between its regions need registers.
  MACHINE=accelerator
  [ "$TARGET" != hw ] || MACHINE=card
fi

usage() { echo "error: $1" >&2; exit 2; }
case $TARGET in hw | hw_emu | sw_emu) ;; *) usage "TARGET=$TARGET; TARGET is hw, hw_emu or sw_emu" ;; esac
platform_of_board=$(scripts/board.py "$BOARD" platform) || exit 2
scripts/board.py "$BOARD" target "$TARGET" || exit 2
PLATFORM=${PLATFORM:-$platform_of_board}
generated=$root/target/generated/$MACHINE
described=machines/$MACHINE.yaml
[ "$MACHINE" != accelerator ] || described=accelerator.yaml
if [ ! -f "$described" ] && [ ! -d "$generated" ]; then
  usage "no machine $MACHINE; machines: accelerator $(cd machines && ls -- *.yaml | sed 's/\.yaml$//' | tr '\n' ' ')"
fi

missing=()
for tool in vivado v++ xclbinutil; do command -v "$tool" > /dev/null || missing+=("$tool"); done
[ "$TARGET" = hw ] || command -v emconfigutil > /dev/null || missing+=(emconfigutil)
hls=()
if command -v vitis_hls > /dev/null; then hls=(vitis_hls -f)
elif command -v vitis-run > /dev/null; then hls=(vitis-run --mode hls --tcl)
else missing+=("vitis_hls (or vitis-run)"); fi
if [ ${#missing[@]} -gt 0 ]; then
  {
    echo "error: Vitis is not there: ${missing[*]} not found on the PATH."
    echo "  Install AMD Vitis 2022.1 or later, the Xilinx Runtime (xclbinutil) and the platform"
    echo "  $PLATFORM, and source settings64.sh and the runtime's setup.sh. Without Vitis, \`make emulator\` runs the same kernels: gramer mine … --device emulator"
  } >&2
  exit 1
fi

# Where v++ looks for a platform by its name.
IFS=: read -r -a repositories <<< "${PLATFORM_REPO_PATHS:-}"
repositories+=(/opt/xilinx/platforms)
[ -z "${XILINX_VITIS:-}" ] || repositories+=("$XILINX_VITIS/platforms" "$XILINX_VITIS/base_platforms")
found=""
[[ "$PLATFORM" != *.xpfm || ! -f "$PLATFORM" ]] || found=1
for folder in "${repositories[@]}"; do
  [ ! -f "$folder/$PLATFORM/$PLATFORM.xpfm" ] && [ ! -f "$folder/$PLATFORM.xpfm" ] || found=1
done
if [ -z "$found" ]; then
  {
    echo "error: platform $PLATFORM is not there: no $PLATFORM.xpfm in ${repositories[*]}."
    echo "  Install the platform's development package, or name its folder in PLATFORM_REPO_PATHS or its"
    echo "  file in PLATFORM=PATH.xpfm"
  } >&2
  exit 1
fi
[ "${1:-}" != --check ] || exit 0

core=gramer_core
[ ! -f "$generated/gramer_set_core.xml" ] || core=gramer_set_core
[ -f "$generated/$core.xml" ] || usage "machine $MACHINE has no generated files; run make generate"
if [ "$core" = gramer_set_core ] && [ "$TARGET" = sw_emu ]; then
  usage "machine $MACHINE has a set core, of which there is no functional model: TARGET is hw or hw_emu"
fi
# The machine is the one source of the frequency: its description goes into the binary, and the
# host takes the seconds of a run from it.
clock=$(sed -n 's/^ *clock_mhz: *\([0-9]*\).*/\1/p' "$generated/machine.yaml")
[ -n "$clock" ] || usage "$generated/machine.yaml has no clock_mhz; run make generate"
if [ "${FREQUENCY:-$clock}" != "$clock" ]; then
  usage "FREQUENCY=$FREQUENCY, but machine $MACHINE runs at $clock MHz. Describe one that runs at \
$FREQUENCY MHz in machines/NAME.yaml, with \`base: ../accelerator.yaml\` and \
\`machine: {name: NAME, clock_mhz: $FREQUENCY}\`, and build it with MACHINE=NAME"
fi
part=$(scripts/board.py "$BOARD" part)
[ "$TARGET" != hw ] || scripts/fit.py "$MACHINE" "$BOARD" > /dev/null || exit 1

# A cluster of the set core lies in one region.
registers=$(sed -n 's/^ *slr_registers: *\([0-9]*\).*/\1/p' "$generated/machine.yaml")
if [ "$TARGET" = hw ] && [ "$core" = gramer_core ] && [ "${registers:-0}" = 0 ]; then
  {
    echo "warning: machine $MACHINE has no registers between the regions (SLRs) of the card, over which its"
    echo "  floorplan spreads it. Build machine card, or describe a machine with slr_registers: 1"
    echo "  (docs/reference/vitis.md)."
  } >&2
fi

build=${XCLBIN_DIR:-$root/target/xclbin}/$MACHINE-$BOARD-$TARGET
mkdir -p "$build"
cd "$build"
run() { echo "+ $*" >&2; "$@"; }
period=$(awk "BEGIN { printf \"%.3f\", 1000 / $clock }")

listed=paper
[ "$core" = gramer_core ] || listed=set
"$root/scripts/rtl_files.py" "$listed" | sed "s|^|$root/|" > files.txt
run vivado -mode batch -notrace -source "$root/scripts/vitis/package_core.tcl" \
  -log package.log -journal package.jou \
  -tclargs "$generated" "$build/files.txt" "$root/hls" "$build/core" "$part" "$build/$core.xo"

for kernel in gramer_fill gramer_drain; do
  if [ "$TARGET" = sw_emu ]; then
    run v++ --compile --target "$TARGET" --platform "$PLATFORM" --kernel "$kernel" \
      -I "$root/hls" --output "$build/$kernel.xo" "$root/hls/$kernel.cpp"
  else
    # Neither vitis_hls nor vitis-run documents arguments of a script.
    GRAMER_KERNEL=$kernel GRAMER_HLS=$root/hls GRAMER_BUILD=$build GRAMER_PART=$part \
      GRAMER_CLOCK_NS=$period run "${hls[@]}" "$root/scripts/vitis/compile_movers.tcl"
  fi
done

# The linker's configuration: streams and banks from the machine, memory and regions of the board.
"$root/scripts/board.py" "$BOARD" link "$MACHINE" > link.cfg
link=(--link --target "$TARGET" --platform "$PLATFORM" --config link.cfg --save-temps --report_level 2)
if [ "$TARGET" = hw ]; then
  # The floorplan must be there before placement, and the reports are taken after routing.
  "$root/scripts/board.py" "$BOARD" constraints "$MACHINE" > constraints.tcl
  link+=(--linkhook.do_first "vpl.impl.place_design,$build/constraints.tcl"
    --linkhook.do_last "vpl.impl.route_design,$root/scripts/vitis/reports.tcl")
fi
rm -f gramer.xclbin clock.txt
link_at() {
  run v++ "${link[@]}" --kernel_frequency "$1" --output linked.xclbin "$core.xo" gramer_fill.xo gramer_drain.xo
}
# A link for a card takes hours. If it fails, a second one at three quarters of the clock tells whether the clock was
# too high; the summary and the binary's clock section then have the lower one, by which the host counts seconds.
if ! link_at "$clock"; then
  [ "$TARGET" = hw ] || exit 1
  lower=$((clock * 3 / 4))
  echo "warning: linking for $clock MHz failed; once more for $lower MHz" >&2
  link_at "$lower" || { echo "error: linking for $lower MHz failed too; the cause is not the clock alone" >&2; exit 1; }
  echo "$clock $lower" > clock.txt
fi
# The host takes everything that it must know of the machine from this section.
run xclbinutil --input linked.xclbin --add-section "USER_METADATA:RAW:$generated/machine.yaml" \
  --output gramer.xclbin
[ "$TARGET" = hw ] || run emconfigutil --platform "$PLATFORM" --nd 1

python3 "$root/scripts/vitis/summary.py" "$build" > summary.txt
cat summary.txt
