# tuner-nvrtc, the compiler command over libnvrtc: its options, and its errors for bad input.
"$BIN/tuner-nvrtc" --version >/dev/null 2>why || { echo "skipped: $(cat why)"; exit; }
run() { echo "+ $*"; "$BIN/tuner-nvrtc" "$@" 2>&1 | grep -v '^ \|^$\|^[0-9]* error'; "$BIN/tuner-nvrtc" "$@" >/dev/null 2>&1; echo "exit $?"; }
"$BIN/tuner-nvrtc" --version | sed 's/[0-9][0-9.]*/N/g; s/so\.N/so/'
echo 'extern "C" __global__ void k(float *d) { *d = 1; }' >good.cu
echo 'extern "C" __global__ void k(float *d) { *d = y; }' >bad.cu
run -arch=sm_90 -o k.cubin good.cu; head -c 4 k.cubin | tail -c 3; echo
run -arch=sm_90 --check
run -arch=sm_1 --check
run -arch=sm_90 -o bad.cubin bad.cu; ls bad.cubin 2>&1
run -arch=sm_90 -o k.cubin missing.cu
run -arch=sm_90 -o k.cubin good.cu bad.cu
run -arch=sm_90 good.cu
run -arch=sm_90 -o
run -arch=sm_90 -o nowhere/k.cubin good.cu
run -arch=compute_90 -o k.cubin good.cu
