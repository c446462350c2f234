#!/bin/sh
# device_conv_speed.sh OUT [f16] [bf16] [f32]: convolutions of 20 layers of networks on an H200 beside cuDNN: tunes the lists of kernels in
# test/data/search (f16, bf16: all directions, NHWC; f32: forward, NCHW), then compares the libraries by conv_peer.sh, which checks every
# result. OUT/TYPE.txt has times and geometric means, OUT/TYPE.csv all columns, OUT/TYPE.explain the fastest kernels.
#
# Environment: DIRECTIONS ('forward data weights'; backward ones have one list); COMPILE=1 makes the kernels without a device, which a later
# call with the same OUT takes; LISTS (test/data/search), the folder of the lists; TUNER (build/bin/tuner); TUNE and PEER, seconds after
# which tuning and the comparison of a type end (no limit). Exit code 1: a result is wrong.
set -e
export LC_ALL=C
[ $# -ge 1 ] || { echo "usage: device_conv_speed.sh OUT [f16] [bf16] [f32]" >&2; exit 2; }
root=$(cd "$(dirname "$0")/.." && pwd)
tuner=${TUNER:-$root/build/bin/tuner} lists=${LISTS:-$root/test/data/search} wanted=${DIRECTIONS:-forward data weights}
[ -x "$tuner" ] || { echo "device_conv_speed.sh: there is no '$tuner'" >&2; exit 2; }
out=$1; shift
mkdir -p "$out"

# The lists as one config: problems of the second one behind those of the first.
config() {
  forward=conv_h200_f16_list.yaml back=conv_h200_f16_back_list.yaml letter=h
  [ "$1" != bf16 ] || letter=b
  [ "$1" != f32 ] || forward=conv_h200_f32_list.yaml
  {
    sed '/^BenchmarkProblems:/q' "$lists/$forward"
    case $wanted in *forward*) sed '1,/^BenchmarkProblems:/d; /^LibraryLogic:/,$d' "$lists/$forward" ;; esac
    case $1,$wanted in f32,*) ;; *data* | *weights*) sed '1,/^BenchmarkProblems:/d; /^LibraryLogic:/,$d' "$lists/$back" ;; esac
    sed -n '/^LibraryLogic:/,$p' "$lists/$forward"
  } | sed "s/DataType: h\\([,}]\\)/DataType: $letter\\1/g"
}

code=0
for type in ${*:-f16 bf16 f32}; do
  case $type in f16) of_peer=convfp16 ;; bf16) of_peer=convbfp16 ;; f32) of_peer=conv ;; *) echo "device_conv_speed.sh: no type '$type'" >&2; exit 2 ;; esac
  directions=$wanted; [ $type != f32 ] || directions=forward
  config $type >"$out/$type.yaml"
  if [ "${COMPILE-}" ]; then
    "$tuner" --compile-only --arch sm_90a "$out/$type.yaml" "$out/$type"
    continue
  fi
  ${TUNE:+timeout -s INT "$TUNE"} "$tuner" --device cuda --arch sm_90a "$out/$type.yaml" "$out/$type" >"$out/$type.log" 2>&1 || tail -1 "$out/$type.log"
  "$tuner" explain "$out/$type" >"$out/$type.explain" 2>&1 || true
  ${PEER:+timeout "$PEER"} sh "$root/scripts/conv_peer.sh" --peer cudnn --types $of_peer --directions "$directions" \
    --library "$out/$type/4_LibraryClient/library" "$out/$type.csv" >"$out/$type.txt" || code=1
  sed -n '/results,/,$p' "$out/$type.txt"
done
exit $code
