# nvptx kernels with a ring of stages that cannot be written, each with its reason; no compiler is asked.
group() { # problem type, parameters, transposes (both alike)
  for op in ${3:-False-False True-True}; do
    op="${op%-*}, TransposeB: ${op#*-}"
    echo "  -"
    echo "    - {OperationType: GEMM, $1, TransposeA: $op, UseBeta: True, Batched: True}"
    echo "    - BenchmarkCommonParameters: [{StaggerU: [0]}]"
    echo "      ForkParameters: [{Groups: [[{$2}]]}]"
    echo "      BenchmarkFinalParameters: [{ProblemSizes: [{Exact: [64, 64, 1, 64]}]}]"
  done
}
sums="ComputeDataType: s, HighPrecisionAccumulate: True"
{
  echo "BenchmarkProblems:"
  along_k="NvRing: 1, UnrollMajorLDSA: True"
  group "DataType: s" "WorkGroup: [8, 16, 1], ThreadTile: [4, 4], DepthU: 16, PrefetchGlobalRead: 2, $along_k" "False-True True-False"
  group "DataType: s" "WorkGroup: [8, 8, 8], ThreadTile: [4, 4], DepthU: 16, PrefetchGlobalRead: 2, $along_k" True-True
  group "DataType: h, DestDataType: h, $sums" "MatrixInstruction: [16, 8, 16, 1, 1, 1, 2, 1, 1], DepthU: 64, $along_k" True-True
} >rejected.yaml
"$BIN/tuner" --list-solutions --reasons --arch sm_90 rejected.yaml 2>&1 | grep -v 'valid$\|duplicates$'
