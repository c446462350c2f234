#!/bin/sh
# Installs what tuner needs: setup.sh [run|check|bench|fuzz]... ; each set includes 'run'. Does nothing when all is there.
# Debian and Ubuntu: through apt, as root or with sudo. Elsewhere: prints the list and stops.
set -u

run="make:builds|gcc:compiles tuner and, at tuning time, the host kernels|libc6-dev:C headers
libyaml-dev:reads configs and logic|libmsgpack-c-dev,libmsgpack-dev:solution library files|libsqlite3-dev:tuning.db
libxxhash-dev:hash tables|libmd-dev:SHA-256|libxlsxwriter-dev:spreadsheets of tuner report"
check="libcmocka-dev:unit tests|python3-numpy:tests of the Python bindings"
bench="libopenblas0-pthread,libopenblas0:the peer that host kernels are compared with|sqlite3:reads the store for the overhead bench"
fuzz="clang:libFuzzer|libclang-rt-dev,libclang-rt-14-dev:its runtime"

sets=run
for s in "$@"; do
  case $s in
    run) ;;
    check|bench|fuzz) sets="$sets $s" ;;
    *) echo "setup.sh: unknown set '$s', expected run, check, bench or fuzz" >&2; exit 2 ;;
  esac
done

# Alternatives of one line, separated by commas: the first that apt knows.
pick() {
  for p in $(echo "$1" | tr ',' ' '); do
    apt-cache show "$p" >/dev/null 2>&1 && { echo "$p"; return 0; }
  done
  echo "${1%%,*}"
}
installed() {
  for p in $(echo "$1" | tr ',' ' '); do
    dpkg-query -W -f='${Status}' "$p" 2>/dev/null | grep -q '^install ok installed' && return 0
  done
  return 1
}

missing=
for s in $sets; do
  eval "list=\$$s"
  for item in $(echo "$list" | tr '|\n' '\n\n' | sed 's/ /_/g'); do
    names=${item%%:*}; why=$(echo "${item#*:}" | tr '_' ' ')
    if ! command -v dpkg-query >/dev/null 2>&1; then echo "needs: $names ($why)"; missing="$missing $names"; continue; fi
    installed "$names" && continue
    echo "to install: $names ($why)"
    missing="$missing $names"
  done
done
[ -n "$missing" ] || exit 0

if ! command -v apt-get >/dev/null 2>&1; then
  echo "setup.sh: this is not Debian or Ubuntu: install what is listed above with your own package manager" >&2
  exit 1
fi
packages=
for m in $missing; do packages="$packages $(pick "$m")"; done
install="apt-get install -y --no-install-recommends$packages"
sudo=
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null 2>&1; then
    printf 'setup.sh: this needs root and there is no sudo; as root:\n  apt-get update && %s\n' "$install" >&2
    exit 1
  fi
  sudo=sudo
fi
$sudo apt-get update -qq || exit 1
packages=   # again: apt knows more names now
for m in $missing; do packages="$packages $(pick "$m")"; done
echo "installing:$packages"
# shellcheck disable=SC2086
$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $packages >/dev/null || {
  echo "setup.sh: apt-get could not install:$packages" >&2; exit 1; }
