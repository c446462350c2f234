# A truncated or changed library gives the caller an error of one line, whichever byte it is; and what the host cannot
# do is reported before anything is measured.
config() { cat <<Y
GlobalParameters: {SyncsPerBenchmark: 1, SleepPercent: 0, PrintLevel: 0}
BenchmarkProblems:
  -
    - {OperationType: GEMM, DataType: s, TransposeA: False, TransposeB: False, Batched: True$1}
    - BenchmarkCommonParameters:
      ForkParameters:
        - ThreadTile: [[8, 4]]
        - WorkGroup: [[4, 8, 1]]
        - DepthU: [16]
      BenchmarkFinalParameters:
        - ProblemSizes:
          - Exact: [33, 17, 1, 29]
Y
}
library() { printf '%s\n' 'LibraryLogic: {ScheduleName: host, DeviceNames: [host], ArchitectureName: x86-64-v2}' 'LibraryClient:'; }
bench() { TUNER_LIBPATH=$1 "$BIN/tuner-bench" -f gemm -r f32_r -m 33 -n 17 -k 29 -i 1 -v 1 >bench.log 2>&1; rc=$?
  sed 's/hash [0-9a-f]*, now [0-9a-f]*/hash H, now H/; s/^[0-9].*/N/; /^# /d; s/table ends at [0-9]*/table ends at N/' bench.log | grep -v '^N,\|^transA'; echo "exit $rc"; }
{ config; library; } >c.yaml
"$BIN/tuner" c.yaml out >log 2>&1; echo "exit $?"
so=Kernels.so-000-x86-64-v2.so
bench out/4_LibraryClient/library
grep '^bounds-check' out/1_BenchmarkProblems/*/00_Final/source/ClientParameters.ini
echo "--- code object: cut, one bit, empty, none"
cp -r out/4_LibraryClient/library lib
truncate -s 5000 lib/$so; bench lib
cp out/4_LibraryClient/library/$so lib/; printf '\377' | dd of=lib/$so bs=1 seek=4200 conv=notrunc 2>/dev/null; bench lib
: >lib/$so; bench lib
rm lib/$so; bench lib
echo "--- metadata: cut"
cp out/4_LibraryClient/library/* lib/; truncate -s 3000 lib/TensileLibrary.dat; bench lib
echo "--- LibraryClient without logic files is said first"
{ config; echo 'LibraryClient:'; } >nologic.yaml
"$BIN/tuner" --arch x86-64-v2 nologic.yaml out2; echo "exit $?"; ls out2/2_BenchmarkData 2>&1
echo "--- outdir is a file"
"$BIN/tuner" c.yaml log; echo "exit $?"
echo "--- no place for temporary files is needed to find the device, nor HOME"
env -u HOME TMPDIR=/nonexistent "$BIN/tuner" c.yaml out >/dev/null 2>&1; echo "exit $?"
