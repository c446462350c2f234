# tuner diff: which sizes got faster or slower between two runs, by their samples; exit code 1 when some are slower.
tune() { "$BIN/tuner" "$DATA/run/sim.yaml" "$@" --global-parameters SyncsPerBenchmark=12 >/dev/null 2>&1; }
TUNER_SIM="arch=x86-64-v3;noise=0.01;gflops=100" tune a
TUNER_SIM="arch=x86-64-v3;noise=0.01;gflops=100;seed=7" tune same
TUNER_SIM="arch=x86-64-v3;noise=0.01;gflops=90" tune slow
TUNER_SIM="arch=x86-64-v3;noise=0.01;gflops=100;fast=WG16_8_1" tune fast
TUNER_SIM="arch=x86-64-v3;noise=0.01;gflops=100;wrong=MT32x32x16,WG16_8_1" "$BIN/tuner" "$DATA/run/sim.yaml" lost >/dev/null 2>&1
diff() { "$BIN/tuner" diff "$@" 2>&1 | sed -E 's/[0-9]+\.[0-9]+ \[[0-9.]+, [0-9.]+\]/R [LO, HI]/; s/mean [0-9.]+/mean G/'; }
verdicts() { diff "$@" | cut -c1-8 | sort | uniq -c | sed 's/^ *//' | grep -E 'faster|slower|lost|unknown'; }
echo "-- another seed of the noise"
"$BIN/tuner" diff a same | tail -1 | sed 's/mean [0-9.]*/mean G/'; "$BIN/tuner" diff a same >/dev/null; echo "exit $?"
echo "-- a device that is 10 % slower"
verdicts a slow; "$BIN/tuner" diff a slow >/dev/null 2>&1; echo "exit $?"
"$BIN/tuner" diff a slow 2>&1 >/dev/null
echo "-- ... within the margin"
"$BIN/tuner" diff a slow --margin 0.2 >/dev/null 2>&1; echo "exit $?"
echo "-- the other way round"
verdicts slow a; "$BIN/tuner" diff slow a >/dev/null 2>&1; echo "exit $?"
echo "-- a faster kernel"
diff a fast | tail -4; "$BIN/tuner" diff a fast >/dev/null 2>&1; echo "exit $?"
echo "-- a size without a winner"
verdicts a lost; "$BIN/tuner" diff a lost >/dev/null 2>&1; echo "exit $?"
echo "-- bad input"
"$BIN/tuner" diff a; echo "exit $?"
"$BIN/tuner" diff a none; echo "exit $?"
"$BIN/tuner" diff a same --margin 2; echo "exit $?"
