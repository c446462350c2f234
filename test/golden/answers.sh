# createlib's metadata and libtuner's selection and launches against Tensile's host library, line by line: chosen solution,
# kernel names, work-groups, grids, argument bytes, workspace. For gfx942 ten
# kernels are named VWBn1 in the answers where Tensile derives VectorWidthB 2, as we do, when it knows the architecture's
# capabilities: see the answers' README.
one() {
  rm -rf logic lib && mkdir logic && cp "$DATA/tensile/logic/$2.yaml" logic/
  "$BIN"/tuner-createlib --metadata-only --library-format "$5" logic lib HIP >log 2>&1 || { cat log; echo "createlib failed"; }
  gzip -dc "$DATA/tensile/answers/s-$1.answers.jsonl.gz" >answers
  sed 's/.*"line":"\([^"]*\)".*/\1/' answers >lines
  "$BIN"/tuner-bench --library lib/library --select-only --launches --arch "$3" --cus "$4" <lines >got.all || echo "exit $?"
  sed -E 's/"numWorkItems":[^]]*],//g; s/"(n|sharedMemBytes|operation|fitness|logicIndex|codeObject|hardware|problem|task)":("[^"]*"|[^,{}]*),//g; s/_VWBn1_/_VWB2_/g' answers >want
  sed -E 's/"(why|distance)":("[^"]*"|[^,{}]*),//g' got.all >got
  printf '%s %s: %s lines, %s without a solution, ' "$1" "$5" "$(wc -l <want | tr -d ' ')" "$(grep -c '"best":null' want)"
  if cmp -s want got; then echo "equal"; else echo "DIFFERENT"; diff want got | cut -c1-300 | head -4; fi
}
for format in msgpack yaml; do
  one 942-HSS-TN aquavanjaram942_Cijk_Alik_Bljk_HSS_BH gfx942 304 $format
  one aldebaran-BBS-TT aldebaran_Cijk_Alik_Bjlk_BBS_BH gfx90a 104 $format
  one aldebaran-DB-TT aldebaran_Cijk_Alik_Bjlk_DB gfx90a 104 $format
  one aldebaran-HHS-NN-equality equality_aldebaran_Cijk_Ailk_Bljk_HHS_BH gfx90a 104 $format
  one arcturus-SB-TT arcturus_Cijk_Alik_Bjlk_SB gfx908 120 $format
  one hip-I8II-NN hip_Cijk_Ailk_Bljk_I8II_BH gfx900 64 $format
  one r9nano-SB-NT r9nano_Cijk_Ailk_Bjlk_SB gfx803 64 $format
  one vega10-HB-NN vega10_Cijk_Ailk_Bljk_HB gfx900 64 $format
  one vega20-4xi8-TT vega20_Cijk_Alik_Bjlk_4xi8II_BH gfx906 60 $format
  one vega20-ZB-NT vega20_Cijk_Ailk_Bjlk_ZB gfx906 60 $format
done
# a line comes back byte for byte: blanks at its ends, a carriage return, none at the end of the file
printf ' S T T 64 64 1 64 0 0 0 0 1 0  \nS T T 64 64 1 64 0 0 0 0 1 0\r\n\n# no question\nS T T 64 64 1 64 0 0 0 0 1 0 cd=1' |
  "$BIN"/tuner-bench --library lib/library --select-only --arch gfx803 --cus 64 | sed 's/,"best".*//'
# batches by arrays of pointers; a word that is neither flag
rm -rf logic lib && mkdir logic
sed 's/StridedBatched: true/StridedBatched: false/' "$DATA/tensile/logic/aldebaran_Cijk_Alik_Bjlk_BBS_BH.yaml" >logic/aldebaran_GB.yaml
"$BIN"/tuner-createlib --metadata-only logic lib HIP >log 2>&1 || cat log
echo 'BBS T T 64 64 64 3 0 0 0 0 1 0 gb=1' | "$BIN"/tuner-bench --library lib/library --select-only --launches --arch gfx90a --cus 104 |
  sed 's/.*"hex":"\(.\{160\}\).*/\1/' | fold -w 16
echo 'BBS T T 64 64 64 3 0 0 0 0 1 0 ga=1' | "$BIN"/tuner-bench --library lib/library --select-only --arch gfx90a --cus 104
