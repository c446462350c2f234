# A library of a solution with PackOperands, through the whole run on the simulated device: the helper kernel that copies stands in
# the code object, the solution says what it copies and that it needs workspace.
"$BIN/tuner-nvrtc" --version >/dev/null 2>why || { echo "skipped: $(cat why)"; exit; }
cat >nn.yaml <<'YAML'
GlobalParameters: {MinimumRequiredVersion: 4.34.0, NumElementsToValidate: 0, MaxWorkspaceSize: 1000000}
BenchmarkProblems:
  -
    - {OperationType: GEMM, DataType: s, F32XdlMathOp: x, TransposeA: False, TransposeB: False, UseBeta: True, Batched: True}
    - BenchmarkCommonParameters: [{StaggerU: [0]}]
      ForkParameters:
        - Groups:
          -
            - {MatrixInstruction: [128, 64, 8, 1, 1, 1, 1, 1, 2], PackOperands: 1, PersistentKernel: 1, PersistentKernelAlongBatch: True}
      BenchmarkFinalParameters: [{ProblemSizes: [{Exact: [64, 64, 1, 40]}]}]
LibraryLogic: {ScheduleName: h200, DeviceNames: ["NVIDIA H200"], ArchitectureName: sm_90a}
YAML
run() { "$BIN/tuner" --arch sm_90a --simulate "$@" nn.yaml out >log 2>&1; echo "exit $?"; }
run
"$BIN/tuner-createlib" -v 0 --library-format yaml out/3_LibraryLogic lib CUDA
sed -n '/packOperands/p; /tensorMaps/,/tensor: B/p; /taskPredicate/p' lib/library/TensileLibrary.yaml
grep -ao '\.text\.[A-Za-z]*_[0-9A-Za-z]*' lib/library/*.cubin | sort -u | sed 's/_Ailk.*//; s/.*\.text/.text/'
echo "--- workspace that is too small"
rm -r out; run --global-parameters MaxWorkspaceSize=10000
"$BIN/tuner" explain out 64,64,1,40 | sed -n 's/^ *\(INVALID.*workspace\).*/\1/p; s/^ *\([A-Z_]*: .*workspace\).*/\1/p' | sort -u
