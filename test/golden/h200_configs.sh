# The ready configs for H200 and the lists of kernels that they were: permutations and valid solutions, one line per problem type; of lists
# nothing is rejected. Of ranges all tiles are tried here with one value of each other parameter, two clusters, and parts of K up to 4,
# for listing whole ranges takes minutes. The ranges of bfloat16 are those of half precision.
for c in sgemm dgemm tf32 int8 fp8; do
  echo "$c, list: $("$BIN/tuner" --list-solutions --count --arch sm_90a "$DATA/search/h200_${c}_list.yaml" | tr '\n' ' ')"
done
for c in hgemm sgemm dgemm tf32 int8 fp8; do
  case $c in hgemm) depth=64 ;; sgemm|dgemm) depth=16 ;; tf32) depth=32 ;; *) depth=128 ;; esac
  ranges='WorkGroupMapping|PrefetchGlobalRead|PrefetchLocalRead|NvBlocks|DependentLaunch|EngineStore'
  sed -E "/ClusterM: .*ClusterN: [24]\}|ClusterM: 4|GlobalSplitU: ([35-9]|[1-9][0-9])[,}]|ClusterK: 4/d; /: \[.*,/s/- ($ranges): \[([^,]*),.*\]\$/- \1: [\2]/; s/- DepthU: \[.*,.*/- DepthU: [$depth]/" "$CONFIGS/h200_$c.yaml" >"$c.yaml"
  echo "$c: $("$BIN/tuner" --list-solutions --count --arch sm_90a "$c.yaml" | tr '\n' ' ')"
  grep -E 'SearchMethod|TimeBudget' "$c.yaml"
done
sed '1,2d; s/DataType: h\>/DataType: b/g' "$CONFIGS/h200_hgemm.yaml" >half.yaml
sed 1,2d "$CONFIGS/h200_bf16.yaml" | cmp - half.yaml && echo "bf16: the ranges of hgemm"
echo "--- sm_80 has less shared memory, and 8x8x4 alone for doubles"
"$BIN/tuner" --list-solutions --reasons --arch sm_80 "$DATA/search/h200_dgemm_list.yaml" 2>/dev/null | grep -v -e '^Cijk' -e ' 0 '
"$BIN/tuner" --list-solutions --arch sm_90a hgemm.yaml | sed -n 1,3p
