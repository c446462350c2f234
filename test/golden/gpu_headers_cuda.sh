# The CUDA side of the driver's table against NVIDIA's own header: prototypes, sizes, numbers.
CUDA=${CUDA_HOME:-/usr/local/cuda}/include
[ -f "$CUDA/cuda.h" ] || { echo "skipped: no cuda.h in $CUDA"; exit 0; }
check() { "${CC:-cc}" -std=gnu11 -fsyntax-only -I. -I"$ROOT" -DCUDA -I"$CUDA" "$ROOT/test/data/gpu/headers.c"; }
check && echo "cuda.h: the same"
# A table that is wrong is found.
mkdir -p client/runtime
sed 's/(GpuPtr \* address, size_t bytes)/(GpuPtr * address, int bytes)/' "$ROOT/client/runtime/gpu_symbols.def" >client/runtime/gpu_symbols.def
check 2>&1 | grep -c 'static assertion failed.*cuMemAlloc_v2'
