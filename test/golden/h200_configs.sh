# The ready configs for H200 and the lists of kernels that they were: permutations and valid solutions, one line per problem type; of lists
# nothing is rejected. Of ranges one value of each parameter is tried here, but for tiles, clusters and parts of K.
for c in sgemm dgemm tf32 int8 fp8; do
  echo "$c, list: $("$BIN/tuner" --list-solutions --count --arch sm_90a "$DATA/search/h200_${c}_list.yaml" | tr '\n' ' ')"
done
for c in hgemm bf16 sgemm dgemm tf32 int8 fp8; do
  case $c in hgemm|bf16) depth=64 ;; sgemm|dgemm) depth=16 ;; tf32) depth=32 ;; *) depth=128 ;; esac
  ranges='WorkGroupMapping|PrefetchGlobalRead|PrefetchLocalRead|NvBlocks|DependentLaunch|EngineStore'
  sed -E "/: \[.*,/s/- ($ranges): \[([^,]*),.*\]\$/- \1: [\2]/; s/- DepthU: \[.*,.*/- DepthU: [$depth]/" "$CONFIGS/h200_$c.yaml" >"$c.yaml"
  echo "$c: $("$BIN/tuner" --list-solutions --count --arch sm_90a "$c.yaml" | tr '\n' ' ')"
  grep -E 'SearchMethod|TimeBudget' "$c.yaml"
done
echo "--- sm_80 has less shared memory, and 8x8x4 alone for doubles"
"$BIN/tuner" --list-solutions --reasons --arch sm_80 "$DATA/search/h200_dgemm_list.yaml" 2>/dev/null | grep -v -e '^Cijk' -e ' 0 '
"$BIN/tuner" --list-solutions --arch sm_90a hgemm.yaml | sed -n 1,3p
