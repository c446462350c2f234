# Bad configs: one line each, exit code 2.
t() { "$BIN/tuner" --list-solutions --count --arch gfx906 "$@"; echo "exit $?"; }
c() { echo "+ $1"; cat >c.yaml; t c.yaml; }
group='BenchmarkProblems:
- - {DataType: s, TransposeB: false, Batched: true}
  - '
echo "+ no such file"; t missing.yaml
c "empty file" </dev/null
printf '\000\001\377\376\200binary' | c "binary garbage"
awk 'BEGIN { for (i = 0; i < 100; i++) printf "[[[[[[[[[[" }' | c "nested lists"
head -c 104857600 /dev/zero | tr '\0' '[' | c "100 MB of nested lists"
{ echo 'a0: &a0 [x, x, x, x, x, x, x, x, x, x]'
  for i in 1 2 3 4 5 6 7 8 9; do j=$((i - 1)); echo "a$i: &a$i [*a$j, *a$j, *a$j, *a$j, *a$j, *a$j, *a$j, *a$j, *a$j, *a$j]"; done
} | c "aliases that expand without end"
echo 'a: &a [*a]' | c "an alias to itself"
printf '%s{ForkParameter: []}\n' "$group" | c "a misspelt key"
printf '%s{ForkParameters: [{DepthV: [8]}]}\n' "$group" | c "unknown parameter"
printf '%s{ForkParameters: [{DepthU: [1]}]}\n' "$group" | c "illegal value"
printf 'BenchmarkProblems:\n- - {DataType: dubble}\n' | c "unknown data type"
size() { echo "$2" | { read -r s; printf '%sBenchmarkFinalParameters: [{ProblemSizes: [%s]}]\n' "$group" "$s"; } | c "$1"; }
size "size 0" '{Exact: [64, 0, 1, 64]}'
size "negative size" '{Exact: [64, -64, 1, 64]}'
size "size 2^40" '{Exact: [64, 64, 1, 1099511627776]}'
size "leading dimension too large" '{Exact: [64, 64, 1, 64, 64, 64, 4294967296, 64]}'
size "range of 10^12 sizes" '{Range: [[1, 1, 1000000], [1, 1, 1000000], [1], [1]]}'
size "range that never ends" '{Range: [[8, 0, 64], [1], [1], [1]]}'
{ printf '%sForkParameters:\n    - WorkGroupMapping: [' "$group"
  awk 'BEGIN { for (i = 1; i < 1000; i++) printf "%d, ", i; print "1000]"; print "    - Groups:"
    for (g = 0; g < 3; g++) for (i = 0; i < 1000; i++) printf "      %s- DepthU: %d\n", i ? "  " : "- ", 2 * (i % 500) + 4 }'
} | c "fork of 10^12 points"
printf '%sForkParameters: [{WorkGroup: [[16, 16, 1]]}, {ThreadTile: [[3, 5]]}, {VectorWidth: [4]}]\n' "$group" |
  c "no valid solution"
printf 'GlobalParameters: {MinimumRequiredVersion: 5.0.0}\nLibraryLogic:\n' | c "a newer Tensile"
printf '%sInitialSolutionParameters: [{DepthU: [8]}]\n' "$group" | c "a step that is gone"
