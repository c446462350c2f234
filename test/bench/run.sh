#!/bin/sh
# Benchmarks: run.sh BUILD PROGRAM... ; each prints what it measured with n and interval.
B=$1; shift
bad=0
for t in "$@"; do
  echo "== $(basename "$t")"
  TUNER_BIN="$B/bin" "$t" || bad=1
done
for s in test/bench/*.sh; do
  case $s in */run.sh|*'*'*) continue;; esac
  echo "== $(basename "$s")"; BIN="$B/bin" sh "$s" || bad=1
done
exit $bad
