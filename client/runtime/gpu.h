/* GPU: one driver for NVIDIA's and AMD's GPUs, over libcuda or libamdhip64 opened with dlopen.
 *
 * Devices, code objects, kernels with packed arguments, memory, streams, events, graphs. No CUDA or ROCm
 * package is needed to build or to start; a machine without the library or without a device gets an error
 * with the reason. Knows nothing of GEMM. All functions but gpu_open and gpu_close work on the calling
 * thread's context: gpu_enter makes the device's context current there, gpu_leave restores the thread's
 * previous one. Several threads may use one Gpu at the same time, as the driver libraries allow it. After
 * fork only the process that opened a Gpu may use it.
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
    char features[64];     /* the suffix of AMD's name: ":sramecc+:xnack-"; else "" */
    char bus[32];          /* "0000:65:00.0", lower case */
    char driver[64];       /* "CUDA 13.0", "HIP 5.2.21153" */
    int n_cu, n_simd_per_cu, wave_size;
    uint64_t memory_bytes, l2_bytes, lds_bytes; /* lds: most of one workgroup */
    int clock_mhz, memory_clock_mhz;            /* 0 unknown */
    uint32_t grid_limit;                        /* most workgroups along y, along z; 0: as along x */
    bool integrated;
} GpuInfo;

/* A kernel of a module; valid until the module is unloaded. */
typedef struct {
    void *function;
    const char *symbol;       /* the caller's text */
    uint32_t dynamic_bytes;   /* dynamic LDS that its code object asks for (<symbol>_dynamic_lds) */
    uint32_t arg_bytes;       /* bytes of its arguments by the driver; 0 unknown */
    uint32_t most_groups;     /* of clusters that run at once, see gpu_launch; 0: no clusters, or unknown */
    uint32_t n_maps, maps_at; /* tensor maps at the end of its arguments; byte offset of the first */
} GpuKernel;

typedef struct {
    const GpuKernel *kernel;
    const uint32_t *group, *grid; /* work-items of a workgroup, workgroups: 3 each */
    const void *args;             /* packed; copied before the call returns */
    size_t args_bytes;            /* bytes that the kernel takes; padding up to 8 bytes may follow them */
    uint32_t lds_bytes;           /* in addition to the kernel's dynamic_bytes */
    void *stream;                 /* NULL: the default stream */
    bool dependent; /* may begin before the launch in front of it has ended (CUDA's programmatic dependent
                     * launch); without effect where the driver has no such launches */
    GpuEvent start, stop; /* recorded around it; NULL: none */
} GpuLaunch;

const char *gpu_kind_name(const GpuKind *kind); /* "cuda", "hip" */
const GpuKind *gpu_kind(const Gpu *g);
/* ERR_NO_DEVICE with the reason: no library, no driver, no device. Initialises the driver in this process. */
Err gpu_count(const GpuKind *kind, int *n);
/* Opens a device and makes its context current in this thread; *saved (saved may be NULL) is the previous
 * one, for gpu_leave. */
Err gpu_open(const GpuKind *kind, int index, Gpu **out, void **saved);
void gpu_close(Gpu *g);
Err gpu_info(Gpu *g, GpuInfo *out);
/* True after a fault that ends the use of the device in this process. */
bool gpu_lost(const Gpu *g);

/* Makes the device's context current; *saved is the previous one, for gpu_leave. */
Err gpu_enter(Gpu *g, void **saved);
void gpu_leave(Gpu *g, void *saved);

/* data: the file's bytes (cubin, ELF code object, offload bundle); name is for messages. */
Err gpu_module_load(Gpu *g, const char *name, Str data, GpuModule **out);
void gpu_module_unload(Gpu *g, GpuModule *m);
/* Looks for a kernel; *found false is no error. symbol must outlive *out. */
Err gpu_kernel_find(Gpu *g, GpuModule *m, const char *symbol, GpuKernel *out, bool *found);
/* Of a kernel with clusters at most most_groups work-groups along x are launched: such kernels are persistent
 * (library_solution.c), and those that come up later would begin their tiles when the others end. */
Err gpu_launch(Gpu *g, const GpuLaunch *l);

/* TensorMapEncoder.encode; ctx is the Gpu. */
Err gpu_tensor_map(void *ctx, const TensorMap *map, unsigned char out[TENSOR_MAP_BYTES]);

/* Allocates memory with an alignment of at least 256 bytes. When out of memory, the message has the wanted
 * and the free bytes. */
Err gpu_alloc(Gpu *g, uint64_t bytes, uint64_t *address);
void gpu_free(Gpu *g, uint64_t address); /* waits for work that uses it; address may be 0 */
/* Memory of the host that the device copies to and from at its full speed; NULL: there is none. */
void *gpu_pinned_alloc(Gpu *g, uint64_t bytes);
void gpu_pinned_free(Gpu *g, void *p); /* p may be NULL */
/* Queue a copy on the stream and wait for it. */
Err gpu_copy_to(Gpu *g, uint64_t to, const void *from, uint64_t bytes, void *stream);
Err gpu_copy_from(Gpu *g, void *to, uint64_t from, uint64_t bytes, void *stream);
/* Queue without waiting. */
Err gpu_copy(Gpu *g, uint64_t to, uint64_t from, uint64_t bytes, void *stream);
Err gpu_fill(Gpu *g, uint64_t to, unsigned char byte, uint64_t bytes, void *stream);

Err gpu_stream_new(Gpu *g, void **out);
void gpu_stream_free(Gpu *g, void *stream);
Err gpu_stream_sync(Gpu *g, void *stream);

Err gpu_event_new(Gpu *g, GpuEvent *out);
void gpu_event_free(Gpu *g, GpuEvent e);
Err gpu_event_record(Gpu *g, GpuEvent e, void *stream);
/* Time between two events that were recorded and reached. */
Err gpu_event_elapsed(Gpu *g, GpuEvent start, GpuEvent stop, uint64_t *ns);

/* Launches on the stream between begin and end are recorded into the graph and not run. */
Err gpu_graph_begin(Gpu *g, void *stream);
Err gpu_graph_end(Gpu *g, void *stream, GpuGraph **out);
Err gpu_graph_launch(Gpu *g, GpuGraph *graph, void *stream);
void gpu_graph_free(Gpu *g, GpuGraph *graph);

#endif
