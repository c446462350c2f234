/* The performance model: the traffic of work-group orders against the walk itself, kernels of every family
 * from the ready configs, and what any model must say of sizes and kernels. */
#include "test/support.h"

#include <math.h>
#include <time.h>

#include "index/walk.h"
#include "problem/stream_cut.h"
#include "problem/traffic.h"
#include "measure/model.h"
#include "space/space.h"
#include "test/model_kernel.h"

/* ---- work-group order ---- */

enum { N_NODES = 200, SIDE = 24 };

static int64_t value(const Expr *e, const int64_t *slots)
{
    int64_t v = -1;
    assert_true(expr_eval(e, slots, &v));
    return v;
}

/* Rows and columns that waves of `wave` work-groups touch, on average over the whole waves of the grid. */
static void count_footprint(int32_t mapping, int64_t tiles_m, int64_t tiles_n, int64_t wave, double *rows,
                            double *columns)
{
    static const WalkNames names = {.group = {"x", "y", "z"}, .tiles_m = "m", .tiles_n = "n"};
    Expr nodes[N_NODES];
    ExprPool p;
    expr_pool_fixed(&p, nodes, N_NODES);
    Walk w = {.mapping = mapping, .split = 1, .depth_u = 16};
    WalkPlace at = walk_place(&p, &w, &names);
    int64_t v[WALK_SLOTS] = {[WALK_TILES_M] = tiles_m, [WALK_TILES_N] = tiles_n};
    int64_t waves = tiles_m * tiles_n / wave;
    *rows = *columns = 0;
    for (int64_t i = 0; i < waves; i++) {
        bool row[SIDE] = {0}, column[SIDE] = {0};
        for (int64_t id = i * wave; id < (i + 1) * wave; id++) {
            /* Walk counts ids along M first where bands lie along N, else along N first */
            v[WALK_GROUP_X] = mapping < -1 ? id / tiles_n : id % tiles_m;
            v[WALK_GROUP_Y] = mapping < -1 ? id % tiles_n : id / tiles_m;
            row[value(at.wg0, v)] = column[value(at.wg1, v)] = true;
        }
        for (int k = 0; k < SIDE; k++) *rows += row[k], *columns += column[k];
    }
    *rows /= (double)waves, *columns /= (double)waves;
}

static void footprint_is_the_walks(void **state)
{
    (void)state;
    static const int32_t mappings[] = {1, 2, 4, 6, 8, -2, -4, -8};
    static const int64_t waves[] = {4, 8, 12, 24, 48};
    double error = 0;
    int n = 0;
    for (size_t i = 0; i < sizeof mappings / sizeof *mappings; i++)
        for (int64_t m = 8; m <= SIDE; m += 8)
            for (int64_t k = 8; k <= SIDE; k += 8)
                for (size_t w = 0; w < sizeof waves / sizeof *waves; w++) {
                    double rows, columns, r, c;
                    count_footprint(mappings[i], m, k, waves[w], &rows, &columns);
                    traffic_of_wave(mappings[i], m, k, waves[w], &r, &c);
                    error += fabs(log((r + c) / (rows + columns)));
                    n++;
                    if (fabs(log((r + c) / (rows + columns))) > 0.5)
                        fail_msg("mapping %d, %lld x %lld tiles, wave %lld: %g + %g, the walk has %g + %g",
                                 mappings[i], (long long)m, (long long)k, (long long)waves[w], r, c, rows,
                                 columns);
                }
    if (error / n > 0.06) fail_msg("mean error of %d footprints is %g", n, error / n);
}

/* ---- kernels of the ready configs ---- */

typedef void KernelFn(void *ctx, const Solution *s, const ModelKernel *k);

/* Calls fn for each valid solution of the config's first problem type. */
static size_t each_kernel(const char *config, const char *arch, KernelFn *fn, void *ctx)
{
    Arena a;
    Config *c;
    const Target *t = target_find(str_from(arch));
    size_t n = 0;
    arena_init(&a, 0);
    assert_ok(config_read(&a, config, &(ConfigOptions){0}, &c));
    const ProblemGroup *g = &c->problem[0];
    for (size_t i = 0; i < g->n_size_groups; i++) {
        Space sp;
        Fork f;
        Deriver d;
        bool more;
        DeriveLimits limits = {.writer = true, .max_depth_u = (int32_t)c->globals.MaxDepthU};
        assert_ok(deriver_init(&d, &g->pt, t, &limits));
        assert_ok(space_of_size_group(&sp, c, &g->pt, &g->size_group[i]));
        assert_ok(fork_init(&f, &sp, &d));
        assert_ok(fork_next(&f, &more));
        for (; more; n++) {
            ModelKernel k;
            assert_ok(model_kernel(&f.solution, t, &k));
            fn(ctx, &f.solution, &k);
            assert_ok(fork_next(&f, &more));
        }
        fork_fini(&f);
        space_fini(&sp);
    }
    arena_fini(&a);
    return n;
}

typedef struct {
    ModelDevice d;
    ModelRates r[MODEL_CLASSES];
    double best; /* part of the bound that the best kernel reaches at the size */
    ModelSize z;
} Judge;

static ModelSize size_of(double m, double n, double k)
{
    return (ModelSize){m, n, k, 1, MODEL_ALIGN_MAX, MODEL_ALIGN_MAX, MODEL_ALIGN_MAX, false, 0, 0};
}

static void judge(void *ctx, const Solution *s, const ModelKernel *k)
{
    Judge *j = ctx;
    ModelTime t;
    static const double sizes[][4] = {
        {1, 1, 1, 1}, {64, 64, 64, 1}, {4096, 4096, 4096, 1}, {1, 4096, 4096, 1}, {128, 128, 128, 64}};
    double sum = 0;
    (void)s;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        ModelSize z = size_of(sizes[i][0], sizes[i][1], sizes[i][2]);
        z.batch = sizes[i][3];
        double seconds = model_time(k, &j->d, &j->r[k->class], &z, &t);
        assert_true(isfinite(seconds) && seconds > 0 && seconds == t.seconds);
        assert_true(seconds >= t.bound_seconds * 0.999);
        assert_true(t.edge_waste >= 0 && t.edge_waste < 1 && t.last_fill > 0 && t.last_fill <= 1);
        for (int m = 0; m < MODEL_N_TERMS; m++) sum += t.term[m];
        assert_true(seconds <= sum * 1.2);
    }
    double part = model_time(k, &j->d, &j->r[k->class], &j->z, &t);
    if (t.bound_seconds / part > j->best) j->best = t.bound_seconds / part;
}

static void every_family(void **state)
{
    (void)state;
    static const struct {
        const char *config, *arch;
        double least;
    } of[] = {{"test/data/search/h200_hgemm_list.yaml", "sm_90a", 0.6},
              {"test/data/search/h200_sgemm_list.yaml", "sm_90a", 0.5},
              {"configs/a100_dgemm.yaml", "sm_80", 0.5},
              {"configs/mi200_hgemm.yaml", "gfx90a", 0.4},
              {"configs/vega20_sgemm.yaml", "gfx906", 0.4},
              {"configs/navi31_hgemm.yaml", "gfx1100", 0.4},
              {"configs/host.yaml", "x86-64-v4", 0.4}};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        Judge j = {.z = size_of(4096, 4096, 4096)};
        model_of_part(target_find(str_from(of[i].arch)), STR_NULL, 4, &j.d);
        model_rates_typical(j.r);
        assert_true(each_kernel(of[i].config, of[i].arch, judge, &j) > 10);
        if (j.best < of[i].least || j.best > 1)
            fail_msg("%s: the best kernel reaches %.3f of the hardware's bound at 4096", of[i].config,
                     j.best);
    }
}

/* ---- what it must say ---- */

static const ModelKernel kernel = {MODEL_KERNEL_RING, .tile_m = 128, .tile_n = 128, .threads = 256,
                                   .groups = 2,       .split = 1,    .free_a = 1,   .local_bytes = 1536};

static double seconds_of(const ModelKernel *k, ModelSize z, ModelTime *out)
{
    ModelDevice d;
    ModelRates r = model_rates((ModelClass)k->class);
    model_of_part(target_find(STR("sm_90a")), STR("H200"), 0, &d);
    assert_true(d.n_cu == 132 && d.dram_rate == 4800e9);
    return model_time(k, &d, &r, &z, out);
}

static void direction(void **state)
{
    (void)state;
    ModelTime t;
    ModelKernel split = kernel, narrow = kernel, large = kernel;
    large.tile_m = large.tile_n = 256, large.groups = 1, large.local_bytes = 3072;
    split.split = 8, split.split_kind = MODEL_SPLIT_WORKSPACE;
    narrow.load_a = narrow.load_b = 2;
    /* few tiles and much K: split; many tiles: do not */
    assert_true(seconds_of(&split, size_of(256, 256, 16384), NULL) <
                seconds_of(&kernel, size_of(256, 256, 16384), NULL));
    assert_true(seconds_of(&split, size_of(8192, 8192, 512), NULL) >
                seconds_of(&kernel, size_of(8192, 8192, 512), NULL));
    /* narrow loads cost time; one more tile than compute units have places costs a wave */
    assert_true(seconds_of(&narrow, size_of(4096, 4096, 4096), NULL) >
                1.5 * seconds_of(&kernel, size_of(4096, 4096, 4096), NULL));
    double one = seconds_of(&kernel, size_of(128 * 132, 256, 4096), &t);
    assert_true(t.waves == 1 && t.last_fill == 1 && t.edge_waste == 0);
    double two = seconds_of(&kernel, size_of(128 * 132 + 1, 256, 4096), &t);
    assert_true(t.waves == 2 && t.last_fill < 0.01 && t.edge_waste > 0);
    assert_true(two > 1.3 * one);
    /* what binds: compute at large sizes, DRAM at a matrix times a vector, the launch at a tiny one */
    seconds_of(&large, size_of(8192, 8192, 8192), &t);
    assert_string_equal(model_term_name(t.binds), "math");
    /* 64 elements of each thread take about 2 us more than lines by the copy engine (H200) */
    ModelKernel engine = kernel, elements;
    engine.class = MODEL_ENGINE, engine.threads = 384, engine.groups = 1, engine.rate = 4096;
    elements = engine, elements.store = 2;
    const double by_line = seconds_of(&engine, size_of(1024, 1024, 64), NULL),
                 by_element = seconds_of(&elements, size_of(1024, 1024, 64), NULL);
    assert_true(by_element - by_line > 1.3e-6 && by_element - by_line < 2.7e-6);
    ModelSize ragged = size_of(1024, 1024, 64), pixels = size_of(65536, 320, 2880);
    ragged.align_d = 2;
    assert_true(seconds_of(&engine, ragged, NULL) == by_element);
    /* nine taps of a filter read a pixel */
    seconds_of(&engine, pixels, &t);
    const double dram = t.dram_read;
    pixels.once_a = 1.0 / 9;
    seconds_of(&engine, pixels, &t);
    assert_true(t.dram_read < 0.5 * dram);
    /* rows of 128 bytes at multiples of 16 lie in two lines but for one in eight; copies are aligned */
    ModelKernel boxes = engine;
    ModelSize shifted = size_of(2144, 504, 3856);
    boxes.depth = 64;
    const double in_lines = seconds_of(&boxes, shifted, &t), read = t.l2_read;
    shifted.align_a = shifted.align_b = 16;
    assert_true(seconds_of(&boxes, shifted, &t) > in_lines);
    assert_true(fabs(t.l2_read / read - (1 + 0.7 * (128 - 16) / 128.0)) < 1e-9);
    boxes.pack_a = boxes.pack_b = MODEL_PACK_ALWAYS;
    seconds_of(&boxes, shifted, &t);
    assert_true(fabs(t.l2_read / read - 1) < 1e-9);
    seconds_of(&kernel, size_of(1, 1, 1), &t);
    assert_true(t.binds == MODEL_TERM_launch || t.binds == MODEL_TERM_fill || t.binds == MODEL_TERM_store);
}

static bool is_near(double x, double y) { return fabs(x / y - 1) < 1e-6; }

/* What does not happen is not charged: copies of aligned operands, and parts of sectors where rows follow
 * each other. */
static void what_is_not_done_is_free(void **state)
{
    (void)state;
    ModelTime t;
    ModelKernel engine = kernel, thin = kernel;
    engine.class = MODEL_ENGINE, engine.groups = 1, engine.depth = 64;
    /* PackOperands copies what the copy engine cannot read, or all that it has to transpose */
    ModelSize aligned = size_of(2048, 2048, 2048), odd = aligned;
    odd.align_a = 2;
    engine.pack_a = MODEL_PACK_UNALIGNED;
    const double in_place = seconds_of(&engine, aligned, &t);
    assert_true(t.term[MODEL_TERM_copy] <= 0);
    assert_true(seconds_of(&engine, odd, &t) > in_place && t.term[MODEL_TERM_copy] > 0);
    engine.pack_a = MODEL_PACK_ALWAYS;
    assert_true(seconds_of(&engine, aligned, &t) > in_place && t.term[MODEL_TERM_copy] > 0);
    engine.pack_a = MODEL_PACK_NEVER;
    const double k = 4096;
    /* columns of 4 halves of a high A are sectors of their own, those of an A of 4 rows are not */
    thin.tile_m = 4;
    seconds_of(&thin, size_of(4 * 64, 128, k), &t);
    assert_true(is_near(t.l2_read, 64 * (4 * 4 + 128) * k * 2));
    seconds_of(&thin, size_of(4, 128, k), &t);
    assert_true(is_near(t.l2_read, (4 + 128) * k * 2));
}

/* Stream-K is predicted from the cut that the kernel and its launch make, and parts that do not run together
 * wait for each other. */
static void parts_of_launches(void **state)
{
    (void)state;
    const StreamKernel cuts = {3, 64, 144, 717, 0};
    ModelKernel plain = kernel, stream, joined;
    StreamCut cut;
    ModelTime t;
    plain.class = MODEL_ENGINE, plain.tile_m = 256, plain.groups = 1, plain.depth = 64, plain.persistent = 1;
    stream = joined = plain;
    stream.split_kind = MODEL_SPLIT_STREAM;
    stream.stream_k = 3, stream.stream_part = 144, stream.stream_fix = 717;
    /* a rest of 12 tiles: cut into 8 parts at K 8192, not at K 512 */
    const ModelSize z = size_of(256 * 12, 128 * 12, 8192), shallow = size_of(256 * 12, 128 * 12, 512);
    assert_true(stream_cut(&cuts, 144, 132, 8192, 1, &cut));
    assert_int_equal(cut.tiles, 12);
    assert_int_equal(cut.parts, 8);
    assert_int_equal(cut.share, 16);
    assert_true(stream_cut(&cuts, 144, 132, 512, 1, &cut) && cut.tiles == 0);
    const double whole = seconds_of(&plain, z, NULL), shares = seconds_of(&stream, z, &t);
    assert_true(shares < 0.75 * whole && shares > 0.5 * whole && t.term[MODEL_TERM_split] > 0);
    assert_true(seconds_of(&plain, shallow, NULL) == seconds_of(&stream, shallow, &t));
    assert_true(t.term[MODEL_TERM_split] <= 0);
    /* shares at any chunk of K read their operands by themselves */
    stream.stream_k = 1, stream.stream_part = 0;
    assert_true(seconds_of(&stream, size_of(7168, 3072, 8192), NULL) >
                1.2 * seconds_of(&plain, size_of(7168, 3072, 8192), NULL));
    /* parts that the launch hands out: 66 tiles on 132 compute units in two parts each, full rounds in one */
    stream.stream_k = 3, stream.stream_part = 144, stream.stream_blocks = 1;
    const ModelSize half = size_of(256 * 6, 128 * 11, 8192), full = size_of(256 * 12, 128 * 11, 8192);
    assert_true(seconds_of(&stream, half, &t) < 0.8 * seconds_of(&plain, half, NULL));
    assert_true(t.term[MODEL_TERM_split] > 0);
    assert_true(seconds_of(&stream, full, &t) == seconds_of(&plain, full, NULL));
    stream.stream_k = 1, stream.stream_part = 0, stream.stream_blocks = 0;
    /* four parts a row of 32 or 43 tiles apart: the 172 of the latter do not run at once */
    joined.split = 4, joined.split_kind = MODEL_SPLIT_JOINED, joined.tile_m = 128;
    const double together = seconds_of(&joined, size_of(4096, 4096, 4096), NULL);
    assert_true(seconds_of(&joined, size_of(5504, 4096, 4096), NULL) > 2.5 * together);
}

/* 10^7 candidates are scored in seconds; at run time a selection is below a microsecond. */
static void is_fast(void **state)
{
    (void)state;
    ModelDevice d;
    ModelRates r = model_rates(MODEL_MATRIX);
    model_of_part(target_find(STR("sm_90a")), STR("H200"), 0, &d);
    double least = 1, sum = 0;
    for (int turn = 0; turn < 20; turn++) { /* the machine may be busy */
        struct timespec from, to;
        clock_gettime(CLOCK_MONOTONIC, &from);
        for (int i = 0; i < 2000; i++) {
            ModelSize z = size_of(1000 + i, 2000 - i, 512);
            sum += model_time(&kernel, &d, &r, &z, NULL);
        }
        clock_gettime(CLOCK_MONOTONIC, &to);
        double s = ((double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec)) / 2000;
        if (s < least) least = s;
    }
    assert_true(sum > 0);
    if (least > 1e-6) fail_msg("a prediction takes %.0f ns, expected less than 1000", least * 1e9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(footprint_is_the_walks),
                                       cmocka_unit_test(every_family),
                                       cmocka_unit_test(direction),
                                       cmocka_unit_test(what_is_not_done_is_free),
                                       cmocka_unit_test(parts_of_launches),
                                       cmocka_unit_test(is_fast)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
