#!/bin/sh
# Golden tests: run.sh BUILD [--rewrite] [NAME...]
# Each test/golden/NAME.sh runs in an empty directory with BIN (programs), DATA (test/data), CONFIGS in its environment, and
# a cc first in PATH that does not optimize (../fast_cc.sh; a test that needs speed takes PATH=$OPTIMIZING);
# what it prints (stdout and stderr together) and its exit code must equal NAME.out. A test that prints a first line
# 'skipped: why' is skipped. One test more than there are processors runs at a time, as many wait now and then (LANES=n); those
# that take long come first, so that no lane waits for them at the end.
B=$1; shift
root=$(pwd); case $B in /*) ;; *) B=$root/$B;; esac
export OPTIMIZING="${OPTIMIZING:-$PATH}" PATH="$B/fast_cc:${OPTIMIZING:-$PATH}" BIN="$B/bin" LIB="$B/lib" DATA="$root/test/data" CONFIGS="$root/configs" ROOT="$root" LC_ALL=C

# one NAME REWRITE: runs a test, prints its result, counts it; false when it failed
one() {
  name=$1 bad=0
  dir=$(mktemp -d "${TMPDIR:-/tmp}/tuner-golden-XXXXXX")
  start=$(date +%s)
  (cd "$dir" && timeout 1200 sh "$root/test/golden/$name.sh" >"$dir.got" 2>&1; echo "exit $?" >>"$dir.got")
  took=$(($(date +%s)-start))
  if head -1 "$dir.got" | grep -q '^skipped: '; then
    echo "0 0 1" >>"$B/counts.golden"; echo "golden $name: $(head -1 "$dir.got")"
  elif [ "$2" = 1 ]; then cp "$dir.got" "test/golden/$name.out"; echo "golden $name: written"
  elif diff -u "test/golden/$name.out" "$dir.got" >"$dir.diff" 2>&1; then
    echo "1 0 0" >>"$B/counts.golden"; printf 'golden %-40s ok %3d s\n' "$name" $took
  else
    echo "0 1 0" >>"$B/counts.golden"; bad=1
    { echo "golden $name: FAILED"; head -60 "$dir.diff"; } >"$dir.said"; cat "$dir.said"
    cat "$dir.said" >>"$B/failed.log"
  fi
  rm -rf "$dir" "$dir.got" "$dir.diff" "$dir.said"
  return $bad
}

rewrite=0
case ${1-} in
  --one) one "$2" "$3"; exit ;;
  --rewrite) rewrite=1; shift ;;
esac
if [ $rewrite = 1 ] && [ ! -f "$B/fake/cuda/built" ]; then # else their absence would become what is expected
  echo "run.sh: --rewrite: there are no fake drivers in '$B/fake': make golden-rewrite builds them" >&2; exit 2
fi
: >"$B/counts.golden"
mkdir -p "$B/fast_cc"; cp "$root/test/fast_cc.sh" "$B/fast_cc/cc"; chmod +x "$B/fast_cc/cc"
[ $# -eq 0 ] && set -- $(cd test/golden && ls ./*.sh | sed 's|^./||; s|\.sh$||' | grep -vx run)
long="nvptx_emulator h200_configs nvptx_ring createlib_amd search spills deb library_speed h200_unseen_run shards devices run_trees nvptx_tile
run_diff run_faults search_interrupt devices_gpu gpu_peer gpu_run report report_browser workflow_kill kill_resume slurm"
for name in "$@"; do
  case " $(echo $long) " in *" $name "*) echo "0 $name" ;; *) echo "1 $name" ;; esac
done | sort -s -k1,1 | cut -d' ' -f2 |
  xargs -P "${LANES:-$(($(nproc) + 1))}" -I NAME sh "$root/test/golden/run.sh" "$B" --one NAME $rewrite
