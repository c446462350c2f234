# Older forms of a config are accepted, each with one line that names today's form.
cat >old.yaml <<'Y'
GlobalParameters:
  MinimumRequiredVersion: 4.4.0
  NewClient: 2
  PinClocks: True
  numWarmups: 1
BenchmarkProblems:
- - {Batched: true, DataType: s, OperationType: GEMM, TransposeA: false, TransposeB: false, UseBeta: true}
  - BenchmarkCommonParameters:
    - LoopTail: [true]
    - KernelLanguage: [Assembly]
    - EdgeType: [ShiftPtr]
    BenchmarkFinalParameters:
    - ProblemSizes:
    - Exact: [ 5504, 5504, 1, 3104 ]
    - Range: [ [64, 64, 64, 7000], [4], [1], [128] ]
    BenchmarkForkParameters: null
    BenchmarkJoinParameters: null
    ForkParameters:
    - PrefetchGlobalRead: [true, false]
    - PrefetchLocalRead: [true, false]
    - LdsBlockSizePerPad: [0, 128]
    - DirectToLds: [false]
    - DepthU: [16, 32]
    InitialSolutionParameters: null
    JoinParameters: null
Y
"$BIN/tuner" --list-solutions --count --arch gfx906 old.yaml; echo "exit $?"
echo "+ alternate format"
"$BIN/tuner" --list-solutions --count --arch gfx906 "$DATA/tensile/config/alt_format_vega20_example.yaml" 2>&1 | sed "s|$DATA|DATA|"
"$BIN/tuner" --alternate-format --list-solutions --count --arch gfx906 "$DATA/tensile/config/alt_format_vega20_example.yaml" 2>&1 |
  sed "s|$DATA|DATA|"
echo "+ what takes the place of something else, and what is not there"
cat >twice.yaml <<'Y'
BenchmarkProblems:
- - {DataType: s, Batched: true}
  - BenchmarkCommonParameters:
    - DepthU: [32]
    ForkParameters:
    - DepthU: [16]
    - Groups: [[{WorkGroup: [8, 8, 1]}]]
    - DepthU: [8]
    - Groups: [[{WorkGroup: [16, 16, 1]}]]
Y
"$BIN/tuner" --list-solutions --count --arch gfx906 twice.yaml; echo "exit $?"
echo "+ what Tensile reads without a word"
cat >loose.yaml <<'Y'
GlobalParameters: {NumBenchmarks: 2, NumBenchmarks: 3}
BenchmarkProblems:
- - {DataType: s, Batched: true, UseBeta: true, UseBeta: true}
  - OptNoLoadLoop: 0
    BenchmarkFinalParameters:
    - ProblemSizes:
      - Exact: [64, 32, 1, 16, 64, 64, 8, 16]
      - Exact: [64, 32, 1, 16, 64, 64, 64, 8]
      - Exact: {sizes: [64, 32, 2, 16], stridesA: [1, 65, 2000, 7]}
  - BenchmarkFinalParameters:
    - ProblemSizes:
LibraryLogic: {DeviceNames: [a], DeviceNames: [b]}
Y
"$BIN/tuner" --list-solutions --count --arch gfx906 loose.yaml; echo "exit $?"
