#!/bin/sh
# device_order.sh OUT [TUNER OPTION...]: the work-group order as an argument on an NVIDIA GPU (sm_90a), one wgmma tile of 256x128 and one
# of 128x256, f16 with sums in f32: orders {1, 2, 4, 8, 16, 32} along M and N, and that of the traffic model, beside the constant of the
# kernel, on the sizes below. Prints, as geometric means with 95% intervals (order_figures.py):
#   argument / constant       speed of the same order as an argument over that as a constant, along N (expected: at least 0.997)
#   tuned / 8                 the best order along a dimension over order 8 (least 0.995, mean 1.01 over the large sizes)
#   best of both / 8 along N  the best order of both dimensions over Tensile's default
#   tuned / 1                 on 8192^3, 16384x4096x8192, 16384x16384x1024 (mean 1.05)
#   model / tuned             the model's choice along each dimension over the best order (0.98 on nine cells in ten)
#   dies                      negative control: the best order regrouped for 2, 4 or 8 dies over the best without
# The solutions are measured one behind another, in several sweeps: pairs of an argument and its constant in short groups of
# launches, orders on the large sizes in groups of tens of milliseconds, so that each has the clock that its own power allows: an
# order that reads less from DRAM may run at a higher one. On the other sizes the device rests after each group, as in a race: a GPU
# that is heated by one solution runs the next ones at a lower clock, and the first ones of a size would be ahead. Where ncu is there and may read counters, also bytes read from DRAM of one tile in four
# orders along each dimension beside those of the traffic model (within 15%).
#
# Some minutes on an H200 with compiled kernels (RUNS=rest SWEEPS=6: 133 s). COMPILE=1 compiles them into OUT/build, without a device, where there is a
# compiler: carry OUT to the machine with the device then. `device_order.sh OUT --simulate --arch sm_90a` goes through it with times that are
# made up. Environment: TUNER (build/bin/tuner), DEVICE (cuda), LIMIT (seconds of each run, 600), SIZES ("M,N,K ..."), SWEEPS (4),
# RUNS (of argument, large, rest, dies; all).
# A run continues where it was stopped. Exit code 1: a kernel is wrong or did not run; 4: there is no such device.
set -e
[ $# -ge 1 ] || { echo "usage: device_order.sh OUT [TUNER OPTION...]" >&2; exit 2; }
root=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1"
out=$(cd "$1" && pwd)
shift
bin=$root/build/bin; [ -d "$bin" ] || bin=${root%/share/tuner}/bin # installed
tuner=${TUNER:-$bin/tuner} device=${DEVICE:-cuda} limit=${LIMIT:-600} sweeps=${SWEEPS:-4}
bin=$(dirname "$tuner")
large="8192,8192,8192 16384,4096,8192 16384,16384,1024"
rest="4096,4096,4096 8192,4096,4096 4096,8192,2048 12288,4096,4096 6144,6144,6144 5120,10240,2048 3000,9000,4096 10000,3000,2000
  2048,2048,2048 2048,16384,4096 16384,2048,4096 7168,7168,1024"
bytes_rest="4096,4096,4096 6144,6144,6144"
if [ -n "${SIZES:-}" ]; then large=$SIZES rest= bytes_rest=; fi
[ -x "$tuner" ] || { echo "device_order.sh: there is no '$tuner'" >&2; exit 2; }
if [ -n "${COMPILE:-}" ]; then
  set -- --compile-only --arch sm_90a
elif [ $# = 0 ]; then
  "$bin/tuner-client" --list-devices | grep -q "^$device 0: .*sm_90" || { echo "device_order.sh: there is no sm_90 of kind '$device'" >&2; exit 4; }
  set -- --device "$device" --arch sm_90a
fi
same="PersistentKernel: 1, PersistentKernelAlongBatch: True"
kernels() { # words of the order
  echo "            - {MatrixInstruction: [256, 64, 16, 1, 1, 1, 1, 1, 2], $same, $1}"
  echo "            - {MatrixInstruction: [64, 256, 16, 1, 1, 1, 1, 2, 1], $same, $1}"
}
config() { # kernels on standard input; "NumBenchmarks NumWarmups SyncsPerBenchmark EnqueuesPerSync SleepPercent" SIZE...
  numbers=$(echo "$1" | awk '{ printf "NumBenchmarks: %d, NumWarmups: %d, SyncsPerBenchmark: %d, EnqueuesPerSync: %d, SleepPercent: %d", $1, $2, $3, $4, $5 }')
  shift
  cat <<END
GlobalParameters: {TimingMethod: loop, KernelTime: False, $numbers, NumElementsToValidate: 128,
  DataInitTypeA: 21, DataInitTypeB: 21, WorkGroupMappingSweep: 0, HeldOutSizes: 0, ClientBuildPath: $out/build}
BenchmarkProblems:
  -
    - {OperationType: GEMM, DataType: h, DestDataType: h, ComputeDataType: s, HighPrecisionAccumulate: True,
       TransposeA: True, TransposeB: False, UseBeta: True, Batched: True}
    - BenchmarkCommonParameters:
        - StaggerU: [0]
      ForkParameters:
        - Groups:
          -
END
  cat
  echo "      BenchmarkFinalParameters:"
  echo "        - ProblemSizes:"
  for s in "$@"; do echo "          - Exact: [$(echo "$s" | sed 's/\(.*\),\(.*\),\(.*\)/\1, \2, 1, \3/')]"; done
  echo "LibraryLogic: {ScheduleName: h200, DeviceNames: [Device 0], ArchitectureName: sm_90a}"
  echo "LibraryClient:"
}
bad=0
measure() { # NAME TUNER OPTION...: runs $out/NAME.yaml
  name=$1; shift
  timeout "$limit" "$tuner" "$@" "$out/$name.yaml" "$out/$name" >"$out/$name.log" 2>&1 || { bad=1; tail -5 "$out/$name.log"; }
  [ -n "${COMPILE:-}" ] || grep -q ' 0 wrong, 0 crashed' "$out/$name.log" || { bad=1; grep 'wrong\|crashed' "$out/$name.log" || true; }
}
for w in 1 2 4 8 16 32; do # an argument beside its constant, tile by tile
  kernels "WorkGroupMapping: $w" | sed -n 1p
  kernels "WorkGroupMappingDim: 1, WorkGroupMapping: $w"
  kernels "WorkGroupMapping: $w" | sed -n 2p
done >"$out/argument.kernels"
for dim in 0 1; do
  for w in 0 1 2 4 8 16 32; do kernels "WorkGroupMappingDim: $dim, WorkGroupMapping: $w"; done
done >"$out/order.kernels"
for w in 4 16; do
  for dim in 0 1; do
    for xcc in 1 2 4 8; do kernels "WorkGroupMappingDim: $dim, WorkGroupMapping: $w, WorkGroupMappingXCC: $xcc"; done
  done
done >"$out/dies.kernels"
config "$((sweeps + 2)) 3 2 6 0" $large $rest <"$out/argument.kernels" >"$out/argument.yaml"
config "$sweeps 20 2 20 0" $large <"$out/order.kernels" >"$out/large.yaml"
[ -z "$rest" ] || config "$sweeps 3 3 10 400" $rest <"$out/order.kernels" >"$out/rest.yaml"
config "$sweeps 5 2 10 0" $large <"$out/dies.kernels" >"$out/dies.yaml"
for dim in 0 1; do
  kernels "WorkGroupMappingDim: $dim, WorkGroupMapping: 8" | head -1 | config "1 0 1 1 0" $large $bytes_rest >"$out/bytes$dim.yaml"
done
runs="argument large dies"
[ -z "$rest" ] || runs="argument large rest dies"
runs=${RUNS:-$runs}
for run in $runs; do measure "$run" "$@"; done
if [ -n "${COMPILE:-}" ]; then
  measure bytes0 "$@"
  measure bytes1 "$@"
  exit $bad
fi
python3 "$root/scripts/order_figures.py" --large "$large" $(for run in $runs; do echo "$out/$run"; done) | tee "$out/order.txt"
ncu=$(command -v ncu || true)
if [ -z "$ncu" ]; then echo "bytes from DRAM: skipped: no ncu"; exit $bad; fi
bytes_of() { # DIM ORDER M,N,K: bytes that one launch reads from DRAM; nothing where there are no counters
  set -- "$1" "$2" $(echo "$3" | tr , ' ')
  "$ncu" --clock-control none --metrics dram__bytes_read.sum --print-units base --csv "$bin/tuner-bench" --library "$out/bytes$1" -f gemm_ex \
    --a_type f16_r --b_type f16_r --c_type f16_r --d_type f16_r --compute_type f32_r --transposeA T -m $3 -n $4 -k $5 \
    --timing loop -i 1 -j 0 --mapping $2 2>"$out/ncu.log" | grep dram__bytes_read | tail -1 | sed 's/.*,"//; s/"//g; s/,//g'
}
for dim in 0 1; do # one kernel of known tile, whose order tuner-bench gives
  measure bytes$dim "$@"
  for s in $large $bytes_rest; do
    for w in 1 4 8 32; do
      "$tuner" traffic --part H200 --tile 256x128x64 --type h --size "$s" --order $w --dim $dim |
        awk -v s="$s" -v w=$w -v dim=$dim -v read="$(bytes_of $dim $w "$s")" '$1 == "--order" {
          mib = $(NF - 1)
          printf "%s order %d along %s: ", s, w, dim ? "N" : "M"
          if (read > 0) printf "%.1f MiB read, the model has %s MiB: %.2f\n", read / 1048576, mib, mib * 1048576 / read
          else printf "no counter; the model has %s MiB\n", mib }'
    done
  done
done | tee "$out/bytes.txt"
exit $bad
