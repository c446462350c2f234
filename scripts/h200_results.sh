#!/bin/sh
# h200_results.sh OUT [NAME...]: tunes configs/h200_NAME.yaml (all) against cuBLAS into OUT/NAME, where that is not done, times
# the winners again in other processes and the library in tuner-bench, and collects below OUT/results what belongs to
# test/bench/results/h200: NAME.csv (peer.csv of the run), NAME.spread.txt, NAME.library.txt, logic/*.yaml, and table.md, the
# table of the README.
# Runs that are done are only collected, so that a second call makes the table on a machine without a GPU.
set -e
[ $# -ge 1 ] || { echo "usage: h200_results.sh OUT [NAME...]" >&2; exit 2; }
root=$(cd "$(dirname "$0")/.." && pwd)
out=$1; shift
bin=$root/build/bin; [ -d "$bin" ] || bin=${root%/share/tuner}/bin # installed
tuner=${TUNER:-$bin/tuner}
mkdir -p "$out/results/logic"
[ $# -gt 0 ] || set -- $(cd "$root/configs" && ls h200_*.yaml 2>/dev/null | sed 's/^h200_//; s/\.yaml$//')
[ $# -gt 0 ] || { echo "h200_results.sh: there is no configs/h200_*.yaml" >&2; exit 2; }
for name in "$@"; do
  if [ ! -f "$out/$name/peer.csv" ]; then
    start=$(date +%s) rc=0
    "$tuner" --device cuda --peer cublas "$root/configs/h200_$name.yaml" "$out/$name" >"$out/$name.txt" 2>&1 || rc=$?
    echo "$name: $(($(date +%s)-start)) s, exit code $rc" | tee -a "$out/seconds.txt"
    [ -f "$out/$name/peer.csv" ] || { tail -5 "$out/$name.txt" >&2; continue; }
    TUNER_CLIENT="$(dirname "$tuner")/tuner-client" sh "$root/scripts/spread.sh" "$out/$name" >"$out/$name.spread.txt" ||
      echo "$name: winners spread" >&2
    TUNER_CLIENT="$(dirname "$tuner")/tuner-client" TUNER_BENCH="$(dirname "$tuner")/tuner-bench" \
      sh "$root/scripts/library_speed.sh" "$out/$name" --again >"$out/$name.library.txt" || echo "$name: the library differs" >&2
  fi
  cp "$out/$name/peer.csv" "$out/results/$name.csv"
  for kind in spread library; do [ ! -f "$out/$name.$kind.txt" ] || cp "$out/$name.$kind.txt" "$out/results/"; done
  cp "$out/$name"/3_LibraryLogic/*.yaml "$out/results/logic/" 2>/dev/null || true
done
# one row a config; ratio is a column by name, sizes are the quoted one
{
  echo '| config | sizes | tuner / cuBLAS, geometric mean | least | sizes at 1 or above | M, N or K under 64 or odd | spread of three runs, sizes over 50 us | library beside tuning, worst size over 20 us |'
  echo '|---|---|---|---|---|---|---|---|'
  for csv in "$out"/results/*.csv; do
    [ -f "$csv" ] || continue
    name=$(basename "$csv" .csv)
    spread=$(sed -n 's/^sizes of 50 us.*worst \([0-9.]* %\).*/\1/p' "$out/results/$name.spread.txt" 2>/dev/null || true)
    library=$(sed -n 's/^sizes of 20 us.*worst \([0-9.]* %\).*/\1/p' "$out/results/$name.library.txt" 2>/dev/null || true)
    awk -v name="$name" -v spread="${spread:--}" -v library="${library:--}" '/^#/ { next }
      /^group,/ { w = split($0, f, ","); for (i = 1; i <= w; i++) if (f[i] == "ratio") r = i; next }
      { split($0, q, "\""); split(q[2], size, ","); split(q[1] "X" q[3], f, ","); x = f[r]; if (x <= 0) next
        n++; s += log(x); if (n == 1 || x < least) least = x; if (x >= 1) good++
        if (size[1] < 64 || size[2] < 64 || size[4] < 64 || (size[1] % 2) || (size[2] % 2) || (size[4] % 2)) { m++; t += log(x) } }
      END { if (n) printf "| %s | %d | %.3f | %.3f | %d | %.3f | %s | %s |\n", name, n, exp(s / n), least, good, (m ? exp(t / m) : 0), spread, library }' "$csv"
  done
} >"$out/results/table.md"
cat "$out/results/table.md"
