# permutations/valid per size group of the shared configs: Tensile's own numbers (see test/data/tensile/README.md).
for arch in gfx90a gfx906; do
  for f in "$DATA"/tensile/config/*.yaml; do
    name=$(basename "$f" .yaml)
    [ "$name" = alt_format_vega20_example ] && continue
    echo "$name $arch: $("$BIN/tuner" --list-solutions --count --arch $arch "$f" 2>/dev/null | tr '\n' ' ')"
  done
done
# Contractions and convolutions: permutations and valid are Tensile's.
for f in "$DATA"/tensile/config-contraction/*.yaml; do
  echo "$(basename "$f" .yaml) gfx906: $("$BIN/tuner" --list-solutions --count --arch gfx906 "$f" 2>/dev/null | tr '\n' ' ')"
done
