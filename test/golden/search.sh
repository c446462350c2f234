# A search by model on the simulated device: what is chosen, how far, why it stopped; against measuring all; bad values.
export TUNER_SIM="arch=x86-64-v3;noise=0;words=0.1;fill=1"
tune() { "$BIN/tuner" "$DATA/search/sim.yaml" "$@" 2>&1; }
built="--global-parameters ClientBuildPath=$PWD/build" # kernels of one run are not compiled for the next
# How many are measured depends on the model's constants: the numbers are masked, and one line judges them.
numbers() {
  sed -E 's/[0-9.e-]+ s( of|;|$)/T s\1/; s/[0-9.]+ %/P %/; s/model: [0-9]+ of/model: N of/; s/[0-9.]+ on a size, [0-9]+ rounds/N on a size, N rounds/
    s/[0-9]+ (finalists|kernels|pairs|rounds)/N \1/g'
}
echo "-- by model"
tune whole --search model $built >said; echo "exit $?"
grep -E 'permutations|searched' said | numbers
sed -n 's/.*), \([0-9.]*\) on a size, .*/\1/p' said | awk '{ print ($1 <= 192 / 4 ? "at most a quarter" : $1) " of the candidates measured on a size" }'
grep -c '^search: round' said | awk '{ print ($1 > 1 ? "several rounds" : $1 " rounds") }'
sed -n 2,3p said | numbers
echo "-- the best of all, by measuring all: speeds and winners are within 1 %"
tune all $built >said; echo "exit $?"
gflops() { awk -F, 'NR > 1 { m = 0; for (i = 14; i <= NF; i++) if ($i > m) m = $i; print m }' "$1"/2_BenchmarkData/*.csv; }
gflops whole >a; gflops all >b
paste a b | awk '{ if ($1 < 0.99 * $2) worse++; n++ } END { print n, "sizes,", worse + 0, "worse by more than 1 %" }'
echo "-- status"
"$BIN/tuner" status whole | grep -A2 '^search' | numbers
echo "-- again: nothing is measured"
before=$(cksum <whole/1_BenchmarkProblems/Cijk_Ailk_Bljk_SB_00/00_Final/build/client.log)
tune whole --search model $built >said; echo "exit $?"
[ "$before" = "$(cksum <whole/1_BenchmarkProblems/Cijk_Ailk_Bljk_SB_00/00_Final/build/client.log)" ] && echo "no client was started"
echo "-- bad values"
tune bad --search greedy; echo "exit $?"
tune bad --budget 10x; echo "exit $?"
tune bad --budget -5; echo "exit $?"
echo "-- begun with the winners and the model of that run"
tune seeded --search model --seed-from whole $built >said; echo "exit $?"
grep -oE -- '--seed-from: [0-9]+ of [0-9]+ .*' said
tune seeded --search model --seed-from nothere; echo "exit $?"
tune seeded --search model --seed-from "$DATA/tensile/logic/r9nano_Cijk_Ailk_Bjlk_SB.yaml" 2>&1 | grep seed-from | sed "s|$DATA|DATA|"
echo "-- begun with the winners of another transpose"
sed 's/TransposeB: False/TransposeB: True/' "$DATA/search/sim.yaml" >other.yaml
"$BIN/tuner" other.yaml other --search model --seed-from whole $built >said 2>&1; echo "exit $?"
grep -oE -- '--seed-from: [0-9]+ of [0-9]+ .*' said | sed -E 's/[0-9]+ of [0-9]+/N of N/'
sed -nE 's/.*--seed-from: ([0-9]+) of ([0-9]+) .*/\1 \2/p' said | awk '{ print ($1 == $2 && $1 >= 5 ? "all of them" : $1 " of " $2) }'
