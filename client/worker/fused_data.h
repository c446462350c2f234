/* The vectors and numbers of a problem's fused operations (problem/fused.h): on the host for the reference,
 * and one copy on the device, which all launches read. Everything is made from the operand's number: a new
 * worker makes the same data. */
#ifndef CLIENT_FUSED_DATA_H
#define CLIENT_FUSED_DATA_H

#include "client/device/device.h"
#include "client/runtime/launch.h"
#include "client/worker/reference.h"

typedef struct {
    FusedVectors vectors; /* for the reference; value[] are data */
    DeviceMem mem;
    uint64_t at[FUSED_OPERANDS]; /* bytes from the start of mem */
    unsigned char number[16];    /* the activation's, in the compute type */
    double *data;
    bool any;
} FusedData;

/* p: a problem's sizes. Where a batch index is of one operand alone (images of a convolution), all matrices
 * have the same bias. ERR_FAILED: no memory. */
Err fused_data_init(FusedData *f, const Fused *op, const Contraction *p, Device *d);
void fused_data_free(FusedData *f, Device *d);
/* The launch's arguments. */
void fused_data_inputs(const FusedData *f, LaunchInputs *in);

#endif
