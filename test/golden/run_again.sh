# Ctrl-C, and an edited config: what is known is kept.
export TUNER_SIM="arch=x86-64-v3"
ended() { grep -c ',PASSED,\|,DID_NOT_SATISFY_ASSERTS,' out/1_BenchmarkProblems/"$1"/00_Final/build/client.log; }
cat >cc_slow <<SH
#!/bin/sh
[ -f "$PWD/slow" ] && case "\$*" in *" -c "*) : >"$PWD/began"; sleep 60;; esac
exec cc "\$@"
SH
chmod +x cc_slow
echo "--- Ctrl-C while compiling"
touch slow
"$BIN/tuner" --c-compiler "$PWD/cc_slow" "$DATA/run/sim.yaml" out >log 2>&1 & pid=$!
while [ ! -e began ]; do sleep 0.05; done
rm slow
before=$(date +%s%N); kill -INT $pid; wait $pid; echo "exit $?"
[ $(( $(date +%s%N) - before )) -lt 30000000000 ] && echo "without waiting for the compilers"
cat log
"$BIN/tuner" status out | sed -n 's/started .*)/started)/; 1p'
echo "--- the same again"
"$BIN/tuner" "$DATA/run/sim.yaml" out >/dev/null 2>&1; echo "exit $?"
ended Cijk_Ailk_Bljk_SB_00
echo "--- one size more in the first group: one size of the four kernels is measured"
sed 's/- Exact: \[100, 90, 2, 80\]/- Exact: [100, 90, 2, 80]\n          - Exact: [70, 70, 1, 70]/' "$DATA/run/sim.yaml" >edited.yaml
"$BIN/tuner" edited.yaml out >/dev/null 2>&1; echo "exit $?"
ended Cijk_Ailk_Bljk_SB_00
ended Cijk_Ailk_Bljk_SB_01
echo "--- a kernel more in the second group, whose names change: one kernel is measured"
sed 's/DepthU: \[16\]/DepthU: [16]\n        - WorkGroupMapping: [8, 4]/; s/\[\[8, 8, 1\], \[16, 8, 1\]\]/[[16, 8, 1]]/' "$DATA/run/sim.yaml" >edited.yaml
"$BIN/tuner" edited.yaml out >/dev/null 2>&1; echo "exit $?"
ended Cijk_Ailk_Bljk_SB_01
echo "--- other sizes in place of a group: no file of it stays behind"
awk '/BenchmarkCommonParameters/ && ++n == 2 { skip = 1 } /LibraryLogic/ { skip = 0 } !skip' "$DATA/run/sim.yaml" >edited.yaml
"$BIN/tuner" edited.yaml out >/dev/null 2>&1; echo "exit $?"
ls out/2_BenchmarkData
echo "--- more repeats are more measurements"
"$BIN/tuner" --global-parameters NumBenchmarks=2 -- edited.yaml out >/dev/null 2>&1; echo "exit $?"
"$BIN/tuner" status out | grep measured
wc -l <out/2_BenchmarkData/Cijk_Ailk_Bljk_SB_00.csv
"$BIN/tuner" --global-parameters NumBenchmarks=2 CSVMergeSameProblemID=True CSVExportWinner=True -- edited.yaml out >/dev/null 2>&1; echo "exit $?"
cut -d, -f1-17 out/2_BenchmarkData/Cijk_Ailk_Bljk_SB_00_CSVWinner.csv
