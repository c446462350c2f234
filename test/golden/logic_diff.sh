T="$BIN/tuner-logic"; A=$DATA/tensile/logic/aldebaran_Cijk_Alik_Bjlk_DB.yaml
"$T" diff "$A" "$A" --exit-code; echo "exit $?"
mkdir base inc out; cp "$A" base/l.yaml
sed 's/85.541\]/99.541]/; s/\[9, 64.957\]/[12, 64.957]/; s/\[60766, 60766, 1, 2493\]/[60766, 60766, 1, 2494]/; s/\[0, 0.0[0-9]*\]/[1, 0.5]/' base/l.yaml >b.yaml
"$T" diff base/l.yaml b.yaml; echo "exit $?"
sed '0,/WorkGroupMapping: 5/s//WorkGroupMapping: 6/; s/^- gfx90a/- {Architecture: gfx90a, CUCount: 104}/' base/l.yaml >c.yaml
"$T" diff base/l.yaml c.yaml; "$T" diff base/l.yaml c.yaml --summary --exit-code; echo "exit $?"
"$T" diff b.yaml; echo "exit $?"; "$T" diff --quick b.yaml c.yaml; echo "exit $?"; "$T" diff b.yaml missing.yaml; echo "exit $?"
# sizes with and without leading dimensions that are the least ones, which a merge leaves out
sed 's/^  - - \[\([0-9]*\), \([0-9]*\), 1, \([0-9]*\)\]$/  - - [\1, \2, 1, \3, \1, \1, \3, \2]/' base/l.yaml >wide.yaml; grep -c ', 1, [0-9]*, ' wide.yaml
"$T" diff wide.yaml base/l.yaml --exit-code; echo "exit $?"
mkdir wide; sed 's/85.541\]/84.541]/' wide.yaml >wide/l.yaml; "$T" merge wide base merged >/dev/null; "$T" diff wide/l.yaml merged/l.yaml
sed '0,/^  - - \[\([0-9]*\), \([0-9]*\), 1, \([0-9]*\), /s//  - - [\1, \2, 1, \3, 9/' wide.yaml >far.yaml; "$T" diff base/l.yaml far.yaml | cut -c1-40
# directories: files meet by schedule, architecture and problem type
mkdir -p x/a y/b; cp base/l.yaml x/a/; cp b.yaml y/b/other.yaml; cp "$DATA"/tensile/logic/vega20_Cijk_Ailk_Bjlk_ZB.yaml x/; cp "$DATA"/tensile/logic/r9nano* y/
"$T" diff x y --summary --exit-code; echo "exit $?"; "$T" diff x x --exit-code; echo "exit $?"
"$T" diff x b.yaml; echo "exit $?"; mkdir none; "$T" diff x none; echo "exit $?"
