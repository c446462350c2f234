#!/bin/sh
# device_conformance.sh OUT [FAMILY...]: checks kernels of every family and data type on the NVIDIA GPU that is here, each
# element of D, and under compute-sanitizer. Families: simt (ring of stages, FFMA), mma (ring, mma.sync), wgmma (copy engine;
# with it lag: the same with ConsumerLag, and pack: with copied operands, any leading dimension and address), direct (no local memory), register (NvRing
# 0); or a part of one, by its name in runs() below.
#
# It runs these steps, each bounded by a time limit:
#   1. tuner makes and runs a few kernels of every data type and all transposes (conjugates too) on sizes around the tile:
#      GlobalSplitU both ways, StaggerU, PersistentKernel, LocalSplitU, EdgeType, NonTemporal, more than 48 KiB of shared memory;
#   2. tuner-client runs all of them again on other scalars (beta 0 with C full of NaN; alpha 0), with operands that start
#      1 to 5 elements into their buffers, with C and D in one buffer; D is poisoned, what is around operands is NaN;
#   3. the same kernels for arrays of pointers (StridedBatched False): tuner-createlib, then tuner-bench gemm_batched;
#   4. compute-sanitizer (memcheck, racecheck, initcheck, synccheck) over tuner-bench, which runs in its own process.
# Writes OUT/conformance.csv (for test/bench/results/h200) and prints it as a table. Exit code 1: something failed.
# --list in place of OUT prints run, type, transposes and the tools that check them, and needs no GPU.
# --compile-only OUT [FAMILY...] makes and compiles the kernels of step 1 for ARCH (sm_90) and ends; it needs no GPU. A later
# call with the same OUT, here or copied to a machine with a GPU and the same compiler, takes the compiled kernels.
#
# Environment: TUNER (build/bin/tuner), TUNER_CLIENT TUNER_BENCH TUNER_LOGIC TUNER_CREATELIB (beside it), JOBS (processors),
# STEPS (1: the first step alone), SANITIZER (compute-sanitizer of the path or /usr/local/cuda/bin; "" none), TOOLS (of it), LIMIT (seconds of a step, 240).
set -e
[ $# -ge 1 ] || { echo "usage: device_conformance.sh [--compile-only] OUT|--list [simt|mma|wgmma|lag|pack|direct|register|register_int...]..." >&2; exit 2; }
root=$(cd "$(dirname "$0")/.." && pwd)
list= out= compile=
[ "$1" != --compile-only ] || { compile=1; shift; }
case $1 in --list) list=1;; *) mkdir -p "$1"; out=$(cd "$1" && pwd);; esac
shift
[ $# -gt 0 ] || set -- simt mma wgmma direct register
families=$*
case " $families " in *" wgmma "*) families="$families lag pack";; esac
. "$root/scripts/bench_words.sh"
bin=$root/build/bin; [ -d "$bin" ] || bin=${root%/share/tuner}/bin # installed
tuner=${TUNER:-$bin/tuner}
bin=$(dirname "$tuner")
client=${TUNER_CLIENT:-$bin/tuner-client} bench=${TUNER_BENCH:-$bin/tuner-bench}
logic=${TUNER_LOGIC:-$bin/tuner-logic} createlib=${TUNER_CREATELIB:-$bin/tuner-createlib}
jobs=${JOBS:-$(nproc)} limit=${LIMIT:-240}
PATH=$PATH:/usr/local/cuda/bin
sanitizer=${SANITIZER-$(command -v compute-sanitizer || true)}
tools=${TOOLS:-memcheck racecheck initcheck synccheck}

# ---- what is run ----

# name, problem type
types() {
  sums="ComputeDataType: s, HighPrecisionAccumulate: True"
  cat <<EOF
S|DataType: s
D|DataType: d
C|DataType: c
Z|DataType: z
HHS|DataType: h, DestDataType: h, $sums
HSS|DataType: h, DestDataType: s, $sums
BBS|DataType: b, DestDataType: b, $sums
BSS|DataType: b, DestDataType: s, $sums
I8II|DataType: I8, DestDataType: I, ComputeDataType: I, HighPrecisionAccumulate: True
X|DataType: s, F32XdlMathOp: x
H|DataType: h
F8SS|DataType: F8, DestDataType: s, $sums
B8SS|DataType: B8, DestDataType: s, $sums
F8B8SS|DataType: F8B8, DestDataType: s, $sums
B8F8SS|DataType: B8F8, DestDataType: s, $sums
F8F8S|DataType: F8, DestDataType: F8, $sums
F8HS|DataType: F8, DestDataType: h, $sums
4xi8II|DataType: 4xi8, DestDataType: I, ComputeDataType: I, HighPrecisionAccumulate: True
EOF
}

# The same with vectors along K of the operands that have them so in memory; others are rejected.
along_k() { # thread tile
  for which in "UnrollMajorLDSA: True" "UnrollMajorLDSB: True" "UnrollMajorLDSA: True, UnrollMajorLDSB: True"; do cat <<EOF
WorkGroup: [8, 16, 1], $1, DepthU: 16, PrefetchGlobalRead: 2, $which
WorkGroup: [1, 32, 8], $1, DepthU: 32, PrefetchGlobalRead: 2, PrefetchLocalRead: 0, EdgeType: ShiftPtr, $parts, $which
EOF
  done
}

# Kernels of a family and type, one a line: names and values of parameters.
kernels() {
  atomic="GlobalSplitU: 3, GlobalSplitUAlgorithm: SingleBuffer" parts="GlobalSplitU: 2, GlobalSplitUAlgorithm: MultipleBuffer"
  across="PersistentKernel: 1, PrefetchAcrossPersistent: 1" once="GlobalSplitU: 3, GlobalSplitUAlgorithm: MultipleBufferSingleKernel"
  case $1:$2 in
    simt:[SD]) tile="ThreadTile: [4, 4]"; [ "$2" = S ] || tile="ThreadTile: [4, 2]"
      cat <<EOF
WorkGroup: [8, 16, 1], $tile, DepthU: 16, PrefetchGlobalRead: 2
WorkGroup: [8, 8, 1], $tile, DepthU: 8, PrefetchGlobalRead: 3, $atomic
WorkGroup: [16, 16, 1], $tile, DepthU: 16, PrefetchGlobalRead: 1, $parts, StaggerU: 4
WorkGroup: [16, 16, 1], $tile, DepthU: 32, PrefetchGlobalRead: 6, WorkGroupMapping: 3
WorkGroup: [8, 16, 1], $tile, DepthU: 8, PrefetchGlobalRead: 2, GlobalReadVectorWidth: 1, PrefetchLocalRead: 0
WorkGroup: [8, 16, 1], $tile, DepthU: 16, PrefetchGlobalRead: 2, GlobalReadVectorWidth: 1, EdgeType: ShiftPtr
WorkGroup: [8, 8, 2], $tile, DepthU: 16, PrefetchGlobalRead: 2
WorkGroup: [8, 8, 4], $tile, DepthU: 32, PrefetchGlobalRead: 1, EdgeType: ShiftPtr, $parts
WorkGroup: [8, 16, 1], $tile, DepthU: 16, PrefetchGlobalRead: 3, EdgeType: ShiftPtr, $across, PersistentKernelAlongBatch: True
WorkGroup: [8, 8, 2], $tile, DepthU: 16, PrefetchGlobalRead: 2, GlobalReadVectorWidth: 1, $across, $once
EOF
      along_k "$tile"
      ;;
    simt:*) tile="ThreadTile: [4, 4]"; [ "$2" = C ] || tile="ThreadTile: [2, 4]"
      cat <<EOF
WorkGroup: [8, 16, 1], $tile, DepthU: 16, PrefetchGlobalRead: 2
WorkGroup: [8, 8, 1], $tile, DepthU: 8, PrefetchGlobalRead: 3, $parts, StaggerU: 4
WorkGroup: [16, 16, 1], $tile, DepthU: 16, PrefetchGlobalRead: 3, WorkGroupMapping: 3
WorkGroup: [8, 8, 2], $tile, DepthU: 16, PrefetchGlobalRead: 2, EdgeType: ShiftPtr
WorkGroup: [8, 16, 1], $tile, DepthU: 16, PrefetchGlobalRead: 2, $across, PersistentKernelAlongBatch: True
EOF
      along_k "$tile"
      ;;
    mma:[FB]8*) mi="16, 8, 32"
      cat <<EOF
MatrixInstruction: [$mi, 1, 1, 2, 4, 2, 2], DepthU: 64, PrefetchGlobalRead: 2, StaggerU: 4
MatrixInstruction: [$mi, 1, 1, 2, 4, 1, 1], WorkGroup: [16, 8, 2], DepthU: 128, PrefetchGlobalRead: 1, EdgeType: ShiftPtr, $atomic
MatrixInstruction: [$mi, 1, 1, 4, 4, 2, 2], DepthU: 64, PrefetchGlobalRead: 3, GlobalReadVectorWidth: 1, $parts
EOF
      ;;
    mma:*) mi="16, 8, 16"; deep=64; flat=32
      case $2 in D) mi="16, 8, 8"; deep=32; flat=16;; X) mi="16, 8, 8"; deep=32; flat=16;; I8II) mi="16, 8, 32"; deep=128; flat=64;; esac
      cat <<EOF
MatrixInstruction: [$mi, 1, 1, 2, 4, 2, 2], DepthU: $flat, PrefetchGlobalRead: 2
MatrixInstruction: [$mi, 1, 1, 2, 4, 1, 2], DepthU: $deep, PrefetchGlobalRead: 3, $parts
MatrixInstruction: [$mi, 1, 1, 2, 4, 2, 1], DepthU: $flat, PrefetchGlobalRead: 1, $atomic, StaggerU: 4
MatrixInstruction: [$mi, 1, 1, 2, 4, 2, 2], DepthU: $flat, PrefetchGlobalRead: 2, GlobalReadVectorWidth: 1, WorkGroupMapping: 3
MatrixInstruction: [$mi, 1, 1, 2, 4, 2, 2], DepthU: $flat, PrefetchGlobalRead: 2, GlobalReadVectorWidth: 1, EdgeType: ShiftPtr
MatrixInstruction: [$mi, 1, 1, 1, 2, 1, 2], WorkGroup: [16, 8, 2], DepthU: $deep, PrefetchGlobalRead: 3
MatrixInstruction: [$mi, 1, 1, 1, 2, 1, 1], WorkGroup: [16, 8, 4], DepthU: $((2 * deep)), PrefetchGlobalRead: 1, EdgeType: ShiftPtr, $atomic
MatrixInstruction: [$mi, 1, 1, 2, 4, 2, 1], DepthU: $flat, PrefetchGlobalRead: 3, $across, PersistentKernelAlongBatch: True
MatrixInstruction: [$mi, 1, 1, 2, 4, 1, 1], DepthU: $flat, PrefetchGlobalRead: 2, GlobalReadVectorWidth: 1, $across, $once
EOF
      case $2 in D) cat <<EOF
MatrixInstruction: [16, 8, 4, 1, 1, 2, 4, 2, 2], DepthU: 16, PrefetchGlobalRead: 2
MatrixInstruction: [16, 8, 16, 1, 1, 2, 4, 2, 2], DepthU: 32, PrefetchGlobalRead: 2, PrefetchLocalRead: 1
MatrixInstruction: [8, 8, 4, 1, 1, 4, 4, 2, 2], DepthU: 16, PrefetchGlobalRead: 2
EOF
      ;;
      X) cat <<EOF
MatrixInstruction: [$mi, 1, 1, 2, 4, 2, 2], DepthU: $deep, PrefetchGlobalRead: 2, NvShift: True
MatrixInstruction: [$mi, 1, 1, 2, 4, 2, 2], DepthU: $deep, PrefetchGlobalRead: 2, NvShift: True, EdgeType: ShiftPtr, NvRoundXF32: 2
MatrixInstruction: [$mi, 1, 1, 1, 2, 1, 2], WorkGroup: [16, 8, 2], DepthU: $deep, PrefetchGlobalRead: 3, NvShift: True, $parts
MatrixInstruction: [$mi, 1, 1, 2, 4, 2, 2], DepthU: $flat, PrefetchGlobalRead: 2, NvRoundXF32: 0
EOF
      esac;;
    wgmma:*) k=16; case $2 in X) k=8;; I8II | [FB]8*) k=32;; esac
      sed "s/, K, /, $k, /; /PersistentKernel/!s/\$/, PersistentKernel: 1, PersistentKernelAlongBatch: True/" <<EOF
MatrixInstruction: [256, 64, K, 1, 1, 1, 1, 1, 2]
MatrixInstruction: [256, 64, K, 1, 1, 1, 1, 1, 2], ClusterM: 2, WorkGroupMapping: -4
MatrixInstruction: [64, 256, K, 1, 1, 1, 1, 2, 1], ClusterN: 2, WorkGroupMapping: 3
MatrixInstruction: [64, 128, K, 1, 1, 1, 1, 2, 1], ClusterM: 2, ClusterN: 2
MatrixInstruction: [128, 64, K, 1, 1, 1, 2, 1, 1], ConsumerSchedule: PingPong, StaggerU: 4
MatrixInstruction: [64, 64, K, 1, 1, 1, 1, 1, 1], ConsumerSchedule: PingPong, EngineStore: False
MatrixInstruction: [64, 64, K, 1, 1, 1, 1, 1, 1], ConsumerSchedule: PingPong, ClusterN: 4, SourceSwap: True
MatrixInstruction: [64, 64, K, 1, 1, 1, 1, 2, 1], ClusterM: 4, ClusterN: 2
MatrixInstruction: [128, 64, K, 1, 1, 1, 1, 1, 1], ConsumerSchedule: PingPong, ClusterM: 2, ClusterN: 4
MatrixInstruction: [64, 32, K, 1, 1, 1, 1, 1, 1], RingStages: 8
MatrixInstruction: [192, 64, K, 1, 1, 1, 1, 1, 3]
MatrixInstruction: [128, 64, K, 1, 1, 1, 1, 1, 2], $parts, DependentLaunch: True
MatrixInstruction: [64, 64, K, 1, 1, 1, 1, 2, 1], $parts, EngineStore: False
MatrixInstruction: [64, 72, K, 1, 1, 1, 1, 1, 1]
MatrixInstruction: [64, 192, K, 1, 1, 1, 1, 1, 1], EngineStore: False
MatrixInstruction: [128, 64, K, 1, 1, 1, 1, 1, 2], ClusterK: 4, DependentLaunch: True
MatrixInstruction: [64, 64, K, 1, 1, 1, 1, 2, 1], ClusterK: 2, ClusterM: 2, ClusterN: 2
MatrixInstruction: [64, 128, K, 1, 1, 1, 1, 1, 1], ClusterK: 8, DependentLaunch: True
MatrixInstruction: [128, 64, K, 1, 1, 1, 1, 1, 2], GlobalSplitU: 3, GlobalSplitUAlgorithm: MultipleBufferSingleKernel, DependentLaunch: True
MatrixInstruction: [64, 128, K, 1, 1, 1, 1, 2, 1], StreamK: 1, PersistentKernel: 0
MatrixInstruction: [64, 64, K, 1, 1, 1, 1, 2, 1], StreamK: 2, PersistentKernel: 0, ClusterM: 2, ClusterN: 2, DependentLaunch: True
MatrixInstruction: [128, 64, K, 1, 1, 1, 1, 1, 1], StreamK: 3, PersistentKernel: 0, ConsumerSchedule: PingPong
MatrixInstruction: [8, 64, K, 1, 1, 1, 1, 1, 1]
MatrixInstruction: [16, 64, K, 1, 1, 1, 1, 1, 2], $parts
MatrixInstruction: [24, 64, K, 1, 1, 1, 2, 1, 1], EngineStore: False
MatrixInstruction: [64, 8, K, 1, 1, 1, 1, 1, 1]
MatrixInstruction: [64, 16, K, 1, 1, 2, 1, 1, 1], ClusterN: 2
EOF
      case $2 in [FB]8*) sed 's/$/, PromotionSets: 2, PersistentKernel: 1, PersistentKernelAlongBatch: True/' <<EOF
MatrixInstruction: [64, 64, 32, 1, 1, 1, 1, 1, 1], ClusterN: 2
MatrixInstruction: [128, 64, 32, 1, 1, 1, 1, 1, 1], ConsumerSchedule: PingPong
EOF
      esac
      # one operand through registers, the other one copied where its K is strided
      [ "$2" != X ] || sed 's/$/, RowsFromRegisters: True, PersistentKernel: 1, PersistentKernelAlongBatch: True/' <<EOF
MatrixInstruction: [64, 128, 8, 1, 1, 2, 1, 2, 1], PackOperands: 2, DependentLaunch: True
MatrixInstruction: [64, 128, 8, 1, 1, 1, 1, 1, 1], PackOperands: 2, ConsumerSchedule: PingPong, StaggerU: 4
MatrixInstruction: [64, 64, 8, 1, 1, 2, 1, 2, 1], PackOperands: 2, ClusterM: 2, ClusterN: 2, DepthU: 64
MatrixInstruction: [64, 72, 8, 1, 1, 1, 1, 1, 1], PackOperands: 2, ClusterK: 4
MatrixInstruction: [64, 64, 8, 1, 1, 1, 1, 2, 1], PackOperands: 2, $parts, DependentLaunch: True
MatrixInstruction: [128, 64, 8, 1, 1, 1, 1, 1, 2], PackOperands: 1
MatrixInstruction: [16, 64, 8, 1, 1, 1, 2, 1, 1], PackOperands: 1, EngineStore: False
EOF
      ;;
    lag:*) k=16; case $2 in X) k=8;; I8II) k=32;; esac
      sed "s/, K, /, $k, /; /PersistentKernel/!s/\$/, PersistentKernel: 1, PersistentKernelAlongBatch: True/" <<EOF
MatrixInstruction: [256, 64, K, 1, 1, 1, 1, 1, 2], ConsumerLag: 3
MatrixInstruction: [64, 64, K, 1, 1, 1, 1, 2, 1], ConsumerLag: 1, $parts
MatrixInstruction: [64, 128, K, 1, 1, 1, 1, 2, 1], ConsumerLag: 2, ClusterM: 2, EngineStore: False, DependentLaunch: True
MatrixInstruction: [64, 64, K, 1, 1, 1, 2, 1, 2], ConsumerLag: 2, SourceSwap: True, ClusterN: 2
MatrixInstruction: [64, 64, K, 1, 1, 1, 1, 2, 1], ConsumerLag: 2, StreamK: 2, PersistentKernel: 0
EOF
      ;;
    direct:*) add=$atomic; case $2 in C|Z) add=$parts;; esac
      sed 's/^/DirectToVgprA: True, DirectToVgprB: True, /' <<EOF
WorkGroup: [1, 1, 128], ThreadTile: [1, 2]
WorkGroup: [1, 4, 32], ThreadTile: [4, 2], PrefetchGlobalRead: 0
WorkGroup: [8, 1, 32], ThreadTile: [4, 1], NonTemporalA: 1, NonTemporalB: 2
WorkGroup: [4, 2, 16], ThreadTile: [2, 4], $parts
WorkGroup: [16, 2, 1], ThreadTile: [4, 2], GlobalReadVectorWidth: 1, $add
WorkGroup: [4, 1, 32], ThreadTile: [1, 2], $across, PersistentKernelAlongBatch: True
EOF
      ;;
    pack:*) k=16; case $2 in X) k=8;; I8II | [FB]8*) k=32;; esac
      sed "s/, K, /, $k, /; s/\$/, PackOperands: 3, PersistentKernel: 1, PersistentKernelAlongBatch: True/" <<EOF
MatrixInstruction: [128, 64, K, 1, 1, 1, 1, 1, 2], EngineStore: False
MatrixInstruction: [64, 128, K, 1, 1, 1, 1, 2, 1], EngineStore: False, ClusterM: 2
MatrixInstruction: [64, 64, K, 1, 1, 1, 1, 1, 1], ConsumerSchedule: PingPong, EngineStore: False
MatrixInstruction: [128, 64, K, 1, 1, 1, 1, 1, 1], $parts
MatrixInstruction: [64, 64, K, 1, 1, 1, 1, 1, 1]
EOF
      ;;
    register:[FB]8*)
      cat <<EOF
WorkGroup: [16, 16, 1], ThreadTile: [4, 4], DepthU: 16, PrefetchGlobalRead: 1, WorkGroupMapping: 4
WorkGroup: [8, 8, 1], ThreadTile: [4, 4], DepthU: 16, $atomic, StaggerU: 4
WorkGroup: [8, 8, 1], ThreadTile: [4, 4], DepthU: 16, $parts, GlobalReadVectorWidth: 1
WorkGroup: [8, 8, 1], ThreadTile: [8, 4], DepthU: 16, NonTemporalA: 1, NonTemporalB: 2, NonTemporalC: 3, NonTemporalD: 3, VectorWidth: 2
WorkGroup: [16, 8, 1], ThreadTile: [4, 4], DepthU: 16, VectorWidth: 1, GlobalReadVectorWidth: 1, LdsPadA: 1, LdsPadB: 1
EOF
      ;;
    register:*) deep=64; case $2 in D|C) deep=32;; Z) deep=16;; *H*|B*|I8II) deep=128;; esac; wide=2; [ "$2" != Z ] || wide=1
      cat <<EOF
WorkGroup: [8, 8, 1], ThreadTile: [4, 4], DepthU: 8, PrefetchGlobalRead: 0
WorkGroup: [16, 16, 1], ThreadTile: [4, 4], DepthU: 16, PrefetchGlobalRead: 1, StaggerU: 4, WorkGroupMapping: 4
WorkGroup: [8, 8, 1], ThreadTile: [4, 4], DepthU: 16, $atomic, StaggerU: 4
WorkGroup: [8, 8, 1], ThreadTile: [4, 4], DepthU: 16, $parts, GlobalReadVectorWidth: 1
WorkGroup: [8, 8, 2], ThreadTile: [4, 4], DepthU: 16, PrefetchGlobalRead: 1
WorkGroup: [8, 8, 1], ThreadTile: [2, 4], DepthU: 8, PersistentKernel: 1, PersistentKernelAlongBatch: True
WorkGroup: [8, 8, 1], ThreadTile: [4, 2], DepthU: 8, PersistentKernel: 2, GlobalSplitU: 2, GlobalSplitUAlgorithm: MultipleBuffer
WorkGroup: [8, 8, 1], ThreadTile: [2, 4], DepthU: 16, PrefetchGlobalRead: 1, $across, $once
WorkGroup: [8, 8, 1], ThreadTile: [8, 4], DepthU: 16, NonTemporalA: 1, NonTemporalB: 2, NonTemporalC: 3, NonTemporalD: 3, VectorWidth: 2
WorkGroup: [8, 8, 1], ThreadTile: [4, 8], DepthU: 16, NonTemporalA: 3, NonTemporalB: 3, NonTemporalC: 1, NonTemporalD: 2, GlobalReadVectorWidth: $wide, VectorWidth: $wide
WorkGroup: [16, 16, 1], ThreadTile: [4, 4], DepthU: $deep, PrefetchGlobalRead: 1
WorkGroup: [16, 8, 1], ThreadTile: [4, 4], DepthU: 16, VectorWidth: 1, GlobalReadVectorWidth: 1, LdsPadA: 1, LdsPadB: 1, NumElementsPerBatchStore: 4
EOF
      ;;
  esac
}

has_type() { # family, type
  case $1:$2 in
    simt:[SDCZ] | mma:[DX] | mma:HHS | mma:HSS | mma:BBS | mma:BSS | mma:I8II | mma:[FB]8*) ;;
    pack:HHS | pack:BBS | pack:X | pack:I8II | pack:F8SS | pack:F8B8SS) ;;
    wgmma:HHS | wgmma:HSS | wgmma:BBS | wgmma:BSS | wgmma:X | wgmma:I8II | wgmma:[FB]8*) ;;
    lag:HHS | lag:HSS | lag:BBS | lag:BSS | lag:X | lag:I8II) ;;
    register:X | direct:X | direct:4xi8II) return 1;;
    direct:*) ;;
    register:*) ;;
    *) return 1;;
  esac
}

# M,N,batch,K: single elements, around tiles of 16 to 128 and stages of 8 to 128, odd and prime.
sizes="1,1,1,1 31,33,2,37 32,32,1,64 33,31,2,3 64,64,3,128 63,65,1,65 97,101,2,103 127,3,1,257 3,130,2,65 128,129,1,31 256,64,2,200"
# more tiles than persistent work-groups
many=545,1031,1,24
# the copy engine takes rows of multiples of 16 bytes: more tiles than work-groups; odd sizes in such rows
engine_sizes="16,16,1,16 64,64,2,64 128,256,1,64 144,272,2,80 256,128,3,320 512,384,1,1024 1008,1008,1,1008 2048,1152,1,144"
engine_strided="45,37,2,51,160,160,176,192 257,129,1,333,352,352,352,352 1,1,1,1,16,16,16,16 2001,63,2,7,2016,2016,2016,64"
empty=64,48,2,0 # no K: in tuner-bench only
# the same with leading dimensions M,N,batch,K,LDD,LDC,LDA,LDB: odd; of 16 bytes but more than the side
strided="45,37,2,51,149,151,153,155 64,64,2,64,160,176,192,208 40,72,1,48,122,126,134,138"

# a side of a few elements, and tiles that hang over
skinny_sizes="1,1,1,1 1,64,2,512 1,1000,1,1024 512,1,1,2048 3,130,2,65 4,256,1,1024 200,4,2,333 2,77,1,4099 64,64,1,64 33,31,2,3"

family_sizes() { case $1 in direct) echo "$skinny_sizes $strided";; wgmma | lag) echo "$engine_sizes $engine_strided";; pack) echo "$sizes $strided $engine_sizes";; *) echo "$sizes $many $strided";; esac; }
# wgmma is an instruction of this architecture's own
family_arch() { case $1 in wgmma | lag | pack) echo "${arch%a}a";; *) echo "$arch";; esac; }

group() { # problem type, transposes as Tensile's keys, sizes; kernels on stdin
  echo "  -"
  echo "    - {OperationType: GEMM, $1, $2, UseBeta: True, Batched: True}"
  echo "    - BenchmarkCommonParameters: [{KernelLanguage: [Source]}, {NvRing: [$ring]}, {MinKForGSU: [16]}]"
  echo "      ForkParameters:"
  echo "        - Groups:"
  echo "          -"
  sed '/StaggerU:/!s/$/, StaggerU: 0/; s/.*/            - {&}/'
  echo "      BenchmarkFinalParameters:"
  echo "        - ProblemSizes:"
  # one leading dimension of C and D: they are one buffer in a pass
  for s in $3; do echo "$s" | awk -F, -v OFS=, 'NF > 4 { $6 = $5 } { print "          - Exact: [" $0 "]" }'; done
}

# Transposes of A and B that a family has kernels for: conjugates of complex types; wgmma reads 8-bit operands along K.
transposes() { # family, type
  case $1:$2 in
    lag:X | lag:I8II | wgmma:I8II | wgmma:[FB]8*) echo TN;;
    *:[CZ]) echo NN NT NC TN TT TC CN CT CC;;
    *) echo NN NT TN TT;;
  esac
}

config() { # family, types, DataInitType of the operands
  ring=1; case $1 in register | direct) ring=0;; esac
  cat <<EOF
GlobalParameters: {MinimumRequiredVersion: 4.34.0, TimingMethod: loop, KernelTime: True, SleepPercent: 0, NumWarmups: 0,
  EnqueuesPerSync: 1, SyncsPerBenchmark: 1, NumElementsToValidate: -1, BoundsCheck: 1, ExitOnFails: 0, PrintLevel: 1,
  DataInitTypeA: $3, DataInitTypeB: $3, DataInitTypeC: $3, DataInitTypeAlpha: 2, DataInitTypeBeta: 2}
BenchmarkProblems:
EOF
  types | while IFS='|' read -r name type; do
    case " $2 " in *" $name "*) has_type "$1" "$name" || continue;; *) continue;; esac
    for ab in $(transposes "$1" "$name"); do
      a=${ab%?} b=${ab#?}
      keys="TransposeA: $([ $a = N ] && echo False || echo True), TransposeB: $([ $b = N ] && echo False || echo True)"
      [ $a != C ] || keys="$keys, ComplexConjugateA: True"
      [ $b != C ] || keys="$keys, ComplexConjugateB: True"
      kernels "$1" "$name" | group "$type" "$keys" "$(family_sizes "$1")"
    done
  done
  echo "LibraryLogic: {ScheduleName: conformance, DeviceNames: [\"$arch\"], ArchitectureName: $(family_arch "$1")}"
}

# Name, family, DataInitType, types. Side by side, so that compilers, the CPU's reference and the device all have something to do.
runs() {
  cat <<EOF
simt_real simt 21 S D
simt_complex simt 21 C Z
mma_16 mma 21 HHS HSS BBS BSS
mma_32 mma 21 D X
mma_int mma 3 I8II
mma_f8 mma 21 F8SS B8SS F8B8SS B8F8SS F8F8S F8HS
wgmma_16 wgmma 21 HHS HSS BBS BSS
wgmma_32 wgmma 21 X
wgmma_int wgmma 3 I8II
wgmma_f8 wgmma 21 F8SS B8SS F8B8SS B8F8SS F8F8S F8HS
lag_16 lag 21 HHS HSS BBS BSS
lag_32 lag 21 X
lag_int lag 3 I8II
pack_16 pack 21 HHS BBS
pack_32 pack 21 X
pack_int pack 3 I8II
pack_f8 pack 21 F8SS F8B8SS
direct_real direct 21 S D
direct_complex direct 21 C Z
direct_16 direct 21 H HHS HSS BBS BSS
direct_f8 direct 21 F8SS B8SS F8B8SS B8F8SS F8F8S F8HS
direct_int direct 3 I8II
register_real register 21 S D
register_complex register 21 C Z
register_16 register 21 H HHS HSS BBS BSS
register_f8 register 21 F8SS B8SS F8B8SS B8F8SS F8F8S F8HS
register_int register 3 I8II
register_4xi8 register 3 4xi8II
EOF
}
wanted() { runs | while read -r name family rest; do case " $families " in *" $family "* | *" $name "*) echo "$name $family $rest";; esac; done; }

# Which transposes of a type compute-sanitizer sees: NN with all tools (TN if there is no NN), TT with two. Lines in: run, group,
# family, type, transposes; the same out, with tools behind.
sanitized() {
  awk -v tools="$tools" '{ line[NR] = $0; key[NR] = $1 " " $4; trans[NR] = $5; has[$1 " " $4 " " $5] = 1 }
    END { for (i = 1; i <= NR; i++) {
      alone = trans[i] == "TN" && !(key[i] " NN" in has)
      print line[i], (trans[i] == "NN" || alone ? tools : trans[i] == "TT" ? "memcheck racecheck" : "") } }'
}
if [ -n "$list" ]; then
  wanted | while read -r name family init rest; do
    for type in $rest; do for ab in $(transposes "$family" "$type"); do echo "$name - $family $type $ab"; done; done
  done | sanitized | awk '{ tools = ""; for (i = 6; i <= NF; i++) tools = tools " " $i; print $1, $4, $5 tools }'
  exit 0
fi
if [ -n "$compile" ]; then arch=${ARCH:-sm_90}; else arch=$("$client" --list-devices | sed -n 's/^cuda 0: .*, \(sm_[0-9a-z]*\), .*/\1/p'); fi
[ -n "$arch" ] || { echo "device_conformance.sh: there is no NVIDIA GPU" >&2; "$client" --list-devices >&2; exit 4; }
for p in "$tuner" "$client" "$bench" "$logic" "$createlib"; do
  [ -x "$p" ] || { echo "device_conformance.sh: there is no '$p'" >&2; exit 2; }
done
began=$(date +%s)
say() { echo "$(($(date +%s)-began)) s: $*" | tee -a "$out/seconds.txt"; }

# ---- the table ----

groups() { # run
  for dir in "$out/$1"/1_BenchmarkProblems/*/00_Final/kernels.csv; do
    [ ! -f "$dir" ] || basename "${dir%/00_Final/kernels.csv}"
  done
}

key() { # run, group: family, type, transposes
  ta=N tb=N
  case $2 in Cijk_AlikC_*) ta=C;; Cijk_Alik_*) ta=T;; esac
  case $2 in *_BjlkC_*) tb=C;; *_Bjlk_*) tb=T;; esac
  echo "${1%%_*} $(echo "$2" | sed 's/^Cijk_[^_]*_[^_]*_//; s/_[0-9]*$//; s/_BH*$//; s/\([SDCZH]\)B/\1/') $ta$tb"
}

# Facts, one a line: family type transposes what number
facts() {
  while read -r run rest; do
    for group in $(groups "$run"); do
      echo "$(key "$run" "$group") kernels $(($(wc -l <"$out/$run/1_BenchmarkProblems/$group/00_Final/kernels.csv") - 1))"
    done
  done <"$out/runs"
  while read -r run group pass; do
    k=$(key "$run" "$group")
    [ -f "$out/events/$run.$group.$pass" ] || { echo "$k failed 1"; continue; } # not run within LIMIT
    awk -F'\t' -v k="$k" '$1 == "end" { n[$4]++ }
      END { for (s in n) if (s == "PASSED") print k, "passed", n[s]
            else if (s ~ /ASSERTS|HARDWARE|SKIPPED/) print k, "skipped", n[s]; else print k, "failed", n[s]
            if (!NR) print k, "failed", 1 }' "$out/events/$run.$group.$pass"
  done <"$out/list"
  while read -r run group kind; do
    k=$(key "$run" "$group")
    : >>"$out/bench/$run.$group.$kind.out" # not run within LIMIT: all failed
    awk -v k="$k" -v want="$(wc -l <"$out/bench/$run.$group.$kind.yaml")" '/^#.*; right: / { good++ }
      END { print k, "arrays", good + 0; print k, "arrays_failed", want - good }' "$out/bench/$run.$group.$kind.out"
  done <"$out/bench.list"
  while read -r run group kind tool; do
    : >>"$out/bench/$run.$group.$kind.$tool.sanitizer"
    awk -v k="$(key "$run" "$group")" -v tool="$tool" '
      /ERROR SUMMARY:/ { for (i = 1; i <= NF; i++) if ($i == "SUMMARY:") n += $(i + 1); done = 1 }
      /RACECHECK SUMMARY:/ { for (i = 1; i <= NF; i++) if ($i == "SUMMARY:") n += $(i + 1); done = 1 }
      END { print k, tool, n + 0; print k, tool "_runs", done + 0; if (!done) print k, "unfinished", 1 }
      ' "$out/bench/$run.$group.$kind.$tool.sanitizer"
  done <"$out/sanitizer.list"
}
# Prints the table of what has run so far; false when something failed.
table() {
  facts >"$out/facts"
  awk -v tools="$tools" '
    { id = $1 " " $2; if (!(id in seen)) { seen[id] = 1; order[++n] = id }
      if (!((id, $3) in t)) { t[id, $3] = 1; trans[id] = trans[id] (trans[id] ? " " : "") $3 }
      x[id, $4] += $5; total[$4] += $5 }
    function row(id, trans, i) { split(id, f, " ")
      printf "%s,%s,%s,%d,%d,%d,%d,%d,%d", f[1], f[2], trans, x[id, "kernels"], x[id, "passed"], x[id, "failed"], x[id, "skipped"],
             x[id, "arrays"], x[id, "arrays_failed"]
      for (i = 1; i <= n_tools; i++) printf ",%s", (id, tool[i] "_runs") in x ? x[id, tool[i]] : "-"
      printf ",%d\n", x[id, "unfinished"] }
    END { n_tools = split(tools, tool, " ")
      printf "family,type,transposes,kernels,passed,failed,not_for_size,arrays_passed,arrays_failed"
      for (i = 1; i <= n_tools; i++) printf ",%s", tool[i]
      print ",sanitizer_unfinished"
      for (i = 1; i <= n; i++) row(order[i], trans[order[i]])
      for (w in total) x["all all", w] = total[w]
      row("all all", "") }' "$out/facts" >"$out/conformance.csv"
  # the first of each kind of failure
  grep -h -m1 -e '^end.*FAILED' -e '^end.*INVALID' -e '^end.*CRASHED' -e '^end.*TIMEOUT' "$out"/events/*.* 2>/dev/null | sort | uniq -c |
    sort -rn | head -5 || true
  awk -F, '{ for (i = 1; i <= NF; i++) { c[NR, i] = $i; if (length($i) > w[i]) w[i] = length($i) } }
    END { for (r = 1; r <= NR; r++) { for (i = 1; i <= NF; i++) printf "%-" w[i] + 2 "s", c[r, i]; print "" } }' "$out/conformance.csv"
  tail -n 1 "$out/conformance.csv" | awk -F, '{ bad = $6 + $9; for (i = 10; i <= NF; i++) bad += $i; exit bad > 0 }'
}
for list in runs list bench.list sanitizer.list; do : >"$out/$list"; done
mkdir -p "$out/events" "$out/bench"
trap 'say "stopped: results of what did not run are missing or count as failed"; table || true; exit 1' TERM INT

# ---- 1: the pipeline ----

wanted >"$out/runs"
n=$(wc -l <"$out/runs")
each=$(((jobs + n - 1) / n + 1)) pids=
while read -r name family init list; do
  config "$family" "$list" "$init" >"$out/$name.yaml"
  if [ -n "$compile" ]; then
    "$tuner" --compile-only --arch "$(family_arch "$family")" --allow-spills -j "$jobs" "$out/$name.yaml" "$out/$name" >"$out/$name.txt" 2>&1 ||
      echo "$name: $(tail -1 "$out/$name.txt")" >&2
    continue
  fi
  timeout "$limit" "$tuner" --device cuda --arch "$(family_arch "$family")" --client-path "$client" --allow-spills -j $each "$out/$name.yaml" "$out/$name" \
    >"$out/$name.txt" 2>&1 &
  pids="$pids $!"
done <"$out/runs"
for p in $pids; do wait "$p" || true; done
[ -z "$compile" ] || { say "compiled: $n runs"; exit 0; }
while read -r name family init rest; do
  [ -d "$out/$name/2_BenchmarkData" ] || { echo "$name: no results" >&2; tail -3 "$out/$name.txt" >&2; }
done <"$out/runs"
say "pipeline: $n runs, $(ls -d "$out"/*/1_BenchmarkProblems/*/ 2>/dev/null | wc -l) problem types"

if [ "${STEPS:-4}" = 1 ]; then
  bad=0
  while read -r name rest; do
    counts=$(tr '\r' '\n' <"$out/$name.txt" | grep '^measure .* wrong, ' | tail -1)
    echo "$name: ${counts:-no results}"
    case $counts in *" 0 wrong, 0 crashed, "*) ;; *) bad=1;; esac
  done <"$out/runs"
  exit $bad
fi

# ---- 2: the same kernels on other scalars, offsets, buffers ----

# Options of tuner-client by pass. beta 0 must not read C.
pass() {
  case $1 in
    scaled) echo "--init-alpha Two --init-beta Two";;
    offset) echo "--init-alpha One --init-beta Zero --init-c NaN --offset-a 1 --offset-b 3 --offset-c 5 --offset-d 1";;
    offset_c) echo "--init-alpha Two --init-beta NegOne --offset-a 2 --offset-b 4 --offset-c 1 --offset-d 2";;
    aligned) echo "--init-alpha One --init-beta Zero --init-c NaN --offset-a 16 --offset-b 48 --offset-c 80 --offset-d 16";;
    same) echo "--init-alpha NegOne --init-beta Two --c-equal-d True";;
    nothing) echo "--init-alpha Zero --init-beta Two --init-a NaN --init-b NaN";;
  esac
}
passes="scaled offset offset_c same nothing"
# the copy engine takes addresses of multiples of 16 bytes
family_passes() { case $1 in wgmma | lag) echo "scaled aligned same nothing";; *) echo "$passes";; esac; }
while read -r name family init rest; do
  for g in $(groups "$name"); do for p in $(family_passes "$family"); do echo "$name $g $p"; done; done
done <"$out/runs" >"$out/list"
cat >"$out/client.sh" <<EOF
cd "$out/\$1/1_BenchmarkProblems/\$2/00_Final/build"
case \$3 in
$(for p in $passes aligned; do echo "$p) options='$(pass "$p")';;"; done)
esac
case \$1 in *_int | *_4xi8) options=\$(echo "\$options" | sed 's/NaN/Random/g');; esac
timeout 60 "$client" --config-file ../source/ClientParameters.ini --timing loop --results-file "" \$options \\
  --events-fd 3 3>"$out/events/\$1.\$2.\$3" >"$out/events/\$1.\$2.\$3.log" 2>&1
[ -s "$out/events/\$1.\$2.\$3" ] || echo "\$1 \$2 \$3: \$(tail -1 "$out/events/\$1.\$2.\$3.log")" >&2
exit 0
EOF
[ ! -s "$out/list" ] || timeout "$limit" xargs -P "$(((jobs + 1) / 2))" -n 3 sh "$out/client.sh" <"$out/list" || true
say "client: $(wc -l <"$out/list") runs"

# ---- 3: arrays of pointers; libraries for the sanitizer ----

# Results in which every kernel wins some sizes, so that all kernels are in the library and a size names its kernel.
spread_winners() {
  awk -F, -v OFS=, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "WinnerTemperature") first = i + 1
      for (i = 1; !first && i <= NF; i++) if ($i ~ / *Cijk_/) first = i; print; next }
    { n = NF - first + 1; k = 0
      for (i = 0; i < n && !k; i++) if ($(first + (NR - 2 + i) % n) > 0) k = first + (NR - 2 + i) % n
      if (k) $k = 1000000
      print }' "$1"
}
problems() { # words, function, batch of arrays (0: as the size says), sizes...
  words=$1 function=$2 batch=$3; shift 3
  for s; do
    echo "$s" | awk -F, -v w="$words" -v f="$function" -v batch="$batch" '{
      m = $1; n = $2; b = batch ? batch : $3; k = $4; ld = NF > 4
      ldd = ld ? $5 : m; ldc = ld ? $6 : m; a = (w ~ /transA: N/) ? m : k; lda = ld ? $7 : a > 1 ? a : 1
      c = (w ~ /transB: N/) ? k : n; ldb = ld ? $8 : c > 1 ? c : 1
      if (f == "" ) fn = b > 1 ? "gemm_strided_batched_ex" : "gemm_ex"; else fn = f
      for (beta = 0; beta < 2; beta++)
        printf "- {rocblas_function: rocblas_%s, %s, iters: 1, cold_iters: 0, M: %d, N: %d, K: %d, batch_count: %d, ldd: %d, ldc: %d, lda: %d, ldb: %d, alpha: 2, beta: %d}\n",
               fn, w, m, n, k, b, ldd, ldc, lda, ldb, beta }'
  done
}
make_libraries() { # run, family: OUT/RUN/plain and OUT/RUN/arrays, libraries of all kernels
  mkdir -p "$out/$1/data"
  for csv in "$out/$1"/2_BenchmarkData/*.csv; do
    [ -f "$csv" ] || continue
    spread_winners "$csv" >"$out/$1/data/$(basename "$csv")"
    cp "${csv%.csv}.yaml" "$out/$1/data/"
  done
  "$logic" analyze "$out/$1/data" "$out/$1/plain_logic" --schedule conformance --arch "$(family_arch "$2")" --device "$arch" || return 0
  mkdir -p "$out/$1/arrays_logic"
  for f in "$out/$1"/plain_logic/*.yaml; do
    sed 's/StridedBatched: [Tt]rue/StridedBatched: false/g' "$f" >"$out/$1/arrays_logic/$(basename "$f")"
  done
  for kind in plain $(case $2 in wgmma | lag) ;; *) echo arrays;; esac); do # tensor maps are made of one address
    "$createlib" --jobs $each --no-merge-files --cache "$out/$1/0_Build/cache" -v 0 "$out/$1/${kind}_logic" "$out/$1/$kind" CUDA || true
  done
}
pids=
while read -r name family rest; do
  [ ! -d "$out/$name/2_BenchmarkData" ] || make_libraries "$name" "$family" >"$out/$name.libraries.txt" 2>&1 & pids="$pids $!"
done <"$out/runs"
for p in $pids; do wait "$p" || true; done
say "libraries: $(ls -d "$out"/*/arrays/library 2>/dev/null | wc -l) of arrays, $(ls -d "$out"/*/plain/library 2>/dev/null | wc -l) plain"

while read -r name family rest; do
  for dir in "$out/$name"/1_BenchmarkProblems/*/; do
    group=$(basename "$dir")
    [ -d "$out/$name/arrays/library" ] && words=$(bench_words "$group") || continue
    problems "$words" gemm_batched_ex 3 $sizes $strided $empty >"$out/bench/$name.$group.arrays.yaml"
    echo "$name $group arrays" >>"$out/bench.list"
  done
done <"$out/runs"
cat >"$out/bench.sh" <<EOF
timeout 60 "$bench" --device cuda --rotating 0 --timing loop -v 1 --library "$out/\$1/\$3/library" --yaml "$out/bench/\$1.\$2.\$3.yaml" \\
  >"$out/bench/\$1.\$2.\$3.out" 2>"$out/bench/\$1.\$2.\$3.err"
exit 0
EOF
[ ! -s "$out/bench.list" ] || timeout "$limit" xargs -P "$(((jobs + 1) / 2))" -n 3 sh "$out/bench.sh" <"$out/bench.list" || true
say "arrays of pointers: $(wc -l <"$out/bench.list") runs"

# ---- 4: compute-sanitizer ----

if [ -n "$sanitizer" ]; then
  while read -r name family rest; do
    for group in $(groups "$name"); do echo "$name $group $(key "$name" "$group")"; done
  done <"$out/runs" | sanitized | while read -r name group family type trans with; do
    words=$(bench_words "$group") || continue
    problems "$words" "" 0 $(family_sizes "$family") $empty | grep 'beta: 1' >"$out/bench/$name.$group.plain.yaml"
    for tool in $with; do
      case " $tools " in *" $tool "*) ;; *) continue;; esac
      echo "$name $group plain $tool"
      [ "$tool" != memcheck ] || [ ! -d "$out/$name/arrays/library" ] || echo "$name $group arrays $tool"
    done
  done >"$out/sanitizer.list"
fi
cat >"$out/sanitizer.sh" <<EOF
log="$out/bench/\$1.\$2.\$3.\$4.sanitizer"
timeout 120 "$sanitizer" --tool \$4 --print-limit 20 \$([ \$4 != memcheck ] || echo --report-api-errors no) "$bench" --device cuda --rotating 0 --timing loop --library "$out/\$1/\$3/library" \\
  --yaml "$out/bench/\$1.\$2.\$3.yaml" >"\$log" 2>&1 || echo "exit code \$?" >>"\$log"
exit 0
EOF
[ ! -s "$out/sanitizer.list" ] ||
  timeout "$limit" xargs -P "$(((jobs + 1) / 2))" -n 4 sh "$out/sanitizer.sh" <"$out/sanitizer.list" || true
[ -z "$sanitizer" ] || say "sanitizer: $(wc -l <"$out/sanitizer.list") runs"

say "done"
table
