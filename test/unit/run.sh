#!/bin/sh
# Runs the unit test programs: run.sh BUILD PROGRAM... ; counts go to BUILD/counts.unit for scripts/summary.sh. As many run at
# a time as there are processors (LANES=n), those that take seconds first, so that no lane waits for a long one at the end.
B=$1; shift
long="test_host_kernels test_build test_search test_gpu_plan test_tile test_model test_stats test_effect test_client_compare"

# cmocka names tests when they end and once more in its summary
names() { sed -n "s/^\[ *$1 *\] \([A-Za-z_][A-Za-z0-9_]*\)\$/\1/p" "$2" | sort -u | wc -l; }

# one PROGRAM: runs it, prints its result, counts it; false when it failed
one() {
  log="$B/unit/$(basename "$1").log"
  start=$(date +%s)
  timeout 600 "$1" >"$log" 2>&1; rc=$?
  n=$(grep -c '^\[       OK \]' "$log"); f=$(names FAILED "$log"); s=$(names SKIPPED "$log")
  [ $rc -ne 0 ] && [ "$f" -eq 0 ] && f=1
  echo "$n $f $s" >>"$B/counts.unit"
  { # in one write: other lanes print too
    printf '%-32s %4d ok %3d failed %3d skipped  %3d s\n' "$(basename "$1")" "$n" "$f" "$s" $(($(date +%s)-start))
    grep -h '^skipped: ' "$log"
    [ $rc -eq 0 ] || { echo "--- $log (exit $rc)"; grep -vE '^\[ (RUN|      OK)' "$log" | tail -40; }
  } >"$log.said"
  cat "$log.said"; [ $rc -eq 0 ] || cat "$log.said" >>"$B/failed.log"; rm "$log.said"
  [ $rc -eq 0 ]
}

if [ "${1-}" = --one ]; then one "$2"; exit; fi
mkdir -p "$B"; : >"$B/counts.unit"
for t in "$@"; do
  case " $long " in *" $(basename "$t") "*) echo "0 $t" ;; *) echo "1 $t" ;; esac
done | sort -s -k1,1 | cut -d' ' -f2 | xargs -P "${LANES:-$(nproc)}" -I TEST sh "$0" "$B" --one TEST
