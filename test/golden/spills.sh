# Kernels that spill registers: left out of runs, winners only with --allow-spills; what createlib does with such winners.
cat >config.yaml <<'Y'
GlobalParameters: {MinimumRequiredVersion: 4.34.0, PrintLevel: 1}
BenchmarkProblems:
  -
    - {OperationType: GEMM, DataType: s, TransposeA: False, TransposeB: False, UseBeta: True, Batched: True}
    - BenchmarkCommonParameters: [{KernelLanguage: [Source]}, {WorkGroup: [[16, 16, 1]]}, {DepthU: [8]}, {PrefetchGlobalRead: [0]}, {PrefetchLocalRead: [0]}]
      ForkParameters: [{ThreadTile: [[16, 16], [8, 8]]}]   # 16x16: 256 registers for the sums alone
      BenchmarkFinalParameters: [{ProblemSizes: [{Exact: [4096, 4096, 1, 64]}]}]
LibraryLogic: {ScheduleName: vega20, DeviceNames: [Device 66af], ArchitectureName: gfx906}
LibraryClient:
Y
export TUNER_SIM="fast=MT256x256"
winner() { "$BIN/tuner-logic" show "$1"/3_LibraryLogic/*.yaml --solutions | grep -o 'MT[0-9]*x[0-9]*' | sort -u; }
kernels() { cat "$1"/library/*.hsaco "$1"/library/*.co 2>/dev/null | grep -ao 'Cijk_[A-Za-z0-9_]*\.kd' | grep -o 'MT[0-9]*x[0-9]*' | sort -u; }
"$BIN/tuner" --simulate config.yaml out >log 2>&1; rc=$?
if grep -q 'no compiler' log; then echo "skipped: $(grep 'no compiler' log)"; exit; fi
echo "exit $rc: winner $(winner out), in the library $(kernels out/4_LibraryClient)"; grep "warning.*spill" log
"$BIN/tuner" --simulate --allow-spills config.yaml out >log 2>&1; echo "exit $?: winner $(winner out), in the library $(kernels out/4_LibraryClient)"; grep "warning.*spill" log
create() { echo "--- createlib $*"; "$BIN/tuner-createlib" -v 0 --cache out/0_Build/cache "$@" out/3_LibraryLogic lib HIP 2>&1 | sed "s,$PWD/,,"; echo "in the library: $(kernels lib)"; rm -rf lib; }
create; create --no-spills; create --no-spills --strict | sed 's/[0-9]* bytes/N bytes/; s/yaml:[0-9]*/yaml:LINE/'
