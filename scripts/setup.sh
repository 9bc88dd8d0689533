#!/usr/bin/env bash
# Installs what the build and parts of the project need, after one question: setup.sh [PART...]. Each part
# has a script, scripts/setup-PART.sh; `build` (the Rust toolchain, a C compiler) is part of all.
#
# On a terminal it asks before it installs Debian packages. YES=1, CI=true or a standard input that is no
# terminal answer yes.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/common.sh

parts=(build)
for part in "$@"; do
  if [ ! -x "scripts/setup-$part.sh" ]; then
    echo "setup: no part $part; parts: $(ls scripts/setup-*.sh | sed 's/.*setup-\(.*\)\.sh/\1/' | tr '\n' ' ')" >&2
    exit 2
  fi
  parts+=("$part")
done

needs=$(for part in "${parts[@]}"; do SETUP_GATHER=1 "scripts/setup-$part.sh" || exit; done)
mapfile -t packages < <(sed -n 's/^package //p' <<< "$needs" | sort -u)
mapfile -t python_sets < <(sed -n 's/^python //p' <<< "$needs" | sort -u)
install_needs
for part in "${parts[@]}"; do YES=1 "scripts/setup-$part.sh"; done # The question has been answered.
