#!/usr/bin/env bash
# Installs what shows pages of answers in tests: Chromium, and a font with the signs that they have.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/common.sh

command -v chromium > /dev/null || command -v google-chrome > /dev/null || need chromium
[ -e /usr/share/fonts/truetype/dejavu/DejaVuSans.ttf ] || need fonts-dejavu-core
install_needs
