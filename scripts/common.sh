# What the set-up scripts share. Sourced; leaves no variable behind but its functions.

# Installs Debian packages; where that can't be done, says which are wanted.
#   install_packages NAME...
install_packages() {
  [ $# -eq 0 ] && return
  if ! command -v apt-get > /dev/null; then
    echo "setup: please install: $*" >&2
    exit 1
  fi
  local as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo > /dev/null || { echo "setup: as root, run: apt-get install $*" >&2; exit 1; }
    as_root=(sudo)
  fi
  "${as_root[@]}" apt-get update --quiet
  "${as_root[@]}" apt-get install --quiet --yes --no-install-recommends "$@"
}

# The oldest Rust that Cargo.toml promises, as rustup names it: 1.88.0.
oldest_rust() {
  sed -n 's/^rust-version = "\([0-9]*\.[0-9]*\)"$/\1.0/p' Cargo.toml
}

# Puts Python packages into .venv of the repository, unless these very versions are there.
#   python_packages MARK REQUIREMENTS...
python_packages() {
  local mark=.venv/$1-installed wanted
  shift
  wanted=$(cat "$@")
  [ "$(cat "$mark" 2> /dev/null)" = "$wanted" ] && return
  python3 -c 'import ensurepip, venv' 2> /dev/null || install_packages python3-venv
  [ -x .venv/bin/python ] || python3 -m venv .venv
  # Not bin/pip, which names the folder that it was made in: a copy of .venv would install there.
  .venv/bin/python -m pip install --quiet "${@/#/--requirement=}"
  echo "$wanted" > "$mark"
}
