#!/bin/sh
# analyze_results.sh -o DIR -b RESULTS [OPTION]...: tables, a page and a spreadsheet of what run_validation.sh measured.
#   -o, --output DIR            where everything is made
#   -b, --benchmark-path PATH   DIR/benchmarks of run_validation.sh, or one of its CSV files
#   -r, --reference-path PATH   the same, for Tensile's command lines: both libraries are in one CSV file
#   -z, --log LOG               calls of the application: weights of the sizes (those of the CSV file)
#       --part NAME             product whose ceilings the page draws (the device that ran)
#   -g, -f, -s, -m, -c          have no effect: efficiency is by the rates of the part
# Makes of each CSV file: DIR/reference/NAME.csv and DIR/new/NAME.csv (a row for each size: time, GFlops, solution, the peer), and
# DIR/final/NAME.html, .xlsx and .md by `tuner report`.
. "$(dirname "$0")/workflow.sh"
out= results= reference= log= part=
[ $# -gt 0 ] || usage "no options are given"
while [ $# -gt 0 ]; do
  case $1 in
    -h|--help) help_text;;
    -o|--output|-b|--benchmark-path|-r|--reference-path|-z|--log|--part) needs_value "$1" $#;;
    -f) old_option --sclk; shift; [ $# -eq 0 ] || shift; continue;;
    -s) old_option --size; shift; [ $# -eq 0 ] || shift; continue;;
    -g) old_option --gpu; shift; [ $# -eq 0 ] || shift; continue;;
    *) old_option "$1" || usage "unknown option '$1'"; [ $old_takes = 0 ] || shift; [ $# -eq 0 ] || shift; continue;;
  esac
  case $1 in
    -o|--output) out=$2;;
    -b|--benchmark-path) results=$2;;
    -r|--reference-path) reference=$2;;
    -z|--log) log=$2;;
    *) part=$2;;
  esac
  shift 2
done
: "${results:=$reference}"
[ -n "$out" ] && [ -n "$results" ] || usage "-o DIR and -b RESULTS are needed"
[ -z "$reference" ] || [ "$reference" = "$results" ] || say "-r '$reference' is not read: both libraries are in the files of '$results'"
[ -z "$log" ] || is_file -z "$log"
if [ -d "$results" ]; then
  set --
  for f in "$results"/*.csv; do [ ! -f "$f" ] || set -- "$@" "$f"; done
  [ $# -gt 0 ] || { say "-b: there is no CSV file in '$results': there was no library to compare with"; exit 2; }
else
  is_file -b "$results"
  set -- "$results"
fi
mkdir -p "$out/reference" "$out/new" "$out/final" || exit 1

# table CSV SIDE: the columns that tuner report reads
table() {
  awk -F, -v side="$2" '
    function at(name) { return name in column ? column[name] : 0 }
    function of(name) { return at(name) ? $at(name) : "" }
    /^# device: / { print }
    /^# peer: / { peer = substr($0, 9) }
    /^#/ { next }
    !titles { for (i = 1; i <= NF; i++) column[$i] = i; titles = 1
      if (!("us_" side in column) || !("group" in column)) exit 2
      print "group,sizes,gflops,time_us,time_lo_us,time_hi_us,solution,peer,peer_gflops,peer_time_us,ratio,ratio_lo,ratio_hi"; next }
    of("us_" side) != "" { with_peer = side == "new" && of("us_peer") != ""
      printf "%s,\"%s,%s,%s,%s,%s,%s,%s,%s\",%s,%s,%s,%s,%s", of("group"), of("M"), of("N"), of("batch_count"), of("K"), of("ldd"), of("ldc"),
        of("lda"), of("ldb"), of("gflops_" side), of("us_" side), of("us_lo_" side), of("us_hi_" side), of("solution_" side)
      if (with_peer) printf ",%s,%s,%s,%s,%s,%s\n", peer, of("gflops_peer"), of("us_peer"), of("ratio_peer"), of("ratio_peer_lo"), of("ratio_peer_hi")
      else print ",,,,,," }' "$1"
}
for csv in "$@"; do
  name=$(basename "$csv" .csv)
  write_to "$out/reference/$name.csv" table "$csv" old && write_to "$out/new/$name.csv" table "$csv" new ||
    { say "-b: '$csv' is not of tuner-bench --compare"; exit 2; }
  "$bin/tuner" --help | grep -q '^  tuner report ' || { say "this tuner has no command 'report': the tables are in '$out'"; continue; }
  "$bin/tuner" report "$out/new/$name.csv" --before "$out/reference/$name.csv" --log "${log:-$csv}" ${part:+--part "$part"} \
    --html "$out/final/$name.html" --xlsx "$out/final/$name.xlsx" --md "$out/final/$name.md" || exit
  say "$out/final/$name.html, .xlsx, .md"
done
