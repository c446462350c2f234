#!/bin/sh
# tune_all.sh -o DIR -z LOG [OPTION]... [-- WORD...]: the whole workflow: log, config, tuning, merge, library, verification, report.
#   -o, --output-dir DIR      where everything is made
#   -z, --log LOG             a log that `tuner sizes` reads, or a directory of logs (-n TEXT: those with TEXT in their names)
#   -g, --gpu NAME            mi25, mi50, mi60, r7, v340, arcturus, ... or an architecture (the first device's)
#       --logic DIR           logic in use, into which the new logic is merged, and whose library is compared with the new one;
#       --rocblas-path DIR    that of a rocBLAS tree;  --reference LIB  library in use, ready made
#       --search METHOD, --budget TIME   as of tuner (model, 10m): how kernels are chosen from the search ranges
#   -y TYPE, --one-type OP, --omit-type OP, --problem-definition KIND, -s, --disable-hpa, --base FILE, --part NAME, --share X,
#   --top N                   which sizes: see provision_tuning.sh --help
#   --no-merge, --no-massage, -j N                     see provision_verification.sh --help
#   --peer NAME, --fail-below RATIO, --iters N, -i KIND, --device NAME, --threads N   see run_validation.sh --help
#       --redo                from the start, whatever is there
#   -- WORD...                words for tuner: -- --simulate
# Kill it at any moment and start it again: it continues. A step is done again when its options or files are others than last time,
# and all behind it. Makes below DIR: tuning/ (config, run), validate/ (logic, libraries, benchmarks), analysis/, report.html and
# report.xlsx of the run. Exit codes: 0 ok, 1 failed, wrong results or --fail-below, 2 usage or bad input, 3 partial result,
# 4 no device.
. "$(dirname "$0")/workflow.sh"
here=$(cd "$(dirname "$0")" && pwd)
out= log= redo=0 search=model budget=10m device= part=
provision= verification= validation= words=
quoted() { printf " '%s'" "$(printf %s "$1" | sed "s/'/'\\\\''/g")"; }
[ $# -gt 0 ] || usage "no options are given"
while [ $# -gt 0 ]; do
  case $1 in
    -h|--help) help_text;;
    --) shift; for w in "$@"; do words="$words$(quoted "$w")"; done; break;;
    --redo) redo=1; shift; continue;;
    -s|--disable-strides|--disable-hpa) provision="$provision $1"; shift; continue;;
    --no-merge|--no-massage) verification="$verification $1"; shift; continue;;
    -r|--rk) no_replacement "$1";;
    -o|--output-dir|-z|--log|-g|--gpu|-l|--library|--arch|--logic|--rocblas-path|--reference|--search|--budget|-y|--data-type|--type|--one-type|--omit-type|--problem-definition|--base|--part|--share|--top|-n|--network|-j|--jobs|--peer|--fail-below|--iters|-i|--initialization|--device|--threads)
      needs_value "$1" $#;;
    -t) say "$1 has no effect: sizes that nobody tuned are chosen by the performance model"; shift; continue;;
    -f|--sclk) old_option --sclk; shift; [ $# -eq 0 ] || shift; continue;;
    *) old_option "$1" || usage "unknown option '$1'"; [ $old_takes = 0 ] || shift; [ $# -eq 0 ] || shift; continue;;
  esac
  case $1 in
    -o|--output-dir) out=$2;;
    -z|--log) log=$2;;
    -g|--gpu|-l|--library|--arch)
      arch=$(arch_of "$2") || exit 2
      provision="$provision -l$(quoted "$arch")" verification="$verification -l$(quoted "$arch")";;
    --logic|--rocblas-path|--reference|-j|--jobs) verification="$verification $1$(quoted "$2")";;
    --search) search=$2;;
    --budget) budget=$2;;
    -y|--data-type|--type) provision="$provision -y$(quoted "$2")";;
    -i|--initialization) validation="$validation --initialization$(quoted "$2")";;
    --device) device=$2 validation="$validation $1$(quoted "$2")";;
    --peer|--fail-below|--iters|--threads) validation="$validation $1$(quoted "$2")";;
    --part) part=$2 provision="$provision $1$(quoted "$2")";;
    *) provision="$provision $1$(quoted "$2")";;
  esac
  shift 2
done
[ -n "$out" ] && [ -n "$log" ] || usage "-o DIR and -z LOG are needed"
[ -e "$log" ] || { say "-z: there is no '$log'"; exit 2; }
mkdir -p "$out/.steps" || exit 1
out=$(cd "$out" && pwd)
# What a killed call has started may still be at work here.
exec 9>"$out/.steps/lock"
if command -v flock >/dev/null; then
  flock -n 9 || { say "waiting for processes that are still at work in '$out'"; flock 9; }
fi
if [ $redo = 1 ]; then
  rm -rf "$out/tuning" "$out/validate" "$out/analysis" || exit 1
  for f in "$out"/.steps/*; do [ "$f" = "$out/.steps/lock" ] || rm -f "$f"; done
fi
tuning=$out/tuning validate=$out/validate list=$out/tuning/scripts/tuning.csv

# What a step depends on, as one number
sum_of() { # WORD..., files of them are read
  for w in "$@"; do
    if [ -d "$w" ]; then (cd "$w" && find . -type f -exec cksum {} + | LC_ALL=C sort); elif [ -f "$w" ]; then cksum <"$w"; else echo "$w"; fi
  done | cksum
}
all=0 fresh=0
# step NAME "INPUTS" COMMAND...: runs the command unless it was run with the same inputs, and all steps before it, too
step() {
  name=$1 key=$2; shift 2
  stamp=$out/.steps/$name
  if [ $fresh = 0 ] && [ -f "$stamp" ] && [ "$(sed 1q "$stamp")" = "$key" ]; then
    rc=$(sed -n 2p "$stamp")
    say "$name: done"
  else
    fresh=1 rc=0
    rm -f "$stamp"
    say "$name"
    "$@" || rc=$?
    # what is missing or slow does not stop what follows; anything else does
    case $name:$rc in *:0|*:3|verify:1) ;; *:2) say "$name: exit code 2"; exit 2;; *) say "$name: exit code $rc; the same command continues here"; exit $rc;; esac
    printf '%s\n%s\n' "$key" $rc >"$stamp.tmp" && mv "$stamp.tmp" "$stamp" || exit 1
  fi
  all=$(worse "$all" "$rc")
}
# with_words "WORDS" COMMAND...: the command with the quoted words behind it
with_words() { more=$1; shift; eval "set -- \"\$@\" $more"; "$@"; }
config() { TUNE_ALL=1 with_words "$provision" sh "$here/provision_tuning.sh" -w "$tuning" -z "$log" -o tuning.yaml; }
tune() { with_words "$words" sh "$tuning/doit-all.sh" --search "$search" --budget "$budget" ${device:+--device "$device"}; }
libraries() { with_words "$verification" sh "$here/provision_verification.sh" -w "$validate" -r "$tuning" --weights "$list"; }
verify() {
  rm -rf "$validate/benchmarks"
  rc=0
  with_words "$validation" sh "$here/run_validation.sh" -w "$validate" -s "$list" || rc=$?
  [ -f "$validate/benchmarks/tuning.1.txt" ] || [ $rc != 1 ] || return 130 # interrupted
  return $rc
}
report() {
  "$bin/tuner" --help | grep -q '^  tuner report ' || { say "this tuner has no command 'report': there is no report"; return 0; }
  "$bin/tuner" report "$tuning/tune" --log "$list" --html "$out/report.html" --xlsx "$out/report.xlsx" --md "$out/report.md" || return
  [ ! -e "$validate/benchmarks/tuning.1.csv" ] ||
    sh "$here/analyze_results.sh" -o "$out/analysis" -b "$validate/benchmarks" -z "$list" ${part:+--part "$part"}
}
step config "$(sum_of "$log" "$provision")" config
step tune "$(sum_of "$tuning/configs/tuning.yaml" "$search $budget $device $words")" tune
eval "set -- $verification"
step libraries "$(sum_of "$tuning/tune/3_LibraryLogic" "$list" "$@")" libraries
step verify "$(sum_of "$validate/library/tensile_library" "$validate/library/reference" "$list" "$validation")" verify
step report "$(sum_of "$validate/benchmarks" "$tuning/tune/2_BenchmarkData" "$("$bin/tuner" --version; "$bin/tuner" --help | grep '^  tuner report ')")" report
say "library: $validate/library/tensile_library"
exit "$all"
