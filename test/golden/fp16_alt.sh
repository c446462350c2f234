# Fp16AltImpl of a problem: by tuner_gemm_desc (words of --select-only, --flags) and by rocBLAS's variables, which come first.
solution() { # index
  cat <<END
- {name: K$1, index: $1, hardwarePredicate: {type: TruePred}, taskPredicate: {type: TruePred},
  problemPredicate: {type: StridedBatched, value: true},
  problemType: {operationIdentifier: Contraction_l_Ailk_Bljk_Cijk_Dijk, aType: Half, bType: Half, cType: Half,
    dType: Half, useBeta: true, highPrecisionAccumulate: true, f32XdlMathOp: Float, stridedBatched: true},
  sizeMapping: {workGroup: [16, 16, 1], macroTile: [64, 64, 1], threadTile: [4, 4], depthU: 16, staggerU: 0,
    globalSplitU: 1, staggerStrideShift: 2, workGroupMapping: 8, persistentKernel: 0, persistentKernelAlongBatch: false,
    sourceKernel: true, globalAccumulation: 0, workspaceSizePerElemC: 0}}
END
}
{
  echo 'solutions:'
  for i in 0 1 2 3; do solution $i; done
  cat <<'END'
library:
  type: Problem
  rows:
  - predicate: {type: Fp16AltImpl}
    library: {type: Problem, rows: [{predicate: {type: Fp16AltImplRound}, library: {type: Single, index: 3}},
      {predicate: {type: TruePred}, library: {type: Single, index: 1}}]}
  - {predicate: {type: Fp16AltImplRound}, library: {type: Single, index: 2}}
  - {predicate: {type: TruePred}, library: {type: Single, index: 0}}
END
} >hand.yaml
size='HHS N N 64 64 64 1 0 0 0 0 1 0'
printf '%s\n' "$size" "$size fp16_alt=1" "$size fp16_alt=2" "$size fp16_alt=3" >lines
ask() {
  "$BIN"/tuner-bench --library hand.yaml --select-only --arch gfx90a <lines |
    sed 's/.*"kernel":"\(K[0-9]\)".*/\1/' | paste -sd' ' -
}
echo "0 1 2 3: $(ask)"
for alt in 0 1 ''; do echo "ALT '$alt': $(ROCBLAS_INTERNAL_FP16_ALT_IMPL=$alt ask)"; done
for round in 0 1; do echo "RNZ '$round': $(ROCBLAS_INTERNAL_FP16_ALT_IMPL_RNZ=$round ask)"; done
echo "both 1: $(ROCBLAS_INTERNAL_FP16_ALT_IMPL=1 ROCBLAS_INTERNAL_FP16_ALT_IMPL_RNZ=1 ask)"
echo "ALT 0, RNZ 1: $(ROCBLAS_INTERNAL_FP16_ALT_IMPL=0 ROCBLAS_INTERNAL_FP16_ALT_IMPL_RNZ=1 ask)"
for word in fp16_alt=0 fp16_alt=4 fp16_alt=11; do
  echo "$size $word" | "$BIN"/tuner-bench --library hand.yaml --select-only --arch gfx90a; echo "exit $?"
done
echo "--- calls and their log"
cat >c.yaml <<'END'
GlobalParameters: {SyncsPerBenchmark: 1, SleepPercent: 0, PrintLevel: 0}
BenchmarkProblems:
  - - {OperationType: GEMM, DataType: h, HighPrecisionAccumulate: True, TransposeB: False, Batched: True}
    - ForkParameters: [{ThreadTile: [[8, 4]]}, {WorkGroup: [[4, 8, 1]]}, {DepthU: [16]}]
      BenchmarkFinalParameters: [ProblemSizes: [Exact: [16, 16, 1, 16]]]
LibraryLogic: {ScheduleName: host, DeviceNames: [host], ArchitectureName: x86-64-v2}
LibraryClient:
END
"$BIN"/tuner c.yaml out >log 2>&1 || cat log
for flags in 0 4 8 12 16; do
  TUNER_LAYER=6 "$BIN"/tuner-bench --library out -f gemm_ex --a_type f16_r --b_type f16_r --c_type f16_r --d_type f16_r \
    --compute_type f32_r -m 16 -n 16 -k 16 -i 1 -j 0 --flags $flags --math_mode 0 2>&1 | grep -o -e '--flags [0-9]*' -e 'flags: [0-9]*' \
    -e 'tuner-bench: .*' | sort -u | paste -sd' ' -
done
