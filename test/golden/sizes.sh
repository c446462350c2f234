# tuner sizes: every form of log, merged; what is left out and why; the config that is written is tuned.
sizes() { echo "+ tuner sizes $*"; "$BIN"/tuner sizes "$@" 2>&1 | sed "s|$PWD/||g"; }
cat >bench.log <<'END'
./rocblas-bench -f gemm -r f32_r --transposeA N --transposeB T -m 1024 -n 512 -k 256 --alpha 1 --lda 1024 --ldb 512 --beta 0 --ldc 1024
[rank 0] ./rocblas-bench -f gemm_ex --transposeA T --transposeB N -m 768 -n 1024 -k 768 --alpha 1 --a_type f16_r --lda 768 --b_type f16_r --ldb 768 --beta 0 --c_type f16_r --ldc 768 --d_type f16_r --ldd 768 --compute_type f32_r --algo 0 --solution_index 0 --flags 0
./rocblas-bench -f trsm -r f32_r --side L --uplo U --transposeA N --diag N -m 10 -n 10 --alpha 1 --lda 10 --ldb 10
./rocblas-bench -f trsm -r f32_r --side R --uplo U --transposeA N --diag N -m 20 -n 10 --alpha 1 --lda 10 --ldb 20
./rocblas-bench -f gemm_strided_batched_ex --transposeA N --transposeB N -m 64 -n 64 -k 64 --alpha 1 --a_type f16_r --lda 64 --stride_a 4096 --b_type f16_r --ldb 64 --stride_b 4096 --beta 0 --c_type f16_r --ldc 64 --stride_c 4096 --d_type f16_r --ldd 64 --stride_d 4096 --batch_count 96 --compute_type f32_r --algo 0 --solution_index 7 --flags 0
tuner-bench -f gemm -r d -m100 -n=50 -k 25 --lda=104 -i 10
epoch 1, loss 3.2
./rocblas-bench -f gemm -r f32_r --transposeA N --transposeB N -m 0 -n 5 -k 5 --alpha 1 --lda 1 --ldb 5 --beta 0 --ldc 1
./rocblas-bench -f gemm -r f32_r --transposeA N --transposeB N -m 5 -n 5 -k 5 --alpha 1 --lda 3 --ldb 5 --beta 0 --ldc 5
./rocblas-bench -f gemm -r f32_r --transposeA X -m 5 -n 5 -k 5
./rocblas-bench -f gemm -r f32_r -m 5
END
printf './rocblas-bench -f gemm -r f32_r --transposeA N --trans' >>bench.log
cat >profile.yaml <<'END'
- { rocblas_function: "rocblas_sgemm", transA: 'N', transB: 'T', M: 1024, N: 512, K: 256, alpha: 1, lda: 1024, ldb: 512, beta: 0, ldc: 1024, call_count: 41 }
- { rocblas_function: "rocblas_gemm_ex", a_type: "f16_r", b_type: "f16_r", c_type: "f16_r", d_type: "f16_r", compute_type: "f32_r", transA: 'T', transB: 'N', M: 768, N: 1024, K: 768, alpha: 1, lda: 768, ldb: 768, beta: 0, ldc: 768, ldd: 768, batch_count: 1, algo: 0, solution_index: 0, flags: 0, call_count: 9 }
- { rocblas_function: "rocblas_strsm", side: 'L', M: 10, N: 10, call_count: 3 }
- { rocblas_function: "rocblas_sgemm", transA: 'N', transB: 'N', M: 8, N: 8, K: 8, call_count: 0 }
END
cat >hipblaslt.log <<'END'
hipblaslt-bench --api_method c -m 48 -n 176 -k 1024 --lda 48 --ldb 176 --ldc 48 --ldd 48  --stride_a 0 --stride_b 0 --stride_c 0 --stride_d 0  --alpha 1.000000 --beta 0.000000 --transA N --transB T --batch_count 1 --scaleA 0 --scaleB 0 --bias_vector --bias_source d --a_type bf16_r --b_type bf16_r --c_type bf16_r --d_type bf16_r --scale_type f32_r --bias_type f32_r --compute_type f32_r --algo_method index --solution_index 218160 --activation_type relu
hipblaslt-bench --api_method c -m 4096 -n 4096 -k 64 --lda 4096 --ldb 64 --ldc 4096 --ldd 4096 --stride_a 262144 --stride_b 262144 --stride_c 16777216 --stride_d 16777216 --transA N --transB N --batch_count 2 --a_type f32_r --b_type f32_r --c_type f32_r --d_type f32_r --compute_type xf32_r --activation_type none
END
cat >tunable.csv <<'END'
Validator,PT_VERSION,2.6.0
Validator,ROCM_VERSION,6.3.0
GemmTunableOp_Half_TN,tn_50272_1024_768_ld_768_768_50272,Gemm_Hipblaslt_TN_1,0.23
GemmStridedBatchedTunableOp_float_TN,tn_128_128_64_B_96_ld_64_64_128
GemmAndBiasTunableOp_BFloat16_NT,nt_3072_1024_768_ld_3072_1024_3072,Default,0.0125
ScaledGemmTunableOp_Float8_e4m3fn_Float8_e4m3fn_BFloat16_TN,tn_64_12288_2048_ld_2048_2048_64_rw_1_bias_None
GemmTunableOp_Quarter_TN,tn_64_64_64_ld_64_64_64
GemmTunableOp_Half_TN,tn_64_64
MIOpenDriver conv -n 128 -c 64 -H 56 -W 56 -k 64 -y 3 -x 3
END
printf 'M,N,K,transA,batch_count,call_count,us\n1000,500,250,T,1,7,12.5\n\n# a remark\n64,64,64,N,10,3,\n64,64\n' >sizes.csv
sizes --arch gfx90a bench.log
sizes --arch gfx90a --part MI210 bench.log profile.yaml hipblaslt.log tunable.csv sizes.csv --csv all.csv --share 0.99
echo "--- read again"
sizes --arch gfx90a all.csv --top 3
sizes --arch gfx90a --json --top 1 - <bench.log
log=$(printf 'b\377<.csv'); cp sizes.csv "$log"; sizes --arch gfx90a --json "$log" | grep -o '"file":"[^"]*"'
echo "--- convolutions"
cat >miopen.log <<'END'
MIOpen(HIP): Command [LogCmdConvolution] ./bin/MIOpenDriver conv -n 64 -c 64 -H 56 -W 56 -k 64 -y 3 -x 3 -p 1 -q 1 -u 1 -v 1 -l 1 -j 1 -m conv -g 1 -F 1 -t 1
./bin/MIOpenDriver conv -n 64 -c 64 -H 56 -W 56 -k 64 -y 3 -x 3 -p 1 -q 1 -F 1 -i 100 -V 0
./bin/MIOpenDriver convfp16 -n 64 -c 3 -H 224 -W 224 -k 64 -y 7 -x 7 -p 3 -q 3 -u 2 -v 2 -F 2 --in_layout NHWC --fil_layout NHWC --out_layout NHWC
./bin/MIOpenDriver convfp16 -n 32 -c 128 -H 28 -W 28 -k 128 -y 3 -x 3 -p 1 -q 1 -g 32 -I NHWC -f NHWC -O NHWC -b 1
./bin/MIOpenDriver convbfp16 --spatial_dim 3 -n 2 -c 4 --in_d 8 -H 8 -W 8 -k 8 --fil_d 3 -y 3 -x 3 -F 5 -I NCDHW
./bin/MIOpenDriver conv -n 1 -c 8 -H 7 -W 7 -k 4 -g 3
./bin/MIOpenDriver conv -n 1 -c 8 -H 7 -W 7 -k 4 -I NWHC
./bin/MIOpenDriver conv -n 1 -c 8 -H 7 -W 7 -k 4 --out_h 9
./bin/MIOpenDriver conv -n 1 -c 8 -H 1000000 -W 1000000 -k 4 -u 70 -v 70
./bin/MIOpenDriver pool -n 1
END
printf './bin/MIOpenDriver conv -n 1 -c' >>miopen.log
sizes --arch gfx90a miopen.log
sizes --arch gfx90a miopen.log --as convolution --csv conv.csv -o conv.yaml
cat conv.csv; grep -c . conv.yaml; grep 'Conv' conv.yaml
sizes --arch gfx90a conv.csv --as convolution --top 2 --json
sizes --arch gfx90a conv.csv --top 1
echo "--- a config, tuned"
"$BIN"/tuner-bench --help >/dev/null
printf 'M,N,K,call_count\n40,36,20,5\n64,64,64,9\n' | sizes --arch host --base "$DATA"/run/bench.yaml -o c.yaml - | tail -3
cat c.yaml
"$BIN"/tuner c.yaml out >log 2>&1 || cat log
ls out/3_LibraryLogic
echo "--- errors"
for words in '--arch gfx90a none.log' '--arch gfx9 bench.log' '--arch gfx90a --precision f12 bench.log' '--arch gfx90a .' \
  '--arch gfx90a -o c2.yaml --base none.yaml bench.log' '--arch gfx803 -o c2.yaml hipblaslt.log' '--arch gfx90a --as conv miopen.log' '--arch gfx90a --share 2 bench.log' ''; do
  sizes $words
done
printf 'nothing here\n' >empty.log
sizes --arch gfx90a empty.log
printf './rocblas-bench -f trsm -m 3\n' >trsm.log
sizes --arch gfx90a trsm.log
