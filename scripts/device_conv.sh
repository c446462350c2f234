#!/bin/sh
# device_conv.sh [--compile-only] OUT [FORM...]: convolutions on a device, every element compared with the reference, with NaN behind the
# tensors. Forms:
#   elements  all directions, four formats and groups; loads of one element and of vectors; NVIDIA: with and without a ring of stages,
#             with parts of K
#   keep      NVIDIA: kernels that keep pixels in shared memory (KeepWindow), f16 and bf16, forward and backward data, with groups and
#             without
#   lines     NVIDIA, ARCH sm_90a: kernels that make lines of pixels (PackOperands 7 forward, 5 weights), f16 and bf16
#   taps      NVIDIA, ARCH sm_90a: kernels with several taps in a stage (WindowTaps), f16 and bf16, all directions
# The last three run under compute-sanitizer, too, by tuner-bench: each kernel on each layer that it takes. Without names of forms, all that
# ARCH has. Prints the tuner's last line of each form and how many results are wrong; of the last three a table, OUT/conformance.csv (for
# test/bench/results/h200). --compile-only makes and compiles the kernels, and needs no device; a later call with the same OUT takes them.
#
# Environment: TUNER (build/bin/tuner), TUNER_BENCH TUNER_LOGIC TUNER_CREATELIB (beside it), DEVICE (cuda; hip, host), ARCH (sm_90; as
# ArchitectureName), JOBS (processors), SANITIZER (compute-sanitizer of the path or /usr/local/cuda/bin; "" none), TOOLS (of it), LIMIT
# (seconds of the sanitizer, 240). Exit code 1: a result is wrong, a kernel did not run, or the sanitizer found something.
set -e
compile=
[ "$1" != --compile-only ] || { compile=1; shift; }
[ $# -ge 1 ] || { echo "usage: device_conv.sh [--compile-only] OUT [elements|keep|lines|taps]..." >&2; exit 2; }
root=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1"
out=$(cd "$1" && pwd)
shift
bin=$root/build/bin; [ -d "$bin" ] || bin=${root%/share/tuner}/bin # installed
tuner=${TUNER:-$bin/tuner} device=${DEVICE:-cuda} arch=${ARCH:-sm_90} forks=
bin=$(dirname "$tuner")
bench=${TUNER_BENCH:-$bin/tuner-bench} logic=${TUNER_LOGIC:-$bin/tuner-logic} createlib=${TUNER_CREATELIB:-$bin/tuner-createlib}
jobs=${JOBS:-$(nproc)} pids= limit=${LIMIT:-240}
PATH=$PATH:/usr/local/cuda/bin
sanitizer=${SANITIZER-$(command -v compute-sanitizer || true)}
tools=${TOOLS:-memcheck racecheck synccheck}
if [ $# = 0 ]; then
  set -- elements
  [ "$device" != cuda ] || set -- "$@" keep
  case $arch in sm_90a) set -- "$@" lines taps;; esac
fi
for form; do
  case $form in elements) ;; keep | lines | taps) [ "$device" = cuda ];; *) false;; esac ||
    { echo "device_conv.sh: no form '$form' on '$device'" >&2; exit 2; }
done
for p in "$tuner" "$bench" "$logic" "$createlib"; do
  [ -x "$p" ] || { echo "device_conv.sh: there is no '$p'" >&2; exit 2; }
done

# ---- elements ----

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
elements() {
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
}

# ---- kept pixels, lines of pixels, taps that share pixels ----

half="HighPrecisionAccumulate: True, UseBeta: False, Batched: True, ComputeDataType: s"
formats="{TensorAFormat: NHWC}, {TensorBFormat: KYXC}, {TensorDFormat: NHWC}"
of_weights="{TensorAFormat: NHWC}, {TensorBFormat: NHWC}, {TensorDFormat: KYXC}"

# n,c,k,h,w,y,x, steps, distances of taps and pads in front along h and w, pads behind, groups: images that end in a tile, and smaller ones
kept="4,64,64,28,28,3,3,1,1,1,1,1,1,1,1,1 3,32,64,29,27,3,3,2,2,1,1,1,1,1,1,1 2,16,24,20,22,3,2,1,1,2,2,2,0,1,2,1 \
  2,8,24,31,43,5,5,4,3,1,1,2,2,2,2,1 5,32,48,13,17,1,1,1,1,1,1,0,0,0,0,1 40,16,16,3,2,2,2,1,1,1,1,1,1,0,0,1"
kept_groups="2,64,32,14,14,3,3,1,1,1,1,1,1,1,1,8 2,128,128,14,14,3,3,1,1,1,1,1,1,1,1,32 1,96,96,9,8,3,3,2,2,1,1,1,1,1,1,96 \
  2,96,96,6,5,3,3,1,1,1,1,1,1,1,1,3"
# the same of few channels; the last one has more tiles than a device has processors
lines="2,3,64,20,24,7,7,2,2,1,1,3,3,3,3,1 3,1,16,12,16,5,5,3,2,1,1,2,1,0,3,1 1,4,24,19,24,11,11,4,4,1,1,2,2,2,2,1 \
  1,20,8,12,12,5,5,1,1,1,1,2,2,2,2,1 2,6,8,11,8,4,1,1,1,2,3,3,0,3,0,1 20,3,64,64,64,3,3,1,1,1,1,1,1,1,1,1"
# the same of filters with three to five taps in a line; the last but one has lines that are longer than a tile
taps="2,72,40,9,10,3,3,1,1,1,1,1,1,1,1,1 2,24,40,7,9,2,3,1,1,1,1,1,2,0,0,1 2,72,24,9,12,3,3,1,1,1,3,1,3,1,3,1 40,8,8,3,2,3,3,1,1,1,1,1,1,1,1,1 \
  2,48,64,11,13,5,5,1,1,1,1,2,2,2,2,1 2,72,136,5,90,3,3,1,1,1,1,1,1,1,1,1 20,64,64,28,28,3,3,1,1,1,1,1,1,1,1,1"

layers() { # FORM GROUPED
  case $1$2 in keep) echo "$kept";; keep*) echo "$kept_groups";; taps) echo "$taps";; *) echo "$lines";; esac | tr -s ' ' '\n'
}

# The kernels of a form and direction, one a line; those with groups read 4 elements of the filter at a time, as groups have that many.
kernels() { # FORM DIRECTION GROUPED
  piece=8; [ -z "$3" ] || piece=4
  once="GlobalSplitU: 3, MinKForGSU: 16, GlobalSplitUAlgorithm: MultipleBufferSingleKernel"
  case $1$2 in
    keep*) cat <<END
MatrixInstruction: [16, 8, 16, 1, 1, 2, 4, 2, 1], KeepWindow: 224, DepthU: 64, PrefetchGlobalRead: 1, GlobalReadVectorWidth: $piece
MatrixInstruction: [16, 8, 16, 1, 1, 1, 8, 4, 2], KeepWindow: 160, DepthU: 32, PrefetchGlobalRead: 2, GlobalReadVectorWidth: 4
MatrixInstruction: [16, 8, 16, 1, 1, 1, 4, 1, 4], KeepWindow: 112, DepthU: 64, PrefetchGlobalRead: 3, GlobalReadVectorWidth: 2, DependentLaunch: True
MatrixInstruction: [16, 8, 16, 1, 1, 1, 4, 2, 2], KeepWindow: 128, DepthU: 64, PrefetchGlobalRead: 1, GlobalReadVectorWidth: 1
END
    ;;
    linesForward) sed 's/$/, PackOperands: 7/; /StreamK/!s/$/, PersistentKernel: 1, PersistentKernelAlongBatch: True/' <<END
MatrixInstruction: [64, 256, 16, 1, 1, 1, 1, 1, 1]
MatrixInstruction: [64, 192, 16, 1, 1, 1, 1, 1, 1], ConsumerSchedule: PingPong, DependentLaunch: True
MatrixInstruction: [64, 64, 16, 1, 1, 1, 3, 1, 1], SourceSwap: True, ConsumerSchedule: PingPong
MatrixInstruction: [64, 64, 16, 1, 1, 1, 1, 2, 1], ConsumerLag: 2
MatrixInstruction: [64, 64, 16, 1, 1, 1, 1, 2, 1], $once
MatrixInstruction: [64, 64, 16, 1, 1, 1, 1, 1, 1], StreamK: 2, PersistentKernel: 0, EngineStore: False
END
    ;;
    tapsWeights) sed 's/$/, EngineStore: False/; /StreamK/!s/$/, PersistentKernel: 1, PersistentKernelAlongBatch: True/' <<END
MatrixInstruction: [64, 64, 16, 1, 1, 1, 1, 3, 1], WindowTaps: 3, $once
MatrixInstruction: [64, 72, 16, 1, 1, 3, 1, 1, 1], WindowTaps: 3, ConsumerSchedule: PingPong
MatrixInstruction: [192, 64, 16, 1, 1, 1, 2, 1, 1], WindowTaps: 3, DependentLaunch: True, $once
MatrixInstruction: [64, 64, 16, 1, 1, 1, 1, 3, 1], WindowTaps: 3, StreamK: 2, PersistentKernel: 0
MatrixInstruction: [64, 32, 16, 1, 1, 5, 1, 1, 1], WindowTaps: 5
END
    ;;
    taps*) sed 's/$/, EngineStore: False, PersistentKernel: 1, PersistentKernelAlongBatch: True/' <<END
MatrixInstruction: [64, 128, 16, 1, 1, 1, 1, 1, 1], WindowTaps: 3, ConsumerSchedule: PingPong
MatrixInstruction: [64, 200, 16, 1, 1, 1, 1, 2, 1], WindowTaps: 3, ConsumerLag: 1
MatrixInstruction: [64, 80, 16, 1, 1, 1, 1, 1, 1], WindowTaps: 3, ClusterN: 4, DependentLaunch: True
MatrixInstruction: [64, 120, 16, 1, 1, 1, 1, 2, 1], WindowTaps: 3, ClusterM: 2, ClusterN: 2
MatrixInstruction: [64, 64, 16, 1, 1, 1, 2, 1, 1], WindowTaps: 3, SourceSwap: True, ConsumerSchedule: PingPong
MatrixInstruction: [64, 160, 16, 1, 1, 1, 1, 1, 1], WindowTaps: 5, ConsumerSchedule: PingPong
END
    ;;
    *) sed 's/$/, PackOperands: 5, EngineStore: False/; /StreamK/!s/$/, PersistentKernel: 1, PersistentKernelAlongBatch: True/' <<END
MatrixInstruction: [64, 64, 16, 1, 1, 1, 1, 2, 1], $once
MatrixInstruction: [192, 64, 16, 1, 1, 1, 1, 1, 1], ConsumerSchedule: PingPong
MatrixInstruction: [64, 64, 16, 1, 1, 1, 1, 2, 1], DepthU: 128, DependentLaunch: True, GlobalSplitU: 4, MinKForGSU: 16, GlobalSplitUAlgorithm: MultipleBufferSingleKernel
MatrixInstruction: [64, 64, 16, 1, 1, 1, 2, 1, 1], SourceSwap: True
MatrixInstruction: [64, 64, 16, 1, 1, 1, 1, 1, 1], StreamK: 2, PersistentKernel: 0
END
    ;;
  esac
}
# The directions of a form as tuner-bench counts them, in sums, and as configs name them.
directions() { case $1 in keep) echo Forward BackwardData;; taps) echo Forward BackwardData Weights;; *) echo Forward Weights;; esac; }
bit_of() { case $1 in Forward) echo 1;; BackwardData) echo 2;; *) echo 4;; esac; }

windows() { # FORM
  for letter in h b; do
    for direction in $(directions "$1"); do
      of=$formats op=$direction
      [ "$direction" != Weights ] || { of=$of_weights; op=BackwardWeights; }
      for grouped in '' $([ "$1" != keep ] || echo grouped); do
        echo "  - - {OperationType: Convolution$op, DataType: $letter, DestDataType: $letter, $half, ConvolutionConfig: [$of,"
        echo "       {Filter: NxN}, {Stride: NxN}, {Dilation: NxN}, {PadStart: NxN}, {PadEnd: NxN}, {PackedSpatialDims: 0}, {PackedFilterDims: 0}${grouped:+, {GroupCount: N\}}]}"
        echo "    - BenchmarkCommonParameters: [StaggerU: [0]]"
        echo "      ForkParameters: [PackBatchDims: [$([ "$grouped" ] && echo 0 || echo 1)], NvRing: [1], Groups: [["
        kernels "$1" "$direction" "$grouped" | sed 's/.*/        {&},/; $s/,$/]]]/'
        echo "      BenchmarkFinalParameters: [ProblemSizes: ["
        layers "$1" "$grouped" | sed 's/$/,/' | while IFS=, read -r n c k h w y x u v l j p q p_ q_ g rest; do
          echo "        {Conv: {n: $n, c: $c, k: $k, h: $h, w: $w, y: $y, x: $x, u: $u, v: $v, l: $l, j: $j, p: $p, q: $q, p_: $p_, q_: $q_, g: $g}},"
        done | sed '$s/,$/]]/'
      done
    done
  done
}

# ---- the runs ----

for form; do
  {
    echo "GlobalParameters: {NumElementsToValidate: -1, BoundsCheck: 1, EnqueuesPerSync: 1, SyncsPerBenchmark: 1}"
    echo "BenchmarkProblems:"
    case $form in elements) elements;; *) windows $form;; esac
    echo "LibraryLogic: {ScheduleName: conv, DeviceNames: [Device 0], ArchitectureName: $arch}"
  } >"$out/$form.yaml"
done
if [ -n "$compile" ]; then
  for form; do
    "$tuner" --compile-only --arch "$arch" -j "$jobs" "$out/$form.yaml" "$out/$form" >"$out/$form.log" 2>&1 || { tail -5 "$out/$form.log"; exit 1; }
    echo "$form: $(tail -1 "$out/$form.log")"
  done
  exit 0
fi
for form; do
  { "$tuner" --device "$device" -j "$jobs" "$out/$form.yaml" "$out/$form" || echo failed; } >"$out/$form.log" 2>&1 & pids="$pids $!"
done
for p in $pids; do wait "$p"; done
code=0
for form; do
  if [ "$(tail -1 "$out/$form.log")" = failed ]; then tail -5 "$out/$form.log"; exit 1; fi
  echo "$form: $(grep -E "wrong, " "$out/$form.log" | tail -1)"
  grep -q " 0 wrong, 0 crashed" "$out/$form.log" || code=1
done
forms=$(echo "$*" | sed 's/elements//')
[ -n "$(echo $forms)" ] && [ -n "$sanitizer" ] || exit $code

# ---- compute-sanitizer ----

# A library of all kernels of a form: each wins some sizes, so that none is left out.
library() { # FORM
  mkdir -p "$out/$1/data"
  for csv in "$out/$1"/2_BenchmarkData/*.csv; do
    awk -F, -v OFS=, 'FNR == 1 { if (NR > 1) print; for (i = 1; i <= NF; i++) if ($i == "WinnerTemperature") first = i + 1; next }
      NR == FNR { for (i = first; i <= NF; i++) takes[i] += $i > 0; next }
      { size = ""; for (i = 2; i < first - 4; i++) size = size " " $i
        if (!(size in best)) {
          k = 0
          for (i = first; i <= NF; i++) if ($i > 0 && (!k || wins[i] < wins[k] || (wins[i] == wins[k] && takes[i] < takes[k]))) k = i
          best[size] = k; wins[k]++
        }
        if (best[size]) $best[size] = 1000000000
        print }' "$csv" "$csv" >"$out/$1/data/$(basename "$csv")"
    cp "${csv%.csv}.yaml" "$out/$1/data/"
  done
  "$logic" analyze "$out/$1/data" "$out/$1/logic" --schedule conv --arch "$arch" --device "Device 0"
  "$createlib" --jobs "$jobs" --no-merge-files --cache "$out/$1/0_Build/cache" -v 0 "$out/$1/logic" "$out/$1/made" CUDA
}
rm -rf "$out/sanitizer"; mkdir -p "$out/sanitizer"
: >"$out/sanitizer/list"
pids=
for form in $forms; do
  library "$form" >"$out/$form.library" 2>&1 & pids="$pids $!"
  for direction in $(directions "$form"); do
    for word in convfp16 convbfp16; do
      { layers "$form" ''; [ "$form" != keep ] || layers "$form" grouped; } | tr , ' ' | while read -r n c k h w y x u v l j p q p_ q_ g; do
        echo "MIOpenDriver $word -n $n -c $c -H $h -W $w -k $k -y $y -x $x -u $u -v $v -l $l -j $j -p $p -q $q --pad_h_end $p_ --pad_w_end $q_ -g $g" \
          "-I NHWC -f NHWC -O NHWC -F $(bit_of "$direction")"
      done >"$out/sanitizer/$form.$word.$direction"
    done
  done
  for direction in $(directions "$form"); do
    for word in convfp16 convbfp16; do for tool in $tools; do echo "$form $word $direction $tool"; done; done
  done >>"$out/sanitizer/list"
done
for p in $pids; do wait "$p" || true; done
cat >"$out/sanitizer/run.sh" <<END
name=$out/sanitizer/\$1.\$2.\$3.\$4
timeout $limit "$sanitizer" --tool \$4 --print-limit 20 \$([ \$4 != memcheck ] || echo --report-api-errors no) --log-file \$name.log "$bench" conv --device $device \\
  --threads 2 -i 0 --every-solution --library "$out/\$1/made/library" "$out/sanitizer/\$1.\$2.\$3" >\$name.csv 2>\$name.err
exit 0
END
timeout "$limit" xargs -P "$jobs" -n 4 sh "$out/sanitizer/run.sh" <"$out/sanitizer/list" || true

# Rows of a form, type and direction: kernels; results of the tuner's run, right, wrong and refused; pairs of a kernel and a layer under
# the sanitizer, and how many of their results were wrong; what each tool found; runs that did not end.
for form in $forms; do
  for word in convfp16 convbfp16; do
    type=HHS; [ $word = convfp16 ] || type=BBS
    for direction in $(directions "$form"); do
      "$tuner" status "$out/$form" | awk -v type=_$type -v direction="$direction" '
        function is_of() { return direction == "Forward" ? name ~ /_Bonmil|_Bponij/ : direction == "Weights" ? name ~ /_Ainm/ : name ~ /_BiNMol|_BiONpj/ }
        /^Cijk/ { name = $1; on = name ~ type && is_of() }
        on && /kernels: / { kernels += $2 }
        on && /measured: / { all += $2; good += $5 }
        on && /DID_NOT_SATISFY/ { refused += $1 }
        END { print kernels + 0, good + 0, all - good - refused, refused + 0 }' >"$out/sanitizer/counts"
      read -r kernels good wrong refused <"$out/sanitizer/counts"
      printf '%s,%s,%s,%s,%s,%s,%s' "$form" $type "$direction" "$kernels" "$good" "$wrong" "$refused"
      cat 2>/dev/null "$out/sanitizer/$form.$word.$direction".*.csv | awk -F, '$3 == "tuner" { sub(/ \(.*/, "", $4); if ($4 != "") pair[$4 $1]; if ($11 !~ /^right/) bad++ }
        END { for (p in pair) n++; printf ",%d,%d", n, bad }'
      unfinished=0
      for tool in $tools; do
        found=$(sed -n 's/.*\(ERROR\|RACECHECK\) SUMMARY: \([0-9]*\).*/\2/p' "$out/sanitizer/$form.$word.$direction.$tool.log" 2>/dev/null | tail -1)
        [ "$found" ] || unfinished=$((unfinished + 1))
        printf ',%s' "${found:-0}"
      done
      echo ",$unfinished"
    done
  done
done >"$out/sanitizer/rows"
{
  echo "form,type,direction,kernels,passed,failed,not_for_size,kernels_and_layers,failed_there,$(echo "$tools" | tr ' ' ','),sanitizer_unfinished"
  cat "$out/sanitizer/rows"
  awk -F, -v OFS=, '{ for (i = 4; i <= NF; i++) sum[i] += $i; n = NF } END { printf "all,,"; for (i = 4; i <= n; i++) printf ",%d", sum[i]; print "" }' "$out/sanitizer/rows"
} >"$out/conformance.csv"
awk -F, '{ for (i = 1; i <= NF; i++) { c[NR, i] = $i; if (length($i) > w[i]) w[i] = length($i) } }
  END { for (r = 1; r <= NR; r++) { for (i = 1; i <= NF; i++) printf "%-" w[i] + 2 "s", c[r, i]; print "" } }' "$out/conformance.csv"
tail -n 1 "$out/conformance.csv" | awk -F, '{ bad = $6 + $9; for (i = 10; i <= NF; i++) bad += $i; exit bad > 0 || !$8 }' || code=1
exit $code
