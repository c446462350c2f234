# The configs for AMD GPUs: permutations/valid of every group for the architecture that each names.
for f in "$CONFIGS"/vega20_*.yaml "$CONFIGS"/mi*.yaml "$CONFIGS"/navi*.yaml; do
  echo "$(basename "$f" .yaml): $("$BIN/tuner" --list-solutions --count "$f" 2>&1 | grep -v "now takes numbers" | tr '\n' ' ')"
done
