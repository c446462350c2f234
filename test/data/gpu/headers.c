/* The vendors' headers against client/runtime/gpu_symbols.def: every prototype, type size and number.
 * Compiled, never run (test/golden/gpu_headers.sh): -DCUDA with cuda.h, -DHIP with hip_runtime_api.h for AMD.
 */
#include <stddef.h>
#include <stdint.h>

#define SAME(type, size) _Static_assert(sizeof(type) == (size), #type);
#define PROTOTYPE(symbol, params)                                                                            \
    _Static_assert(__builtin_types_compatible_p(__typeof__(&symbol), GpuErr(*) params), #symbol);

#ifdef CUDA
#include <cuda.h>
typedef CUresult GpuErr;
typedef CUdevice GpuDev;
typedef CUdevice_attribute GpuAttr;
typedef CUfunction_attribute GpuFunctionAttr;
typedef CUstreamCaptureMode GpuCapture;
typedef CUdeviceptr GpuPtr;
typedef const void *GpuSource;
typedef CUmodule GpuModuleHandle;
typedef CUfunction GpuFunction;
typedef CUstream GpuStream;
typedef CUevent GpuEventHandle;
typedef CUgraph GpuGraphHandle;
typedef CUgraphExec GpuExec;
typedef CUcontext GpuContext;
typedef CUlaunchConfig GpuLaunchConfig;
typedef CUtensorMap GpuMap;
typedef CUtensorMapDataType GpuMapType;
typedef CUtensorMapInterleave GpuMapInterleave;
typedef CUtensorMapSwizzle GpuMapSwizzle;
typedef CUtensorMapL2promotion GpuMapPromotion;
typedef CUtensorMapFloatOOBfill GpuMapFill;
SAME(CUtensorMap, 128)
SAME(CUlaunchConfig, 56)
SAME(CUlaunchAttribute, 72)
_Static_assert(offsetof(CUlaunchConfig, attrs) == 40 && offsetof(CUlaunchAttribute, value) == 8, "launches");
_Static_assert(CU_TENSOR_MAP_DATA_TYPE_UINT8 == 0 && CU_TENSOR_MAP_DATA_TYPE_INT32 == 3, "map types");
_Static_assert(CU_TENSOR_MAP_DATA_TYPE_FLOAT16 == 6 && CU_TENSOR_MAP_DATA_TYPE_FLOAT32 == 7, "map types");
_Static_assert(CU_TENSOR_MAP_DATA_TYPE_FLOAT64 == 8 && CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 == 9, "map types");
_Static_assert(CU_TENSOR_MAP_SWIZZLE_32B == 1 && CU_TENSOR_MAP_SWIZZLE_128B == 3, "map swizzles");
_Static_assert(CU_TENSOR_MAP_L2_PROMOTION_L2_64B == 1 && CU_TENSOR_MAP_L2_PROMOTION_L2_256B == 3, "map l2");
#define GPU_FN(field, needed, cuda, hip, params) PROTOTYPE(cuda, params)
#define CUDA_FN(field, needed, cuda, params) PROTOTYPE(cuda, params)
#define HIP_FN(field, needed, hip, params)
#define GPU_NUMBER(name, cuda, cuda_name, hip, hip_name)                                                     \
    _Static_assert((uintptr_t)(cuda_name) == (cuda), #cuda_name);
#else
#include <hip/hip_runtime_api.h>
typedef hipError_t GpuErr;
typedef hipDevice_t GpuDev;
typedef hipDeviceAttribute_t GpuAttr;
typedef hipFunction_attribute GpuFunctionAttr;
typedef hipStreamCaptureMode GpuCapture;
typedef hipDeviceptr_t GpuPtr;
#if HIP_VERSION_MAJOR >= 7
typedef const void *GpuSource;
#else
typedef void *GpuSource;
#endif
typedef hipModule_t GpuModuleHandle;
typedef hipFunction_t GpuFunction;
typedef hipStream_t GpuStream;
typedef hipEvent_t GpuEventHandle;
typedef hipGraph_t GpuGraphHandle;
typedef hipGraphExec_t GpuExec;
typedef hipCtx_t GpuContext;
#define GPU_FN(field, needed, cuda, hip, params) PROTOTYPE(hip, params)
#define CUDA_FN(field, needed, cuda, params)
#define HIP_FN(field, needed, hip, params) PROTOTYPE(hip, params)
#define GPU_NUMBER(name, cuda, cuda_name, hip, hip_name)                                                     \
    _Static_assert((uintptr_t)(hip_name) == (hip), #hip_name);
_Static_assert(offsetof(hipDeviceProp_t, gcnArchName) == (HIP_VERSION_MAJOR >= 6 ? 1160 : 396),
               "gcnArchName");
_Static_assert(sizeof(hipDeviceProp_t) <= 4096, "hipDeviceProp_t");
#endif

SAME(GpuErr, sizeof(int))
SAME(GpuDev, sizeof(int))
SAME(GpuAttr, sizeof(int))
SAME(GpuFunctionAttr, sizeof(int))
SAME(GpuCapture, sizeof(int))
SAME(GpuPtr, 8)
SAME(GpuModuleHandle, 8)
SAME(GpuFunction, 8)
SAME(GpuStream, 8)
SAME(GpuEventHandle, 8)
SAME(GpuGraphHandle, 8)
SAME(GpuExec, 8)
SAME(GpuContext, 8)
#include "client/runtime/gpu_symbols.def"
