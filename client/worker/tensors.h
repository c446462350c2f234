/* Tensors of one problem: pristine copies on the host, sets of device buffers, poison, and the checks around
 * them.
 *
 * A set is A, B, C, D and a workspace as a kernel gets them. Plain sets are for timing; guarded ones have
 * inaccessible pages at their front or back; NaN ones have 64 KiB of poison on each side. Poison is NaN
 * for floats (number_poison). Everything is made from seeds: a new worker makes the same
 * data. Used by worker.c and timing.c.
 */
#ifndef CLIENT_TENSORS_H
#define CLIENT_TENSORS_H

#include "client/worker/session.h"
#include "client/worker/validate.h"

typedef struct {
    DeviceMem buffer[TENSOR_COUNT];
    DeviceMem workspace;
    DeviceMem
        pointers; /* to the matrices of A, B, C, D, an array of the batch each; without: strided batched */
    uint64_t pad; /* bytes on each side: BoundsCheck NaN */
    DeviceGuard guard;
    bool allocated; /* buffers are its own, not parts of the pool */
} TensorSet;

typedef struct {
    unsigned char *data;
    uint64_t bytes;
} Bounce;

/* How much of a result is looked at: FULL all of it and the inputs; QUICK, on a GPU and for what is large:
 * some columns of D, and the inputs only when those are wrong. */
typedef enum { CHECK_FULL, CHECK_QUICK } CheckDepth;

typedef struct {
    const Session *session;
    const Problem *problem;
    Device *device;
    unsigned char *pristine[TENSOR_COUNT]; /* offset + n_elements elements */
    uint64_t bytes[TENSOR_COUNT], hash[TENSOR_COUNT];
    Bounce d_out, in_out; /* D and an input as they came back, where the device's memory is not the host's */
    Validator *validator; /* made when first needed */
    TensorSet *copies;    /* plain sets, rotated over while timing */
    int n_copies;
    DeviceMem pool;           /* of a GPU's copies: one allocation */
    DeviceMem pool_pointers;  /* of their arrays of pointers */
    DeviceMem pool_workspace; /* of all copies of a GPU: launches follow each other */
    TensorSet checked[2];     /* of validated_set */
    bool refreshed;           /* a GPU's copies have other data than the host */
} Tensors;

Err tensors_new(const Session *s, const Problem *p, Device *d, Tensors **out);
/* Other data in the sets of validated_set and in the reference; a GPU's copies keep theirs. */
Err tensors_refresh(Tensors *t, uint64_t seed);
void tensors_free(Tensors *t);
Err tensors_validator(Tensors *t);
/* The problem with its data on the host. */
Gemm tensors_gemm(const Tensors *t);

/* workspace_bytes may be 0. Inputs are filled in; D is as init-d says. */
Err set_alloc(Tensors *t, DeviceGuard guard, bool nan_pads, uint64_t workspace_bytes, TensorSet *out);
void set_free(Tensors *t, TensorSet *s);
/* A set for one validated run, guarded or with NaN pads. Small ones are kept for the problem's next solution:
 * a kernel that changed more than D and the workspace has failed, and its process with the sets ends. Give it
 * to set_done. */
Err validated_set(Tensors *t, DeviceGuard guard, bool nan_pads, uint64_t workspace_bytes, TensorSet **out);
void set_done(Tensors *t, TensorSet *s);
/* Grows the workspace of a set to at least bytes. */
Err set_workspace(Tensors *t, TensorSet *s, uint64_t bytes);
/* Poisons D (unless it is C, which gets its input back) and the workspace. */
Err set_poison(Tensors *t, TensorSet *s);
/* D as init-d says again. */
Err set_restore(Tensors *t, TensorSet *s);
/* Grows what all copies share. */
Err copies_workspace(Tensors *t, uint64_t bytes);
/* First element's address as kernels see it (the offset is not in it). */
uint64_t set_address(const TensorSet *s, int tensor);
/* What a launch of the problem p is given: that address, or that of the array of pointers to the matrices. */
uint64_t set_operand(const TensorSet *s, const Problem *p, int tensor);

/* After a run: inputs unchanged, nothing written around D (its gaps, its offset, the pads). What is wrong
 * goes to text; false then. *d_host: D's buffer on the host, to be compared. */
Err set_check(Tensors *t, TensorSet *s, CheckDepth depth, char *text, size_t size, bool *good,
              const unsigned char **d_host);
/* Inputs of s are what they were? Those that are not are written again; text names one. */
Err set_inputs_check(Tensors *t, TensorSet *s, char *text, size_t size, bool *good);
/* Is QUICK less work than FULL here? */
bool set_quick_pays(const Tensors *t);

/* For print-tensor-* (stderr) and dump-tensors (tensor_<name>.bin). */
void matrix_print(const char *name, const Matrix *m, int64_t rows, int64_t cols, int64_t batches);
Err tensor_dump(const char *name, const void *data, uint64_t bytes);

#endif
