# tuner-bench with bias, activation and scale factors: kernels of this processor, checked; a wrong kernel is found; the log is taken
# back; --compare and --select-only; what is refused. Times are cut out.
cat > fused.yaml <<'Y'
GlobalParameters: {MinimumRequiredVersion: 4.14.0, NumElementsToValidate: -1}
BenchmarkProblems:
  -
    - {OperationType: GEMM, DataType: s, TransposeA: False, TransposeB: True, UseBeta: True, Batched: True,
       UseBias: 1, ActivationType: clamp, UseScaleAB: Vector, UseScaleCD: True, UseScaleAlphaVec: 2}
    - InitialSolutionParameters:
      BenchmarkCommonParameters:
      ForkParameters: [ThreadTile: [[16, 4]], DepthU: [32], WorkGroup: [[2, 16, 1]]]
      BenchmarkFinalParameters: [ProblemSizes: [Exact: [67, 35, 2, 75]]]
  -
    - {OperationType: GEMM, DataType: h, DestDataType: h, ComputeDataType: s, HighPrecisionAccumulate: True, TransposeA: True,
       TransposeB: False, UseBeta: True, Batched: True, UseBias: 2, BiasDataTypeList: [s], Activation: True, ActivationType: gelu}
    - InitialSolutionParameters:
      BenchmarkCommonParameters:
      ForkParameters: [ThreadTile: [[16, 4]], DepthU: [32], WorkGroup: [[2, 16, 1]]]
      BenchmarkFinalParameters: [ProblemSizes: [Exact: [33, 70, 1, 75]]]
LibraryLogic: {ScheduleName: host, DeviceNames: [host], ArchitectureName: x86-64-v3}
LibraryClient:
Y
"$BIN"/tuner fused.yaml out >log 2>&1 || cat log
L=out/4_LibraryClient/library
export TUNER_LIBPATH=$L TUNER_NUM_THREADS=2
stable() {
  awk -F, '/^transA/ { for (i = 1; i <= NF; i++) if ($i == "rocblas-Gflops") last = i - 1 }
    /^[NTC],/ { line = $1; for (i = 2; i <= last; i++) line = line "," $i; print line; next } { print }' |
    sed 's/# solution [0-9]* /# solution /; s/; \(median\|mean\) [^;]*;/;/; s/element (.*/element .../'
}
bench() { echo "+ $*"; "$BIN"/tuner-bench "$@" -i 3 -j 1 -v 1 >got 2>&1; code=$?; stable <got; [ $code = 0 ] || echo "exit $code"; }
S="--transposeB T -m 67 -n 35 -k 75"
F="--bias_vector --activation_type clamp --activation_arg1 -0.5 --activation_arg2 4 --scaleA 2 --scaleB 2 --scaleC 1 --scaleD 1"
F="$F --scaleAlpha_vector --scaleAlpha_dim N"
H="--transposeA T --a_type h --b_type h --c_type h --d_type h --compute_type s -m 33 -n 70 -k 75"
G="--bias_vector --bias_dim N --bias_type f32_r --activation_type gelu"
bench -f gemm $S $F --beta 2
bench -f gemm_strided_batched $S $F --batch_count 3
bench -f gemm_batched_ex -r s $S $F --batch_count 3 --beta 1
bench -f gemm_ex $H $G --alpha 0.5
bench -f gemm_ex $H $G --alpha 0 --beta 2
echo "--- larger than what is checked whole"
bench -f gemm --transposeB T -m 1500 -n 1100 -k 40 $F
echo "--- the log, and both of its forms run again give the same log"
calls() { # LAYER FILE COMMAND...
  layer=$1 log=$2; shift 2; rm -f "$log"
  TUNER_LAYER=$layer TUNER_LOG_PATH=$log "$BIN"/tuner-bench "$@" -i 1 -j 0 >/dev/null 2>&1 || echo "exit $?"
}
for c in "-f gemm_strided_batched $S $F --batch_count 3" "-f gemm_ex $H $G"; do
  calls 1 trace $c; head -1 trace | sed 's/0x[0-9a-f]*/P/g'
  calls 2 bench $c; head -1 bench
  calls 2 again $(head -1 bench | sed 's/^[^ ]* //')
  [ "$(head -1 bench)" = "$(head -1 again)" ] || { echo "DIFFERS:"; head -1 again; }
  calls 4 profile.yaml $c; sed -i 's/call_count: [0-9]*/call_count: 6/' profile.yaml; cat profile.yaml
  calls 4 again --yaml profile.yaml; sed 's/call_count: [0-9]*/call_count: 6/' again | cmp - profile.yaml
done
echo "--- selection and comparison"
"$BIN"/tuner-bench --select-only --yaml profile.yaml
"$BIN"/tuner-bench --launches --yaml profile.yaml; echo "exit $?"
"$BIN"/tuner-bench --compare $L $L profile.yaml -i 6 --csv c.csv >got 2>&1; echo "exit $?"; awk '/^TN/ { print $1, $2 }' got; grep -c ',Cijk_Alik_Bljk_HHS_BH_BiasSN_GELU,' c.csv
TUNER_LAYER=2 TUNER_LOG_PATH=lines "$BIN"/tuner-bench --yaml profile.yaml -i 1 >/dev/null
"$BIN"/tuner-bench --yaml lines 2>&1 | sed 's/call[s]* with/calls with/; s/: [0-9]* calls/: N calls/'
echo "--- a kernel that does nothing is found"
cp -r $L wrong && rm wrong/*.so
nm -D "$(ls $L/*.so)" | awk '/ T Cijk.*_Bias/ { print "void " $3 "(void) {}" }' >nothing.c
cc -shared -fPIC -o wrong/"$(cd $L && ls ./*.so)" nothing.c
TUNER_LIBPATH=wrong bench -f gemm $S $F
TUNER_LIBPATH=wrong bench -f gemm_ex $H $G
echo "--- no solution"
bench -f gemm $S
bench -f gemm $S --bias_vector
bench -f gemm_ex $H --bias_vector --bias_type f32_r --activation_type gelu
bench -f gemm_ex $H --bias_vector --bias_dim N --activation_type gelu
echo "--- what is refused"
bench -f gemm $S --activation_type swish
bench -f gemm $S --bias_vector=2
bench -f gemm $S --bias_vector --bias_type f9_r
bench -f gemm $S --bias_vector --bias_dim K
bench -f gemm $S --bias_dim N
bench -f gemm $S --bias_type f32_r
bench -f gemm $S --scaleAlpha_dim N
bench -f gemm $S --scaleA 1
bench -f gemm $S --scaleA 3
bench -f gemm $S --scaleC 2 --scaleD 2
bench -f gemm $S --scaleD 1
bench -f gemm $S --activation_type clamp --activation_arg1 low
bench -f gemm -r z $S --activation_type relu
echo '- {rocblas_function: rocblas_sgemm, M: 16, activation_type: swish}' >bad.yaml; bench --yaml bad.yaml
