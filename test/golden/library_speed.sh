# scripts/library_speed.sh on a fake CUDA driver: the same speed, another one (timed again), sizes too short to be judged, another
# solution than the logic's, a wrong result, no run. With --again: gpu_run.
export LD_LIBRARY_PATH="$BIN/../fake/cuda" TUNER_BENCH="$BIN/tuner-bench" TUNER_DEVICE=cuda
A=Cijk_Ailk_Bljk_SB_a
mkdir -p out/2_BenchmarkData out/4_LibraryClient/library
sh "$DATA/client/library.sh" $A >out/4_LibraryClient/library/TensileLibrary.yaml
printf 'FAKE sm_90\n%s 96 0\n' $A >out/4_LibraryClient/library/Kernels.so-000-sm_90.cubin
cat >out/2_BenchmarkData/Cijk_Ailk_Bljk_SB_00.csv <<END
GFlops,SizeI,SizeJ,SizeK,SizeL,LDD,LDC,LDA,LDB,WinnerFreq,TotalFlops,WinnerPower,WinnerTemperature,K_a,K_b
0,40,30,1,20,40,40,40,20,,48000,,,0.48,0.40
1,33,18,2,7,33,40,35,7,,16632,,,0.1,0.16632
END
mkdir out/3_LibraryLogic
logic() { # NAME...: the last one wins
  { for n in "$@"; do printf '    SolutionNameMin: %s\n' "$n"; done
    printf -- '- - - [40, 30, 1, 20, 40, 40, 40, 20]\n    - [%d, 0.48]\n  - - [33, 18, 2, 7, 33, 40, 35, 7]\n    - [%d, 0.16632]\n' $(($#-1)) $(($#-1))
  } >out/3_LibraryLogic/x_Cijk_Ailk_Bljk_SB.yaml
}
logic $A
speed() { code=0; sh "$ROOT/scripts/library_speed.sh" out "$@" >got 2>&1 || code=$?; sed "s/; [0-9]* s$/; N s/; s|$PWD/||" got; echo "exit $code"; }
TUNER_FAKE="ns=100000" speed
TUNER_FAKE="ns=104000" speed
sed -i 's/0.48,0.40/4.8,4.0/; s/0.1,0.16632/1.0,1.6632/' out/2_BenchmarkData/*.csv; TUNER_FAKE="ns=10400" speed
sed -i 's/4.8,4.0/0.48,0.40/; s/1.0,1.6632/0.1,0.16632/' out/2_BenchmarkData/*.csv
echo "--- the second solution should win"
logic K_a $A; TUNER_FAKE="ns=100000" speed
echo "--- another tile than in the names"
logic $A; sed -i 's/K_a/Cijk_Ailk_Bljk_SB_MT32x32x8_SN_PGR1/; s/K_b/Cijk_Ailk_Bljk_SB_MT32x32x8_SN_PGR2/' out/2_BenchmarkData/*.csv
B=Cijk_Ailk_Bljk_SB_MT32x32x8_PGR1_WG8_8_1
sed -i "s/$A/$B/" out/4_LibraryClient/library/*.yaml; printf 'FAKE sm_90\n%s 96 0\n' $B >out/4_LibraryClient/library/Kernels.so-000-sm_90.cubin
TUNER_FAKE="ns=100000" speed
echo "--- a wrong result"
TUNER_FAKE="ns=15000;wrong=SB_MT" speed
speed --agin
speed --again
rm -r out/2_BenchmarkData/*; echo "GFlops,SizeI" >out/2_BenchmarkData/Cijk_Ailk_Bljk_F8X8SS_BH_00.csv; speed
rm -r out; speed
