#!/bin/sh
# stream_k_speed.sh OUT [TUNER OPTION...]: what stream-K gains on the NVIDIA GPU that is here, half precision, NN.
#   1. OUT/waves: one tile (256x128 by wgmma) as a persistent kernel and with StreamK 1 to 3, on 60 sizes whose last wave of tiles fills
#      less than half of the processors; prints the geometric mean of the best stream-K kernel against the persistent one.
#   2. OUT/few: 8 stream-K kernels of different tiles and the list of NN kernels in test/data/search on unseen sizes
#      (unseen_sizes.sh); prints the mean loss of the best of the 8 against the best of all others.
# Every result is validated by the run. Environment: CUS (132: processors), SIZES (60), UNSEEN (100).
# `stream_k_speed.sh OUT --simulate --arch sm_90a` goes through it without a device, with times that are made up.
set -e
[ $# -ge 1 ] || { echo "usage: stream_k_speed.sh OUT [TUNER OPTION...]" >&2; exit 2; }
out=$1; shift
root=$(cd "$(dirname "$0")/.." && pwd)
bin=$root/build/bin list=$root/test/data/search/h200_hgemm_list.yaml
if [ ! -d "$bin" ]; then bin=${root%/share/tuner}/bin list=$root/configs/lists/h200_hgemm_list.yaml; fi # installed
for f in "$bin/tuner" "$list"; do [ -f "$f" ] || { echo "stream_k_speed.sh: there is no '$f'" >&2; exit 2; }; done
mkdir -p "$out"

head_of() { # of a config
  cat <<'CONFIG'
GlobalParameters: {NumBenchmarks: 1, KernelTime: True, TimingMethod: race, SleepPercent: 0, NumElementsToValidate: 128,
  MaxWorkspaceSize: 2147483648, DataInitTypeA: 21, DataInitTypeB: 21, DataInitTypeBeta: 0}
BenchmarkProblems:
  -
    - {OperationType: GEMM, DataType: h, DestDataType: h, ComputeDataType: s, HighPrecisionAccumulate: True,
       TransposeA: False, TransposeB: False, UseBeta: True, Batched: True}
    - BenchmarkCommonParameters:
        - StaggerU: [0]
      ForkParameters:
        - Groups:
          -
CONFIG
}
tail_of() { printf 'LibraryLogic:\n  ScheduleName: "h200"\n  DeviceNames: ["NVIDIA H200"]\n  ArchitectureName: "sm_90a"\n'; }
stream() { for k in $2; do echo "            - {MatrixInstruction: [$1], PersistentKernel: 0, StreamK: $k}"; done; }
measure() { # NAME OPTION...: runs a config
  name=$1; shift
  "$bin/tuner" "$@" "$out/$name.yaml" "$out/$name" >"$out/$name.log" 2>&1 || [ $? = 3 ] || { tail -3 "$out/$name.log" >&2; exit 1; }
}
# Sizes and the GFlops of the best solution with StreamK and of the best one without, from the results CSV of a run
best() {
  awk -F, '
    FNR == 1 { for (i = 1; i <= NF; i++) if ($i ~ /_SK[0-9]/ || $i ~ /^ *Cij/) { solution[i] = 1; stream[i] = $i ~ /_SK[123]/ } next }
    { a = b = 0; for (i in solution) if (stream[i]) { if ($i + 0 > a) a = $i + 0 } else if ($i + 0 > b) b = $i + 0
      if (a > 0 && b > 0) print $2, $3, $4, $5, a, b }' "$out/$1"/2_BenchmarkData/*.csv
}

head_of >"$out/waves.yaml"
{ echo "            - {MatrixInstruction: [256, 64, 16, 1, 1, 1, 1, 1, 2], PersistentKernel: 1, PersistentKernelAlongBatch: True}"
  stream '256, 64, 16, 1, 1, 1, 1, 1, 2' '1 2 3'
  printf '      BenchmarkFinalParameters:\n        - ProblemSizes:\n'
  awk -v cus="${CUS:-132}" -v n="${SIZES:-60}" 'BEGIN {
    split("1024 2048 4096 8192", depth, " ")
    for (i = 1; done < n && i < 5000; i++) { # rows and columns of tiles
      rows = 2 + i * 7 % 29; columns = 3 + i * 11 % 37; rest = rows * columns % cus
      if (rest == 0 || rest * 2 >= cus || seen[rows, columns]++) continue
      printf "          - Exact: [%d, %d, 1, %d]\n", rows * 256, columns * 128, depth[1 + done++ % 4]
    } }'
  tail_of; } >>"$out/waves.yaml"
measure waves "$@"
best waves | awk '{ s += log($5 / $6); n++ }
  END { if (!n) { print "no size has a stream-K kernel and another one"; exit 1 }
    printf "stream-K against the persistent kernel of the same tile: %.3f geometric mean of %d sizes\n", exp(s / n), n }'

head_of >"$out/few_base.yaml"
{ sed -n '/- # NN/,/- # /p' "$list" | grep '^            - {MatrixInstruction'
  for tile in '256, 64, 16, 1, 1, 1, 1, 1, 2' '128, 64, 16, 1, 1, 1, 1, 1, 2' '64, 64, 16, 1, 1, 1, 1, 2, 1' '64, 256, 16, 1, 1, 1, 1, 2, 1'; do
    stream "$tile" '1 3'
  done
  printf '      BenchmarkFinalParameters:\n        - ProblemSizes:\n          - Exact: [4096, 4096, 1, 4096]\n'
  tail_of; } >>"$out/few_base.yaml"
sh "$root/scripts/unseen_sizes.sh" "$out/few_base.yaml" "${UNSEEN:-100}" >"$out/few.yaml"
measure few "$@"
best few | awk '{ loss = 1 - ($5 < $6 ? $5 / $6 : 1); s += loss; n++ }
  END { if (!n) { print "no size has a stream-K kernel and another one"; exit 1 }
    printf "8 stream-K kernels against all others on unseen sizes: %.1f%% mean loss of %d sizes\n", 100 * s / n, n }'
