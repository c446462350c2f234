# tuner-bench: what is refused and how it ends: 0 ok, 1 failed, 2 usage or bad input, 3 no solution, 4 no device.
unset TUNER_LIBPATH ROCBLAS_TENSILE_LIBPATH
run() { echo "+ $*"; "$BIN"/tuner-bench "$@" >got 2>&1; code=$?; sed "s|$(pwd)/||; s|x86-64-v[234]|HOST|g; s/\(,1,16,\).*/\1.../; s/; median.*/; .../" got; echo "exit $code"; }
awk '/^  -/ && ++n == 2 { skip = 1 } /^LibraryLogic/ { skip = 0 } !skip' "$DATA"/run/bench.yaml >one.yaml
"$BIN"/tuner one.yaml out >log 2>&1 || cat log
L=out/4_LibraryClient/library
S="-m 16 -n 16 -k 16 -i 1"
echo "--- the command line"
run --nonsense 1
run -x 1
run -f
run -f trsm
run -f gemm_wild
run -f gemm -r f9_r
run -f gemm --transposeA X
run -f gemm -m -3
run -f gemm -m many
run -f gemm --lda 3 -m 4
run -f gemm --algo 7
run -f gemm -i 0
run -f gemm_strided_batched -m 8 -n 8 --batch_count 2 --stride_c 8
run -f gemm --initialization random
run -f gemm --threads 0
run -f gemm --arch gfx90a
run something
echo "--- where the library is"
run -f gemm $S
export TUNER_LIBPATH=/nonexistent/library
run -f gemm $S
unset TUNER_LIBPATH
export ROCBLAS_TENSILE_LIBPATH=/nonexistent/rocblas
run -f gemm $S
mkdir empty
run --library empty -f gemm $S
export ROCBLAS_TENSILE_LIBPATH=$L
run -f gemm $S | grep -v '^transA'
TUNER_NUM_THREADS=none run -f gemm $S
TUNER_LAYER=12 run -f gemm $S
TUNER_LAYER=2 TUNER_LOG_PATH=/nonexistent/log run -f gemm $S
head -c 100 $L/TensileLibrary.dat >cut.dat
run --library cut.dat -f gemm $S
echo "--- the directory of the run, and the one above the library"
TUNER_LIBPATH=out run -f gemm $S | grep -v '^transA'
run --library out/4_LibraryClient -f gemm $S | grep -v '^transA'
mkdir bare && cp $L/TensileLibrary.dat bare/
run --library bare -f gemm $S
cp -r $L damaged && echo nonsense >damaged/$(cd $L && ls ./*.so)
run --library damaged -f gemm $S | sed 's/\.so: .*/.so: .../'
echo "--- no solution"
run -f gemm -r d $S
run -f gemm --transposeA T $S
run -f gemm_ex --a_type h --b_type h --c_type h --d_type h --compute_type s $S
printf '%s\n' '- {rocblas_function: rocblas_sgemm, M: 16, N: 16, K: 16, iters: 1}' \
  '- {rocblas_function: rocblas_dgemm, M: 16, N: 16, K: 16, iters: 1}' >two.yaml
run --yaml two.yaml | grep -v '^transA'
echo "--- YAML files"
run --yaml none.yaml
echo '- {rocblas_function: rocblas_sgemm, M: 16, X: 1}' >bad.yaml; run --yaml bad.yaml
echo '- {rocblas_function: rocblas_sgemm, M: x}' >bad.yaml; run --yaml bad.yaml
echo 'M: 1' >bad.yaml; run --yaml bad.yaml
: >bad.yaml; run --yaml bad.yaml
