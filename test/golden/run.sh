#!/bin/sh
# Golden tests: run.sh BUILD [--rewrite] [NAME...]
# Each test/golden/NAME.sh runs in an empty directory with BIN (programs), DATA (test/data), CONFIGS in its environment;
# what it prints (stdout and stderr together) and its exit code must equal NAME.out. A test that prints a first line
# 'skipped: why' is skipped. As many tests run at a time as there are processors (LANES=n).
B=$1; shift
root=$(pwd); case $B in /*) ;; *) B=$root/$B;; esac
export BIN="$B/bin" LIB="$B/lib" DATA="$root/test/data" CONFIGS="$root/configs" ROOT="$root" LC_ALL=C

# one NAME REWRITE: runs a test, prints its result, counts it; false when it failed
one() {
  name=$1 bad=0
  dir=$(mktemp -d "${TMPDIR:-/tmp}/tuner-golden-XXXXXX")
  start=$(date +%s)
  (cd "$dir" && timeout 300 sh "$root/test/golden/$name.sh" >"$dir.got" 2>&1; echo "exit $?" >>"$dir.got")
  took=$(($(date +%s)-start))
  if head -1 "$dir.got" | grep -q '^skipped: '; then
    echo "0 0 1" >>"$B/counts.golden"; echo "golden $name: $(head -1 "$dir.got")"
  elif [ "$2" = 1 ]; then cp "$dir.got" "test/golden/$name.out"; echo "golden $name: written"
  elif diff -u "test/golden/$name.out" "$dir.got" >"$dir.diff" 2>&1; then
    echo "1 0 0" >>"$B/counts.golden"; printf 'golden %-40s ok %3d s\n' "$name" $took
  else
    echo "0 1 0" >>"$B/counts.golden"; bad=1
    { echo "golden $name: FAILED"; head -60 "$dir.diff"; } >"$dir.said"; cat "$dir.said"
  fi
  rm -rf "$dir" "$dir.got" "$dir.diff" "$dir.said"
  return $bad
}

rewrite=0
case ${1-} in
  --one) one "$2" "$3"; exit ;;
  --rewrite) rewrite=1; shift ;;
esac
: >"$B/counts.golden"
[ $# -eq 0 ] && set -- $(cd test/golden && ls ./*.sh | sed 's|^./||; s|\.sh$||' | grep -vx run)
for name in "$@"; do echo "$name"; done |
  xargs -P "${LANES:-$(nproc)}" -I NAME sh "$root/test/golden/run.sh" "$B" --one NAME $rewrite
