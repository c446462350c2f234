L=$DATA/tensile/logic
cp "$L"/equality_aldebaran_Cijk_Ailk_Bljk_HHS_BH.yaml "$L"/arcturus_Cijk_Alik_Bjlk_SB.yaml "$L"/r9nano_Cijk_Ailk_Bjlk_SB.yaml .
cp "$L"/vega20_Cijk_Ailk_Bjlk_ZB.yaml "$L"/hip_Cijk_Ailk_Bljk_I8II_BH.yaml .
for f in *.yaml; do "$BIN"/tuner-logic show "$f"; done
"$BIN"/tuner-logic show hip_Cijk_Ailk_Bljk_I8II_BH.yaml --sizes | head -4
"$BIN"/tuner-logic show hip_Cijk_Ailk_Bljk_I8II_BH.yaml --solutions | head -3
"$BIN"/tuner-logic show hip_Cijk_Ailk_Bljk_I8II_BH.yaml --problem-type | head -8
"$BIN"/tuner-logic show vega20_Cijk_Ailk_Bjlk_ZB.yaml --strict; echo "exit $?"
head -c 60000 hip_Cijk_Ailk_Bljk_I8II_BH.yaml >cut.yaml
"$BIN"/tuner-logic show cut.yaml; echo "exit $?"
sed 's/\[7, 6235.0\]/[77, 6235.0]/' hip_Cijk_Ailk_Bljk_I8II_BH.yaml >index.yaml
"$BIN"/tuner-logic show index.yaml; echo "exit $?"
sed 's/\[7, 6235.0\]/[7, .nan]/' hip_Cijk_Ailk_Bljk_I8II_BH.yaml >nan.yaml
"$BIN"/tuner-logic show nan.yaml; echo "exit $?"
"$BIN"/tuner-logic show missing.yaml; echo "exit $?"
"$BIN"/tuner-logic show --solution x.yaml; echo "exit $?"
"$BIN"/tuner-logic sho; echo "exit $?"
"$BIN"/tuner-logic --help
