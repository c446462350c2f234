# tuner-bench on the fake CUDA driver with a solution that copies operands: the helper kernel is launched before the main one, for
# what does not fit; nothing is copied where alpha is 0; without the helper kernel it says so.
A=Cijk_Ailk_Bljk_SB_a
mkdir lib
sh "$DATA/client/library.sh" $A | sed 's/packSummationDims: 0/packOperands: 3, &/; s/taskPredicate: .*/taskPredicate: {type: WorkspaceCheck}/
  s/threadTile:/tensorMaps: [{tensor: A, box: [32, 64]}, {tensor: B, box: [32, 64]}], &/' >lib/TensileLibrary.yaml
code() { printf "FAKE sm_90\n$A 384 0 128\n$1" >lib/Kernels.so-000-sm_90.cubin; }
export LD_LIBRARY_PATH="$BIN/../fake/cuda" TUNER_FAKE="log=log;ns=10000"
run() {
  echo "-- $*"; : >log
  "$BIN/tuner-bench" --library lib --device cuda -f gemm_strided_batched -r s -m 40 -n 30 -k 20 --batch_count 2 -i 1 -v 1 --rotating 0 "$@" 2>&1 |
    sed -n 's/^#.*row[,;] \(2 kernels; \)*.*; \(.*\)/\1\2/p; /^tuner-bench/p'
  grep -o 'launch [^ ]* grid [0-9,]*' log | sort -u
}
code "PackOperands_4 160 0\n"
run
run --ldb 23 --beta 2
run --alpha 0 --beta 2
code ""
run
