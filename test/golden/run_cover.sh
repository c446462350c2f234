# MaxLoss: the fewest kernels with which no size loses more than that; the log says how many, their bytes, what is lost, and what
# each of them is worth.
export TUNER_SIM="arch=x86-64-v3;noise=0"
tune() { "$BIN/tuner" "$DATA/run/sim.yaml" "$@" 2>&1; }
tune out --global-parameters PrintLevel=1 MaxLoss=0 >/dev/null; echo "exit $?"
"$BIN/tuner-logic" show out/3_LibraryLogic/*.yaml | grep -iE 'solutions|sizes' | head -3
for loss in 0.02 0.5 1; do
  echo "-- MaxLoss $loss"
  tune out --global-parameters PrintLevel=1 MaxLoss=$loss >said; echo "exit $?"
  grep -A4 'MaxLoss' said | grep -E 'MaxLoss|without' | sed -E 's/[0-9]+ KiB/N KiB/g'
  ls out/4_LibraryClient/library/*.dat | wc -l
done
echo "-- bad value"
tune out --global-parameters MaxLoss=2; echo "exit $?"
