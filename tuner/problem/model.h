/* The performance model: predicted time of a kernel on a problem size, from numbers alone.
 *
 * A ModelKernel holds what a kernel's program determines (measure/model.h fills it from the plan; a library
 * file stores it), a ModelDevice what the device has (data sheet, parts.def), and ModelRates how much of that
 * the kernels of a class reach. ModelRates start at typical values and are fitted to measured times
 * (measure/calibrate.h). Nothing is allocated and nothing is read: model_time is for 10^7 candidates and for
 * selection at run time.
 *
 * GPUs: a compute unit runs `groups` work-groups at once. A step of the main loop (DepthU elements of K)
 * takes as long as the slowest of the matrix or vector units, local memory, the L2 cache and DRAM, or as
 * the latency of loads that the stages do not hide. Tiles run in waves of all compute units; each begins
 * with the fill of the pipeline and ends with the stores of D. The distinct rows and columns of tiles of a
 * wave, which problem/traffic.h counts, give the bytes that come from DRAM. CPUs: a
 * work-group packs blocks of A and B and multiplies register tiles; the threads share the tiles of D.
 */
#ifndef PROBLEM_MODEL_H
#define PROBLEM_MODEL_H

#include <stdbool.h>
#include <stdint.h>

/* Classes of kernels, each of which has its own fitted rates. */
typedef enum {
    MODEL_VECTOR, /* GPU, multiply-add instructions of vector units */
    MODEL_MATRIX, /* GPU, matrix instructions on registers (MFMA, WMMA, mma.sync) */
    MODEL_ENGINE, /* GPU, copy engine and wgmma */
    MODEL_HOST,
    MODEL_CLASSES
} ModelClass;

/* How parts of K are added up: those of GlobalSplitU by atomic operations, by a second launch that reads a
 * workspace, or by the kernel itself (MultipleBufferSingleKernel); those of ClusterK in the local memory of a
 * cluster; those of stream-K, which cuts tiles of a launch, by the kernel itself. */
typedef enum {
    MODEL_SPLIT_NONE,
    MODEL_SPLIT_ATOMIC,
    MODEL_SPLIT_WORKSPACE,
    MODEL_SPLIT_CLUSTER,
    MODEL_SPLIT_JOINED,
    MODEL_SPLIT_STREAM
} ModelSplit;

/* GPU: when another launch copies the operand first (PackOperands): where it is not aligned for the copy
 * engine, or always, because the copy is transposed. Of convolutions, how pixels come to local memory: those
 * of a tile at once, before its main loop (KeepWindow); those of a block of outputs, from which the kernel
 * makes lines: of a tile's columns (PackOperands 7), or of chunks of K (5). Either way a pixel comes once,
 * however many taps read it. A flag beside these says what contractions are to the kernel: tiles along the
 * operand's side have rows of all matrices of the batch (PackBatchDims); or that side and the batch change
 * places (weights: a matrix for each tap, rows are channels); or the batch are groups, of which blocks of the
 * depth's channels are one matrix (PackOperands). Where taps of a stage share their pixels (WindowTaps), the
 * operand of the pixels has MODEL_TAPS more for each tap beside the first one; rows of weights are those of
 * all these taps. */
enum {
    MODEL_PACK_NEVER,
    MODEL_PACK_UNALIGNED,
    MODEL_PACK_ALWAYS,
    MODEL_PIXELS_KEPT,
    MODEL_PIXELS_OF_TILE,
    MODEL_PIXELS_OF_CHUNKS,
    MODEL_PACK_MASK = 15,
    MODEL_BATCH_PACKED = 16,
    MODEL_BATCH_SWAPPED = 32,
    MODEL_BATCH_BLOCKS = 64,
    MODEL_BATCH_MASK = 112,
    MODEL_TAPS = 128
};

/* Flags of a kernel: C may be read (D = alpha A B + beta C); launches may overlap (DependentLaunch); the
 * second of two warp groups multiplies behind the first one (ConsumerLag); A and B change places in the
 * matrix instruction (SourceSwap); its counters need no other launch (SelfResetCounters). All but the first
 * one count for the trees of problem/model_trees.h alone. */
enum { MODEL_READS_C = 1, MODEL_DEPENDENT = 2, MODEL_LAGS = 4, MODEL_SWAPS = 8, MODEL_RESETS = 16 };

/* Numbers of a kernel that do not depend on the size. All members are 4 bytes, so that files hold it as one
 * list (MODEL_KERNEL_NUMBERS). */
typedef struct {
    int32_t class;                 /* ModelClass */
    int32_t tile_m, tile_n, depth; /* depth: elements of K of a chunk */
    int32_t threads;               /* of a work-group */
    int32_t groups;                /* work-groups of a compute unit at once; host: 1 */
    int32_t stages;                /* of the ring: loads in flight are stages - 1; 1: none is */
    int32_t split, split_kind;     /* parts of K, ModelSplit */
    int32_t persistent; /* tiles follow each other in one work-group; 2: with the store overlapped */
    int32_t mapping;    /* width of the bands of tiles: > 0 along N, < 0 along M */
    int32_t cluster_m, cluster_n;
    int32_t bytes_ab, bytes_d, bytes_sum; /* of an element of A and B, of D, of a sum in the workspace */
    /* bytes of one access to global memory; host: of A and B that are multiplied at once (model_host_step) */
    int32_t load_a, load_b, store;
    int32_t free_a, free_b; /* M of A, N of B is contiguous in memory, else K */
    int32_t steps;          /* dependent steps of the main loop in one chunk of `depth` */
    union {
        struct {
            int32_t unit_m, unit_n;   /* host: register tile */
            int32_t block_m, block_n; /* host: blocks, which are packed as a whole */
        };
        struct { /* GPU, MODEL_SPLIT_STREAM: as in StreamKernel (problem/stream_cut.h) */
            int32_t stream_k, stream_part, stream_fix, stream_blocks;
        };
        int32_t keep_rows; /* GPU, MODEL_PIXELS_KEPT: rows of D of a warp */
    };
    int32_t pack_a, pack_b; /* host: the operand is packed; GPU: of the enumeration above */
    int32_t flags;          /* of the enumeration above */
    float rate;        /* floating-point operations of a compute unit in a clock; host: that the register tile
                        * allows */
    float peak;        /* the same of the fastest instruction for the type */
    float local_bytes; /* read and written in local memory for one element of K; host: L1 */
} ModelKernel;
enum { MODEL_KERNEL_NUMBERS = sizeof(ModelKernel) / 4 };

/* The rates of a device, or of a part in parts.def. Unknown rates are guesses. */
typedef struct {
    double n_cu; /* host: threads */
    double clock_hz;
    double local_rate;        /* bytes of local memory of a compute unit in a clock */
    double l2_bytes, l2_rate; /* bytes; bytes per second, all compute units together */
    double dram_rate;         /* bytes per second */
    double dies;              /* parts with an L2 cache each */
} ModelDevice;

/* What kernels of a class reach; the values were fitted on an H200 (the engine by test/bench/model_fit, which
 * judges it on other sizes) and on a CPU with 512-bit vectors. The first rows are factors of the
 * device's rates (1: all of it), the others seconds or clocks. Rows: name, first value by class (vector,
 * matrix, engine, host), meaning. */
#define MODEL_RATES(R)                                                                                       \
    R(math, 0.90, 0.90, 0.907, 0.70, "part of the peak rate of multiply-adds")                               \
    R(local, 1.00, 1.44, 1.51, 4.00, "part of the bandwidth of local memory")                                \
    R(l2, 1.00, 1.49, 1.32, 0.90, "part of the bandwidth of the L2 cache")                                   \
    R(dram, 0.84, 0.88, 0.716, 1.00, "part of the bandwidth of DRAM")                                        \
    R(launch_s, 9e-7, 4.8e-7, 7.3e-7, 1e-7, "seconds of a launch that does nothing")                         \
    R(group_clocks, 1200, 1100, 536, 25, "clocks until a work-group's first load, and after its last store") \
    R(load_clocks, 500, 1600, 1900, 20,                                                                      \
      "clocks from a load to its data; host: of a register tile at an edge")                                 \
    R(step_clocks, 80, 40, 30, 0.15,                                                                         \
      "clocks of a dependent step of the main loop; host: of a register tile's end, times its vectors "      \
      "squared")                                                                                             \
    R(chunk_clocks, 200, 60, 60, 1,                                                                          \
      "clocks of barriers and waits of one chunk of K; host: of a register tile")                            \
    R(store, 0.5, 0.38, 0.32, 0.5, "part of the bandwidth that stores of D reach")                           \
    R(cluster_clocks, 0, 0, 85, 0, "clocks of a chunk of K for waiting on each doubling of a cluster")       \
    R(slow, 1.2, 5, 1, 1.4,                                                                                  \
      "time of loads that the alignment of A or B does not allow, over a load for each access; host: "       \
      "multiply-adds of vectors below the widest in the time of one of the widest")                          \
    R(split_s, 1.5e-6, 3.3e-6, 2.9e-6, 1e-6, "seconds of the launch that adds up parts of K")                \
    R(power, 0.10, 0.10, 0.024, 0.05, "part of the clock that is lost when all units multiply")

typedef struct {
#define MODEL_RATE_FIELD(name, vector, matrix, engine, host, help) double name;
    MODEL_RATES(MODEL_RATE_FIELD)
#undef MODEL_RATE_FIELD
} ModelRates;
enum { MODEL_N_RATES = sizeof(ModelRates) / sizeof(double) };

/* A problem size. */
typedef struct {
    double m, n, k, batch;
    int32_t align_a, align_b, align_d; /* largest power of two that divides address and stride, in bytes */
    bool reads_c;                      /* beta is not 0 */
    /* Shares of the m k batch elements of A and of the n k batch elements of B that are distinct in memory:
     * they are below 1 where several taps of a filter read a pixel, or all images share a filter. 0: all are
     * distinct. Searches fill them in; libraries do not store them. */
    double once_a, once_b;
} ModelSize;

/* The terms of a predicted time. Each is the time that the whole problem would take if nothing else cost
 * anything; `seconds` is less than their sum because they overlap. */
#define MODEL_TERMS(T)                                                                                       \
    T(math, "multiply-adds, edges of tiles and idle compute units included")                                 \
    T(local, "local memory")                                                                                 \
    T(l2, "L2 cache")                                                                                        \
    T(dram, "DRAM")                                                                                          \
    T(latency, "dependent steps and waits of the main loop")                                                 \
    T(fill, "first loads of each tile")                                                                      \
    T(store, "stores of D, reads of C")                                                                      \
    T(copy, "copies of A and B before the kernel")                                                           \
    T(split, "sums of parts of K")                                                                           \
    T(launch, "launch")
typedef enum {
#define MODEL_TERM_ID(name, help) MODEL_TERM_##name,
    MODEL_TERMS(MODEL_TERM_ID)
#undef MODEL_TERM_ID
        MODEL_N_TERMS
} ModelTerm;
const char *model_term_name(ModelTerm t);
const char *model_term_help(ModelTerm t);

typedef struct {
    double seconds;
    double term[MODEL_N_TERMS];
    ModelTerm binds;           /* the largest term */
    double bound_seconds;      /* of the hardware: no kernel for this type can be faster */
    double tiles, waves;       /* work-groups (parts of K included); rounds of all compute units */
    double last_fill;          /* part of the last round that is busy, 0 to 1 */
    double edge_waste;         /* part of the multiply-adds that lie outside of D */
    double l2_read, dram_read; /* bytes */
} ModelTime;

/* ModelSize.align_* of strides whose bits are combined by OR, in bytes: at most a line of the L2 cache. */
enum { MODEL_ALIGN_MAX = 128, MODEL_ENGINE_ALIGN = 16 /* that the copy engine needs */ };
static inline int32_t model_align(int64_t stride_bytes)
{
    int64_t power = stride_bytes & -stride_bytes;
    return power <= 0 || power > MODEL_ALIGN_MAX ? MODEL_ALIGN_MAX : (int32_t)power;
}

/* The number of compute units that clusters of that many work-groups can use at once. A cluster lies in one
 * GPC, and GPCs have different numbers of multiprocessors: of an H200's 132, clusters of 2 use all, clusters
 * of 3 use 117, clusters of 4 and of 8 use 120. On an H100, 30 clusters of 4 take one round and 32 take
 * two. */
static inline double model_cluster_cus(double n_cu, double cluster)
{
    const double usable = cluster > 2 ? n_cu * 120 / 132 : n_cu;
    return cluster > 1 && usable >= cluster ? (double)(int64_t)(usable / cluster) * cluster : n_cu;
}

static inline double model_cus(const ModelKernel *k, const ModelDevice *d)
{
    const double cluster = (double)k->cluster_m * k->cluster_n;
    return model_cluster_cus(d->n_cu, k->split_kind == MODEL_SPLIT_CLUSTER ? cluster * k->split : cluster);
}

/* The typical rates of a class; the i-th row's name. */
ModelRates model_rates(ModelClass c);
const char *model_rate_name(int i);
const char *model_class_name(ModelClass c);

/* The part of the L2 cache in which A and B stay between rounds of work-groups. */
#define MODEL_RESIDENT 0.7
/* Parts of model_time (model_parts.c), of which model_lanes.c makes times of many kernels, too: clocks of the
 * stores of a tile; of waiting for the other work-groups of a cluster in each chunk of K. */
double model_store_clocks(const ModelKernel *k, const ModelDevice *d, const ModelRates *r, int32_t align_d,
                          bool reads_c);
double model_wait_clocks(const ModelKernel *k, const ModelRates *r);
/* Adding up parts of K, by a kernel that clears D or by one that reads the workspace: its launch, and bytes
 * for each element of D at one of two rates, that of results which the L2 cache holds or of others. */
typedef struct {
    double launch_s, element_bytes, l2_rate, dram_rate;
} ModelSums;
ModelSums model_sums(const ModelKernel *k, const ModelDevice *d, const ModelRates *r);
/* Clocks of a chunk of K of one work-group: multiply-adds; local memory and the accesses that fill it; the
 * least for waits and dependent steps. align: of the operands, as of a ModelSize. */
typedef struct {
    double math, local, latency;
} ModelChunk;
ModelChunk model_chunk(const ModelKernel *k, const ModelDevice *d, const ModelRates *r, int32_t align_a,
                       int32_t align_b);
/* Whether the numbers of a GPU's kernel depend on a size by its alignments and its tiles alone: not of
 * kernels that keep pixels or have other sides, nor of tiles with less than a sector of the L2 cache in a
 * row. Seconds of a round in which parts of a tile wait for parts that do not run yet. */
bool model_is_plain(const ModelKernel *k);
double model_late_seconds(const ModelKernel *k);
/* Whether a kernel copies an operand first, by its ModelPack: always, or where the copy engine cannot read
 * it; and seconds of copying an element, which is read and written. */
bool model_is_copied(int32_t pack, int32_t align);
/* False: the copy engine cannot read operands of these alignments, and nothing copies them first. */
static inline bool model_can_read(const ModelKernel *k, int32_t align_a, int32_t align_b)
{
    return k->class != MODEL_ENGINE ||
           ((align_a >= MODEL_ENGINE_ALIGN || (k->pack_a & MODEL_PACK_MASK) != MODEL_PACK_NEVER) &&
            (align_b >= MODEL_ENGINE_ALIGN || (k->pack_b & MODEL_PACK_MASK) != MODEL_PACK_NEVER));
}
double model_copy_seconds(const ModelKernel *k, const ModelDevice *d, const ModelRates *r);
/* Bytes that the L2 cache gives for a chunk of K of one work-group of that size; NULL: the least for any size
 * of these alignments. */
double model_l2_bytes(const ModelKernel *k, int32_t align_a, int32_t align_b, const ModelSize *z);
/* How pixels come to local memory: one of MODEL_PIXELS; 0: as other operands. */
static inline int32_t model_pixels(const ModelKernel *k)
{
    const int32_t a = k->pack_a & MODEL_PACK_MASK, b = k->pack_b & MODEL_PACK_MASK, how = a > b ? a : b;
    return k->class != MODEL_HOST && how >= MODEL_PIXELS_KEPT ? how : 0;
}
/* Whether the kernel has other sides and matrices than the problem. */
static inline bool model_has_other_sides(const ModelKernel *k)
{
    return k->class != MODEL_HOST &&
           (((k->pack_a | k->pack_b) & MODEL_BATCH_MASK) != 0 || model_pixels(k) == MODEL_PIXELS_KEPT);
}

/* The taps of a stage that share an operand's pixels. */
static inline int32_t model_taps(int32_t pack) { return 1 + pack / MODEL_TAPS; }
static inline bool model_is_kept(int32_t pack) { return (pack & MODEL_PACK_MASK) == MODEL_PIXELS_KEPT; }
/* ModelSize.once_a or once_b, where it is known. */
static inline double model_once(double once) { return once > 0 ? once : 1; }
/* The size as the kernel has it (model_sides.c). groups: rows of all groups are one side; *wide: times the
 * channels of a row's group that a warp multiplies it by. */
ModelSize model_sides(const ModelKernel *k, const ModelSize *size, double *wide, bool *groups);

/* Of a host kernel, elements of M (load: load_a, unit: unit_m) or of N that are multiplied at once: at an
 * edge as many whole ones of them as there are. */
double model_host_step(int32_t load, int32_t bytes_ab, int32_t unit);
/* Floating-point operations of a clock that a host kernel reaches by its vectors. Some processors start two
 * multiply-adds of half the widest vectors in the time of one of the widest, others have two units for either
 * (ModelRates.slow: 2, 1). */
double model_host_rate(const ModelKernel *k, const ModelRates *r);

/* False when numbers of a file lie outside of what model_time accepts. */
bool model_kernel_ok(const ModelKernel *k);
bool model_device_ok(const ModelDevice *d);
bool model_rates_ok(const ModelRates *r);

/* Of a GPU's kernel, what the model's time takes from the size's alignments alone, so that it is made once
 * for many sizes. Alignments are powers of two up to MODEL_ALIGN_MAX, by their logarithm. */
enum { MODEL_ALIGNS = 8 };
typedef struct {
    double math_s, local_s, latency_s; /* seconds of a chunk of K of one work-group by itself */
    double l2_bytes;                   /* of the chunk */
    double l2_s, l2_all_s;             /* of the L2 cache for one compute unit, and for all in all */
} ModelReadyChunk;
typedef struct {
    bool usable; /* false: the kernel's numbers depend on the sizes in other ways too */
    double cus, waits_s, dram_s, fill_s;
    ModelReadyChunk chunk[MODEL_ALIGNS][MODEL_ALIGNS]; /* by the alignments of A and B */
    double store_s[MODEL_ALIGNS][2]; /* of a tile, by the alignment of D; without and with C */
} ModelReady;
void model_ready(const ModelKernel *k, const ModelDevice *d, const ModelRates *r, ModelReady *out);
/* The same as model_time, but that term, binds, l2_read and dram_read may stay as they are. */
double model_time_ready(const ModelReady *ready, const ModelKernel *k, const ModelDevice *d,
                        const ModelRates *r, const ModelSize *size, ModelTime *out);

/* Predicted seconds. out may be NULL. About 100 ns. */
double model_time(const ModelKernel *k, const ModelDevice *d, const ModelRates *r, const ModelSize *size,
                  ModelTime *out);

#endif
