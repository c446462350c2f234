# Runs whose solutions are timed in races: a whole one, again, killed in between and continued; the samples in the store; a
# peer that is not for this device; the winners' spread over processes.
export TUNER_SIM="arch=x86-64-v3;noise=0.002;throttle=0.1"
run() { dir=$1; shift; "$BIN/tuner" --global-parameters TimingMethod=race "$@" "$DATA/run/sim.yaml" "$dir"; }
run out >log 2>&1; echo "exit $?"; sed -n 's/^ *\([0-9,]* \).* \([0-9]*\/[0-9]*\) .*/\1\2/p' log
"$BIN/tuner" status out | grep measured
"$BIN/tuner" explain out 100,90,2,80 | sed -n 's/.*against runner-up/against runner-up/; s/ratio [0-9.]*/ratio/; /^against/p'
sum=$(cat out/3_LibraryLogic/*.yaml | cksum)
echo "--- again: nothing is measured"
before=$(cksum out/1_BenchmarkProblems/*/00_Final/build/client.log)
run out >log 2>&1; echo "exit $?"
[ "$before" = "$(cksum out/1_BenchmarkProblems/*/00_Final/build/client.log)" ] && echo "no client was started"
[ "$sum" = "$(cat out/3_LibraryLogic/*.yaml | cksum)" ] && echo "same logic"
echo "--- killed and continued"
for i in 1 2 3; do
  "$BIN/tuner" --global-parameters TimingMethod=race "$DATA/run/sim.yaml" killed >log 2>&1 & pid=$!
  n=0
  while [ $n -lt 100 ] && ! grep -q . killed/1_BenchmarkProblems/*/00_Final/build/client.log 2>/dev/null; do sleep 0.05; n=$((n+1)); done
  sleep 0.0$i; kill -9 $pid 2>/dev/null; wait $pid 2>/dev/null
done
run killed >log 2>&1; echo "exit $?"
"$BIN/tuner" status killed | grep measured
echo "--- a peer that cannot run here"
run peerless --peer cublas >log 2>&1; echo "exit $?"; grep '^tuner:' log | sed "s,'/.*/peerless,'peerless,"
ls peerless 2>/dev/null
run none --peer mkl 2>&1 | sed "s,$DATA/,,"
echo "--- spread"
TUNER_CLIENT="$BIN/tuner-client" sh "$ROOT/scripts/spread.sh" out 3 >spread.txt; echo "exit $?"
sed 's/ *[0-9.]* us .*spread.*/ spread/; s/worst [0-9.]* %/worst/' spread.txt
