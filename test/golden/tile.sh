# Programs over tiles that are written by hand: printed, run, refused; and as a candidate of a run.
tiles=$CONFIGS/tile
"$BIN/tuner" tile "$tiles/wrapped.tile"
for p in plain k_sliced prefetching transposed_a padded dual wrapped round_robin; do
  "$BIN/tuner" tile "$tiles/$p.tile" --run 100,70,33 --seed 3 | sed "s/^/$p: /"
done
"$BIN/tuner" tile "$tiles/plain.tile" --run 64,64
"$BIN/tuner" tile "$tiles/plain.tile" --emit gfx000
"$BIN/tuner" tile missing.tile
sed 's/padding = 1.0/padding = 2.0/' "$tiles/padded.tile" >wrong.tile
"$BIN/tuner" tile wrong.tile --run 40,40,33; echo "exit $?"
sed 's/m 64\] wg_map/m 60] wg_map/' "$tiles/plain.tile" >bad.tile
"$BIN/tuner" tile bad.tile; echo "exit $?"
for arch in x86-64-v3 gfx906 gfx1100 sm_80; do
  "$BIN/tuner" tile "$tiles/round_robin.tile" --emit $arch | sed -n 2,3p
done

cp "$tiles/plain.tile" mine.tile
cat >c.yaml <<END
GlobalParameters: {NumElementsToValidate: -1, DataInitTypeBeta: 2}
BenchmarkProblems:
  - - {OperationType: GEMM, DataType: s, TransposeA: False, TransposeB: False, UseBeta: True, Batched: True}
    - ForkParameters:
        - CustomKernelName: [mine]
        - DepthU: [16, 32]
      BenchmarkFinalParameters:
        - ProblemSizes:
          - Exact: [100, 70, 2, 33]
LibraryLogic: {ScheduleName: host, DeviceNames: [Device 0], ArchitectureName: host}
LibraryClient:
END
"$BIN/tuner" --list-solutions --arch x86-64-v3 c.yaml; "$BIN/tuner" --list-solutions --count --arch x86-64-v3 c.yaml
"$BIN/tuner" c.yaml out >log 2>&1; echo "exit $?"
grep -h 'permutations\|0 wrong' log | sed 's/^measure.*  0 wrong/0 wrong/'
ls out/3_LibraryLogic
grep -o 'CustomKernelName: .*' out/3_LibraryLogic/*.yaml
TUNER_LIBPATH=out/4_LibraryClient/library "$BIN/tuner-bench" -f gemm -r f32_r --transposeA N --transposeB N -m 100 -n 70 -k 33 \
  --beta 0.5 -v 1 2>&1 | grep -o 'solution 0 mine\|right: all [0-9]* elements'
sed -i 's/grid tile_m 64/grid tile_m many/' mine.tile
"$BIN/tuner" c.yaml out2; echo "exit $?"
"$BIN/tuner" --list-solutions --arch x86-64-v3 c.yaml; echo "exit $?"
rm mine.tile
"$BIN/tuner" c.yaml out3 2>&1 | tail -1 | sed 's/x86-64-v[0-9]/HOST/'
"$BIN/tuner" --list-solutions --reasons --arch x86-64-v3 c.yaml 2>&1 | grep custom
echo "--- CustomKernels"
sed 's/- ForkParameters:/- CustomKernels: [asm_kernel]\n      ForkParameters:/; /CustomKernelName/d' c.yaml >asm.yaml
"$BIN/tuner" --list-solutions --count --arch x86-64-v3 asm.yaml
"$BIN/tuner" --arch x86-64-v3 --compile-only asm.yaml out4 2>&1 | grep CustomKernel
"$BIN/tuner-createlib" out/3_LibraryLogic lib HOST --architecture x86-64-v3 2>&1 | tail -1
