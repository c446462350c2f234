#!/bin/sh
# run_validation.sh -w DIR -s LISTS [OPTION]...: checks and times the new library, and the one in use beside it.
#   -w, --working-path DIR    directory of provision_verification.sh
#   -s, --test-scripts LISTS  a file or a directory of them: sizes as tuner-bench --yaml reads them (*.csv *.yaml *.log)
#   -i, --id ID               name of this validation (1)
#       --peer NAME           cublas or openblas beside them
#       --fail-below RATIO    exit code 1 if a size of the new library is slower than that, significantly and twice
#       --iters N             rounds of blocks of calls (20)
#       --initialization KIND rand_int, trig_float or hpl (hpl)
#       --device NAME, --threads N   as of tuner-bench
# Makes in DIR/benchmarks, of each list: NAME.ID.csv, NAME.ID.json and NAME.ID.txt of tuner-bench --compare; without a library in
# use NAME.ID.txt alone, of the new library. Every result is checked. A list whose results are there is not run again.
. "$(dirname "$0")/workflow.sh"
work= lists= id=1 peer= below= iters= more=
[ $# -gt 0 ] || usage "no options are given"
while [ $# -gt 0 ]; do
  case $1 in
    -h|--help) help_text;;
    -w|--working-path|-s|--test-scripts|-i|--id|--peer|--fail-below|--iters|--initialization|--device|--threads) needs_value "$1" $#;;
    *) old_option "$1" || usage "unknown option '$1'"; [ $old_takes = 0 ] || shift; [ $# -eq 0 ] || shift; continue;;
  esac
  case $1 in
    -w|--working-path) work=$2;;
    -s|--test-scripts) lists=$2;;
    -i|--id) id=$2; case $id in */*|*' '*) usage "$1: '$id' is no plain name";; esac;;
    --peer) peer=$2;;
    --fail-below) below=$2;;
    --iters) iters=$2;;
    --initialization) case $2 in rand_int|trig_float|hpl) more="$more $1 $2";; *) usage "$1: '$2' is none of rand_int trig_float hpl";; esac;;
    *) case $2 in *[!A-Za-z0-9:]*) usage "$1: '$2', expected a name or a number";; esac; more="$more $1 $2";;
  esac
  shift 2
done
[ -n "$work" ] && [ -n "$lists" ] || usage "-w DIR and -s LISTS are needed"
new=$work/library/tensile_library old=$work/library/reference to=$work/benchmarks
is_dir -w "$new"
if [ -d "$lists" ]; then
  set --
  for f in "$lists"/*.csv "$lists"/*.yaml "$lists"/*.yml "$lists"/*.log; do [ ! -f "$f" ] || set -- "$@" "$f"; done
  [ $# -gt 0 ] || { say "-s: there is no *.csv, *.yaml or *.log in '$lists'"; exit 2; }
else
  is_file -s "$lists"
  set -- "$lists"
fi
mkdir -p "$to" || exit 1
[ -e "$old" ] || say "there is no library in use ($old): the new one is checked alone"

# compare LIST NAME: the text goes last, as the sign that all is there
compare() {
  "$bin/tuner-bench" --compare "$old" "$new" "$1" ${iters:+-i "$iters"} ${peer:+--peer "$peer"} ${below:+--fail-below "$below"} $more \
    --csv "$to/$2.csv" --json "$to/$2.json"
}
alone() { "$bin/tuner-bench" --library "$new" --yaml "$1" -v 1 -i "${iters:-20}" $more; }
all=0
for list in "$@"; do
  name=$(basename "$list"); name=${name%.*}.$id rc=0
  if [ -f "$to/$name.txt" ]; then
    say "$name: was done"
    rc=$(cat "$to/$name.code" 2>/dev/null || echo 0)
  else
    if [ -e "$old" ]; then compare "$list" "$name" >"$to/$name.tmp" || rc=$?; else alone "$list" >"$to/$name.tmp" || rc=$?; fi
    sed -n '/^[0-9]* sizes: /,$p' "$to/$name.tmp"
    [ -e "$old" ] || echo "$list: $(grep -c '; right: ' "$to/$name.tmp") results are right, $(grep -c '; WRONG: ' "$to/$name.tmp") wrong"
    # bad input, no device, an interrupt: nothing is done; wrong or slow results are a result
    case $rc in 0|3) ;; 1) grep -Eq 'FAILED|WRONG|is wrong' "$to/$name.tmp" || exit 1;; *) exit $rc;; esac
    echo $rc >"$to/$name.code" && mv "$to/$name.tmp" "$to/$name.txt" || exit 1
  fi
  all=$(worse "$all" "$rc")
done
exit "$all"
