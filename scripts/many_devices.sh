#!/bin/sh
# many_devices.sh CONFIG OUT KIND N...: how much faster N devices of one machine measure than one, and whether the winners agree:
#   sh scripts/many_devices.sh test/data/search/h200_sgemm_list.yaml out cuda 2 4
# Tunes CONFIG once with one device and once with each number of devices (OUT/1, OUT/2, ...; kernels are compiled once), and prints
# the time of the measuring phase, its ratio to that of one device, and the share of sizes whose winners' times agree within 1 %.
# Exit code 1 where the ratio is below 0.925 N for 2 devices and 0.875 N for more (1.85 of 2, 3.5 of 4), or the winners agree on
# less than 98 % of the sizes. CONFIG names its kernels: a search is as long as its TimeBudget. What is there already is not measured again: use a new OUT. TUNER: the program.
set -e
[ $# -ge 4 ] || { echo "usage: many_devices.sh CONFIG OUT KIND N..." >&2; exit 2; }
config=$1 out=$2 kind=$3; shift 3
root=$(cd "$(dirname "$0")/.." && pwd)
bin=$root/build/bin; [ -d "$bin" ] || bin=${root%/share/tuner}/bin # installed
tuner=${TUNER:-$bin/tuner}
[ -x "$tuner" ] || { echo "many_devices.sh: there is no '$tuner' (TUNER)" >&2; exit 2; }
mkdir -p "$out"
out=$(cd "$out" && pwd)
numbers() { i=0; while [ $i -lt "$1" ]; do printf '%s%d' "${s-}" $i; s=,; i=$((i + 1)); done; }
# run FOLDER DEVICES...
run() {
  to=$1; shift
  "$tuner" "$@" "$config" "$out/$to" --global-parameters ClientBuildPath="$out/build" PrintLevel=1 >"$out/$to.log" 2>&1 || {
    echo "many_devices.sh: tuning with '$*' failed, see $out/$to.log: $(tail -1 "$out/$to.log")" >&2; exit 1; }
}
# Seconds of the measuring phase: its last line has the number of pairs and pairs per second.
seconds() { awk '$1 == "measure" { split($2, n, "/"); rate = $3 + 0 } END { if (rate > 0) printf "%.2f\n", n[2] / rate }' "$out/$1.log"; }
run first --devices "$kind:0" # compiles; its times are not used
if "$tuner" status --json "$out/first" | tr -d ' \n' | grep -q '"searches":\[{'; then
  echo "many_devices.sh: $config searches for its kernels, for as long as its TimeBudget says: expected SearchMethod exhaustive" >&2
  exit 2
fi
run 1 --devices "$kind:0"
one=$(seconds 1)
[ -n "$one" ] || { echo "many_devices.sh: nothing was measured in $out/1 (it was there before?)" >&2; exit 1; }
printf 'devices  measuring s  ratio  wanted  winners within 1 %%  wanted\n%7d  %11.2f  %5.2f\n' 1 "$one" 1
bad=0
for n in "$@"; do
  run "$n" --devices "$kind:$(numbers "$n")"
  "$tuner" diff --margin 0.01 "$out/1" "$out/$n" >"$out/$n.diff" || true
  line=$(sed -n 's/^\([0-9]* sizes: .*\)/\1/p' "$out/$n.diff" | tail -1)
  [ -n "$line" ] || { echo "many_devices.sh: $out/1 and $out/$n have no size in common, see $out/$n.diff" >&2; exit 1; }
  echo "$line" | awk -v n="$n" -v one="$one" -v s="$(seconds "$n")" '{
      for (i = 1; i < NF; i++) if ($(i + 1) == "equal") equal = $i
      ratio = one / s; share = 100 * equal / $1; wanted = (n > 2 ? 0.875 : 0.925) * n
      printf "%7d  %11.2f  %5.2f  %6.2f  %6.1f %% of %-7d  98 %%\n", n, s, ratio, wanted, share, $1
      exit ratio < wanted || share < 98 }' || bad=1
done
[ $bad = 0 ] && echo "all as wanted" || echo "less than wanted: $out/*.log and $out/*.diff have the runs and the sizes that differ"
exit $bad
