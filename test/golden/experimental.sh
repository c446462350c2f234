# TENSILE_EXPERIMENTAL_SELECTION: selects rows of decision trees and of grids, as Tensile's host
# library does; the answers of that are in test/data/tensile/dtree. Words of problem lines: metric, xf32, cd beside gb.
mkdir -p logic/experimental/dtree
gzip -dc "$DATA/tensile/dtree/aldebaran_Cijk_Alik_Bljk_DB_dtree.yaml.gz" >logic/experimental/dtree/aldebaran_DB_dtree.yaml
"$BIN"/tuner-createlib --metadata-only --separate-architectures --lazy-library-loading logic lib HIP >log 2>&1 || cat log
cut -d' ' -f2- "$DATA/tensile/dtree/answers" >lines
cut -d' ' -f1 "$DATA/tensile/dtree/answers" >want
ask() {
  "$BIN"/tuner-bench --library lib/library --select-only --arch gfx90a --cus 104 <lines |
    sed 's/.*"best":null.*/-1/; s/.*"index":\([0-9]*\),.*/\1/'
}
for option in 2 02 0x2; do
  TENSILE_EXPERIMENTAL_SELECTION=$option ask >got
  echo "option $option: $(paste -d' ' want got | awk '$1 == $2' | wc -l) of $(wc -l <lines) as Tensile, $(grep -c -e -1 got) without"
done
for option in 0 1 3 dtree ''; do
  echo "option '$option': $(TENSILE_EXPERIMENTAL_SELECTION=$option ask | grep -c -e -1) without"
done
echo "unset: $(ask | grep -c -e -1) without"

# a library by hand: rows for the experimental metrics, for compute units, for xf32, for arrays of pointers
solution() { # index, math, strided batched
  cat <<END
- {name: K$1, index: $1, hardwarePredicate: {type: TruePred}, taskPredicate: {type: TruePred},
  problemPredicate: {type: And, value: [{type: F32XdlMathOp, value: $2}, {type: StridedBatched, value: $3}]},
  problemType: {operationIdentifier: Contraction_l_Ailk_Bljk_Cijk_Dijk, aType: Float, bType: Float, cType: Float,
    dType: Float, useBeta: true, highPrecisionAccumulate: false, f32XdlMathOp: $2, stridedBatched: $3},
  sizeMapping: {workGroup: [16, 16, 1], macroTile: [64, 64, 1], threadTile: [4, 4], depthU: 16, staggerU: 0,
    globalSplitU: 1, staggerStrideShift: 2, workGroupMapping: 8, persistentKernel: 0, persistentKernelAlongBatch: false,
    sourceKernel: true, globalAccumulation: 0, workspaceSizePerElemC: 0}}
END
}
{
  echo 'solutions:'
  for i in 0 1 2 3; do solution $i Float true; done
  solution 4 XFloat32 true; solution 5 Float false
  cat <<'END'
library:
  type: Problem
  rows:
  - {predicate: {type: ExperimentalGrid}, library: {type: Single, index: 0}}
  - {predicate: {type: ExperimentalDTree}, library: {type: Single, index: 1}}
  - {predicate: {type: F32XdlMathOp, value: XFloat32}, library: {type: Single, index: 4}}
  - {predicate: {type: StridedBatched, value: false}, library: {type: Single, index: 5}}
  - {predicate: {type: CUEfficiency}, library: {type: Single, index: 2}}
  - {predicate: {type: TruePred}, library: {type: Single, index: 3}}
END
} >hand.yaml
size='64 64 64 1 0 0 0 0 1 0'
printf '%s\n' "S N N $size" "S N N $size metric=cu" "S N N $size metric=device" "S N N 4000 4000 4000 1 0 0 0 0 1 0" \
  "S N N 4000 4000 4000 1 0 0 0 0 1 0 metric=cu" "S N N $size xf32=1" "S N N $size gb=1" \
  "S N N $size cd=1 gb=1 metric=cu xf32=1" >lines
for option in 0 1 2; do
  echo "option $option: $(TENSILE_EXPERIMENTAL_SELECTION=$option "$BIN"/tuner-bench --library hand.yaml --select-only \
    --arch gfx90a --cus 104 <lines | sed 's/.*"kernel":"\(K[0-9]\)".*/\1/' | paste -sd' ' -)"
done
hex() { # D, C, A, B of the launch
  echo "S N N $size $1" | "$BIN"/tuner-bench --library hand.yaml --select-only --launches --arch gfx90a --cus 104 |
    sed 's/.*"hex":"\([0-9a-f]*\)".*/\1/' | cut -c1-64 | fold -w 16
}
hex gb=1; echo; hex 'cd=1 gb=1'; echo
for words in 'metric=fast' 'xf32=2' 'cd=1 gb=1 xf32=1 metric=cu metric=cu metric=cu'; do
  echo "S N N $size $words" | "$BIN"/tuner-bench --library hand.yaml --select-only --arch gfx90a --cus 104; echo "exit $?"
done
