#!/usr/bin/env bash
# Runs the tests of the Python package with the oldest and the newest versions of NumPy, pandas, NetworkX, igraph and
# SciPy that it is tested with, on the extension module that scripts/test.py has built. An environment for each is made
# in target/python-versions; PYTHON (python3.11) makes them.
set -euo pipefail
cd "$(dirname "$0")/.."

built=$(cd "${CARGO_TARGET_DIR:-target}/debug" && pwd)
module=host/python/gramer/_gramer.abi3.so
cp "$built/lib_gramer.so" "$module.new"
mv "$module.new" "$module"
for age in oldest newest; do
  folder=target/python-versions/$age
  wanted=scripts/python-$age.txt
  if ! cmp -s "$wanted" "$folder/requirements.txt"; then
    "${PYTHON:-python3.11}" -m venv --clear "$folder"
    "$folder/bin/pip" install --quiet --disable-pip-version-check -r "$wanted"
    cp "$wanted" "$folder/requirements.txt"
  fi
  echo "Python package with the $age versions"
  # Types are checked by `make test-python`.
  PYTHONPATH=host/python GRAMER=$built/gramer "$folder/bin/python" -B -m pytest --quiet host/python \
    -p no:cacheprovider --ignore host/python/tests/test_types.py
done
