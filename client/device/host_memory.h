/* Memory of the host device, between pages that fault. Used by host.c and sim.c. */
#ifndef CLIENT_DEVICE_HOST_MEMORY_H
#define CLIENT_DEVICE_HOST_MEMORY_H

#include "client/device/device.h"

Err host_memory_alloc(uint64_t bytes, DeviceGuard guard, DeviceMem *out);
void host_memory_free(DeviceMem *m);
/* Bounds-checked; ERR_FAILED names the range. */
Err host_memory_range(const DeviceMem *m, uint64_t offset, uint64_t bytes);

#endif
