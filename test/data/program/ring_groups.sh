# For golden tests: size-groups of kernels with a ring of stages, as text of a config.
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
