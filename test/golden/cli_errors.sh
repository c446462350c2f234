# Usage errors of `tuner`: one line each and the documented exit code.
t() { echo "+ tuner $*"; "$BIN/tuner" "$@"; echo "exit $?"; }
t
t onlyone.yaml
t --hlp
t -Q
t --arch
t --count=3 a.yaml out
t --device=x a.yaml out
t --device -1 a.yaml out
t --global-parameters NumWarmups a.yaml out
t status
t status nowhere
t status a b
t explain nowhere 1,2,3,4
t log nowhere K1
t missing.yaml out
printf 'GlobalParameters:\n\tPrintLevel: 1\n' >tab.yaml; t tab.yaml out
printf 'GlobalParameters:\n  - \t- a: [b\n' >tab.yaml; t tab.yaml out
printf 'GlobalParameters: {A: "\t"}\nB: [\n' >notab.yaml; t notab.yaml out
sed 's/DataType: s/DataType: q/' "$DATA/run/bench.yaml" >q.yaml; t q.yaml out
sed 's/DataType: s/DataType: dubble/' "$DATA/run/bench.yaml" >q.yaml; t q.yaml out
echo "--- commands"
t satus out
t sttus
t explian out 1,2,3,4
t --peer blas a.yaml out
t -- --jobs out
touch lgo; t lgo out
