#!/bin/sh
# Tool time outside compilers and kernels, in percent of a run of KERNELS x 10 sizes on the CPU (to be under 5 % of 500 x 10).
# overhead.sh [KERNELS], BIN in the environment; prints the steps and one line. Compile time counts as its wall time over
# the number of compilers at once.
set -e
BIN=${BIN:-build/bin}; n=${1:-500}
dir=$(mktemp -d "${TMPDIR:-/tmp}/tuner-overhead-XXXXXX")
trap 'rm -rf "$dir"' EXIT
command -v sqlite3 >/dev/null || { echo "overhead: skipped: needs the sqlite3 program"; exit 0; }
depths=$(awk -v n="$n" 'BEGIN { for (i = 0; i < n / 4; i++) printf "%s%d", i ? ", " : "", 4 * (i + 1) }')
cat >"$dir/config.yaml" <<YAML
GlobalParameters: {SyncsPerBenchmark: 5, EnqueuesPerSync: 4, NumWarmups: 1, SleepPercent: 0, PrintLevel: 0}
BenchmarkProblems:
  -
    - {OperationType: GEMM, DataType: s, TransposeA: False, TransposeB: False, UseBeta: True, Batched: True}
    - ForkParameters:
        - WorkGroup: [[8, 8, 1], [16, 8, 1]]
        - ThreadTile: [[8, 4], [16, 4]]
        - DepthU: [$depths]
      BenchmarkFinalParameters:
        - ProblemSizes:
          - Range: [[128, 64, 704], [256], [1], [256]]
LibraryLogic: {ScheduleName: host, DeviceNames: [host], ArchitectureName: host}
LibraryClient:
YAML
start=$(date +%s%N)
"$BIN/tuner" "$dir/config.yaml" "$dir/out" >"$dir/log" 2>&1 || { cat "$dir/log"; exit 1; }
wall=$(( $(date +%s%N) - start ))
q() { sqlite3 "$dir/out/tuning.db" "$1"; }
kernels=$(q "SELECT count(*) FROM compile WHERE status='ok'")
pairs=$(q "SELECT count(*) FROM measurement")
compile=$(q "SELECT sum(ns) FROM compile")
q "SELECT printf('  %-8s %8.3f s', name, ns / 1e9) FROM step"
q "SELECT samples FROM measurement" | tr ' ' '\n' | awk -F'*' -v wall=$wall -v compile="$compile" -v cores="$(nproc)" \
  -v kernels="$kernels" -v pairs="$pairs" '
  { timed += $2; launches += $1 }
  END { all = timed + timed / launches * 2 * pairs # a warmup and a validated launch of each pair
        other = wall - compile / cores - all
        printf "overhead: %d kernels, %d measurements: %.1f s, compilers %.1f s over %d cores, kernels %.1f s, other %.1f s = %.1f %%\n",
               kernels, pairs, wall / 1e9, compile / 1e9, cores, all / 1e9, other / 1e9, 100 * other / wall }'
