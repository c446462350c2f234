/* choose_bench [KERNELS [SIZES] | FILE.times]: what libtuner's choice by the performance model takes for a
 * size that it has not seen, with made libraries of 27, 60 and 200 kernels (or of that many) that have times
 * of 38 sizes (or of that many), on the numbers of an H200; or with the library whose times a file has
 * (recorded.h). Prints medians with their 95% interval over n repetitions,
 * and a sum over all choices, which must not change when the choice is made faster. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "measure/model.h"
#include "measure/model_teach.h"
#include "measure/model_quality.h"
#include "measure/stats.h"
#include "problem/model_select.h"
#include "problem/target.h"
#include "test/bench/recorded.h"
#include "test/model_kernel.h"

enum { SIZES = 38, N_QUERIES = 2000, REPEAT = 15 };

static uint64_t state = 7;

static double draw(double lo, double hi)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return lo + (hi - lo) * (double)(state >> 11) * 0x1p-53;
}

static int32_t one_of(const int32_t *v, int n) { return v[(int)draw(0, n)]; }
#define ONE_OF(...)                                                                                          \
    one_of((const int32_t[]){__VA_ARGS__}, sizeof((const int32_t[]){__VA_ARGS__}) / sizeof(int32_t))

/* About what the kernels of an H200's f16 library have. */
static ModelKernel kernel_draw(void)
{
    const bool engine = draw(0, 1) < 0.7;
    const int32_t split = ONE_OF(1, 1, 1, 2, 4, 8, 16);
    return (ModelKernel){.class = engine ? MODEL_ENGINE : MODEL_MATRIX,
                         .tile_m = ONE_OF(64, 128, 192, 256),
                         .tile_n = ONE_OF(16, 32, 64, 128, 256),
                         .depth = engine ? 64 : ONE_OF(32, 64),
                         .threads = ONE_OF(128, 256, 384),
                         .groups = engine ? 1 : ONE_OF(1, 2, 3),
                         .stages = ONE_OF(3, 4, 5),
                         .split = split,
                         .split_kind = split > 1 ? MODEL_SPLIT_WORKSPACE : MODEL_SPLIT_NONE,
                         .persistent = engine,
                         .mapping = ONE_OF(1, 8, 16, -8),
                         .cluster_m = engine ? ONE_OF(1, 1, 2) : 1,
                         .cluster_n = 1,
                         MODEL_KERNEL_16_BIT,
                         .free_a = 1,
                         .pack_a = engine ? MODEL_PACK_UNALIGNED : 0,
                         .pack_b = engine ? MODEL_PACK_UNALIGNED : 0,
                         .steps = 4,
                         .flags = MODEL_READS_C,
                         .rate = engine ? 8192 : 5079,
                         .peak = 8192,
                         .local_bytes = engine ? 512 : 1024};
}

static ModelSize size_draw(void)
{
    const double to = log(8192);
    ModelSize z = {
        floor(exp(draw(2, to))), floor(exp(draw(2, to))), floor(exp(draw(4, to))), 1, 2, 2, 2, false, 0, 0};
    if (draw(0, 1) < 0.7) {
        z.m = 32 * ceil(z.m / 32), z.n = 32 * ceil(z.n / 32), z.k = 32 * ceil(z.k / 32);
        z.align_a = z.align_b = z.align_d = MODEL_ALIGN_MAX;
    }
    return z;
}

/* Kernels of the copy engine read aligned operands alone, unless they copy them first. */
typedef struct {
    const ModelSelector *s;
    const ModelSize *z;
} Ask;
static bool can_run(void *ctx, size_t k)
{
    const Ask *q = ctx;
    return model_can_read(&q->s->entry[k].kernel, q->z->align_a, q->z->align_b);
}

static void bench(const ModelSelector *s)
{
    static ModelSize query[N_QUERIES];
    double ns[REPEAT], seconds, sum = 0;
    size_t chosen = 0;
    for (int i = 0; i < N_QUERIES; i++) query[i] = size_draw();
    for (int r = 0; r < REPEAT; r++) {
        const uint64_t from = clock_ns();
        for (int i = 0; i < N_QUERIES; i++) {
            Ask q = {s, &query[i]};
            const size_t k = model_choose(s, &query[i], can_run, &q, &seconds);
            if (r == 0) chosen = chosen * 31 + k, sum += seconds;
        }
        ns[r] = (double)(clock_ns() - from) / N_QUERIES;
    }
    Summary m;
    stats_summary(ns, REPEAT, 0.95, &m);
    printf("choose_bench: choice by the model among %3zu kernels with times of %zu sizes %8.4g ns [%.4g, "
           "%.4g] n %d; sum "
           "%016zx %.9g\n",
           s->n_kernels, s->n_points, m.median, m.lo, m.hi, REPEAT, chosen, sum);
}

static Err made(Arena *a, size_t n_kernels, size_t n_sizes)
{
    ModelSelector s;
    ModelDevice d;
    model_of_part(target_find(STR("sm_90a")), STR("H200"), 0, &d);
    TRY(model_selector_new(a, n_kernels, n_sizes, &s));
    for (size_t k = 0; k < n_kernels; k++) {
        ModelKernel kernel = kernel_draw();
        s.entry[k] =
            (ModelEntry){.kernel = kernel, .device = d, .rates = model_rates((ModelClass)kernel.class)};
    }
    for (size_t p = 0; p < n_sizes; p++) s.size[p] = size_draw();
    for (size_t i = 0; i < n_kernels * n_sizes; i++)
        s.residual[i] = draw(0, 1) < 0.7 ? (float)draw(-0.2, 0.2) : NAN;
    model_selector_finish(&s);
    bench(&s);
    return ERR_OK;
}

static Err recorded(Arena *a, const char *path)
{
    ModelMatrix m;
    ModelSelector s;
    ModelDevice d;
    ModelRates rates[MODEL_CLASSES];
    ModelTaught taught;
    TRY(recorded_read(a, path, &m));
    model_of_part(target_find(STR("sm_90a")), STR("H200"), 0, &d);
    model_rates_typical(rates);
    TRY(model_fit_matrix(&m, NULL, &d, rates, NULL));
    TRY(model_teach(a, &m, NULL, &d, rates, &taught));
    const uint64_t from = clock_ns();
    TRY(model_selector_of(a, &m, NULL, &d, rates, &taught, &s));
    printf("choose_bench: made ready in %.0f ms\n", (double)(clock_ns() - from) * 1e-6);
    bench(&s);
    return ERR_OK;
}

static Err run(int argc, char **argv)
{
    static const size_t n[] = {27, 60, 200};
    const size_t sizes = argc > 2 ? (size_t)atol(argv[2]) : SIZES;
    Arena a;
    Err e = ERR_OK;
    arena_init(&a, 0);
    if (argc > 1 && strstr(argv[1], ".times"))
        e = recorded(&a, argv[1]);
    else if (argc > 1)
        e = made(&a, (size_t)atol(argv[1]), sizes);
    for (size_t i = 0; !e && argc < 2 && i < sizeof n / sizeof *n; i++) e = made(&a, n[i], sizes);
    arena_fini(&a);
    return e;
}

int main(int argc, char **argv)
{
    const Err e = run(argc, argv);
    if (e) fprintf(stderr, "choose_bench: %s\n", err_message());
    return e;
}
