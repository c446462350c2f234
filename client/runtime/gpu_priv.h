/* Private to gpu*.c and the drivers' tests: the types of the driver libraries' interfaces, and the table of
 * their functions. */
#ifndef CLIENT_RUNTIME_GPU_PRIV_H
#define CLIENT_RUNTIME_GPU_PRIV_H

#include <stdatomic.h>

#include "client/runtime/gpu.h"
#include "client/runtime/map_cache.h"

/* On 64-bit systems both libraries pass enums as int, handles and device addresses as one 64-bit word. */
typedef int GpuErr;
typedef int GpuDev;
typedef int GpuAttr;
typedef int GpuFunctionAttr;
typedef int GpuCapture;
typedef uint64_t GpuPtr;
typedef const void *GpuSource;
typedef void *GpuModuleHandle;
typedef void *GpuFunction;
typedef void *GpuStream;
typedef void *GpuEventHandle;
typedef void *GpuGraphHandle;
typedef void *GpuExec;
typedef void *GpuContext;
typedef void GpuMap; /* 128 bytes */
typedef int GpuMapType;
typedef int GpuMapInterleave;
typedef int GpuMapSwizzle;
typedef int GpuMapPromotion;
typedef int GpuMapFill;

/* CUlaunchAttribute with a number for its value, and CUlaunchConfig. */
typedef struct {
    int id;
    char pad[4];
    union {
        int number;
        char bytes[64];
    } value;
} GpuLaunchAttribute;
typedef struct {
    unsigned grid[3], group[3], lds_bytes;
    GpuStream stream;
    GpuLaunchAttribute *attribute;
    unsigned n_attributes;
} GpuLaunchConfig;

/* A driver library with its functions; those it lacks are NULL. */
typedef struct {
    const GpuKind *kind;
    void *dl;
#define GPU_FN(field, needed, cuda, hip, params) GpuErr(*field) params;
#define CUDA_FN(field, needed, cuda, params) GpuErr(*field) params;
#define HIP_FN(field, needed, hip, params) GpuErr(*field) params;
#include "client/runtime/gpu_symbols.def"
#undef GPU_FN
#undef CUDA_FN
#undef HIP_FN
    /* HIP: these are not in the table because they differ by version or do not return GpuErr */
    const char *(*hip_error_name)(GpuErr code);
    const char *(*hip_error_text)(GpuErr code);
    GpuErr (*hip_properties)(void *out, int device);
    size_t hip_architecture_at; /* offset of gcnArchName in the structure that hip_properties fills in */
    GpuErr (*hip_launch)(GpuFunction function, uint32_t nx, uint32_t ny, uint32_t nz, uint32_t bx,
                         uint32_t by, uint32_t bz, size_t lds_bytes, GpuStream stream, void **params,
                         void **extra, GpuEventHandle start, GpuEventHandle stop, uint32_t flags);
} GpuDriver;

typedef struct {
    const char *name;
    size_t at; /* offset in GpuDriver */
    bool needed;
} GpuSymbol;

/* CUDA_ATTR_CUS, HIP_ATTR_CUS, ... */
enum {
#define GPU_NUMBER(name, cuda, cuda_name, hip, hip_name) CUDA_##name = cuda, HIP_##name = hip,
#include "client/runtime/gpu_symbols.def"
#undef GPU_NUMBER
};

/* Attributes for device_attribute; GpuKind.attribute has the library's numbers. */
typedef enum {
    GPU_ATTR_CUS,
    GPU_ATTR_WAVE,
    GPU_ATTR_LDS,
    GPU_ATTR_L2,
    GPU_ATTR_CLOCK,
    GPU_ATTR_MEMORY_CLOCK,
    GPU_ATTR_INTEGRATED,
    GPU_ATTR_COUNT
} GpuAttribute;

struct GpuKind {
    const char *name;             /* "cuda" */
    const char *label;            /* "CUDA" */
    const char *const *libraries; /* file names, in the order in which they are tried */
    const GpuSymbol *symbols;     /* name NULL after the last one */
    GpuAttr attribute[GPU_ATTR_COUNT];
    int n_simd_per_cu;
    uint32_t grid_limit;          /* along y and z; 0: the same as along x */
    uintptr_t param_end;          /* CU_LAUNCH_PARAM_END or HIP_LAUNCH_PARAM_END */
    Err (*resolve)(GpuDriver *d); /* functions that are not in symbols */
    void (*error)(const GpuDriver *d, GpuErr code, const char **name, const char **text);
    Err (*context_open)(Gpu *g); /* NULL: the library has no contexts */
    void (*context_close)(Gpu *g);
    Err (*enter)(Gpu *g, void **saved);
    void (*leave)(Gpu *g, void *saved);
    Err (*architecture)(Gpu *g, char *out, size_t bytes);
    void (*version)(int number, char *out, size_t bytes);
    Err (*kernel_ready)(Gpu *g, const GpuModule *m, GpuKernel *k); /* after lookup */
    Err (*launch)(Gpu *g, const GpuLaunch *l, void **extra);
};

struct Gpu {
    const GpuDriver *driver;
    int index;
    GpuDev device;
    GpuContext context; /* CUDA */
    atomic_bool lost;
    MapCache maps; /* encoded tensor maps */
};

struct GpuModule {
    GpuModuleHandle handle;
    char *name; /* for messages */
};

/* Offset of gcnArchName in hipDeviceProp_t: before version 6, and since. */
enum { HIP_ARCHITECTURE_R0000 = 396, HIP_ARCHITECTURE_R0600 = 1160 };

/* ERR_FAILED (ERR_NO_DEVICE when there is no device): "<fmt>: CUDA_ERROR_X (text)". Marks the device as lost
 * when the error is permanent. */
Err gpu_error(Gpu *g, GpuErr code, const char *fmt, ...) PRINTF_LIKE(3, 4);
/* The driver library, opened once per process. */
Err gpu_driver(const GpuKind *kind, const GpuDriver **out);
/* Writes the address of a function of the library, or NULL, to the function pointer at fn. */
void gpu_symbol(void *dl, const char *name, void *fn, size_t bytes);

#define GPU_TRY(g, call, ...)                                                                                \
    do {                                                                                                     \
        GpuErr gpu_err_ = (g)->driver->call;                                                                 \
        if (gpu_err_) return gpu_error(g, gpu_err_, __VA_ARGS__);                                            \
    } while (0)

#endif
