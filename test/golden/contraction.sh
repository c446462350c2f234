# Contractions that are no GEMM, and convolutions, on the host: config, kernels, client, library; every element is right. What is
# refused, with reasons. The client names what is wrong with indices, strides and pads. libtuner runs the library's convolutions.
cp "$ROOT/test/data/run/contraction.yaml" .
"$BIN"/tuner contraction.yaml out 2>&1 | grep -E "permutations|wrong" | sed 's/  [0-9.]*\/s//' | tail -8
ls out/3_LibraryLogic
"$BIN"/tuner explain out n=3,c=9 | grep -m1 'convolution:' # sizes of convolutions as the config has them
"$BIN"/tuner explain out n=3,c=8
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
echo "--- tuner_conv2d"
conv() { "$BIN"/tuner-bench conv --library out --threads 1 -i 1 "$@" 2>&1 | grep -v '^#\|^convolution' |
  sed 's/,[0-9.e-]*,tuner,Cijk[^(]*/ /; s/),.*,right/) right/; s/,[0-9.e-]*,tuner,,*/ /; s/solution for.*/solution/'; }
conv -n 3 -c 9 -H 15 -W 14 -k 20 -y 3 -x 3 -u 2 -v 2 -p 1 -q 1 -F 1
conv -n 3 -c 9 -H 15 -W 14 -k 20 -y 3 -x 3 -u 2 -v 2 -p 1 -q 1 -F 4
conv -n 3 -c 9 -H 15 -W 14 -k 20 -y 3 -x 3 -F 1
for stride in 2 1; do # two convolutions of one output size have rows of their own
  conv -n 2 -c 5 -H $((4 * stride + 1)) -W $((4 * stride)) -k 6 -y 3 -x 3 -u $stride -v $stride -p 1 -q 1 -F 4
done
conv -n 3 -c 10 -H 9 -W 8 -k 6 -g 2 -y 3 -x 3 -u 2 -l 1 -j 2 -p 1 -q 2 --pad_h_end 1 --pad_w_end 2 -I NHWC -f NHWC -O NHWC -F 1
conv -n 2 -c 5 -H 9 -W 8 -k 6 -y 3 -x 3 -u 2 -p 1 -q 1 -I NHWC -f NHWC -O NHWC -F 2
conv -n 1 -c 7 -H 6 -W 11 -k 6 -y 2 -x 4 -u 3 -v 2 -I NHWC -f NHWC -O NHWC -F 2
TUNER_LAYER=3 TUNER_LOG_PATH=log "$BIN"/tuner-bench conv --library out -i 1 -V 0 -n 1 -c 5 -H 9 -W 8 -k 6 -y 3 -x 3 -u 2 -p 1 -q 1 -F 4 >/dev/null
sort -u log
"$BIN"/tuner-bench conv log 2>/dev/null | tail -1
conv --every-solution -i 0 -n 3 -c 9 -H 15 -W 14 -k 20 -y 3 -x 3 -u 2 -v 2 -p 1 -q 1 -F 1
echo "--- configs"
sed 's/HostRepeatM: .*/HostRepeatM: [2]/; s/DepthU: .*/DepthU: [128]/; s/- ThreadTile: .*/- ThreadTile: [[48, 8]]/' "$ROOT/configs/conv_host.yaml" >host.yaml
for t in f16 f32; do
  sed 's/WorkGroup: \[\[.*/WorkGroup: [[16, 16, 1]]/; s/- PrefetchGlobalRead: .*/- PrefetchGlobalRead: [1]/' "$ROOT/configs/conv_h200_$t.yaml" >conv_h200_$t.yaml
done
for c in host conv_h200_f16 conv_h200_f32; do
  case $c in host) a=x86-64-v4 ;; *) a=sm_90a ;; esac
  echo $c $("$BIN"/tuner --list-solutions --count --arch $a $c.yaml 2>&1)
done
