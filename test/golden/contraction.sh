# Contractions that are no GEMM, and convolutions, on the host: config, kernels, client, library; every element is right. What is
# refused, with reasons. The client names what is wrong with indices, strides and pads.
cp "$ROOT/test/data/run/contraction.yaml" .
"$BIN"/tuner contraction.yaml out 2>&1 | grep -E "permutations|wrong" | sed 's/  [0-9.]*\/s//' | tail -8
ls out/3_LibraryLogic
"$BIN"/tuner --dump-program=check contraction.yaml | grep -c 'gives the same kernel'
sed 's/DepthU: \[16\]/DepthU: [16], GlobalSplitU: [2]/' contraction.yaml >split.yaml
"$BIN"/tuner --list-solutions --reasons split.yaml 2>&1 | grep -o 'contractions that are no GEMM have GlobalSplitU.*' | sort -u
I="--library-file out/4_LibraryClient/library/TensileLibrary.dat --results-file r.csv --problem-size 8,3,4,5,3,2"
I="$I --problem-identifier Contraction_lmn_Almijn_Blmjnk_Cijk_Dijk"
L=out/4_LibraryClient/library
"$BIN"/tuner-client --library-file $L/TensileLibrary.dat --code-object "$(echo $L/*.so)" --results-file r.csv --best-solution true \
  --problem-identifier Contraction_lmn_Almijn_Blmjnk_Cijk_Dijk --problem-size 20,3,21,6,3,2 --a-strides 2,20,70,1500,5000 \
  --b-strides 1,0,10,100,200 --c-strides 3,64,200 --d-strides 3,64,200 --num-elements-to-validate -1 | grep -o '"(20.*PASSED' |
  sed 's/Cijk[^,]*/KERNEL/'
client() { "$BIN"/tuner-client $I "$@" 2>&1 | tail -1; }
client --problem-size 1,2
client --d-strides 1,0,24
client --a-strides 1,2,3,4,5,6
client --a-zero-pads 0,3,1
client --a-zero-pads 7,3,1,1
client --peer openblas
client --init-a SerialIdx
