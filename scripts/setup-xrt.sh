#!/usr/bin/env bash
# Installs what an emulated device needs on Debian or Ubuntu: the Xilinx Runtime, an OpenCL loader,
# unzip (the runtime calls it), and the headers that the tests compare with. AMD's own runtime in
# /opt/xilinx/xrt is used where it is there.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/common.sh

have() { [ -e "/opt/xilinx/xrt/$1" ] || compgen -G "$2" > /dev/null; }
have lib/libxrt_hwemu.so.2 /usr/lib/x86_64-linux-gnu/libxrt_hwemu.so.2 || need libxrt1
have include/xclbin.h /usr/include/xrt/xclbin.h || need libxrt-dev
compgen -G '/usr/lib*/*/libOpenCL.so.1' > /dev/null || need ocl-icd-libopencl1
compgen -G '/usr/lib*/*/libOpenCL.so' > /dev/null || need ocl-icd-opencl-dev
[ -e /usr/include/CL/cl.h ] || need opencl-c-headers
[ -e /usr/include/uuid/uuid.h ] || need uuid-dev # xclbin.h includes it
command -v unzip > /dev/null || need unzip
install_needs
