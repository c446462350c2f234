# The ready configs for H200: permutations and valid solutions, one line per problem type; nothing is rejected.
for c in sgemm dgemm hgemm bf16 tf32 int8 fp8; do
  echo "$c: $("$BIN/tuner" --list-solutions --count --arch sm_90a "$CONFIGS/h200_$c.yaml" | tr '\n' ' ')"
done
echo "--- sm_80 has less shared memory, and 8x8x4 alone for doubles"
"$BIN/tuner" --list-solutions --reasons --arch sm_80 "$CONFIGS/h200_dgemm.yaml" 2>/dev/null | grep -v -e '^Cijk' -e ' 0 '
"$BIN/tuner" --list-solutions --arch sm_90a "$CONFIGS/h200_hgemm.yaml" | sed -n 1,3p
