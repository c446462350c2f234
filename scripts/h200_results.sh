#!/bin/sh
# h200_results.sh [--unseen] [--sizes N] [--seed S] [--race-seconds R] OUT [NAME...]: tunes configs/h200_NAME.yaml (all) against
# cuBLAS and collects below OUT/results what belongs to test/bench/results/h200; table.md there is the table of the README.
#
# Without --unseen: the config's own sizes, into OUT/NAME; the winners again in other processes, and the library in tuner-bench:
# results/NAME.csv (peer.csv of the run), NAME.spread.txt, NAME.library.txt, logic/*.yaml.
#
# --unseen: N (100) sizes that the config does not name, drawn by seed S (1; unseen_sizes.sh), into OUT/NAME.unseen:
#   results/unseen/NAME.csv          the config's candidates tuned on these sizes, beside cuBLAS
#   results/unseen/NAME.library.csv  the library of OUT/NAME, tuned on the config's own sizes, asked for them (if it is there)
# A size takes up to R (0.5) seconds behind the first launch of each kernel; a run on the config's own sizes up to 2.
#
# Runs that are done are only collected, so that a second call makes the table on a machine without a GPU.
set -e
usage() {
  [ $# -eq 0 ] || echo "h200_results.sh: $*" >&2
  echo "usage: h200_results.sh [--unseen] [--sizes N] [--seed S] [--race-seconds R] OUT [NAME...]" >&2; exit 2
}
unseen= sizes=100 seed=1 race=0.5
while :; do
  case $1 in
    --unseen) unseen=1; shift; continue;;
    --sizes | --seed | --race-seconds) [ $# -ge 2 ] || usage "$1 needs a value";;
    -*) usage "unknown option '$1'";;
    *) break;;
  esac
  case $1 in --sizes) sizes=$2;; --seed) seed=$2;; *) race=$2;; esac
  shift 2
done
[ $# -ge 1 ] || usage
root=$(cd "$(dirname "$0")/.." && pwd)
out=$1; shift
bin=$root/build/bin; [ -d "$bin" ] || bin=${root%/share/tuner}/bin # installed
tuner=${TUNER:-$bin/tuner}
client=$(dirname "$tuner")/tuner-client bench=$(dirname "$tuner")/tuner-bench
client=${TUNER_CLIENT:-$client} bench=${TUNER_BENCH:-$bench} configs=${CONFIGS:-$root/configs}
. "$root/scripts/bench_words.sh"
mkdir -p "$out/results/logic"
[ $# -gt 0 ] || set -- $(cd "$configs" && ls h200_*.yaml 2>/dev/null | sed 's/^h200_//; s/\.yaml$//')
[ $# -gt 0 ] || usage "there is no $configs/h200_*.yaml"

# tune CONFIG DIR CLIENT: nothing is done where DIR/peer.csv is there; status 1: there is none at the end.
tune() {
  start=$(date +%s) rc=0
  "$tuner" --device cuda --peer cublas --client-path "$3" "$1" "$out/$2" >"$out/$2.txt" 2>&1 || rc=$?
  echo "$2: $(($(date +%s)-start)) s, exit code $rc" | tee -a "$out/seconds.txt"
  [ -f "$out/$2/peer.csv" ] || { tail -5 "$out/$2.txt" >&2; return 1; }
}

own_sizes() { # NAME
  if [ ! -f "$out/$1/peer.csv" ]; then
    tune "$configs/h200_$1.yaml" "$1" "$client" || return 0
    TUNER_CLIENT="$client" sh "$root/scripts/spread.sh" "$out/$1" >"$out/$1.spread.txt" || echo "$1: winners spread" >&2
    TUNER_CLIENT="$client" TUNER_BENCH="$bench" sh "$root/scripts/library_speed.sh" "$out/$1" --again >"$out/$1.library.txt" ||
      echo "$1: the library differs" >&2
  fi
  cp "$out/$1/peer.csv" "$out/results/$1.csv"
  for kind in spread library; do [ ! -f "$out/$1.$kind.txt" ] || cp "$out/$1.$kind.txt" "$out/results/"; done
  cp "$out/$1"/3_LibraryLogic/*.yaml "$out/results/logic/" 2>/dev/null || true
}

# The sizes of a peer.csv as problems for tuner-bench, with the scalars and data of the run.
bench_problems() { # OUTDIR
  awk -F'"' '/^Cijk/ { sub(/,$/, "", $1); print $1, $2 }' "$1/peer.csv" | while read -r group size; do
    words=$(bench_words "$group") || continue
    fill=$(sed -n 's/^init-a=//p' "$1/1_BenchmarkProblems/$group/00_Final/source/ClientParameters.ini" 2>/dev/null || true)
    case $fill in Zero) fill=zero;; One | Two | Random | RandomNarrow | Uniform | Normal) ;; *) fill=hpl;; esac
    echo "$size" | awk -F, -v words="$words" -v fill="$fill" '{
      printf "- {rocblas_function: rocblas_gemm%s_ex, %s, M: %d, N: %d, K: %d, batch_count: %d, ldd: %d, ldc: %d, lda: %d, ldb: %d, " \
             "alpha: 1, beta: 0, initialization: %s, timing: race, norm_check: 1, iters: 15}\n",
             ($3 > 1 ? "_strided_batched" : ""), words, $1, $2, $4, $3, $5, $6, $7, $8, fill }'
  done
}

# What tuner-bench printed, beside the peer.csv of the run on the same sizes: a CSV.
library_csv() { # OUTDIR, output of tuner-bench
  awk -v bench="$2" '
    function columns(line,   n, i, v) { split("", at); n = split(line, v, ","); for (i = 1; i <= n; i++) at[v[i]] = i }
    function letter(group, which,   v) { split(group, v, "_"); return v[which + 1] ~ (which == 1 ? "lik" : "jlk") ? "T" : "N" }
    BEGIN {
      while ((getline line <bench) > 0) {
        if (line ~ /^transA/) { columns(line); continue }
        n = split(line, v, " ")
        if (line !~ /^#/) {
          split(line, f, ",")
          key = f[1] f[2] " " f[at["M"]] "," f[at["N"]] "," ("batch_count" in at ? f[at["batch_count"]] : 1) "," f[at["K"]]
          continue }
        for (i = 1; i < n; i++) {
          if (v[i] == "median") { us[key] = v[i + 1]; lo[key] = v[i + 3]; hi[key] = v[i + 4]; gsub(/[][,]/, "", lo[key]); gsub(/[][,]/, "", hi[key]) }
          if (v[i] == "n" && !(key in samples)) { samples[key] = v[i + 1]; sub(/;$/, "", samples[key]) } }
        kernel[key] = v[4]; sub(/,$/, "", kernel[key])
        right[key] = line ~ /; right: / ? "right" : "WRONG" } }
    /^# (device|driver|date)/ { print; next }
    /^#/ { next }
    /^group,/ { columns($0)
      print "# over_tuned: time of the tuned winner over the time of what the library chose; over_peer: that times the ratio to the peer in the tuned run"
      print "group,sizes,time_us,time_lo_us,time_hi_us,n,result,tuned_us,over_tuned,over_peer,kernel"; next }
    { split($0, q, "\""); split(q[2], z, ","); n = split(q[1] "X" q[3], f, ","); group = f[1]
      key = letter(group, 1) letter(group, 2) " " z[1] "," z[2] "," z[3] "," z[4]
      tuned = f[at["time_us"]]; ratio = f[at["ratio"]]
      if (!(key in us)) { printf "%s,\"%s\",,,,,no solution,%s,,,\n", group, q[2], tuned; next }
      printf "%s,\"%s\",%s,%s,%s,%s,%s,%s,%.4f,%s,%s\n", group, q[2], us[key], lo[key], hi[key], samples[key], right[key], tuned, tuned / us[key],
             (ratio > 0 ? sprintf("%.4f", ratio * tuned / us[key]) : ""), kernel[key] }' "$1/peer.csv"
}

unseen_sizes() { # NAME
  dir=$out/$1.unseen
  if [ ! -f "$dir/peer.csv" ]; then
    sh "$root/scripts/unseen_sizes.sh" "$configs/h200_$1.yaml" "$sizes" "$seed" >"$dir.yaml"
    case $client in /*) path=$client;; *) path=$PWD/$client;; esac
    printf '#!/bin/sh\nexec "%s" "$@" --race-seconds %s\n' "$path" "$race" >"$dir.client"; chmod +x "$dir.client"
    tune "$dir.yaml" "$1.unseen" "$(cd "$out" && pwd)/$1.unseen.client" || return 0
  fi
  library=$out/$1/4_LibraryClient/library
  if [ ! -d "$library" ]; then
    echo "$1: no library of the config's own sizes in '$out/$1' (run without --unseen first)" >&2
  elif [ ! -f "$dir.bench.txt" ]; then
    start=$(date +%s)
    bench_problems "$dir" >"$dir.bench.yaml"
    "$bench" --library "$library" --yaml "$dir.bench.yaml" >"$dir.bench.txt" 2>"$dir.bench.err" || tail -3 "$dir.bench.err" >&2
    echo "$1.unseen in the library: $(($(date +%s)-start)) s" | tee -a "$out/seconds.txt"
  fi
  mkdir -p "$out/results/unseen"
  { sed -n '/^#/p' "$dir/peer.csv"; head -1 "$dir.yaml"; echo "# race-seconds: $race"; sed '/^#/d' "$dir/peer.csv"; } >"$out/results/unseen/$1.csv"
  [ ! -f "$dir.bench.txt" ] || library_csv "$dir" "$dir.bench.txt" >"$out/results/unseen/$1.library.csv"
}

for name in "$@"; do
  if [ -n "$unseen" ]; then unseen_sizes "$name"; else own_sizes "$name"; fi
done
sh "$root/scripts/h200_table.sh" "$out/results" >"$out/results/table.md"
cat "$out/results/table.md"
