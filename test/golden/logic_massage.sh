# tuner-logic massage: the digests are those of what rocBLAS's archive/massage.py writes for the same files (PyYAML 6.0.3).
T="$BIN/tuner-logic" L=$DATA/tensile/logic
mkdir in; cp "$L"/vega20_*.yaml "$L"/arcturus_*.yaml "$L"/hip_*.yaml in/
# some solutions pack batches and keep their only copy; one is a replacement kernel, which its copy is not
awk '/PackBatchDims: 0/ && ++n % 3 == 1 { sub(/0/, "1") } /ReplacementKernel: / && ++k == 2 { sub(/false/, "true") }
  { print }' "$L"/vega20_Cijk_Ailk_Bjlk_ZB.yaml >in/packed.yaml
"$T" massage in out; echo "exit $?"
(cd out && sha256sum -- *.yaml)
echo "--- files that the script skips, too"
sed '0,/    SolutionIndex: .*/s//    SolutionIndex: 7000/' in/packed.yaml >in/gap.yaml
sed '/    SolutionIndex: /d' in/packed.yaml >in/none.yaml
head -c 5000 in/packed.yaml >in/cut.yaml
echo text >in/readme.txt
cp -r out before
"$T" massage in out 2>&1 | grep -v ' added to '; "$T" massage in out >/dev/null 2>&1; echo "exit $?"; diff -r before out && echo "the others as before"
echo "--- in place, and not twice by mistake: what the script would do"
mkdir one; cp in/packed.yaml one/; "$T" massage one one; "$T" massage one one
echo "--- nothing to massage"
mkdir empty bad; "$T" massage empty out2; echo "exit $?"; cp in/cut.yaml bad; "$T" massage bad out2; echo "exit $?"; ls -d out2* 2>&1
"$T" massage none out2; echo "exit $?"
"$T" massage in; echo "exit $?"
