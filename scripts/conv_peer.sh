#!/bin/sh
# conv_peer.sh [--library OUT] [--peer cudnn|onednn] [--threads N] [--types 'convfp16 ..'] [--directions 'forward data weights'] [--limit N]
# [OUT.csv]: times and checks convolutions of a peer, and of a library of ours beside it: 20 sizes of image networks, three directions, on
# this machine's device (cudnn; NHWC, f32 in NCHW; convtf32: f32 with tf32 products in NHWC) or CPU (onednn). Prints a line for each: size,
# direction, time in us and its interval, GFlop/s, and whether the result is right; OUT.csv has all columns. With a library, geometric means
# of the peer's time over ours follow: of each direction, where the peer is below 45 TFlop/s, and the ratios of small and odd layers.
# Exit code 1: a result is wrong or a convolution is refused; 4: there is no device or no library.
set -e
export LC_ALL=C
usage() { echo "usage: conv_peer.sh [--library OUT] [--peer cudnn|onednn] [--threads N] [--types 'conv convfp16 ..'] [--directions 'forward ..'] [--limit N] [OUT.csv]: $*" >&2; exit 2; }
peer=cudnn types= out= limit=20 library= threads= directions='forward data weights'
while [ $# -gt 0 ]; do
  case $1 in
    --peer) [ $# -ge 2 ] || usage "--peer needs a name"; peer=$2; shift 2 ;;
    --library) [ $# -ge 2 ] || usage "--library needs a directory"; library=$2; shift 2 ;;
    --threads) [ $# -ge 2 ] || usage "--threads needs a number"; threads=$2; shift 2 ;;
    --types) [ $# -ge 2 ] || usage "--types needs names"; types=$2; shift 2 ;;
    --directions) [ $# -ge 2 ] || usage "--directions needs names"; directions=$2; shift 2 ;;
    --limit) [ $# -ge 2 ] || usage "--limit needs a number"; limit=$2; shift 2 ;;
    -*) usage "unknown option '$1'" ;;
    *) [ -z "$out" ] || usage "unexpected '$1'"; out=$1; shift ;;
  esac
done
case $peer in cudnn) types=${types:-convfp16 convbfp16 convtf32 conv} ;; onednn) types=${types:-conv} ;; *) usage "no peer '$peer'" ;; esac
case $limit in '' | *[!0-9]*) usage "--limit '$limit' is no number" ;; esac
sum=0
for direction in $directions; do
  case $direction in forward) sum=$((sum | 1)) ;; data) sum=$((sum | 2)) ;; weights) sum=$((sum | 4)) ;; *) usage "no direction '$direction'" ;; esac
done
[ $sum != 0 ] || usage "--directions '', expected some of forward, data, weights"
root=$(cd "$(dirname "$0")/.." && pwd)
bench=${TUNER_BENCH:-$root/build/bin/tuner-bench}
[ -x "$bench" ] || bench=${root%/share/tuner}/bin/tuner-bench # installed
[ -x "$bench" ] || { echo "conv_peer.sh: there is no '$bench'" >&2; exit 2; }
work=$(mktemp -d "${TMPDIR:-/tmp}/tuner-conv-XXXXXX")
trap 'rm -rf "$work"' EXIT

# n c h w k y x stride pad dilation groups
sizes() {
  sed -n "1,${limit}p" <<'END'
64 3 224 224 64 7 7 2 3 1 1
64 64 56 56 64 1 1 1 0 1 1
64 64 56 56 64 3 3 1 1 1 1
64 64 56 56 256 1 1 1 0 1 1
64 256 56 56 64 1 1 1 0 1 1
64 256 56 56 512 1 1 2 0 1 1
64 128 56 56 128 3 3 2 1 1 1
64 128 28 28 128 3 3 1 1 1 1
64 512 28 28 128 1 1 1 0 1 1
64 256 14 14 256 3 3 1 1 1 1
64 256 28 28 256 3 3 2 1 1 1
64 1024 14 14 256 1 1 1 0 1 1
64 512 7 7 512 3 3 1 1 1 1
64 2048 7 7 512 1 1 1 0 1 1
16 320 64 64 320 3 3 1 1 1 1
16 640 32 32 640 3 3 1 1 1 1
16 256 48 48 256 3 3 1 2 2 1
32 128 28 28 128 3 3 1 1 1 32
1 64 224 224 64 3 3 1 1 1 1
8 48 35 35 64 5 5 1 2 1 1
END
}
for type in $types; do
  layout='-I NHWC -f NHWC -O NHWC'
  case $type in conv) layout= ;; convtf32) type=conv layout="$layout --xf32 1" ;; esac
  sizes | while read -r n c h w k y x s p d g; do
    echo "MIOpenDriver $type -n $n -c $c -H $h -W $w -k $k -y $y -x $x -u $s -v $s -p $p -q $p -l $d -j $d -g $g $layout -F $sum"
  done
done >"$work/sizes.log"
code=0
csv=${out:-$work/csv} # written line by line: what is measured when the script is stopped is kept
"$bench" conv --peer "$peer" ${library:+--library "$library"} ${threads:+--threads "$threads"} "$work/sizes.log" >"$csv" || code=$?
case $code in 0 | 1 | 3) ;; *) exit $code ;; esac # 3: the library has no kernel for some
grep -v '^#' "$csv" >"$work/rows" && cp "$work/rows" "$csv"
awk -F, 'NR > 1 {
  printf "%-88s %-14s %10s us [%s, %s] %9.0f GFlop/s  %s %s\n", $1, $3, $6, $7, $8, $5, $4, $11
  n++; if ($11 !~ /^right/) bad++
} END { printf "%d results, %d not right\n", n, bad; exit bad != 0 }' "$csv" || code=1
# the peer's time over ours
awk -F, '
function add(group, x, name) {
  if (!(group in n)) order[++n_groups] = group
  sum[group] += log(x); n[group]++
  if (!(group in least) || x < least[group]) { least[group] = x; least_of[group] = name }
}
NR > 1 && $6 > 0 { if ($3 == "tuner") ours[$1] = $6; else { us[$1] = $6; gflops[$1] = $5; name[++n_names] = $1 } }
END {
  for (i = 1; i <= n_names; i++) {
    c = name[i]
    if (!(c in ours)) continue
    x = us[c] / ours[c]
    split(c, w, " "); what = w[1] " " w[2] " " w[3]
    add(what, x, c)
    if (gflops[c] < 45000) add(what ", peer below 45 TFlop/s", x, c)
    odd = c ~ / c3 / ? "first layer" : c ~ / g32$/ ? "32 groups" : c ~ / n8 c48 / ? "8,48,35,35" : ""
    if (odd != "") special[++n_special] = sprintf("%s, %s: %.3f (%s us, %s)", what, odd, x, ours[c], us[c])
  }
  for (i = 1; i <= n_groups; i++) {
    g = order[i]
    printf "%s: %.3f of %d (least %.3f, %s)\n", g, exp(sum[g] / n[g]), n[g], least[g], least_of[g]
  }
  for (i = 1; i <= n_special; i++) print special[i]
}' "$csv"
exit $code
