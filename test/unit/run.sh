#!/bin/sh
# Runs the unit test programs: run.sh BUILD PROGRAM... ; counts go to BUILD/counts for scripts/summary.sh
B=$1; shift
mkdir -p "$B"; : >"$B/counts.unit"
bad=0
# cmocka names them when they end and once more in its summary
names() { sed -n "s/^\[ *$1 *\] \([A-Za-z_][A-Za-z0-9_]*\)\$/\1/p" "$log" | sort -u | wc -l; }
for t in "$@"; do
  log="$B/unit/$(basename "$t").log"
  start=$(date +%s)
  timeout 300 "$t" >"$log" 2>&1; rc=$?
  n=$(grep -c '^\[       OK \]' "$log"); f=$(names FAILED); s=$(names SKIPPED)
  [ $rc -ne 0 ] && [ "$f" -eq 0 ] && f=1
  echo "$n $f $s" >>"$B/counts.unit"
  printf '%-32s %4d ok %3d failed %3d skipped  %3d s\n' "$(basename "$t")" "$n" "$f" "$s" $(($(date +%s)-start))
  grep -h '^skipped: ' "$log"
  if [ $rc -ne 0 ]; then bad=1; echo "--- $log (exit $rc)"; grep -vE '^\[ (RUN|      OK)' "$log" | tail -40; fi
done
exit $bad
