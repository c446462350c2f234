# A search of eight sizes or more takes in sizes between them: they have rows in the logic and residuals in the model, no
# row in result files, and a run that is killed and continued has the same.
export TUNER_SIM="arch=x86-64-v3;cus=8;spread=0.3;fill=1;noise=0"
sed 's/\[\[32, 32, 96\], /[[32, 32, 256], /; s/DepthU: .*/DepthU: [8]/; s/HostPackB: .*/HostPackB: [False]/; s/GlobalSplitU: .*/GlobalSplitU: [1]/; s/WorkGroup: .*/WorkGroup: [[8, 8, 1]]/' \
  "$DATA/search/sim.yaml" >c.yaml
tune() { "$BIN/tuner" c.yaml "$@" --search model --global-parameters HeldOutSizes=4 2>&1; }
tune whole >said; echo "exit $?"
grep -E 'to search on|between these' said
rows() { grep -cE '^  - - \[|^- - - \[' "$1"/3_LibraryLogic/*_SB.yaml; }
predicted() { sed -n '/PredictedSizes:/,/Prefetch/p' "$1"/3_LibraryLogic/*_SB.yaml | grep -c '^    - \['; }
echo "$(($(rows whole) - $(predicted whole))) measured rows, $(($(cat whole/2_BenchmarkData/*.csv | wc -l) - 1)) results"
grep -A3 'loss of the library' said | grep -cE 'libtuner +all +4 '
"$BIN/tuner" c.yaml killed --search model --global-parameters HeldOutSizes=4 >/dev/null 2>&1 & pid=$!
sleep 2; kill -9 $pid 2>/dev/null; wait $pid 2>/dev/null
tune killed >said; echo "exit $?"
diff -r whole/3_LibraryLogic killed/3_LibraryLogic >/dev/null && echo "the same logic"
echo "-- with fewer sizes there are none"
sed 's/\[\[32, 32, 256\], /[[32, 32, 64], /' c.yaml >d.yaml
"$BIN/tuner" d.yaml few --search model 2>&1 | grep -c 'between these are'
