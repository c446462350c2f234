# kill -9 of the worker while a kernel runs: that solution is recorded as crashed, the rest runs. kill -9 of the client: its
# worker does not stay behind.
cc -O2 -fPIC -shared -o k.so "$DATA/client/kernels.c" || exit 1
sh "$DATA/client/library.sh" good slow good >lib.yaml
cat >c.ini <<END
library-file=lib.yaml
code-object=k.so
results-file=r.csv
problem-identifier=Contraction_l_Ailk_Bljk_Cijk_Dijk
problem-size=40,30,2,20
num-elements-to-validate=128
num-syncs-per-benchmark=100
kernel-timeout=100
host-threads=1
END
wait_for() { n=0; until "$@" || [ $n -gt 200 ]; do sleep 0.05; n=$((n+1)); done; }
# Samples come in batches: the second launch of solution 1 is awaited by its verdict and a moment more.
slow_validated() { grep -q '^valid	0	1' events.txt; }
: >events.txt
"$BIN/tuner-client" --config-file c.ini --events-fd 3 >log.csv 2>err.txt 3>events.txt &
client=$!
wait_for slow_validated
kill -9 $(cat /proc/$client/task/$client/children)
wait $client
echo "failures: $?"
cut -d, -f3,9,10 log.csv
cat err.txt
echo "-- client killed"
"$BIN/tuner-client" --config-file c.ini --solution-start-idx 1 --num-solutions 1 --events-fd 3 >log.csv 2>err.txt 3>events.txt &
client=$!
wait_for slow_validated
worker=$(cat /proc/$client/task/$client/children)
kill -9 $client
wait $client 2>/dev/null
gone() { ! kill -0 $worker 2>/dev/null; }
wait_for gone
gone && echo "no worker left"
echo "-- interrupted: the files are written"
rm -f r.csv
: >events.txt
"$BIN/tuner-client" --config-file c.ini --events-fd 3 >log.csv 2>err.txt 3>events.txt &
client=$!
wait_for slow_validated
kill -TERM $client
wait $client
echo "exit $?"
cat err.txt
cut -d, -f2-5 r.csv
