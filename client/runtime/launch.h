/* Launch: from a problem and a solution to the list of kernel calls with their grids and argument bytes.
 *
 * Follows tensile-formats 8.2-8.4 for every target: AMD code objects, CUDA cubins and host .so alike get
 * these bytes. No allocation: everything is in the caller's LaunchList. Does not load or run anything. Used
 * by libtuner and tuner-client.
 */
#ifndef CLIENT_RUNTIME_LAUNCH_H
#define CLIENT_RUNTIME_LAUNCH_H

#include "client/runtime/library.h"

enum {
    LAUNCH_CALLS_MAX = 4,
    LAUNCH_ARGS_MAX = 384 + TENSOR_MAPS_MAX * TENSOR_MAP_BYTES
};

typedef enum { CALL_MAIN, CALL_BETA_ONLY, CALL_POST_GSU, CALL_STREAMK_INIT } CallRole;

typedef struct {
    const char *symbol; /* lives as long as the library, or as the list for helper kernels */
    CallRole role;
    uint32_t work_group[3], num_work_groups[3];
    uint32_t n_arg_bytes;
    _Alignas(16) unsigned char args[LAUNCH_ARGS_MAX];
} KernelCall;

typedef struct {
    uint32_t n;
    KernelCall call[LAUNCH_CALLS_MAX]; /* in the order they run */
    char symbol[HELPER_SYMBOL_MAX];    /* of a post-GSU kernel whose name depends on the problem */
} LaunchList;

/* Device addresses. Strided batched: tensors. General batched: arrays of pointers to them. alpha and beta
 * point to one value of the problem's compute type. Offsets are in elements. */
typedef struct {
    const void *a, *b, *c;
    void *d;
    void *workspace;
    const void *alpha, *beta;
    int64_t offset_a, offset_b, offset_c, offset_d;
    uint32_t rnd_seed;
    const TensorMapEncoder *maps; /* NULL: tensor maps are zeros (selection without a device) */
} LaunchInputs;

/* Knobs of StreamK and persistent kernels that are not the problem's. Zeroed: defaults. */
typedef struct {
    int64_t n_cu;        /* 0: 1 */
    uint32_t grid_limit; /* work-groups along N, and along the batch, of a launch; 0: 2^31 - 1 */
    int64_t streamk_max_cus, streamk_fixed_grid, streamk_grid_multiplier;
    bool streamk_full_tiles_set;
    int64_t streamk_full_tiles;
} LaunchHardware;

/* A part of a problem: some columns of D, some matrices of the batch. */
typedef struct {
    Contraction problem;
    LaunchInputs in;
} LaunchPart;

/* Part i of a problem whose grid is beyond hw's limit (CUDA has 65,535 along y and z); false: there is none.
 * Most have one part, the whole. Parts are launched one after the other, all with the whole's workspace. */
bool launch_part(const Contraction *p, const LibSolution *s, const LaunchInputs *in, const LaunchHardware *hw,
                 uint64_t i, LaunchPart *out);

/* ERR_INPUT when the problem does not fit the argument types (a stride beyond 2^32) or a tensor map. */
Err launch_build(const Contraction *p, const LibSolution *s, const LaunchInputs *in, const LaunchHardware *hw,
                 LaunchList *out);
/* Bytes of workspace that this launch needs; 0 for most. */
uint64_t launch_workspace_bytes(const Contraction *p, const LibSolution *s, const LaunchHardware *hw);

/* For tests and other launchers: the magic numbers of 8.3. */
void magic_division(int alg, uint32_t divisor, uint32_t *number, uint32_t *shift);
uint32_t launch_stagger_iter(const Contraction *p, const LibSolution *s);

#endif
