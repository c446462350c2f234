# What a kernel writer cannot honour: an ordinary kernel stands in where the library describes it alike, else it is left out.
A="$DATA"/tensile/logic/aldebaran_Cijk_Alik_Bjlk_DB.yaml C="$BIN/tuner-createlib"
mkdir logic; awk '
/^  - 1LDSBuffer/ || /^- - 1LDSBuffer/ { n++ }
n == 1 { sub("CustomKernelName: .*", "CustomKernelName: by_hand") }
n == 2 { sub("AtomicAddC: false", "AtomicAddC: true"); sub("AssertBetaValue: false", "AssertBetaValue: 1"); sub("AssertCEqualsD: false", "AssertCEqualsD: true") }
n == 10 { sub("ReplacementKernel: false", "ReplacementKernel: true") }
n == 4 { sub("PrefetchAcrossPersistent: 0", "PrefetchAcrossPersistent: 1"); sub("PersistentKernel: 0", "PersistentKernel: 1") }
n == 5 { sub("DirectToLdsA: false", "DirectToLdsA: true") }
n == 6 { sub("PackBatchDims: 0", "PackBatchDims: 1") }
n == 7 { sub("WorkGroupMappingType: B", "WorkGroupMappingType: Z") }
n == 8 { sub("Fp16AltImpl: false", "Fp16AltImpl: true") }
{ print }' "$A" >logic/aldebaran.yaml
"$C" --generate-sources-and-exit logic out HIP >log 2>&1; e=$?; sed "s,$PWD/,," log; echo "exit $e"
cut -d, -f1-3,5- out/library/TensileCreateLibrary.report.csv
ls out/Kernels | grep -c by_hand
"$C" --generate-sources-and-exit --strict logic strict HIP; echo "exit $?"
"$C" -v 0 --metadata-only --library-format yaml logic meta HIP; echo "exit $?"; grep -c 'name: by_hand' meta/library/TensileLibrary.yaml
