#!/bin/sh
# device_conv.sh [--compile-only] OUT: convolutions of all directions, four formats and groups on a device, every element compared with the reference,
# with NaN behind the tensors; loads of one element and of vectors; NVIDIA: with and without a ring of stages,
# with parts of K. Prints the tuner's last line and how many results are wrong. --compile-only makes and compiles the kernels, and
# needs no device; a later call with the same OUT takes them.
#
# Environment: TUNER (build/bin/tuner), DEVICE (cuda; hip, host), ARCH (sm_90; as ArchitectureName). Exit code 1: a result is wrong
# or a kernel did not run.
set -e
compile=
[ "$1" != --compile-only ] || { compile=1; shift; }
[ $# = 1 ] || { echo "usage: device_conv.sh [--compile-only] OUT" >&2; exit 2; }
root=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1"
out=$(cd "$1" && pwd)
bin=$root/build/bin; [ -d "$bin" ] || bin=${root%/share/tuner}/bin # installed
tuner=${TUNER:-$bin/tuner} device=${DEVICE:-cuda} arch=${ARCH:-sm_90} forks=
[ -x "$tuner" ] || { echo "device_conv.sh: there is no '$tuner'" >&2; exit 2; }
case $device in
  host)
    tiles="WorkGroup: [[4, 8, 1]], DepthU: [16, 64]" wide=
    forks="Groups: [[{ThreadTile: [8, 4], VectorWidth: 4, HostKeepB: 0}, {ThreadTile: [16, 6], VectorWidth: 8, HostKeepB: 1},
        {ThreadTile: [32, 6], VectorWidth: 16, HostKeepB: 3}]]";; # vectors of 16 need AVX-512
  cuda) tiles="WorkGroup: [[16, 16, 1]], ThreadTile: [[4, 4]], DepthU: [16], PrefetchGlobalRead: [1], NvRing: [0], StaggerU: [0, 4]" wide=1
    ring_s="NvRing: [1], WorkGroup: [[16, 8, 1]], ThreadTile: [[8, 4]], DepthU: [8], PrefetchGlobalRead: [2], StaggerU: [0, 4]"
    ring_h="NvRing: [1], MatrixInstruction: [[16, 8, 16, 1, 1, 2, 4, 2, 2]], DepthU: [32], PrefetchGlobalRead: [3], StaggerU: [0]";;
  *) tiles="WorkGroup: [[16, 16, 1]], ThreadTile: [[4, 4]], DepthU: [16], PrefetchGlobalRead: [1]" wide=1;;
esac
ring_s=${ring_s-} ring_h=${ring_h-}
split=GlobalSplitUAlgorithm
parts="Groups: [[{GlobalSplitU: 3, $split: MultipleBuffer}, {GlobalSplitU: 4, $split: SingleBuffer},
        {GlobalSplitU: 2, $split: MultipleBufferSingleKernel}]]"
filter_of() { case $1 in NCHW) echo KCYX;; NHWC) echo KYXC;; CNHW) echo CKYX;; *) echo CYXK;; esac; }

# problem TYPES DIRECTION IMAGE TILES PARAMETERS: one problem type with the sizes below
problem() {
  image=$3 filter=$(filter_of "$3")
  case $2 in Weights) formats="$image $image $filter"; op=BackwardWeights;; *) formats="$image $filter $image"; op=$2;; esac
  set -- "$1" "$op" "$4" "$5" $formats
  echo "  - - {OperationType: Convolution$2, $1, ConvolutionConfig: [{TensorAFormat: $5}, {TensorBFormat: $6}, {TensorDFormat: $7},"
  echo "       {Filter: NxN}, {Stride: NxN}, {Dilation: NxN}, {PadStart: NxN}, {PadEnd: NxN}, {GroupCount: N}, {PackedSpatialDims: 0}]}"
  cat <<END
    - BenchmarkCommonParameters: [EdgeType: [ShiftPtr], $3]
      ForkParameters: [$4]
      BenchmarkFinalParameters:
        - ProblemSizes:
          - Conv: {n: 4, c: 64, k: 64, h: 28, w: 28, y: 3, x: 3, u: 1, v: 1, l: 1, j: 1, p: 1, q: 1, p_: 1, q_: 1, g: 1}
          - Conv: {n: 3, c: 32, k: 64, h: 29, w: 27, y: 3, x: 3, u: 2, v: 2, l: 1, j: 1, p: 1, q: 1, p_: 1, q_: 1, g: 1}
          - Conv: {n: 2, c: 16, k: 24, h: 20, w: 22, y: 3, x: 2, u: 1, v: 1, l: 2, j: 2, p: 2, q: 0, p_: 1, q_: 2, g: 1}
          - Conv: {n: 2, c: 8, k: 24, h: 31, w: 43, y: 5, x: 5, u: 4, v: 3, l: 1, j: 1, p: 2, q: 2, p_: 2, q_: 2, g: 1}
          - Conv: {n: 2, c: 64, k: 32, h: 14, w: 14, y: 3, x: 3, u: 1, v: 1, l: 1, j: 1, p: 1, q: 1, p_: 1, q_: 1, g: 8}
          - Conv: {n: 5, c: 32, k: 48, h: 13, w: 17, y: 1, x: 1, u: 1, v: 1, l: 1, j: 1, p: 0, q: 0, p_: 0, q_: 0, g: 1}
END
}
{
  echo "GlobalParameters: {NumElementsToValidate: -1, BoundsCheck: 1, EnqueuesPerSync: 1, SyncsPerBenchmark: 1}"
  echo "BenchmarkProblems:"
  set -- "DataType: s" "DataType: h, DestDataType: h, ComputeDataType: s, HighPrecisionAccumulate: True"
  [ "$device" != host ] || set -- "$@" "DataType: d"
  for types; do
    case $types in "DataType: h"*) ring=$ring_h;; *) ring=$ring_s;; esac
    for direction in Forward BackwardData Weights; do
      for image in NCHW NHWC CNHW CHWN; do
        problem "$types" $direction $image "$tiles" "${wide:+GlobalReadVectorWidth: [1], VectorWidth: [1]}$forks"
        [ -z "$ring" ] || problem "$types" $direction $image "$ring" "GlobalReadVectorWidth: [1]"
      done
      [ -z "$ring" ] || problem "$types" $direction NHWC "$ring" "GlobalReadVectorWidth: [4]"
      [ -z "$ring" ] || problem "$types" $direction NHWC "$ring" "GlobalReadVectorWidth: [4], $parts"
      [ -z "$ring" ] || problem "$types" $direction NCHW "$tiles" "GlobalReadVectorWidth: [1], VectorWidth: [1], $parts"
      more=", AssertFree0ElementMultiple: [4]"
      case $direction in Forward) more=;; BackwardData) continue;; esac # whose vectors need a multiple of W
      [ -z "$wide" ] || problem "$types" $direction NHWC "$tiles" "GlobalReadVectorWidth: [4], VectorWidth: [4]$more"
    done
  done
  echo "LibraryLogic: {ScheduleName: conv, DeviceNames: [Device 0], ArchitectureName: $arch}"
} >"$out/conv.yaml"
if [ -n "$compile" ]; then
  "$tuner" --compile-only --arch "$arch" "$out/conv.yaml" "$out/run" >"$out/log" 2>&1 || { tail -5 "$out/log"; exit 1; }
  tail -1 "$out/log"
  exit 0
fi
"$tuner" --device "$device" "$out/conv.yaml" "$out/run" >"$out/log" 2>&1 || { tail -5 "$out/log"; exit 1; }
grep -E "wrong, " "$out/log" | tail -1
grep -q " 0 wrong, 0 crashed" "$out/log"
