/* Conditions of solutions on sizes. See conditions.h. */
#include "measure/conditions.h"

#include <stdlib.h>

#include "problem/predicate.h"
#include "problem/problem.h"

enum { CONDITIONS_MAX = 64 };

struct Conditions {
    const ProblemType *pt;
    Arena arena, scratch;
    Contraction *shape; /* sizes and strides; other members are not asked for */
    const PredOp *leaf[CONDITIONS_MAX];
    size_t n;
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
    contraction_strides(out, s[LD_A][1], s[LD_B][1], s[LD_C][1], s[LD_D][1], s[LD_A][2], s[LD_B][2],
                        s[LD_C][2], s[LD_D][2]);
}

Err conditions_new(const ProblemType *pt, const ProblemSize *size, size_t n_sizes, Conditions **out)
{
    Conditions *c = *out = calloc(1, sizeof *c);
    TRY_ALLOC(c);
    c->pt = pt;
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

/* The predicate of a solution is an And of leaves, and of Ands of leaves. */
bool conditions_take(Conditions *c, const Solution *s)
{
    const PredOp *ops;
    arena_reset(&c->scratch);
    c->n = 0;
    if (!problem_is_gemm(c->pt)) return true;
    if (pred_from_solution(&c->scratch, s, false, STR(""), &ops)) return false;
    for (uint32_t i = 0; i < ops->span && c->n < CONDITIONS_MAX; i++)
        if (ops[i].n_children == 0 && is_of_sizes((PredId)ops[i].id)) c->leaf[c->n++] = &ops[i];
    return true;
}

bool conditions_hold(const Conditions *c, size_t size)
{
    for (size_t i = 0; i < c->n; i++)
        if (!pred_holds(c->leaf[i], &c->shape[size])) return false;
    return true;
}
