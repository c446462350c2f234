#!/bin/sh
# Sets up, builds, runs all tests. The same as 'make check' once set up.
set -e
cd "$(dirname "$0")/.."
sh scripts/setup.sh check
exec make -j"$(nproc)" check
