# scripts/unseen_sizes.sh: sizes drawn by a seed, none that the config names, all strata; bad input.
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
