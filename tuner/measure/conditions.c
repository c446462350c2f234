/* Conditions of solutions on sizes. See conditions.h. */
#include "measure/conditions.h"

#include <math.h>
#include <stdlib.h>

#include "problem/copy_engine.h"
#include "problem/pack.h"
#include "problem/problem.h"
#include "space/wgmma.h"

enum { CONDITIONS_MAX = 64 };

struct Conditions {
    const ProblemType *pt;
    Arena arena, scratch;
    Contraction *shape; /* sizes, strides and types; other members are not asked for */
    double max_workspace;
    const PredOp *leaf[CONDITIONS_MAX];
    size_t n;
    unsigned n_maps;     /* tensor maps: of A and B, with EngineStore of C and D */
    int32_t copied;      /* bits of A and B: PackOperands */
    bool sums;           /* parts of K are added up by another kernel */
    double sums_of_d;    /* bytes in the workspace for an element of D */
    double copied_bytes; /* of an element of A or B that is copied */
    int32_t tile[2];     /* to whose multiples D is padded in the workspace */
};

static bool is_of_sizes(PredId id)
{
    static const PredId ids[] = {PRED_FREE0_MULTIPLE, PRED_FREE1_MULTIPLE, PRED_BOUND_MULTIPLE,
                                 PRED_LEADING_FREE0,  PRED_LEADING_FREE1,  PRED_SIZE_EQUAL,
                                 PRED_SIZE_GREATER,   PRED_SIZE_LESS,      PRED_SIZE_MULTIPLE,
                                 PRED_LOAD_LIMIT,     PRED_STORE_LIMIT,    PRED_GSU_MIN_K};
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
        if (ids[i] == id) return true;
    return false;
}

static void shape_of(const ProblemType *pt, const ProblemSize *z, Contraction *out)
{
    int64_t s[4][INDEX_MAX] = {{0}};
    contraction_gemm(out, pt->TransposeA, pt->TransposeB, size_m(pt, z), size_n(pt, z), size_k(pt, z),
                     size_batch(pt, z));
    for (int t = 0; t < 4; t++) size_strides(pt, z, t, s[t]);
    DataType a, b;
    problem_ab_types(pt, &a, &b);
    contraction_types(out, a, b, (unsigned)pt->DestDataType, (unsigned)pt->DestDataType,
                      (unsigned)pt->ComputeDataType);
    contraction_strides(out, s[LD_A][1], s[LD_B][1], s[LD_C][1], s[LD_D][1], s[LD_A][2], s[LD_B][2],
                        s[LD_C][2], s[LD_D][2]);
}

Err conditions_new(const ProblemType *pt, const ProblemSize *size, size_t n_sizes, int64_t max_workspace,
                   Conditions **out)
{
    Conditions *c = *out = calloc(1, sizeof *c);
    TRY_ALLOC(c);
    c->pt = pt;
    c->max_workspace = max_workspace > 0 ? (double)max_workspace : (double)INFINITY;
    arena_init(&c->arena, 0);
    arena_init(&c->scratch, 0);
    c->shape = ARENA_ARRAY(&c->arena, n_sizes, Contraction);
    TRY_ALLOC(c->shape);
    for (size_t z = 0; problem_is_gemm(pt) && z < n_sizes; z++) shape_of(pt, &size[z], &c->shape[z]);
    return 0;
}

void conditions_free(Conditions *c)
{
    if (!c) return;
    arena_fini(&c->arena);
    arena_fini(&c->scratch);
    free(c);
}

/* Takes the conditions that libraries do not write as predicates: those of tensor maps and of the
 * workspace. */
static void take_launch(Conditions *c, const Solution *s)
{
    const bool engine = s->NvRing == 1 && wgmma_is(s);
    const int32_t acc = s->GlobalAccumulation, split = s->GlobalSplitU > 1 ? s->GlobalSplitU : 1;
    const double sum = type_bytes((DataType)c->pt->ComputeDataType);
    c->n_maps = !engine ? 0 : s->EngineStore ? 4 : 2;
    c->copied = engine ? s->PackOperands : 0;
    c->sums = acc == GACC_SINGLE || acc == GACC_MULTIPLE;
    c->sums_of_d = acc == GACC_NONE ? 0 : acc == GACC_SINGLE ? sum : split > 1 ? sum * split : 0;
    c->copied_bytes = c->copied ? type_bytes((DataType)c->pt->DataType) : 0;
    c->tile[0] = acc == GACC_PARTIALS ? s->MacroTile0 : 1;
    c->tile[1] = acc == GACC_PARTIALS ? s->MacroTile1 : 1;
}

static double padded(int64_t n, int32_t tile) { return ceil((double)n / tile) * tile; }

static bool launch_fits(const Conditions *c, const Contraction *p)
{
    for (unsigned t = 0; t < c->n_maps; t++)
        if (!engine_map_fits(p, t, c->copied & 1 << t, c->sums)) return false;
    double elements = padded(p->m, c->tile[0]) * padded(p->n, c->tile[1]) * c->sums_of_d;
    for (unsigned t = 0; t < 2; t++)
        if (c->copied & 1 << t && !engine_takes(p, t))
            elements += (double)(t ? p->n : p->m) * (double)p->k * c->copied_bytes;
    return elements * (double)p->batch <= c->max_workspace;
}

/* The predicate of a solution is an And of leaves, and of Ands of leaves. */
bool conditions_take(Conditions *c, const Solution *s)
{
    const PredOp *ops;
    arena_reset(&c->scratch);
    c->n = 0;
    c->n_maps = 0;
    if (!problem_is_gemm(c->pt)) return true;
    take_launch(c, s);
    if (pred_from_solution(&c->scratch, s, false, STR(""), &ops)) return false;
    for (uint32_t i = 0; i < ops->span && c->n < CONDITIONS_MAX; i++)
        if (ops[i].n_children == 0 && is_of_sizes((PredId)ops[i].id)) c->leaf[c->n++] = &ops[i];
    return true;
}

bool conditions_hold(const Conditions *c, size_t size)
{
    for (size_t i = 0; i < c->n; i++)
        if (!pred_holds(c->leaf[i], &c->shape[size])) return false;
    return !problem_is_gemm(c->pt) || launch_fits(c, &c->shape[size]);
}
