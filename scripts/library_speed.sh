#!/bin/sh
# library_speed.sh OUTDIR [--again]: runs the library of a tuner run in tuner-bench on the sizes that it was tuned for (same
# scalars, data and method of timing; every result is checked), and prints for each the time in the tuning, the library's with
# its 95% interval and n, tuned/library, whether the library chose the winner of the logic, and whether the result is right.
# --again: the tuning's time is not that of 2_BenchmarkData but of tuner-client just before, with the winners alone.
# A size of 20 us or more that is off by more than LIMIT (0.03) is timed twice more; the median of the runs counts.
# Exit code 1 when such a size remains, a winner is not chosen, or a result is wrong. The device must be here.
set -e
. "$(dirname "$0")/bench_words.sh"
export LC_ALL=C # the order of files is that of createlib
usage() { echo "usage: library_speed.sh OUTDIR [--again]: $*" >&2; exit 2; }
out=$1 again=${2:-} limit=${LIMIT:-0.03} root=$(cd "$(dirname "$0")/.." && pwd)
bin=$root/build/bin; [ -d "$bin" ] || bin=${root%/share/tuner}/bin # installed
lib=$out/4_LibraryClient/library
[ -d "$lib" ] || usage "no library in '$lib'"
[ -z "$again" ] || [ "$again" = --again ] || usage "unknown option '$again'"
bench=${TUNER_BENCH:-$bin/tuner-bench} client=${TUNER_CLIENT:-$bin/tuner-client}
for p in "$bench" ${again:+"$client"}; do [ -x "$p" ] || { echo "library_speed.sh: there is no '$p'" >&2; exit 2; }; done
out=$(cd "$out" && pwd) lib=$out/4_LibraryClient/library
work=$(mktemp -d "${TMPDIR:-/tmp}/tuner-library-XXXXXX")
trap 'rm -rf "$work"' EXIT
start=$(date +%s)

# lines of a group: KEY SIZE WINNER US INDEX, where KEY is GROUP:ROW:SOLUTION (of 2_BenchmarkData), and a problem for tuner-bench
group_lines() {
  data=$1 group=$(basename "$1" .csv)
  words=$(bench_words "$group") || { echo "$group: tuner-bench has no name for its types"; return; }
  # alpha, beta and data as they were: with a beta of zero C is not read
  ini=$out/1_BenchmarkProblems/$group/00_Final/source/ClientParameters.ini
  value() { sed -n "s/^init-$1=//p" "$ini" 2>/dev/null || true; }
  scalar() { case $(value "$1") in Zero) echo 0;; One) echo 1;; *) echo 2;; esac; }
  fill=$(value a)
  case $fill in Zero) fill=zero;; One|Two|Random|RandomNarrow|Uniform|Normal) ;; *) fill=hpl;; esac
  awk -F, -v alpha="$(scalar alpha)" -v beta="$(scalar beta)" -v g="$group" -v words="$words" \
      -v fill="$fill" -v winners="$work/winners" -v yaml="$work/problems" 'BEGIN {
      base = g; sub(/_[0-9]*$/, "", base)
      while ((getline line <winners) > 0) { split(line, f, " "); if (f[1] == base) { index_of[f[2]] = f[3]; speed[f[2]] = f[4] } } }
    function away(x, y) { return x > y ? x - y : y - x }
    NR == 1 { for (i = 1; i <= NF; i++) { if ($i == "WinnerTemperature") first = i + 1; if ($i == "TotalFlops") flops = i; title[i] = $i }
      next }
    { best = 0; for (i = first; i <= NF; i++) if ($i + 0 > best) { best = $i + 0; at = i }
      if (best <= 0) next
      size = $2 "," $3 "," $4 "," $5; if (!(size in speed)) size = size "," $6 "," $7 "," $8 "," $9
      # the column of the logic by its speed: names in the logic are shorter
      if (size in speed) for (i = first; i <= NF; i++) if ($i + 0 > 0 && away($i, speed[size]) < away($at, speed[size])) at = i
      us = $flops / $at / 1000
      printf "%s:%d:%d %dx%dx%dx%d %s %.9g %d\n", g, $1, at - first, $2, $3, $4, $5, title[at], us, (size in speed ? index_of[size] : -1)
      printf "- {rocblas_function: rocblas_gemm%s_ex, %s, M: %d, N: %d, K: %d, batch_count: %d, ldd: %d, ldc: %d, lda: %d, ldb: %d, " \
             "alpha: %d, beta: %d, initialization: %s, timing: race, norm_check: 1, iters: %d}\n",
             ($4 + 0 > 1 ? "_strided_batched" : ""), words, $2, $3, $5, $4,
             $6, $7, $8, $9, alpha, beta, fill, (us > 5000 ? 7 : 15) >>yaml }' "$data" >>"$work/tuned"
}

# the winners of the logic (ties go to the one that wins more often): GROUP SIZE INDEX SPEED, INDEX as in the library, whose
# solutions are numbered in the order of the files without those that were left out
logic_winners() {
  awk -v report="$lib/TensileCreateLibrary.report.csv" 'BEGIN {
      while ((getline line <report) > 0) { split(line, f, ","); sub(/.*[\/]/, "", f[1]); gsub(/"/, "", f[1]); left[f[1] ":" f[3]] = 1 } }
    FNR == 1 { file = FILENAME; sub(/.*\//, "", file); base = file; sub(/.*_Cijk/, "Cijk", base); sub(/\.yaml$/, "", base); n = 0; size = "" }
    /^    SolutionNameMin: / { id[n] = (file ":" n) in left ? -1 : total++; n++ }
    /^[- ] - - \[/ { gsub(/[^0-9,]/, ""); size = $0; next }
    size && /^    - \[/ { gsub(/[^0-9.,]/, ""); split($0, f, ","); print base, size, id[f[1]], f[2]; size = "" }' "$@" >"$work/winners"
}

# the winners of $work/due again, by tuner-client: KEY US
tuned_again() {
  : >"$work/again"
  for group in $(sed 's/:.*//' "$work/due" | sort -u); do
    build=$out/1_BenchmarkProblems/$group/00_Final/build
    [ -d "$build" ] || usage "--again needs '$build'"
    sed -n "s/^$group:\([0-9]*\):\([0-9]*\) .*/\1 \2 0/p" "$work/due" >"$work/plan"
    (cd "$build" && "$client" --config-file ../source/ClientParameters.ini --plan-file "$work/plan" --timing race --peer "" \
      --results-file "" --events-fd 3 3>"$work/events" >"$work/log" 2>&1) || { cat "$work/log" >&2; exit 1; }
    awk -F'\t' -v g="$group" '$1 == "end" && $5 > 0 { printf "%s:%d:%d %.9g\n", g, $2, $3, $6 / 1000 }' "$work/events" >>"$work/again"
  done
}

# the library on $work/due_problems: KEY US LO HI N KERNEL RIGHT INDEX
library_run() {
  rc=0; "$bench" --library "$lib" --yaml "$work/due_problems" >"$work/now" 2>"$work/errors" || rc=$?
  # a wrong result is told in its line
  [ $rc = 0 ] || grep -q '; WRONG: ' "$work/now" || { cat "$work/errors" >&2; exit 1; }
  awk '/^#/ { us = lo = hi = n = 0; kernel = $4; sub(/,$/, "", kernel)
      for (i = 1; i < NF; i++) {
        if ($i == "median") { us = $(i + 1); lo = $(i + 3); hi = $(i + 4); gsub(/[][,]/, "", lo); gsub(/[][,]/, "", hi) }
        if ($i == "n" && !n) { n = $(i + 1); sub(/;$/, "", n) } }
      print us, lo, hi, n, kernel, (/; right: / ? "right" : "WRONG"), $3 }' "$work/now" >"$work/lines"
  [ "$(wc -l <"$work/lines")" = "$(wc -l <"$work/due")" ] || { cat "$work/errors" >&2; exit 1; }
  cut -d' ' -f1 "$work/due" | paste -d' ' - "$work/lines" >"$work/library"
}

: >"$work/tuned"; : >"$work/problems"; : >"$work/again"; : >"$work/winners"
set -- "$out"/3_LibraryLogic/*.yaml; [ ! -f "$1" ] || logic_winners "$@"
for data in "$out"/2_BenchmarkData/*.csv; do group_lines "$data"; done
[ -s "$work/problems" ] || { echo "library_speed.sh: no results in '$out/2_BenchmarkData'" >&2; exit 2; }
cp "$work/tuned" "$work/due"; cp "$work/problems" "$work/due_problems"; : >"$work/runs"
for run in 1 2 3; do
  [ -z "$again" ] || tuned_again
  library_run
  # KEY SIZE WINNER TUNED INDEX LIBRARY LO HI N KERNEL RIGHT INDEX of this run
  awk -v again="$again" 'FILENAME == ARGV[1] { tuned[$1] = $2; next }
    FILENAME == ARGV[2] { key = $1; $1 = ""; line[key] = $0; next }
    { if (again && $1 in tuned) $4 = tuned[$1]; print $0 line[$1] }' "${again:+$work/again}" "$work/library" "$work/due" 2>/dev/null >>"$work/runs"
  [ $run = 1 ] || continue
  awk -v limit="$limit" '{ off = $4 / $6 - 1; if (($4 >= 20 || $6 >= 20) && (off > limit || off < -limit)) print $1 }' "$work/runs" >"$work/off"
  [ -s "$work/off" ] || break
  paste -d'|' "$work/tuned" "$work/problems" | awk -v off="$work/off" -v dir="$work" 'BEGIN { while ((getline key <off) > 0) is[key] = 1 }
    { split($0, f, "|"); split(f[1], w, " "); if (w[1] in is) { print f[1] >(dir "/due"); print f[2] >(dir "/due_problems") } }'
done
awk -v limit="$limit" -v seconds="$start" -v now="$(date +%s)" '
  function middle(list,   v, n, i, k, x) {
    n = split(list, v, " ")
    for (i = 2; i <= n; i++) for (k = i; k > 1 && v[k] + 0 < v[k - 1] + 0; k--) { x = v[k]; v[k] = v[k - 1]; v[k - 1] = x }
    return n % 2 ? v[(n + 1) / 2] : (v[n / 2] + v[n / 2 + 1]) / 2 }
  # parameters of a name: those that both names have must be equal (each leaves out what its own set has in common)
  function parameters(name, p,   n, i, v, last) {
    n = split(name, v, "_"); split("", p)
    for (i = 4; i <= n; i++) { if (v[i] ~ /^[A-Za-z]/) { last = v[i]; sub(/[0-9n].*/, "", last) } p[last] = p[last] "_" v[i] } }
  function same(x, y,   p, q, k) {
    parameters(x, p); parameters(y, q)
    for (k in p) if (k in q && p[k] != q[k]) return 0
    return 1 }
  { if (!($1 in runs)) order[++total] = $1
    runs[$1]++; size[$1] = $2; winner[$1] = $3; tuned[$1] = tuned[$1] " " $4; library[$1] = library[$1] " " $6
    lo[$1, $6 + 0] = $7; hi[$1, $6 + 0] = $8; n[$1] = $9
    if (!same($3, $10) || ($5 >= 0 && $5 != $12 % 262144)) other[$1] = $12 " " $10
    index_of[$1] = $5
    if ($11 != "right") wrong[$1] = 1 }
  END {
    for (i = 1; i <= total; i++) {
      k = order[i]; group = k; sub(/:.*/, "", group); t = middle(tuned[k]); l = middle(library[k]); ratio = t / l
      off = ratio > 1 ? ratio - 1 : 1 - ratio; sum += log(ratio)
      printf "%-24s %-20s tuned %10.2f  library %10.2f us [%.2f, %.2f] n %d  ratio %.4f  %s  %s%s\n", group, size[k], t, l, lo[k, l + 0], hi[k, l + 0],
             n[k], ratio, (k in other ? "NOT THE WINNER" : "winner"), (k in wrong ? "WRONG" : "right"),
             (runs[k] > 1 ? "  median of " runs[k] " runs:" library[k] : "")
      if (k in other) { others++; printf "  winner %d %s, chosen %s\n", index_of[k], winner[k], other[k] }
      if (k in wrong) wrongs++
      if (t >= 20 || l >= 20) { n_long++; if (off > worst) worst = off; if (off > limit) above++ } else short++ }
    printf "sizes of 20 us and more: %d, worst %.2f %%, above %.1f %%: %d; shorter: %d; geometric mean of all %.4f; ", n_long, 100 * worst,
           100 * limit, above, short, exp(sum / total)
    printf "not the winner: %d; wrong: %d; %d s\n", others, wrongs, now - seconds
    exit above > 0 || others > 0 || wrongs > 0 }' "$work/runs"
