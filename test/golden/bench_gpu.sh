# tuner-bench on fake CUDA and HIP drivers: cases verified against the reference, times of the device's clock, sets that are
# rotated over, grids beyond the device's limits, long calls without a graph, a driver without graphs, calls in a loop, a check by products, a matrix
# beyond one period of the data, other data,
# fewer sets than wanted, errors.
A=Cijk_Ailk_Bljk_SB_a
mkdir lib
sh "$DATA/client/library.sh" $A >lib/TensileLibrary.yaml
printf 'FAKE sm_90\n%s 96 0\n' $A >lib/Kernels.so-000-sm_90.cubin
printf 'FAKE gfx90a\n%s 96 0\n' $A >lib/Kernels.so-000-gfx90a.co
run() { echo "-- $*"; "$BIN/tuner-bench" --library lib "$@" 2>&1 | sed 's/costs the host [^ ]* us/costs the host X us/'; }
export LD_LIBRARY_PATH="$BIN/../fake/cuda" TUNER_FAKE="log=log;ns=10000"
run --device cuda -f gemm -r s -m 40 -n 30 -k 20 -i 3 -v 1
run --device cuda -f gemm_strided_batched -r s -m 17 -n 5 -k 3 --batch_count 4 --beta 2 -i 3 -v 1 --rotating 0
run --device cuda -f gemm_batched -r s -m 17 -n 5 -k 3 --batch_count 3 --beta 1 -i 1 -v 1 --rotating 0
echo "-- beyond CUDA's 65,535 workgroups along y and z: in parts"
long() { TUNER_FAKE="log=log;ns=30000000" "$BIN/tuner-bench" --library lib --device cuda -r s --beta 2 -i 1 -v 1 --rotating 0 "$@" 2>&1 | sed -n 's/^#.* row, \([^;]*\);.*; /\1; /p'; }
long -f gemm_strided_batched -m 3 -n 5 -k 3 --batch_count 70000
long -f gemm -m 2 -n 2000000 -k 2
TUNER_FAKE="log=log;ns=500000" run --device cuda:0 -f gemm_ex -r s -m 33 -n 5 -k 3 --ldd 40 --beta 1 -i 3 -v 1 --rotating 1
LD_LIBRARY_PATH="$BIN/../fake/cuda_old" run --device cuda -f gemm -r s -m 40 -n 30 -k 20 -i 3 --rotating 0
LD_LIBRARY_PATH="$BIN/../fake/hip7" run --device hip -f gemm -r s -m 40 -n 30 -k 20 -i 3 -v 1 --rotating 1
run --device cuda -f gemm -r s -m 40 -n 30 -k 20 -i 7 --timing loop -v 1 --rotating 0
TUNER_FAKE="log=log;ns=30000000" run --device cuda -f gemm_ex -r s -m 1111 -n 500 -k 500 -j 0 --lda 1120 --beta 1 -i 1 -v 1 --rotating 0 --initialization Uniform
TUNER_FAKE="log=log;ns=30000000" run --device cuda -f gemm_ex -r s -m 3000 -n 3 -k 1501 -j 0 -i 1 -v 1 --rotating 0 | tail -1
for kind in zero Random trig_float rand_int; do
  run --device cuda -f gemm -r s -m 300 -n 3 -k 1500 -i 1 -v 1 --rotating 0 --initialization $kind | sed -n '3p;4s/.*; //p'
done
TUNER_FAKE="log=log;wrong=SB_a" run --device cuda -f gemm -r s -m 40 -n 30 -k 20 -i 3 -v 1 --rotating 0 | sed 's/# .*;/#/'
TUNER_FAKE="wrong=SB_a;ns=30000000" run --device cuda -f gemm -r s -m 1111 -n 500 -k 500 -j 0 -i 1 -v 1 --rotating 0 | sed 's/# .*;/#/'
echo "wrong calls: $(grep -c WRONG log)"
TUNER_FAKE="memory=1000000" run --device cuda -f gemm -r s -m 400 -n 30 -k 20
TUNER_FAKE="memory=100000" run --device cuda -f gemm -r s -m 1000 -n 30 -k 20
TUNER_FAKE="illegal=SB_a" run --device cuda -f gemm -r s -m 40 -n 30 -k 20
run --device cuda:3 -f gemm -r s -m 40 -n 30 -k 20
