# Searches in a time budget: random order, more time later, too little time, exhaustive order.
export TUNER_SIM="arch=x86-64-v3;noise=0;words=0.1;fill=1"
tune() { "$BIN/tuner" "$DATA/search/sim.yaml" "$@" 2>&1; }
echo "-- random, with a budget that is soon spent: the library is valid"
tune budget --search random --budget 2s >said; echo "exit $?"
grep -o 'stopped: [^;]*' said
ls budget/4_LibraryClient/library/*.dat | wc -l
echo "-- more time continues it"
rounds() { "$BIN/tuner" status budget | sed -n 's/.* \([0-9]*\) rounds.*/\1/p'; }
was=$(rounds)
tune budget --search random --budget 20s >/dev/null; echo "exit $?"
[ "$(rounds)" -gt "$was" ] && echo "more rounds"
echo "-- too little for one candidate of each size"
tune short --search model --budget 0.01 --global-parameters HeldOutSizes=2 >said; echo "exit $?"
grep -o 'too short for one candidate on each of 5 sizes' said
echo "-- the final measurements end within the budget, but for what no round measured"
grep -o 'TimeBudget is spent: .*' said
ls short/4_LibraryClient/library/*.dat | wc -l
echo "-- exhaustive, within a budget"
tune some --budget 1s >said; echo "exit $?"
grep -o 'searched by exhaustive' said
echo "-- kernels that rounds measured are kept for sizes between the tuned ones, and measured on held-out sizes alone"
sed -e '/Range: \[\[32/d' -e 's/Exact: \[256, .*/Range: [[16, 496, 512], [16, 496, 512], [1], [8, 1016, 1024]]/' \
  -e 's/GlobalParameters:/&\n  HeldOutSizes: 4/' -e 's/DepthU: .*/DepthU: [8]/' "$DATA/search/sim.yaml" >between.yaml
TUNER_SIM="arch=x86-64-v3;noise=0;words=0.5;fill=1" "$BIN/tuner" between.yaml between --search model >said 2>&1; echo "exit $?"
sed -n 's/.*: \([0-9]*\) more kernels for sizes between these, of \([0-9]*\) that .*/\1 \2/p' said | awk '{ print ($1 > 0 && $1 < $2 ? "some" : $0) " of those" }'
"$BIN/tuner" status between | sed -n 's/.*measured: \([0-9]*\) of \([0-9]*\),.*/\1 \2/p' | awk '{ print $1 == $2 ? "all pairs of the plan" : $0 }'
awk -F, 'NR > 1 { n += gsub("nan", "") } END { print (n > 0 ? "empty cells on tuned sizes" : "no empty cell") }' between/2_BenchmarkData/*.csv
