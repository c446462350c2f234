#!/bin/sh
# held_out.sh [--peer PEER] OUT SECONDS CONFIG...: how good the library of a search is on sizes that nobody tuned. Searches the first
# problem type of each CONFIG for SECONDS on its device, with 20 sizes held out, into OUT/NAME, and prints what the choices of
# libtuner and of Tensile's table lose there against the best kernel that ran. Then N (40) sizes that the config does not name
# (unseen_sizes.sh, seed 5) are searched for half the SECONDS in OUT/NAME.unseen, and tuner-bench compares both libraries on
# them: the geometric mean is the speed of the library over that of one that is tuned on them.
set -e
. "$(dirname "$0")/bench_words.sh"
peer=
[ "$1" != --peer ] || { peer=$2; shift 2; }
[ $# -ge 3 ] || { echo "usage: held_out.sh [--peer PEER] OUT SECONDS CONFIG..." >&2; exit 2; }
out=$1 seconds=$2 root=$(cd "$(dirname "$0")/.." && pwd); shift 2
bin=$root/build/bin; [ -d "$bin" ] || bin=${root%/share/tuner}/bin # installed
mkdir -p "$out"
search() { # CONFIG OUTDIR SECONDS HELD_OUT
  "$bin/tuner" --search model --budget "$3" ${FROM:+--seed-from "$FROM"} --global-parameters "HeldOutSizes=$4" -- "$1" "$2" \
    >"$2.log" 2>&1 || { tail -3 "$2.log"; return 1; }
  grep -E 'searched by|sizes between|TimeBudget is spent|^model:' "$2.log" || true
  sed -n '/loss of the library/,/^$/p' "$2.log"
}
for config; do
  name=$(basename "$config" .yaml) one="$out/$(basename "$config")"
  awk '/^[A-Z]/ { inside = /^BenchmarkProblems/ } inside && /^  - *(#.*)?$/ { n++ } !inside || n < 2' "$config" >"$one"
  search "$one" "$out/$name" "$seconds" 20
  sh "$root/scripts/unseen_sizes.sh" "$one" "${N:-40}" 5 >"$out/$name.unseen.yaml"
  FROM="$out/$name" search "$out/$name.unseen.yaml" "$out/$name.unseen" "$((seconds / 2))" 0
  for csv in "$out/$name.unseen/2_BenchmarkData"/*.csv; do
    words=$(bench_words "$(basename "$csv" .csv)" | sed 's/transA:/--transposeA/; s/transB:/--transposeB/; s/, math_mode.*//; s/,//g
      s/ \([a-z_]*\):/ --\1/g')
    awk -F, -v words="$words" 'NR > 1 { print "rocblas-bench -f gemm_strided_batched_ex", words, "-m", $2, "-n", $3, "-k", $5,
      "--batch_count", $4 }' "$csv"
  done >"$out/$name.unseen.sizes"
  "$bin/tuner-bench" --compare "$out/$name.unseen/4_LibraryClient/library" "$out/$name/4_LibraryClient/library" \
    ${peer:+--peer "$peer"} "$out/$name.unseen.sizes"
done
