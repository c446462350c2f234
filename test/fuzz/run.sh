#!/bin/sh
# Fuzzing: run.sh BUILD SECONDS TARGET... ; corpora are test/fuzz/corpus/<target>/ (read) and BUILD/fuzz/<target>.corpus
B=$1; seconds=$2; shift 2
bad=0
for t in "$@"; do
  name=$(basename "$t"); mkdir -p "$B/fuzz/$name.corpus"
  echo "$name: $seconds s"
  seeds="test/fuzz/corpus/$name"; [ -d "$seeds" ] || seeds=
  if "$t" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 -artifact_prefix="$B/fuzz/$name-" \
      "$B/fuzz/$name.corpus" $seeds >"$B/fuzz/$name.log" 2>&1; then
    echo "$name: clean, $(grep -o 'number_of_executed_units: .*' "$B/fuzz/$name.log")"
  else bad=1; echo "$name: FAILED"; tail -30 "$B/fuzz/$name.log"; fi
done
exit $bad
