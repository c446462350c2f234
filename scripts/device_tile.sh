#!/bin/sh
# device_tile.sh OUT: checks and times the programs of configs/tile on the device that is here (an NVIDIA GPU, or DEVICE=host), with
# the kernel that tuner makes for the same tile beside them. tuner validates every element; the table comes last, behind it the
# speed of plain.tile by that of the made kernel.
#
# Environment: TUNER (build/bin/tuner), DEVICE (cuda), SIZE (4096,4096,1,4096; a small uneven one is run too), LIMIT (seconds, 240),
# LEAST (0.99): the least ratio of the two speeds at SIZE, on GPUs.
# Exit code 1: a program is wrong or did not run, or the ratio is below LEAST.
set -e
[ $# = 1 ] || { echo "usage: device_tile.sh OUT" >&2; exit 2; }
root=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1"
out=$(cd "$1" && pwd)
bin=$root/build/bin; [ -d "$bin" ] || bin=${root%/share/tuner}/bin # installed
tuner=${TUNER:-$bin/tuner}
programs=$root/configs/tile
device=${DEVICE:-cuda} size=${SIZE:-4096,4096,1,4096} limit=${LIMIT:-240}
[ -x "$tuner" ] || { echo "device_tile.sh: there is no '$tuner'" >&2; exit 2; }
cp "$programs"/*.tile "$out"
arch=host
[ "$device" = host ] || arch=$("$(dirname "$tuner")/tuner-client" --list-devices | sed -n "s/^$device 0: .*, \(sm_[0-9a-z]*\|gfx[0-9a-f]*\), .*/\1/p")
[ -n "$arch" ] || { echo "device_tile.sh: there is no device of kind '$device'" >&2; exit 4; }
case $device in
  host) same="{ThreadTile: [32, 4], WorkGroup: [2, 16, 1], HostPackA: True, HostPackB: True, DepthU: 32}" ;;
  *) same="{ThreadTile: [4, 4], WorkGroup: [16, 16, 1], DepthU: 32, NvRing: 0, PrefetchGlobalRead: 1}" ;;
esac
config() { # name of the file, problem type, kernels that are forked
  cat >"$out/$1.yaml" <<END
GlobalParameters: {NumElementsToValidate: -1, DataInitTypeAlpha: 2, DataInitTypeBeta: 2, KernelTime: True}
BenchmarkProblems:
  -
    - {OperationType: GEMM, $2, UseBeta: True, Batched: True}
    - ForkParameters:
        - Groups:
          - [$3]
      BenchmarkFinalParameters:
        - ProblemSizes:
          - Exact: [$(echo "$size" | sed 's/,/, /g')]
          - Exact: [333, 257, 2, 129]
LibraryLogic: {ScheduleName: tile, DeviceNames: [Device 0], ArchitectureName: $arch}
END
}
half="DataType: h, DestDataType: h, ComputeDataType: s, HighPrecisionAccumulate: True"
case $arch in sm_*) half_more=", {CustomKernelName: matrix_16x8x16}" ;; gfx*) half_more=", {CustomKernelName: matrix_16x16x16}" ;; *) half_more="" ;; esac
names=""
for p in plain k_sliced prefetching padded dual wrapped round_robin; do names="$names, {CustomKernelName: $p}"; done
config single "DataType: s, TransposeA: False, TransposeB: False" "$same$names"
config half "$half, TransposeA: True, TransposeB: False" "{CustomKernelName: transposed_a}$half_more"
bad=0
for c in single half; do
  rm -rf "$out/$c"
  timeout "$limit" "$tuner" --device "$device" "$out/$c.yaml" "$out/$c" >"$out/$c.log" 2>&1 || { bad=1; tail -5 "$out/$c.log"; }
  grep -q ' 0 wrong, 0 crashed' "$out/$c.log" || { bad=1; grep 'wrong\|crashed' "$out/$c.log" || true; }
done
echo "GFlops of each program (columns) and size (rows), every element of D checked; the first column of S is tuner's kernel of one tile"
for c in single half; do
  for csv in "$out/$c"/2_BenchmarkData/*.csv; do
    [ ! -f "$csv" ] || cut -d, -f2-5,11- "$csv" | sed 's/, */ | /g'
  done
done | tee "$out/tile.txt"
ratio=$(awk -F' [|] ' -v size="$(echo "$size" | sed 's/,/ | /g')" '
  /^SizeI/ { for (i = 1; i <= NF; i++) if ($i == "plain") p = i; next }
  p && index($0, size " | ") == 1 { printf "%.3f", $p / $(p - 1); exit }' "$out/tile.txt")
echo "plain.tile runs at ${ratio:-?} of the made kernel's speed"
if [ "$device" != host ] && ! awk -v r="${ratio:-0}" -v least="${LEAST:-0.99}" 'BEGIN { exit !(r >= least) }'; then
  echo "that is below ${LEAST:-0.99}"
  bad=1
fi
[ $bad = 0 ] && echo "all programs right" || echo "some programs FAILED"
exit $bad
