/* Tensors of one problem: pristine copies on the host, sets of device buffers, poison, and the checks around
 * them.
 *
 * A set is A, B, C, D and a workspace as a kernel gets them. Plain sets are for timing; guarded ones have
 * inaccessible pages at their front or back; NaN ones have 64 KiB of poison on each side. Poison is NaN
 * for floats (number_poison). Everything is made from seeds: a new worker makes the same data.
 */
#ifndef CLIENT_TENSORS_H
#define CLIENT_TENSORS_H

#include "client/worker/fused_data.h"
#include "client/worker/matrix_map.h"
#include "client/worker/operands.h"
#include "client/worker/session.h"
#include "client/worker/validate.h"

typedef struct {
    DeviceMem buffer[TENSOR_COUNT];
    DeviceMem workspace;
    DeviceMem pointers; /* arrays of pointers to the matrices of A, B, C, D; empty: strided batched */
    uint64_t pad;       /* bytes on each side: BoundsCheck NaN */
    DeviceGuard guard;
    bool allocated; /* the set owns its buffers; else they are parts of the pool */
} TensorSet;

/* How much of a result is checked. FULL: all of D and the inputs. QUICK, for large results on a GPU: some
 * columns of D, and the inputs only when those are wrong. */
typedef enum { CHECK_FULL, CHECK_QUICK } CheckDepth;

typedef struct {
    const Session *session;
    const Problem *problem;
    Device *device;
    Operands *operands;                    /* of the worker */
    Operand *shared[TENSOR_COUNT];         /* whose data pristine is; NULL: it has its own */
    unsigned char *pristine[TENSOR_COUNT]; /* offset + n_elements elements; NULL: nothing looks at them */
    uint64_t bytes[TENSOR_COUNT], hash[TENSOR_COUNT];
    Validator *validator; /* made when first needed */
    TensorSet *copies;    /* plain sets, rotated over while timing */
    int n_copies;
    DeviceMem pool;           /* of a GPU's copies: one allocation */
    DeviceMem pool_pointers;  /* of their arrays of pointers */
    DeviceMem pool_workspace; /* shared by all copies of a GPU, as their launches run one after another */
    FusedData fused;          /* read by all sets' launches */
    TensorSet checked[2];     /* of validated_set */
    MatrixMaps maps;          /* of a contraction that is no GEMM */
    uint64_t *d_used;         /* of its D, matrix_map_used; NULL: D has no gaps */
    bool was_changed;         /* set_inputs_check found that data were wrong from the start */
    bool refreshed;           /* after tensors_refresh: a GPU's copies differ from the host's data */
} Tensors;

/* The operands must outlive the tensors. */
Err tensors_new(const Session *s, const Problem *p, Operands *o, Tensors **out);
/* Makes new data for the sets of validated_set and for the reference; a GPU's copies keep the old data. */
Err tensors_refresh(Tensors *t, uint64_t seed);
void tensors_free(Tensors *t);
/* The GEMM of the problem with pointers to its data on the host. */
Gemm tensors_gemm(const Tensors *t);
/* D as the reference's matrix: data is its first element. */
Matrix tensors_result(const Tensors *t, const void *data);

/* Allocates a set. workspace_bytes may be 0. Inputs are filled in; D is initialised by init-d. */
Err set_alloc(Tensors *t, DeviceGuard guard, bool nan_pads, uint64_t workspace_bytes, TensorSet *out);
void set_free(Tensors *t, TensorSet *s);
/* A set for one validated run, guarded or with NaN pads; return it with set_done. Small sets are reused for
 * the problem's next solution: when a kernel changes more than D and the workspace, it has failed and its
 * process ends. */
Err validated_set(Tensors *t, DeviceGuard guard, bool nan_pads, uint64_t workspace_bytes, TensorSet **out);
void set_done(Tensors *t, TensorSet *s);
/* Grows the workspace of a set to at least bytes. */
Err set_workspace(Tensors *t, TensorSet *s, uint64_t bytes);
/* Poisons D (unless it is C, which gets its input back) and the workspace. */
Err set_poison(Tensors *t, TensorSet *s);
/* Initialises D by init-d again. */
Err set_restore(Tensors *t, TensorSet *s);
/* Grows the workspace that all copies share. */
Err copies_workspace(Tensors *t, uint64_t bytes);
/* Address of the tensor for kernels, without the operand's offset. */
uint64_t set_address(const TensorSet *s, int tensor);
/* The pointer argument of a launch of p: that address, or that of the array of pointers to the matrices. */
uint64_t set_operand(const TensorSet *s, const Problem *p, int tensor);

/* Checks after a run that inputs are unchanged and nothing was written outside the elements of D (gaps,
 * offset, pads). *good false: text describes the first difference. *d_host: D's buffer on the host. */
Err set_check(Tensors *t, TensorSet *s, CheckDepth depth, char *text, size_t size, bool *good,
              const unsigned char **d_host);
/* Checks that the inputs of s are unchanged and restores those that are not; text names one of them. */
Err set_inputs_check(Tensors *t, TensorSet *s, char *text, size_t size, bool *good);
/* Whether CHECK_QUICK costs less than CHECK_FULL for this problem. */
bool set_quick_pays(const Tensors *t);

/* For print-tensor-* (stderr) and dump-tensors (tensor_<name>.bin). */
void matrix_print(const char *name, const Matrix *m, int64_t rows, int64_t cols, int64_t batches);
Err tensor_dump(const char *name, const void *data, uint64_t bytes);

#endif
