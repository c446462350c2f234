# Libraries for GPUs in all modes: which files, which kernels in which; real compilers, no device. AMD's logic is rocBLAS's,
# NVIDIA's comes out of a run on the fake driver.
C="$BIN/tuner-createlib"
mkdir logic; cp "$DATA"/tensile/logic/hip_Cijk_Ailk_Bljk_I8II_BH.yaml "$DATA"/tensile/logic/vega20_Cijk_Ailk_Bjlk_ZB.yaml logic/
run() { "$C" -v 0 --cache cache "$@" 2>&1 | grep -v ' spill registers$\|size is already in line' | sed "s,$PWD/,,g"; }
kernels() { # names of kernels in each file, counted
  for f in "$1"/library/*.co "$1"/library/*.hsaco "$1"/library/*.cubin; do [ -f "$f" ] || continue
    case $f in *.cubin) n=$(grep -ao '\.text\.Cijk_[A-Za-z0-9_]*' "$f" | sort -u | wc -l) ;;
      *) n=$(grep -ao 'Cijk_[A-Za-z0-9_]*\.kd' "$f" | sort -u | wc -l) ;; esac
    echo "$n $(basename "$f")"; done; }
run --architecture gfx906 logic probe HIP >log
if grep -q '^tuner-createlib: .*no compiler' log; then echo "skipped: $(grep 'no compiler' log)"; exit; fi
cat log; kernels probe
echo "--- separate"; run --separate-architectures --architecture gfx906 logic sep HIP; ls sep/library
echo "--- lazy"; run --separate-architectures --lazy-library-loading --architecture gfx906 logic lazy HIP; ls lazy/library; kernels lazy
echo "--- unmerged"; run --no-merge-files --architecture gfx906 logic one HIP; kernels one | sed 's/[A-Za-z0-9_=-]*\(_gfx906.co\|.so-000\)/NAME\1/' | sort | uniq -c
echo "--- three files"; run --num-merged-files 3 --architecture gfx906 logic three HIP; kernels three
echo "--- manifest"; "$C" -v 0 --verify-manifest logic three HIP 2>&1 | sed "s,$PWD/,,"; rm three/library/Kernels1.so*
"$C" -v 0 --verify-manifest logic three HIP 2>&1 | sed "s,$PWD/,,"
echo "--- embedded"; run --embed-library tuned --architecture gfx906 logic probe HIP
grep -o '"tuned", "", "[^"]*"' probe/library/tuned.c
echo "--- code object version"
run --code-object-version V5 --architecture gfx906 logic/vega20* v5 HIP; for l in probe v5; do od -An -tu1 -j8 -N1 $l/library/*.co; done
run --code-object-version V9 --architecture gfx906 logic v5 HIP
echo "--- runtimes"; run --architecture gfx906 logic x CUDA
echo "--- NVIDIA"
cat >client <<SH
#!/bin/sh
LD_LIBRARY_PATH="$BIN/../fake/cuda" exec "$BIN/tuner-client" "\$@"
SH
chmod +x client
two() { # two size-groups, so that two solutions win
  sed -n '1,/UseBeta/p' "$DATA/run/gpu.yaml"
  for tile in "4, 4" "8, 4"; do
    echo "    - BenchmarkCommonParameters: [{KernelLanguage: [Source]}]"
    echo "      ForkParameters: [{WorkGroup: [[8, 8, 1]]}, {ThreadTile: [[$tile]]}, {DepthU: [8]}]"
    echo "      BenchmarkFinalParameters: [{ProblemSizes: [{Exact: [6${tile%%,*}, 48, 1, 40]}]}]"
  done
  sed -n '/LibraryLogic/,/DeviceNames/p' "$DATA/run/gpu.yaml"
}
two >two.yaml
if TUNER_FAKE="ns=50000" "$BIN/tuner" --client-path "$PWD/client" --device cuda two.yaml out >log 2>&1; then
  nv=out/3_LibraryLogic
  run $nv m CUDA; kernels m
  run --separate-architectures --lazy-library-loading $nv l CUDA; ls l/library; kernels l
  run --no-merge-files $nv o CUDA; kernels o
  run --num-merged-files 2 $nv n CUDA; kernels n
  run $nv x HIP
else grep '^tuner:' log; fi
