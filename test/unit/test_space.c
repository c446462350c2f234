/* The fork: order, groups, counting, duplicates; names of what it gives. */
#include "base/map.h"
#include "test/space_setup.h"

typedef struct {
    ProblemType pt;
    Deriver deriver;
    Space space;
} Setup;

static void setup_init(Setup *s, const char *arch)
{
    assert_ok(problem_type_gemm(&s->pt, false, false, TYPE_S, TYPE_S, TYPE_S));
    assert_ok(deriver_init(&s->deriver, &s->pt, target_find(str_from(arch)), NULL));
    assert_ok(space_init(&s->space, &s->pt));
}

static void fork_of_tiles(Setup *s)
{
    const IntList tiles[] = {{2, {4, 4}}, {2, {8, 8}}}, groups[] = {{3, {16, 16, 1}}, {3, {8, 8, 1}}};
    setup_init(s, "gfx906");
    LISTS(s, ThreadTile, tiles, 2); /* not in table order: the order of the config does not matter */
    INTS(s, DepthU, 16);
    INTS(s, GlobalSplitU, 1, 4);
    LISTS(s, WorkGroup, groups, 2);
    assert_ok(space_seal(&s->space));
}

/* Names in order as Tensile gives them, long and short. */
static void test_order_and_names(void **state)
{
    (void)state;
    static const char *const expected[][2] = {
        {"Cijk_Ailk_Bljk_SB_MT64x64x16_SN_GSU1_K1_TT4_4_WG16_16_1", "S4"},
        {"Cijk_Ailk_Bljk_SB_MT64x64x16_SN_GSU4_K1_TT4_4_WG16_16_1", "S5"},
        {"Cijk_Ailk_Bljk_SB_MT32x32x16_SN_GSU1_K1_TT4_4_WG8_8_1", "S0"},
        {"Cijk_Ailk_Bljk_SB_MT32x32x16_SN_GSU4_K1_TT4_4_WG8_8_1", "S1"},
        {"Cijk_Ailk_Bljk_SB_MT128x128x16_SN_GSU1_K1_TT8_8_WG16_16_1", "S6"},
        {"Cijk_Ailk_Bljk_SB_MT128x128x16_SN_GSU4_K1_TT8_8_WG16_16_1", "S7"},
        {"Cijk_Ailk_Bljk_SB_MT64x64x16_SN_GSU1_K1_TT8_8_WG8_8_1", "S2"},
        {"Cijk_Ailk_Bljk_SB_MT64x64x16_SN_GSU4_K1_TT8_8_WG8_8_1", "S3"},
    };
    Setup s;
    Fork fork;
    Namer namer;
    SerialNamer *serial;
    Buf b;
    int64_t size;
    bool more = true;
    buf_init(&b);
    fork_of_tiles(&s);
    assert_ok(space_size(&s.space, &size));
    assert_int_equal(size, 8);
    if (namer_init(&namer, &s.pt)) abort();
    assert_ok(serial_namer_new(&serial));
    assert_ok(fork_init(&fork, &s.space, &s.deriver));
    for (;;) {
        assert_ok(fork_next(&fork, &more));
        if (!more) break;
        namer_note(&namer, &fork.solution);
        assert_ok(serial_namer_note(serial, &fork.solution));
    }
    assert_ok(serial_namer_done(serial));
    fork_fini(&fork);
    assert_ok(fork_init(&fork, &s.space, &s.deriver));
    for (size_t i = 0; i < 8; i++) {
        assert_ok(fork_next(&fork, &more));
        assert_true(more && fork.p == (int64_t)i);
        buf_reset(&b);
        solution_name(&namer, &fork.solution, NAME_KERNEL, &b);
        assert_str(buf_view(&b), expected[i][0]);
        buf_reset(&b);
        serial_name(serial, &fork.solution, &b);
        assert_str(buf_view(&b), expected[i][1]);
    }
    assert_ok(fork_next(&fork, &more));
    assert_false(more);
    assert_int_equal(fork.n_unique, 8);
    serial_namer_free(serial);
    fork_fini(&fork);
    space_fini(&s.space);
    buf_fini(&b);
}

/* Stepping and direct access agree, groups last and over single dimensions. */
static void test_groups(void **state)
{
    (void)state;
    Setup s;
    Solution entry, got;
    Arena a;
    SpaceWalk w;
    arena_init(&a, 0);
    setup_init(&s, "gfx906");
    solution_init(&entry, &s.pt);
    assert_ok(space_group(&s.space));
    for (int32_t i = 0; i < 3; i++) {
        const ParamId set[] = {PARAM_DepthU, PARAM_VectorWidth};
        entry.DepthU = 8 << i, entry.VectorWidth = 1 << i;
        assert_ok(space_group_entry(&s.space, set, i == 2 ? 1 : 2, &entry)); /* the last sets DepthU alone */
    }
    INTS(&s, VectorWidth, 4, 2);
    INTS(&s, WorkGroupMapping, 1, 8);
    assert_ok(space_seal(&s.space));
    static const int32_t expected[12][3] = {
        /* DepthU, VectorWidth, WorkGroupMapping */
        {8, 1, 1},  {8, 1, 1},  {8, 1, 8},  {8, 1, 8},  {16, 2, 1}, {16, 2, 1},
        {16, 2, 8}, {16, 2, 8}, {32, 4, 1}, {32, 2, 1}, {32, 4, 8}, {32, 2, 8},
    };
    assert_ok(space_walk_init(&w, &s.space, &a));
    for (int64_t p = 0; p < 12; p++) {
        assert_true(space_walk_next(&w));
        space_get(&s.space, p, &got);
        assert_int_equal(got.DepthU, expected[p][0]);
        assert_int_equal(got.VectorWidth, expected[p][1]);
        assert_int_equal(got.WorkGroupMapping, expected[p][2]);
        assert_memory_equal(&got, &w.current, sizeof got);
    }
    assert_false(space_walk_next(&w));
    space_fini(&s.space);
    arena_fini(&a);
}

static void test_replaced_and_default(void **state)
{
    (void)state;
    Setup s;
    Solution got;
    int64_t size;
    setup_init(&s, "gfx906");
    INTS(&s, DepthU, 8, 16, 32);
    INTS(&s, DepthU, 4);                                        /* the later one wins */
    assert_ok(space_param(&s.space, param_at(PARAM_StaggerU))); /* no value: the default */
    assert_ok(space_seal(&s.space));
    assert_ok(space_size(&s.space, &size));
    assert_int_equal(size, 1);
    space_get(&s.space, 0, &got);
    assert_int_equal(got.DepthU, 4);
    assert_int_equal(got.StaggerU, 32);
    space_fini(&s.space);
}

/* 10^12 points are counted, 10^24 are refused; nothing is enumerated. */
static void test_large(void **state)
{
    (void)state;
    static const ParamId ids[] = {
        PARAM_DepthU,  PARAM_GlobalSplitU, PARAM_WorkGroupMapping, PARAM_PrefetchLocalRead,
        PARAM_LdsPadA, PARAM_LdsPadB,      PARAM_MinVgprNumber,    PARAM_MaxVgprNumber};
    Setup s;
    Solution got;
    int64_t size;
    int32_t v[1000];
    for (int32_t i = 0; i < 1000; i++) v[i] = i + 1;
    setup_init(&s, "gfx906");
    for (int i = 0; i < 4; i++) set_ints(&s.space, &s.pt, ids[i], v, 1000);
    assert_ok(space_seal(&s.space));
    assert_ok(space_size(&s.space, &size));
    assert_true(size == INT64_C(1000000000000));
    space_get(&s.space, size - 1, &got);
    assert_int_equal(got.DepthU, 1000);
    space_fini(&s.space);
    setup_init(&s, "gfx906");
    for (int i = 0; i < 8; i++) set_ints(&s.space, &s.pt, ids[i], v, 1000);
    assert_ok(space_seal(&s.space));
    assert_int_equal(space_size(&s.space, &size), ERR_INPUT);
    space_fini(&s.space);
}

/* Different inputs that derive to the same state are one solution, the first; rejections are counted. */
static void test_duplicates(void **state)
{
    (void)state;
    Setup s;
    Fork fork;
    bool more;
    setup_init(&s, "gfx906");
    INTS(&s, DepthU, 32, 16, 6);
    INTS(&s, MinKForGSU, 16, 32, 256); /* one value when GlobalSplitU is 1 */
    assert_ok(space_seal(&s.space));
    assert_ok(fork_init(&fork, &s.space, &s.deriver));
    assert_ok(fork_next(&fork, &more));
    assert_true(more && fork.p == 0 && fork.solution.MinKForGSU == 256);
    while (more) assert_ok(fork_next(&fork, &more));
    assert_int_equal(fork.n_unique, 2);
    assert_int_equal(fork.n_duplicates, 4);
    assert_int_equal(fork.counts.n[RULE_NONE], 6);
    assert_int_equal(fork.counts.n[RULE_NO_DEPTH_U], 3);
    fork_fini(&fork);
    space_fini(&s.space);
}

/* What the fork keeps is what a table of all states would keep: first of equal ones, in order. */
static void check_against_table(Setup *s)
{
    Fork fork;
    Map seen;
    int64_t size, n_kept = 0;
    bool more = true;
    Solution *all = malloc(sizeof *all);
    assert_non_null(all);
    map_init(&seen);
    assert_ok(space_seal(&s->space));
    assert_ok(space_size(&s->space, &size));
    assert_ok(fork_init(&fork, &s->space, &s->deriver));
    for (int64_t p = 0; p < size; p++) {
        Verdict verdict;
        bool added = false, kept;
        space_get(&s->space, p, all);
        solution_derive(&s->deriver, all, &verdict);
        Hash128 h = solution_hash(all);
        if (verdict.rule == RULE_NONE)
            assert_non_null(map_put(&seen, (Str){(const char *)&h, sizeof h}, &added));
        assert_ok(fork_step(&fork, &more, &kept));
        assert_true(more);
        assert_int_equal(kept, added);
        n_kept += kept;
    }
    assert_ok(fork_step(&fork, &more, &(bool){false}));
    assert_false(more);
    assert_int_equal(fork.n_unique, n_kept);
    assert_true(n_kept > 0 && fork.n_duplicates > 0); /* else this shows nothing */
    fork_fini(&fork);
    map_fini(&seen);
    free(all);
}

/* Values that derivation overwrites, before and after the values it gives them; repeated values; groups over
 * them. */
static void test_duplicates_without_table(void **state)
{
    (void)state;
    const IntList tiles[] = {{2, {4, 4}}, {2, {8, 4}}, {2, {4, 4}}};
    for (int order = 0; order < 2; order++) {
        Setup s;
        setup_init(&s, "gfx906");
        LISTS(&s, ThreadTile, tiles, 3);
        if (order) {
            INTS(&s, VectorWidth, 4, -1, 2, 4, 1);
            INTS(&s, DepthU, 16, 8, -2, -1);
            INTS(&s, StaggerU, 32, 0);
            INTS(&s, GlobalReadVectorWidth, 2, -1, 4);
        } else {
            INTS(&s, VectorWidth, -1, 1, 2, 4);
            INTS(&s, DepthU, -1, 8, -3, 16, 16);
            INTS(&s, StaggerU, 0, 32);
            INTS(&s, GlobalReadVectorWidth, -1, 4, 2);
        }
        INTS(&s, StaggerUStride, 256, 0, 512);
        INTS(&s, GlobalSplitU, 1, 4);
        INTS(&s, MinKForGSU, 128, 256);
        if (order) {
            Solution values;
            const ParamId set[] = {PARAM_DepthU, PARAM_VectorWidth};
            solution_init(&values, &s.pt);
            assert_ok(space_group(&s.space));
            for (int i = 0; i < 3; i++) {
                values.DepthU = i == 1 ? 8 : 16;
                values.VectorWidth = i == 2 ? 2 : -1;
                assert_ok(space_group_entry(&s.space, set, (size_t)(i == 0 ? 1 : 2), &values));
            }
        }
        check_against_table(&s);
        space_fini(&s.space);
    }
}

/* The table of hashes grows, and still knows what it saw. */
static void test_many(void **state)
{
    (void)state;
    Setup s;
    Fork fork;
    bool more = true;
    int32_t v[4096];
    for (int32_t i = 0; i < 4096; i++) v[i] = i + 1;
    setup_init(&s, "gfx906");
    INTS(&s, DepthU, 16);
    INTS(&s, VectorWidth, -1, -1); /* derived to 4, which is no value of this space */
    set_ints(&(&s)->space, &(&s)->pt, PARAM_GlobalSplitU, v, 4096);
    assert_ok(space_seal(&s.space));
    assert_ok(fork_init(&fork, &s.space, &s.deriver));
    while (more) assert_ok(fork_next(&fork, &more));
    assert_int_equal(fork.n_unique, 4096);
    assert_int_equal(fork.n_hashed, 4096);
    assert_int_equal(fork.n_duplicates, 4096);
    fork_fini(&fork);
    space_fini(&s.space);
}

/* Equal hashes exactly for equal full names: every parameter that names show is part of the hash. */
static void test_hash_is_full_name(void **state)
{
    (void)state;
    Setup s;
    Solution a, b;
    setup_init(&s, "gfx906");
    solution_init(&a, &s.pt);
    a.DepthU = 16, a.WorkGroupMappingDim = 0;
    assert_true(solution_derive(&s.deriver, &a, NULL));
    for (int i = 0; i < PARAM_COUNT; i++) {
        const Param *p = param_at((ParamId)i);
        if (!param_in_names(p) || p->kind == KIND_STR || p->group == GROUP_HOST || p->group == GROUP_NV)
            continue;
        b = a;
        ++*(int32_t *)solution_field(&b, p);
        Hash128 x = solution_hash(&a), y = solution_hash(&b);
        if (x.lo == y.lo) fail_msg("%s is not part of the hash", p->name);
    }
    b = a;
    b.NumLoadsA++, b.LdsNumElements++, b.SolutionIndex = 7, b.HostPackB = 0;
    Hash128 x = solution_hash(&a), y = solution_hash(&b);
    assert_true(x.lo == y.lo && x.hi == y.hi);
    b.CustomKernelName = STR("mine");
    y = solution_hash(&b);
    assert_true(x.lo != y.lo);
    space_fini(&s.space);
}

static void test_values_in_names(void **state)
{
    (void)state;
    Setup s;
    Solution a;
    Buf b;
    buf_init(&b);
    setup_init(&s, "gfx90a");
    solution_init(&a, &s.pt);
    a.KernelLanguage = LANG_ASSEMBLY, a.DepthU = 16, a.GlobalReadPerMfma = 25, a.PersistentKernel = -1;
    a.WorkGroupMapping = -4, a.LdcEqualsLdd = 1, a.AssertSizeMultiple = (IntMap){2, {0, 3}, {4, 8}};
    assert_true(solution_derive(&s.deriver, &a, NULL));
    solution_name_full(&a, &b);
    static const char *const parts[] = {"Cijk_Ailk_Bljk_SB_MT64x64x16_SE_1LDSB0_",
                                        "_GRPM0p25_",
                                        "_WGMn4_",
                                        "_KLA_",
                                        "_ISA90a_",
                                        "_ASM04_38_",
                                        "_LT1_FMA_",
                                        "_TT4_4_",
                                        "_WG16_16_1_",
                                        "_MMFGLC_",
                                        "_ASAE01_",
                                        "_PSLn1_",
                                        "_FSSC10_"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (!strstr(buf_cstr(&b), parts[i])) fail_msg("no %s in %s", parts[i], buf_cstr(&b));
    a.CustomKernelName = STR("by_hand");
    buf_reset(&b);
    solution_name_full(&a, &b);
    assert_str(buf_view(&b), "by_hand");
    space_fini(&s.space);
    buf_fini(&b);
}

/* One solution alone needs no parameter in its name. */
static void test_single(void **state)
{
    (void)state;
    Setup s;
    Solution a;
    Namer n;
    Buf b;
    buf_init(&b);
    setup_init(&s, "gfx906");
    solution_init(&a, &s.pt);
    a.DepthU = 16;
    assert_true(solution_derive(&s.deriver, &a, NULL));
    if (namer_init(&n, &s.pt)) abort();
    namer_note(&n, &a);
    solution_name(&n, &a, NAME_SOLUTION, &b);
    assert_str(buf_view(&b), "Cijk_Ailk_Bljk_SB_MT64x64x16_SN_");
    buf_reset(&b);
    solution_name(&n, &a, NAME_KERNEL, &b);
    assert_str(buf_view(&b), "Cijk_Ailk_Bljk_SB_MT64x64x16_SN_K1");
    space_fini(&s.space);
    buf_fini(&b);
}

static void test_file_base(void **state)
{
    (void)state;
    Buf b;
    buf_init(&b);
    kernel_file_base(STR("Cijk_Ailk_Bljk_SB_MT64x64x16_SN_K1"), 64, &b);
    assert_str(buf_view(&b), "Cijk_Ailk_Bljk_SB_MT64x64x16_SN_K1");
    buf_reset(&b);
    kernel_file_base(
        STR("Cijk_Ailk_Bljk_SB_MT64x64x16_SN_ABCDEFGHIJABCDEFGHIJABCDEFGHIJABCDEFGHIJABCDEFGHIJ"), 64, &b);
    assert_str(
        buf_view(&b),
        "Cijk_Ailk_Bljk_SB_MT64x64x16_SN_ABCDEFGHIJABCDEFLgZeVc5z2LTQ25-Ogf7b1OBIVlt7wvaACmPdZdHhD1M=");
    buf_fini(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order_and_names),
        cmocka_unit_test(test_groups),
        cmocka_unit_test(test_replaced_and_default),
        cmocka_unit_test(test_large),
        cmocka_unit_test(test_duplicates),
        cmocka_unit_test(test_duplicates_without_table),
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_hash_is_full_name),
        cmocka_unit_test(test_values_in_names),
        cmocka_unit_test(test_single),
        cmocka_unit_test(test_file_base),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
