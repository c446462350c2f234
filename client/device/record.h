/* What devices that are no GPUs have in common: a launch has ended when its call returns, events are points
 * in time, a graph is a list of launches with copies of their arguments, which are run one by one, and tensor
 * maps are refused. */
#ifndef CLIENT_DEVICE_RECORD_H
#define CLIENT_DEVICE_RECORD_H

#include "client/device/device.h"

typedef struct {
    DeviceGraph *open; /* between begin and end */
    Err failed;        /* the first error between begin and end */
} Recorder;

Err record_begin(Recorder *r);
/* ERR_FAILED when out of memory; record_end then returns the error again. */
Err record_launch(Recorder *r, const DeviceLaunch *l);
Err record_end(Recorder *r, DeviceGraph **out);
/* Runs the launches through the launch function of the device. */
Err record_run(Device *d, const DeviceGraph *g);
void record_free(DeviceGraph *g);

/* The first member of such a device. */
typedef struct {
    Device device;
    Recorder recorder;
} PlainDevice;
struct DeviceEvent {
    uint64_t ns;
};

/* Functions of DeviceApi. */
Err plain_sync(Device *d);
bool plain_lost(const Device *d);
Err plain_graph_begin(Device *d);
Err plain_graph_end(Device *d, DeviceGraph **out);
Err plain_graph_launch(Device *d, DeviceGraph *g);
void plain_graph_free(Device *d, DeviceGraph *g);
void *plain_stream(Device *d);
Err plain_event_new(Device *d, DeviceEvent **out);
void plain_event_free(Device *d, DeviceEvent *e);
Err plain_event_elapsed(Device *d, const DeviceEvent *start, const DeviceEvent *stop, uint64_t *ns);
#define PLAIN_DEVICE_API                                                                                     \
    .lost = plain_lost, .graph_begin = plain_graph_begin, .graph_end = plain_graph_end,                      \
    .graph_free = plain_graph_free, .stream = plain_stream, .event_new = plain_event_new,                    \
    .event_free = plain_event_free, .event_elapsed = plain_event_elapsed

/* DeviceApi.tensor_map of devices without tensor maps: ERR_INPUT. */
Err no_tensor_map(Device *d, const TensorMap *map, unsigned char out[TENSOR_MAP_BYTES]);

#endif
