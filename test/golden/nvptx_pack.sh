# PackOperands: which kernels by wgmma need copies of A or B, each reason; names; what the program says of a copy. No compiler
# is asked.
. "$DATA/program/ring_groups.sh"
persistent="PersistentKernel: 1, PersistentKernelAlongBatch: True"
config() { # type, K, value of PackOperands, transposes
  {
    echo "BenchmarkProblems:"
    group "$1" "MatrixInstruction: [128, 64, $2, 1, 1, 1, 1, 1, 2], PackOperands: $3, $persistent" "$4"
  } >pack.yaml
}
list() { echo "--- $*"; config "$@"; "$BIN/tuner" --list-solutions --reasons --arch sm_90a pack.yaml 2>&1 | grep -v 'duplicates$\|^of the'; }
tf32="DataType: s, F32XdlMathOp: x" int8="DataType: I8, DestDataType: I, ComputeDataType: I, HighPrecisionAccumulate: True"
for trans in False-False False-True True-False True-True; do
  for value in 0 1 2 3; do list "$tf32" 8 $value $trans; done
done
list "$int8" 32 1 False-False
list "$int8" 32 0 False-False
list "DataType: h, DestDataType: h, $sums" 16 0 False-True
list "DataType: h, DestDataType: h, $sums" 16 3 False-True
list "$tf32" 8 4 True-False
echo "--- not for kernels without the copy engine"
{
  echo "BenchmarkProblems:"
  group "DataType: h, DestDataType: h, $sums" "MatrixInstruction: [16, 8, 16, 1, 1, 2, 4, 2, 2], DepthU: 32, NvRing: 1, PackOperands: 1" False-False
} >pack.yaml
"$BIN/tuner" --list-solutions --reasons --arch sm_90a pack.yaml 2>&1 | grep -v 'duplicates$\|^of the'
echo "--- names and programs"
for trans in False-False False-True True-True; do
  config "$tf32" 8 3 $trans
  "$BIN/tuner" --list-solutions --names --arch sm_90a pack.yaml 2>&1 | grep -o '_PO[0-9]_' | head -1
  "$BIN/tuner" --dump-program --arch sm_90a pack.yaml | sed -n 's/^tile %[ab] : .*view \(.*\) | .* | .*/\1/p'
  "$BIN/tuner" --dump-program=check --arch sm_90a pack.yaml | grep 'same kernel'
done
