# Sizes that were not tuned: a run holds some out and says what the library's choices lose on them; the logic has the
# distance, the model and predicted rows; libtuner chooses by row, by model, or by the nearest row. On a simulated device
# whose kernels differ by the share of compute units that have work.
export TUNER_SIM="arch=x86-64-v3;cus=8;spread=0;fill=1;noise=0.001"
ini=out/1_BenchmarkProblems/*/00_Final/source/ClientParameters.ini
masked() { sed -E 's/[0-9]+(\.[0-9]+)?/N/g; s/ +/ /g'; }
"$BIN/tuner" --device sim --suggest-sizes 3 "$DATA/run/unseen.yaml" out >said 2>&1; echo "exit $?"
grep 'held out' said
echo "sizes: $(grep -c '^problem-size' $ini); $(grep race-all-from $ini)"
grep '^model:' said | masked
grep -E '^  (choice|libtuner|table)' said | masked
grep -A3 'sizes whose tuning' said | masked
echo "--- libtuner loses less than the table by Tensile's default distance"
awk '/libtuner +all/ { sub("%", "", $4); l = $4 } /table, Euclidean +all/ { sub("%", "", $5); e = $5 }
  END { print (l < e / 2 ? "yes" : "no: " l " " e) }' said
echo "--- the logic: distance, solutions with a model, predicted rows are marked, held-out sizes have none"
logic=out/3_LibraryLogic/sim_Cijk_Ailk_Bljk_SB.yaml
tail -1 "$logic"
[ "$(grep -c PerformanceModel: "$logic")" = "$(grep -c SolutionIndex: "$logic")" ] && echo "every solution has one"
grep -c PredictedSizes: "$logic"
rows=$(grep -cE '^  - - \[|^- - - \[' "$logic"); predicted=$(sed -n '/PredictedSizes:/,/Prefetch/p' "$logic" | grep -c '^    - \[')
echo "$((rows - predicted)) measured rows"
"$BIN/tuner-logic" show "$logic" >/dev/null && echo "tuner-logic reads it"
echo "--- choices: a tuned size, one that was not, one with another batch count"
ask() { printf 'S N N %s 0 0 0 0 1 0\n' '128 192 64 1' '130 150 64 1' '128 192 64 9' |
  "$BIN/tuner-bench" --library "$1" --select-only --arch x86-64-v3 --cus 8 | sed -E 's/.*"why":"([a-z]*)".*/\1/'; }
ask out/4_LibraryClient/library
echo "--- without the model: the nearest row"
mkdir plain
awk '/^    PerformanceModel:/ { skip = 1; next } skip && /^      / { next } { skip = 0; print }' "$logic" >plain/l.yaml
"$BIN/tuner-createlib" --metadata-only plain lib host >said 2>&1 || tail -1 said
ask lib/library
echo "--- a model of another version"
mkdir other
sed 's/PerformanceModel: \[[0-9]*,/PerformanceModel: [999,/' "$logic" >other/l.yaml
"$BIN/tuner-createlib" --metadata-only other lib2 host >said 2>&1; echo "exit $?"; grep PerformanceModel said | sed -E 's/:[0-9]+:/:LINE:/; s/of [0-9]+ numbers/of N numbers/; s/version [0-9]+/version N/'
echo "--- of 120 sizes the run's library and the logic's have trees, of 30 none"
sed -E 's/- Range: .*/- Range: [[32, 48, 560], [48, 64, 640], [1], [64]]/; s/HeldOutSizes: 20/HeldOutSizes: 0/' "$DATA/run/unseen.yaml" >wide.yaml
"$BIN/tuner" --device sim wide.yaml wide >said 2>&1; echo "exit $?"
"$BIN/tuner-createlib" --metadata-only wide/3_LibraryLogic lib3 host >said 2>&1 || tail -1 said
for l in out/4_LibraryClient/library wide/4_LibraryClient/library lib3/library; do grep -aq boostedTrees "$l"/*.dat && echo trees || echo none; done
ask wide/4_LibraryClient/library; ask lib3/library
echo "--- bad values"
"$BIN/tuner" --device sim --global-parameters HeldOutSizes=-2 -- "$DATA/run/unseen.yaml" out2 2>&1 | sed "s|$DATA|DATA|"
"$BIN/tuner" --device sim --suggest-sizes=-1 "$DATA/run/unseen.yaml" out2 2>&1 | sed "s|$DATA|DATA|"
