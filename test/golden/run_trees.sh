# Decision trees for sizes that nobody tuned: a run writes them in Tensile's logic format when it is told to, or when
# cross-validation says that they lose clearly less; exact rows come first, then the trees, then the table. libtuner's
# choices are those of the trees in the logic file, which awk computes again.
export TUNER_SIM="arch=x86-64-v3;cus=8;spread=0;fill=1;noise=0.001"
masked() { sed -E 's/[0-9]+(\.[0-9]+)?/N/g; s/ +/ /g'; }
run() { # name, config, value of DecisionTrees
  "$BIN/tuner" --device sim --global-parameters "DecisionTrees=$3" -- "$2" "$1" >said 2>&1
  echo "$1: exit $?, $(ls "$1/3_LibraryLogic" | tr '\n' ' ')"
  grep 'mean loss' said | masked
}
# 80 scattered sizes show that trees lose less; 30 of a grid, on a device whose kernels differ by more than their tiles, do not
awk 'BEGIN { x = 5; for (i = 0; i < 80; i++) { for (d = 0; d < 3; d++) { x = (x * 1103 + 12345) % 65536; v[d] = x }
  printf "          - Exact: [%d, %d, 1, %d]\n", 16 + v[0] % 2000, 16 + v[1] % 2000, 8 + v[2] % 200 } }' >scattered
awk '/Range:/ { while ((getline line <"scattered") > 0) print line; next } { print }' "$DATA/run/unseen.yaml" >fine.yaml
run auto_fine fine.yaml auto
run never_fine fine.yaml never
TUNER_SIM="arch=x86-64-v3;cus=8;spread=0.3;fill=0;noise=0.001" run auto "$DATA/run/unseen.yaml" auto
run always "$DATA/run/unseen.yaml" always
grep '^  decision trees' said | masked
sed 's/Range: .*/Range: [[32, 96, 224], [48], [1], [64]]/; s/HeldOutSizes: .*/HeldOutSizes: 0/' "$DATA/run/unseen.yaml" >few.yaml
run few few.yaml always
grep DecisionTrees said
cd always/3_LibraryLogic || exit
"$BIN/tuner-logic" check ./*.yaml
tail -2 sim_Cijk_Ailk_Bljk_SB_equality.yaml
echo "--- exact rows are the measured ones; the other files have neither the model nor predicted rows"
grep -c '^- - - \[\|^  - - \[' sim_Cijk_Ailk_Bljk_SB_equality.yaml
grep -c 'PerformanceModel\|PredictedSizes' sim_Cijk_Ailk_Bljk_SB_equality.yaml sim_Cijk_Ailk_Bljk_SB_dtree.yaml
cd ../..

# why and tile of each size
ask() { # library, sizes
  while read -r m n b k; do echo "S N N $m $n $k $b 0 0 0 0 1 0"; done <"$2" |
    "$BIN/tuner-bench" --library "$1" --select-only --arch x86-64-v3 --cus 8 |
    sed -E 's/.*"why":"([a-z]*)".*/\1/; t; s/.*/none/'
}
kernels() {
  while read -r m n b k; do echo "S N N $m $n $k $b 0 0 0 0 1 0"; done <"$2" |
    "$BIN/tuner-bench" --library "$1" --select-only --arch x86-64-v3 --cus 8 | sed -E 's/.*"kernel":"[^"]*_(MT[0-9x]*)_.*/\1/'
}
awk 'BEGIN { x = 7; for (i = 0; i < 400; i++) { for (d = 0; d < 3; d++) { x = (x * 1103 + 12345) % 65536; v[d] = 1 + x % 900 }
  print v[0], v[1], 1 + i % 3, 1 + v[2] % 200 } }' >sizes
echo "--- beside a model the trees are for those who ask for them"
ask always/4_LibraryClient/library sizes | sort | uniq -c | sed 's/^ *//'
TENSILE_EXPERIMENTAL_SELECTION=2 ask always/4_LibraryClient/library sizes | sort | uniq -c | sed 's/^ *//'
echo "--- without it: as the logic file's trees say"
mkdir plain
for f in always/3_LibraryLogic/*.yaml; do
  awk '/^    PerformanceModel:/ { skip = 1; next } skip && /^      / { next } { skip = 0; print }' "$f" >plain/"${f##*/}"
done
"$BIN/tuner-createlib" --metadata-only plain lib host >said 2>&1 || tail -1 said
ask lib/library sizes | sort | uniq -c | sed 's/^ *//'
kernels lib/library sizes >got
awk -v dtree=plain/sim_Cijk_Ailk_Bljk_SB_dtree.yaml '
  function ceil(x) { return x == int(x) ? x : int(x) + 1 }
  function value(f) {
    if (type[f] == "FreeSizeA") return $1; if (type[f] == "FreeSizeB") return $2
    if (type[f] == "BatchSize") return $3; if (type[f] == "BoundSize") return $4
    x = ceil($1 * number(f, "mt0")) * ceil($2 * number(f, "mt1")) * number(f, "cus")
    return type[f] == "WavesPerSIMD" ? ceil(x) : x / ceil(x)
  }
  function number(f, key) { match(text[f], key ": [0-9.e-]+"); return substr(text[f], RSTART + length(key) + 2, RLENGTH - length(key) - 2) + 0 }
  BEGIN {
    nf = nt = ns = 0
    while ((getline line <dtree) > 0) {
      if (line ~ /^  (- |  )?.*type: /  && line !~ /SizeInRange/ && !trees) { t = line; sub(/.*type: /, "", t); sub(/}.*/, "", t); type[nf++] = t }
      if (line ~ /^    value: .*mt0/) text[nf - 1] = line
      if (line ~ /^  trees:/) trees = 1
      if (line ~ /^  - solution: /) { solution[nt] = substr(line, 15) + 0; count[nt++] = 0 }
      if (line ~ /featureIdx/) { gsub(/[^0-9. -]+/, "", line); gsub(/^ *- */, "", line); node[nt - 1, count[nt - 1]++] = line }
      if (line ~ /SolutionNameMin: /) { t = line; sub(/.*_MT/, "MT", t); sub(/_.*/, "", t); name[ns++] = t }
    }
  }
  {
    answer = "none"
    for (i = 0; i < nt && answer == "none"; i++) {
      at = 0
      while (at >= 0) { split(node[i, at], q, " "); at = value(q[1]) <= q[4] ? q[3] : q[2] }
      if (at == -2) answer = name[solution[i]]
    }
    print answer
  }' sizes >want
paste got want | awk '{ same += $1 == $2 } END { print same " of " NR " as the trees" }'
sort want | uniq -c | wc -l
printf '128 192 1 64\n128 192 9 64\n' >sizes
ask lib/library sizes
echo "--- bad values"
"$BIN/tuner" --device sim --global-parameters DecisionTrees=often -- "$DATA/run/unseen.yaml" out2 2>&1 | sed "s|$DATA|DATA|"
exit 0
