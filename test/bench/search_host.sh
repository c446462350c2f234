#!/bin/sh
# The search on the CPU, one thread, pinned: (1) how many candidates of a space whose kernels were all measured have to be measured
# for 99 % of the best, (2) what the performance model alone chooses, and what the library loses on held-out sizes, (3) the ranges
# of configs/host.yaml against lists of kernels that are all measured, in the time that the list takes: seven kernels on 12 sizes,
# for which they were chosen by hand, and 384 kernels on 24 sizes. Both libraries run by turns (tuner-bench --compare).
# On two idle cores about one minute, and ten more for the 384 kernels. search_host.sh [SECONDS of (3) with seven kernels]; BIN in
# the environment; QUICK=1: without the 384 kernels.
set -e
root=$(pwd); BIN=${BIN:-build/bin}; case $BIN in /*) ;; *) BIN=$root/$BIN;; esac
dir=$(mktemp -d "${TMPDIR:-/tmp}/tuner-search-XXXXXX")
trap 'rm -rf "$dir"' EXIT
export TUNER_NUM_THREADS=1
pin=$(command -v taskset || true)
[ -z "$pin" ] || pin="$pin -c $(($(nproc) - 1))"
printf '#!/bin/sh\nexec %s "%s/tuner-client" "$@"\n' "$pin" "$BIN" >"$dir/client"; chmod +x "$dir/client"
few='64,64,1,64 96,96,1,96 128,128,1,128 192,128,1,256 256,256,1,256 64,4,1,128 48,48,20,48 100,200,1,64 333,77,1,129 512,128,1,64
  128,512,1,96 256,64,1,512'
many="$few 384,384,1,384 512,512,1,512 1024,16,1,1024 16,1024,1,512 768,128,1,768 200,300,1,400 127,255,1,511 640,8,1,640
  32,32,64,32 1000,100,1,100 100,1000,1,100 64,512,4,64"
sizes=$few
config() { # FILE HELD_OUT NUM_BENCHMARKS, ForkParameters on stdin
  { cat <<YAML
GlobalParameters: {MinimumRequiredVersion: 4.14.0, NumBenchmarks: $3, SyncsPerBenchmark: 5, EnqueuesPerSync: 4, NumWarmups: 1, KernelTime: True,
  SleepPercent: 0, NumElementsToValidate: 16, DataInitTypeAlpha: 1, DataInitTypeBeta: 0, HeldOutSizes: $2, PrintLevel: 1}
BenchmarkProblems:
  -
    - {OperationType: GEMM, DataType: s, TransposeA: False, TransposeB: False, UseBeta: True, Batched: True}
    - BenchmarkCommonParameters:
        - WorkGroupMapping: [1]
      ForkParameters:
YAML
    cat; printf '      BenchmarkFinalParameters:\n        - ProblemSizes:\n'; printf '          - Exact: [%s]\n' $sizes
    printf 'LibraryLogic: {ScheduleName: host, DeviceNames: [host], ArchitectureName: host}\nLibraryClient:\n'; } >"$1"
}
run() { "$BIN/tuner" --device host --client-path "$dir/client" "$@" >"$dir/log" 2>&1 || { tail -5 "$dir/log"; exit 1; }; }
seconds() { echo $(($(date +%s) - $1)); }

config "$dir/oracle.yaml" 20 1 <<'YAML'
        - ThreadTile: [[64, 4], [48, 8], [32, 8], [16, 8]]
        - WorkGroup: [[1, 32, 1], [4, 64, 1], [8, 64, 1]]
        - DepthU: [128, 384]
        - HostPackA: [False, True]
        - HostPackB: [False, True]
        - PrefetchLocalRead: [0, 8]
YAML
start=$(date +%s); run --search exhaustive "$dir/oracle.yaml" "$dir/oracle"
echo "search, oracle: all measured in $(seconds "$start") s"
"$BIN/../bench/oracle_bench" "$dir/oracle" "$dir/oracle.yaml"
sed -n '/loss of the library/,/decision trees .* ragged/p' "$dir/log" | grep -E 'choice|libtuner|table|decision'

# The list in $dir/list.yaml against the ranges, which get the same time, on the sizes in $sizes: compare KERNELS [SECONDS]
compare() {
  config "$dir/wide.yaml" 0 3 <"$dir/ranges"
  rm -rf "$dir/list" "$dir/wide"
  start=$(date +%s); run "$dir/list.yaml" "$dir/list"; took=$(seconds "$start")
  budget=${2:-$took}; [ "$budget" -ge 5 ] || budget=5
  start=$(date +%s); run --search model --budget "$budget" "$dir/wide.yaml" "$dir/wide"
  echo "search, same time: list of $1 kernels $took s; ranges searched, budget $budget s: $(seconds "$start") s; $(grep -o 'searched by model: .* candidates' "$dir/log")"
  for s in $sizes; do
    echo "$s" | sed 's/\(.*\),\(.*\),\(.*\),\(.*\)/rocblas-bench -f gemm_strided_batched -r f32_r -m \1 -n \2 --batch_count \3 -k \4/'
  done >"$dir/sizes.log"
  $pin "$BIN/tuner-bench" --compare "$dir/list/4_LibraryClient/library" "$dir/wide/4_LibraryClient/library" "$dir/sizes.log" -i 150 |
    grep -E 'slower|faster|geometric' | sed 's/ *$//; s/^/  /'
}

sed -n '/^ *- ThreadTile/,/^ *- InnerUnroll/p' configs/host.yaml | awk '/InnerUnroll/ { print; exit } { print }' >"$dir/ranges"
# the winners of test/bench/host_points.def
config "$dir/list.yaml" 0 3 <<'YAML'
        - Groups:
          - - {ThreadTile: [64, 4], WorkGroup: [1, 32, 1], DepthU: 512, HostPackA: False, HostPackB: False, PrefetchLocalRead: 0, PrefetchGlobalRead: 0}
            - {ThreadTile: [64, 4], WorkGroup: [4, 64, 1], DepthU: 512, HostPackA: False, HostPackB: False, PrefetchLocalRead: 0, PrefetchGlobalRead: 0}
            - {ThreadTile: [64, 4], WorkGroup: [4, 128, 1], DepthU: 512, HostRepeatM: 2, HostPackA: True, HostPackB: False, PrefetchLocalRead: 0, PrefetchGlobalRead: 0}
            - {ThreadTile: [48, 8], WorkGroup: [8, 64, 1], DepthU: 384, HostRepeatM: 3, HostPackA: True, HostPackB: True, PrefetchLocalRead: 8, PrefetchGlobalRead: 1}
            - {ThreadTile: [64, 6], WorkGroup: [8, 64, 1], DepthU: 384, HostRepeatM: 3, HostPackA: True, HostPackB: True, PrefetchLocalRead: 8, PrefetchGlobalRead: 1}
            - {ThreadTile: [48, 8], WorkGroup: [8, 128, 1], DepthU: 512, HostRepeatM: 8, HostRepeatN: 2, HostPackA: True, HostPackB: True, PrefetchLocalRead: 0, PrefetchGlobalRead: 1}
            - {ThreadTile: [48, 6], WorkGroup: [1, 32, 1], DepthU: 512, HostPackA: False, HostPackB: False, PrefetchLocalRead: 0, PrefetchGlobalRead: 0}
YAML
compare 7 ${1:+"$1"}
[ -z "${QUICK-}" ] || exit 0
sizes=$many
config "$dir/list.yaml" 0 3 <<'YAML'
        - ThreadTile: [[64, 4], [64, 5], [64, 6], [64, 7], [48, 4], [48, 6], [48, 8], [32, 4], [32, 8], [32, 11], [32, 12],
                       [32, 13], [16, 6], [16, 8], [8, 6], [8, 4]]
        - InnerUnroll: [1, 2]
        - HostPackA: [False, True]
        - HostPackB: [False, True]
        - DepthU: [512]
        - PrefetchLocalRead: [0]
        - PrefetchGlobalRead: [0]
        - WorkGroup: [[1, 32, 1], [2, 64, 1], [4, 128, 1]]
YAML
compare 384
