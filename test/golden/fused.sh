# Bias, activation and scale factors: programs, what is refused, and kernels on this processor, every element validated.
# One kernel also takes the work-group order as an argument, in front of those of the fused operations. Parts of K are added up by
# another kernel, by the last part, or in D, where there are no whole sums.
cat > fused.yaml <<'Y'
GlobalParameters: {MinimumRequiredVersion: 4.14.0, NumElementsToValidate: -1, DataInitTypeBeta: 2, WorkGroupMappingSweep: 0}
BenchmarkProblems:
  -
    - {OperationType: GEMM, DataType: s, TransposeA: False, TransposeB: True, UseBeta: True, Batched: True,
       UseBias: 1, ActivationType: gelu, UseScaleAB: Vector, UseScaleCD: True, UseScaleAlphaVec: 2}
    - InitialSolutionParameters:
      BenchmarkCommonParameters:
      ForkParameters:
        - ThreadTile: [[16, 4]]
        - DepthU: [32]
        - WorkGroup: [[2, 16, 1]]
        - GlobalSplitU: [1, 2]
        - GlobalSplitUAlgorithm: [SingleBuffer, MultipleBuffer, MultipleBufferSingleKernel]
        - MinKForGSU: [16]
        - WorkGroupMappingDim: [-1, 1]
        - WorkGroupMapping: [2]
      BenchmarkFinalParameters:
        - ProblemSizes:
          - Exact: [67, 35, 2, 75]
  -
    - {OperationType: GEMM, DataType: h, DestDataType: h, ComputeDataType: s, HighPrecisionAccumulate: True, TransposeA: True,
       TransposeB: False, UseBeta: False, Batched: False, UseBias: 2, BiasDataTypeList: [s], Activation: True, ActivationType: relu}
    - InitialSolutionParameters:
      BenchmarkCommonParameters:
      ForkParameters:
        - ThreadTile: [[16, 4]]
        - DepthU: [32]
        - WorkGroup: [[2, 16, 1]]
      BenchmarkFinalParameters:
        - ProblemSizes:
          - Exact: [33, 70, 75]
LibraryLogic: {ScheduleName: host, DeviceNames: [host], ArchitectureName: x86-64-v3}
Y
"$BIN/tuner" --dump-program fused.yaml | grep -E '_tile.* last|: E '
"$BIN/tuner" --dump-program=check fused.yaml | grep -v '^#' | grep .
"$BIN/tuner" fused.yaml out > log 2>&1 || cat log
cat out/1_BenchmarkProblems/*/*/build/client.log | grep -oE '"\([0-9,]*\)",[^,]*,(PASSED|FAILED|INVALID)'
# Without local memory on NVIDIA: kernels that add to D in place are no solutions.
sed 's/ThreadTile: .*/ThreadTile: [[2, 4]]/; s/DepthU: .*/DepthU: [4]/; s/WorkGroup: .*/WorkGroup: [[8, 8, 1]]\n        - StaggerU: [0]/
  s/WorkGroupMappingDim: .*/DirectToVgprA: [True]\n        - DirectToVgprB: [True]/' fused.yaml >direct.yaml
"$BIN/tuner" --list-solutions --reasons --arch sm_90 direct.yaml
sed -i 's/UseBias: 2/UseBias: 3/' fused.yaml
"$BIN/tuner" fused.yaml out; echo "exit $?"
sed -i 's/UseBias: 3/UseBias: 1/; s/ActivationType: relu/ActivationType: all/' fused.yaml
"$BIN/tuner" fused.yaml out; echo "exit $?"
