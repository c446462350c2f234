#!/bin/sh
# device_order.sh OUT: the work-group order as an argument on an NVIDIA GPU (sm_90a), one wgmma tile of 256x128 and one of 128x256,
# f16 with sums in f32: orders {1, 2, 4, 8, 16, 32} along M and N, and that of the traffic model, beside the constant of the kernel,
# on the sizes below. Prints, with geometric means over the sizes:
#   argument / constant     speed of the same order as an argument over that as a constant, along N (expected: at least 0.997)
#   tuned / 8               the best order of each size over order 8 (least 0.995, mean 1.01 over the large sizes)
#   tuned / 1               on 8192^3, 16384x4096x8192, 16384x16384x1024 (mean 1.05)
#   model / tuned           the model's choice along each dimension over the best order (0.98 on nine sizes in ten)
#   dies                    negative control: the best order regrouped for 2, 4 or 8 dies over the best without; a GPU with one die
#                           gains nothing beyond the interval of its times
# compared in common rounds of the race, and, where ncu is there and may read counters, bytes read from
# DRAM of one tile in three orders beside those of the traffic model (within 15%).
#
# Environment: TUNER (build/bin/tuner), DEVICE (cuda), LIMIT (seconds of each run, 1500), SIZES ("M,N,K ...").
# The run continues where it was stopped. Exit code 1: a kernel is wrong or did not run; 4: there is no such device.
set -e
[ $# = 1 ] || { echo "usage: device_order.sh OUT" >&2; exit 2; }
root=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1"
out=$(cd "$1" && pwd)
bin=$root/build/bin; [ -d "$bin" ] || bin=${root%/share/tuner}/bin # installed
tuner=${TUNER:-$bin/tuner} device=${DEVICE:-cuda} limit=${LIMIT:-1500}
bin=$(dirname "$tuner")
large="8192,8192,8192 16384,4096,8192 16384,16384,1024"
sizes=${SIZES:-$large 4096,4096,4096 8192,4096,4096 4096,8192,2048 12288,4096,4096 6144,6144,6144 5120,10240,2048 3000,9000,4096
  10000,3000,2000 2048,2048,2048 2048,16384,4096 16384,2048,4096 7168,7168,1024}
[ -x "$tuner" ] || { echo "device_order.sh: there is no '$tuner'" >&2; exit 2; }
"$bin/tuner-client" --list-devices | grep -q "^$device 0: .*sm_90" || { echo "device_order.sh: there is no sm_90 of kind '$device'" >&2; exit 4; }
same="PersistentKernel: 1, PersistentKernelAlongBatch: True"
kernels() { # words of the order
  echo "            - {MatrixInstruction: [256, 64, 16, 1, 1, 1, 1, 1, 2], $same, $1}"
  echo "            - {MatrixInstruction: [64, 256, 16, 1, 1, 1, 1, 2, 1], $same, $1}"
}
config() { # kernels on standard input; SIZE...
  cat <<END
GlobalParameters: {TimingMethod: race, SleepPercent: 0, NumElementsToValidate: 128, DataInitTypeA: 21, DataInitTypeB: 21,
  WorkGroupMappingSweep: 0, HeldOutSizes: 0}
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
measure() { # NAME: runs $out/NAME.yaml
  timeout "$limit" "$tuner" --device "$device" --arch sm_90a "$out/$1.yaml" "$out/$1" >"$out/$1.log" 2>&1 || { bad=1; tail -5 "$out/$1.log"; }
  grep -q ' 0 wrong, 0 crashed' "$out/$1.log" || { bad=1; grep 'wrong\|crashed' "$out/$1.log" || true; }
}
# A race keeps 40 solutions after the first sample: no more than that in a run, so that all have samples of the same rounds.
for w in 1 2 4 8 16 32; do
  kernels "WorkGroupMapping: $w"
  for dim in 0 1; do kernels "WorkGroupMappingDim: $dim, WorkGroupMapping: $w"; done
done >"$out/order.kernels"
for dim in 0 1; do kernels "WorkGroupMappingDim: $dim, WorkGroupMapping: 0"; done >>"$out/order.kernels"
for w in 4 16; do
  for dim in 0 1; do
    for xcc in 1 2 4 8; do kernels "WorkGroupMappingDim: $dim, WorkGroupMapping: $w, WorkGroupMappingXCC: $xcc"; done
  done
done >"$out/dies.kernels"
for run in order dies; do
  config $sizes <"$out/$run.kernels" >"$out/$run.yaml"
  measure $run
  cat "$out/$run"/2_BenchmarkData/*.csv >"$out/$run.csv"
done
awk -F', *' -v large="$large" -f "$root/scripts/device_order.awk" "$out/order.csv" "$out/dies.csv" | tee "$out/order.txt"
ncu=$(command -v ncu || true)
if [ -z "$ncu" ]; then echo "bytes from DRAM: skipped: no ncu"; exit $bad; fi
# one kernel of known tile, whose order tuner-bench gives
kernels "WorkGroupMappingDim: 1, WorkGroupMapping: 8" | head -1 | config $large >"$out/bytes.yaml"
measure bytes
for s in $large; do
  set -- $(echo "$s" | tr , ' ')
  for w in 1 8 32; do
    read=$("$ncu" --metrics dram__bytes_read.sum --print-units base --csv "$bin/tuner-bench" --library "$out/bytes" -f gemm_ex \
      --a_type f16_r --b_type f16_r --c_type f16_r --d_type f16_r --compute_type f32_r --transposeA T -m $1 -n $2 -k $3 \
      --timing loop -i 1 -j 0 --mapping $w 2>"$out/ncu.log" | grep dram__bytes_read | tail -1 | sed 's/.*,"//; s/"//g; s/,//g')
    "$tuner" traffic --part H200 --tile 256x128x64 --type h --size "$s" --order $w --dim 1 |
      awk -v s="$s" -v w=$w -v read="$read" '$1 == "--order" {
        mib = $(NF - 1)
        printf "%s order %d: ", s, w
        if (read > 0) printf "%.1f MiB read, the model has %s MiB: %.2f\n", read / 1048576, mib, mib * 1048576 / read
        else printf "no counter; the model has %s MiB\n", mib }'
  done
done | tee "$out/bytes.txt"
exit $bad
