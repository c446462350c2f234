# The ready configs for H200: permutations and valid solutions, one line per problem type; of lists nothing is rejected. Of ranges
# one value of each parameter is tried here, but for tiles, clusters and parts of K.
for c in sgemm dgemm tf32 int8 fp8; do
  echo "$c: $("$BIN/tuner" --list-solutions --count --arch sm_90a "$CONFIGS/h200_$c.yaml" | tr '\n' ' ')"
done
for c in hgemm bf16; do
  sed -E '/: \[.*,/s/- (WorkGroupMapping|DepthU|PrefetchGlobalRead|DependentLaunch|EngineStore): \[([^,]*),.*\]/- \1: [\2]/; s/DepthU: \[32\]/DepthU: [64]/' \
    "$CONFIGS/h200_$c.yaml" >"$c.yaml"
  echo "$c: $("$BIN/tuner" --list-solutions --count --arch sm_90a "$c.yaml" | tr '\n' ' ')"
  grep -E 'SearchMethod|TimeBudget' "$c.yaml"
done
echo "--- sm_80 has less shared memory, and 8x8x4 alone for doubles"
"$BIN/tuner" --list-solutions --reasons --arch sm_80 "$CONFIGS/h200_dgemm.yaml" 2>/dev/null | grep -v -e '^Cijk' -e ' 0 '
"$BIN/tuner" --list-solutions --arch sm_90a hgemm.yaml | sed -n 1,3p
