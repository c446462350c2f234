# Several devices measure one run: the results are those of one device, all kernels of a size are measured on one device, a
# killed run continues with other devices, searches use them too; what is no pool of like devices is refused.
export TUNER_SIM="arch=x86-64-v3;noise=0;devices=3"
tuner() { "$BIN/tuner" "$@"; }
same() { # A B: equal results and logic
  for d in 2_BenchmarkData 3_LibraryLogic; do diff -r "$1/$d" "$2/$d" >/dev/null && echo "$d: the same" || echo "$d: differs"; done
}
C=$DATA/run/shards.yaml
build() { echo --global-parameters ClientBuildPath="$PWD/build" "$@"; }
tuner "$C" one $(build) >/dev/null 2>&1; echo "one device: exit $?"
tuner --devices sim:all "$C" all $(build PrintLevel=1) >log 2>&1; echo "three: exit $?"; grep 'devices measure' log
same one all
tuner status all | grep -c ' on sim:[012] of .*: simulated device, [0-9]* sizes'
tuner explain all 100,90,2,80 | grep -c 'measured on: sim:[012] of [^,]*$'
tuner status one | grep -c ' on sim'
tuner report all --trace trace.json >/dev/null 2>&1
python3 "$ROOT/test/browser/trace_check.py" trace.json | sed 's/ of [^ ,]*: / of HOST: /g'
echo "--- killed at random moments, and continued with other devices"
for d in all 0,1 2 1,2 0; do
  "$BIN/tuner" --devices sim:$d "$C" killed $(build) >/dev/null 2>&1 & sleep 0.2; kill -9 $! 2>/dev/null; wait $! 2>/dev/null
done
tuner --devices sim:1,0 "$C" killed $(build) >/dev/null 2>&1; echo "exit $?"; same one killed
echo "--- Ctrl-C, and again"
TUNER_SIM="$TUNER_SIM;hang=TT8_4" "$BIN/tuner" --devices sim:all "$C" stopped $(build) >log 2>&1 & pid=$!
for i in $(seq 150); do sleep 0.2; [ -e stopped/1_BenchmarkProblems/Cijk_Ailk_Bljk_SB_00/00_Final/build/client.0.log ] && break; done
kill -INT $pid; wait $pid; echo "exit $?"; ls stopped/1_BenchmarkProblems/*/00_Final/build/*.fifo 2>/dev/null
tuner --devices sim:all "$C" stopped $(build) >/dev/null 2>&1; echo "exit $?"; same one stopped
echo "--- a kernel that crashes is recorded once for each size, by whichever device"
TUNER_SIM="$TUNER_SIM;crash=TT8_4" tuner --devices sim:all "$C" crash $(build) >/dev/null 2>&1; echo "exit $?"
TUNER_SIM="$TUNER_SIM;crash=TT8_4" tuner "$C" crash1 $(build) >/dev/null 2>&1; same crash1 crash
tuner status crash | grep CRASHED
echo "--- a search"
tuner --search model "$C" search1 $(build) >/dev/null 2>&1; echo "exit $?"
tuner --search model --devices sim:all "$C" search3 $(build) >/dev/null 2>&1; echo "exit $?"; same search1 search3
echo "--- a shard on several devices"
tuner shard "$C" S --shards 2 $(build) >/dev/null 2>&1
tuner run-shard S 0 --devices sim:0,2 >/dev/null 2>&1; echo "exit $?"
tuner run-shard S 1 --device sim:0 >/dev/null 2>&1; echo "exit $?"
tuner gather S >/dev/null 2>&1; echo "exit $?"
tuner status S/gathered | grep -c ' on sim:[02] of '
echo "--- refused"
for d in host:all host sim:0,0 sim:7 sim:-1 sim: sim:0,x cuda gpu:all ,; do tuner --devices $d "$C" bad; echo "exit $?"; done
tuner --devices sim:all --device sim "$C" bad; echo "exit $?"
tuner --devices sim:all --simulate "$C" bad; echo "exit $?"
tuner --devices sim:all --compile-only "$C" bad; echo "exit $?"
tuner --devices sim:all --arch gfx90a "$C" bad; echo "exit $?"
export TUNER_SIM="$TUNER_SIM;unlike=2"
tuner --devices sim:all "$C" bad; echo "exit $?"
tuner --devices sim:0,1 "$C" like $(build) >/dev/null 2>&1; echo "exit $?"; same one like
[ -e bad ] && echo "a folder was made"
echo "--- the script that measures the gain, on devices that take the time that they say"
export TUNER_SIM="arch=x86-64-v3;noise=0;devices=3;real=1;overhead_ns=10000000"
export TUNER="$BIN/tuner"
sh "$ROOT/scripts/many_devices.sh" "$C" gain sim 2 | awk '/^ *[0-9]/ { print $1, ($3 == 1 ? "" : $3 > 1.4 ? "faster" : "ratio " $3), $4, $5, $6, $7, $8 }'
echo "GlobalParameters: {SearchMethod: model, TimeBudget: 1, SyncsPerBenchmark: 1}" >search.yaml; sed 1,/HeldOut/d "$C" >>search.yaml
sh "$ROOT/scripts/many_devices.sh" search.yaml searched sim 2
