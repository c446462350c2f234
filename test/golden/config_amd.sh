# The configs for AMD GPUs: permutations/valid/written of every group for the architecture that each names. Of ranges that a
# search goes through, whose counting takes minutes: a solution.
for f in "$CONFIGS"/vega20_*.yaml "$CONFIGS"/mi*.yaml "$CONFIGS"/navi*.yaml; do
  case $(basename "$f" .yaml) in
    mi300_hgemm) echo "mi300_hgemm: $("$BIN/tuner" --list-solutions --names "$f" 2>&1 | head -1 | cut -d_ -f1-5)" ;;
    *) echo "$(basename "$f" .yaml): $("$BIN/tuner" --list-solutions --count "$f" 2>&1 | grep -v "now takes numbers" | tr '\n' ' ')" ;;
  esac
done
