/* libtuner: one GEMM: checks the arguments and runs it (tuner_run.c), or reports how it would run. */
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

uint8_t scalar_kind(tuner_type type, const void *value)
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

Err check_struct(const char *name, const void *s, size_t first, size_t known)
{
    enum { SIZE_LIMIT = 4096 };
    const unsigned char *byte = s;
    uint64_t size;
    memcpy(&size, s, sizeof size);
    if (size < first || size > SIZE_LIMIT || size % 8)
        FAIL(ERR_INPUT, "%s.size is %" PRIu64 ", expected sizeof(%s), %zu", name, size, name, known);
    for (size_t i = known; i < size; i++)
        if (byte[i])
            FAIL(ERR_INPUT, "%s.size is %" PRIu64 ", of which this library knows %zu, and byte %zu is not 0",
                 name, size, known, i);
    return ERR_OK;
}

Err check_member(const char *name, const char *member, int32_t value, int32_t max)
{
    if (value < 0 || value > max) FAIL(ERR_INPUT, "%s.%s is %d, expected 0 to %d", name, member, value, max);
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
    LaunchInputs in;
    TRY(gemm_contraction(t, g, f, &p));
    if (p.m == 0 || p.n == 0) return ERR_OK;
    if (!g->c && !g->d) FAIL(ERR_INPUT, "C and D are null pointers");
    if (p.k && (!g->a || !g->b)) FAIL(ERR_INPUT, "%s is a null pointer", g->a ? "B" : "A");
    TRY(epilogue_pointers(f));
    if (!t->can_run)
        FAIL(ERR_NO_DEVICE, "%s is opened for %s, which this process cannot run", t->path, t->hw.arch.s);
    Err e = call_choose(t, &p, &f->op, g->solution_index, &chosen);
    if (e == (Err)TUNER_NO_SOLUTION && g->pointer_arrays) return one_by_one(t, g, f, p.batch);
    if (e) return e;
    inputs_of(g, f, NULL, &in);
    return call_run(t, &p, &chosen, &in);
}

Err call_usable(const tuner_library *t, const void *desc, const char *call)
{
    TRY(library_usable(t, call));
    if (!desc) FAIL(ERR_INPUT, "%s: the description is a null pointer", call);
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
    LaunchInputs in;
    TRY(gemm_contraction(t, g, f, &p));
    Err e = call_choose(t, &p, &f->op, g->solution_index, &s);
    if (e == (Err)TUNER_NO_SOLUTION && g->pointer_arrays) {
        const tuner_gemm_desc one = one_of(g, -1);
        TRY(select_into(t, &one, f, out));
        out->n_kernels *= (int)(p.batch < INT32_MAX / LAUNCH_CALLS_MAX ? p.batch : 1);
        return ERR_OK;
    }
    if (e) return e;
    inputs_of(g, f, NULL, &in);
    return call_describe(t, &p, &s, &in, g->solution_index > 0, out);
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
    if (!e) e = call_choose(t, &p, &none.op, g->solution_index, &s);
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

static Err launches(tuner_library *t, const tuner_gemm_desc *g, void *workspace,
                    void (*visit)(void *ctx, const tuner_launch *launch), void *ctx)
{
    Contraction p;
    Selection s;
    LaunchInputs in;
    const Epilogue none = {.bias_stride = 0};
    TRY(gemm_contraction(t, g, &none, &p));
    TRY(call_choose(t, &p, &none.op, g->solution_index, &s));
    inputs_of(g, &none, workspace, &in);
    return call_visit(t, &p, &s, &in, visit, ctx);
}

tuner_status tuner_launches(tuner_library *t, const tuner_gemm_desc *g, void *workspace,
                            void (*visit)(void *ctx, const tuner_launch *launch), void *ctx)
{
    Err e = call_usable(t, g, "tuner_launches");
    if (!e && !visit) e = err_set(ERR_INPUT, "tuner_launches: no function to call");
    return (tuner_status)(e ? e : launches(t, g, workspace, visit, ctx));
}
