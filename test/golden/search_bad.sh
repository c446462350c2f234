# What does not fit a run costs one line, and the library is made all the same: held-out sizes that are tuned, a second list of them, results
# of another device, a model that does not fit the logic.
export TUNER_SIM="arch=x86-64-v3;noise=0"
config() { # lines of BenchmarkFinalParameters
  sed -n '1,/KernelLanguage/p' "$DATA/search/sim.yaml" >head.yaml
  { cat head.yaml
    printf '      ForkParameters:\n        - DepthU: [8, 32]\n        - WorkGroup: [[8, 8, 1]]\n      BenchmarkFinalParameters:\n'
    printf '%s\n' "$@"; sed -n '/^LibraryLogic/,$p' "$DATA/search/sim.yaml"; } >c.yaml
}
tune() { "$BIN/tuner" "$@" >said 2>&1; echo "exit $?"; grep -E 'HeldOut|another device|^tuner: (c|out)' said | sed "s|^.*c.yaml|c.yaml|; s| of [^ ]*: simulated| of HOST: simulated|; s|on '[^']*'$|on 'NAME'|"; }
sizes='        - ProblemSizes:
          - Exact: [64, 64, 1, 64]
          - Exact: [128, 64, 1, 64]'
echo "-- a held-out size that is tuned too"
config "$sizes" '        - HeldOutSizes:' '          - Exact: [64, 64, 1, 64]' '          - Exact: [96, 64, 1, 64]' '          - Exact: [96, 64, 1, 64]'
tune --device sim c.yaml out
grep -c '^- - - \[\|^  - - \[' out/3_LibraryLogic/*.yaml
cut -d, -f2-5 out/2_BenchmarkData/*.csv
"$BIN/tuner-logic" show out/3_LibraryLogic/*.yaml | grep '^sizes'
echo "-- two lists"
config "$sizes" '        - HeldOutSizes:' '          - Exact: [96, 64, 1, 64]' '        - HeldOutSizes:' '          - Exact: [96, 64, 1, 64]'
tune --device sim c.yaml out2
echo "-- the results of another device stay, and are not used"
config "$sizes"
tune --device host --arch x86-64-v3 --global-parameters NumElementsToValidate=0 -- c.yaml out
ls out/4_LibraryClient/library/*.dat | wc -l
