# scripts/library_speed.sh on a fake CUDA driver: the same speed, another one, sizes too short to be judged, no run.
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
speed() { sh "$ROOT/scripts/library_speed.sh" out; echo "exit $?"; }
TUNER_FAKE="ns=100000" speed
TUNER_FAKE="ns=104000" speed
TUNER_FAKE="ns=15000" speed
rm -r out/2_BenchmarkData/*; echo "GFlops,SizeI" >out/2_BenchmarkData/Cijk_Ailk_Bljk_4xi8_00.csv; speed
rm -r out; speed 2>&1
