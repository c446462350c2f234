/* The tables of architectures and of matrix instructions: what architectures have, ranges of columns, numbers
 * of each row that follow from its sides, and whose kernels a device runs. */
#include "test/support.h"

#include "problem/matrix_inst.h"
#include "space/solution.h"

static const MatrixInst *find(const char *arch, DataType a, DataType b, int m, int n, int k, int blocks)
{
    return matrix_inst(target_find(str_from(arch)), a, b, (const int32_t[]){m, n, k, blocks});
}

static void test_architectures(void **unused)
{
    (void)unused;
    static const struct {
        const char *arch;
        DataType a, b;
        int m, n, k, blocks;
        const char *name; /* NULL: no such instruction */
    } rows[] = {
        {"gfx90a", TYPE_H, TYPE_H, 32, 32, 8, 1, "mfma_f32_32x32x8f16"},
        {"gfx90a", TYPE_B, TYPE_B, 16, 16, 16, 1, "mfma_f32_16x16x16bf16_1k"},
        {"gfx90a", TYPE_I8, TYPE_I8, 32, 32, 16, 1, NULL},
        {"gfx942", TYPE_I8, TYPE_I8, 32, 32, 16, 1, "mfma_i32_32x32x16_i8"},
        {"gfx908", TYPE_D, TYPE_D, 16, 16, 4, 1, NULL},
        {"gfx1030", TYPE_H, TYPE_H, 16, 16, 16, 1, NULL},
        {"gfx1201", TYPE_H, TYPE_H, 16, 16, 16, 1, "wmma_f32_16x16x16_f16_w32_gfx12"},
        {"gfx950", TYPE_H, TYPE_H, 16, 16, 32, 1, "mfma_f32_16x16x32_f16"},
        {"gfx950", TYPE_B, TYPE_B, 32, 32, 16, 1, "mfma_f32_32x32x16_bf16"},
        {"gfx950", TYPE_F8, TYPE_B8, 16, 16, 128, 1, "mfma_scale_f32_16x16x128_f8f6f4"},
        {"gfx942", TYPE_H, TYPE_H, 16, 16, 32, 1, NULL},
        {"gfx950", TYPE_X, TYPE_X, 16, 16, 8, 1, NULL},
        {"gfx942", TYPE_B8, TYPE_F8, 16, 16, 32, 1, "mfma_f32_16x16x32_bf8_fp8"},
        {"gfx90a", TYPE_F8, TYPE_F8, 16, 16, 32, 1, NULL},
        {"gfx1200", TYPE_F8, TYPE_B8, 16, 16, 16, 1, "wmma_f32_16x16x16_fp8_bf8_w32_gfx12"},
        {"gfx1100", TYPE_F8, TYPE_F8, 16, 16, 16, 1, NULL},
        {"sm_90", TYPE_H, TYPE_H, 16, 16, 16, 1, NULL},
        {"sm_86", TYPE_H, TYPE_H, 16, 8, 16, 1, "row.col.f32.f16.f16.f32"},
        {"sm_80", TYPE_D, TYPE_D, 8, 8, 4, 1, "row.col.f64.f64.f64.f64"},
        {"sm_80", TYPE_D, TYPE_D, 16, 8, 8, 1, NULL},
        {"sm_90a", TYPE_D, TYPE_D, 16, 8, 8, 1, "row.col.f64.f64.f64.f64"},
        {"sm_89", TYPE_F8, TYPE_B8, 16, 8, 32, 1, "row.col.f32.e4m3.e5m2.f32"},
        {"sm_90a", TYPE_H, TYPE_H, 64, 256, 16, 1, "f32.f16.f16"},
        {"sm_90a", TYPE_H, TYPE_H, 96, 64, 16, 1, "f32.f16.f16"}, /* 64 rows along N */
        {"sm_90a", TYPE_H, TYPE_H, 64, 264, 16, 1, NULL},
        {"sm_90a", TYPE_H, TYPE_H, 64, 12, 16, 1, NULL},
        {"sm_90a", TYPE_I8, TYPE_I8, 64, 24, 32, 1, "s32.s8.s8"},
        {"sm_90a", TYPE_I8, TYPE_I8, 64, 40, 32, 1, NULL}, /* steps of 16 above 32 columns */
        {"sm_90a", TYPE_I8, TYPE_I8, 64, 48, 32, 1, "s32.s8.s8"},
        {"sm_90", TYPE_H, TYPE_H, 64, 128, 16, 1, NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const MatrixInst *x =
            find(rows[i].arch, rows[i].a, rows[i].b, rows[i].m, rows[i].n, rows[i].k, rows[i].blocks);
        if (rows[i].name) {
            assert_non_null(x);
            assert_string_equal(x->name, rows[i].name);
        } else
            assert_null(x);
    }
}

/* A row's numbers fit each other, a user may name its shape, and some architecture of the table has it. */
static void test_rows(void **unused)
{
    (void)unused;
    const MatrixInst *x;
    const Param *p = param_at(PARAM_MatrixInstruction);
    for (size_t i = 0; (x = matrix_inst_at(i)); i++) {
        int a = x->m * x->k * x->blocks, b = x->n * x->k * x->blocks;
        int copies = x->layout == LANES_WMMA_R3 ? 2 : x->layout == LANES_WGMMA ? 0 : 1;
        assert_int_equal(x->n_acc * x->lanes, x->m * x->n * x->blocks);
        assert_int_equal(x->n_a * x->lanes, a * copies);
        assert_int_equal(x->n_b * x->lanes, b * copies);
        unsigned arches = 0;
        const Target *t;
        for (size_t k = 0; (t = target_at(k)); k++) {
            arches |= (unsigned)t->matrix;
            if ((x->arches & (unsigned)t->matrix) && x->lanes != WGMMA_LANES)
                assert_int_equal(x->lanes, t->wave_size);
        }
        assert_int_equal(x->arches & ~arches, 0);
        Solution s = {.MatrixInstruction = {4, {x->m, x->n_last, x->k, x->blocks}}};
        assert_int_equal(param_legal(p, &s), ERR_OK);
    }
    assert_true(matrix_shape(MATRIX_UNIT_MFMA, TYPE_D, (const int32_t[]){16, 16, 4, 1}) != NULL);
    assert_null(matrix_shape(MATRIX_UNIT_WMMA, TYPE_ALL, (const int32_t[]){16, 16, 4, 1}));
    assert_null(matrix_shape(MATRIX_UNIT_NONE, TYPE_ALL, (const int32_t[]){16, 8, 4, 2}));
}

static void test_units(void **unused)
{
    (void)unused;
    assert_int_equal(matrix_unit_of(target_find(STR("gfx908"))), MATRIX_UNIT_MFMA);
    assert_int_equal(matrix_unit_of(target_find(STR("gfx1151"))), MATRIX_UNIT_WMMA);
    assert_int_equal(matrix_unit_of(target_find(STR("sm_90a"))), MATRIX_UNIT_MMA);
    assert_int_equal(matrix_unit_of(target_find(STR("gfx1030"))), MATRIX_UNIT_NONE);
    assert_int_equal(matrix_unit_of(target_find(STR("x86-64-v4"))), MATRIX_UNIT_NONE);
}

/* Whose kernels a device runs. */
static void test_runs(void **unused)
{
    (void)unused;
    static const struct {
        const char *own, *of;
        bool runs;
    } rows[] = {
        {"gfx90a", "gfx90a", true},       {"gfx90a", "gfx908", false},       {"sm_90", "sm_90a", true},
        {"sm_90a", "sm_90", true},        {"sm_90", "sm_80", false},         {"sm_86", "sm_80", false},
        {"x86-64-v4", "x86-64-v2", true}, {"x86-64-v2", "x86-64-v3", false}, {"x86-64-v4", "sm_80", false}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_int_equal(target_runs(target_find(str_from(rows[i].own)), target_find(str_from(rows[i].of))),
                         rows[i].runs);
    assert_false(target_runs(NULL, target_find(STR("gfx90a"))));
    assert_string_equal(target_family(target_find(STR("sm_80")))->device, "cuda");
    assert_false(target_family(target_find(STR("x86-64-v2")))->is_gpu);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_architectures), cmocka_unit_test(test_rows),
                                       cmocka_unit_test(test_units), cmocka_unit_test(test_runs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
