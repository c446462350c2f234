# Libraries for NVIDIA GPUs in all modes, of logic that comes out of a run on the fake driver: which files, which kernels in
# which, and kernels that cannot be compiled together.
C="$BIN/tuner-createlib"
run() { "$C" -v 0 --cache cache "$@" 2>&1 | sed "s,$PWD/,,g"; }
kernels() { # names of kernels in each file, counted
  for f in "$1"/library/*.cubin; do
    echo "$(grep -ao '\.text\.Cijk_[A-Za-z0-9_]*' "$f" | sort -u | wc -l) $(basename "$f")"
  done; }
"$BIN/tuner-nvrtc" --version >/dev/null 2>why || { echo "skipped: $(cat why)"; exit; }
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
TUNER_FAKE="ns=50000" "$BIN/tuner" --client-path "$PWD/client" --device cuda two.yaml out >log 2>&1 || cat log
nv=out/3_LibraryLogic
run $nv m CUDA; kernels m
run --separate-architectures --lazy-library-loading $nv l CUDA; ls l/library; kernels l
run --no-merge-files $nv o CUDA; kernels o
run --num-merged-files 2 $nv n CUDA; kernels n
run $nv x HIP
echo "--- kernels that cannot be compiled together"
cat >nvrtc-picky <<SH
#!/bin/sh
for a; do case \$a in *.cu) [ \$(grep -c __global__ "\$a") -gt 1 ] && { echo "error: one at a time" >&2; exit 1; } ;; esac; done
exec "$BIN/tuner-nvrtc" "\$@"
SH
chmod +x nvrtc-picky
run --cache cache2 --cxx-compiler "$PWD/nvrtc-picky" $nv p CUDA; ls p/library
"$C" -v 0 --verify-manifest $nv p CUDA
