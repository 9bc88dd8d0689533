#!/usr/bin/env bash
# Tests of the GPU engine on another OpenCL for processors, Intel's, which has sub-groups with ballot and shuffle: the
# form of lane operations that neither PoCL nor NVIDIA's driver offers. It is put into target/subgroups (0.8 GB),
# and registered for these tests alone.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/common.sh

place=$PWD/target/subgroups
if ! cmp -s scripts/requirements-subgroups.lock "$place/installed"; then
  python3 -c 'import ensurepip, venv' 2> /dev/null || need python3-venv
  install_needs
  pip_install "$place" subgroups
  # The loader is the system's.
  rm -f "$place"/lib/libOpenCL.so*
  mkdir -p "$place/vendors"
  echo "$place/lib/libintelocl.so" > "$place/vendors/intel.icd"
  cp scripts/requirements-subgroups.lock "$place/installed"
fi
cargo test --locked -p gramer-gpu --no-run
export OCL_ICD_VENDORS=$place/vendors/ LD_LIBRARY_PATH=$place/lib
# Elsewhere a form that a device hasn't is refused, and that is right.
export GRAMER_REQUIRE_OPENCL=1 GRAMER_GPU_DEVICE=gpu:portable GRAMER_REQUIRE_LANES=subgroups
cargo test --locked -p gramer-gpu --lib --test matching --test wide --test frequent --test patterns -- "$@"
