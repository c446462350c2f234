/* GPUs as devices: the functions that the tables of cuda.c and hip.c share, over client/runtime/gpu.h. The
 * two tables differ in the kind of driver and in the monitor. */
#ifndef CLIENT_DEVICE_GPU_H
#define CLIENT_DEVICE_GPU_H

#include "client/device/device.h"
#include "client/runtime/gpu.h"

/* Hardware monitor of one device. */
typedef struct GpuMonitor GpuMonitor;
struct GpuMonitor {
    void (*read)(GpuMonitor *m, DeviceReading *out);
    void (*free)(GpuMonitor *m);
    char driver[48]; /* version of the kernel's driver, "" unknown */
};

/* Counts the devices in a child process, because counting initialises the driver. */
int gpu_device_count(const GpuKind *kind, Buf *why);
/* monitor returns NULL when there are no sensors; the device frees its result. */
Err gpu_device_open(const DeviceApi *api, const GpuKind *kind, int index,
                    GpuMonitor *(*monitor)(const char *bus), Device **out);

/* All members of a DeviceApi but name, suffixes, count and open. */
#define GPU_DEVICE_FUNCTIONS                                                                                 \
    .is_gpu = true, .has_gaps = true, .close = gpu_device_close, .props = gpu_device_props,                  \
    .module_load = gpu_device_load, .module_unload = gpu_device_unload, .kernel_get = gpu_device_kernel,     \
    .alloc = gpu_device_alloc, .free = gpu_device_free, .copy_to = gpu_device_copy_to,                       \
    .copy_from = gpu_device_copy_from, .copy = gpu_device_copy, .fill = gpu_device_fill,                     \
    .pinned_alloc = gpu_device_pinned_alloc, .pinned_free = gpu_device_pinned_free,                          \
    .launch = gpu_device_launch, .sync = gpu_device_sync, .lost = gpu_device_lost,                           \
    .tensor_map = gpu_device_tensor_map, .graph_begin = gpu_device_graph_begin,                              \
    .graph_end = gpu_device_graph_end, .graph_launch = gpu_device_graph_launch,                              \
    .graph_free = gpu_device_graph_free, .stream = gpu_device_stream, .event_new = gpu_device_event_new,     \
    .event_free = gpu_device_event_free, .event_record = gpu_device_event_record,                            \
    .event_elapsed = gpu_device_event_elapsed, .now_ns = gpu_device_now, .idle = gpu_device_idle,            \
    .read = gpu_device_read

void gpu_device_close(Device *d);
Err gpu_device_props(Device *d, DeviceProps *out);
Err gpu_device_load(Device *d, const char *path, DeviceModule **out);
void gpu_device_unload(Device *d, DeviceModule *m);
Err gpu_device_kernel(Device *d, DeviceModule *m, const char *symbol, DeviceKernel **out);
Err gpu_device_alloc(Device *d, uint64_t bytes, DeviceGuard guard, DeviceMem *out);
void gpu_device_free(Device *d, DeviceMem *m);
Err gpu_device_copy_to(Device *d, const DeviceMem *to, uint64_t offset, const void *from, uint64_t bytes);
void *gpu_device_pinned_alloc(Device *d, uint64_t bytes);
void gpu_device_pinned_free(Device *d, void *p);
Err gpu_device_copy_from(Device *d, void *to, const DeviceMem *from, uint64_t offset, uint64_t bytes);
Err gpu_device_copy(Device *d, const DeviceMem *to, const DeviceMem *from, uint64_t bytes);
Err gpu_device_fill(Device *d, const DeviceMem *m, unsigned char byte);
Err gpu_device_launch(Device *d, const DeviceLaunch *l);
Err gpu_device_sync(Device *d);
bool gpu_device_lost(const Device *d);
Err gpu_device_tensor_map(Device *d, const TensorMap *map, unsigned char out[TENSOR_MAP_BYTES]);
Err gpu_device_graph_begin(Device *d);
Err gpu_device_graph_end(Device *d, DeviceGraph **out);
Err gpu_device_graph_launch(Device *d, DeviceGraph *g);
void gpu_device_graph_free(Device *d, DeviceGraph *g);
void *gpu_device_stream(Device *d);
Err gpu_device_event_new(Device *d, DeviceEvent **out);
void gpu_device_event_free(Device *d, DeviceEvent *e);
Err gpu_device_event_record(Device *d, DeviceEvent *e);
Err gpu_device_event_elapsed(Device *d, const DeviceEvent *start, const DeviceEvent *stop, uint64_t *ns);
uint64_t gpu_device_now(Device *d);
void gpu_device_idle(Device *d, uint64_t ns);
void gpu_device_read(Device *d, DeviceReading *out);

#endif
