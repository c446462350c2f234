# A whole run on the simulated device: files, results, winners, what the reports say; a second run measures nothing.
export TUNER_SIM="arch=x86-64-v3"
"$BIN/tuner" "$DATA/run/sim.yaml" out >said 2>&1; code=$?; sed "s|$BIN|BIN|g" said; echo "exit $code"
echo "--- files"
(cd out && find . -type f | grep -v '/cache/' | grep -v 'tuning.db-' | sort)
echo "--- results"
cat out/2_BenchmarkData/*.csv
cmp out/2_BenchmarkData/Cijk_Ailk_Bljk_SB_00.csv out/1_BenchmarkProblems/Cijk_Ailk_Bljk_SB_00/Data/00_Final.csv && echo same
echo "--- status"
"$BIN/tuner" status out | sed 's/started .*)/started)/; s|tuner .*/test/data|tuner DATA|'
echo "--- explain"
"$BIN/tuner" explain out 100,90,2,80
"$BIN/tuner" explain out '[256,256,1,256,256,256,256,256]'
"$BIN/tuner" explain out 1,2,3,4; echo "exit $?"
echo "--- again"
before=$(cksum <out/1_BenchmarkProblems/Cijk_Ailk_Bljk_SB_00/00_Final/build/client.log)
"$BIN/tuner" "$DATA/run/sim.yaml" out >/dev/null; echo "exit $?"
[ "$before" = "$(cksum <out/1_BenchmarkProblems/Cijk_Ailk_Bljk_SB_00/00_Final/build/client.log)" ] && echo "no client was started"
echo "--- run.sh gives the results that the store has"
cp out/1_BenchmarkProblems/Cijk_Ailk_Bljk_SB_01/Data/00_Final.csv exported.csv
sh out/1_BenchmarkProblems/Cijk_Ailk_Bljk_SB_01/00_Final/build/run.sh >/dev/null 2>&1; echo "exit $?"
# but for the columns of the hardware monitor: clock, power, temperature
blank() { awk -F, 'BEGIN { OFS = "," } NR > 1 { $10 = $12 = $13 = "" } { print }' "$1"; }
blank out/1_BenchmarkProblems/Cijk_Ailk_Bljk_SB_01/Data/00_Final.csv | diff exported.csv - && echo same
