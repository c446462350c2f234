#!/bin/sh
# fused_speed.sh OUT [TUNER OPTION...]: what a bias and an activation in the kernel cost on the NVIDIA GPU that is here (H200), f16 and
# bf16, NN: a library of one tile, with and without bias + ReLU and bias + GELU; tuner-bench --compare --old-plain runs both kernels of
# the same tile in turns, with every result checked, and prints the ratio of speeds with its 95% interval. Takes less than 2 minutes.
# Environment: TILES (two: names of the list below), SIZES (M,N,K ...), ROUNDS (30), FAIL_BELOW (0.98; exit code 1 when the geometric
# mean of an activation is below it).
# `fused_speed.sh OUT --simulate --arch sm_90a` goes through the tuning without a device, and compares nothing.
set -e
[ $# -ge 1 ] || { echo "usage: fused_speed.sh OUT [TUNER OPTION...]" >&2; exit 2; }
out=$1; shift
root=$(cd "$(dirname "$0")/.." && pwd)
bin=$root/build/bin; [ -d "$bin" ] || bin=${root%/share/tuner}/bin # installed
for p in tuner tuner-bench; do [ -x "$bin/$p" ] || { echo "fused_speed.sh: there is no '$bin/$p'" >&2; exit 2; }; done
sizes=${SIZES:-"2048,2048,2048 4096,4096,4096 8192,8192,8192 4096,4096,1024"} rounds=${ROUNDS:-30} least=${FAIL_BELOW:-0.98}
mkdir -p "$out"

solution_of() { # TILE
  case $1 in
  cooperative) echo '{MatrixInstruction: [256, 64, 16, 1, 1, 1, 1, 1, 2], PersistentKernel: 1, PersistentKernelAlongBatch: True}';;
  pingpong) echo '{MatrixInstruction: [64, 256, 16, 1, 1, 1, 1, 1, 1], ConsumerSchedule: PingPong, PersistentKernel: 1,
               PersistentKernelAlongBatch: True}';;
  *) echo "fused_speed.sh: TILES: '$1', expected cooperative or pingpong" >&2; exit 2;;
  esac
}
config() { # TYPE SOLUTION
  cat <<'CONFIG'
GlobalParameters: {NumBenchmarks: 1, KernelTime: True, TimingMethod: race, SleepPercent: 0, NumElementsToValidate: 128,
  DataInitTypeA: 21, DataInitTypeB: 21, DataInitTypeBeta: 0}
BenchmarkProblems:
CONFIG
  for fused in '' ', UseBias: 1, ActivationType: relu' ', UseBias: 1, ActivationType: gelu'; do
    cat <<CONFIG
  -
    - {OperationType: GEMM, DataType: $1, DestDataType: $1, ComputeDataType: s, HighPrecisionAccumulate: True,
       TransposeA: False, TransposeB: False, UseBeta: True, Batched: True$fused}
    - BenchmarkCommonParameters:
        - StaggerU: [0]
      ForkParameters:
        - Groups:
          -
            - $2
      BenchmarkFinalParameters:
        - ProblemSizes:
          - Exact: [2048, 2048, 1, 2048]
CONFIG
  done
  printf 'LibraryLogic: {ScheduleName: h200, DeviceNames: [NVIDIA H200], ArchitectureName: sm_90a}\nLibraryClient:\n'
}
problems() { # TYPE ACTIVATION: for tuner-bench
  for s in $sizes; do
    echo "$s" | { IFS=, read -r m n k
      echo "- {rocblas_function: rocblas_gemm_ex, transA: N, transB: N, a_type: $1, b_type: $1, c_type: $1, d_type: $1," \
        "compute_type: f32_r, M: $m, N: $n, K: $k, bias_vector: 1, activation_type: $2}"; }
  done
}

code=0
for tile in ${TILES:-cooperative pingpong}; do
  solution=$(solution_of "$tile")
  for type in h b; do
    name=${tile}_$type
    config $type "$solution" >"$out/$name.yaml"
    "$bin/tuner" "$@" "$out/$name.yaml" "$out/$name" >"$out/$name.log" 2>&1 || [ $? = 3 ] || { tail -3 "$out/$name.log" >&2; exit 1; }
    case " $* " in *" --simulate "*) echo "$name: tuned on a simulated device"; continue;; esac
    lib=$out/$name/4_LibraryClient/library full=f16_r
    [ $type = h ] || full=bf16_r
    for activation in relu gelu; do
      problems $full $activation >"$out/$name.$activation.yaml"
      "$bin/tuner-bench" --compare "$lib" "$lib" "$out/$name.$activation.yaml" --old-plain -i "$rounds" --timing race >"$out/table" 2>&1 ||
        { cat "$out/table" >&2; exit 1; }
      echo "--- $tile, $full, bias + $activation over the plain kernel"
      grep -E '^(NN|   )|geometric mean' "$out/table"
      awk -v least="$least" '/geometric mean/ { for (i = 1; i < NF; i++) if ($i == "mean" && $(i + 1) < least) low = 1 } END { exit low }' \
        "$out/table" || { echo "below $least"; code=1; }
    done
  done
done
exit $code
