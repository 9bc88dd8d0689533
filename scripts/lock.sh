#!/usr/bin/env bash
# Writes scripts/requirements-NAME.lock of every requirements-NAME.txt: the packages and all that they
# need, each with a version and the hashes of its files. A version that a lock has stays;
# `lock.sh --upgrade` takes the newest version of packages that no requirements-*.txt fixes.
#
# A lock serves every Python from the oldest one of its tools on: 3.9 for the tests of the Python package,
# which promises it; 3.11 (Debian 12) for the hardware tools.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/common.sh

pip_install target/lock lock
lock() { # NAME PYTHON REQUIREMENTS... -- OPTION...
  local name=$1 python=$2 files=()
  shift 2
  while [ $# -gt 0 ] && [ "$1" != -- ]; do files+=("scripts/requirements-$1.txt"); shift; done
  [ $# -eq 0 ] || shift
  # Not the annotations: they would name the files that were read as the caller did.
  target/lock/bin/uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-header --no-annotate \
    --python-version "$python" "$@" "${options[@]}" --output-file "scripts/requirements-$name.lock" "${files[@]}"
}

options=("$@")
lock lock 3.9 lock
lock python 3.9 python
lock eda 3.11 eda formal
lock lint 3.11 lint
lock docs 3.11 docs
# Headers alone: what hls4ml needs to run is left out.
lock hls 3.11 hls -- --no-deps
lock subgroups 3.9 subgroups
