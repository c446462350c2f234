L=$DATA/tensile/logic
mkdir logic && cp "$L"/vega20_Cijk_Ailk_Bjlk_ZB.yaml "$L"/arcturus_Cijk_Alik_Bjlk_SB.yaml "$L"/hip_Cijk_Ailk_Bljk_I8II_BH.yaml logic/
C="$BIN/tuner-createlib"
"$C" --metadata-only --library-format yaml logic merged HIP; echo "exit $?"
ls merged/library; sed "s|$(pwd)/||" merged/library/TensileManifest.txt
grep -n 'Processor\|type: Hardware\|type: Problem\|Contraction_l_A.*:$\|distance' merged/library/TensileLibrary.yaml
tail -60 merged/library/TensileLibrary.yaml | sed 's/name: Cijk_.*/name: .../'
"$C" --metadata-only --separate-architectures --lazy-library-loading --merge-files --write-master-solution-index --library-format=yaml \
  --architecture 'gfx906;gfx90a' logic lazy HIP; echo "exit $?"
ls lazy/library; cat lazy/library/TensileLibrary_lazy_gfx90a.yaml; head -3 lazy/library/TensileMasterSolutionIndex.csv | sed 's/,Cijk_.*/,.../'
"$C" --metadata-only --verify-manifest logic lazy HIP 2>&1 | sed "s|$(pwd)/||"; echo "exit $?"
"$C" --generate-manifest-and-exit --no-merge-files --architecture gfx906 logic manifest HIP; echo "exit $?"
wc -l <manifest/library/TensileManifest.txt; sed 's/.*\(\.[a-z]*\)$/\1/' manifest/library/TensileManifest.txt | sort | uniq -c
# a helper kernel that would serve two compute types
half() { sed "s/^\( *DataType:\) 0/\1 4/; s/^\( *DestDataType:\) 0/\1 4/; s/^\( *ComputeDataType:\) 0/\1 $1/; s/\(^ *HighPrecisionAccumulate:\) false/\1 $2/; s/_GlobalAccumulation: null/_GlobalAccumulation: SingleBuffer/; s/GlobalSplitUAlgorithm: Mult.*/GlobalSplitUAlgorithm: SingleBuffer/; s/\(_WorkspaceSizePerElemC:\) 0/\1 4/"; }
mkdir two; half 4 false <logic/arcturus_Cijk_Alik_Bjlk_SB.yaml >two/h.yaml; half 0 true <logic/arcturus_Cijk_Alik_Bjlk_SB.yaml >two/hs.yaml
"$C" --metadata-only two shared HIP; echo "exit $?"
"$C" --generate-sources-and-exit two shared HIP 2>&1 | sed "s,$PWD/,,"; ls shared/Kernels | sed 's/_MT.*//' | sort | uniq -c
sed -n "s/.*\(helper kernel '[^']*'\).*/\1/p" shared/library/TensileCreateLibrary.report.csv | sort | uniq -c
# assertions about several sizes, what they leave of a tile, false where others have null
mkdir few; sed '52s/{}/{0: 33, 1: 9}/; 292s/null/false/' "$L"/aldebaran_Cijk_Alik_Bjlk_DB.yaml >few/a.yaml
"$C" --metadata-only --library-format yaml few fewlib HIP; echo "exit $?"
grep -B2 -A1 -E 'SizeLessThan|StoreOffset|CheckMinK' fewlib/library/TensileLibrary.yaml | head -14
# a file of no architecture is not packed
sed '3s/.*/- gfx000/' few/a.yaml >few/old.yaml
"$C" --metadata-only few fewlib HIP; echo "exit $?"; rm few/a.yaml; "$C" --metadata-only few fewlib HIP; echo "exit $?"
# parts that the kernel itself adds up: other hosts do not pass its workspace, and are kept away
mkdir joins; sed 's/GlobalSplitUAlgorithm: .*/GlobalSplitUAlgorithm: MultipleBufferSingleKernel/; /_GlobalAccumulation: /d; /_WorkspaceSizePerElemC/d' \
  "$L"/arcturus_Cijk_Alik_Bjlk_SB.yaml >joins/a.yaml
"$C" --metadata-only --library-format yaml joins joinslib HIP; echo "exit $?"
sed -n 's/.*\(FalsePred\|globalAccumulation: .*\|workspaceSizePerElemC: .*\)/\1/p' joinslib/library/TensileLibrary.yaml | sort | uniq -c
