#!/bin/sh
# Fuzzing: run.sh BUILD SECONDS|fixed TARGET... The seeds of a target are the files of test/fuzz/corpus/<target>/, which
# are only read; inputs that once failed stand among them. Logs and inputs that fail go to BUILD/fuzz/. As many targets run at
# a time as there are processors (LANES=n).
#   SECONDS  random inputs for that long, which add to BUILD/fuzz/<target>.corpus: make fuzz
#   fixed    all seeds, then a fixed number of inputs that a fixed random seed makes of a copy of them: make clang, and so
#            CI. The same program gets the same inputs in every run: what fails fails again, and nothing fails by luck.
B=$1; how=$2; shift 2

# one TARGET: false when an input failed
one() {
  name=$(basename "$1"); t=$1 seeds=test/fuzz/corpus/$name
  set -- -rss_limit_mb=2048 -print_final_stats=1 -artifact_prefix="$B/fuzz/$name-"
  if [ "$how" = fixed ]; then
    own=$B/fuzz/$name.fixed; rm -rf "$own"; mkdir -p "$own"
    [ ! -d "$seeds" ] || cp "$seeds"/* "$own"
    n=$(ls "$own" | wc -l)
    case $name in fuzz_logic|fuzz_merge) inputs=200 ;; *) inputs=1000 ;; esac # a second or two each
    # Addresses in comparisons and the time at which the folder is read again differ between runs.
    set -- "$@" -seed=1 -runs=$((n + inputs)) -use_cmp=0 -reload=0 -timeout=60 "$own"
    what="$n seeds and $inputs inputs"
  else
    own=$B/fuzz/$name.corpus; mkdir -p "$own"
    set -- "$@" -max_total_time="$how" -timeout=10 "$own"
    [ ! -d "$seeds" ] || set -- "$@" "$seeds"
    what="$how s"
  fi
  if "$t" "$@" >"$B/fuzz/$name.log" 2>&1; then
    echo "$name: $what: clean, $(grep -o 'number_of_executed_units: .*' "$B/fuzz/$name.log")"
  else
    { echo "$name: $what: FAILED"; tail -30 "$B/fuzz/$name.log"; } >"$B/fuzz/$name.said"
    cat "$B/fuzz/$name.said"
    return 1
  fi
}

if [ "$1" = --one ]; then one "$2"; exit; fi
for t in "$@"; do echo "$t"; done | xargs -P "${LANES:-$(nproc)}" -I TARGET sh "$0" "$B" "$how" --one TARGET
