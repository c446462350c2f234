/* The performance model of convolutions whose pixels come to local memory once (KeepWindow, PackOperands 5
 * and 7), or once for several taps (WindowTaps): its terms, and the order of kernels by it and on an H200
 * (test/bench/results/h200: conv_f16_first.csv, conv_f16_groups.csv, conv_taps.txt; us). */
#include "test/support.h"

#include <math.h>

#include "measure/model.h"
#include "problem/conv.h"
#include "space/derive.h"

typedef struct {
    OperationKind op;
    int64_t n, c, in, k, taps, stride, groups;
} Layer;
typedef struct {
    int32_t
        instruction[7]; /* M, N, tiles and warp groups of MatrixInstruction; threads along M of mma.sync */
    int32_t parts;
    bool pingpong;
    double us;
} Kernel;

static void describe(const Layer *l, ConvDesc *c, ProblemType *pt)
{
    conv_desc_init(c);
    conv_desc_types(c, TYPE_H);
    conv_desc_formats(c, true);
    c->op = (int32_t)l->op;
    ConvSize *s = &c->size;
    s->n = l->n, s->c = l->c, s->k = l->k, s->groups = l->groups;
    for (int i = 0; i < 2; i++) {
        s->in[i] = l->in, s->filter[i] = l->taps, s->stride[i] = l->stride;
        s->pad[i] = s->pad_end[i] = l->taps / 2;
    }
    assert_ok(conv_problem_type(c, pt));
}

static ModelSize size_of(const ConvDesc *c, const ProblemType *pt)
{
    ConvPart part;
    assert_ok(conv_part(pt, &c->size, 0, &part));
    part.size.extra = &part.extra;
    ModelSize z = model_size(pt, &part.size, false);
    model_size_once(pt, &part.size, &z);
    return z;
}

static void model_of(const ProblemType *pt, Solution *s, ModelKernel *out)
{
    Deriver d;
    Verdict v;
    assert_ok(deriver_init(&d, pt, target_find(STR("sm_90a")), NULL));
    assert_true(solution_derive(&d, s, &v));
    assert_ok(model_kernel(s, d.target, out));
    assert_true(model_kernel_ok(out));
}

static double time_of(const ModelKernel *k, const ModelSize *z, ModelTime *t)
{
    ModelDevice d;
    const ModelRates r = model_rates((ModelClass)k->class);
    model_of_part(target_find(STR("sm_90a")), STR("H200"), 0, &d);
    return model_time(k, &d, &r, z, t);
}

static Solution wgmma_of(const ProblemType *pt, const Kernel *k)
{
    Solution s;
    solution_init(&s, pt);
    const int32_t *i = k->instruction;
    s.MatrixInstruction = (IntList){9, {i[0], i[1], 16, 1, 1, i[2], i[3], i[4], i[5]}};
    s.StaggerU = 0, s.PersistentKernel = 1, s.PersistentKernelAlongBatch = 1, s.PackBatchDims = 1;
    if (k->pingpong) s.ConsumerSchedule = SCHEDULE_PINGPONG;
    if (k->parts > 1) s.GlobalSplitU = k->parts, s.GlobalSplitUAlgorithm = GSUA_SINGLE_KERNEL;
    return s;
}

/* It makes lines of pixels. */
static Solution lines_of(const ProblemType *pt, const Kernel *k)
{
    Solution s = wgmma_of(pt, k);
    s.PackOperands = pt->OperationType == OP_CONV_BACKWARD_WEIGHTS ? 5 : 7;
    if (k->instruction[0] == 64 && k->instruction[3] > 1) s.SourceSwap = 1;
    if (s.PackOperands == 5) s.EngineStore = 0;
    return s;
}

/* Spearman's rank correlation of n times. */
static double rank_correlation(const double *x, const double *y, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++) {
        double a = 0, b = 0;
        for (int j = 0; j < n; j++) {
            a += (x[j] < x[i]) + 0.5 * (x[j] == x[i]);
            b += (y[j] < y[i]) + 0.5 * (y[j] == y[i]);
        }
        sum += (a - b) * (a - b);
    }
    return 1 - 6 * sum / (n * ((double)n * n - 1));
}

static double correlation_of(const Layer *l, const Kernel *kernel, int n, double *worst)
{
    ConvDesc c;
    ProblemType pt;
    double us[16], model[16];
    describe(l, &c, &pt);
    const ModelSize z = size_of(&c, &pt);
    for (int i = 0; i < n; i++) {
        ModelKernel k;
        Solution s = lines_of(&pt, &kernel[i]);
        model_of(&pt, &s, &k);
        us[i] = kernel[i].us, model[i] = time_of(&k, &z, NULL) * 1e6;
        *worst = fmax(*worst, fabs(log(model[i] / us[i])));
    }
    return rank_correlation(us, model, n);
}

enum { FORWARD = 7, WEIGHTS = 4 };

/* First layers, forward, by the same kernels: their number of tiles counts, each of which waits for rows. */
static void test_lines_forward(void **state)
{
    static const struct {
        Layer layer;
        double us[FORWARD], least;
    } cases[] = {
        {{OP_CONV_FORWARD, 64, 3, 224, 64, 7, 2, 1}, {73.0, 82.9, 80.3, 110.5, 110.2, 137.0, 130.0}, 0.7},
        {{OP_CONV_FORWARD, 64, 3, 224, 32, 3, 2, 1}, {51.7, 57.5, 58.3, 68.2, 69.0, 73.3, 50.4}, 0.7},
        {{OP_CONV_FORWARD, 16, 4, 256, 64, 5, 1, 1}, {85.9, 104.3, 104.9, 144.2, 143.8, 157.7, 142.8}, 0.5},
        {{OP_CONV_FORWARD, 64, 1, 96, 64, 9, 1, 1}, {55.1, 58.6, 60.2, 66.7, 66.8, 80.1, 96.3}, 0.7}};
    Kernel kernel[FORWARD] = {{{64, 256, 1, 1, 1, 1}, 1, false, 0}, {{64, 192, 1, 1, 1, 1}, 1, true, 0},
                              {{64, 64, 1, 3, 1, 1}, 1, true, 0},   {{64, 128, 1, 1, 1, 1}, 1, true, 0},
                              {{64, 64, 1, 2, 1, 1}, 1, true, 0},   {{96, 64, 1, 2, 1, 1}, 1, true, 0},
                              {{32, 64, 1, 4, 1, 1}, 1, true, 0}};
    double worst = 0;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int j = 0; j < FORWARD; j++) kernel[j].us = cases[i].us[j];
        const double r = correlation_of(&cases[i].layer, kernel, FORWARD, &worst);
        if (r < cases[i].least) fail_msg("layer %zu: rank correlation %.2f", i, r);
    }
    assert_true(worst < log(1.8));
}

/* Weights of the same layers, in as many parts as there are multiprocessors and fewer. */
static void test_lines_weights(void **state)
{
    static const struct {
        Layer layer;
        double us[WEIGHTS];
    } cases[] = {{{OP_CONV_BACKWARD_WEIGHTS, 64, 3, 224, 64, 7, 2, 1}, {128.5, 341.9, 484.8, 453.2}},
                 {{OP_CONV_BACKWARD_WEIGHTS, 64, 3, 224, 32, 3, 2, 1}, {117.6, 327.4, 108.1, 111.7}},
                 {{OP_CONV_BACKWARD_WEIGHTS, 16, 4, 256, 64, 5, 1, 1}, {146.0, 405.6, 409.1, 138.0}}};
    Kernel kernel[WEIGHTS] = {{{192, 64, 1, 1, 1, 1}, 132, true, 0},
                              {{192, 64, 1, 1, 1, 1}, 44, true, 0},
                              {{64, 64, 1, 1, 1, 1}, 132, true, 0},
                              {{128, 64, 1, 1, 1, 1}, 132, true, 0}};
    double worst = 0;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int j = 0; j < WEIGHTS; j++) kernel[j].us = cases[i].us[j];
        const double r = correlation_of(&cases[i].layer, kernel, WEIGHTS, &worst);
        if (r < 0.3) fail_msg("layer %zu: rank correlation %.2f", i, r);
    }
    assert_true(worst < log(2));
}

static Solution kept_of(const ProblemType *pt, int32_t rows, int32_t columns, int32_t room, int32_t piece)
{
    Solution s;
    solution_init(&s, pt);
    s.MatrixInstruction = (IntList){9, {16, 8, 16, 1, 1, 1, columns, rows, 1}};
    s.StaggerU = 0, s.NvRing = 1, s.DepthU = 64, s.PrefetchGlobalRead = 2;
    s.GlobalReadVectorWidth = piece, s.KeepWindow = room;
    return s;
}

/* Pixels of a tile come once, before its main loop; filters with each chunk. */
static void test_kept(void **state)
{
    (void)state;
    const Layer l = {OP_CONV_FORWARD, 8, 48, 35, 64, 5, 1, 1};
    ConvDesc c;
    ProblemType pt;
    ModelKernel k, ring;
    ModelTime kept, loaded;
    describe(&l, &c, &pt);
    const ModelSize z = size_of(&c, &pt);
    Solution s = kept_of(&pt, 4, 10, 106, 8);
    s.PackBatchDims = 1;
    model_of(&pt, &s, &k);
    assert_int_equal(k.pack_a & MODEL_PACK_MASK, MODEL_PIXELS_KEPT);
    assert_true(k.tile_m == 80 && k.tile_n == 64 && k.keep_rows == 16); /* A: the pixels */
    s = kept_of(&pt, 4, 10, 0, 8), s.PackBatchDims = 1;
    model_of(&pt, &s, &ring);
    (void)time_of(&k, &z, &kept), (void)time_of(&ring, &z, &loaded);
    const double chunks = ceil(z.k / 64), tiles = ceil(z.m * z.batch / 80);
    assert_true(kept.tiles == tiles);
    const double bytes = tiles * (chunks * 64 * 64 * 2 + 80 * z.k * z.once_a * 2);
    assert_true(fabs(kept.l2_read - bytes) < 1e-6 * bytes);
    assert_true(loaded.l2_read > 1.5 * kept.l2_read);
    assert_true(kept.term[MODEL_TERM_fill] > loaded.term[MODEL_TERM_fill]);
    assert_true(kept.term[MODEL_TERM_local] < loaded.term[MODEL_TERM_local]);
}

/* Rows of all groups lie in tiles: 32 groups of 4 channels are two of 64 rows. */
static void test_kept_groups(void **state)
{
    static const struct {
        Layer layer;
        int32_t rows, columns, room, piece;
        double us;
    } cases[] = {{{OP_CONV_FORWARD, 32, 128, 28, 128, 3, 1, 32}, 4, 16, 74, 4, 10.69},
                 {{OP_CONV_FORWARD, 16, 256, 14, 256, 3, 1, 32}, 4, 8, 64, 4, 6.05}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ConvDesc c;
        ProblemType pt;
        ModelKernel k;
        ModelTime t;
        describe(&cases[i].layer, &c, &pt);
        const ModelSize z = size_of(&c, &pt);
        Solution s = kept_of(&pt, cases[i].rows, cases[i].columns, cases[i].room, cases[i].piece);
        model_of(&pt, &s, &k);
        const double us = time_of(&k, &z, &t) * 1e6, columns = cases[i].columns * 8;
        assert_true(t.tiles == ceil((double)cases[i].layer.k / 64) * ceil(z.m / columns));
        assert_true(us > cases[i].us / 2 && us < cases[i].us * 1.5);
    }
}

/* It has n taps of a line in a stage, or 1. */
static Solution taps_of(const ProblemType *pt, const Kernel *k, int32_t n)
{
    Solution s = wgmma_of(pt, k);
    s.EngineStore = 0, s.WindowTaps = n;
    return s;
}

/* Taps that share pixels: times of an H200 (conv_taps.txt, conv_bf16_list.csv), with and without. */
static void test_taps(void **state)
{
    static const struct {
        Layer layer;
        int32_t taps;
        Kernel kernel, plain;
    } cases[] = {{{OP_CONV_FORWARD, 8, 48, 35, 64, 5, 1, 1},
                  5,
                  {{64, 80, 1, 1, 1, 1}, 1, false, 8.4},
                  {{64, 80, 1, 1, 1, 1}, 1, false, 12.1}},
                 {{OP_CONV_FORWARD, 64, 64, 56, 64, 3, 1, 1},
                  3,
                  {{64, 160, 1, 1, 1, 1}, 1, true, 29.1},
                  {{64, 256, 1, 1, 1, 1}, 1, true, 34.8}},
                 {{OP_CONV_BACKWARD_WEIGHTS, 64, 64, 56, 64, 3, 1, 1},
                  3,
                  {{192, 64, 1, 1, 1, 1}, 44, false, 31.2},
                  {{64, 64, 1, 1, 1, 1}, 14, true, 56.8}}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ConvDesc c;
        ProblemType pt;
        ModelKernel k, plain;
        ModelTime with, without;
        describe(&cases[i].layer, &c, &pt);
        const ModelSize z = size_of(&c, &pt);
        Solution s = taps_of(&pt, &cases[i].kernel, cases[i].taps);
        if (cases[i].kernel.instruction[0] == 192) s.SourceSwap = 1;
        model_of(&pt, &s, &k);
        s = taps_of(&pt, &cases[i].plain, 1);
        model_of(&pt, &s, &plain);
        const double a = time_of(&k, &z, &with) * 1e6, b = time_of(&plain, &z, &without) * 1e6;
        print_message("%zu: %.1f us for %.1f with taps, %.1f for %.1f\n", i, a, cases[i].kernel.us, b,
                      cases[i].plain.us);
        assert_true(a < b && with.l2_read < without.l2_read);
        assert_true(fabs(log(a / cases[i].kernel.us)) < log(1.8));
        if (cases[i].layer.op == OP_CONV_BACKWARD_WEIGHTS)
            assert_true(with.tiles == 3.0 * cases[i].kernel.parts);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_lines_forward),
                                       cmocka_unit_test(test_lines_weights), cmocka_unit_test(test_kept),
                                       cmocka_unit_test(test_kept_groups), cmocka_unit_test(test_taps)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
