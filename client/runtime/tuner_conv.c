/* libtuner: one convolution: makes its problems (contractions by the convolution's
 * indices, problem/conv.h; or a GEMM, problem/pointwise.h), selects the solutions and runs them
 * (tuner_run.c).
 *
 * What follows from the description alone, and the selection, is kept for descriptions that were seen
 * lately. */
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "client/runtime/conv_promise.h"
#include "client/runtime/tuner_conv.h"
#include "problem/pointwise.h"

/* What decides how a convolution runs; unused bytes are 0. */
typedef struct {
    ConvDesc c;
    Fused op;
    uint8_t alpha, beta, metric;
    uint8_t unaligned; /* as in Contraction, by ConvTensor */
    uint8_t unused[4];
} ConvQuery;

/* One launch list: a convolution is one contraction or GEMM, backward data with a stride one for each
 * phase. */
typedef struct {
    Contraction p;
    IndexSizes dims; /* of p, unless that is a GEMM */
    Selection chosen;
    int64_t offset[4]; /* LD_D, ..: elements in front of the tensors' first ones */
    bool zero;         /* only zeros are written: alpha is 0 */
} Part;

/* Ways to state a convolution: as a GEMM (problem/pointwise.h); as the contraction of its problem type
 * (problem/conv.h), or of one that differs from it in what the library's config may have chosen: the order
 * of the summation indices, an index for groups. */
typedef enum { FORM_GEMM, FORM_TYPE, FORM_OTHER_ORDER, FORM_GROUPS, FORM_GROUPS_OTHER_ORDER, FORMS } Form;

enum { PARTS_KEPT = 4 };
typedef struct {
    ConvQuery key;
    Form form;
    ConvTensor a, b;
    int64_t n_parts;
    Part part[PARTS_KEPT]; /* the first ones; the others are made in each call */
} ConvPlan;

enum { CONV_SLOTS = 64 };
struct ConvCache {
    bool used[CONV_SLOTS];
    ConvPlan plan[CONV_SLOTS];
};

/* ---- scalars and operands ---- */

typedef struct {
    _Alignas(16) unsigned char one[16], zero[16];
} Scalars;

static void scalars_of(int32_t compute, Scalars *out)
{
    const float f = 1;
    const double r = 1;
    const int32_t i = 1;
    memset(out, 0, sizeof *out);
    memcpy(out->one,
           compute == TUNER_F64   ? (const void *)&r
           : compute == TUNER_I32 ? (const void *)&i
                                  : &f,
           (size_t)type_bytes((DataType)compute));
}

/* Bit t: the address of tensor t is no multiple of 16 bytes, which copy engines of GPUs need. */
static uint8_t unaligned(const tuner_library *t, const ConvCall *d)
{
    enum { ALIGN = 16 };
    uint8_t bits = 0;
    for (int i = 0; t->gpu && i < CONV_TENSORS; i++)
        bits |= (uint8_t)(((uintptr_t)d->tensor[i] % ALIGN != 0) << i);
    return bits;
}

static void key_of(const tuner_library *t, const ConvCall *d, ConvQuery *key)
{
    const tuner_type compute = (tuner_type)d->c.compute;
    memset(key, 0, sizeof *key);
    key->c = d->c;
    const Fused *op = &d->f.op; /* member by member: keys are compared as bytes, and padding stays 0 */
    key->op.bias = op->bias, key->op.bias_type = op->bias_type, key->op.scale_alpha = op->scale_alpha;
    key->op.activation = op->activation, key->op.scale_ab = op->scale_ab, key->op.scale_cd = op->scale_cd;
    key->alpha = d->alpha ? scalar_kind(compute, d->alpha) : SCALAR_ONE;
    key->beta = d->beta ? scalar_kind(compute, d->beta) : SCALAR_ZERO;
    key->metric = d->metric;
    key->unaligned = unaligned(t, d);
}

/* ---- the problem ---- */

/* What a GEMM and a contraction of the plan have in common. */
static void problem_common(const tuner_library *t, const ConvPlan *v, Part *part)
{
    const ConvQuery *key = &v->key;
    const ConvDesc *c = &key->c;
    const ConvTensor d = conv_result(c);
    Contraction *p = &part->p;
    const ConvTensor tensor[] = {v->a, v->b, d, d};
    contraction_types(p, (unsigned)c->type[v->a], (unsigned)c->type[v->b], (unsigned)c->type[d],
                      (unsigned)c->type[d], (unsigned)c->compute);
    if (c->xf32) p->f32_xdl = TYPE_X;
    p->batched = p->strided_batched = p->c_equals_d = true;
    p->deterministic = t->deterministic;
    p->metric = t->experimental ? t->experimental : key->metric;
    p->eligible_for_persistent = true;
    p->workspace_bytes = WORKSPACE_MAX;
    p->alpha = part->zero ? SCALAR_ZERO : key->alpha;
    p->beta = key->beta;
    if (p->alpha == SCALAR_ZERO) p->k = 0;
    for (int i = 0; i < INDICES_TENSORS; i++) {
        static const int ld[] = {LD_A, LD_B, LD_C, LD_D};
        const int64_t bytes = part->offset[ld[i]] * type_bytes((DataType)c->type[tensor[i]]);
        const bool off = (key->unaligned >> tensor[i] & 1) || (t->gpu && bytes % 16);
        p->unaligned |= (uint8_t)(off << i);
    }
}

/* The problem type of a form; false: the form is of no use. */
static Err form_type(const ConvDesc *c, Form form, ProblemType *pt)
{
    ConvConfig *config = &pt->ConvolutionConfig;
    TRY(conv_problem_type(c, pt));
    const bool order = form == FORM_OTHER_ORDER || form == FORM_GROUPS_OTHER_ORDER;
    const bool groups = form == FORM_GROUPS || form == FORM_GROUPS_OTHER_ORDER;
    int32_t n = 0;
    bool channel_last = true;
    for (int32_t i = 0; i < config->n; i++) { /* UnrollOnChannel is there where it is 0 */
        if (order && config->key[i] == CONV_UnrollOnChannel) {
            channel_last = false;
            continue;
        }
        config->key[n] = config->key[i];
        if (n != i) memcpy(config->value[n], config->value[i], CONV_TEXT);
        n++;
    }
    memset(&config->value[n], 0, (size_t)(CONV_KEY_COUNT - n) * CONV_TEXT);
    memset(&config->key[n], 0, (size_t)(CONV_KEY_COUNT - n) * sizeof config->key[0]);
    config->n = n;
    if (order && channel_last)
        memcpy(config->value[n], "0", 2), config->key[config->n++] = CONV_UnrollOnChannel;
    if (groups) memcpy(config->value[config->n], "N", 2), config->key[config->n++] = CONV_GroupCount;
    if (!order && !groups) return ERR_OK;
    TRY(conv_derive(pt));
    return problem_type_derive(pt);
}

/* Part i as a contraction by the convolution's indices. */
static Err contraction_part(const tuner_library *t, const ConvPlan *v, const ProblemType *pt, int64_t i,
                            Part *part)
{
    ConvPart its;
    Buf identifier;
    Contraction *p = &part->p;
    int64_t *const to[] = {&p->m, &p->n, &p->batch, &p->k};
    memset(part, 0, sizeof *part);
    TRY(conv_part(pt, &v->key.c.size, i, &its));
    its.size.extra = &its.extra;
    TRY(index_sizes_of(pt, &its.size, &part->dims));
    memcpy(part->offset, its.offset, sizeof part->offset);
    part->zero = its.zero;
    for (int g = 0; g < INDICES_GROUPS; g++) {
        *to[g] = index_group_size(&part->dims, (IndexGroup)g);
        if (*to[g] < 1 || *to[g] > UINT32_MAX)
            FAIL(ERR_INPUT, "the indices of %s have more than 2^32 - 1 values",
                 g == INDICES_M   ? "M"
                 : g == INDICES_N ? "N"
                 : g == INDICES_K ? "K"
                                  : "the batch");
    }
    buf_init(&identifier);
    problem_operation_identifier(pt, &identifier);
    fused_put(&v->key.op, &identifier);
    Err e = buf_check(&identifier);
    if (!e) p->operation = operation_code(buf_view(&identifier));
    buf_fini(&identifier);
    p->dims = &part->dims;
    problem_common(t, v, part);
    return e;
}

/* False: it is not one GEMM. */
static bool as_gemm(const tuner_library *t, ConvPlan *v)
{
    PointwiseGemm g;
    Part *part = &v->part[0];
    Contraction *p = &part->p;
    if (!pointwise_gemm(&v->key.c, &g)) return false;
    memset(part, 0, sizeof *part);
    p->m = g.m, p->n = g.n, p->k = g.k, p->batch = g.batch;
    contraction_strides(p, g.ld[0], g.ld[1], g.ld[2], g.ld[2], g.stride[0], g.stride[1], g.stride[2],
                        g.stride[2]);
    p->operation = fused_any(&v->key.op)
                       ? operation_code_fused(g.trans[0], g.trans[1], false, false, true, &v->key.op)
                       : t->operation[g.trans[0] | (unsigned)g.trans[1] << 1 | 16];
    p->trans_a = g.trans[0], p->trans_b = g.trans[1];
    v->a = g.a, v->b = g.b, v->n_parts = 1;
    problem_common(t, v, part);
    return true;
}

/* ---- selection ---- */

/* Adds a part's. Where no speed is known it is 1 GFlop/s. found false: the library has no solution for it.
 * like: the solution of a part that multiplies, which writes zeros as fast as any; no size was measured with
 * zeros alone. NULL: none. */
static Err part_choose(tuner_library *t, const Fused *op, Part *part, int64_t solution_index,
                       const Selection *like, Promise *out)
{
    if (part->zero && like && solution_can_solve(like->solution, &part->p)) {
        part->chosen = *like;
        out->found = true;
        return ERR_OK;
    }
    const Err e = call_choose(t, &part->p, op, solution_index, &part->chosen);
    const Selection *s = &part->chosen;
    out->found = !e;
    if (e == (Err)TUNER_NO_SOLUTION) {
        err_clear();
        return ERR_OK;
    }
    if (e || part->zero) return e;
    promise_add(out, contraction_flops(&part->p), s);
    return ERR_OK;
}

/* The first part's solution, for part i; NULL: that writes zeros, too. */
static const Selection *like_of(const ConvPlan *v, int64_t i)
{
    return i > 0 && !v->part[0].zero ? &v->part[0].chosen : NULL;
}

/* All parts of a form with their solutions. ERR_INPUT: the form is none of this convolution's. */
static Err form_choose(tuner_library *t, ConvPlan *v, int64_t solution_index, Promise *out)
{
    ProblemType pt;
    Part more;
    *out = (Promise){.found = true};
    if (v->form == FORM_GEMM) {
        out->found = as_gemm(t, v);
        return out->found ? part_choose(t, &v->key.op, &v->part[0], solution_index, NULL, out) : ERR_OK;
    }
    TRY(form_type(&v->key.c, v->form, &pt));
    TRY(conv_n_parts(&pt, &v->key.c.size, &v->n_parts));
    v->a = conv_right(&v->key.c), v->b = conv_left(&v->key.c);
    for (int64_t i = 0; i < v->n_parts && out->found; i++) {
        Part *part = i < PARTS_KEPT ? &v->part[i] : &more;
        TRY(contraction_part(t, v, &pt, i, part));
        TRY(part_choose(t, &v->key.op, part, solution_index, like_of(v, i), out));
    }
    return ERR_OK;
}

static Err none_found(tuner_library *t, const ConvPlan *v)
{
    Buf text;
    buf_init(&text);
    conv_desc_print(&v->key.c, &text);
    const Err e = no_conv_solution(t, buf_cstr(&text));
    buf_fini(&text);
    return e;
}

/* The form whose solutions promise the least time, of equal ones the first: see conv_promise.h. */
static Err plan_choose(tuner_library *t, ConvPlan *v, int64_t solution_index)
{
    ConvPlan tried;
    Promise best = {.found = false}, promise;
    char why[256] = "";
    tried.key = v->key;
    for (int form = 0; form < FORMS; form++) {
        if (form >= FORM_GROUPS && tried.key.c.size.groups > 1) continue; /* they have the index already */
        tried.form = (Form)form;
        const Err e = form_choose(t, &tried, solution_index, &promise);
        if (e == ERR_INPUT) {
            if (form == FORM_TYPE) snprintf(why, sizeof why, "%s", err_message());
            err_clear();
            continue;
        }
        TRY(e);
        if (!promise_better(&promise, &best)) continue;
        *v = tried;
        best = promise;
    }
    if (!best.found && why[0]) FAIL(TUNER_NO_SOLUTION, "no kernels: %s", why);
    return best.found ? ERR_OK : none_found(t, v);
}

static uint64_t slot_of(const ConvQuery *key)
{
    return hash64((Str){(const char *)key, sizeof *key}) % CONV_SLOTS;
}

/* The caller has locked t->lock. */
static bool cache_get(const struct ConvCache *cache, const ConvQuery *key, ConvPlan *out)
{
    const uint64_t at = slot_of(key);
    if (!cache || !cache->used[at] || memcmp(&cache->plan[at].key, key, sizeof *key)) return false;
    *out = cache->plan[at];
    return true;
}

static void cache_put(tuner_library *t, const ConvPlan *v)
{
    const uint64_t at = slot_of(&v->key);
    if (!t->conv) t->conv = ARENA_NEW(&t->arena, struct ConvCache);
    if (!t->conv) return; /* out of memory: then without */
    t->conv->used[at] = true;
    t->conv->plan[at] = *v;
}

static Err plan_of(tuner_library *t, const ConvCall *d, ConvPlan *v)
{
    key_of(t, d, &v->key);
    const bool keeps = d->solution_index <= 0 && !atomic_load_explicit(&t->mapping, memory_order_relaxed);
    bool found = false;
    if (keeps) {
        pthread_mutex_lock(&t->lock);
        found = cache_get(t->conv, &v->key, v);
        pthread_mutex_unlock(&t->lock);
    }
    if (!found) {
        TRY(plan_choose(t, v, d->solution_index));
        pthread_mutex_lock(&t->lock);
        if (keeps) cache_put(t, v);
        pthread_mutex_unlock(&t->lock);
    }
    for (int64_t i = 0; i < v->n_parts && i < PARTS_KEPT; i++)
        if (v->part[i].p.dims) v->part[i].p.dims = &v->part[i].dims;
    return ERR_OK;
}

/* Part i: one of the plan's, or made in *more. */
static Err part_get(tuner_library *t, const ConvPlan *v, int64_t i, Part *more, const Part **out)
{
    ProblemType pt;
    Promise promise = {0};
    *out = i < PARTS_KEPT ? &v->part[i] : more;
    if (i < PARTS_KEPT) return ERR_OK;
    TRY(form_type(&v->key.c, v->form, &pt));
    TRY(contraction_part(t, v, &pt, i, more));
    TRY(part_choose(t, &v->key.op, more, 0, like_of(v, i), &promise));
    return promise.found ? ERR_OK : none_found(t, v);
}

/* Groups have biases of their own, which follow one another as their channels do; images have the same. */
static int64_t bias_batch(const ConvDesc *c)
{
    const int64_t channels = conv_result(c) == CONV_INPUT ? c->size.c : c->size.k;
    return c->size.groups > 1 ? channels / c->size.groups : 0;
}

static void inputs_of(const ConvCall *d, const ConvPlan *v, const Part *part, const Scalars *s,
                      LaunchInputs *in)
{
    void *const result = d->tensor[conv_result(&v->key.c)];
    *in = (LaunchInputs){.a = d->tensor[v->a],
                         .b = d->tensor[v->b],
                         .c = result,
                         .d = result,
                         .alpha = part->zero ? s->zero
                                  : d->alpha ? d->alpha
                                             : s->one,
                         .beta = d->beta ? d->beta : s->zero,
                         .offset_a = part->offset[LD_A],
                         .offset_b = part->offset[LD_B],
                         .offset_c = part->offset[LD_C],
                         .offset_d = part->offset[LD_D],
                         .bias_batch = bias_batch(&d->c),
                         .activation = d->f.number};
    memcpy(in->fused, d->f.operand, sizeof in->fused);
}

/* ---- calls ---- */

/* A call's plan, and the part that is at hand. */
typedef struct {
    ConvPlan v;
    Scalars s;
    Part more;
    const Part *part;
    LaunchInputs in;
} Parts;

static Err parts_plan(tuner_library *t, const ConvCall *d, Parts *x)
{
    scalars_of(d->c.compute, &x->s);
    return plan_of(t, d, &x->v);
}

static Err part_take(tuner_library *t, const ConvCall *d, Parts *x, int64_t i)
{
    TRY(part_get(t, &x->v, i, &x->more, &x->part));
    inputs_of(d, &x->v, x->part, &x->s, &x->in);
    return ERR_OK;
}

static Err run(tuner_library *t, const ConvCall *d)
{
    Parts x;
    const Err planned = parts_plan(t, d, &x);
    if (t->log.layer && (!planned || planned == (Err)TUNER_NO_SOLUTION)) log_conv(&t->log, &d->c);
    TRY(planned);
    for (int i = 0; i < CONV_TENSORS; i++)
        if (!d->tensor[i]) FAIL(ERR_INPUT, "the %s is a null pointer", conv_tensor_name((ConvTensor)i));
    TRY(epilogue_pointers(&d->f));
    if (!t->can_run)
        FAIL(ERR_NO_DEVICE, "%s is opened for %s, which this process cannot run", t->path, t->hw.arch.s);
    for (int64_t i = 0; i < x.v.n_parts; i++) {
        TRY(part_take(t, d, &x, i));
        TRY(call_run(t, &x.part->p, &x.part->chosen, &x.in));
    }
    return ERR_OK;
}

/* Of several parts: the solution of the first, all launches, the largest workspace. */
static Err describe(tuner_library *t, const ConvCall *d, tuner_selection *out)
{
    Parts x;
    TRY(parts_plan(t, d, &x));
    for (int64_t i = 0; i < x.v.n_parts; i++) {
        tuner_selection one;
        TRY(part_take(t, d, &x, i));
        TRY(call_describe(t, &x.part->p, &x.part->chosen, &x.in, d->solution_index > 0, &one));
        if (i == 0) {
            *out = one;
            continue;
        }
        out->n_kernels += one.n_kernels;
        if (one.workspace_bytes > out->workspace_bytes) out->workspace_bytes = one.workspace_bytes;
    }
    return ERR_OK;
}

static Err visit_all(tuner_library *t, const ConvCall *d, void *workspace,
                     void (*visit)(void *ctx, const tuner_launch *launch), void *ctx)
{
    Parts x;
    TRY(parts_plan(t, d, &x));
    for (int64_t i = 0; i < x.v.n_parts; i++) {
        TRY(part_take(t, d, &x, i));
        x.in.workspace = workspace;
        TRY(call_visit(t, &x.part->p, &x.part->chosen, &x.in, visit, ctx));
    }
    return ERR_OK;
}

/* ---- public ---- */

static Err selectable(tuner_library *t, const void *d, const tuner_selection *out, const char *call)
{
    TRY(call_usable(t, d, call));
    if (!out) FAIL(ERR_INPUT, "%s: no place for the selection", call);
    return ERR_OK;
}

tuner_status tuner_conv2d(tuner_library *t, const tuner_conv2d_desc *d)
{
    ConvCall call;
    Err e = call_usable(t, d, "tuner_conv2d");
    if (!e) e = conv_call_2d(d, NULL, &call);
    return (tuner_status)(e ? e : run(t, &call));
}

tuner_status tuner_conv2d_fused(tuner_library *t, const tuner_conv2d_desc *d, const tuner_epilogue *epilogue)
{
    ConvCall call;
    Err e = call_usable(t, d, "tuner_conv2d_fused");
    if (!e) e = conv_call_2d(d, epilogue, &call);
    return (tuner_status)(e ? e : run(t, &call));
}

tuner_status tuner_conv3d(tuner_library *t, const tuner_conv3d_desc *d, const tuner_epilogue *epilogue)
{
    ConvCall call;
    Err e = call_usable(t, d, "tuner_conv3d");
    if (!e) e = conv_call_3d(d, epilogue, &call);
    return (tuner_status)(e ? e : run(t, &call));
}

tuner_status tuner_select_conv2d(tuner_library *t, const tuner_conv2d_desc *d, tuner_selection *out)
{
    ConvCall call;
    Err e = selectable(t, d, out, "tuner_select_conv2d");
    if (!e) e = conv_call_2d(d, NULL, &call);
    return (tuner_status)(e ? e : describe(t, &call, out));
}

tuner_status tuner_select_conv2d_fused(tuner_library *t, const tuner_conv2d_desc *d,
                                       const tuner_epilogue *epilogue, tuner_selection *out)
{
    ConvCall call;
    Err e = selectable(t, d, out, "tuner_select_conv2d_fused");
    if (!e) e = conv_call_2d(d, epilogue, &call);
    return (tuner_status)(e ? e : describe(t, &call, out));
}

tuner_status tuner_select_conv3d(tuner_library *t, const tuner_conv3d_desc *d, const tuner_epilogue *epilogue,
                                 tuner_selection *out)
{
    ConvCall call;
    Err e = selectable(t, d, out, "tuner_select_conv3d");
    if (!e) e = conv_call_3d(d, epilogue, &call);
    return (tuner_status)(e ? e : describe(t, &call, out));
}

tuner_status tuner_launches_conv2d(tuner_library *t, const tuner_conv2d_desc *d, void *workspace,
                                   void (*visit)(void *ctx, const tuner_launch *launch), void *ctx)
{
    ConvCall call;
    Err e = call_usable(t, d, "tuner_launches_conv2d");
    if (!e && !visit) e = err_set(ERR_INPUT, "tuner_launches_conv2d: no function to call");
    if (!e) e = conv_call_2d(d, NULL, &call);
    return (tuner_status)(e ? e : visit_all(t, &call, workspace, visit, ctx));
}
