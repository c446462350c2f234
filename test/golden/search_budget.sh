# Searches in a time budget: random order, more time later, too little time, exhaustive order.
PATH=$FAST_CC:$PATH
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
tune short --search model --budget 0.01 >said; echo "exit $?"
grep -o 'too short for one candidate on each of 5 sizes' said
ls short/4_LibraryClient/library/*.dat | wc -l
echo "-- exhaustive, within a budget"
tune some --budget 3s >said; echo "exit $?"
grep -o 'searched by exhaustive' said
