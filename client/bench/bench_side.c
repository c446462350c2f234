/* tuner-bench: calls of a library or of a peer, and blocks of them on the host. See bench.h. */
#include <string.h>

#include "base/fs.h"
#include "client/bench/bench_gpu.h"
#include "problem/target.h"

Err bench_open(Bench *b, tuner_library *lib, int n_threads)
{
    const Target *t = target_find(str_from(tuner_library_arch(lib)));
    *b = (Bench){.lib = lib, .n_threads = n_threads > 0 ? n_threads : cpu_count(), .f8 = t ? t->f8 : F8_NONE};
    return bench_gpu_open(lib, &b->gpu);
}

/* ---- calls ---- */

static Err peer_call(const BenchSide *s, const tuner_gemm_desc *g)
{
    const void *const at[TENSOR_COUNT] = {g->a, g->b, g->c, g->d ? g->d : g->c};
    TensorSet set = {.guard = DEVICE_GUARD_NONE};
    for (int i = 0; i < TENSOR_COUNT; i++) set.buffer[i].address = (uint64_t)(uintptr_t)at[i];
    return peer_launch(s->peer, &s->problem, &set);
}

Err side_call(const BenchSide *s, const tuner_gemm_desc *g)
{
    return s->lib ? (Err)tuner_gemm_fused(s->lib, g, s->epilogue) : peer_call(s, g);
}

static void tensors_fill(const Bench *b, const BenchCase *c, Problem *p)
{
    const tuner_gemm_desc *g = &c->g;
    bool ta = g->trans_a != TUNER_N, tb = g->trans_b != TUNER_N, ex = c->call.ex;
    const tuner_type type[TENSOR_COUNT] = {g->a_type, g->b_type, g->c_type, ex ? g->d_type : g->c_type};
    const int64_t size[TENSOR_COUNT][2] = {{ta ? g->k : g->m, ta ? g->m : g->k},
                                           {tb ? g->n : g->k, tb ? g->k : g->n},
                                           {g->m, g->n},
                                           {g->m, g->n}};
    const int64_t ld[TENSOR_COUNT] = {g->lda, g->ldb, g->ldc, ex ? g->ldd : g->ldc};
    const int64_t stride[TENSOR_COUNT] = {g->stride_a, g->stride_b, g->stride_c,
                                          ex ? g->stride_d : g->stride_c};
    for (int i = 0; i < TENSOR_COUNT; i++)
        p->tensor[i] = (Tensor){.type = type_in_format((DataType)type[i], b->f8),
                                .size = {size[i][0], size[i][1], g->batch},
                                .stride = {1, ld[i], stride[i]}};
}

Err side_peer_problem(const Bench *b, BenchSide *s, const BenchCase *c)
{
    const tuner_gemm_desc *g = &c->g;
    Problem *p = &s->problem;
    bool complex = type_info((DataType)g->a_type)->complex;
    if (fused_any(&c->fused.op))
        FAIL(ERR_INPUT, "the peer is not called with bias, activation or scale factors");
    if (c->call.batched) FAIL(ERR_INPUT, "the peer is not called with arrays of pointers");
    if (g->m == 0 || g->n == 0 || g->k == 0) FAIL(ERR_INPUT, "a size is 0");
    *p = (Problem){.n_sizes = 4};
    tensors_fill(b, c, p);
    p->shape = (Contraction){.m = g->m,
                             .n = g->n,
                             .k = g->k,
                             .batch = g->batch,
                             .compute_type = (uint8_t)g->compute_type,
                             .f32_xdl = g->xf32 ? TYPE_X : TYPE_S,
                             .beta = c->call.beta[0] == 0 && c->call.beta[1] == 0 ? SCALAR_ZERO : SCALAR_ANY,
                             .trans_a = g->trans_a != TUNER_N,
                             .trans_b = g->trans_b != TUNER_N,
                             .strided_batched = true,
                             .c_equals_d = !c->call.ex};
    p->gemm = (Gemm){.m = g->m, .n = g->n, .batch = g->batch, .k = g->k};
    p->gemm.a.conj = complex && g->trans_a == TUNER_C;
    p->gemm.b.conj = complex && g->trans_b == TUNER_C;
    memcpy(p->gemm.alpha, c->call.alpha, sizeof p->gemm.alpha);
    memcpy(p->gemm.beta, c->call.beta, sizeof p->gemm.beta);
    return peer_problem(s->peer, p);
}

/* ---- blocks ---- */

enum { REPEAT_MAX = 1000000 };

static Err calls_on_host(const BenchSide *s, const BenchCase *c, int64_t n, uint64_t *ns)
{
    uint64_t from = clock_ns();
    for (int64_t i = 0; i < n; i++) TRY(side_call(s, &c->g));
    *ns = clock_ns() - from;
    return ERR_OK;
}

Err lane_open(Bench *b, const BenchSide *s, const BenchCase *c, double block_ns, BenchLane *out)
{
    uint64_t ns = 0;
    if (b->gpu) return bench_gpu_lane_open(b->gpu, s, out);
    *out = (BenchLane){.side = s, .repeat = 1};
    for (;; out->repeat *= 2) {
        TRY(calls_on_host(s, c, out->repeat, &ns));
        if ((double)ns >= block_ns || out->repeat >= REPEAT_MAX) return ERR_OK;
    }
}

void lane_close(Bench *b, BenchLane *l)
{
    if (b->gpu) bench_gpu_lane_close(b->gpu, l);
}

Err lane_block(Bench *b, BenchLane *l, const BenchCase *c, double *ns)
{
    uint64_t took;
    if (b->gpu) return bench_gpu_lane_block(b->gpu, l, ns);
    TRY(calls_on_host(l->side, c, l->repeat, &took));
    *ns = (double)took / (double)l->repeat;
    return ERR_OK;
}
