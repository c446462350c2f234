# --library-print-debug: libtuner prints each launch of such a library; a Makefile's --no-library-print-debug does not.
mkdir data
H="GFlops,SizeI,SizeJ,SizeK,SizeL,LDD,LDC,LDA,LDB,WinnerFreq,TotalFlops,WinnerPower,WinnerTemperature,a,b"
cp "$DATA"/logic/host.yaml data/Cijk_Ailk_Bljk_SB_00.yaml
printf '%s\n' "$H" 0,64,64,1,64,64,64,64,64,1,2,3,4,10,12 >data/Cijk_Ailk_Bljk_SB_00.csv
"$BIN"/tuner-logic analyze data logic --schedule host --arch x86-64-v2 --device "any CPU" >log || cat log
for option in '' --no-library-print-debug --library-print-debug '--library-print-debug --library-format yaml' \
  '--library-print-debug --separate-architectures --lazy-library-loading'; do
  rm -rf out; "$BIN"/tuner-createlib -v 0 -j 1 $option logic out HOST || echo "exit $?"
  echo "option '$option':"
  "$BIN"/tuner-bench --library out/library -f gemm -r s -m 64 -n 64 -k 64 -i 1 -j 0 2>&1 >/dev/null | sort -u |
    sed 's/Cijk_Ailk_Bljk_SB_[A-Za-z0-9_]*/KERNEL/; s/x86-64-v[0-9]/ARCH/'
done
