/* Predicates: the conditions of master solution libraries, as one table (predicate.def) for writers and
 * readers, and the problem to which they are applied (Contraction).
 *
 * A predicate is a compact array of PredOp: leaves, and And/Or/Not followed by their operands. It is read
 * from a file's node, built by hand (PredList) or derived from a solution, written with predicate_emit and
 * evaluated without allocation. Hardware predicates ({type: AMDGPU, value: ...}) are evaluated once, when a
 * library is read. CPUs and NVIDIA GPUs are written in the same form as AMD's ({type: AMDGPU, value: {type:
 * Processor, value: sm_90}}): readers that do not know the name skip the row. The choice among rows is in
 * client/runtime/library.h.
 */
#ifndef MODEL_PREDICATE_H
#define MODEL_PREDICATE_H

#include "base/arena.h"
#include "fmt/msgpack_scan.h"
#include "fmt/node.h"
#include "problem/fused.h"
#include "problem/indices.h"

typedef struct Emit Emit;
typedef struct Solution Solution;

/* What is known of a scalar; the values of AlphaValue and BetaValue are SCALAR_ANY, SCALAR_ONE,
 * SCALAR_NEG_ONE. */
enum { SCALAR_ANY, SCALAR_ZERO, SCALAR_ONE, SCALAR_NEG_ONE };
enum { LANGUAGE_ANY, LANGUAGE_SOURCE, LANGUAGE_ASSEMBLY };
enum { UNIT_ANY, UNIT_MFMA, UNIT_VALU };
/* Purpose of a selection. The experimental purposes select among rows that decision trees or grids of sizes
 * made. */
enum {
    METRIC_AUTO,
    METRIC_CU_EFFICIENCY,
    METRIC_DEVICE_EFFICIENCY,
    METRIC_EXPERIMENTAL_GRID,
    METRIC_EXPERIMENTAL_DTREE
};

/* A GEMM for selection and launch: D[i,j,b] = alpha * sum_l A B + beta * C. Strides are in elements and
 * indexed [0] of the contiguous index (1), [1] leading dimension, [2] batch (0 when not strided batched).
 * Zero it, then fill it in: equal problems have equal bytes. Types are DataType numbers.
 *
 * Of another contraction m, n, batch and k are the products of its groups' sizes (problem/indices.h), `dims`
 * has all sizes and strides, and a, b, c, d and trans_ are not used. */
typedef struct {
    int64_t m, n, batch, k; /* k is 0 when alpha is 0, as in rocBLAS */
    int64_t a[3], b[3], c[3], d[3];
    const IndexSizes *dims;   /* NULL: a GEMM */
    uint64_t operation;       /* operation_code of the identifier */
    uint64_t workspace_bytes; /* available workspace */
    uint32_t types;           /* types_pack(a, b, c, d) */
    uint8_t compute_type;     /* of alpha and beta */
    uint8_t f32_xdl;          /* DataType: TYPE_S, or TYPE_X when xf32 math is wanted */
    uint8_t alpha, beta;      /* SCALAR_ */
    uint8_t language, arithmetic_unit, metric;
    bool trans_a, trans_b; /* A is transposed: a[1] is the stride of M and not of K */
    bool batched;          /* the operation has a batch index */
    bool strided_batched;  /* false: arrays of pointers */
    bool c_equals_d;
    bool high_precision_accumulate;
    bool deterministic;
    bool stochastic_rounding;
    bool fp16_alt, fp16_alt_round;
    bool eligible_for_persistent;
    uint8_t unaligned; /* bit t: the address of tensor t (A, B, C, D) is no multiple of 16 bytes */
    uint8_t unused[9]; /* 0: the struct has no padding */
} Contraction;
_Static_assert(sizeof(Contraction) == 184, "Contraction is hashed and compared as bytes");

static inline uint32_t types_pack(unsigned a, unsigned b, unsigned c, unsigned d)
{
    return (uint32_t)(a | b << 8 | c << 16 | d << 24);
}
/* A hash of "Contraction_l_Ailk_Bljk_Cijk_Dijk". */
uint64_t operation_code(Str identifier);
/* The same hash for a GEMM, computed without the text; conj requires trans, as in BLAS. */
uint64_t operation_code_gemm(bool trans_a, bool trans_b, bool conj_a, bool conj_b, bool batched);
/* The same with the suffix of fused operations. Allocates nothing. */
uint64_t operation_code_fused(bool trans_a, bool trans_b, bool conj_a, bool conj_b, bool batched,
                              const Fused *fused);

/* Fills in a strided-batched GEMM: sizes, leading dimensions and batch strides as in BLAS; [0] strides 1,
 * flags at rocBLAS's defaults (batched operation, any language, persistent kernels allowed, unlimited
 * workspace). */
void contraction_gemm(Contraction *p, bool trans_a, bool trans_b, int64_t m, int64_t n, int64_t k,
                      int64_t batch);
void contraction_strides(Contraction *p, int64_t lda, int64_t ldb, int64_t ldc, int64_t ldd, int64_t batch_a,
                         int64_t batch_b, int64_t batch_c, int64_t batch_d);
void contraction_types(Contraction *p, unsigned a, unsigned b, unsigned c, unsigned d, unsigned compute);
/* 2*M*N*K*batch, times 4 for complex types; and that divided by the bytes of A, B, C and D. */
double contraction_flops(const Contraction *p);
double contraction_intensity(const Contraction *p);

/* ---- the table ---- */

typedef enum {
#define PRED(id, name, kind, holds) PRED_##id,
#include "problem/predicate.def"
#undef PRED
    PRED_AND,
    PRED_OR,
    PRED_NOT,
    PRED_WORKSPACE, /* task predicate, evaluated with the solution (library.h) */
    PRED_COUNT
} PredId;

/* One leaf, or And/Or/Not whose operands follow; span counts this op and all below it. */
typedef struct {
    uint8_t id;
    int8_t index;        /* of indexed predicates; -1: last */
    uint16_t n_children; /* And, Or, Not */
    uint32_t span;
    union {
        int64_t i[2];
        uint64_t u[2];
        double r[2];
        int32_t lim[4]; /* ShiftPtrElemA, ShiftPtrElemB, DUorMT0, DUorMT1 */
        struct {
            uint64_t code;
            const char *text; /* operation identifier, NUL-terminated */
        } op;
    } v;
} PredOp;

typedef struct {
    Arena *arena;
    PredOp *op;
    size_t n;
} PredList;

/* Bounds for files: operands of an And or Or, depth, ops. */
enum { PRED_CHILDREN_MAX = 256, PRED_DEPTH_MAX = 16, PRED_OPS_MAX = 4096 };

const char *pred_name(PredId id);

/* ---- building ---- */

/* Adds a leaf; index is 0 for predicates without one. Fails only when memory is exhausted. */
Err pred_add(PredList *l, PredId id, int index, int64_t value);
Err pred_add_limits(PredList *l, int shift_a, int shift_b, int du_or_mt0, int du_or_mt1);
Err pred_add_operation(PredList *l, Str identifier);
/* Adds any op, for callers that copy lists. */
Err pred_push(PredList *l, PredOp op);
/* Wraps all leaves added so far: none becomes TruePred, several an And. */
Err pred_finish(PredList *l, const PredOp **out);

/* The problemPredicate of a derived solution, in the order of Tensile's writer (Tensile/Contractions.py,
 * ProblemPredicate). operation: operation identifier. checks_k: require a least K also without accumulation
 * in a workspace, as Tensile's writer does when _GlobalAccumulation of a logic file is false and not null. */
Err pred_from_solution(Arena *a, const Solution *s, bool checks_k, Str operation, const PredOp **out);

/* ---- files ---- */

/* Reads {type, [index], [value]}. Unknown types are ERR_INPUT with 'name:line: '. Texts are copied to the
 * arena. */
Err pred_parse(Arena *a, const char *name, const Node *n, const PredOp **out);
void predicate_emit(Emit *e, const PredOp *p);

/* The operands of the last And or Or that was scanned. Operands of consecutive predicates are often equal,
 * which the next scan recognises without parsing. Zero it before the first scan. */
enum { PRED_SCAN_PARTS = 64 };
typedef struct {
    Str part[PRED_SCAN_PARTS];
    uint16_t n_ops[PRED_SCAN_PARTS];
    size_t n;
} PredScan;
/* True when pred_parse accepts the next object; *id: its outermost type. False when it may refuse it. known
 * may be NULL; its texts point into the scanned bytes. */
bool pred_scan(Scan *s, PredScan *known, PredId *id);

/* ---- evaluation ---- */

bool pred_holds(const PredOp *ops, const Contraction *p);
/* Prints the first leaf that fails, "Free0SizeMultiple(index 0, value 4)"; nothing when all hold. */
void pred_why_not(const PredOp *ops, const Contraction *p, Buf *out);

/* ---- hardware ---- */

/* Properties of a machine that a row may require; arch: name of a Target. */
typedef struct {
    Str arch;
    int64_t n_cu;
    bool is_apu;
} Hardware;

/* Evaluates {type: TruePred} or {type: AMDGPU, value: Processor | CUCount | IsAPU | And/Or/Not of them |
 * TruePred}. *names_arch (may be NULL): whether the predicate names hw->arch. */
Err hardware_pred_holds(const char *name, const Node *n, const Hardware *hw, bool *holds, bool *names_arch);
/* n_cu 0 and is_apu -1 are left out. An empty arch ("fallback") is TruePred. */
void hardware_pred_emit(Emit *e, Str arch, int64_t n_cu, int is_apu);

#endif
