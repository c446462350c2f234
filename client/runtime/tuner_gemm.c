/* libtuner: one GEMM: checks the arguments, selects the solution, makes the launches and runs them. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "client/runtime/tuner_priv.h"
#include "problem/datatype.h"

/* ---- arguments ---- */

static bool is_complex(tuner_type t) { return t == TUNER_C32 || t == TUNER_C64; }

static uint8_t kind_of(double re, double im)
{
    if (im != 0) return SCALAR_ANY;
    return re == 0 ? SCALAR_ZERO : re == 1 ? SCALAR_ONE : re == -1 ? SCALAR_NEG_ONE : SCALAR_ANY;
}

static uint8_t scalar_kind(tuner_type type, const void *value)
{
    float f[2] = {0, 0};
    double d[2] = {0, 0};
    int32_t i;
    uint16_t h;
    switch (type) {
    case TUNER_F32:
        memcpy(f, value, 4);
        return kind_of((double)f[0], 0);
    case TUNER_C32:
        memcpy(f, value, 8);
        return kind_of((double)f[0], (double)f[1]);
    case TUNER_F64:
        memcpy(d, value, 8);
        return kind_of(d[0], 0);
    case TUNER_C64:
        memcpy(d, value, 16);
        return kind_of(d[0], d[1]);
    case TUNER_I32:
        memcpy(&i, value, 4);
        return kind_of(i, 0);
    case TUNER_F16:
    case TUNER_BF16:
        memcpy(&h, value, 2);
        if ((h & 0x7fff) == 0) return SCALAR_ZERO;
        if ((h & 0x7fff) != (type == TUNER_F16 ? 0x3c00 : 0x3f80)) return SCALAR_ANY;
        return h >> 15 ? SCALAR_NEG_ONE : SCALAR_ONE;
    case TUNER_I8:
    case TUNER_I8X4:
    case TUNER_F8:
    case TUNER_BF8:
        break;
    }
    return SCALAR_ANY;
}

Err check_type(const char *what, tuner_type t)
{
    if ((int)t < 0 || t > TUNER_BF8 || (DataType)t == TYPE_X)
        FAIL(ERR_INPUT, "%s type is %d, expected 0 to 8, 10 or 11", what, (int)t);
    return ERR_OK;
}

static Err check_ld(const char *what, int64_t ld, int64_t rows)
{
    if (ld < (rows > 1 ? rows : 1)) FAIL(ERR_INPUT, "%s is %" PRId64 ", less than %" PRId64, what, ld, rows);
    return ERR_OK;
}

static Err check_types(const tuner_gemm_desc *g)
{
    TRY(check_type("A", g->a_type));
    TRY(check_type("B", g->b_type));
    TRY(check_type("C", g->c_type));
    TRY(check_type("D", g->d_type));
    TRY(check_type("compute", g->compute_type));
    if (g->compute_type == TUNER_I8 || g->compute_type == TUNER_I8X4)
        FAIL(ERR_INPUT, "compute type int8: use int32");
    if (g->compute_type == TUNER_F8 || g->compute_type == TUNER_BF8)
        FAIL(ERR_INPUT, "compute type of 8-bit floats: use f32");
    return ERR_OK;
}

static Err check(const tuner_gemm_desc *g)
{
    const int64_t limit = INT64_C(1) << 32;
    if ((int)g->trans_a < 0 || g->trans_a > TUNER_C || (int)g->trans_b < 0 || g->trans_b > TUNER_C)
        FAIL(ERR_INPUT, "transposes are %d and %d, expected 0 to 2", (int)g->trans_a, (int)g->trans_b);
    if (g->m < 0 || g->n < 0 || g->k < 0 || g->batch < 0 || g->m >= limit || g->n >= limit || g->k >= limit ||
        g->batch >= limit)
        FAIL(ERR_INPUT,
             "size %" PRId64 " x %" PRId64 " x %" PRId64 ", batch %" PRId64 ": expected 0 to 2^32 - 1", g->m,
             g->n, g->k, g->batch);
    TRY(check_types(g));
    TRY(check_ld("lda", g->lda, g->trans_a == TUNER_N ? g->m : g->k));
    TRY(check_ld("ldb", g->ldb, g->trans_b == TUNER_N ? g->k : g->n));
    TRY(check_ld("ldc", g->ldc, g->m));
    if (g->d) TRY(check_ld("ldd", g->ldd, g->m));
    if (g->metric < 0 || g->metric > TUNER_METRIC_DEVICE)
        FAIL(ERR_INPUT, "metric is %d, expected 0 to 2", g->metric);
    if (g->fp16_alt > (TUNER_FP16_ALT | TUNER_FP16_ALT_ROUND))
        FAIL(ERR_INPUT, "fp16_alt is %u, expected 0 to 3", g->fp16_alt);
    if (!g->alpha || !g->beta) FAIL(ERR_INPUT, "%s is a null pointer", g->alpha ? "beta" : "alpha");
    return ERR_OK;
}

/* Bytes of workspace that a call may allocate; solutions that need more are not chosen. */
#define WORKSPACE_MAX (UINT64_C(1) << 32)

/* That of plain GEMMs is in a table. */
static uint64_t operation_of(const tuner_library *t, const tuner_gemm_desc *g, const Fused *op)
{
    const bool conj = is_complex(g->a_type), ta = g->trans_a != TUNER_N, tb = g->trans_b != TUNER_N;
    const bool ca = conj && g->trans_a == TUNER_C, cb = conj && g->trans_b == TUNER_C;
    if (fused_any(op)) return operation_code_fused(ta, tb, ca, cb, true, op);
    return t->operation[ta | (unsigned)tb << 1 | (unsigned)ca << 2 | (unsigned)cb << 3 | 16];
}

_Static_assert((int)TUNER_METRIC_CU == METRIC_CU_EFFICIENCY &&
                   (int)TUNER_METRIC_DEVICE == METRIC_DEVICE_EFFICIENCY,
               "both enums have the same numbers");

/* Bit i: the address of tensor i is no multiple of 16 bytes, which copy engines of GPUs need. */
static uint8_t unaligned(const tuner_library *t, const tuner_gemm_desc *g)
{
    enum { ALIGN = 16 };
    const void *const address[] = {g->a, g->b, g->c, g->d ? g->d : g->c};
    uint8_t bits = 0;
    for (unsigned i = 0; t->gpu && !g->pointer_arrays && i < 4; i++)
        bits |= (uint8_t)(((uintptr_t)address[i] % ALIGN != 0) << i);
    return bits;
}

Err gemm_contraction(const tuner_library *t, const tuner_gemm_desc *g, const Epilogue *f, Contraction *p)
{
    TRY(check(g));
    memset(p, 0, sizeof *p);
    bool in_place = !g->d || g->d == g->c;
    p->m = g->m;
    p->n = g->n;
    p->k = g->k;
    p->batch = g->batch ? g->batch : 1;
    contraction_strides(p, g->lda, g->ldb, g->ldc, g->d ? g->ldd : g->ldc, g->stride_a, g->stride_b,
                        g->stride_c, g->d ? g->stride_d : g->stride_c);
    contraction_types(p, g->a_type, g->b_type, g->c_type, g->d_type, g->compute_type);
    if (g->xf32) p->f32_xdl = TYPE_X;
    unsigned alt = (g->fp16_alt & ~t->fp16_alt_fixed) | t->fp16_alt;
    p->fp16_alt = alt & TUNER_FP16_ALT;
    p->fp16_alt_round = (alt & TUNER_FP16_ALT_ROUND) != 0;
    p->operation = operation_of(t, g, &f->op);
    p->trans_a = g->trans_a != TUNER_N;
    p->trans_b = g->trans_b != TUNER_N;
    p->batched = true;
    p->strided_batched = !g->pointer_arrays;
    p->c_equals_d = in_place && p->c[1] == p->d[1] && p->c[2] == p->d[2];
    p->deterministic = t->deterministic;
    p->metric = t->experimental ? t->experimental : (uint8_t)g->metric;
    p->eligible_for_persistent = true;
    p->workspace_bytes = WORKSPACE_MAX;
    p->alpha = scalar_kind(g->compute_type, g->alpha);
    p->beta = scalar_kind(g->compute_type, g->beta);
    if (p->alpha == SCALAR_ZERO) p->k = 0; /* like rocBLAS */
    p->unaligned = unaligned(t, g);
    return ERR_OK;
}

/* Puts the caller's work-group order in place of the library's, for kernels that have it as an argument. */
static void mapping_given(tuner_library *t, Selection *out)
{
    const uint64_t words = atomic_load_explicit(&t->mapping, memory_order_relaxed);
    if (!words || out->mapping_source == MAPPING_FIXED) return;
    out->mapping_source = MAPPING_GIVEN;
    out->mapping = mapping_of_words((uint32_t)words, (uint32_t)(words >> 32));
}

Err gemm_choose(tuner_library *t, const tuner_gemm_desc *g, const Contraction *p, const Fused *op,
                Selection *out)
{
    if (g->solution_index <= 0) {
        TRY(library_select(t->library, p, out));
        if (!out->solution && g->xf32) {
            Contraction exact = *p;
            exact.f32_xdl = TYPE_S;
            TRY(library_select(t->library, &exact, out));
        }
    } else {
        memset(out, 0, sizeof *out);
        out->solution = library_solution_by_index(t->library, g->solution_index - 1);
        if (!out->solution) FAIL(ERR_INPUT, "the library has no solution %" PRId64, g->solution_index - 1);
        if (!solution_can_solve(out->solution, p) || out->solution->operation != p->operation)
            FAIL(TUNER_NO_SOLUTION, "solution %" PRId64 " cannot run this problem", g->solution_index - 1);
    }
    if (!out->solution) return no_solution(t, p, op);
    if (g->solution_index > 0) out->mapping_source = launch_mapping(out->solution, p, &out->mapping);
    mapping_given(t, out);
    return ERR_OK;
}

static void inputs_of(const tuner_gemm_desc *g, const Epilogue *f, void *workspace, LaunchInputs *in)
{
    union {
        const void *c;
        void *v;
    } same = {.c = g->c}; /* in place: C is written, like in BLAS */
    *in = (LaunchInputs){.a = g->a,
                         .b = g->b,
                         .c = g->c,
                         .d = g->d ? g->d : same.v,
                         .workspace = workspace,
                         .alpha = g->alpha,
                         .beta = g->beta,
                         .bias_batch = f->bias_stride,
                         .activation = f->number};
    memcpy(in->fused, f->operand, sizeof in->fused);
}

/* ---- running ---- */

enum {
    INLINE_FLOPS = 400000, /* below: the calling thread alone is faster than sharing the work */
    BRIEF_FLOPS = 16000000 /* below (150 us of one core): waking a sleeping thread costs more than it saves */
};

static Err run_call(tuner_library *t, const LibSolution *s, const KernelCall *call, double flops)
{
    const AnyKernel *kernel;
    if (call->role == CALL_MAIN)
        TRY(kernel_of_solution(t, s, &kernel));
    else
        TRY(kernel_of_helper(t, s, call->symbol, &kernel));
    if (library_print_debug(t->library)) log_launch(t, call);
    HostSplit split = {.brief = flops < BRIEF_FLOPS};
    const bool in_place = s->map.global_accumulation != GLOBAL_ACC_MULTIPLE &&
                          s->map.global_accumulation != GLOBAL_ACC_PARTIALS;
    if (call->role == CALL_MAIN && in_place) {
        split.tile_y = (uint32_t)s->map.global_split_u;
        split.round_robin = s->map.gsu_round_robin;
    }
    if (flops < INLINE_FLOPS && split.tile_y <= 1)
        return host_launch_inline(t->pool, &kernel->host, call->num_work_groups, call->args);
    return host_launch(t->pool, &kernel->host, call->num_work_groups, call->args, &split);
}

static Err run(tuner_library *t, const tuner_gemm_desc *g, const Epilogue *f, const Contraction *p,
               const Selection *chosen)
{
    const LibSolution *s = chosen->solution;
    LaunchList list;
    LaunchInputs in;
    HostScratch workspace;
    if (t->gpu) {
        inputs_of(g, f, NULL, &in);
        in.mapping = chosen->mapping;
        return gemm_on_gpu(t, &in, p, s);
    }
    TRY(host_scratch_take(t->pool, launch_workspace_bytes(p, s, &t->launch_hw), &workspace));
    inputs_of(g, f, workspace.p, &in);
    in.mapping = chosen->mapping;
    Err e = launch_build(p, s, &in, &t->launch_hw, &list);
    double flops = contraction_flops(p);
    for (uint32_t i = 0; i < list.n && !e; i++) e = run_call(t, s, &list.call[i], flops);
    host_scratch_give(t->pool, &workspace);
    return e;
}

static Err gemm(tuner_library *t, const tuner_gemm_desc *g, const Epilogue *f);

/* Matrix i of arrays of pointers as a GEMM of its own. */
static tuner_gemm_desc one_of(const tuner_gemm_desc *g, int64_t i)
{
    tuner_gemm_desc one = *g;
    one.pointer_arrays = 0;
    one.batch = 1;
    one.stride_a = one.stride_b = one.stride_c = one.stride_d = 0;
    if (i < 0) return one; /* for selection, which needs no pointers */
    one.a = g->a ? ((const void *const *)g->a)[i] : NULL;
    one.b = g->b ? ((const void *const *)g->b)[i] : NULL;
    one.c = g->c ? ((const void *const *)g->c)[i] : NULL;
    one.d = g->d ? ((void *const *)g->d)[i] : NULL;
    return one;
}

/* Runs each matrix as a GEMM of its own, for libraries without kernels for arrays of pointers. */
static Err one_by_one(tuner_library *t, const tuner_gemm_desc *g, const Epilogue *f, int64_t batch)
{
    tuner_gemm_desc here = *g;
    void *block = NULL;
    if (t->gpu) TRY(gemm_pointers(t, g, batch, &here, &block));
    Err e = ERR_OK;
    for (int64_t i = 0; i < batch && !e; i++) {
        const tuner_gemm_desc one = one_of(&here, i);
        const Epilogue its = epilogue_of_matrix(f, i);
        e = gemm(t, &one, &its);
    }
    free(block);
    return e;
}

static Err gemm(tuner_library *t, const tuner_gemm_desc *g, const Epilogue *f)
{
    Contraction p;
    Selection chosen;
    TRY(gemm_contraction(t, g, f, &p));
    if (p.m == 0 || p.n == 0) return ERR_OK;
    if (!g->c && !g->d) FAIL(ERR_INPUT, "C and D are null pointers");
    if (p.k && (!g->a || !g->b)) FAIL(ERR_INPUT, "%s is a null pointer", g->a ? "B" : "A");
    TRY(epilogue_pointers(f));
    if (!t->can_run)
        FAIL(ERR_NO_DEVICE, "%s is opened for %s, which this process cannot run", t->path, t->hw.arch.s);
    Err e = gemm_choose(t, g, &p, &f->op, &chosen);
    if (e == (Err)TUNER_NO_SOLUTION && g->pointer_arrays) return one_by_one(t, g, f, p.batch);
    return e ? e : run(t, g, f, &p, &chosen);
}

static Err call_usable(const tuner_library *t, const tuner_gemm_desc *g, const char *call)
{
    TRY(library_usable(t, call));
    if (!g) FAIL(ERR_INPUT, "%s: the description is a null pointer", call);
    return ERR_OK;
}

tuner_status tuner_gemm(tuner_library *t, const tuner_gemm_desc *g)
{
    static const Epilogue none;
    Err e = call_usable(t, g, "tuner_gemm");
    if (e) return (tuner_status)e;
    if (t->log.layer) log_call(&t->log, g, &none);
    return (tuner_status)gemm(t, g, &none);
}

tuner_status tuner_gemm_fused(tuner_library *t, const tuner_gemm_desc *g, const tuner_epilogue *epilogue)
{
    Epilogue f;
    Err e = call_usable(t, g, "tuner_gemm_fused");
    if (!e) e = epilogue_of_call(g, epilogue, &f);
    if (e) return (tuner_status)e;
    if (t->log.layer) log_call(&t->log, g, &f);
    return (tuner_status)gemm(t, g, &f);
}

/* ---- without running ---- */

static Err select_into(tuner_library *t, const tuner_gemm_desc *g, const Epilogue *f, tuner_selection *out)
{
    Contraction p;
    Selection s;
    LaunchPart part;
    LaunchList list;
    LaunchInputs in;
    TRY(gemm_contraction(t, g, f, &p));
    Err e = gemm_choose(t, g, &p, &f->op, &s);
    if (e == (Err)TUNER_NO_SOLUTION && g->pointer_arrays) {
        const tuner_gemm_desc one = one_of(g, -1);
        TRY(select_into(t, &one, f, out));
        out->n_kernels *= (int)(p.batch < INT32_MAX / LAUNCH_CALLS_MAX ? p.batch : 1);
        return ERR_OK;
    }
    if (e) return e;
    inputs_of(g, f, NULL, &in);
    in.mapping = s.mapping;
    int n_kernels = 0;
    for (uint64_t k = 0; launch_part(&p, s.solution, &in, &t->launch_hw, k, &part); k++) {
        TRY(launch_build(&part.problem, s.solution, &part.in, &t->launch_hw, &list));
        n_kernels += (int)list.n;
    }
    *out = (tuner_selection){.kernel = s.solution->symbol,
                             .solution_index = s.solution->index,
                             .why = g->solution_index > 0 ? "index" : select_why_name(s.why),
                             .fallback = s.fallback,
                             .distance = s.distance,
                             .n_key = s.n_key,
                             .speed = s.speed,
                             .workspace_bytes = launch_workspace_bytes(&p, s.solution, &t->launch_hw),
                             .n_kernels = n_kernels};
    memcpy(out->key, s.key, sizeof out->key);
    return ERR_OK;
}

tuner_status tuner_select(tuner_library *t, const tuner_gemm_desc *g, tuner_selection *out)
{
    static const Epilogue none;
    Err e = call_usable(t, g, "tuner_select");
    if (!e && !out) e = err_set(ERR_INPUT, "tuner_select: no place for the selection");
    return (tuner_status)(e ? e : select_into(t, g, &none, out));
}

tuner_status tuner_select_fused(tuner_library *t, const tuner_gemm_desc *g, const tuner_epilogue *epilogue,
                                tuner_selection *out)
{
    Epilogue f;
    Err e = call_usable(t, g, "tuner_select_fused");
    if (!e && !out) e = err_set(ERR_INPUT, "tuner_select_fused: no place for the selection");
    if (!e) e = epilogue_of_call(g, epilogue, &f);
    return (tuner_status)(e ? e : select_into(t, g, &f, out));
}

tuner_status tuner_select_mapping(tuner_library *t, const tuner_gemm_desc *g, tuner_mapping *mapping,
                                  const char **why)
{
    Contraction p;
    Selection s;
    const Epilogue none = {.bias_stride = 0};
    Err e = call_usable(t, g, "tuner_select_mapping");
    if (!e && (!mapping || !why))
        e = err_set(ERR_INPUT, "tuner_select_mapping: no place for the work-group order");
    if (!e) e = gemm_contraction(t, g, &none, &p);
    if (!e) e = gemm_choose(t, g, &p, &none.op, &s);
    if (e == (Err)TUNER_NO_SOLUTION && g->pointer_arrays) {
        const tuner_gemm_desc one = one_of(g, -1);
        return tuner_select_mapping(t, &one, mapping, why);
    }
    if (e) return (tuner_status)e;
    *mapping = (tuner_mapping){s.mapping.wgm, s.mapping.dies, s.mapping.group, s.mapping.chunk};
    *why = mapping_source_name(s.mapping_source);
    return TUNER_OK;
}

tuner_status tuner_set_mapping(tuner_library *t, const tuner_mapping *mapping)
{
    Err e = library_usable(t, "tuner_set_mapping");
    if (e) return (tuner_status)e;
    if (!mapping) {
        atomic_store(&t->mapping, 0);
        return TUNER_OK;
    }
    const Mapping m = {mapping->wgm, mapping->xcc, mapping->group, mapping->chunk};
    const char *fault = mapping_fault(&m);
    if (fault)
        return (tuner_status)err_set(ERR_INPUT, "tuner_set_mapping: wgm %d xcc %d group %d chunk %d: %s",
                                     m.wgm, m.dies, m.group, m.chunk, fault);
    atomic_store(&t->mapping, (uint64_t)mapping_chunk_word(&m) << 32 | mapping_word(&m));
    return TUNER_OK;
}

static void visit_call(const KernelCall *c, void (*visit)(void *ctx, const tuner_launch *launch), void *ctx)
{
    tuner_launch l = {.kernel = c->symbol, .n_arg_bytes = c->n_arg_bytes, .args = c->args};
    memcpy(l.work_group, c->work_group, sizeof l.work_group);
    memcpy(l.num_work_groups, c->num_work_groups, sizeof l.num_work_groups);
    visit(ctx, &l);
}

static Err launches(tuner_library *t, const tuner_gemm_desc *g, void *workspace,
                    void (*visit)(void *ctx, const tuner_launch *launch), void *ctx)
{
    Contraction p;
    Selection s;
    LaunchPart part;
    LaunchList list;
    LaunchInputs in;
    const Epilogue none = {.bias_stride = 0};
    TRY(gemm_contraction(t, g, &none, &p));
    TRY(gemm_choose(t, g, &p, &none.op, &s));
    inputs_of(g, &none, workspace, &in);
    in.mapping = s.mapping;
    for (uint64_t k = 0; launch_part(&p, s.solution, &in, &t->launch_hw, k, &part); k++) {
        TRY(launch_build(&part.problem, s.solution, &part.in, &t->launch_hw, &list));
        for (uint32_t i = 0; i < list.n; i++) visit_call(&list.call[i], visit, ctx);
    }
    return ERR_OK;
}

tuner_status tuner_launches(tuner_library *t, const tuner_gemm_desc *g, void *workspace,
                            void (*visit)(void *ctx, const tuner_launch *launch), void *ctx)
{
    Err e = call_usable(t, g, "tuner_launches");
    if (!e && !visit) e = err_set(ERR_INPUT, "tuner_launches: no function to call");
    return (tuner_status)(e ? e : launches(t, g, workspace, visit, ctx));
}
