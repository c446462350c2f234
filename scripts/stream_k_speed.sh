#!/bin/sh
# stream_k_speed.sh OUT [TUNER OPTION...]: what stream-K gains on the NVIDIA GPU that is here, half precision, NN.
#   1. OUT/waves: one tile (256x128 by wgmma) as a persistent kernel and with StreamK 1 to 3, the first and the last also with
#      DependentLaunch, on 60 sizes whose last wave of tiles fills less than half of the processors; prints the speed of StreamK 3 and
#      of the best stream-K kernel against the persistent one by size, the geometric means (1.10 is expected), and the least: where a
#      cut does not pay tiles are not cut, so that it should not be below 0.98.
#   2. OUT/few: 8 stream-K kernels of different tiles and 50 others, every second one of the list of NN kernels in test/data/search,
#      on unseen sizes (unseen_sizes.sh); prints the mean loss of the best of the 8 against the best of the 50 (6% is expected).
#      A size on which one of the 8 is faster has no loss, one that none of them takes is lost.
#   3. OUT/bytes.txt, where ncu is there and may read counters: bytes read from DRAM by the persistent and the StreamK 3 kernel.
# Every result is validated by the run. A run that its limit stops is judged by the sizes that it has measured.
#
# About 35 s for OUT/waves and 2 minutes for OUT/few on an H200 with compiled kernels. COMPILE=1 compiles them into OUT/build, without
# a device, where there is a compiler: carry OUT/build to the machine with the device then, as OUT/build there.
# `stream_k_speed.sh OUT --simulate --arch sm_90a` goes through it without a device, with times that are made up.
# Environment: TUNER (build/bin/tuner), DEVICE (cuda), LIMIT (seconds of each run, 300), RACE (most seconds of a size in OUT/few, 0.5),
# STEPS ("waves few"), CUS (132: processors), SIZES (60), UNSEEN (100),
# SEED (3: of the unseen sizes; the 8 kernels were chosen with those of 11), KERNELS (a file of other stream-K kernels for OUT/few, a
# MatrixInstruction and further parameters a line). Exit code 1: a kernel is wrong or did not run.
set -e
[ $# -ge 1 ] || { echo "usage: stream_k_speed.sh OUT [TUNER OPTION...]" >&2; exit 2; }
root=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1"
out=$(cd "$1" && pwd)
shift
bin=$root/build/bin list=$root/test/data/search/h200_hgemm_list.yaml
if [ ! -d "$bin" ]; then bin=${root%/share/tuner}/bin list=$root/configs/lists/h200_hgemm_list.yaml; fi # installed
tuner=${TUNER:-$bin/tuner} device=${DEVICE:-cuda} limit=${LIMIT:-300} steps=${STEPS:-waves few}
bin=$(dirname "$tuner")
for f in "$tuner" "$list"; do [ -f "$f" ] || { echo "stream_k_speed.sh: there is no '$f'" >&2; exit 2; }; done
for s in $steps; do
  case $s in waves | few) ;; *) echo "stream_k_speed.sh: STEPS has '$s', expected waves or few" >&2; exit 2;; esac
done
if [ -n "${COMPILE:-}" ]; then
  set -- --compile-only --arch sm_90a
elif [ $# = 0 ]; then
  set -- --device "$device" --arch sm_90a
fi
bad=0
bytes_sizes="2048,2688,1,8192 3072,2048,1,8192 7168,3072,1,8192"

head_of() { # of a config: arguments of its client
  cat <<CONFIG
GlobalParameters: {NumBenchmarks: 1, KernelTime: True, TimingMethod: race, SleepPercent: 0, NumElementsToValidate: 128,
  MaxWorkspaceSize: 2147483648, DataInitTypeA: 21, DataInitTypeB: 21, DataInitTypeBeta: 0, HeldOutSizes: 0, WorkGroupMappingSweep: 0,
  ClientBuildPath: $out/build, ClientArgs: "$1"}
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
# The stream-K kernels of OUT/few: those of the file KERNELS, else 8 of test/data/search/stream_k_candidates.txt, chosen by
# test/bench/stream_k_choose.py with times of 140 sizes of seed 11 (test/bench/results/h200/stream_k_candidates.csv)
stream_kernels() {
  if [ -n "${KERNELS:-}" ]; then cat "$KERNELS"; return; fi
  cat <<LIST
[256, 64, 16, 1, 1, 1, 1, 1, 2], ClusterN: 2
[192, 64, 16, 1, 1, 1, 2, 1, 1], ConsumerSchedule: PingPong
[128, 64, 16, 1, 1, 1, 2, 1, 1], ConsumerSchedule: PingPong, PackOperands: 3
[128, 64, 16, 1, 1, 1, 1, 1, 1], ConsumerSchedule: PingPong, DependentLaunch: True
[128, 64, 16, 1, 1, 1, 1, 1, 2], PackOperands: 3, EngineStore: False
[64, 32, 16, 1, 1, 1, 1, 1, 1], DepthU: 128, DependentLaunch: True
[16, 8, 16, 1, 1, 1, 2, 1, 2], WorkGroup: [16, 8, 4], DepthU: 128, PrefetchGlobalRead: 3
[16, 8, 16, 1, 1, 2, 4, 2, 2], DepthU: 32, PrefetchGlobalRead: 2, GlobalReadVectorWidth: 1, PrefetchLocalRead: 0
LIST
}
measure() { # NAME TUNER OPTION...: runs $out/NAME.yaml
  name=$1; shift
  code=0
  timeout "$limit" "$tuner" "$@" "$out/$name.yaml" "$out/$name" >"$out/$name.log" 2>&1 || code=$?
  case $code in
    0 | 3) ;;
    124) echo "$name: stopped after $limit s: the sizes measured so far";;
    *) tail -n 3 "$out/$name.log" >&2; exit 1;;
  esac
  [ -n "${COMPILE:-}" ] || grep -q ' 0 wrong, 0 crashed' "$out/$name.log" || { bad=1; grep 'wrong\|crashed' "$out/$name.log" || true; }
}
# Sizes and the GFlops of the best kernel without StreamK, of the best with StreamK 3, of the best with any StreamK
best() {
  cat "$out/$1"/2_BenchmarkData/*.csv >"$out/$1.csv"
  awk -F, '
    FNR == 1 { for (i = 1; i <= NF; i++) if ($i ~ /^Cij/) { solution[i] = 1; kind[i] = match($i, /_SK[123]/) ? substr($i, RSTART + 3, 1) : 0 } next }
    { plain = third = any = 0
      for (i in solution) {
        if (!kind[i] && $i + 0 > plain) plain = $i + 0
        if (kind[i] == 3 && $i + 0 > third) third = $i + 0
        if (kind[i] && $i + 0 > any) any = $i + 0
      }
      if (plain > 0) print $2, $3, $4, $5, plain, third, any }' "$out/$1.csv"
}

tile='256, 64, 16, 1, 1, 1, 1, 1, 2'
plain="            - {MatrixInstruction: [$tile], PersistentKernel: 1, PersistentKernelAlongBatch: True}"
dependent() { sed 's/}/, DependentLaunch: True}/'; }
if [ "${steps#*waves}" != "$steps" ]; then
  head_of "" >"$out/waves.yaml"
  { echo "$plain"
    echo "$plain" | dependent
    stream "$tile" '1 2 3'
    stream "$tile" 3 | dependent
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
fi
if [ "${steps#*few}" != "$steps" ]; then
  head_of "--race-seconds ${RACE:-0.5}" >"$out/few_base.yaml"
  { sed -n '/- # NN/,/- # /p' "$list" | grep '^            - {MatrixInstruction' | grep -v 'StreamK' | awk 'NR % 2 && ++n <= 50'
    stream_kernels | while read -r t; do echo "            - {MatrixInstruction: $t, PersistentKernel: 0, StreamK: 3}"; done
    printf '      BenchmarkFinalParameters:\n        - ProblemSizes:\n          - Exact: [4096, 4096, 1, 4096]\n'
    tail_of; } >>"$out/few_base.yaml"
  sh "$root/scripts/unseen_sizes.sh" "$out/few_base.yaml" "${UNSEEN:-100}" "${SEED:-3}" >"$out/few.yaml"
  measure few "$@"
fi
bytes_config() { # NAME KERNEL
  { head_of ""; echo "$2"
    printf '      BenchmarkFinalParameters:\n        - ProblemSizes:\n'
    for s in $bytes_sizes; do echo "          - Exact: [$(echo "$s" | sed 's/,/, /g')]"; done
    tail_of; echo "LibraryClient:"; } >"$out/$1.yaml"
}
bytes_run() { # KIND TUNER OPTION...: with KIND 0 the persistent kernel, else that of StreamK 3
  kind=$1; shift
  if [ "$kind" = 0 ]; then bytes_config bytes_0 "$plain"; else bytes_config bytes_3 "$(stream "$tile" 3)"; fi
  measure "bytes_$kind" "$@"
}
if [ -n "${COMPILE:-}" ]; then
  case $steps in *waves*) bytes_run 0 "$@"; bytes_run 3 "$@";; esac
  exit $bad
fi

if [ "${steps#*waves}" != "$steps" ]; then
  best waves | awk '{ printf "%s,%s,%s,%s: StreamK 3 %.3f, best %.3f\n", $1, $2, $3, $4, $6 / $5, $7 / $5
      third += log($6 > 0 ? $6 / $5 : 1); any += log($7 > 0 ? $7 / $5 : 1); if (!n++ || $6 / $5 < least) least = $6 / $5 }
    END { if (!n) { print "no size has a stream-K kernel and another one"; exit 1 }
      printf "StreamK 3 against the persistent kernel of the same tile: %.3f geometric mean of %d sizes, least %.3f; the best stream-K kernel %.3f\n",
        exp(third / n), n, least, exp(any / n) }' >"$out/waves.txt" || bad=1
  cat "$out/waves.txt"
fi
if [ "${steps#*few}" != "$steps" ]; then
  best few | awk '{ loss = 1 - ($7 < $5 ? $7 / $5 : 1); s += loss; n++; if (loss > most) most = loss
      plain += 1 - $7 / $5
      printf "%s,%s,%s,%s: %.3f\n", $1, $2, $3, $4, $7 / $5 }
    END { if (!n) { print "no size has a stream-K kernel and another one"; exit 1 }
      printf "8 stream-K kernels against 50 others on unseen sizes: %.1f%% mean loss of %d sizes, most %.1f%% (%.1f%% where gains count too)\n",
        100 * s / n, n, 100 * most, 100 * plain / n }' \
    >"$out/few.txt" || bad=1
  cat "$out/few.txt"
fi
[ "${steps#*waves}" != "$steps" ] || exit $bad
ncu=$(command -v ncu || true)
if [ -z "$ncu" ]; then echo "bytes from DRAM: skipped: no ncu"; exit $bad; fi
for kind in 0 3; do
  bytes_run $kind "$@"
  for s in $bytes_sizes; do
    mnk=$(echo "$s" | sed 's/\(.*\),\(.*\),1,\(.*\)/-m \1 -n \2 -k \3/')
    # shellcheck disable=SC2086
    read=$("$ncu" --clock-control none --metrics dram__bytes_read.sum --print-units base --csv "$bin/tuner-bench" --library "$out/bytes_$kind" -f gemm_ex --a_type f16_r \
      --b_type f16_r --c_type f16_r --d_type f16_r --compute_type f32_r $mnk --timing loop -i 1 -j 0 2>"$out/ncu.log" |
      grep dram__bytes_read | tail -1 | sed 's/.*,"//; s/"//g; s/,//g')
    echo "$s StreamK $kind: ${read:-no counter} bytes read"
  done
done | tee "$out/bytes.txt"
exit $bad
