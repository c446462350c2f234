# kill -9 of the worker while a kernel runs, as the kernel does when memory runs out: the solution runs once more, alone in a
# new worker; killed again it is recorded as crashed, and the rest runs. kill -9 of the client: its worker ends too.
cc -O2 -fPIC -shared -o k.so "$DATA/client/kernels.c" || exit 1
sh "$DATA/client/library.sh" good slow good >lib.yaml
cat >c.ini <<END
library-file=lib.yaml
code-object=k.so
results-file=r.csv
problem-identifier=Contraction_l_Ailk_Bljk_Cijk_Dijk
problem-size=40,30,2,20
num-elements-to-validate=128
num-syncs-per-benchmark=15
kernel-timeout=100
host-threads=1
END
wait_for() { n=0; until "$@" || [ $n -gt 1200 ]; do sleep 0.05; n=$((n+1)); done; }
# Samples come in batches: the second launch of solution 1 is awaited by its verdict and a moment more.
slow_validated() { [ "$(grep -c '^valid	0	1' events.txt)" -ge "${1:-1}" ]; }
kill_worker() { kill -9 $(cat /proc/$client/task/$client/children); }
start() {
  : >events.txt
  "$BIN/tuner-client" --config-file c.ini "$@" --events-fd 3 >log.csv 2>err.txt 3>events.txt &
  client=$!
}
ended() { wait $client; echo "failures: $?"; cut -d, -f3,9,10 log.csv; cat err.txt; }
echo "-- killed once"
start
wait_for slow_validated; kill_worker
ended
grep '^start	0	1' events.txt; grep -c '^end	0	1	PASSED	15' events.txt
echo "-- killed twice"
start
wait_for slow_validated; kill_worker
wait_for slow_validated 2; kill_worker
ended
echo "-- killed once in a race"
sh "$DATA/client/library.sh" slow >slow.yaml
start --timing=race --library-file=slow.yaml --race-seconds=0.5
worker() { cat /proc/$client/task/$client/children; }
n=0; until [ -n "$(worker)" ] || [ $n -gt 1200 ]; do sleep 0.05; n=$((n+1)); done
sleep 1; kill_worker
ended
echo "-- client killed"
start --solution-start-idx 1 --num-solutions 1
wait_for slow_validated
worker=$(cat /proc/$client/task/$client/children)
kill -9 $client
wait $client 2>/dev/null
gone() { ! kill -0 $worker 2>/dev/null; }
wait_for gone
gone && echo "no worker left"
echo "-- interrupted: the files are written"
rm -f r.csv
start
wait_for slow_validated
kill -TERM $client
wait $client
echo "exit $?"
cat err.txt
cut -d, -f2-5 r.csv
