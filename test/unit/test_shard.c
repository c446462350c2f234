/* Unit tests of tuner/measure/shard and tuner/run/shard_deal: files of shards are read back as they were
 * written and refused where they are damaged; sizes are dealt evenly, with few kernels for each shard. */
#include "test/support.h"

#include <math.h>

#include "measure/shard.h"
#include "run/shard_deal.h"

static void read_both(Arena *a, ShardPlan *p, ShardResult *r)
{
    assert_ok(shard_plan_parse(a, "plan.yaml", test_data(a, "shard/plan.yaml"), p));
    p->id = STR("id");
    assert_ok(shard_result_parse(a, "result.yaml", test_data(a, "shard/result.yaml"), p, 0, r));
}

static void test_files_again(void **state)
{
    Arena a;
    ShardPlan p;
    ShardResult r;
    Buf text;
    (void)state;
    arena_init(&a, 0);
    buf_init(&text);
    read_both(&a, &p, &r);
    assert_int_equal(p.n, 3);
    assert_int_equal(p.n_groups, 2);
    assert_str(p.group[1], "Cijk_Ailk_Bljk_SB_01");
    assert_int_equal(p.shard[0].n_sizes, 2);
    assert_int_equal(p.shard[0].range[1].first, 3);
    assert_str(r.host, "node7");
    assert_int_equal(r.group[0].n_kernels, 4);
    assert_int_equal(r.group[0].kernel[3].permutation, 6);
    assert_true(str_eq(r.group[0].kernel[0].name, r.group[0].kernel[0].kernel_name));
    assert_str(r.group[0].kernel[3].kernel_name, "Cijk_Ailk_Bljk_SB_MT64x32x8_SN_GSU2_WGM0");
    assert_ok(shard_plan_print(&p, &text));
    assert_true(str_eq(buf_view(&text), test_data(&a, "shard/plan.yaml")));
    buf_reset(&text);
    assert_ok(shard_result_print(&r, &text));
    assert_true(str_eq(buf_view(&text), test_data(&a, "shard/result.yaml")));
    buf_fini(&text);
    arena_fini(&a);
}

/* The text with the first `from` replaced. */
static Str replaced(Arena *a, Str text, const char *from, const char *to)
{
    size_t at = 0, n = strlen(from);
    while (at + n <= text.n && memcmp(text.s + at, from, n)) at++;
    assert_true(at + n <= text.n);
    Str out = arena_printf(a, "%.*s%s%.*s", (int)at, text.s, to, (int)(text.n - at - n), text.s + at + n);
    assert_non_null(out.s);
    return out;
}

static void test_bad_plans(void **state)
{
    static const char *const bad[][3] = {
        {"tuner-shards: 1", "tuner-shards: 2", "tuner-shards is 2, this tuner reads and writes 1"},
        {"tuner-shards: 1", "shards-of: 1", "expected the key 'tuner-shards'"},
        {"[config.yaml,", "[../config.yaml,", "files '../config.yaml', expected a name"},
        {"[config.yaml,", "['a/b',", "files 'a/b', expected a name"},
        {"[0, 3, 3]", "[0, 3, 4]", "sizes"},
        {"[0, 3, 3]", "[2, 0, 0]", "sizes"},
        {"[0, 3, 3]", "[0, 0, 0]", "are not in order"},
        {"[0, 0, 0], [0, 3, 3]", "", "sizes"},
        {"configs: 1", "configs: 3", "configs"},
        {"simulate: false", "simulate: maybe", "simulate"},
        {"version: 0.1.0", "edition: 0.1.0", "the key 'version' is missing"},
        {"[1, 0, 0]", "[1, 0, 18446744073709551616]", "sizes"},
    };
    Arena a;
    ShardPlan p;
    (void)state;
    arena_init(&a, 0);
    Str good = test_data(&a, "shard/plan.yaml");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        Str text = replaced(&a, good, bad[i][0], bad[i][1]);
        assert_int_equal(shard_plan_parse(&a, "plan.yaml", text, &p), ERR_INPUT);
        if (!strstr(err_message(), bad[i][2])) fail_msg("'%s' lacks '%s'", err_message(), bad[i][2]);
        assert_true(strncmp(err_message(), "plan.yaml", 9) == 0);
    }
    const size_t end = good.n - strlen("sha256: ") - 65; /* the hash, which readers of files compare */
    for (size_t n = 0; n < end - 1; n++) {
        Err e = shard_plan_parse(&a, "cut", (Str){good.s, n}, &p);
        if (e ? e != ERR_INPUT || strncmp(err_message(), "cut", 3) : p.n < 1 || p.n > 3)
            fail_msg("cut at %zu: %zu shards, %s", n, p.n, err_message());
    }
    arena_fini(&a);
}

static void test_bad_results(void **state)
{
    static const char *const bad[][3] = {
        {"plan: id", "plan: other", "the result belongs to plan other, expected plan"},
        {"shard: 0", "shard: 1", "the result belongs to shard 1, expected shard 0"},
        {"- group: 0", "- group: 2", "group"},
        {"- [6, ", "- [8, ", "kernels"},
        {"- [6, Cijk", "- [6, ../Cijk", "expected a name"},
        {"VWB8, Cijk", "VWB8, ../Cijk", "expected a name"},
        {"compute-units: 60", "compute-units: -1", "compute-units"},
    };
    Arena a;
    ShardPlan p;
    ShardResult r;
    (void)state;
    arena_init(&a, 0);
    read_both(&a, &p, &r);
    Str good = test_data(&a, "shard/result.yaml");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        Str text = replaced(&a, good, bad[i][0], bad[i][1]);
        assert_int_equal(shard_result_parse(&a, "result.yaml", text, &p, 0, &r), ERR_INPUT);
        if (!strstr(err_message(), bad[i][2])) fail_msg("'%s' lacks '%s'", err_message(), bad[i][2]);
    }
    arena_fini(&a);
}

/* ---- dealing ---- */

enum { GROUPS = 5, SIZES = 4000 };

static size_t sizes_make(DealSize *size, double *setup)
{
    uint64_t state = 1;
    for (int g = 0; g < GROUPS; g++) setup[g] = 5 * (g + 1);
    for (size_t i = 0; i < SIZES; i++) {
        int64_t v[3];
        for (int d = 0; d < 3; d++) {
            state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            v[d] = (int64_t)exp2((double)(state >> 40 & 0x3ff) / 1023 * 9 + 4);
        }
        size[i] = (DealSize){.group = (int32_t)(i % GROUPS),
                             .number = (int64_t)(i / GROUPS),
                             .m = v[0],
                             .n = v[1],
                             .k = v[2],
                             .seconds = 0.5 + 1e-9 * (double)v[0] * (double)v[1],
                             .held_out = i / GROUPS >= SIZES / GROUPS * 9 / 10};
    }
    return SIZES;
}

static void check_dealt(const DealSize *size, const double *setup, size_t n_shards)
{
    double seconds[256], most = 0, sum = 0;
    size_t touched = 0;
    static bool seen[GROUPS][SIZES];
    memset(seen, 0, sizeof seen);
    for (size_t i = 0; i < SIZES; i++) {
        const bool first = i == 0 || size[i].shard != size[i - 1].shard;
        assert_int_equal(size[i].shard, i == 0 ? 0 : size[i - 1].shard + first);
        touched += first || size[i].group != size[i - 1].group;
        assert_false(seen[size[i].group][size[i].number]);
        seen[size[i].group][size[i].number] = true;
    }
    assert_int_equal(size[SIZES - 1].shard, n_shards - 1);
    assert_true(touched <= n_shards + GROUPS - 1); /* a shard begins, or a group */
    for (size_t s = 0; s < n_shards; s++) {
        size_t n_given = 0;
        for (size_t i = 0; i < SIZES; i++) n_given += size[i].shard == (int32_t)s && !size[i].held_out;
        assert_true(n_given > 0);
    }
    deal_seconds(size, SIZES, setup, seconds);
    for (size_t s = 0; s < n_shards; s++) sum += seconds[s], most = fmax(most, seconds[s]);
    if (most > 1.15 * sum / (double)n_shards)
        fail_msg("%g s, the mean is %g s", most, sum / (double)n_shards);
}

static void test_deal(void **state)
{
    static DealSize size[SIZES];
    double setup[GROUPS];
    static const size_t shards[] = {1, 2, 3, 16, 64};
    (void)state;
    for (size_t i = 0; i < sizeof shards / sizeof *shards; i++) {
        sizes_make(size, setup);
        assert_ok(deal(size, SIZES, setup, shards[i]));
        check_dealt(size, setup, shards[i]);
    }
}

/* Sizes of a shard are near each other: their range of M, N and K is smaller than that of all. */
static void test_deal_near(void **state)
{
    static DealSize size[SIZES];
    double setup[GROUPS], within = 0;
    (void)state;
    sizes_make(size, setup);
    for (size_t i = 0; i < SIZES; i++)
        size[i].group = 0, size[i].number = (int64_t)i, size[i].held_out = false;
    assert_ok(deal(size, SIZES, setup, 64));
    for (size_t i = 1; i < SIZES; i++)
        if (size[i].shard == size[i - 1].shard)
            within += fabs(log2((double)size[i].m / (double)size[i - 1].m)) +
                      fabs(log2((double)size[i].n / (double)size[i - 1].n)) +
                      fabs(log2((double)size[i].k / (double)size[i - 1].k));
    assert_true(within / SIZES < 0.6 * 9); /* of random pairs: 9 (three times a third of 9 octaves) */
}

static void test_deal_refused(void **state)
{
    DealSize size[4] = {
        {.seconds = 1}, {.seconds = 1, .number = 1}, {.seconds = 1, .number = 2, .held_out = true}};
    double setup[1] = {1};
    (void)state;
    assert_int_equal(deal(size, 3, setup, 3), ERR_INPUT);
    assert_non_null(strstr(err_message(), "expected 1 to 2"));
    assert_int_equal(deal(size, 3, setup, 0), ERR_INPUT);
    assert_ok(deal(size, 3, setup, 2));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files_again), cmocka_unit_test(test_bad_plans),
        cmocka_unit_test(test_bad_results), cmocka_unit_test(test_deal),
        cmocka_unit_test(test_deal_near),   cmocka_unit_test(test_deal_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
