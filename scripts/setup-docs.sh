#!/usr/bin/env bash
# Installs what builds the site of the documents, MkDocs, in .venv.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/common.sh

need_python docs
install_needs
