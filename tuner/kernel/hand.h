/* What programs that people write have beside generated ones: the problem type, names of sizes, and the
 * numbers of ops as expressions of them. A generated program has its numbers in a GpuPlan or HostPlan
 * instead; both are one language with one parser.
 *
 * A program written by hand begins with
 *     program any              (or an architecture)
 *     title TEXT
 *     problem KEY VALUE ...    keys of a config's ProblemType; the kernel's arguments follow from it
 *     grid tile_m N tile_n N   a work-group for each tile of D
 *     param %M %N ...          sizes and strides that the program names
 * and goes on with tiles and ops. `tuner tile --help` lists all ops.
 */
#ifndef KERNEL_HAND_H
#define KERNEL_HAND_H

#include "kernel/program.h"
#include "problem/problem.h"

/* Sizes that `param` names, as kernels get them. K counts as 0 where alpha is 0: BLAS does not read A and B
 * then. WG0, WG1: column and row of tiles of D, WG2: the batch. */
typedef enum {
    HAND_M,
    HAND_N,
    HAND_K,
    HAND_LDA,
    HAND_LDB,
    HAND_LDC,
    HAND_LDD,
    HAND_WG0,
    HAND_WG1,
    HAND_WG2,
    HAND_PARAMS
} HandParam;
extern const char *const hand_params[HAND_PARAMS];

enum { HAND_MAX_NAMES = 64, HAND_MAX_LOOPS = 32, HAND_SLOTS = HAND_PARAMS + HAND_MAX_LOOPS };
enum { HAND_MAX_SIDE = 4096, HAND_MAX_ELEMENTS = 1 << 20, HAND_MAX_THREADS = 1024 };

/* An expression and its text. */
typedef struct {
    Str text;
    const Expr *e;
} HandNumber;

typedef enum { HAND_NUMBER, HAND_ALPHA, HAND_BETA } HandScalar;

/* What an op of such a program says beyond Op. */
struct HandArgs {
    int line;
    const char *name, *variable; /* of a loop's variable or a let; in kernels */
    int slot;                    /* of a loop's variable */
    const Expr *counter;         /* the variable */
    /* loop: from, to; let, shift_tile, if: value; init_tile: offsets, shape, strides, two each;
     * update_tile_offset: by row, by column */
    HandNumber n[6];
    bool transpose, has_padding, has_attributes;
    double padding;    /* load_tile: of elements outside of the base; scale_tile, fill_tile: the number */
    HandScalar scalar; /* scale_tile, if: by what */
    int32_t mma[3];    /* tile_mma: the matrix instruction's M, N, K; 0: free */
};

struct Hand {
    ProblemType type;
    Str problem; /* its clause's words */
    int32_t tile_m, tile_n;
    bool used[HAND_PARAMS]; /* params */
    ExprPool pool;
    int n_loops;
    int tile_line[PROGRAM_MAX_TILES];
};

/* The variable of a param, under the name that kernels have for it. */
const Expr *hand_param(ExprPool *pool, HandParam i);
/* Type of sums of products of elements: S for 16-bit types, I for I8, else the type itself. */
DataType hand_sum_type(const Hand *h);

#endif
