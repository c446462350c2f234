# record_bench writes a run's times for test/bench programs: of a plan, of a search's rounds, and of its library, which has the
# former's times, and those of the rounds elsewhere. On this device nothing disturbs measurements, so that all agree.
RECORD="$BIN/../bench/record_bench" NAME=Cijk_Ailk_Bljk_SB
export TUNER_SIM="arch=x86-64-v3;cus=8;spread=0.3;fill=1;noise=0"
sed 's/\[\[32, 32, 96\], /[[32, 32, 256], /; s/DepthU: .*/DepthU: [8]/; s/HostPackB: .*/HostPackB: [False]/; s/GlobalSplitU: .*/GlobalSplitU: [1]/; s/WorkGroup: .*/WorkGroup: [[8, 8, 1]]/' \
  "$DATA/search/sim.yaml" >c.yaml
"$BIN/tuner" c.yaml out --search model --global-parameters HeldOutSizes=4 >said 2>&1; echo "exit $?"
"$RECORD" out $NAME 'a plan' >plan; echo "exit $?"
"$RECORD" out ${NAME}_00 'its rounds' --rounds >rounds; echo "exit $?"
"$RECORD" --library out $NAME 'its library' >library; echo "exit $?"
head -12 plan
for f in plan rounds library; do
  awk -v f=$f 'NR == 2 { sizes = $2 } /^kernels/ { kernels = $2 }
    / : / { sub(/.* : /, ""); rows++; for (i = 1; i <= NF; i++) n += $i > 0; if (NF != sizes) bad++ }
    END { print f ": " sizes " sizes, " kernels " kernels in " rows " rows, " n " times; rows of another length: " bad + 0 }' $f
done
# pairs FILE: "kernel size us" for each time; kernels have the numbers that they have in all files
pairs() {
  awk '/^sizes/ { left = $2; next } left-- > 0 { size[++z] = $1 "x" $2 "x" $3 "x" $4; next }
    / : / { kernel = $0; sub(/ : .*/, "", kernel); sub(/.* : /, "")
      for (i = 1; i <= NF; i++) if ($i > 0) print kernel " | " size[i] " | " $i }' "$1" | LC_ALL=C sort -u
}
for f in plan rounds library; do pairs $f >$f.pairs; done
echo "pairs of the plan that the library has: $(comm -12 plan.pairs library.pairs | wc -l) of $(wc -l <plan.pairs)"
echo "pairs of the library that neither has: $(LC_ALL=C sort -u plan.pairs rounds.pairs | comm -13 - library.pairs | wc -l)"
# the results file has GFlops of the kernels, from column 14 on
awk 'FNR == NR { if (FNR > 1) for (i = 14; i <= NF; i++) us[i - 13, FNR - 1] = $11 / $i / 1000; next }
  / : / { k++; sub(/.* : /, ""); split($0, t, " "); for (z in t) { all++; r = t[z] / us[k, z]; same += r > 0.9999 && r < 1.0001 } }
  END { print "times as in the results file: " same " of " all }' FS=, out/2_BenchmarkData/*.csv plan
echo "-- what cannot be written"
try() { "$RECORD" "$@"; echo "exit $?"; }
try out Cijk_Alik_Bljk_SB x
try none $NAME x
try out $NAME
try out $NAME x --rounds --library
python3 -c 'import sqlite3
s = sqlite3.connect("out/tuning.db")
s.execute("DELETE FROM model_kernel WHERE kernel = (SELECT kernel FROM candidate WHERE i = 0)")
s.commit()'
try out $NAME x
