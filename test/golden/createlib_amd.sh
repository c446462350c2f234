# Libraries for AMD GPUs in all modes, of rocBLAS's logic: which files, which kernels in which.
C="$BIN/tuner-createlib"
mkdir logic; cp "$DATA"/tensile/logic/hip_Cijk_Ailk_Bljk_I8II_BH.yaml "$DATA"/tensile/logic/vega20_Cijk_Ailk_Bjlk_ZB.yaml logic/
run() { "$C" -v 0 --cache cache "$@" 2>&1 | grep -v ' spill registers$\|size is already in line' | sed "s,$PWD/,,g"; }
kernels() { # names of kernels in each file, counted
  for f in "$1"/library/*.co "$1"/library/*.hsaco; do
    [ -f "$f" ] && echo "$(grep -ao 'Cijk_[A-Za-z0-9_]*\.kd' "$f" | sort -u | wc -l) $(basename "$f")"
  done; }
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
echo "--- settings of xnack"
run --architecture 'gfx906:xnack-;gfx906:xnack+' logic xnack HIP; kernels xnack
echo "--- runtimes"; run --architecture gfx906 logic x CUDA
