T="$BIN/tuner-logic"; cp "$DATA"/tensile/logic/*.yaml .
for f in *.yaml; do "$T" check "$f" >out 2>err; echo "exit $?"; sed 's/:[0-9]*: solution [0-9]*//' out | sort | uniq -c; done
# a derived value and a parameter of one solution changed by hand
sed '0,/ LoopIters: [0-9]*/s// LoopIters: 77/; 0,/ NumThreads: [0-9]*/s// NumThreads: 1/' aldebaran_Cijk_Alik_Bjlk_DB.yaml >a.yaml
"$T" check a.yaml; echo "exit $?"
"$T" check; echo "exit $?"; "$T" check --all; echo "exit $?"; "$T" check missing.yaml; echo "exit $?"
