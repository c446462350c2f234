# nvptx kernels with a ring of stages that cannot be written, each with its reason; no compiler is asked.
. "$DATA/program/ring_groups.sh"
{
  echo "BenchmarkProblems:"
  along_k="NvRing: 1, UnrollMajorLDSA: True"
  group "DataType: s" "WorkGroup: [8, 16, 1], ThreadTile: [4, 4], DepthU: 16, PrefetchGlobalRead: 2, $along_k" "False-True True-False"
  group "DataType: s" "WorkGroup: [8, 8, 8], ThreadTile: [4, 4], DepthU: 16, PrefetchGlobalRead: 2, $along_k" True-True
  group "DataType: h, DestDataType: h, $sums" "MatrixInstruction: [16, 8, 16, 1, 1, 1, 2, 1, 1], DepthU: 64, $along_k" True-True
} >rejected.yaml
"$BIN/tuner" --list-solutions --reasons --arch sm_90 rejected.yaml 2>&1 | grep -v 'valid$\|duplicates$'
echo "--- without local memory"
direct="DirectToVgprA: True, DirectToVgprB: True"
{
  echo "BenchmarkProblems:"
  for row in "DirectToVgprA: True, WorkGroup: [8, 16, 1], ThreadTile: [4, 4], DepthU: 16" \
    "DirectToVgprB: True, NvRing: 0, WorkGroup: [8, 16, 1], ThreadTile: [4, 4], DepthU: 16" \
    "$direct, WorkGroup: [1, 1, 96], ThreadTile: [1, 2]" "$direct, WorkGroup: [1, 1, 64], ThreadTile: [1, 2], DepthU: 128" \
    "$direct, WorkGroup: [8, 1, 16], ThreadTile: [4, 1], VectorWidth: 2" "$direct, WorkGroup: [8, 1, 16], ThreadTile: [16, 8], DepthU: 256" \
    "$direct, WorkGroup: [16, 8, 8], ThreadTile: [8, 8], DepthU: 32, PrefetchGlobalRead: 0" \
    "$direct, WorkGroup: [8, 1, 16], ThreadTile: [4, 1], StaggerU: 32, StaggerUStride: 2048" "$direct, WorkGroup: [8, 1, 16], ThreadTile: [4, 1], NvRing: 1" \
    "$direct, WorkGroup: [8, 1, 16], ThreadTile: [4, 1], PrefetchGlobalRead: 3"; do group "DataType: s" "$row" False-False; done
  group "DataType: c" "$direct, WorkGroup: [8, 1, 16], ThreadTile: [2, 1], GlobalSplitU: 2" False-False
  group "DataType: h, DestDataType: h, $sums" "MatrixInstruction: [16, 8, 16, 1, 1, 1, 2, 1, 1], DepthU: 64, $direct" True-False
} >direct.yaml
"$BIN/tuner" --list-solutions --reasons --arch sm_90 direct.yaml 2>&1 | grep 'as in'
echo "--- few columns of wgmma"
{
  echo "BenchmarkProblems:"
  for mi in "8, 64, 16, 1, 1, 1, 1, 1, 1" "40, 64, 16, 1, 1, 1, 1, 1, 1" "72, 64, 16, 1, 1, 1, 1, 1, 1" "64, 72, 16, 1, 1, 1, 1, 1, 1"; do
    group "DataType: h, DestDataType: h, $sums" \
      "MatrixInstruction: [$mi], PersistentKernel: 1, PersistentKernelAlongBatch: True" True-False
  done
} >few.yaml
"$BIN/tuner" --list-solutions --reasons --arch sm_90a few.yaml 2>&1 | grep -e 'as in' -e ^Cijk
