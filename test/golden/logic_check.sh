T="$BIN/tuner-logic"; cp "$DATA"/tensile/logic/*.yaml .
for f in *.yaml; do "$T" check "$f" >out 2>err; echo "exit $?"; sed 's/:[0-9]*: solution [0-9]*//' out | sort | uniq -c; done
# a derived value and a parameter of one solution changed by hand
sed '0,/ LoopIters: [0-9]*/s// LoopIters: 77/; 0,/ NumThreads: [0-9]*/s// NumThreads: 1/' aldebaran_Cijk_Alik_Bjlk_DB.yaml >a.yaml
"$T" check a.yaml; echo "exit $?"
# known of older versions: 3, or 1 when asked; a new file that has the same values is wrong
V=vega20_Cijk_Ailk_Bjlk_ZB.yaml
"$T" check --summary $V; echo "exit $?"; "$T" check --strict --summary $V >/dev/null; echo "exit $?"
sed '1s/4[.0-9]*/4.44.0/' $V >new.yaml; "$T" check new.yaml | tail -3; "$T" check --summary new.yaml >/dev/null; echo "exit $?"
# all of them, and one that is not there
"$T" check --summary *_*.yaml missing.yaml; echo "exit $?"
"$T" check; echo "exit $?"; "$T" check --all; echo "exit $?"; "$T" check missing.yaml; echo "exit $?"
