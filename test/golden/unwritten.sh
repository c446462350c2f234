# What a config asks of AMD kernels that is not written, by reason and parameter.
cat >replaced.yaml <<'END'
BenchmarkProblems:
  - - {OperationType: GEMM, DataType: s, TransposeA: False, TransposeB: True, UseBeta: True, Batched: True}
    - ForkParameters:
        - KernelLanguage: [Assembly]
        - ReplacementKernel: [False, True]
        - WorkGroup: [[16, 16, 1]]
        - ThreadTile: [[4, 4], [8, 8]]
        - DepthU: [8, 16]
        - CustomKernelName: ["", "by_hand"]
      BenchmarkFinalParameters:
        - ProblemSizes: [Exact: [512, 512, 1, 512]]
END
echo 'no: config' >other.yaml
python3 "$ROOT/scripts/unwritten.py" --tuner "$BIN/tuner" --arch gfx90a,gfx906 .; echo "exit $?"
python3 "$ROOT/scripts/unwritten.py" --tuner "$BIN/tuner" other.yaml; echo "exit $?"
python3 "$ROOT/scripts/unwritten.py" --tuner "$BIN/tuner" nothing; echo "exit $?"
