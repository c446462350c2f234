# tuner-bench --compare: two libraries of the CPU, and of a GPU of the fake driver, where times are known: ratios, weights,
# a slower size, a wrong result, sizes without a solution, a peer, files, and what is refused.
unset TUNER_LIBPATH ROCBLAS_TENSILE_LIBPATH
quiet() { grep -v 'machine was busy'; } # which the machine of the tests may be
run() { echo "+ --compare $*"; "$BIN/tuner-bench" --compare "$@" 2>&1 | quiet | sed "s|$PWD/||g; s|x86-64-v[234]|HOST|g; s/ *$//"; echo; }
code() { "$BIN/tuner-bench" --compare "$@" >/dev/null 2>&1; echo "exit $?"; }
# rows for one architecture
on() { # ARCH NAME...
  arch=$1; shift
  printf -- '---\nlibrary:\n  type: Hardware\n  rows:\n  - predicate: {type: AMDGPU, value: {type: Processor, value: %s}}\n    library:\n' "$arch"
  sh "$DATA/client/library.sh" "$@" | awk '/^solutions/ { behind = 1 } /^---|^library/ { next } { print behind ? $0 : "    " $0 }'
}
A=Cijk_Ailk_Bljk_SB_a B=Cijk_Ailk_Bljk_SB_b
mkdir old new narrow other
on sm_90 $A >old/TensileLibrary.yaml
on sm_90 $B >new/TensileLibrary.yaml
MULTIPLE=8 on sm_90 $B >narrow/TensileLibrary.yaml
for d in old new narrow; do printf 'FAKE sm_90\n%s 96 0\n%s 96 0\n' $A $B >$d/Kernels.so-000-sm_90.cubin; done
on gfx90a $A >other/TensileLibrary.yaml; printf 'FAKE gfx90a\n%s 96 0\n' $A >other/Kernels.so-000-gfx90a.co
export LD_LIBRARY_PATH="$BIN/../fake/cuda" TUNER_FAKE="ns=30000"
cat >app.log <<'END'
rocblas-bench -f gemm -r f32_r --transposeA N --transposeB N -m 40 -n 30 -k 20 --alpha 1 --lda 40 --ldb 20 --beta 0 --ldc 40
rocblas-bench -f gemm -r f32_r --transposeA N --transposeB N -m 40 -n 30 -k 20 --alpha 1 --lda 40 --ldb 20 --beta 0 --ldc 40
rocblas-bench -f gemm_strided_batched -r f32_r -m 17 -n 5 -k 3 --batch_count 2 --beta 2
rocblas-bench -f gemm_ex --a_type f32_r --b_type f32_r --c_type f32_r --d_type f32_r --compute_type f32_r -m 8 -n 9 -k 10 --beta 1
rocblas-bench -f gemm -r f32_r -m 0 -n 5 -k 5
rocblas-bench -f trsm -r f32_r -m 10 -n 10
END
printf 'rocblas-bench -f gemm -r f32_r -m 40 -n 30 -k' >>app.log
echo "--- the same speed; a log with lines that are left out, cut in the middle of the last one"
run old new app.log -i 6 --csv c.csv --json c.json
quiet <c.csv; python3 -m json.tool c.json >/dev/null && echo "JSON is valid"
grep -o '"total".*' c.json
echo "--- its CSV is a list of sizes, and keeps the calls"
run old new c.csv -i 6 | tail -5
echo "--- twice as slow: significant, and again"
TUNER_FAKE="ns=30000;slow=SB_b" run old new app.log -i 6 --fail-below 0.98
TUNER_FAKE="ns=30000;slow=SB_b" code old new app.log -i 6 --fail-below 0.98
TUNER_FAKE="ns=30000;slow=SB_b" code old new app.log -i 6
TUNER_FAKE="ns=30000;slow=SB_a" code old new app.log -i 6 --fail-below 0.98
echo "--- a wrong result"
TUNER_FAKE="ns=30000;wrong=SB_b" run old new app.log -i 6
TUNER_FAKE="ns=30000;wrong=SB_b" code old new app.log -i 6
echo "--- a kernel that is not launched, and one that takes the device with it behind a size that is written"
TUNER_FAKE="ns=30000;fail=SB_b" run old new app.log -i 6 | tail -9
MULTIPLE=8 on sm_90 Cijk_Ailk_Bljk_SB_c >narrow/TensileLibrary.yaml
printf 'FAKE sm_90\n%s 96 0\n' Cijk_Ailk_Bljk_SB_c >narrow/Kernels.so-000-sm_90.cubin
{ sed -n 3p app.log; sed -n 1p app.log; } >two.log
TUNER_FAKE="ns=30000;illegal=SB_c" run old narrow two.log -i 6 --csv lost.csv | tail -5; grep -c '^N' lost.csv
echo "--- sizes for which a library has nothing"
run old narrow app.log -i 6
code old narrow app.log -i 6
echo "--- a peer"
run old new app.log -i 6 --peer cublas --csv p.csv
sed -n '/^transA/,$p' p.csv | cut -d, -f3-5,21,36-
TUNER_FAKE="ns=30000;blas_wrong=1;wrong=blas_wrong" code old new app.log -i 6 --peer cublas
echo "--- YAML, whose options hold"
cat >sizes.yaml <<'END'
- {rocblas_function: rocblas_sgemm, M: 40, N: 30, K: 20, beta: 3, call_count: 7}
- {rocblas_function: rocblas_sgemm, M: 0, N: 30, K: 20}
END
run old new sizes.yaml -i 6
printf '%s' '- {rocblas_function: rocblas_sgemm, M: 4' >>sizes.yaml
echo "--- the same, cut in the middle of a line"
run old new sizes.yaml -i 6 | tail -6
echo "--- a log for --yaml: --iters wins over the number of calls"
"$BIN/tuner-bench" --library old --yaml app.log 2>/dev/null | sed -n 's/^#.* n \([0-9]*\) .*/n \1/p'
"$BIN/tuner-bench" --library old --yaml app.log -i 3 2>/dev/null | sed -n 's/^#.* n \([0-9]*\) .*/n \1/p'
echo "--- and for --select-only: the problems as lines that it reads"
"$BIN/tuner-bench" --library old --arch sm_90 --select-only --yaml app.log 2>/dev/null | tee answers
sed 's/{"line":"\([^"]*\)".*/\1/' answers | "$BIN/tuner-bench" --library old --arch sm_90 --select-only | cmp - answers && echo "the same"
echo "--- what a library of doubles, and one of int8, has"
mkdir double int8
IN=Double OUT=Double HPA=true on sm_90 Cijk_Ailk_Bljk_DB_a >double/TensileLibrary.yaml
IN=Int8 OUT=Int32 HPA=true on sm_90 Cijk_Ailk_Bljk_I8II_BH_a >int8/TensileLibrary.yaml
"$BIN/tuner-bench" --library double -f gemm -r d --transposeA T 2>&1 | head -1
"$BIN/tuner-bench" --library int8 -f gemm -r d 2>&1 | head -1
echo "--- refused"
run old new
run old new none.log
run old new app.log -i 5
run old new app.log --timing loop
run old new app.log --library old
run old new app.log --peer mkl
run old new app.log --peer openblas
run old other app.log
run old none app.log
run new old app.log --device hip | tail -2
printf 'rocblas-bench -f trsm -m 3\n' >trsm.log; run old new trsm.log
printf -- '- {rocblas_function: rocblas_sgemm, M: 0}\n' >zero.yaml; run old new zero.yaml
echo "+ --peer cublas without --compare"; "$BIN/tuner-bench" --library old --peer cublas -f gemm
unset LD_LIBRARY_PATH
echo "--- libraries of the CPU"
for t in 8,2 16,4; do
  awk '/^  -/ && ++n == 2 { skip = 1 } /^LibraryLogic/ { skip = 0 } !skip' "$DATA"/run/bench.yaml |
    sed "s/ThreadTile: \[\[8, 2\]\]/ThreadTile: [[$t]]/" >one.yaml
  "$BIN"/tuner one.yaml "host_${t%,*}" >log 2>&1 || cat log
done
for i in 1 2 3 4; do for j in $(seq "$(nproc)"); do timeout 60 sh -c 'while :; do :; done' & busy="$busy $!"; done; done
"$BIN/tuner-bench" --compare host_8 host_16 app.log -i 6 --fail-below 0.001 --csv h.csv --json h.json >host.txt 2>&1; echo "exit $?"
kill $busy; wait 2>/dev/null
grep -c '^NN f32_r' host.txt
echo "--- four programs for each core beside it"
for f in host.txt h.csv h.json; do grep -o 'warning.*machine was busy while kernels were timed: load average' $f; done
echo "--- and of two devices"
export LD_LIBRARY_PATH="$BIN/../fake/cuda"
"$BIN/tuner-bench" --compare host_8 old app.log 2>&1 | tail -1
