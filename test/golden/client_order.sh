# Which architecture's solutions tuner-client takes on an NVIDIA device, as libtuner does: what is for exactly its part of the
# generation first (kernels of sm_90a have ISA90a in their names where there are others), then the generation's.
L=$ROOT/test/bench/results/h200/logic/h200_Cijk_Alik_Bjlk_SB.yaml
mkdir both sm_90 sm_90a
cp "$L" both/; cp "$L" sm_90/
sed 's/^- sm_90$/- sm_90a/' "$L" >sm_90a/h200_Cijk_Alik_Bjlk_SB.yaml; cp sm_90a/*.yaml both/sm_90a.yaml
client() { "$BIN/tuner-client" --device sim --sim "arch=$2;cus=132" --library-file "lib_$1/library/TensileLibrary.dat" \
  --problem-identifier Contraction_l_Alik_Bjlk_Cijk_Dijk --best-solution 1 --selection-only 1 --results-file "" --type Float \
  --init-beta Zero --problem-size 1024,1024,1,1024 2>&1 | grep -o 'Cijk_Alik_Bjlk_SB[A-Za-z0-9_]*\|^tuner-client: .*' | sort -u; }
for logic in both sm_90 sm_90a; do
  "$BIN/tuner-createlib" -v 0 --metadata-only $logic lib_$logic CUDA
  echo "--- library of $logic"
  for device in sm_90 sm_90a sm_80; do echo "$device: $(client $logic $device)"; done
done
