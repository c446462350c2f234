#!/bin/sh
# provision_tuning.sh -w DIR -z LOG [OPTION]...: what a tuning needs, from an application's log.
#   -w, --working-path DIR        where everything is made
#   -z, --size-log LOG            a log that `tuner sizes` reads (rocBLAS layers 2 and 4, ...), or a directory of logs
#   -n, --network TEXT            of a directory, only the logs with TEXT in their names
#   -o, --output NAME             name of the config (tuning.yaml)
#   -l, --library NAME            vega20, arcturus, ..., or an architecture: gfx90a, sm_90, host (the first device's)
#   -y, --type TYPE               only sgemm, dgemm, hgemm, cgemm, zgemm or bgemm
#       --one-type OP             only nn, nt, tn or tt;  --omit-type OP: all others
#       --problem-definition KIND gemm, batch or both (both)
#   -s, --disable-strides         without leading dimensions and strides
#       --disable-hpa             half precision sums in half precision
#       --base FILE               config with the search ranges; may be given again (those that come with tuner)
#       --part NAME, --share X, --top N   as of `tuner sizes`
# Makes below DIR: sizes/NAME.csv (all sizes of the log), scripts/NAME.csv (those to tune: the list for run_validation.sh),
# configs/NAME.yaml, doit-all.sh (tunes it, into DIR/tune; passes its words on to tuner) and logs/. Exit code 3: some calls have
# no problem type in the search ranges.
. "$(dirname "$0")/workflow.sh"
work= log= network= output=tuning.yaml arch= type= one= omit= problem=both strides=1 hpa=1 more=
quoted() { printf " '%s'" "$(printf %s "$1" | sed "s/'/'\\\\''/g")"; }
[ $# -gt 0 ] || usage "no options are given"
while [ $# -gt 0 ]; do
  case $1 in
    -h|--help) help_text;;
    -s|--disable-strides) strides=0; shift; continue;;
    --disable-hpa) hpa=0; shift; continue;;
    -r|--rk) no_replacement "$1";;
    -w|--working-path|-z|--size-log|-n|--network|-o|--output|-l|--library|--arch|-y|--type|--one-type|--omit-type|--problem-definition|--base|--part|--share|--top)
      needs_value "$1" $#;;
    -t|-c) [ $# -lt 2 ] || shift; say "$1: nothing is cloned: tuner is used as it is"; shift; continue;;
    *) old_option "$1" || usage "unknown option '$1'"; [ $old_takes = 0 ] || shift; [ $# -eq 0 ] || shift; continue;;
  esac
  case $1 in
    -w|--working-path) work=$2;;
    -z|--size-log) log=$2;;
    -n|--network) network=$2;;
    -o|--output) output=$2;;
    -l|--library|--arch) arch=$(arch_of "$2") || exit 2;;
    -y|--type)
      case $2 in
        sgemm|s) type=f32_r;; dgemm|d) type=f64_r;; hgemm|h) type=f16_r;; cgemm|c) type=f32_c;; zgemm|z) type=f64_c;; bgemm|b) type=bf16_r;;
        *) usage "$1: '$2' is none of sgemm dgemm hgemm cgemm zgemm bgemm";;
      esac;;
    --one-type|--omit-type)
      case $2 in nn|nt|tn|tt) ;; *) usage "$1: '$2' is none of nn nt tn tt";; esac
      if [ "$1" = --one-type ]; then one=$2; else omit=$2; fi;;
    --problem-definition) case $2 in gemm|batch|both) problem=$2;; *) usage "$1: '$2' is none of gemm batch both";; esac;;
    *) more="$more $1$(quoted "$2")";;
  esac
  shift 2
done
[ -n "$work" ] && [ -n "$log" ] || usage "-w DIR and -z LOG are needed"
name=$(basename "$output" .yaml)
case $name in ''|.*|*[!A-Za-z0-9._-]*) usage "-o: '$output' is no plain file name";; esac

if [ -d "$log" ]; then
  set --
  for f in "$log"/*"$network"*; do [ ! -f "$f" ] || set -- "$@" "$f"; done
  [ $# -gt 0 ] || { say "-z: no file with '$network' in its name in '$log'"; exit 2; }
else
  is_file -z "$log"
  set -- "$log"
fi
mkdir -p "$work/sizes" "$work/scripts" "$work/configs" "$work/logs" || exit 1

sizes() { "$bin/tuner" sizes ${arch:+--arch "$arch"} "$@"; }
# all sizes, then those that are wanted, then the config
sizes "$@" --csv "$work/sizes/$name.csv" >"$work/logs/sizes.txt" || exit
cat "$work/logs/sizes.txt"
write_to "$work/scripts/$name.wanted" awk -v type="$type" -v one="$one" -v omit="$omit" -v problem="$problem" -v strides="$strides" \
  -v hpa="$hpa" -f "$scripts/sizes_filter.awk" "$work/sizes/$name.csv" || exit
if [ "$(wc -l <"$work/scripts/$name.wanted")" -lt 2 ]; then
  rm -f "$work/scripts/$name.wanted"
  say "none of the sizes of '$log' is of the kind that is asked for"
  exit 2
fi
eval "set -- $more"
rc=0
sizes "$work/scripts/$name.wanted" --csv "$work/scripts/$name.csv" -o "$work/configs/$name.yaml" "$@" >"$work/logs/config.txt" || rc=$?
rm -f "$work/scripts/$name.wanted"
[ $rc = 0 ] || [ $rc = 3 ] || exit $rc
doit() {
  echo '#!/bin/sh'
  echo "# Tunes configs/$name.yaml into tune; kill it and start it again as you like. Made by $me."
  echo 'here=$(cd "$(dirname "$0")" && pwd) || exit 1'
  echo "exec \"\${TUNER_BIN:-$bin}/tuner\" \"\$@\" \"\$here/configs/$name.yaml\" \"\$here/tune\""
}
write_to "$work/doit-all.sh" doit && chmod +x "$work/doit-all.sh" || exit 1
sed -n 's/^\([0-9]* size.* left out\)\.$/\1/p' "$work/logs/config.txt"
next="; next: sh $work/doit-all.sh"
[ -z "${TUNE_ALL-}" ] || next= # tune_all.sh does it
echo "$work: $(($(wc -l <"$work/scripts/$name.csv") - 1)) sizes in configs/$name.yaml$next"
exit $rc
