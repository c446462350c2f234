# tuner derive-gridwise: products, transforms and derived parameters of convolutions; bad input.
gridwise() { echo "+ tuner derive-gridwise $*"; "$BIN"/tuner derive-gridwise "$@" 2>&1; echo "exit $?"; }
gridwise 'conv -n 64 -c 64 -H 56 -W 56 -k 64 -y 3 -x 3 -p 1 -q 1 -F 1'
gridwise --params --perf-config 64,32,32,4,2,2 'conv -n 64 -c 256 -H 56 -W 56 -k 512 -y 1 -x 1 -u 2 -v 2 -F 2'
gridwise --matrix 'convfp16 -n 32 -c 128 -H 28 -W 28 -k 128 -y 3 -x 3 -p 1 -q 1 -g 32 -I NHWC -f NHWC -O NHWC -F 4'
gridwise --perf-config 128,128,8,64,64,4,1,1 --type h 4096,4096,4096
gridwise --emit-conv emitted --perf-config 256,128,128,16,4,4 'conv -n 64 -c 3 -H 224 -W 224 -k 64 -y 7 -x 7 -p 3 -q 3 -u 2 -v 2 -F 2' | grep wrote
cat emitted/*_solver.cpp
for c in clang++ g++; do command -v $c >/dev/null && { $c -std=c++17 -Wall -Werror -fsyntax-only -x c++ emitted/*_solver.cpp || echo "$c fails"; }; done
for arch in gfx906 sm_90; do # kernels; the text of gfx906 compiles where there is clang for AMD GPUs
  gridwise --emit-conv $arch --arch $arch --perf-config 128,128,64,16,4,4 'conv -n 2 -c 16 -H 14 -W 14 -k 64 -y 3 -x 3 -p 1 -q 1 -F 5' | grep -c wrote
  ls $arch
  grep -c '^[^*]*conv_[a-z]*_f32_NCHW.*(' $arch/*.hpp
done
grep -A3 EdgeType gfx906/conv_forward*.yaml
"$BIN"/tuner --list-solutions --arch gfx906 gfx906/conv_forward*.yaml 2>/dev/null | head -1 | cut -c1-40
printf '%s\n' '-x hip --cuda-device-only -nogpulib -nogpuinc -std=c++17 -w --offload-arch=gfx906 -fsyntax-only' >flags
for c in clang++-19 clang++; do
  $c $(cat flags) /dev/null 2>/dev/null || continue
  for w in gfx906/*_wrapper.cpp; do $c $(cat flags) $w || echo "$w fails"; done
  break
done
gridwise --emit-conv none --arch gfx1 'conv -n 2 -c 16 -H 14 -W 14 -k 64 -F 1' | tail -2
echo "--- errors"
gridwise 64,64
gridwise 'conv -n 64 -c 3 -g 2'
gridwise --type q 64,64,64
gridwise --perf-config 256,128,64,8,4,4 64,64,64
gridwise --perf-config 1,2 64,64,64
gridwise
