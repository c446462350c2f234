#!/bin/sh
# library.sh NAME...: a benchmark library (YAML) of f32 NN solutions with these kernel names, 16 x 16 tiles of 16 threads;
# A_B=Alik_Bljk: of other operands; IN=Int8x4 IN_B=Int8x4 OUT=Int32 HPA=true: of other types;
# TILES="pattern=tile ...": those whose name holds the pattern have such square tiles of 256 threads.
echo "---"
echo "library:"
echo "  rows:"
i=0
for name in "$@"; do
  echo "  - {library: {index: $i, type: Single}, predicate: {type: TruePred}}"
  i=$((i+1))
done
echo "  type: Problem"
echo "solutions:"
i=0
for name in "$@"; do
tile=16 threads=4
for t in $TILES; do
  case $name in *"${t%=*}"*) tile=${t#*=} threads=16 ;; esac
done
cat <<END
- debugKernel: false
  hardwarePredicate: {type: TruePred}
  ideals: {}
  index: $i
  linearModel: {}
  name: $name
  problemPredicate:
    type: And
    value:
    - {type: OperationIdentifierEqual, value: Contraction_l_${A_B:-Ailk_Bljk}_Cijk_Dijk}
    - {type: StridedBatched, value: true}
    - {type: TypesEqual, value: [${IN:-Float}, ${IN_B:-${IN:-Float}}, ${OUT:-Float}, ${OUT:-Float}]}
    - {type: HighPrecisionAccumulate, value: ${HPA:-false}}
    - {index: 0, type: Free0SizeMultiple, value: ${MULTIPLE:-1}}
  problemType: {aType: ${IN:-Float}, bType: ${IN_B:-${IN:-Float}}, cType: ${OUT:-Float}, dType: ${OUT:-Float}, highPrecisionAccumulate: ${HPA:-false},
    operationIdentifier: Contraction_l_${A_B:-Ailk_Bljk}_Cijk_Dijk, stridedBatched: true, useBeta: true, useInitialStridesAB: false,
    useInitialStridesCD: false}
  sizeMapping: {depthU: 8, globalAccumulation: 0, globalSplitU: 1, macroTile: [$tile, $tile, 1], magicDivAlg: 2, packBatchDims: 0,
    packSummationDims: 0, persistentKernel: 0, persistentKernelAlongBatch: false, sourceKernel: true, staggerStrideShift: 0,
    staggerU: 0, threadTile: [$((tile/threads)), $((tile/threads)), 1], workGroup: [$threads, $threads, 1], workGroupMapping: 1, workspaceSizePerElemC: 0}
  taskPredicate: {type: TruePred}
END
i=$((i+1))
done
echo "..."
