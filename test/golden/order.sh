# The work-group order as an argument on the host: kernels are compiled once for all orders, a sweep adds orders to the best,
# a second run measures nothing, libtuner launches with what is tuned, chosen by the model or given; orders that are refused.
export TUNER_NUM_THREADS=1
tell() { sed -n 's/ [0-9.e+]*\/s / /; s/  ETA.*//; / $/d; /permutations/p; /work-group orders/p; /^build  \([0-9]*\)\/\1 /p; /^measure  \([0-9]*\)\/\1 /p' | uniq; } # progress may be printed twice at the end
source=out/1_BenchmarkProblems/Cijk_Ailk_Bljk_SB_00/00_Final/source
"$BIN/tuner" "$DATA/run/order.yaml" out >log 2>&1; echo "exit $?"
tell <log
ls $source/build_tmp/SOURCE | wc -l
"$BIN/tuner" "$DATA/run/order.yaml" out 2>&1 | tell
sed 's/WorkGroupMappingXCC: .*/WorkGroupMappingXCC: [1]/; s/WorkGroupMapping: .*/WorkGroupMapping: [0]/; s/HeldOutSizes: 0/HeldOutSizes: 0\n  WorkGroupMappingSweep: 0/' \
  "$DATA/run/order.yaml" >model.yaml
sed 's/MappingDim: .*/MappingDim: [1]/; s/WorkGroupMapping: .*/WorkGroupMapping: [3]/; s/WorkGroupMappingXCC: .*/WorkGroupMappingXCC: [4]/; s/HeldOutSizes: 0/HeldOutSizes: 0\n  WorkGroupMappingSweep: 0/' \
  "$DATA/run/order.yaml" >tuned.yaml
sed 's/.*MappingDim: .*//; s/.*WorkGroupMapping: .*//; s/.*WorkGroupMappingXCC: .*//' "$DATA/run/order.yaml" >fixed.yaml
bench() { "$BIN/tuner-bench" -f gemm -r f32_r -m 200 -n 150 -k 100 -v 1 -i 1 "$@" 2>&1 | sed -n 's/# solution.*x100//; s/; median.*; right/; right/p; /tuner-bench/p'; }
for c in model tuned fixed; do
  "$BIN/tuner" $c.yaml $c >$c.log 2>&1; echo "$c: exit $?"
  bench --library $c | sed "s/wgm [0-9]* xcc 1 (model)/wgm N xcc 1 (model)/"
  bench --library $c --mapping 5,8,0,2
done
echo "HHS N N 200 150 100 1 0 0 0 0 1 0" | sed 's/HHS/S/' | "$BIN/tuner-bench" --library tuned --select-only | sed 's/.*"mapping"/"mapping"/'
echo "== refused"
for order in 0 1025 4,33 4,8,12 4,8,1024 4,8,8,3 4,8,0,256 x; do bench --library tuned --mapping $order; done
refused() { sed "s/WorkGroupMappingXCC: .*/WorkGroupMappingXCC: [1]\n        - $1/; s/PrefetchGlobalRead: .*/PrefetchGlobalRead: [0]/" "$DATA/run/order.yaml" >bad.yaml
  "$BIN/tuner" --list-solutions --reasons bad.yaml 2>&1 | grep -v '^  *[0-9]* *valid' | sort | uniq | head -4; }
refused 'WorkGroupMappingXCCGroup: [-2]'
sed 's/WorkGroupMappingXCC: .*/WorkGroupMappingXCC: [4]\n        - WorkGroupMappingXCCGroup: [6]/' "$DATA/run/order.yaml" >bad.yaml
"$BIN/tuner" bad.yaml bad 2>&1 | grep -E 'as in|no valid' | sed 's,on x86[^ ]*,on ARCH,'
sed 's/WorkGroupMappingXCC: .*/WorkGroupMappingXCC: [4]\n        - WorkGroupMappingXCCGroup: [8]\n        - WorkGroupMappingXCCChunk: [2]/' "$DATA/run/order.yaml" >bad.yaml
"$BIN/tuner" bad.yaml bad 2>&1 | grep -E 'as in|no valid' | sed 's,on x86[^ ]*,on ARCH,'
sed 's/.*WorkGroupMappingDim: .*//' "$DATA/run/order.yaml" | sed 's/XCC: .*/XCC: [4]/' >bad.yaml
"$BIN/tuner" bad.yaml bad 2>&1 | grep -E 'as in|no valid' | sed 's,on x86[^ ]*,on ARCH,'
sed 's/WorkGroupMapping: .*/WorkGroupMapping: [-4]/' "$DATA/run/order.yaml" >bad.yaml
"$BIN/tuner" bad.yaml bad 2>&1 | grep -E 'as in|no valid' | sed 's,on x86[^ ]*,on ARCH,'
