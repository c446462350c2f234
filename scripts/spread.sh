#!/bin/sh
# spread.sh OUTDIR [RUNS]: times the winner of every size again, RUNS (3) times in processes of its own, and prints how far
# the medians differ: (largest - smallest) / middle. OUTDIR is a tuner run on a device of this machine.
# Exit code 1 when a size of 50 us or more is above LIMIT (0.015).
set -e
out=$1 runs=${2:-3} limit=${LIMIT:-0.015}
[ -d "$out/1_BenchmarkProblems" ] || { echo "usage: spread.sh OUTDIR [RUNS]: no tuner run in '$out'" >&2; exit 2; }
out=$(cd "$out" && pwd)
root=$(cd "$(dirname "$0")/.." && pwd)
bin=$root/build/bin; [ -d "$bin" ] || bin=${root%/share/tuner}/bin # installed
client=${TUNER_CLIENT:-$bin/tuner-client}
[ -x "$client" ] || { echo "spread.sh: there is no '$client' (TUNER_CLIENT)" >&2; exit 2; }
work=$(mktemp -d "${TMPDIR:-/tmp}/tuner-spread-XXXXXX")
trap 'rm -rf "$work"' EXIT
: >"$work/all"
for data in "$out"/2_BenchmarkData/*.csv; do
  group=$(basename "$data" .csv)
  build=$out/1_BenchmarkProblems/$group/00_Final/build
  [ -d "$build" ] || continue
  # the fastest solution of each row, by the columns behind WinnerTemperature
  awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "WinnerTemperature") first = i + 1; next }
    { best = 0; for (i = first; i <= NF; i++) if ($i + 0 > best) { best = $i + 0; s = i - first }
      if (best > 0) print $1, s, 0 }' "$data" >"$work/plan"
  [ -s "$work/plan" ] || continue
  i=1
  while [ "$i" -le "$runs" ]; do
    (cd "$build" && "$client" --config-file ../source/ClientParameters.ini --plan-file "$work/plan" --timing race --peer "" \
      --results-file "" --events-fd 3 3>"$work/events" >"$work/log" 2>&1) || { cat "$work/log" >&2; exit 1; }
    awk -F'\t' -v g="$group" '$1 == "end" && $5 > 0 { print g "\t" $2 "\t" $6 }' "$work/events" >>"$work/all"
    i=$((i+1))
  done
done
sort -k1,1 -k2,2n -k3,3n "$work/all" | awk -F'\t' -v limit="$limit" '
  function flush() {
    if (n < 2) return
    spread = (t[n] - t[1]) / t[int((n + 1) / 2)]; us = t[int((n + 1) / 2)] / 1000
    printf "%-28s size %3d  %10.2f us  n %d  spread %.2f %%\n", g, p, us, n, 100 * spread
    if (us >= 50) { big++; if (spread > worst) worst = spread; if (spread > limit) above++ } else small++
  }
  { if ($1 != g || $2 != p) { flush(); n = 0 } g = $1; p = $2; t[++n] = $3 }
  END { flush(); printf "sizes of 50 us and more: %d, worst %.2f %%, above %.1f %%: %d; shorter: %d\n", big, 100 * worst, 100 * limit, above, small
        exit above > 0 }'
