/* Launch: from a problem and a solution to the list of kernel calls with their grids and argument bytes.
 *
 * Grids and arguments follow Tensile's host library (ContractionSolution.cpp) on every target: AMD code
 * objects, CUDA cubins and host .so files get the same bytes. Nothing is allocated: all results are in the
 * caller's LaunchList. Does not load or run anything.
 */
#ifndef CLIENT_RUNTIME_LAUNCH_H
#define CLIENT_RUNTIME_LAUNCH_H

#include "client/runtime/library.h"
#include "problem/pack.h"

enum { LAUNCH_CALLS_MAX = 5, LAUNCH_ARGS_MAX = 832 + TENSOR_MAPS_MAX * TENSOR_MAP_BYTES };

typedef enum { CALL_MAIN, CALL_BETA_ONLY, CALL_POST_GSU, CALL_STREAMK_INIT, CALL_PACK } CallRole;

typedef struct {
    const char *symbol; /* valid as long as the library; for helper kernels, as long as the list */
    CallRole role;
    uint32_t work_group[3], num_work_groups[3];
    uint32_t n_arg_bytes;
    bool dependent; /* may begin before the launch in front of it has ended, for whose results it waits */
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
    const void *fused[FUSED_OPERANDS]; /* vectors and numbers of fused operations (problem/fused.h) */
    int64_t bias_batch;                /* elements between the biases of two matrices */
    const void *activation;            /* its two numbers, in the compute type */
    uint32_t rnd_seed;
    const TensorMapEncoder *maps; /* NULL: tensor maps are zeros (selection without a device) */
    Mapping mapping; /* work-group order of kernels that take it as an argument; wgm 0: launch_mapping's */
} LaunchInputs;

/* Work-groups of stream-K kernels, Tensile's TENSILE_STREAMK_DYNAMIC_GRID: as many as compute units; not more
 * than tiles; for many tiles fewer, which fill whole rounds; by a model of the time. */
enum { STREAMK_GRID_CUS, STREAMK_GRID_TILES, STREAMK_GRID_LESS, STREAMK_GRID_MODEL };

/* Numbers of the device, and settings of StreamK and persistent kernels. Zeroed: defaults. */
typedef struct {
    int64_t n_cu;        /* 0: 1 */
    uint32_t grid_limit; /* work-groups along N, and along the batch, of a launch; 0: 2^31 - 1 */
    int64_t streamk_max_cus, streamk_fixed_grid, streamk_grid_multiplier;
    int streamk_dynamic_grid;
    bool streamk_full_tiles_set;
    int64_t streamk_full_tiles;
} LaunchHardware;

/* A part of a problem: some columns of D, some matrices of the batch. */
typedef struct {
    Contraction problem;
    LaunchInputs in;
} LaunchPart;

/* Part i of a problem; false after the last part. A problem has one part, the whole, unless its grid exceeds
 * hw's limit (CUDA: 65,535 along y and z). Parts are launched one after another, with the whole's
 * workspace. */
bool launch_part(const Contraction *p, const LibSolution *s, const LaunchInputs *in, const LaunchHardware *hw,
                 uint64_t i, LaunchPart *out);

/* Makes the calls. ERR_INPUT when the problem does not fit the argument types (a stride of 2^32 or more) or a
 * tensor map. */
Err launch_build(const Contraction *p, const LibSolution *s, const LaunchInputs *in, const LaunchHardware *hw,
                 LaunchList *out);
/* The tiles of a problem for the traffic model. */
TrafficGrid launch_traffic(const LibSolution *s, const Contraction *p);
/* The order of a solution on a problem: the one that its file gives, or where that says so the choice of the
 * traffic model. MAPPING_FIXED: it is part of the kernel; *out is all zeros. */
MappingSource launch_mapping(const LibSolution *s, const Contraction *p, Mapping *out);
/* Bytes of workspace that the launch needs; 0 for most solutions. */
uint64_t launch_workspace_bytes(const Contraction *p, const LibSolution *s, const LaunchHardware *hw);

/* The magic number and shift with which kernels divide by an argument (magicDivAlg 1 and 2). */
void magic_division(int alg, uint32_t divisor, uint32_t *number, uint32_t *shift);
uint32_t launch_stagger_iter(const Contraction *p, const LibSolution *s);

#endif
