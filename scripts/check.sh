#!/bin/sh
# Sets up, builds, runs all tests. The same as 'make check' once set up.
#   --clang   also builds everything with clang and runs the fuzz targets on fixed inputs, as CI does
set -e
cd "$(dirname "$0")/.."
case ${1-} in
  '') sh scripts/setup.sh check ;;
  --clang) sh scripts/setup.sh check fuzz; make -j"$(nproc)" clang ;;
  *) echo "check.sh: unknown option '$1', expected --clang or none" >&2; exit 2 ;;
esac
exec make -j"$(nproc)" check
