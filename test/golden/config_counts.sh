# Permutations and valid solutions of Tensile's configs: the numbers are those of Tensile's own derivation.
for arch in gfx90a gfx906; do
  for f in "$DATA"/tensile/config/*.yaml; do
    echo "$arch $(basename "$f"): $("$BIN/tuner" --list-solutions --count --arch $arch "$f" 2>/dev/null | tr '\n' ' ')"
  done
done
