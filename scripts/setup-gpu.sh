#!/usr/bin/env bash
# Installs what tests of the GPU engine need on Debian or Ubuntu: an OpenCL loader, and PoCL, which runs
# kernels on the processor. A GPU needs its own driver with the OpenCL part.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/common.sh

compgen -G '/usr/lib*/*/libOpenCL.so.1' > /dev/null || need ocl-icd-libopencl1
compgen -G '/usr/lib*/*/libpocl.so.2' > /dev/null || need pocl-opencl-icd
install_needs
