# Sizes with strides of their own, tuned end to end on this machine's CPU: strided batches, batches that share a matrix, lie
# between each other's columns, or are arrays of pointers. Results are validated whole.
export LC_ALL=C
config() { cat <<Y
GlobalParameters: {SyncsPerBenchmark: 2, NumWarmups: 1, SleepPercent: 0, NumElementsToValidate: -1, PrintLevel: 0,
  MaxWorkspaceSize: 1000000, BufferOffsetA: 3, BufferOffsetD: 5}
BenchmarkProblems:
- - {OperationType: GEMM, DataType: s, TransposeA: False, TransposeB: False, UseBeta: True, Batched: True$1}
  - BenchmarkCommonParameters:
    - KernelLanguage: [Source]
    ForkParameters:
    - GlobalSplitU: [1, 2]
    - GlobalSplitUAlgorithm: [SingleBuffer, MultipleBuffer]
    - MinKForGSU: [16]
    - WorkGroup: [[8, 8, 1]]
    - ThreadTile: [[4, 4]]
    - DepthU: [16]
    BenchmarkFinalParameters:
    - ProblemSizes:
      - Exact: [64, 60, 2, 64]
      - Exact: {sizes: [64, 60, 2, 64], stridesA: [1, 64, 4096]}
      - Exact: {sizes: [64, 60, 2, 64], stridesA: [1, 80, 8000], stridesD: [-1, 70, -1]}
      - Exact: {sizes: [64, 60, 3, 64], stridesB: [-1, -1, 0]}
      - Exact: {sizes: [31, 33, 5, 64], stridesA: [-1, 155, 31], stridesB: [-1, 320, 64], stridesC: [-1, 155, 31], stridesD: [-1, 155, 31]}
LibraryLogic: {ScheduleName: x, DeviceNames: [x], ArchitectureName: host}
LibraryClient:
Y
}
for type in '' ', StridedBatched: False'; do
  rm -rf out; config "$type" >c.yaml
  echo "--- {Batched: True$type}"
  "$BIN/tuner" --arch host c.yaml out >log 2>&1; echo "exit $?"
  sed -n 's/^  \([0-9][0-9]*,.*\)/\1/p' log | sed 's/  .*//' # sizes of the winners' table
  cut -d, -f2-9 out/2_BenchmarkData/*.csv
  cut -d, -f14- out/2_BenchmarkData/*.csv | grep -c -e -1 -e nan
  grep -c -e strides out/1_BenchmarkProblems/*/00_Final/source/ClientParameters.ini
  sed -n 's/^ *\(- \)\{2,3\}\[\([0-9, ]*\)\]$/logic \2/p' out/3_LibraryLogic/*.yaml
  sh out/4_LibraryClient/build/run.sh >client.log 2>&1; echo "client: exit $?, $(grep -c ',PASSED,' client.log) passed"
  "$BIN/tuner" explain out 64,60,3,64,64 | head -1
  grep -o 'tuner-bench.*' log
done
echo "--- elements of D that lie on each other"
config | sed 's/stridesD: .-1, 155, 31./stridesD: [-1, 155, 30]/' >bad.yaml
"$BIN/tuner" --arch host bad.yaml bad >log 2>&1; echo "exit $?"; cat bad/1_BenchmarkProblems/*/00_Final/build/client.log
echo "--- a size-group without sizes beside one with"
config | sed 's/      - Exact: {.*//' | sed '/^LibraryLogic/i\  - BenchmarkFinalParameters: [{ProblemSizes: }]\n    ForkParameters: [{WorkGroup: [[8, 8, 1]]}, {ThreadTile: [[4, 4]]}, {DepthU: [16]}]' >none.yaml
"$BIN/tuner" --arch host none.yaml none >log 2>&1; echo "exit $?"; grep -o 'ProblemSizes is empty.*' log
"$BIN/tuner" status none | grep measured; grep -c '^ *- - - ' none/3_LibraryLogic/*.yaml
