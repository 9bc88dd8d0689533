#!/usr/bin/env bash
# Builds the OCI image of Containerfile with the first builder that works.
set -euo pipefail
cd "$(dirname "$0")/.."

for builder in podman docker buildah; do
  if "$builder" info > /dev/null 2>&1; then
    "$builder" build --tag gramer --file Containerfile . && exit 0
    echo "image: $builder didn't build it: its message is above. The images that it begins with have short names:" \
      "where they aren't resolved, name the registry that has them in unqualified-search-registries of" \
      "/etc/containers/registries.conf" >&2
    exit 1
  fi
done
echo "image: neither podman nor docker nor buildah can be used here; install podman (apt-get install podman)" >&2
exit 1
