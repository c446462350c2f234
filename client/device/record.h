/* Graphs and tensor maps for devices that are no GPUs: a graph is a list of launches with copies of their
 * arguments, which are run one by one; tensor maps are refused. */
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

/* DeviceApi.tensor_map of devices without tensor maps: ERR_INPUT. */
Err no_tensor_map(Device *d, const TensorMap *map, unsigned char out[TENSOR_MAP_BYTES]);

#endif
