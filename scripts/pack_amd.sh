#!/bin/sh
# pack_amd.sh OUT [CONFIG.yaml...]: AMD configs (all of configs/) from fork to a packed library, without a device.
# For each: a simulated run (tuner --simulate: kernels are compiled, times made up), tuner-createlib on its logic with the
# same object cache, tuner-bench --select-only --launches on every size. Checked: every size has a winner, is selected exactly
# with the logic's own solution, every kernel that it launches is in one code object of the library, no spilled kernel is in
# it. With EMULATE=N the problems of at most N multiplications (4e7: seconds) are computed by the library's own code objects
# on the emulator of test/conformance/amd. Prints a table; exit code 1 when something is missing. OUT may be one of an earlier
# call: what was compiled is not compiled again. JOBS=1: one compiler. PART: another part than the architecture's largest.
# BUDGET: seconds of the search where a config states ranges (120).
set -e
[ $# -ge 1 ] || { echo "usage: pack_amd.sh OUT [CONFIG.yaml...]" >&2; exit 2; }
root=$(cd "$(dirname "$0")/.." && pwd)
bin=$root/build/bin; [ -d "$bin" ] || bin=${root%/share/tuner}/bin # installed
bin=${TUNER_BIN:-$bin}
out=$1; shift
mkdir -p "$out"; out=$(cd "$out" && pwd)
[ $# -gt 0 ] || set -- "$root"/configs/vega20_*.yaml "$root"/configs/mi*.yaml "$root"/configs/navi*.yaml
jobs=${JOBS:+-j$JOBS}
bad=0
say() { echo "pack_amd.sh: $name: $*" >&2; bad=1; }

# Lines for tuner-bench, and beside each the winner that the logic has: every size of every logic file of a run
problems() {
  for logic in "$out/$name"/3_LibraryLogic/*.yaml; do
    # aldebaran_Cijk_Ailk_Bljk_HHS_BH: transposes, then types
    group=$(basename "$logic" .yaml) group=Cijk_${group#*_Cijk_} ta=N tb=N
    case $group in Cijk_Alik_*) ta=T;; esac
    case $group in *_Bjlk_*) tb=T;; esac
    types=$(echo "$group" | sed 's/^Cijk_[^_]*_[^_]*_//; s/_BH*$//; s/^\([SDCZH]\)B$/\1/; s/^I8II$/I8/; s/^4xi8II$/I8x4/')
    "$bin/tuner-logic" show "$logic" --sizes | sed 's/[, ]/ /g' | awk -v t="$types $ta $tb" -v g="$group" '
      # M N BATCH K LDD LDC LDA LDB solution speed
      { print t, $1, $2, $4, $3, $7, $8, $6, $5, 1, 0 "\t" g " " $9 }'
  done
}

# Symbol table of a code object
readelf=$(for r in llvm-readelf llvm-readelf-19 llvm-readelf-18 llvm-readelf-17 llvm-readelf-16 llvm-readelf-15 readelf; do command -v $r && break; done)
symbols() { "${readelf:-readelf}" --dyn-syms -W "$1" 2>/dev/null | sed 's/@.*//'; }

check() { # of one library: sizes selected, by which kernels
  "$bin/tuner-bench" --library "$lib" --select-only --launches --part "$part" <"$work/lines" >"$work/answers" || true
  n_exact=$(grep -c '"why":"exact","distance":0,' "$work/answers" || true)
  [ "$n_exact" = "$n_sizes" ] || say "$n_exact of $n_sizes sizes are selected exactly"
  # kernels that are launched, and those that the files have
  grep -o '"calls":.*' "$work/answers" | grep -o '"kernel":"[^"]*"' | cut -d'"' -f4 | sort -u >"$work/launched"
  for f in "$lib"/*.co "$lib"/*.hsaco; do
    [ ! -f "$f" ] || symbols "$f" | sed -n 's/.* \([A-Za-z0-9_]*\)\.kd$/\1/p' | sort -u
  done | sort >"$work/there"
  missing=$(sort -u "$work/there" | comm -23 "$work/launched" - | wc -l)
  [ "$missing" = 0 ] || say "$missing of $(wc -l <"$work/launched") kernels are in no code object"
  twice=$(uniq -d "$work/there" | comm -12 "$work/launched" - | wc -l)
  [ "$twice" = 0 ] || say "$twice kernels are in two code objects"
  # the winner of the logic and the selected solution are the same pairs, one to one
  grep -o '"index":[0-9]*' "$work/answers" | cut -d: -f2 | paste -d' ' "$work/winners" - | sort -u >"$work/pairs"
  n=$(cut -d' ' -f1,2 "$work/pairs" | sort -u | wc -l) k=$(cut -d' ' -f3 "$work/pairs" | sort -u | wc -l)
  [ "$n $k" = "$(wc -l <"$work/pairs") $(wc -l <"$work/pairs")" ] || say "selections are not the logic's winners"
}

emulate() {
  [ -n "$EMULATE" ] || return 0
  sh "$root/test/conformance/amd/run.sh" library_run.py --build "$bin/.." --packed "$out/$name" --seed 1 --work "$EMULATE" \
    >"$work/emulated" 2>&1 || say "wrong on the emulator: $(grep -A1 FAILED "$work/emulated" | head -2)"
  echo "$name: $(tail -1 "$work/emulated")" >&2
}

printf '%-14s %-12s %5s %9s %8s %7s %7s %8s %8s %7s %9s %7s\n' config part sizes solutions compiled spilled winners kernels selected KiB \
  'run, s' 'pack, s'
for config in "$@"; do
  name=$(basename "$config" .yaml)
  work=$out/$name/pack_amd lib=$out/$name/packed/library
  arch=$(sed -n 's/^  ArchitectureName: *"\{0,1\}\([a-z0-9]*\).*/\1/p' "$config")
  # the first part of the architecture in the list: the largest
  part=${PART:-$("$bin/tuner" --list-targets | sed -n "/^$arch:/,/^[^ ]/p" | sed -n '2s/^  \(.*[^ ]\)  *[0-9]* CUs.*/\1/p')}
  start=$(date +%s) rc=0
  budget= # ranges are searched for a while only
  if grep -q '^ *SearchMethod:' "$config"; then budget="--budget ${BUDGET:-120}"; fi
  "$bin/tuner" --simulate --part "$part" --arch "$arch" $jobs $budget "$config" "$out/$name" >"$out/$name.log" 2>&1 || rc=$?
  [ $rc = 0 ] || say "tuner: exit code $rc: $(tail -1 "$out/$name.log")"
  [ $rc = 0 ] || [ $rc = 3 ] || continue
  ran=$(($(date +%s)-start)) start=$(date +%s)
  mkdir -p "$work"
  problems >"$work/problems"
  cut -f1 "$work/problems" >"$work/lines"; cut -f2 "$work/problems" >"$work/winners"
  n_sizes=$(wc -l <"$work/lines")
  "$bin/tuner-createlib" --strict --cache "$out/$name/0_Build/cache" $jobs "$out/$name/3_LibraryLogic" "$out/$name/packed" HIP \
    >"$work/createlib.log" 2>&1 || { say "tuner-createlib: $(tail -1 "$work/createlib.log")"; continue; }
  ! grep 'spill' "$work/createlib.log" >&2 || say "spilled kernels are in the library"
  check
  emulate
  "$bin/tuner" status "$out/$name" >"$work/status"
  sum() { sed -n "$1" "$work/status" | awk '{ n += $1 } END { print n + 0 }'; }
  solutions=$(sum 's/.* \([0-9]*\) valid, .*/\1/p')
  spilled=$(sed -n 's/.* \([0-9]*\) kernels spill registers and are left out.*/\1/p' "$out/$name.log")
  printf '%-14s %-12s %5d %9d %8d %7d %7d %8d %8d %7d %9d %7d\n' "$name" "$part" "$n_sizes" "$solutions" \
    "$(sum 's/.*kernels: \([0-9]*\) compiled.*/\1/p')" "${spilled:-0}" "$(sort -u "$work/winners" | wc -l)" \
    "$(wc -l <"$work/launched")" "$n_exact" "$(du -sk "$lib" | cut -f1)" "$ran" $(($(date +%s)-start))
done
exit $bad
