# Logic that names no device is not tuned on this CPU without a word; a FIFO as input is an error, not a hang.
export TUNER_SIM="arch=x86-64-v3"
sed 's/ArchitectureName: "x86-64-v3"/ArchitectureName: "fallback"/' "$DATA/run/sim.yaml" >fallback.yaml
sed 's/ScheduleName: "sim"/ScheduleName: "hip"/; /ArchitectureName/d' "$DATA/run/sim.yaml" >hip.yaml
for c in fallback hip; do
  "$BIN/tuner" $c.yaml out-$c 2>&1 >/dev/null; echo "exit $?"
  "$BIN/tuner" --arch x86-64-v3 $c.yaml out-$c 2>&1 >/dev/null; echo "with --arch: exit $?"
done
mkfifo config.yaml c.ini lib.yaml
timeout 5 "$BIN/tuner" config.yaml out 2>&1; echo "exit $?"
timeout 5 "$BIN/tuner" --list-solutions config.yaml 2>&1; echo "exit $?"
timeout 5 "$BIN/tuner-client" --config-file c.ini 2>&1; echo "exit $?"
timeout 5 "$BIN/tuner-client" --library-file lib.yaml --problem-identifier Contraction_l_Ailk_Bljk_Cijk_Dijk --problem-size 4,4,1,4 2>&1; echo "exit $?"
timeout 5 "$BIN/tuner-logic" show lib.yaml 2>&1; echo "exit $?"
timeout 5 "$BIN/tuner-createlib" lib.yaml out HIP 2>&1; echo "exit $?"
mkfifo out-hip/plan; rm out-hip/tuning.db; mkfifo out-hip/tuning.db
timeout 5 "$BIN/tuner" status out-hip 2>&1; echo "exit $?"
timeout 5 "$BIN/tuner" "$DATA/run/sim.yaml" out-hip 2>&1; echo "exit $?"
