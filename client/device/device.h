/* Device: one table of functions per kind of device (host, sim, hip, cuda).
 *
 * A device runs kernels: the host's cores, a GPU, or a simulation with known results. The table knows nothing
 * of GEMM: it loads code objects, allocates, copies, launches a symbol with a packed argument buffer, and
 * measures. Device state (clocks, power, modes) is never changed, only read. Not thread-safe: one thread uses
 * a Device.
 *
 * A device is opened in the process that launches on it (client/worker/worker.c), never in one that forks
 * afterwards. Function pointers are never NULL; a function that a kind does not support returns ERR_FAILED
 * with the reason.
 */
#ifndef CLIENT_DEVICE_H
#define CLIENT_DEVICE_H

#include <math.h>

#include "base/arena.h"
#include "client/answer.h"
#include "client/runtime/tensor_map.h"

typedef struct DeviceApi DeviceApi;
/* An open device. Each kind embeds this as its first member. */
typedef struct {
    const DeviceApi *api;
    int index;
} Device;

typedef struct DeviceModule DeviceModule; /* a loaded code object */
typedef struct DeviceKernel DeviceKernel; /* a symbol in it; lives as long as its module */
typedef struct DeviceEvent DeviceEvent;
typedef struct DeviceGraph DeviceGraph; /* recorded launches that are queued together */

typedef struct {
    char name[128];        /* "Intel(R) Xeon(R) ...", "NVIDIA H200" */
    char architecture[32]; /* a name of problem/targets.def: "x86-64-v4", "gfx90a", "sm_90" */
    int n_cu;              /* compute units; host: threads that run workgroups */
    int n_simd_per_cu;     /* 4 on AMD; 1 elsewhere */
    int wave_size;
    uint64_t memory_bytes, l2_bytes; /* l2: last cache before memory */
    uint64_t lds_bytes;
    int clock_mhz, memory_clock_mhz; /* nominal maximum; 0 unknown */
    uint32_t grid_limit;             /* most workgroups along y, and along z; 0: the same as along x */
    bool integrated;                 /* shares memory with the CPU (Tensile's IsAPU) */
    char driver[64];                 /* version, "" unknown */
} DeviceProps;

typedef struct {
    int n_threads;   /* host: threads; 0: all cores of this process */
    const char *sim; /* sim: "key=value;..." (see sim.c); NULL: environment TUNER_SIM */
} DeviceOptions;

/* The side at which an access outside a buffer must fault. A guarded buffer starts (front) or ends (back)
 * exactly at an inaccessible page; the other side has one too, at most a page away. */
typedef enum { DEVICE_GUARD_NONE, DEVICE_GUARD_FRONT, DEVICE_GUARD_BACK } DeviceGuard;

typedef struct {
    uint64_t address; /* as kernels see it */
    uint64_t bytes;
    void *host;   /* the same memory for the CPU; NULL where the CPU must copy */
    void *handle; /* private to the kind */
} DeviceMem;

/* ERR_FAILED with the numbers when offset and bytes are not inside the buffer. */
Err device_range(const DeviceMem *m, uint64_t offset, uint64_t bytes);

/* Tensors of one buffer begin at multiples of 256 bytes, as buffers of the GPUs' drivers do. */
static inline uint64_t device_aligned(uint64_t bytes) { return (bytes + 255) / 256 * 256; }

/* The right result of a launch. Only the simulated device reads it: it copies the result instead of running a
 * kernel. */
typedef struct {
    void *d;
    const void *expect; /* NULL: leave d alone */
    uint64_t bytes;
    uint64_t flops;
    uint64_t problem_key; /* hash of the problem, for the simulated time */
} DeviceTruth;

typedef struct {
    const DeviceKernel *kernel;
    uint32_t group[3]; /* work-items of a workgroup */
    uint32_t grid[3];  /* workgroups */
    const void *args;  /* packed, natural alignment; copied before launch returns */
    size_t args_bytes;
    uint32_t lds_bytes;        /* dynamic, in addition to the bytes that the code object asks for */
    bool dependent;            /* may begin before the launch in front has ended, and waits for it itself */
    DeviceEvent *start, *stop; /* recorded right before and after this kernel; NULL: none */
    const DeviceTruth *truth;  /* NULL on every device but sim */
    bool is_helper;            /* a helper kernel: its simulated time does not contain the problem's flops */
} DeviceLaunch;

/* Reasons why a device runs below its clock, one bit each; names and values of NVML
 * (nvmlClocksEventReasons). */
typedef enum {
    THROTTLE_IDLE = 0x1,
    THROTTLE_CLOCK_SETTING = 0x2,
    THROTTLE_POWER_CAP = 0x4,
    THROTTLE_HW_SLOWDOWN = 0x8,
    THROTTLE_SYNC_BOOST = 0x10,
    THROTTLE_SW_THERMAL = 0x20,
    THROTTLE_HW_THERMAL = 0x40,
    THROTTLE_POWER_BRAKE = 0x80,
    THROTTLE_DISPLAY_CLOCK = 0x100
} DeviceThrottle;

/* Readings of sensors; NAN where the device has none. The first DEVICE_SENSORS members are doubles, so that
 * code can loop over them. */
enum { DEVICE_SENSORS = 7 };
typedef struct {
    double temp_c, hotspot_c, clock_sys_mhz, clock_soc_mhz, clock_mem_mhz, fan_rpm, power_w;
    uint32_t throttle; /* DeviceThrottle bits; 0 none or unknown */
} DeviceReading;
#define DEVICE_READING_NONE ((DeviceReading){NAN, NAN, NAN, NAN, NAN, NAN, NAN, 0})

struct DeviceApi {
    const char *name;                    /* "host" */
    const char *code_object_suffixes[3]; /* ".so"; ".co", ".hsaco"; "" for every file; NULL ends the list */
    /* it has memory of its own (DeviceMem.host is NULL), and launches return before the kernel ends */
    bool is_gpu;
    /* alloc puts inaccessible pages at a buffer's ends; else guarded buffers are plain ones */
    bool has_guards;
    /* single launches leave gaps between kernels, which a graph avoids: short kernels are timed in graphs */
    bool has_gaps;
    /* no kernel runs: results are copied from DeviceTruth and times are simulated */
    bool is_simulated;
    /* Number of devices. 0: why is set to the reason ("libcuda.so.1: cannot open shared object file"). No
     * device is initialised that could not be used after fork. */
    int (*count)(Buf *why);
    Err (*open)(int index, const DeviceOptions *options, Device **out);
    void (*close)(Device *d);
    Err (*props)(Device *d, DeviceProps *out);

    Err (*module_load)(Device *d, const char *path, DeviceModule **out);
    void (*module_unload)(Device *d, DeviceModule *m);
    /* ERR_INPUT with the symbol's name when the module lacks it. */
    Err (*kernel_get)(Device *d, DeviceModule *m, const char *symbol, DeviceKernel **out);

    /* At least 64-byte aligned unless guarded at the back. bytes 0 gives a valid empty buffer. */
    Err (*alloc)(Device *d, uint64_t bytes, DeviceGuard guard, DeviceMem *out);
    void (*free)(Device *d, DeviceMem *m); /* zeroes *m; does nothing when it is zeroed already */
    Err (*copy_to)(Device *d, const DeviceMem *to, uint64_t offset, const void *from, uint64_t bytes);
    Err (*copy_from)(Device *d, void *to, const DeviceMem *from, uint64_t offset, uint64_t bytes);
    Err (*copy)(Device *d, const DeviceMem *to, const DeviceMem *from, uint64_t bytes);
    Err (*fill)(Device *d, const DeviceMem *m, unsigned char byte);
    /* Memory of the host that the device copies to and from at its full speed. NULL: there is none. Both
     * functions are NULL where the device has no memory of its own. */
    void *(*pinned_alloc)(Device *d, uint64_t bytes);
    void (*pinned_free)(Device *d, void *p);

    /* Encodes a tensor map for the device; see tensor_map.h. */
    Err (*tensor_map)(Device *d, const TensorMap *map, unsigned char out[TENSOR_MAP_BYTES]);

    /* Queues a kernel after all earlier ones; may return before it ends. A fault is reported by sync at the
     * latest. */
    Err (*launch)(Device *d, const DeviceLaunch *l);
    Err (*sync)(Device *d);
    /* True after a fault that ends the use of the device in this process (an illegal address poisons a GPU's
     * context): the errors of later calls are then not about their own kernels. */
    bool (*lost)(const Device *d);

    /* Graphs: between begin and end launches are recorded with copies of their arguments and do not run;
     * their events are not recorded, and only launch may be called. graph_launch queues all of them at once,
     * so that the gap between short kernels is the device's and not the host's. The kernels' modules and
     * buffers must outlive the graph. ERR_FAILED in begin when the driver has no graphs. After an error
     * between begin and end, call end: it returns the error again and sets *out to NULL. */
    Err (*graph_begin)(Device *d);
    Err (*graph_end)(Device *d, DeviceGraph **out);
    Err (*graph_launch)(Device *d, DeviceGraph *g);
    void (*graph_free)(Device *d, DeviceGraph *g); /* g may be NULL */

    /* The driver's handle of the queue (CUstream, hipStream_t), for libraries that queue kernels of their own
     * on it (cuBLAS as a peer); NULL where there is none. The device's context is current in the thread that
     * opened it. */
    void *(*stream)(Device *d);

    Err (*event_new)(Device *d, DeviceEvent **out);
    void (*event_free)(Device *d, DeviceEvent *e);
    Err (*event_record)(Device *d, DeviceEvent *e);
    /* Time between two events that were recorded and reached (call sync first). */
    Err (*event_elapsed)(Device *d, const DeviceEvent *start, const DeviceEvent *stop, uint64_t *ns);

    uint64_t (*now_ns)(Device *d);               /* clock of the host; a simulated one on sim */
    void (*idle)(Device *d, uint64_t ns);        /* sleeps; sim: advances its clock */
    void (*read)(Device *d, DeviceReading *out); /* reads the sensors; takes about 1 ms on a GPU */
};

extern const DeviceApi device_host, device_sim, device_hip, device_cuda;

/* "host", "sim", "hip", "cuda"; NULL when unknown. */
const DeviceApi *device_api_find(Str name);
/* Returns ERR_INPUT with the message that no kind has this name. */
Err device_absent(Str name);
/* Calls fn for every device of every kind, and for every kind that has none, with the reason. The record's
 * strings are valid in fn only. */
void devices_each(void (*fn)(void *ctx, const AnswerRecord *r), void *ctx);
/* Does a file of this name hold code for that kind? By its suffix. */
bool device_takes_file(const DeviceApi *api, Str path);

#endif
