#!/usr/bin/env bash
# The OCI image of Containerfile, by whichever builder works here.
set -euo pipefail
cd "$(dirname "$0")/.."

for builder in podman docker buildah; do
  if "$builder" info > /dev/null 2>&1; then
    exec "$builder" build --tag gramer --file Containerfile .
  fi
done
echo "image: neither podman nor docker nor buildah can be used here; install podman (apt-get install podman)" >&2
exit 1
