# scripts/unseen_sizes.sh: sizes drawn by a seed, none that the config names, all strata; h200_results.sh --unseen on a fake CUDA
# driver: the run on such sizes, the library of the config's own sizes asked for them, the tables.
unseen="sh $ROOT/scripts/unseen_sizes.sh"
for config in "$CONFIGS"/h200_*.yaml; do
  $unseen "$config" 100 >drawn.yaml 2>log || cat log
  # candidates, problem types and all else as in the config
  grep -v '^ *- \(Exact\|Range\): \[' "$config" >a; sed 1d drawn.yaml | grep -v '^ *- Exact: \[' | diff a - >/dev/null || echo "$config: more than sizes differs"
  sed -n 's/^ *- Exact: \[\(.*\)\]/\1/p' drawn.yaml | sort >drawn; sed -n 's/^ *- Exact: \[\(.*\)\]/\1/p' "$config" | sort -u >own
  [ "$(sort -u drawn | wc -l)" = 100 ] || echo "$config: $(sort -u drawn | wc -l) sizes"
  comm -12 drawn own; grep -E '^[0-9]+, 4, 1, 128$' drawn
  awk -F', ' "$(cat "$ROOT/scripts/strata.awk")"'{ n[stratum($1, $2, $3, $4)]++; if ($1 * $2 * $3 * $4 > 2 ^ 37) print "large:", $0 }
    END { print n["large"], n["skinny"], n["small"], n["odd"], n["batched"] }' drawn
done | sort | uniq -c | sed 's/^ *//'
echo "--- equal seeds, equal sizes"
$unseen "$DATA/run/gpu.yaml" 10 7 2>log >a; $unseen "$DATA/run/gpu.yaml" 10 7 2>log >b; cmp a b && cat log | sed "s,$DATA/,,"; sed -n '1p; s/^ *- Exact/Exact/p' a
$unseen "$DATA/run/gpu.yaml" 10 8 2>log | cmp -s a - || echo "another seed, other sizes"
echo "--- strata"
for s in "1 4096 1 4096" "128 1024 1 64" "129 1024 1 64" "64 64 1 512" "64 64 1 504" "1001 1536 1 64" "1024 1024 1 1024" "1016 1024 1 1024" "7 7 2 7"; do
  echo "$s" | awk "$(cat "$ROOT/scripts/strata.awk")"'{ print $0 ": " stratum($1, $2, $3, $4) }'; done
echo "--- bad input"
for bad in "x.yaml" "$CONFIGS/h200_fp8.yaml ten" "$CONFIGS/h200_fp8.yaml 0" "$CONFIGS/h200_fp8.yaml 10 -1" "log"; do $unseen $bad 2>&1; echo "exit $?"; done | sed "s,$CONFIGS/,,"
for bad in "--unseen" "--sizes" "--size 3 o" ""; do sh "$ROOT/scripts/h200_results.sh" $bad 2>&1; echo "exit $?"; done
echo "--- a run"
export TUNER_FAKE="ns=50000" LD_LIBRARY_PATH="$BIN/../fake/cuda" TUNER_DEVICE=cuda
mkdir configs bin
sed 's/TransposeA: False/TransposeA: True/' "$DATA/run/gpu.yaml" >configs/h200_fake.yaml
for p in client bench; do ln -s "$BIN/tuner-$p" bin/tuner-$p; done
# the fake driver computes every product: tuner gets small sizes instead of the drawn ones
cat >bin/tuner <<SH
#!/bin/sh
for a; do case \$a in *.client) sed 's,.*tuner-client",exec tuner-client",' "\$a" | tail -1 >client.txt;; *.unseen.yaml) sed -i 's/ Exact: .*/ Exact: [16, 8, 1, 24]/' "\$a"
  printf '          - Exact: [20, 12, 3, 9]\n          - Exact: [33, 140, 1, 7]\n' >more; sed -i '/Exact/r more' "\$a";; esac; done
LD_LIBRARY_PATH="$LD_LIBRARY_PATH" exec "$BIN/tuner" "\$@"
SH
chmod +x bin/tuner
if ! "$BIN/tuner" --compile-only --arch sm_90 "$DATA/run/gpu.yaml" probe >log 2>&1; then echo "skipped: $(grep '^tuner:' log)"; exit; fi
results() { CONFIGS="$PWD/configs" TUNER="$PWD/bin/tuner" sh "$ROOT/scripts/h200_results.sh" "$@" 2>&1 | sed "s/: [0-9]* s\(,\|\$\)/: N s\1/; s,$PWD/,,"; }
results --unseen --sizes 1 --seed 3 --race-seconds 0.25 o fake | sed '/^Speed over/,$d'; cat client.txt
results o fake >log
results --unseen --sizes 1 --seed 3 --race-seconds 0.25 o fake
ls o/results o/results/unseen
sed "s/^# date.*/# date/; s/^\(# device: [^,]*\).*/\1/; s,$PWD/,," o/results/unseen/fake.csv | grep '^#'
grep -v '^# d' o/results/unseen/fake.library.csv
