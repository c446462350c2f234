/* --devices: several devices of this machine that measure one run together. */
#ifndef TUNER_DEVICE_POOL_H
#define TUNER_DEVICE_POOL_H

#include "client/answer.h"
#include "run/run.h"

/* ERR_INPUT: the text is no list of devices, or does not go with the other options. */
Err device_pool_check(const Run *r);
/* Sets r->pool to the devices that --devices names, in order, and r->device to the first. Refused: host (it
 * is one device), devices that differ in what their times depend on, and devices that do not run r's target.
 * ERR_NO_DEVICE: one is not there. Of "all", devices that cannot be opened are left out with a warning. */
Err device_pool_choose(Run *r, const AnswerRecord *record, size_t n);

/* Reads a device from a record. False for a record that is no device, and for an architecture that is not in
 * targets.def. */
bool device_of_record(Arena *a, const AnswerRecord *r, DeviceChoice *out);

#endif
