#!/usr/bin/env bash
# Sets up what C simulation of the kernels needs in addition to a compiler: the open ap_types headers (Apache
# licence), which hls4ml carries. It is put into .venv without what it depends on; .venv/ap_types
# leads to the headers.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/common.sh

need_python hls
install_needs
headers=$(echo .venv/lib/python3*/site-packages/hls4ml/templates/vivado/ap_types)
[ -f "$headers/ap_int.h" ] || { echo "setup: hls4ml is there, but not $headers/ap_int.h" >&2; exit 1; }
ln -sfn "${headers#.venv/}" .venv/ap_types
