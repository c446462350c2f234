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
