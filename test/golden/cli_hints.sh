# The commands that a run prints at its end can be pasted; explain without a size; a missing peer; a stale peer.csv.
awk '/^  -/ && ++n == 2 { skip = 1 } /^LibraryLogic/ { skip = 0 } !skip' "$DATA/run/bench.yaml" | sed 's/ProblemSizes: .*/ProblemSizes: [{Exact: [33, 32, 1, 32]}]/; s/- DepthU: .*/&\n        - PrefetchGlobalRead: [1, 2]/' >one.yaml
T() { "$BIN/tuner" "$@"; echo "exit $?"; }
echo "--- a peer for another device"
T --arch host --peer cublas one.yaml out
ls out 2>/dev/null
sed 's/^GlobalParameters: {/&Peer: blas, /' one.yaml >peer.yaml; T peer.yaml out
echo "--- the end of a run, with a peer.csv of another one"
mkdir -p "out dir" kept; echo "# device: host 0" >"out dir/peer.csv"; echo mine >kept/peer.csv
sed 's/\[1, 2\]/[1]/' one.yaml >good.yaml
"$BIN/tuner" --arch host good.yaml "out dir" >said 2>log; echo "exit $?"
grep peer log; ls "out dir"
"$BIN/tuner" --arch host good.yaml kept >/dev/null 2>log; grep peer log; cat kept/peer.csv
sed -n '/^more about/,$p' said | sed "s|$BIN|BIN|g"
echo "--- pasted"
grep '^  .*/tuner explain' said >line; sh line | sed -n 's/  *[0-9.]* GFlops.*/ .../; 1,3p'
grep '^  .*/tuner status' said >line; sh line | grep -c 'last run: done'
grep '^  .*/tuner-bench' said >line; sh line | grep -o 'exact size.*32;'
echo "--- all sizes"
T explain "out dir" | sed 's/  *[0-9.e+]*  one sample */ ... /'
T explain "out dir" 1,2,3,4
T explain "out dir" 1,2
echo "--- why permutations were rejected"
"$BIN/tuner" --arch host one.yaml two >/dev/null 2>log; "$BIN/tuner" status two | grep -A1 rejected
echo "--- no library asked for"
sed '/^LibraryClient/,$d' good.yaml >logic.yaml; "$BIN/tuner" --arch host logic.yaml three 2>log | grep '^no library'
