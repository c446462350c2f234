/* Unit tests of what createlib and libtuner share: the keys of sizeMapping (problem/size_mapping.def) and the
 * names of helper kernels (problem/helper_name.h). */
#include "test/support.h"

#include "client/runtime/library.h"

typedef struct {
    const char *key;
    bool required;
} Key;

static const Key keys[] = {
#define KEY(key, kind, required, n, member, min, max, value) {#key, required},
#define EXT(key, kind, n, member, min, max, value, written) {#key, false},
#include "problem/size_mapping.def"
#undef KEY
#undef EXT
};
enum { N_KEYS = sizeof keys / sizeof *keys };

/* A solution with all keys of Tensile's but the one at without. */
static void library_make(Buf *b, size_t without)
{
    static const char head[] =
        "solutions:\n- name: K\n  index: 0\n  hardwarePredicate: {type: TruePred}\n"
        "  problemPredicate: {type: TruePred}\n  taskPredicate: {type: TruePred}\n"
        "  problemType: {operationIdentifier: Contraction_l_Ailk_Bljk_Cijk_Dijk, aType: Float,\n"
        "    bType: Float, cType: Float, dType: Float, useBeta: true, highPrecisionAccumulate: false}\n"
        "  sizeMapping: {other: 1";
    buf_puts(b, head);
    for (size_t i = 0; i < N_KEYS; i++) {
        const char *key = keys[i].key;
        if (i == without || !keys[i].required) continue;
        buf_printf(b, ", %s: ", key);
        if (!strcmp(key, "macroTile") || !strcmp(key, "workGroup"))
            buf_puts(b, "[16, 16, 1]");
        else if (!strcmp(key, "threadTile"))
            buf_puts(b, "[1, 1]");
        else if (!strcmp(key, "sourceKernel") || !strcmp(key, "persistentKernelAlongBatch"))
            buf_puts(b, "false");
        else
            buf_puts(b, "1");
    }
    buf_puts(b, "}\nlibrary: {type: Single, index: 0}\n");
}

static void test_required_keys(void **state)
{
    (void)state;
    const Hardware hw = {STR("gfx906"), 60, false};
    size_t n_required = 0;
    for (size_t i = 0; i <= N_KEYS; i++) {
        Buf b;
        Library *lib = NULL;
        buf_init(&b);
        library_make(&b, i);
        Err e = library_parse("lib", buf_view(&b), NULL, &hw, &lib);
        if (!e) e = library_load_all(lib);
        if (i < N_KEYS && keys[i].required) {
            n_required++;
            assert_int_equal(e, ERR_INPUT);
            if (!strstr(err_message(), keys[i].key)) fail_msg("'%s' without %s", err_message(), keys[i].key);
        } else {
            assert_ok(e);
        }
        library_free(lib);
        buf_fini(&b);
    }
    assert_int_equal(n_required, 13);
}

static void test_keys_are_in_file_order(void **state)
{
    (void)state;
    for (size_t i = 1; i < N_KEYS; i++)
        if (strcmp(keys[i - 1].key, keys[i].key) >= 0) fail_msg("%s after %s", keys[i].key, keys[i - 1].key);
}

static void test_helper_names(void **state)
{
    (void)state;
    static const struct {
        Reduction r;
        const char *name;
    } reductions[] = {
        {{1, 1, 1, 1}, "Cijk_S_PostGSU"},
        {{1, 1, 2, 1}, "Cijk_S_PostGSU_VW2"},
        {{4, 16, 2, 1}, "Cijk_S_PostGSU4_VW2"},
        {{128, 16, 1, 1}, "Cijk_S_PostGSU16_mod16"},
        {{128, 64, 2, 4}, "Cijk_S_PostGSU64_mod64_VW2_R4"},
        {{20, 16, 1, 1}, "Cijk_S_PostGSU4_mod16"},
    };
    char base[HELPER_NAME_MAX], name[HELPER_SYMBOL_MAX];
    helper_beta_only_name(STR("Cijk"), TYPE_H, false, true, base);
    assert_string_equal(base, "Cijk_H_GB_GA");
    helper_beta_only_name(STR("Cij"), TYPE_S, true, false, base);
    assert_string_equal(base, "Cij_S");
    helper_post_gsu_name(STR("Cijk"), TYPE_S, true, &(Fused){0}, base);
    for (size_t i = 0; i < sizeof reductions / sizeof *reductions; i++) {
        const Reduction *r = &reductions[i].r;
        helper_reduction_name(base, r, name);
        assert_string_equal(name, reductions[i].name);
        assert_int_equal(helper_name_width(str_from(name)), r->width);
        assert_int_equal(helper_name_reducers(str_from(name)), r->reducers);
        assert_int_equal(helper_name_is_plain_post_gsu(str_from(name)), i == 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_required_keys),
        cmocka_unit_test(test_keys_are_in_file_order),
        cmocka_unit_test(test_helper_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
