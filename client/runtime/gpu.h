/* GPU: one driver for NVIDIA's and AMD's GPUs, over libcuda or libamdhip64 opened with dlopen.
 *
 * Devices, code objects, kernels with packed arguments, memory, streams, events, graphs. No CUDA or ROCm
 * package is needed to build or to start; a machine without the library or without a device gets an error
 * that says so. Knows nothing of GEMM. All functions but gpu_open and gpu_close work on the calling thread's
 * context: gpu_enter makes the device's own current there, gpu_leave gives the thread its old one back. Calls
 * on one Gpu from several threads are fine, as the driver libraries allow it. After fork only the parent may
 * use what it opened. Used by libtuner and by client/device.
 */
#ifndef CLIENT_RUNTIME_GPU_H
#define CLIENT_RUNTIME_GPU_H

#include "base/arena.h"
#include "client/runtime/tensor_map.h"

typedef struct GpuKind GpuKind;
extern const GpuKind gpu_cuda, gpu_hip;

typedef struct Gpu Gpu;             /* an open device */
typedef struct GpuModule GpuModule; /* a loaded code object */
typedef struct GpuGraph GpuGraph;
typedef void *GpuEvent;

typedef struct {
    char name[128];
    char architecture[32]; /* "sm_90", "gfx90a" */
    char features[64];     /* what follows in AMD's name: ":sramecc+:xnack-", else "" */
    char bus[32];          /* "0000:65:00.0", lower case */
    char driver[64];       /* "CUDA 13.0", "HIP 5.2.21153" */
    int n_cu, n_simd_per_cu, wave_size;
    uint64_t memory_bytes, l2_bytes, lds_bytes; /* lds: the most that one workgroup can get */
    int clock_mhz, memory_clock_mhz;            /* 0 unknown */
    uint32_t grid_limit;                        /* workgroups along y, and along z; 0: no less than along x */
    bool integrated;
} GpuInfo;

/* A kernel of a module; lives as long as it. */
typedef struct {
    void *function;
    const char *symbol;       /* the caller's text */
    uint32_t dynamic_bytes;   /* of LDS that its code object asks for at launch (<symbol>_dynamic_lds) */
    uint32_t arg_bytes;       /* the driver's figure; 0 unknown */
    uint32_t n_maps, maps_at; /* tensor maps at the end of its arguments, and where they begin */
} GpuKernel;

typedef struct {
    const GpuKernel *kernel;
    const uint32_t *group, *grid; /* work-items of a workgroup, workgroups: 3 each */
    const void *args;             /* packed; copied before the call returns */
    size_t args_bytes;            /* what the kernel takes; padding up to 8 bytes may follow */
    uint32_t lds_bytes;           /* on top of the kernel's dynamic_bytes */
    void *stream;                 /* NULL: the default stream */
    GpuEvent start, stop;         /* recorded around it; NULL: not */
} GpuLaunch;

const char *gpu_kind_name(const GpuKind *kind); /* "cuda", "hip" */
const GpuKind *gpu_kind(const Gpu *g);
int gpu_index(const Gpu *g);
/* ERR_NO_DEVICE with the reason: no library, no driver, no device. Initialises the driver in this process. */
Err gpu_count(const GpuKind *kind, int *n);
/* The context is current in this thread afterwards; saved (may be NULL) is what gpu_leave undoes that with.
 */
Err gpu_open(const GpuKind *kind, int index, Gpu **out, void **saved);
void gpu_close(Gpu *g);
Err gpu_info(Gpu *g, GpuInfo *out);
/* True after a fault that only a new process gets over. */
bool gpu_lost(const Gpu *g);

/* saved is for gpu_leave. */
Err gpu_enter(Gpu *g, void **saved);
void gpu_leave(Gpu *g, void *saved);

/* data: the file's bytes (cubin, ELF code object, offload bundle); name is for messages. */
Err gpu_module_load(Gpu *g, const char *name, Str data, GpuModule **out);
void gpu_module_unload(Gpu *g, GpuModule *m);
/* *found false: the module has no such kernel, no error. */
Err gpu_kernel_find(Gpu *g, GpuModule *m, const char *symbol, GpuKernel *out, bool *found);
Err gpu_launch(Gpu *g, const GpuLaunch *l);

/* For TensorMapEncoder; ctx is the Gpu. */
Err gpu_tensor_map(void *ctx, const TensorMap *map, unsigned char out[TENSOR_MAP_BYTES]);

/* At least 256-byte aligned. Out of memory names what was wanted and what is free. */
Err gpu_alloc(Gpu *g, uint64_t bytes, uint64_t *address);
void gpu_free(Gpu *g, uint64_t address); /* waits for work on it; 0 is fine */
/* Queued on the stream and waited for. */
Err gpu_copy_to(Gpu *g, uint64_t to, const void *from, uint64_t bytes, void *stream);
Err gpu_copy_from(Gpu *g, void *to, uint64_t from, uint64_t bytes, void *stream);
/* Queued only. */
Err gpu_copy(Gpu *g, uint64_t to, uint64_t from, uint64_t bytes, void *stream);
Err gpu_fill(Gpu *g, uint64_t to, unsigned char byte, uint64_t bytes, void *stream);

Err gpu_stream_new(Gpu *g, void **out);
void gpu_stream_free(Gpu *g, void *stream);
Err gpu_stream_sync(Gpu *g, void *stream);

Err gpu_event_new(Gpu *g, GpuEvent *out);
void gpu_event_free(Gpu *g, GpuEvent e);
Err gpu_event_record(Gpu *g, GpuEvent e, void *stream);
/* Both recorded and reached. */
Err gpu_event_elapsed(Gpu *g, GpuEvent start, GpuEvent stop, uint64_t *ns);

/* Launches on the stream between begin and end become the graph. */
Err gpu_graph_begin(Gpu *g, void *stream);
Err gpu_graph_end(Gpu *g, void *stream, GpuGraph **out);
Err gpu_graph_launch(Gpu *g, GpuGraph *graph, void *stream);
void gpu_graph_free(Gpu *g, GpuGraph *graph);

#endif
