# Ctrl-C in a search and in an exhaustive run: the library has what is known, and the same command ends as if it had not been
# interrupted.
export TUNER_SIM="arch=x86-64-v3;noise=0;words=0.1;fill=1"
setsid=$(command -v setsid)
interrupt_when() { # CONFIG OUT PATTERN of status, then options
  config=$1 out=$2 pattern=$3; shift 3
  "$setsid" "$BIN/tuner" "$DATA/$config" "$out" "$@" >said 2>&1 &
  pid=$!
  i=0
  until "$BIN/tuner" status "$out" 2>/dev/null | grep -qE "$pattern" || [ $i -ge 1200 ]; do sleep 0.05; i=$((i + 1)); done
  kill -INT $pid
  wait $pid; echo "exit $?"
  grep -oE 'interrupted: making a library|the library has what is known' said
  ls "$out"/4_LibraryClient/library/*.dat | wc -l
}
"$BIN/tuner" "$DATA/search/sim.yaml" whole --search model >/dev/null 2>&1; echo "exit $?"
echo "-- a search"
interrupt_when search/sim.yaml stopped 'not finished: [3-9] rounds' --search model
"$BIN/tuner" status stopped | grep -oE 'stopped: interrupted'
"$BIN/tuner-logic" show stopped/3_LibraryLogic/*.yaml | grep -E '^sizes'
"$BIN/tuner" "$DATA/search/sim.yaml" stopped --search model >/dev/null 2>&1; echo "exit $?"
diff -r whole/2_BenchmarkData stopped/2_BenchmarkData && diff -r whole/3_LibraryLogic stopped/3_LibraryLogic && echo "ends like the whole run"
echo "-- measuring everything"
export TUNER_SIM="arch=x86-64-v3;noise=0"
interrupt_when run/sim.yaml all 'measured: [1-9][0-9]+' --global-parameters NumBenchmarks=3000
"$BIN/tuner-logic" show all/3_LibraryLogic/*.yaml | grep -cE '^sizes +[1-5]'
echo "-- packing: its first compiler interrupts the run"
mkdir bin
cat >bin/cc <<'END'
#!/bin/sh
[ ! -d packed/3_LibraryLogic ] || [ ! -f pid ] || { kill -INT "$(cat pid)" && rm pid; }
PATH=${PATH#*:}
exec cc "$@"
END
chmod +x bin/cc
echo 'echo $$ >pid; exec "$@"' >start
PATH=$PWD/bin:$PATH "$setsid" sh start "$BIN/tuner" "$DATA/run/sim.yaml" packed >said 2>&1; echo "exit $?"
ls pid 2>/dev/null
grep -oE 'interrupted: making a library|the library has what is known' said
ls packed/4_LibraryClient/library/*.dat | wc -l
