T="$BIN/tuner-logic"; A=$DATA/tensile/logic/aldebaran_Cijk_Alik_Bjlk_DB.yaml
"$T" diff "$A" "$A" --exit-code; echo "exit $?"
mkdir base inc out; cp "$A" base/l.yaml
sed 's/85.541\]/99.541]/; s/\[9, 64.957\]/[12, 64.957]/; s/\[60766, 60766, 1, 2493\]/[60766, 60766, 1, 2494]/; s/\[0, 0.0[0-9]*\]/[1, 0.5]/' base/l.yaml >b.yaml
"$T" diff base/l.yaml b.yaml; echo "exit $?"
sed '0,/WorkGroupMapping: 5/s//WorkGroupMapping: 6/; s/^- gfx90a/- {Architecture: gfx90a, CUCount: 104}/' base/l.yaml >c.yaml
"$T" diff base/l.yaml c.yaml; "$T" diff base/l.yaml c.yaml --summary --exit-code; echo "exit $?"
"$T" diff b.yaml; echo "exit $?"; "$T" diff --quick b.yaml c.yaml; echo "exit $?"; "$T" diff b.yaml missing.yaml; echo "exit $?"
