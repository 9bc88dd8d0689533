#!/usr/bin/env bash
# Installs what shows pages of answers in tests: Chromium, and a font with the signs that they have.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/common.sh

packages=()
command -v chromium > /dev/null || command -v google-chrome > /dev/null || packages+=(chromium)
[ -e /usr/share/fonts/truetype/dejavu/DejaVuSans.ttf ] || packages+=(fonts-dejavu-core)
install_packages "${packages[@]}"
