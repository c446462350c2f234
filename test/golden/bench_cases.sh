# tuner-bench: every function and type, checked; YAML files; TUNER_LAYER's lines are taken back. Times are cut out,
# and widths of vectors, which are the processor's.
"$BIN"/tuner "$DATA"/run/bench.yaml out >log 2>&1 || cat log
export TUNER_LIBPATH=out/4_LibraryClient/library TUNER_NUM_THREADS=2
stable() {
  awk -F, '/^transA/ { header = $0; for (i = 1; i <= NF; i++) { if ($i == "rocblas-Gflops") last = i - 1; error = $i == "norm_error_1" ? i : 0 } }
    /^[NTC],/ { line = $1; for (i = 2; i <= last; i++) line = line "," $i
      if (!($(last + 1) > 0 && $(last + 2) > 0)) line = line ", no time"
      if (error) line = line ($error >= 0 && $error < 0.01 ? ", right" : ", WRONG " $error)
      print line; next }
    { print }' | sed 's/# solution [0-9]* /# solution /; s/; median .* n \([0-9]*\)\( of [0-9]* calls each\)*/; n \1/; s/_VW[0-9]*_VWB[0-9]*//'
}
bench() { echo "+ $*"; "$BIN"/tuner-bench "$@" -i 3 -j 1 -v 1 2>&1 | stable; }
S="-m 40 -n 36 -k 20"
bench -f gemm -r f32_r $S --lda 50 --ldb 21 --ldc 41 --alpha 2 --beta 3
bench -f gemm -r s --transposeA T $S
bench -f gemm -r d $S --beta 1
bench -f gemm -r c $S --alphai 0.5 --beta 1 --betai -2
bench -f gemm -r f32_c --transposeA C $S
bench -f gemm -r z $S
bench -f gemm_strided_batched -r s $S --batch_count 3 --stride_a 1000
bench -f gemm_batched -r s $S --batch_count 3 --beta 1
bench -f gemm_ex $S --a_type f16_r --b_type f16_r --c_type f16_r --d_type f16_r --compute_type f32_r --ldd 44
bench -f gemm_ex $S --a_type bf16_r --b_type bf16_r --c_type bf16_r --d_type bf16_r --compute_type f32_r --beta 1
bench -f gemm_ex $S --a_type i8_r --b_type i8_r --c_type i32_r --d_type i32_r --compute_type i32_r --alpha 2 --beta 1
bench -f gemm_strided_batched_ex $S -r s --batch_count 2 --stride_d 2000
bench -f gemm_batched_ex $S -r s --batch_count 2
bench --function=rocblas_dgemm -m32 -n32 -k32 --initialization rand_int
bench -f gemm -r s -m 32 -n 32 -k 0 --beta 0.5
bench -f gemm -r s -m 32 -n 32 -k 32 --solution_index 1
echo "--- YAML"
cat >sizes.yaml <<END
- {rocblas_function: rocblas_sgemm, transA: N, transB: N, M: 1024, N: 24, K: 30, lda: 1024, ldb: 1024, ldc: 1024}
- { rocblas_function: "rocblas_gemm_strided_batched_ex", a_type: "f32_r", b_type: "f32_r", c_type: "f32_r", d_type: "f32_r", compute_type: "f32_r", transA: 'T', transB: 'N', M: 10, N: 11, K: 12, alpha: 1.0, lda: 12, stride_a: 120, ldb: 12, stride_b: 132, beta: 1, ldc: 10, stride_c: 110, ldd: 10, stride_d: 110, batch_count: 2, call_count: 4 }
END
bench --yaml sizes.yaml
echo "--- the log of calls, and both of its forms run again give the same log"
calls() { # LAYER FILE COMMAND...
  layer=$1 log=$2; shift 2; rm -f "$log"
  TUNER_LAYER=$layer TUNER_LOG_PATH=$log "$BIN"/tuner-bench "$@" -i 1 -j 0 >/dev/null 2>&1 || echo "exit $?"
}
i=0
for c in "-f gemm -r s $S --beta 0" "-f gemm -r c --transposeA C $S --alphai 0.25 --betai 3" "-f gemm_strided_batched -r d $S --batch_count 2" \
  "-f gemm_batched -r s $S --batch_count 2" \
  "-f gemm_ex $S --a_type f16_r --b_type f16_r --c_type f16_r --d_type f16_r --compute_type f32_r --ldd 44" \
  "-f gemm_strided_batched_ex $S -r s --batch_count 2 --stride_d 2000 --transposeA T" "-f gemm_batched_ex $S -r s --batch_count 2"; do
  i=$((i + 1))
  calls 1 trace.$i $c; head -1 trace.$i | sed 's/0x[0-9a-f]*/P/g'
  calls 2 bench.$i $c; head -1 bench.$i
  calls 2 again.$i $(head -1 bench.$i | sed 's/^[^ ]* //')
  [ "$(head -1 bench.$i)" = "$(head -1 again.$i)" ] || { echo "DIFFERS:"; head -1 again.$i; }
  calls 4 profile.$i $c; sed 's/call_count: [0-9]*/call_count: #/' profile.$i | tee once
  calls 4 again.$i --yaml profile.$i; sed 's/call_count: [0-9]*/call_count: #/' again.$i | cmp - once
done
