# A search that is killed at random moments, and continued, ends like one that is not. Files that a killed compiler had begun (*.tmp) may stay.
export TUNER_SIM="arch=x86-64-v3;noise=0;words=0.1;fill=1"
tune() { "$BIN/tuner" "$DATA/search/sim.yaml" "$@" 2>&1; }
tune whole --search model >/dev/null; echo "exit $?"
echo "-- killed at random moments, and continued"
seed=4711 kills=0
random() { seed=$(( (seed * 1103515245 + 12345) % 2147483648 )); echo $(( seed / 65536 % $1 )); }
while [ $kills -lt 5 ]; do
  "$BIN/tuner" "$DATA/search/sim.yaml" killed --search model >/dev/null 2>&1 &
  pid=$!
  sleep "$(printf '%d.%03d' $(( kills % 3 )) "$(random 999)")"
  kill -9 $pid 2>/dev/null
  wait $pid 2>/dev/null
  kills=$((kills + 1))
done
tune killed --search model >/dev/null; echo "exit $?"
for d in 1_BenchmarkProblems 2_BenchmarkData 3_LibraryLogic; do
  diff -r -x client.log -x plan.txt -x kernels.csv -x '*.tmp' whole/$d killed/$d >/dev/null && echo "$d: the same" || { echo "$d: differs"; diff -rq whole/$d killed/$d; }
done
counts() { "$BIN/tuner" status "$1" | grep -E 'rounds|kernels:|measured:' | sed -E 's/[0-9.]+ s;/T s;/'; }
counts whole >a; counts killed >b; cmp a b && echo "status: the same"
