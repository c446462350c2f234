# Options of Tensile's document that have no exact counterpart: the nearest is taken, and said.
C="$BIN/tuner-createlib" L="$DATA"/tensile/logic
mkdir logic; cp "$L"/vega20_Cijk_Ailk_Bjlk_ZB.yaml "$L"/hip_Cijk_Ailk_Bljk_I8II_BH.yaml logic/
quiet() { grep -v 'size is already'; }
"$C" --metadata-only --merge-files --no-legacy-components --no-short-file-names --no-library-print-debug --code-object-version=V3 \
  --cxx-compiler=hipcc --library-format=msgpack --architecture gfx906 logic meta HIP 2>&1 | quiet
for v in V2 V3 V4 V5 default; do "$C" -v 0 --metadata-only --code-object-version $v logic meta HIP; echo "$v: exit $?"; done
"$C" --metadata-only --architecture gfx906 logic meta OCL 2>&1 | quiet; ls meta/library
echo "--- no architecture"; "$C" --metadata-only --architecture gfx000 --library-format yaml logic none HIP
grep -c 'type: Processor' none/library/TensileLibrary.yaml; grep -c hsaco none/library/TensileManifest.txt
mkdir old; sed '3s/.*/- gfx000/' "$L"/hip_Cijk_Ailk_Bljk_I8II_BH.yaml >old/hip.yaml
"$C" --metadata-only old none HIP; echo "exit $?"; "$C" --metadata-only --architecture gfx000 old none HIP; echo "exit $?"
