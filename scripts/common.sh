# Functions of the set-up scripts. Sourced.
#
# A script scripts/setup-PART.sh notes what its part lacks with `need` and `need_python`, and calls
# `install_needs` once. What follows that call may use all of it. scripts/setup.sh sets up several parts
# after one question: with SETUP_GATHER=1 `install_needs` prints the needs and ends the script.

packages=()
python_sets=()
# Seconds to wait for a lock of apt that another process holds.
APT_PATIENCE=${APT_PATIENCE:-600}

# Notes Debian packages that are missing.
#   need PACKAGE...
need() {
  packages+=("$@")
}

# Notes the Python packages of scripts/requirements-NAME.lock, unless .venv has these very versions.
#   need_python NAME
need_python() {
  cmp -s "scripts/requirements-$1.lock" ".venv/$1-installed" && return
  python_sets+=("$1")
  python3 -c 'import ensurepip, venv' 2> /dev/null || need python3-venv
}

# Says what is missing, asks on a terminal, and installs it.
install_needs() {
  if [ -n "${SETUP_GATHER:-}" ]; then
    [ ${#packages[@]} -eq 0 ] || printf 'package %s\n' "${packages[@]}"
    [ ${#python_sets[@]} -eq 0 ] || printf 'python %s\n' "${python_sets[@]}"
    exit 0
  fi
  agree
  install_packages
  install_python
}

# Says what would be installed. On a terminal, asks before Debian packages are installed; YES=1, CI=true
# and a standard input that is no terminal answer yes.
agree() {
  local text="" name answer=""
  if [ ${#packages[@]} -gt 0 ]; then
    text+="setup: Debian packages to install as root: ${packages[*]}"$'\n'
  fi
  for name in "${python_sets[@]}"; do
    # A package has several lines where its version depends on that of Python.
    text+="setup: Python packages to install in .venv (scripts/requirements-$name.lock):$(
      sed -n 's/^\([a-z0-9-]*\)==.*/ \1/p' "scripts/requirements-$name.lock" | uniq | tr -d '\n'
    )"$'\n'
  done
  printf %s "$text" >&2
  [ ${#packages[@]} -gt 0 ] || return 0 # .venv is a folder of the repository
  case "${YES:-${CI:-}}" in "" | 0 | no | false) ;; *) return 0 ;; esac
  [ -t 0 ] || return 0
  # The question must be seen where messages go to a file.
  [ -t 2 ] || printf %s "$text" > /dev/tty
  printf 'setup: install them? [Y/n] ' > /dev/tty
  read -r answer || answer=no
  case "$answer" in
    "" | [Yy] | [Yy][Ee][Ss]) ;;
    *)
      echo "setup: nothing was installed; needed: apt-get install ${packages[*]}" >&2
      exit 1
      ;;
  esac
}

# Installs the Debian packages that are noted.
install_packages() {
  [ ${#packages[@]} -gt 0 ] || return 0
  if ! command -v apt-get > /dev/null; then
    echo "setup: there is no apt-get; please install what this system calls: ${packages[*]}" >&2
    exit 1
  fi
  if [ "$(id -u)" -ne 0 ] && ! command -v sudo > /dev/null; then
    echo "setup: as root, run: apt-get install ${packages[*]}" >&2
    exit 1
  fi
  run_apt update
  run_apt install --yes --no-install-recommends "${packages[@]}"
}

# Runs apt-get as root, and waits for its locks. DPkg::Lock::Timeout covers the lock of dpkg alone, so
# apt-get is run again while the lock of the lists or of the archives is held.
#   run_apt WORD...
run_apt() {
  local as_root=() log code end=$((SECONDS + APT_PATIENCE)) told=""
  [ "$(id -u)" -eq 0 ] || as_root=(sudo)
  log=$(mktemp)
  while :; do
    code=0
    "${as_root[@]}" env LC_ALL=C apt-get --quiet -o "DPkg::Lock::Timeout=$APT_PATIENCE" "$@" 2> "$log" || code=$?
    if [ "$code" -eq 0 ] || [ "$SECONDS" -ge "$end" ] ||
      ! grep -qE 'Could not get lock|Unable to lock|Unable to acquire' "$log"; then
      break
    fi
    [ -n "$told" ] || echo "setup: another process holds a lock of apt; waiting up to $APT_PATIENCE s for it" >&2
    told=1
    sleep 1
  done
  cat "$log" >&2
  rm -f "$log"
  if [ "$code" -ne 0 ]; then
    echo "setup: \`apt-get $*\` ended with $code" >&2
    exit 1
  fi
}

# Installs the Python packages that are noted in .venv.
install_python() {
  local name
  for name in "${python_sets[@]}"; do
    pip_install .venv "$name"
    cp "scripts/requirements-$name.lock" ".venv/$name-installed"
  done
}

# Installs the very files whose hashes scripts/requirements-NAME.lock has in an environment of Python.
#   pip_install FOLDER NAME
pip_install() {
  [ -x "$1/bin/python" ] || python3 -m venv "$1"
  # Not bin/pip, which names the folder that it was made in: a copy of .venv would install there.
  "$1/bin/python" -m pip install --quiet --no-deps --require-hashes --requirement="scripts/requirements-$2.lock"
}

# The oldest Rust that Cargo.toml promises, as rustup names it: 1.88.0.
oldest_rust() {
  sed -n 's/^rust-version = "\([0-9]*\.[0-9]*\)"$/\1.0/p' Cargo.toml
}
