# From benchmark data to a library: analyze, then kernels for the CPU.
mkdir data
H="GFlops,SizeI,SizeJ,SizeK,SizeL,LDD,LDC,LDA,LDB,WinnerFreq,TotalFlops,WinnerPower,WinnerTemperature,a,b"
cp "$DATA"/logic/host.yaml data/Cijk_Ailk_Bljk_SB_00.yaml
printf '%s\n' "$H" 0,64,64,1,64,64,64,64,64,1,2,3,4,10,12 1,65,64,1,64,65,65,65,64,1,2,3,4,10,-1 \
  2,66,64,1,64,66,66,66,64,1,2,3,4,-1,-1 3,67,64,1,64,67,67,67,64,1,2,3,4,nan,7.5 >data/Cijk_Ailk_Bljk_SB_00.csv
"$BIN"/tuner-logic analyze data logic --schedule host --arch x86-64-v2 --device "any CPU"; echo "exit $?"
"$BIN"/tuner-logic show logic/*.yaml
"$BIN"/tuner-logic show logic/*.yaml --sizes
for i in 1 2; do
  "$BIN"/tuner-createlib -v 0 -j 1 logic out HOST; echo "exit $?"
done
ls out/library
"$BIN"/tuner-createlib -v 0 --short-file-names --generate-sources-and-exit logic sources HOST; echo "exit $?"
ls sources/Kernels
sed 's/67,67/68,67/' -i data/Cijk_Ailk_Bljk_SB_00.csv
"$BIN"/tuner-logic analyze data logic --schedule host; echo "exit $?"
# a size is no header
sed -i 1d data/Cijk_Ailk_Bljk_SB_00.csv
"$BIN"/tuner-logic analyze data logic2 --schedule host; echo "exit $?"; ls logic2 2>&1 | wc -l
# logic for any device, made for this CPU: said so
mkdir any; sed 's/x86-64-v2/fallback/' logic/host_*.yaml >any/hip_any.yaml
"$BIN"/tuner-createlib --generate-sources-and-exit any outany HOST 2>&1 | sed 's/x86-64-v[0-9]/LEVEL/'
