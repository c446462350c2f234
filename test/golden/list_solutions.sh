# Names, reasons, duplicates, groups without a valid solution, bad input of `tuner --list-solutions`.
cat >fork.yaml <<'Y'
BenchmarkProblems:
  -
    - {OperationType: GEMM, DataType: s, TransposeB: False, Batched: True}
    -
      ForkParameters:
        - ThreadTile: [[4, 4], [8, 8], [3, 5]]
        - DepthU: [16]
        - MinKForGSU: [16, 256]
        - VectorWidth: [-1, 4]
        - GlobalSplitU: [1, 4]
      BenchmarkFinalParameters:
        - ProblemSizes:
          - Exact: [64, 64, 1, 64]
Y
echo "== names"; "$BIN/tuner" --list-solutions --arch gfx906 fork.yaml; echo "exit $?"
echo "== reasons"; "$BIN/tuner" --list-solutions --arch gfx906 --count --reasons fork.yaml; echo "exit $?"
echo "== full"; "$BIN/tuner" --list-solutions --arch gfx906 --names fork.yaml | head -1; echo "exit $?"
echo "== MaxLDS"; "$BIN/tuner" --list-solutions --arch gfx906 --count --global-parameters MaxLDS=8192 fork.yaml
echo "== none"; sed 's/DepthU: \[16\]/DepthU: [6]/' fork.yaml >none.yaml
"$BIN/tuner" --list-solutions --arch gfx906 none.yaml; echo "exit $?"
echo "== host"; sed 's/VectorWidth: \[-1, 4\]/LdsPadA: [0, 1]/; s/\[4, 4\], \[8, 8\], \[3, 5\]/[16, 6], [8, 4]/' fork.yaml >host.yaml
"$BIN/tuner" --list-solutions --arch x86-64-v3 --count --reasons host.yaml; echo "exit $?"
"$BIN/tuner" --list-solutions --arch x86-64-v3 host.yaml
echo "== bad"; "$BIN/tuner" --list-solutions --arch gfx1 fork.yaml; echo "exit $?"
"$BIN/tuner" --list-solutions --arch gfx906 missing.yaml; echo "exit $?"
echo "GlobalParameters: {}" >empty.yaml; "$BIN/tuner" --list-solutions --arch gfx906 empty.yaml; echo "exit $?"
echo "== 10^12"; seq -s ', ' 1 1024 >v
cat >large.yaml <<Y
BenchmarkProblems:
  - - {OperationType: GEMM, DataType: s, Batched: True}
    - ForkParameters: [{GlobalSplitU: [$(cat v)]}, {WorkGroupMapping: [$(cat v)]}, {MaxVgprNumber: [1, 2]}, {StaggerU: [0, 4, 8, 16]},
        {PrefetchLocalRead: [$(seq -s ', ' 0 127)]}, {LdsPadA: [$(seq -s ', ' 0 127)]}, {PersistentKernel: [$(seq -s ', ' 0 127)]}]
Y
"$BIN/tuner" --list-solutions --arch gfx906 --count large.yaml; echo "exit $?"
