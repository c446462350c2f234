# Peers: a fake cuBLAS on a fake CUDA driver (arguments, the choice of its algorithm, its columns, a wrong one), and OpenBLAS on the host where there is one.
unset TUNER_SIM
export LD_LIBRARY_PATH="$BIN/../fake/cuda"
export TUNER_FAKE="ns=50000;log=log"
A=Cijk_Ailk_Bljk_SB_a B=Cijk_Ailk_Bljk_SB_b
sh "$DATA/client/library.sh" $A $B >lib.yaml
printf 'FAKE sm_90\n%s 96 0\n%s 96 0\n' $A $B >k.cubin
cat >c.ini <<END
library-file=lib.yaml
code-object=k.cubin
device=cuda
results-file=r.csv
problem-identifier=Contraction_l_Ailk_Bljk_Cijk_Dijk
type=Float
problem-size=33,18,2,7
a-strides=-1,40,-1
b-strides=-1,-1,-1
c-strides=-1,-1,-1
d-strides=-1,50,-1
problem-size=64,32,1,16
a-strides=-1,-1,-1
b-strides=-1,-1,-1
c-strides=-1,-1,-1
d-strides=-1,-1,-1
num-elements-to-validate=-1
log-level=Error
init-a=Normal
init-b=Uniform
END
cp c.ini float.ini
run() { "$BIN/tuner-client" --config-file c.ini --peer cublas "$@" --events-fd 3 2>&1 3>events.txt | grep -v '^run,'; grep '^end.*	-1	' events.txt | cut -f3,4,9 | sort -u; }
calls() { grep -E '^(gemmEx|ltMatmul)' log | sort -u; grep WRONG log; rm log; }
columns() { cut -d, -f2-5,11-16 r.csv; }
echo "-- C is not read: cublasGemmEx and the list"
run --init-beta Zero; calls; columns
echo "-- C is read: only the list, out of place"
run; calls; columns
echo "-- xf32"
run --init-beta Zero --f32-xdl-math-op XFloat32 --num-problems 1; calls | sed 's/ .* compute/ compute/' | sort -u
echo "-- a peer that is wrong is no peer"
TUNER_FAKE="ns=50000;log=log;blas_wrong=1;wrong=blas_wrong" run --init-beta Zero --num-problems 1; columns; rm log
# A config of other types: A_B, their letters in names of kernels, types of A, B, D, scalars, and sizes.
typed() {
  names="Cijk_${1}_$2_a Cijk_${1}_$2_b"
  A_B=$1 IN=$3 IN_B=$4 OUT=$5 HPA=true sh "$DATA/client/library.sh" $names >lib.yaml
  printf 'FAKE sm_90\n%s 96 0\n%s 96 0\n' $names >k.cubin
  cat >c.ini <<END
library-file=lib.yaml
code-object=k.cubin
device=cuda
results-file=r.csv
problem-identifier=Contraction_l_${1}_Cijk_Dijk
type=$5
a-type=$3
b-type=$4
c-type=$5
d-type=$5
alpha-type=$6
beta-type=$6
high-precision-accumulate=True
problem-size=$7
num-elements-to-validate=-1
log-level=Error
init-a=Random
init-b=Random
init-c=Random
END
}
echo "-- int8: cublasGemmEx and the list"
typed Ailk_Bljk I8II_BH Int8 Int8 Int32 Int32 32,18,2,16
run --init-beta Zero; calls; columns
echo "-- 8-bit floats: the list alone, of three types of D and of both mixtures"
for types in "F8SS_BH Float8 Float8 Float" "F8HS_BH Float8 Float8 Half" "F8F8S_BH Float8 Float8 Float8" \
    "F8B8SS_BH Float8 BFloat8 Float" "B8F8SS_BH BFloat8 Float8 Float"; do
  typed Alik_Bljk $types Float 32,18,2,16
  run --init-beta Zero; calls; columns
done
echo "-- 8-bit floats that cublasLt does not multiply: why there is no peer"
typed Ailk_Bljk F8SS_BH Float8 Float8 Float Float 32,18,2,16
run --init-beta Zero; columns
typed Alik_Bjlk F8SS_BH Float8 Float8 Float Float 32,18,2,16
run --init-beta Zero | grep ^-1
typed Alik_Bljk F8F8S_BH Float8 Float8 Float8 Float 32,18,2,16
run | grep ^-1
typed Alik_Bljk F8SS_BH Float8 Float8 Float Float 32,18,2,17
run --init-beta Zero | grep ^-1
grep WRONG log; rm log
libraries() { PATH=$PATH:/usr/sbin:/sbin ldconfig -p; } # which are not in every user's PATH
echo "-- no library"
mkdir only; cp "$LD_LIBRARY_PATH/libcuda.so.1" only
[ -e /usr/local/cuda/lib64/libcublasLt.so ] || libraries | grep -q libcublasLt ||
  LD_LIBRARY_PATH="$PWD/only" run >none.txt
[ ! -f none.txt ] || grep -c 'there is no libcublasLt' none.txt >/dev/null || cat none.txt
echo "-- openblas on the host"
unset LD_LIBRARY_PATH
if ! libraries | grep -q libopenblas.so.0; then echo PASSED; exit 0; fi
cc -O2 -fPIC -shared -o k.so "$DATA/client/kernels.c" || exit 1
sh "$DATA/client/library.sh" good prints >lib.yaml
"$BIN/tuner-client" --config-file float.ini --code-object k.so --device host --peer openblas --events-fd 3 2>/dev/null 3>events.txt >/dev/null
grep '^end.*	-1	' events.txt | cut -f4 | sort -u
