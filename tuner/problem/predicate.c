/* Predicates: the table, building lists of them, evaluation. Reading and writing is in predicate_io.c, what a
 * solution asks for in predicate_solution.c. */
#include "problem/predicate.h"

#include <string.h>

#include "base/hash.h"
#include "problem/datatype.h"

/* ---- problems ---- */

uint64_t operation_code(Str identifier) { return hash64(identifier); }

uint64_t operation_code_gemm(bool trans_a, bool trans_b, bool conj_a, bool conj_b, bool batched)
{
    return operation_code_fused(trans_a, trans_b, conj_a, conj_b, batched, &(Fused){.bias = ALONG_NONE});
}

uint64_t operation_code_fused(bool trans_a, bool trans_b, bool conj_a, bool conj_b, bool batched,
                              const Fused *fused)
{
    char text[64 + FUSED_SUFFIX_MAX];
    size_t n = 0;
    const char *k = batched ? "k" : "";
    const char *part[] = {"Contraction_l_A",
                          trans_a ? "li" : "il",
                          k,
                          conj_a ? "C" : "",
                          "_B",
                          trans_b ? "jl" : "lj",
                          k,
                          conj_b ? "C" : "",
                          "_Cij",
                          k,
                          "_Dij",
                          k};
    for (size_t i = 0; i < sizeof part / sizeof *part; i++)
        for (const char *s = part[i]; *s; s++) text[n++] = *s;
    n += fused_suffix(fused, text + n);
    return hash64((Str){text, n});
}

void contraction_gemm(Contraction *p, bool trans_a, bool trans_b, int64_t m, int64_t n, int64_t k,
                      int64_t batch)
{
    memset(p, 0, sizeof *p);
    p->m = m;
    p->n = n;
    p->k = k;
    p->batch = batch;
    p->trans_a = trans_a;
    p->trans_b = trans_b;
    p->operation = operation_code_gemm(trans_a, trans_b, false, false, true);
    p->batched = p->strided_batched = p->eligible_for_persistent = true;
    p->workspace_bytes = UINT64_MAX;
    p->alpha = p->beta = SCALAR_ANY;
    p->language = LANGUAGE_ANY;
    p->arithmetic_unit = UNIT_ANY;
    p->metric = METRIC_AUTO;
    contraction_types(p, TYPE_S, TYPE_S, TYPE_S, TYPE_S, TYPE_S);
    int64_t lda = trans_a ? k : m, ldb = trans_b ? n : k;
    contraction_strides(p, lda, ldb, m, m, lda * (trans_a ? m : k), ldb * (trans_b ? k : n), m * n, m * n);
}

void contraction_strides(Contraction *p, int64_t lda, int64_t ldb, int64_t ldc, int64_t ldd, int64_t batch_a,
                         int64_t batch_b, int64_t batch_c, int64_t batch_d)
{
    p->a[0] = p->b[0] = p->c[0] = p->d[0] = 1;
    p->a[1] = lda;
    p->b[1] = ldb;
    p->c[1] = ldc;
    p->d[1] = ldd;
    p->a[2] = batch_a;
    p->b[2] = batch_b;
    p->c[2] = batch_c;
    p->d[2] = batch_d;
}

void contraction_types(Contraction *p, unsigned a, unsigned b, unsigned c, unsigned d, unsigned compute)
{
    p->types = types_pack(a, b, c, d);
    p->compute_type = (uint8_t)compute;
    p->f32_xdl = TYPE_S;
    /* As in rocBLAS: the compute type is wider than the input; packed int8 counts as narrower than int32. */
    p->high_precision_accumulate = compute != a && !type_info((DataType)a)->complex;
}

static DataType type_of(const Contraction *p, unsigned tensor)
{
    unsigned t = p->types >> (8 * tensor) & 0xff;
    return t < TYPE_COUNT ? (DataType)t : TYPE_S;
}

double contraction_flops(const Contraction *p)
{
    double flops = 2.0 * (double)p->m * (double)p->n * (double)p->k * (double)p->batch;
    return type_info(type_of(p, 0))->complex ? 4 * flops : flops;
}

double contraction_intensity(const Contraction *p)
{
    double m = (double)p->m, n = (double)p->n, k = (double)p->k, batch = (double)p->batch;
    double bytes = batch * (m * k * type_bytes(type_of(p, 0)) + n * k * type_bytes(type_of(p, 1)) +
                            m * n * type_bytes(type_of(p, 3)));
    if (p->beta != SCALAR_ZERO) bytes += batch * m * n * type_bytes(type_of(p, 2));
    return bytes > 0 ? contraction_flops(p) / bytes : 0;
}

/* ---- functions of the table's expressions; a test of a size that the problem does not have is false ---- */

static bool multiple_of(int64_t size, int64_t value) { return size >= 0 && value > 0 && size % value == 0; }
static bool less_than(int64_t size, int64_t value) { return size >= 0 && size < value; }
static bool in_range(int64_t size, int64_t min, int64_t max)
{
    return size >= 0 && size >= min && size < max;
}
/* Size of index number `index` of a group, in the order of the tensors and of D; -1: there is none. */
static int64_t group_size(const Contraction *p, IndexGroup group, int index)
{
    const IndexList *g = &p->dims->indices.group[group];
    if (group == INDICES_K) index = index < 0 ? 0 : g->n - 1 - index; /* the fastest one is the last */
    return index >= 0 && index < g->n ? p->dims->size[g->v[index]] : -1;
}
static int64_t free_size(const Contraction *p, int index, IndexGroup group)
{
    if (p->dims) return group_size(p, group, index);
    return index ? -1 : group == INDICES_M ? p->m : p->n;
}
static int64_t batch_size(const Contraction *p, int index)
{
    if (p->dims) return group_size(p, INDICES_BATCH, index);
    return index == 0 && p->batched ? p->batch : -1;
}
static int64_t bound_size(const Contraction *p, int index)
{
    if (p->dims) return group_size(p, INDICES_K, index);
    return index == 0 || index == -1 ? p->k : -1;
}

static int64_t any_size(const Contraction *p, int index)
{
    if (p->dims) return index >= 0 && index < p->dims->indices.n ? p->dims->size[index] : -1;
    switch (p->batched ? index : index == 2 ? 3 : index) {
    case 0:
        return p->m;
    case 1:
        return p->n;
    case 2:
        return p->batch;
    case 3:
        return p->batched || index == 2 ? p->k : -1;
    default:
        return -1;
    }
}

static int64_t max_size(const Contraction *p)
{
    int64_t max = p->m > p->n ? p->m : p->n;
    for (int32_t i = 0; p->dims && i < p->dims->indices.n; i++)
        max = i && max > p->dims->size[i] ? max : p->dims->size[i];
    if (p->dims) return max;
    if (p->batched && p->batch > max) max = p->batch;
    return p->k > max ? p->k : max;
}

static bool stride_is(const Contraction *p, int tensor, int index, int64_t value)
{
    if (p->dims)
        return index >= 0 && index < p->dims->indices.tensor[tensor].n &&
               p->dims->stride[tensor][index] == value;
    const int64_t *stride = tensor == 0 ? p->a : tensor == 1 ? p->b : tensor == 2 ? p->c : p->d;
    return index >= 0 && index < (p->batched ? 3 : 2) && stride[index] == value;
}

static bool cd_strides_equal(const Contraction *p)
{
    if (p->dims) return !memcmp(p->dims->stride[2], p->dims->stride[3], sizeof p->dims->stride[2]);
    return p->c[0] == p->d[0] && p->c[1] == p->d[1] && (!p->batched || p->c[2] == p->d[2]);
}

static bool ldc_equals_ldd(const Contraction *p)
{
    return p->dims ? p->dims->stride[2][1] == p->dims->stride[3][1] : p->c[1] == p->d[1];
}

static bool scalar_is(uint8_t scalar, int64_t wanted) { return wanted == SCALAR_ANY || scalar == wanted; }
static bool compatible(uint8_t allowed, int64_t mine) { return allowed == 0 || allowed == mine; }

static bool below_4g(int64_t stride, int64_t n, int64_t plus)
{
    uint64_t product;
    return stride >= 0 && n >= 0 && plus >= 0 &&
           !__builtin_mul_overflow((uint64_t)stride, (uint64_t)n, &product) &&
           !__builtin_add_overflow(product, (uint64_t)plus, &product) && product < UINT64_C(1) << 32;
}

static bool load_offsets_fit(const Contraction *p, const PredOp *o)
{
    if (p->dims)
        return below_4g(p->dims->stride[0][1], o->v.lim[2], o->v.lim[0]) &&
               below_4g(p->dims->stride[1][1], o->v.lim[3], o->v.lim[1]);
    return below_4g(p->a[1], o->v.lim[2], o->v.lim[0]) && below_4g(p->b[1], o->v.lim[3], o->v.lim[1]);
}

static bool store_offsets_fit(const Contraction *p, int64_t mt1)
{
    const int64_t stride = p->dims ? p->dims->stride[3][1] : p->d[1];
    return stride < INT64_C(1) << 40 && below_4g(stride * type_bytes(type_of(p, 3)), mt1, 0);
}

static bool wants_cu_efficiency(const Contraction *p)
{
    if (p->metric == METRIC_AUTO) return contraction_flops(p) < 2.0 * 1500 * 1500 * 1500;
    return p->metric == METRIC_CU_EFFICIENCY;
}

/* ---- evaluation ---- */

static inline bool leaf_holds(const PredOp *o, const Contraction *p)
{
    switch ((PredId)o->id) {
#define PRED(id, name, kind, holds)                                                                          \
    case PRED_##id:                                                                                          \
        return holds;
#include "problem/predicate.def"
#undef PRED
    default:
        return true; /* the library evaluates WorkspaceCheck with the solution */
    }
}

bool pred_holds(const PredOp *o, const Contraction *p)
{
    if (o->id < PRED_AND || o->id > PRED_NOT) return leaf_holds(o, p);
    const PredOp *child = o + 1;
    if (o->id == PRED_NOT) return !pred_holds(child, p);
    bool stop = o->id == PRED_OR;
    for (unsigned i = 0; i < o->n_children; i++, child += child->span)
        if (pred_holds(child, p) == stop) return stop;
    return !stop;
}

/* ---- building ---- */

const char *pred_name(PredId id)
{
    static const char *const names[PRED_COUNT] = {
#define PRED(id, name, kind, holds) [PRED_##id] = name,
#include "problem/predicate.def"
#undef PRED
        [PRED_AND] = "And",
        [PRED_OR] = "Or",
        [PRED_NOT] = "Not",
        [PRED_WORKSPACE] = "WorkspaceCheck",
    };
    return (unsigned)id < PRED_COUNT ? names[id] : "?";
}

Err pred_push(PredList *l, PredOp op)
{
    if (l->n == PRED_OPS_MAX) FAIL(ERR_INPUT, "more than %d predicates in one", PRED_OPS_MAX);
    TRY_ALLOC(l->op = arena_grow(l->arena, l->op, l->n, sizeof *l->op));
    op.span = 1;
    l->op[l->n++] = op;
    return ERR_OK;
}

Err pred_add(PredList *l, PredId id, int index, int64_t value)
{
    return pred_push(l, (PredOp){.id = (uint8_t)id, .index = (int8_t)index, .v.i = {value, 0}});
}

Err pred_add_limits(PredList *l, int shift_a, int shift_b, int du_or_mt0, int du_or_mt1)
{
    return pred_push(l, (PredOp){.id = PRED_LOAD_LIMIT, .v.lim = {shift_a, shift_b, du_or_mt0, du_or_mt1}});
}

Err pred_add_operation(PredList *l, Str identifier)
{
    Str copy = arena_dup(l->arena, identifier);
    TRY_ALLOC(copy.s);
    return pred_push(l, (PredOp){.id = PRED_OPERATION, .v.op = {operation_code(copy), copy.s}});
}

Err pred_finish(PredList *l, const PredOp **out)
{
    if (l->n == 0) TRY(pred_add(l, PRED_TRUE, 0, 0));
    if (l->n == 1) {
        *out = l->op;
        return ERR_OK;
    }
    PredOp *all = ARENA_ARRAY(l->arena, l->n + 1, PredOp);
    TRY_ALLOC(all);
    unsigned n_children = 0;
    for (size_t i = 0; i < l->n; i += l->op[i].span) n_children++;
    all[0] = (PredOp){.id = PRED_AND, .n_children = (uint16_t)n_children, .span = (uint32_t)l->n + 1};
    memcpy(all + 1, l->op, l->n * sizeof *all);
    *out = all;
    return ERR_OK;
}
