# nvptx kernels with a ring of stages, one of every type and both layouts of both operands, through the compiler: all compile,
# none spills.
"$BIN/tuner-nvrtc" --version >/dev/null 2>why || { echo "skipped: $(cat why)"; exit; }
. "$DATA/program/ring_groups.sh"
{
  echo "BenchmarkProblems:"
  group "DataType: s" "WorkGroup: [8, 16, 1], ThreadTile: [8, 8], DepthU: 16, PrefetchGlobalRead: 3"
  group "DataType: z" "WorkGroup: [8, 8, 1], ThreadTile: [4, 4], DepthU: 8, PrefetchGlobalRead: 2"
  group "DataType: d" "MatrixInstruction: [16, 8, 8, 1, 1, 2, 4, 2, 2], DepthU: 16, PrefetchGlobalRead: 3"
  group "DataType: h, DestDataType: h, $sums" "MatrixInstruction: [16, 8, 16, 1, 1, 4, 8, 2, 2], DepthU: 32, PrefetchGlobalRead: 3"
  group "DataType: h, DestDataType: h, $sums" \
    "MatrixInstruction: [16, 8, 16, 1, 1, 2, 4, 4, 4], DepthU: 32, PrefetchGlobalRead: 2, GlobalReadVectorWidth: 1"
  group "DataType: b, DestDataType: b, $sums" "MatrixInstruction: [16, 8, 16, 1, 1, 2, 4, 2, 2], DepthU: 64, PrefetchGlobalRead: 3"
  group "DataType: s, F32XdlMathOp: x" "MatrixInstruction: [16, 8, 8, 1, 1, 2, 4, 2, 2], DepthU: 32, PrefetchGlobalRead: 2"
  group "DataType: I8, DestDataType: I, ComputeDataType: I, HighPrecisionAccumulate: True" \
    "MatrixInstruction: [16, 8, 32, 1, 1, 2, 4, 2, 2], DepthU: 64, PrefetchGlobalRead: 3"
  group "DataType: F8B8, DestDataType: B8, $sums" "MatrixInstruction: [16, 8, 32, 1, 1, 4, 8, 2, 2], DepthU: 64, PrefetchGlobalRead: 3"
  group "DataType: s" "WorkGroup: [8, 8, 4], ThreadTile: [4, 4], DepthU: 32, PrefetchGlobalRead: 2, EdgeType: ShiftPtr"
  group "DataType: s" "WorkGroup: [1, 32, 8], ThreadTile: [4, 4], DepthU: 64, PrefetchGlobalRead: 3, UnrollMajorLDSB: True" False-False
  group "DataType: d" "WorkGroup: [8, 16, 1], ThreadTile: [4, 4], DepthU: 16, PrefetchGlobalRead: 3, UnrollMajorLDSA: True,
      UnrollMajorLDSB: True" True-False
  group "DataType: h, DestDataType: h, $sums" \
    "MatrixInstruction: [16, 8, 16, 1, 1, 1, 2, 1, 1], WorkGroup: [16, 8, 4], DepthU: 128, PrefetchGlobalRead: 2"
  group "DataType: s, F32XdlMathOp: x" "MatrixInstruction: [16, 8, 8, 1, 1, 2, 4, 2, 2], DepthU: 32, PrefetchGlobalRead: 2,
      NvShift: True, NvRoundXF32: 2, EdgeType: ShiftPtr"
} >ring.yaml
"$BIN/tuner" --compile-only --arch sm_90 ring.yaml out >log 2>&1; code=$?
echo "exit $code, $("$BIN/tuner" status out | grep -c 'kernels: 1 compiled, 0 failed, 0 to do') groups"
grep -i spill log || echo "none spills"
