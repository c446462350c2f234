/* Reads problem-size, the strides and the types into Problems. See problem_set.h. */
#include "client/worker/problem_set.h"

#include <string.h>

#include "client/worker/matrix_map.h"
#include "client/worker/number.h"
#include "problem/target.h"

static const int64_t SIZE_LIMIT = (INT64_C(1) << 31) - 1;

/* The contents of an identifier like "Contraction_l_Ailk_Bljk_Cijk_Dijk". */
typedef struct {
    bool trans_a, trans_b, conj_a, conj_b, batched;
    bool is_gemm; /* its indices are those of a GEMM */
    Indices indices;
    Fused fused;
} Operation;

static Err parse_identifier(const char *text, Operation *out)
{
    Str rest = str_from(text);
    bool trans[2];
    *out = (Operation){0};
    if (!fused_of_identifier(&rest, &out->fused))
        FAIL(ERR_INPUT, "problem-identifier '%s': the name after the indices is none of fused operations",
             text);
    Err e = indices_read(rest, &out->indices);
    if (e) return err_context(e, "problem-identifier ");
    out->is_gemm = indices_are_gemm(&out->indices, trans);
    out->trans_a = out->is_gemm && trans[0], out->trans_b = out->is_gemm && trans[1];
    out->conj_a = out->indices.conj[0], out->conj_b = out->indices.conj[1];
    out->batched = out->indices.group[INDICES_BATCH].n > 0;
    return 0;
}

static Err parse_ints(const char *option, Str text, int64_t *v, int max, int *n)
{
    Str rest = text, part;
    *n = 0;
    while (str_split(&rest, ',', &part)) {
        if (*n == max) FAIL(ERR_INPUT, "%s '%.*s': more than %d numbers", option, STR_ARG(text), max);
        if (!str_to_i64(str_trim(part), &v[(*n)++]))
            FAIL(ERR_INPUT, "%s '%.*s': '%.*s' is not an integer", option, STR_ARG(text), STR_ARG(part));
    }
    return 0;
}

static const char *const stride_names[TENSOR_COUNT] = {"a-strides", "b-strides", "c-strides", "d-strides"};

/* Strides of one tensor: as given; packed where they are -1 or absent. */
static Err read_strides(const char *option, const StrList *list, size_t i, Tensor *t)
{
    int64_t v[TENSOR_DIMS] = {-1, -1, -1};
    int n = 0;
    if (list->n) TRY(parse_ints(option, list->v[i], v, TENSOR_DIMS, &n));
    int64_t packed = 1;
    for (int d = 0; d < TENSOR_DIMS; d++) {
        if (v[d] < -1 || v[d] > INT64_C(1) << 40)
            FAIL(ERR_INPUT, "%s: stride %lld is out of range", option, (long long)v[d]);
        t->stride[d] = v[d] == -1 ? packed : v[d];
        packed = t->stride[d] * t->size[d];
    }
    if (t->stride[0] != 1)
        FAIL(ERR_INPUT, "%s: first stride %lld: only 1 is supported", option, (long long)t->stride[0]);
    Err e = tensor_finish(t);
    return e ? err_context(e, "%s: ", option) : 0;
}

/* Elements of an output must have distinct addresses. The matrices of a batch may be interleaved by
 * columns. */
static Err check_output(const Tensor *t, const char *option)
{
    const int inner = tensor_inner(t), outer = 3 - inner;
    int64_t lines = (t->size[inner] - 1) * t->stride[inner] + t->size[0];
    if ((t->size[inner] > 1 && t->stride[inner] < t->size[0]) ||
        (t->size[outer] > 1 && t->stride[outer] < lines))
        FAIL(ERR_INPUT, "%s: elements of D would overlap: strides %lld,%lld, sizes %lld,%lld,%lld", option,
             (long long)t->stride[1], (long long)t->stride[2], (long long)t->size[0], (long long)t->size[1],
             (long long)t->size[2]);
    return 0;
}

static void tensor_sizes(Problem *p, const Operation *op, int64_t m, int64_t n, int64_t batch, int64_t k)
{
    const int64_t a[2] = {op->trans_a ? k : m, op->trans_a ? m : k},
                  b[2] = {op->trans_b ? n : k, op->trans_b ? k : n};
    p->tensor[TENSOR_A] = (Tensor){.size = {a[0], a[1], batch}};
    p->tensor[TENSOR_B] = (Tensor){.size = {b[0], b[1], batch}};
    p->tensor[TENSOR_C] = p->tensor[TENSOR_D] = (Tensor){.size = {m, n, batch}};
}

static Matrix view(const Tensor *t, bool trans, bool conj)
{
    return (Matrix){.type = t->type,
                    .row = t->stride[trans ? 1 : 0],
                    .col = t->stride[trans ? 0 : 1],
                    .batch = t->stride[2],
                    .conj = conj};
}

static uint8_t scalar_kind(const double v[2])
{
    if (v[1] != 0) return SCALAR_ANY;
    return v[0] == 0 ? SCALAR_ZERO : v[0] == 1 ? SCALAR_ONE : v[0] == -1 ? SCALAR_NEG_ONE : SCALAR_ANY;
}

enum { SEED_ALPHA = 5, SEED_BETA = 6 };

static void fill_gemm(Problem *p, const ClientOptions *o, const Operation *op)
{
    Gemm *g = &p->gemm;
    const Contraction *c = &p->shape;
    *g = (Gemm){.m = c->m,
                .n = c->n,
                .batch = c->batch,
                .k = c->k * type_info(o->a_type)->packing,
                .compute = o->alpha_type,
                .out = o->d_type};
    g->a = view(&p->tensor[TENSOR_A], op->trans_a, op->conj_a);
    g->b = view(&p->tensor[TENSOR_B], op->trans_b, op->conj_b);
    g->b.packed_rows = true;
    g->c = view(&p->tensor[TENSOR_C], false, false);
    init_scalar(o->alpha_type, o->init_alpha, SEED_ALPHA, g->alpha);
    init_scalar(o->beta_type, o->init_beta, SEED_BETA, g->beta);
}

static uint8_t code_of(const char *text, const char *one, const char *two)
{
    return !strcmp(text, one) ? 1 : !strcmp(text, two) ? 2 : 0;
}

/* With alpha 0, k is 0 for selection and launch, because A and B are then not read (BLAS). */
static void fill_shape(Problem *p, const ClientOptions *o, const Operation *op, const char *identifier)
{
    Contraction *c = &p->shape;
    const int dims = o->strided_batched ? TENSOR_DIMS : TENSOR_DIMS - 1;
    for (int d = 0; d < dims && !c->dims; d++) { /* arrays of pointers have no batch stride */
        c->a[d] = p->tensor[TENSOR_A].stride[d];
        c->b[d] = p->tensor[TENSOR_B].stride[d];
        c->c[d] = p->tensor[TENSOR_C].stride[d];
        c->d[d] = p->tensor[TENSOR_D].stride[d];
    }
    c->operation = operation_code(str_from(identifier));
    c->workspace_bytes = (uint64_t)o->max_workspace;
    c->types = types_pack(o->a_type, o->b_type, o->c_type, o->d_type);
    c->compute_type = (uint8_t)o->alpha_type;
    c->f32_xdl = (uint8_t)o->f32_xdl;
    c->alpha = scalar_kind(p->gemm.alpha);
    c->beta = scalar_kind(p->gemm.beta);
    if (c->alpha == SCALAR_ZERO) c->k = 0;
    c->language = code_of(o->kernel_language, "Source", "Assembly");
    c->arithmetic_unit = code_of(o->arithmetic_unit, "MFMA", "VALU");
    c->metric = o->cu_efficiency ? METRIC_CU_EFFICIENCY : METRIC_DEVICE_EFFICIENCY;
    c->trans_a = op->trans_a;
    c->trans_b = op->trans_b;
    c->batched = op->batched;
    c->strided_batched = o->strided_batched;
    for (int t = 0; t < TENSOR_COUNT && o->strided_batched; t++) {
        enum { ALIGN = 16 }; /* of what tensors are allocated at, and the copy engine takes */
        if (p->offset[t] * type_bytes(p->tensor[t].type) % ALIGN) c->unaligned |= (uint8_t)(1u << t);
    }
    c->c_equals_d = o->c_equal_d;
    c->high_precision_accumulate = o->high_precision;
    c->deterministic = o->deterministic;
    c->stochastic_rounding = o->stochastic_rounding;
    c->fp16_alt = o->fp16_alt;
    c->fp16_alt_round = o->fp16_alt_round;
    c->eligible_for_persistent = true;
}

static const StrList *stride_lists(const ClientOptions *o, int t)
{
    const StrList *lists[TENSOR_COUNT] = {&o->a_strides, &o->b_strides, &o->c_strides, &o->d_strides};
    return lists[t];
}

static Err read_sizes(const ClientOptions *o, const Operation *op, const char *identifier, size_t i,
                      Problem *p)
{
    int64_t v[INDEX_MAX];
    int n;
    Str text = o->problem_sizes.v[i];
    TRY(parse_ints("problem-size", text, v, INDEX_MAX, &n));
    if (n != op->indices.n)
        FAIL(ERR_INPUT, "problem-size '%.*s': %d numbers, '%s' has %d", STR_ARG(text), n, identifier,
             op->indices.n);
    for (int d = 0; d < n; d++)
        if (v[d] < 1 || v[d] > SIZE_LIMIT)
            FAIL(ERR_INPUT, "problem-size '%.*s': %lld is not from 1 to %lld", STR_ARG(text), (long long)v[d],
                 (long long)SIZE_LIMIT);
    memset(p, 0, sizeof *p);
    p->n_sizes = n;
    p->fused = op->fused;
    memcpy(p->size, v, sizeof *v * (size_t)n);
    return 0;
}

static void tensor_types(const ClientOptions *o, Problem *p)
{
    const DataType types[TENSOR_COUNT] = {o->a_type, o->b_type, o->c_type, o->d_type};
    const int64_t offsets[TENSOR_COUNT] = {o->offset_a, o->offset_b, o->offset_c, o->offset_d};
    for (int t = 0; t < TENSOR_COUNT; t++) p->tensor[t].type = types[t], p->offset[t] = offsets[t];
}

/* ---- contractions that are no GEMM ---- */

/* Strides of one tensor, packed where they are -1 or absent. */
static Err read_dim_strides(const StrList *list, size_t i, int t, IndexSizes *x)
{
    const IndexList *l = &x->indices.tensor[t];
    int64_t v[INDEX_MAX], packed = 1;
    int n = 0;
    if (list->n) TRY(parse_ints(stride_names[t], list->v[i], v, INDEX_MAX, &n));
    if (n > l->n) FAIL(ERR_INPUT, "%s: %d strides, %c has %d indices", stride_names[t], n, "ABCD"[t], l -> n);
    for (int32_t d = 0; d < l->n; d++) {
        const int64_t stride = d < n && v[d] != -1 ? v[d] : packed;
        if (stride < 0 || stride > INT64_C(1) << 40)
            FAIL(ERR_INPUT, "%s: stride %lld is out of range", stride_names[t], (long long)stride);
        x->stride[t][d] = stride;
        packed = stride * x->size[l->v[d]];
    }
    return 0;
}

/* "free,sum,start,end;...": the indices' numbers, and the elements before and after the tensor. */
static Err read_pads(const char *option, Str text, int t, IndexSizes *x)
{
    Str one;
    while (text.n && str_split(&text, ';', &one)) {
        int64_t v[4] = {0};
        int n;
        const int32_t at = x->indices.n_pads[t];
        TRY(parse_ints(option, one, v, 4, &n));
        if (n != 4 || at == TUPLE_MAX)
            FAIL(ERR_INPUT, "%s '%.*s', expected up to %d pads of 4 numbers: free, sum, start, end", option,
                 STR_ARG(one), (int)TUPLE_MAX);
        const bool of_tensor = v[0] >= 0 && v[0] < x->indices.of_d && v[1] >= x->indices.of_d &&
                               v[1] < x->indices.n && indices_has(&x->indices, t, (int32_t)v[0]);
        if (!of_tensor || v[2] < 0 || v[3] < 0 || v[2] > SIZE_LIMIT || v[3] > SIZE_LIMIT)
            FAIL(ERR_INPUT, "%s '%.*s', expected a free and a summation index of %c and sizes from 0 to %lld",
                 option, STR_ARG(one), "AB"[t], (long long)SIZE_LIMIT);
        x->indices.pad[t][at].free = (int32_t)v[0], x->indices.pad[t][at].sum = (int32_t)v[1];
        x->pad_start[t][at] = v[2], x->pad_end[t][at] = v[3];
        x->indices.n_pads[t]++;
    }
    return 0;
}

/* Elements of D must have distinct addresses: by rising stride, each dimension steps over those before it. */
static Err check_dim_output(const IndexSizes *x)
{
    const IndexList *l = &x->indices.tensor[TENSOR_D];
    int32_t order[INDEX_MAX];
    int64_t before = 0;
    for (int32_t i = 0; i < l->n; i++) {
        int32_t at = i;
        for (; at > 0 && x->stride[TENSOR_D][order[at - 1]] > x->stride[TENSOR_D][i]; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    for (int32_t i = 0; i < l->n; i++) {
        const int64_t stride = x->stride[TENSOR_D][order[i]], size = x->size[l->v[order[i]]];
        if (size > 1 && stride <= before)
            FAIL(ERR_INPUT, "d-strides: elements of D would overlap: stride %lld of index %d, size %lld",
                 (long long)stride, order[i], (long long)size);
        before += (size - 1) * stride;
    }
    return 0;
}

/* Sizes that kernels take as one 32-bit number. */
static Err group_sizes(const IndexSizes *x, Contraction *c)
{
    static const char *const names[] = {"M", "N", "the batch", "K"};
    int64_t *const to[] = {&c->m, &c->n, &c->batch, &c->k};
    for (int g = 0; g < INDICES_GROUPS; g++) {
        *to[g] = index_group_size(x, (IndexGroup)g);
        if (*to[g] < 1 || *to[g] > SIZE_LIMIT)
            FAIL(ERR_INPUT, "the indices of %s have more than %lld values", names[g], (long long)SIZE_LIMIT);
    }
    return 0;
}

static Err read_dims(Arena *a, const ClientOptions *o, const Operation *op, size_t i, Problem *p)
{
    IndexSizes *x = ARENA_NEW(a, IndexSizes);
    TRY_ALLOC(x);
    *x = (IndexSizes){.indices = op->indices};
    memcpy(x->size, p->size, sizeof *p->size * (size_t)p->n_sizes);
    for (int t = 0; t < TENSOR_COUNT; t++) TRY(read_dim_strides(stride_lists(o, t), i, t, x));
    if (o->a_zero_pads.n) TRY(read_pads("a-zero-pads", o->a_zero_pads.v[i], 0, x));
    if (o->b_zero_pads.n) TRY(read_pads("b-zero-pads", o->b_zero_pads.v[i], 1, x));
    TRY(check_dim_output(x));
    for (int t = 0; t < TENSOR_COUNT; t++) {
        Tensor *to = &p->tensor[t];
        TRY(matrix_map_elements(x, t, &to->n_elements));
        to->size[0] = to->stride[1] = to->stride[2] = to->n_elements;
        to->size[1] = to->size[2] = to->stride[0] = 1;
    }
    if (o->c_equal_d && memcmp(x->stride[TENSOR_C], x->stride[TENSOR_D], sizeof x->stride[0]))
        FAIL(ERR_INPUT, "c-equal-d: C and D have different strides");
    p->shape.dims = x;
    const int order[4] = {TENSOR_D, TENSOR_C, TENSOR_A, TENSOR_B};
    p->n_ld = op->is_gemm ? 4 : 0; /* all problems of a run have the same columns in result files */
    for (int t = 0; t < p->n_ld; t++) p->ld[t] = x->stride[order[t]][1];
    return group_sizes(x, &p->shape);
}

/* Does the problem need more than a GEMM's sizes and strides? */
static bool is_general(const ClientOptions *o, const Operation *op, size_t i)
{
    if (!op->is_gemm || o->a_zero_pads.n || o->b_zero_pads.n) return true;
    for (int t = 0; t < TENSOR_COUNT; t++) {
        int64_t first;
        Str rest, part;
        if (!stride_lists(o, t)->n) continue;
        rest = stride_lists(o, t)->v[i];
        if (str_split(&rest, ',', &part) && str_to_i64(str_trim(part), &first) && first != 1 && first != -1)
            return true;
    }
    return false;
}

static Err read_gemm(const ClientOptions *o, const Operation *op, size_t i, Problem *p)
{
    Contraction *c = &p->shape;
    c->m = p->size[0];
    c->n = p->size[1];
    c->batch = op->batched ? p->size[2] : 1;
    c->k = p->size[p->n_sizes - 1];
    tensor_sizes(p, op, c->m, c->n, c->batch, c->k);
    tensor_types(o, p);
    for (int t = 0; t < TENSOR_COUNT; t++)
        TRY(read_strides(stride_names[t], stride_lists(o, t), i, &p->tensor[t]));
    TRY(check_output(&p->tensor[TENSOR_D], "d-strides"));
    if (o->c_equal_d &&
        memcmp(p->tensor[TENSOR_C].stride, p->tensor[TENSOR_D].stride, sizeof p->tensor[0].stride))
        FAIL(ERR_INPUT, "c-equal-d: problem '%.*s' has different strides of C and D",
             STR_ARG(o->problem_sizes.v[i]));
    const int order[4] = {TENSOR_D, TENSOR_C, TENSOR_A, TENSOR_B};
    p->n_ld = 4;
    for (int t = 0; t < 4; t++) p->ld[t] = p->tensor[order[t]].stride[1];
    return 0;
}

static Err read_problem(Arena *a, const ClientOptions *o, const Operation *op, const char *identifier,
                        size_t i, Problem *p)
{
    TRY(read_sizes(o, op, identifier, i, p));
    if (is_general(o, op, i)) {
        tensor_types(o, p);
        TRY(read_dims(a, o, op, i, p));
    } else
        TRY(read_gemm(o, op, i, p));
    fill_gemm(p, o, op);
    fill_shape(p, o, op, identifier);
    return 0;
}

static Err check_options(const ClientOptions *o)
{
    const DataType types[] = {o->a_type, o->b_type, o->c_type, o->d_type};
    const InitType how[] = {o->init_a, o->init_b, o->init_c, o->init_d};
    static const char *const names[] = {"init-a", "init-b", "init-c", "init-d"};
    for (int t = 0; t < TENSOR_COUNT; t++) {
        Err e = init_check(how[t], types[t], false);
        if (e) return err_context(e, "%s: ", names[t]);
    }
    Err e = init_check(o->init_alpha, o->alpha_type, true);
    if (e) return err_context(e, "init-alpha: ");
    e = init_check(o->init_beta, o->beta_type, true);
    if (e) return err_context(e, "init-beta: ");
    if (o->alpha_type != o->beta_type)
        FAIL(ERR_INPUT, "alpha-type '%s' and beta-type '%s' differ", type_enum_name(o->alpha_type),
             type_enum_name(o->beta_type));
    const int32_t packing[] = {type_info(o->a_type)->packing, type_info(o->b_type)->packing,
                               type_info(o->c_type)->packing, type_info(o->d_type)->packing};
    if (packing[0] != packing[1] || packing[2] > 1 || packing[3] > 1)
        FAIL(ERR_INPUT, "types '%s', '%s', '%s', '%s' of A, B, C, D: Int8x4 is for A and B, both",
             type_enum_name(o->a_type), type_enum_name(o->b_type), type_enum_name(o->c_type),
             type_enum_name(o->d_type));
    if (o->c_equal_d && o->c_type != o->d_type)
        FAIL(ERR_INPUT, "c-equal-d: types '%s' and '%s' differ", type_enum_name(o->c_type),
             type_enum_name(o->d_type));
    if (o->free_indices.n || o->batch_indices.n || o->bound_indices.n)
        FAIL(ERR_INPUT, "free, batch, bound: give the problem-identifier instead");
    const int64_t offsets[] = {o->offset_a, o->offset_b, o->offset_c, o->offset_d};
    for (int t = 0; t < TENSOR_COUNT; t++)
        if (offsets[t] < 0 || offsets[t] > INT64_C(1) << 32)
            FAIL(ERR_INPUT, "offset-%c: %lld is not from 0 to 2^32", 'a' + t, (long long)offsets[t]);
    if (o->c_equal_d && o->offset_c != o->offset_d)
        FAIL(ERR_INPUT, "c-equal-d: offset-c and offset-d differ");
    return 0;
}

/* What contractions that are no GEMM do not have. */
static Err check_general(const ClientOptions *o, const char *identifier)
{
    const InitType how[] = {o->init_a, o->init_b, o->init_c, o->init_d};
    if (!o->strided_batched)
        FAIL(ERR_INPUT, "'%s': arrays of pointers are for GEMMs with unit first strides", identifier);
    if (o->peer[0]) FAIL(ERR_INPUT, "'%s': peer '%s' has no contractions but GEMMs", identifier, o->peer);
    for (int t = 0; t < TENSOR_COUNT; t++)
        if (how[t] >= INIT_SERIAL_IDX && how[t] <= INIT_TRIG_ABS_COS)
            FAIL(ERR_INPUT, "'%s': data '%s' goes by rows and columns, which only GEMMs have", identifier,
                 init_name(how[t]));
    if (type_info(o->a_type)->packing > 1)
        FAIL(ERR_INPUT, "'%s': Int8x4 is for GEMMs with unit first strides", identifier);
    return 0;
}

Err problem_set_read(Arena *a, const ClientOptions *o, ProblemSet *out)
{
    *out = (ProblemSet){.identifier = o->problem_identifier};
    if (!out->identifier[0]) FAIL(ERR_INPUT, "--problem-identifier is missing (see tuner-client --help)");
    if (!o->problem_sizes.n) FAIL(ERR_INPUT, "--problem-size is missing (see tuner-client --help)");
    Operation op;
    TRY(parse_identifier(out->identifier, &op));
    TRY(check_options(o));
    for (int t = 0; t < TENSOR_COUNT; t++)
        if (stride_lists(o, t)->n && stride_lists(o, t)->n != o->problem_sizes.n)
            FAIL(ERR_INPUT, "%zu values of problem-size, but %zu of %c-strides", o->problem_sizes.n,
                 stride_lists(o, t)->n, 'a' + t);
    const StrList *pads[] = {&o->a_zero_pads, &o->b_zero_pads};
    for (int t = 0; t < 2; t++)
        if (pads[t]->n && pads[t]->n != o->problem_sizes.n)
            FAIL(ERR_INPUT, "%zu values of problem-size, but %zu of %c-zero-pads", o->problem_sizes.n,
                 pads[t]->n, 'a' + t);
    out->n_sizes = op.indices.n;
    out->n = o->problem_sizes.n;
    out->v = ARENA_ARRAY(a, out->n, Problem);
    TRY_ALLOC(out->v);
    for (size_t i = 0; i < out->n; i++) {
        TRY(read_problem(a, o, &op, out->identifier, i, &out->v[i]));
        if (out->v[i].shape.dims) TRY(check_general(o, out->identifier));
    }
    return 0;
}

void problem_set_target(ProblemSet *s, const char *architecture)
{
    const Target *t = target_find(str_from(architecture));
    if (!t) return;
    for (size_t i = 0; i < s->n; i++) {
        Problem *p = &s->v[i];
        DataType *const all[] = {&p->gemm.a.type, &p->gemm.b.type, &p->gemm.c.type, &p->gemm.out};
        for (int x = 0; x < TENSOR_COUNT; x++) {
            p->tensor[x].type = type_in_format(p->tensor[x].type, t->f8);
            *all[x] = type_in_format(*all[x], t->f8);
        }
    }
}

void problem_sizes_text(const Problem *p, Buf *out)
{
    for (int d = 0; d < p->n_sizes; d++) buf_printf(out, "%s%lld", d ? "," : "(", (long long)p->size[d]);
    buf_putc(out, ')');
}

double problem_flops(const Problem *p)
{
    return 2.0 * (double)p->shape.m * (double)p->shape.n * (double)p->shape.batch * (double)p->gemm.k;
}
