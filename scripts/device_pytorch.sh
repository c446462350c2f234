#!/bin/sh
# device_pytorch.sh OUT [OPTION...]: tunes a small library of f16, bf16 and f32 in all four transposes on the device that is here and runs
# test/conformance/pytorch.py with it: scripts/tuner.py on PyTorch's tensors, results checked and times printed beside torch.matmul.
# Options are pytorch.py's. With DEVICE=host f16 and f32 run on numpy's arrays.
#
# Environment: TUNER (build/bin/tuner), DEVICE (cuda), PYTHON (python3), LIMIT (seconds for the tuning, 240).
# Exit codes are pytorch.py's; 2 where the library could not be made.
set -e
[ $# -ge 1 ] || { echo "usage: device_pytorch.sh OUT [OPTION...]" >&2; exit 2; }
root=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1"
out=$(cd "$1" && pwd)
shift
tuner=${TUNER:-$root/build/bin/tuner}
device=${DEVICE:-cuda} limit=${LIMIT:-240}
[ -x "$tuner" ] || { echo "device_pytorch.sh: there is no '$tuner'" >&2; exit 2; }
arch=host
[ "$device" = host ] || arch=$("$(dirname "$tuner")/tuner-client" --list-devices | sed -n "s/^$device 0: .*, \(sm_[0-9a-z]*\|gfx[0-9a-f]*\), .*/\1/p")
[ "$arch" != sm_90 ] || arch=sm_90a # which this device runs too, and which has wgmma
[ -n "$arch" ] || { echo "device_pytorch.sh: there is no device of kind '$device'" >&2; exit 2; }

# Kernels for aligned operands and for any; the second are of every size's candidates.
simt="{WorkGroup: [16, 16, 1], ThreadTile: [4, 4], DepthU: 16, StaggerU: 0, NvRing: 0, PrefetchGlobalRead: 1}"
half="DestDataType: %s, ComputeDataType: s, HighPrecisionAccumulate: True"
large=4096
[ $arch != host ] || large=320
case $arch in
  host) types="h s" any="{ThreadTile: [8, 2], WorkGroup: [4, 8, 1], DepthU: 32}" fast= ;;
  sm_90a) types="h b s" any=$simt fast=", {MatrixInstruction: [64, 128, 16, 1, 1, 1, 1, 2, 1], DepthU: 64, PersistentKernel: 1, PersistentKernelAlongBatch: True, StaggerU: 0}" ;;
  *) types="h b s" any=$simt fast= ;;
esac
{
  echo "GlobalParameters: {NumElementsToValidate: -1, DataInitTypeAlpha: 2, DataInitTypeBeta: 2}"
  echo "BenchmarkProblems:"
  for type in $types; do
    of="DataType: $type" more=
    # shellcheck disable=SC2059
    [ $type = s ] || of="$of, $(printf "$half" $type)" more=$fast
    for a in False True; do
      for b in False True; do
        cat <<END
  -
    - {OperationType: GEMM, $of, TransposeA: $a, TransposeB: $b, UseBeta: True, Batched: True}
    - ForkParameters:
        - Groups:
          - [$any$more]
      BenchmarkFinalParameters:
        - ProblemSizes:
          - Exact: [256, 256, 1, 256]
          - Exact: [$large, $large, 1, $large]
          - Exact: [130, 71, 2, 45]
END
      done
    done
  done
  echo "LibraryLogic: {ScheduleName: pytorch, DeviceNames: [Device 0], ArchitectureName: $arch}"
  echo "LibraryClient:"
} >"$out/config.yaml"
timeout "$limit" "$tuner" --device "$device" --arch "$arch" "$out/config.yaml" "$out/tuned" >"$out/log" 2>&1 ||
  { tail -5 "$out/log" >&2; echo "device_pytorch.sh: no library: '$tuner' failed" >&2; exit 2; }
[ "$device" != host ] || set -- --numpy --types f16,f32 "$@"
exec "${PYTHON:-python3}" "$root/test/conformance/pytorch.py" "$out/tuned/4_LibraryClient/library" "$@"
