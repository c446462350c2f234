# A run in shards: gathered in any order and any subset it is the run that one machine would have made; a missing shard is
# named, a shard of another device, config or version is refused; killed shards continue; searches too.
export TUNER_SIM="arch=x86-64-v3;spread=0;noise=0;words=0.2"
tuner() { "$BIN/tuner" "$@"; }
same() { # A B: equal results and logic
  for d in 2_BenchmarkData 3_LibraryLogic; do diff -r "$1/$d" "$2/$d" >/dev/null && echo "$d: the same" || echo "$d: differs"; done
}
said() { grep '^tuner:' log | sed "s|$DATA|DATA|g"; }
tuner "$DATA/run/shards.yaml" whole >/dev/null 2>&1; echo "whole run: exit $?"
tuner shard "$DATA/run/shards.yaml" S --shards 3 --global-parameters PrintLevel=1 ClientBuildPath="$PWD/build"; echo "exit $?"
sed -n '/^groups/,$p' S/shards.yaml | grep -v ^sha256
echo "--- nothing is there to gather"
tuner status S
tuner gather S >log 2>&1; echo "exit $?"; said
echo "--- in any order, any subset"
for i in 2 0; do
  tuner run-shard S $i 2>&1 | tail -1 | sed "s/ on simulated device//"
  tuner gather S >log 2>&1; echo "gather: exit $?"; said
done
tuner status S | sed 's/ on .*//; s/  */ /g'
tuner run-shard S 1 >/dev/null 2>&1
tuner gather S >log 2>&1; echo "gather: exit $?"; said
same whole S/gathered
tuner diff whole S/gathered | tail -1
echo "--- again: the same; from the beginning, too"
tuner gather S >/dev/null 2>&1; same whole S/gathered
tuner gather S -o other >/dev/null 2>&1; echo "exit $?"; same whole other
tuner status other | sed 's/started .*)/started)/; s/-[^ ]*Z//'
tuner explain other 256,256,1,256 | sed -n 1,3p
echo "--- an ordinary run goes on in it, and has nothing to do"
tuner "$DATA/run/shards.yaml" other --global-parameters ClientBuildPath="$PWD/build" >/dev/null 2>&1; echo "exit $?"; same whole other
ls other/1_BenchmarkProblems/*/00_Final/build/client.log 2>/dev/null
echo "--- the library selects"
TUNER_LIBPATH=S/gathered "$BIN/tuner-bench" -f gemm -r f32_r --transposeA N --transposeB N -m 64 -n 64 -k 128 | grep -o 'exact size.*;'
echo "--- killed at random moments, and run again"
tuner shard "$DATA/run/shards.yaml" K --shards 2 --global-parameters ClientBuildPath="$PWD/build" >/dev/null 2>&1
for t in 0.05 0.1 0.15 0.2 0.3; do
  "$BIN/tuner" run-shard K 0 >/dev/null 2>&1 & sleep $t; kill -9 $! 2>/dev/null; wait $! 2>/dev/null
done
for i in 0 1; do tuner run-shard K $i >/dev/null 2>&1 || echo "shard $i: exit $?"; done
tuner gather K >/dev/null 2>&1; echo "exit $?"; same whole K/gathered
echo "--- each shard searches kernels for its own sizes, and is a group of its own where they differ from the others'"
sed 's/DepthU: \[8\]/DepthU: [4, 8, 16]/; s/\[\[4, 4\], \[8, 4\]\]/[[4, 4], [8, 4], [4, 8], [8, 8], [2, 4]]/
  s/GlobalSplitU: \[1, 2\]/GlobalSplitU: [1]/; s/HeldOutSizes: 4/HeldOutSizes: 0/' "$DATA/run/shards.yaml" >search.yaml
export TUNER_SIM="arch=x86-64-v3;noise=0"
tuner shard search.yaml M --shards 3 --search model --global-parameters ClientBuildPath="$PWD/build" >/dev/null 2>&1
for i in 2 1 0; do tuner run-shard M $i >/dev/null 2>&1 || echo "shard $i: exit $?"; done
tuner gather M >/dev/null 2>&1; echo "exit $?"; (cd M/gathered/2_BenchmarkData && ls *.csv)
for i in 0 1 2; do tuner explain M/shard_000$i; done | grep -c '^  [0-9]'
tuner explain M/gathered | grep -c '^  [0-9]'
winners() { tuner explain "$1" | grep '^  [0-9]' | awk '{ print $1, $2 }'; }
for i in 0 1 2; do winners M/shard_000$i; done | sort >a; winners M/gathered | sort >b; cmp a b && echo "the winners' speeds are those of the shards"
tuner status M/gathered | sed -n '/^Cijk/p; /rejected/{p;n;p}'
echo "--- solutions that share a kernel, because the work-group order is its argument"
sed 's/GlobalSplitU: \[1, 2\]/WorkGroupMapping: [1, 4]/; s/- GlobalSplitUAlg.*/- WorkGroupMappingDim: [1]/' "$DATA/run/shards.yaml" >words.yaml
export TUNER_SIM="arch=x86-64-v3;spread=0;noise=0;words=0.2"
set -- --global-parameters ClientBuildPath="$PWD/build"
tuner words.yaml words "$@" WorkGroupMappingSweep=0 >/dev/null 2>&1; echo "exit $?"
tuner shard words.yaml W --shards 2 "$@" PrintLevel=1 WorkGroupMappingSweep=2 2>&1 | sed -n 1p
tuner shard words.yaml N --shards 2 "$@" PrintLevel=1 WorkGroupMappingSweep=0 2>&1 | grep -c Sweep
for i in 0 1; do tuner run-shard W $i >/dev/null 2>&1 || echo "shard $i: exit $?"; done
tuner gather W >/dev/null 2>&1; echo "exit $?"; same words W/gathered
source=1_BenchmarkProblems/Cijk_Ailk_Bljk_SB_00/00_Final/source; diff -r words/$source W/gathered/$source && ls W/gathered/$source/build_tmp/SOURCE
echo "--- a finished shard that is run again with ForceRedoBenchmarkProblems off still has its kernels"
tuner shard "$DATA/run/shards.yaml" F --shards 2 "$@" ForceRedoBenchmarkProblems=False >/dev/null 2>&1
for i in 0 1 0 1; do tuner run-shard F $i >/dev/null 2>&1 || echo "shard $i: exit $?"; done
tuner gather F >/dev/null 2>&1; echo "exit $?"; same whole F/gathered
