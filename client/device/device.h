/* Device: one table of functions per kind of device (host, sim, hip, cuda).
 *
 * What runs kernels: the host's cores, a GPU, or a simulation with known truth. The table knows nothing of
 * GEMM: it loads code objects, allocates, copies, launches a symbol with a packed argument buffer, and
 * measures. Device state (clocks, power, modes) is never changed, only read. Not thread-safe: one thread uses
 * a Device.
 *
 * A device is opened in the process that launches on it (client/worker/worker.c), never in one that forks
 * afterwards. Used by tuner-client. Function pointers are never NULL; what a kind cannot do returns
 * ERR_FAILED with the reason.
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
typedef struct DeviceGraph DeviceGraph; /* launches that were recorded, to be run again as one */

typedef struct {
    char name[128];        /* "Intel(R) Xeon(R) ...", "NVIDIA H200" */
    char architecture[32]; /* a name of problem/targets.def: "x86-64-v4", "gfx90a", "sm_90" */
    int n_cu;              /* compute units; host: threads that run workgroups */
    int n_simd_per_cu;     /* 4 on AMD; 1 elsewhere */
    int wave_size;
    uint64_t memory_bytes, l2_bytes; /* l2: last cache before memory */
    uint64_t lds_bytes;
    int clock_mhz, memory_clock_mhz; /* nominal maximum; 0 unknown */
    uint32_t grid_limit;             /* workgroups along y, and along z; 0: no less than along x */
    bool integrated;                 /* IsAPU */
    char driver[64];                 /* version, "" unknown */
} DeviceProps;

typedef struct {
    int n_threads;   /* host: 0 all cores of this process */
    const char *sim; /* sim: "key=value;..." (see sim.c); NULL: environment TUNER_SIM */
} DeviceOptions;

/* Where an access just outside a buffer must fault. A guarded buffer starts (front) or ends (back) exactly at
 * an inaccessible page, to the byte; the other side has one too, at most a page away. */
typedef enum { DEVICE_GUARD_NONE, DEVICE_GUARD_FRONT, DEVICE_GUARD_BACK } DeviceGuard;

typedef struct {
    uint64_t address; /* as kernels see it */
    uint64_t bytes;
    void *host;   /* the same memory for the CPU; NULL where only copies reach it */
    void *handle; /* the kind's own */
} DeviceMem;

/* What a launch should have computed. Only the simulated device looks at it, to play a kernel that is right.
 */
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
    uint32_t lds_bytes;        /* dynamic, on top of what the kernel's own code object asks for */
    DeviceEvent *start, *stop; /* recorded right before and behind this kernel; NULL: not */
    const DeviceTruth *truth;  /* NULL on every device but sim */
    bool is_helper;            /* for the simulated time: it does not do the problem's work itself */
} DeviceLaunch;

/* Why a device runs below its clock, one bit each; NVML's names and values (nvmlClocksEventReasons). */
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

/* Readings; NAN where the device does not tell. The sensors come first, all double: code that treats them
 * alike goes over DEVICE_SENSORS of them. */
enum { DEVICE_SENSORS = 7 };
typedef struct {
    double temp_c, hotspot_c, clock_sys_mhz, clock_soc_mhz, clock_mem_mhz, fan_rpm, power_w;
    uint32_t throttle; /* DeviceThrottle bits; 0 none or unknown */
} DeviceReading;
#define DEVICE_READING_NONE ((DeviceReading){NAN, NAN, NAN, NAN, NAN, NAN, NAN, 0})

struct DeviceApi {
    const char *name;                    /* "host" */
    const char *code_object_suffixes[3]; /* ".so"; ".co" and ".hsaco"; "" every file; NULL behind the last */
    bool
        is_gpu; /* memory of its own (DeviceMem.host is NULL) and launches that return before they are done */
    bool has_guards; /* alloc puts inaccessible pages at a buffer's ends; else guarded buffers are plain ones
                      */
    bool has_gaps;  /* launches one by one leave gaps, which a graph closes: short ones are timed as graphs */
    bool is_played; /* runs nothing: takes results from DeviceTruth and plays the times */
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
    void (*free)(Device *d, DeviceMem *m); /* m is zeroed; a zeroed m is fine */
    Err (*copy_to)(Device *d, const DeviceMem *to, uint64_t offset, const void *from, uint64_t bytes);
    Err (*copy_from)(Device *d, void *to, const DeviceMem *from, uint64_t offset, uint64_t bytes);
    Err (*copy)(Device *d, const DeviceMem *to, const DeviceMem *from, uint64_t bytes);
    Err (*fill)(Device *d, const DeviceMem *m, unsigned char byte);

    /* For kernels that take tensor maps; see tensor_map.h. */
    Err (*tensor_map)(Device *d, const TensorMap *map, unsigned char out[TENSOR_MAP_BYTES]);

    /* Queued in order; may return before the kernel ends. A fault shows at the latest in sync. */
    Err (*launch)(Device *d, const DeviceLaunch *l);
    Err (*sync)(Device *d);
    /* True after a fault that nothing but a new process gets over (an illegal address poisons a GPU's
     * context): the errors of all later calls say no more about their kernels. */
    bool (*lost)(const Device *d);

    /* Graphs: between begin and end launches are recorded and not run, arguments as they are then (their
     * events are left out); nothing else but launch may be called. graph_launch queues them all as one piece
     * of work: what separates short kernels is then the device's own gap and not the host's. The kernels'
     * modules and buffers must stay. ERR_FAILED in begin when the driver has no graphs. After an error
     * between begin and end, call end: it gives the error again and leaves *out NULL. */
    Err (*graph_begin)(Device *d);
    Err (*graph_end)(Device *d, DeviceGraph **out);
    Err (*graph_launch)(Device *d, DeviceGraph *g);
    void (*graph_free)(Device *d, DeviceGraph *g); /* NULL is fine */

    /* The kind's own handle of the queue (CUstream, hipStream_t), for libraries that shall queue their
     * kernels between ours (cuBLAS as a peer); NULL where there is none. The device's context is current in
     * the thread that opened it. */
    void *(*stream)(Device *d);

    Err (*event_new)(Device *d, DeviceEvent **out);
    void (*event_free)(Device *d, DeviceEvent *e);
    Err (*event_record)(Device *d, DeviceEvent *e);
    /* Both recorded and reached (call sync first). */
    Err (*event_elapsed)(Device *d, const DeviceEvent *start, const DeviceEvent *stop, uint64_t *ns);

    uint64_t (*now_ns)(Device *d);               /* the clock that host timing uses; simulated on sim */
    void (*idle)(Device *d, uint64_t ns);        /* sleeps; sim: lets its clock run */
    void (*read)(Device *d, DeviceReading *out); /* hardware monitor, no side effects, about 1 ms */
};

extern const DeviceApi device_host, device_sim, device_hip, device_cuda;

/* By number, in order of preference; NULL behind the last. */
const DeviceApi *device_api_at(size_t i);
/* "host", "sim", "hip", "cuda"; NULL when unknown. */
const DeviceApi *device_api_find(Str name);
/* ERR_INPUT: the name is none of a kind. */
Err device_absent(Str name);
/* Calls fn for every device of every kind, and for every kind that has none, with the reason. The record's
 * strings are valid in fn only. */
void devices_each(void (*fn)(void *ctx, const AnswerRecord *r), void *ctx);
/* Does a file of this name hold code for that kind? By its suffix. */
bool device_takes_file(const DeviceApi *api, Str path);
/* "power cap, hw slowdown"; nothing for 0. */
void device_throttle_text(uint32_t throttle, Buf *out);

#endif
