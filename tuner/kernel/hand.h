/* The parts of a program that only programs written by hand have: the problem type, names for sizes, and the
 * numbers of ops as expressions over those names. A generated program has its numbers in a GpuPlan or
 * HostPlan instead. Both are one language with one parser.
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

/* The sizes that `param` can name; kernels receive them as arguments. K is 0 where alpha is 0, because BLAS
 * does not read A and B then. WG0 and WG1 are the column and the row of the work-group's tile in D, WG2 is
 * its matrix in the batch. */
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

/* The arguments of an op of such a program that Op has no field for. */
struct HandArgs {
    int line;
    const char *name, *variable; /* of a loop's variable or a let, in the program and in kernels */
    int slot;                    /* of a loop's variable */
    const Expr *counter;         /* the variable */
    /* loop: from, to; let, shift_tile, if: value; init_tile: offsets, shape, strides, two each;
     * update_tile_offset: by row, by column */
    HandNumber n[6];
    bool transpose, has_padding, has_attributes;
    double padding;    /* load_tile: value of elements outside the base; scale_tile, fill_tile: the number */
    HandScalar scalar; /* the scalar of scale_tile and if */
    int32_t mma[3];    /* tile_mma: the matrix instruction's M, N, K; 0: any instruction */
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

/* Returns the variable of a param, with the name that it has in kernels. */
const Expr *hand_param(ExprPool *pool, HandParam i);
/* Returns the type in which products are summed: S for 16-bit types, I for I8, otherwise the type itself. */
DataType hand_sum_type(const Hand *h);

#endif
