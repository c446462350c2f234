/* What devices that are no GPUs have in place of a GPU's abilities: launches that are kept with their
 * arguments and run again one by one, as a graph; no tensor maps. Used by host.c and sim.c. */
#ifndef CLIENT_DEVICE_RECORD_H
#define CLIENT_DEVICE_RECORD_H

#include "client/device/device.h"

typedef struct {
    DeviceGraph *open; /* between begin and end */
    Err failed;        /* the first error in between */
} Recorder;

Err record_begin(Recorder *r);
/* Err: no memory; kept for record_end too. */
Err record_launch(Recorder *r, const DeviceLaunch *l);
Err record_end(Recorder *r, DeviceGraph **out);
/* Through the device's own launch. */
Err record_run(Device *d, const DeviceGraph *g);
void record_free(DeviceGraph *g);

/* A device's answer that has none. */
Err no_tensor_map(Device *d, const TensorMap *map, unsigned char out[TENSOR_MAP_BYTES]);

#endif
