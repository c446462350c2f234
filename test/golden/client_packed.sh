# Int8x4 on a fake CUDA driver that computes GEMMs, from initialisation to validation: all transposes, strides and offsets, all
# of D by products, every initialisation, wrong results; the same problems in tuner-bench; the simulated device; what is refused.
# The fake driver computes on one core: on a busy machine the largest problem takes it seconds, which is no hang.
export LD_LIBRARY_PATH="$BIN/../fake/cuda" TUNER_FAKE="ns=30000000" IN=Int8x4 OUT=Int32 HPA=true
cat >c.ini <<END
library-file=lib.yaml
code-object=k.cubin
device=cuda
results-file=r.csv
a-type=Int8x4
b-type=Int8x4
c-type=Int32
d-type=Int32
alpha-type=Int32
beta-type=Int32
init-beta=NegOne
bounds-check=NaN
high-precision-accumulate=True
num-elements-to-validate=-1
problem-size=33,18,2,7
kernel-timeout=100
num-syncs-per-benchmark=1
num-enqueues-per-sync=1
timing=loop
END
library() { # of two kernels with these operands
  A=Cijk_$1_4xi8II_BH_a B=Cijk_$1_4xi8II_BH_b
  A_B=$1 sh "$DATA/client/library.sh" $A $B >lib.yaml
  printf 'FAKE sm_90\n%s 96 0\n%s 96 65536\n' $A $B >k.cubin
  mkdir -p lib; cp lib.yaml lib/TensileLibrary.yaml; cp k.cubin lib/Kernels.so-000-sm_90.cubin
}
client() {
  echo "-- $*"
  "$BIN/tuner-client" --config-file c.ini --problem-identifier Contraction_l_${operands}_Cijk_Dijk "$@" 2>&1
  echo "exit $?"
}
columns() {
  grep -E '^--|^[0-9 ]+,.*4xi8|solution [0-9]*: |^tuner-client:|^exit' | awk -F, '/,.*4xi8/ && !/:/ { print $9 ", " $10; next } { print }'
}
for operands in Ailk_Bjlk Alik_Bjlk Ailk_Bljk Alik_Bljk; do
  library $operands
  echo "--- $operands"
  client | columns
  client --problem-size 45,37,2,51 --a-strides 1,153,8000 --b-strides 1,155,8001 --c-strides 1,151,6000 --d-strides 1,149,6001 \
    --offset-a 1 --offset-b 3 --offset-c 5 --offset-d 1 | columns
done
client --problem-size 1111,500,1,130 --num-elements-to-validate 100 --bounds-check Disable | columns
# four values of each element
client --problem-size 2,2,1,1 --print-tensor-a True | grep -A2 '^a, matrix'
client --problem-size 2,2,1,1 --print-tensor-b True | grep -A4 '^b, matrix'
echo "--- initialisations"
for how in Zero One Two Random NaN Inf BadInput BadOutput SerialIdx SerialDim0 SerialDim1 Identity TrigSin TrigAbsCos RandomNarrow \
  NegOne Max DenormMin DenormMax Uniform Normal; do
  client --problem-size 33,18,2,300 --init-a $how --init-b $how --init-alpha Max --init-c BadOutput | columns | sort -u | tr '\n' ' '; echo
done
echo "--- wrong results"
TUNER_FAKE="ns=30000000;wrong=_b" client | columns
echo "--- the simulated device"
client --device sim --sim "" | columns
echo "--- what is refused"
client --b-type Int8 | columns
client --c-type Int8x4 --c-equal-d True | columns
client --alpha-type Int8x4 --beta-type Int8x4 | columns
echo "--- tuner-bench"
bench() {
  echo "-- $*"
  "$BIN/tuner-bench" --library lib --device cuda -i 1 --rotating 0 -v 1 "$@" 2>&1 | sed '/^transA/d; s/^\([NTC],.*\),[^,]*,[^,]*,\([^,]*\)$/\1, error \2/; s/# solution .*; \([a-z]*: \)/# \1/'
}
T="--a_type i8x4_r --b_type i8x4_r --c_type i32_r --d_type i32_r --compute_type i32_r"
for operands in Ailk_Bjlk Alik_Bjlk Ailk_Bljk Alik_Bljk; do
  library $operands
  ta=N tb=N
  case $operands in Alik*) ta=T;; esac
  case $operands in *Bjlk) tb=T;; esac
  bench -f gemm_ex $T --transposeA $ta --transposeB $tb -m 40 -n 30 -k 20 --ldd 44 --beta 2
done
bench -f gemm_strided_batched_ex $T --transposeA T -m 17 -n 5 -k 3 --batch_count 4 --beta 2 --alpha -3 --initialization Random
bench -f gemm_ex $T --transposeA T -m 17 -n 5 -k 0 --beta 2
TUNER_FAKE="ns=30000000;wrong=_a" bench -f gemm_ex $T --transposeA T -m 1111 -n 500 -k 130 --timing loop -j 0 | sed 's/# .*;/#/'
bench -f gemm_ex $T -m 8 -n 8 -k 8 --b_type i8_r
bench -f gemm -r i8x4_r -m 8 -n 8 -k 8
bench -f gemm_ex $T -m 8 -n 8 -k 8 --a_type i8_r --b_type i8_r --flags 1
