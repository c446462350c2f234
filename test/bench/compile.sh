#!/bin/sh
# Compile throughput and memory of GPU kernels: sgemm NN of macro tile 64x64x16 (to be at least 1.5 kernels per second of a
# core, and 500 kernels within 4 GiB). compile.sh [KERNELS] [ARCHITECTURE...], BIN in the environment; one line each.
# Memory is the sum of the resident sizes of tuner and its compilers, sampled ten times a second: shared pages count
# more than once.
BIN=${BIN:-build/bin}; n=${1:-48}
[ $# -gt 0 ] && shift
[ $# -gt 0 ] || set -- gfx906 gfx90a sm_90
dir=$(mktemp -d "${TMPDIR:-/tmp}/tuner-compile-XXXXXX")
trap 'rm -rf "$dir"' EXIT
staggers=$(awk -v n="$n" 'BEGIN { for (i = 0; i < n / 12; i++) printf "%s%d", i ? ", " : "", i + 1 }')
cat >"$dir/config.yaml" <<YAML
BenchmarkProblems:
  -
    - {OperationType: GEMM, DataType: s, TransposeA: False, TransposeB: False, UseBeta: True, Batched: True}
    - BenchmarkCommonParameters:
        - KernelLanguage: ["Source"]
      ForkParameters:
        - Groups:
          - - {WorkGroup: [16, 16, 1], ThreadTile: [4, 4]}
            - {WorkGroup: [8, 8, 1], ThreadTile: [8, 8]}
            - {WorkGroup: [16, 8, 1], ThreadTile: [4, 8]}
        - DepthU: [16]
        - PrefetchGlobalRead: [0, 1]
        - PrefetchLocalRead: [0, 1]
        - WorkGroupMapping: [$staggers]
      BenchmarkFinalParameters:
        - ProblemSizes:
          - Exact: [512, 512, 1, 512]
YAML
watch() { # highest sum of resident KiB of process $1 and what it started
  ps -eo pid,ppid,rss | awk -v p="$1" -v old="$2" '{ parent[$1] = $2; rss[$1] = $3 }
    END { for (x in rss) { for (y = x; y in parent && y != p; y = parent[y]); if (y == p) sum += rss[x] }
          print (sum > old ? sum : old) }'
}
# Seconds of all cores in what this script has started, from the text of 'times'.
seconds() { tail -1 "$1" | sed 's/[ms]/ /g' | awk '{ print 60 * ($1 + $3) + $2 + $4 }'; }
for arch; do
  times >"$dir/before"; start=$(date +%s%N); peak=0
  "$BIN/tuner" --compile-only --arch "$arch" "$dir/config.yaml" "$dir/$arch" >"$dir/log" 2>&1 & pid=$!
  while kill -0 $pid 2>/dev/null; do peak=$(watch $pid "$peak"); sleep 0.1; done
  wait $pid || { echo "compile: $arch: $(grep '^tuner:' "$dir/log" | tail -1)"; continue; }
  wall=$(( $(date +%s%N) - start ))
  done=$(tail -n +2 "$dir/$arch"/1_*/*/00_Final/kernels.csv | wc -l)
  times >"$dir/after"
  awk -v a="$arch" -v n="$done" -v w=$wall -v c="$(seconds "$dir/after")" -v b="$(seconds "$dir/before")" -v m="$peak" -v cores="$(nproc)" 'BEGIN {
    printf "compile: %s: %d kernels, %.2f in a second of a core (%.1f s of all, %.1f s on %d cores); %.2f GiB\n",
           a, n, n / (c - b), c - b, w / 1e9, cores, m / 1048576 }'
done
