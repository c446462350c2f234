# The HIP side of the driver's table against AMD's own header: prototypes, sizes, numbers.
HIP=${ROCM_PATH:-/usr}/include
[ -f "$HIP/hip/hip_runtime_api.h" ] || { echo "skipped: no hip/hip_runtime_api.h in $HIP"; exit 0; }
check() { "${CC:-cc}" -std=gnu11 -fsyntax-only -I. -I"$ROOT" -DHIP -D__HIP_PLATFORM_AMD__ -I"$HIP" "$ROOT/test/data/gpu/headers.c"; }
check && echo "hip_runtime_api.h: the same"
# A table that is wrong is found.
mkdir -p client/runtime
sed 's/(GpuPtr \* address, size_t bytes)/(GpuPtr * address, int bytes)/' "$ROOT/client/runtime/gpu_symbols.def" >client/runtime/gpu_symbols.def
check 2>&1 | grep -c 'static assertion failed.*hipMalloc'
