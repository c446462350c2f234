/* Lanes of matrix instructions against tables from AMD's documents for MFMA and WMMA; every element of the
 * operands and of the result is held as often as it should be. */
#include "test/support.h"

#include "index/matrix_lanes.h"

enum { LANES = 64, NODES = 200 };

typedef struct {
    int64_t row, col, block, part;
} Place;

static int64_t value_of(const Expr *e, int64_t lane, int64_t v)
{
    const int64_t values[] = {lane, v};
    int64_t value = -1;
    assert_true(expr_eval(e, values, &value));
    return value;
}

static Place operand_place(const MatrixInst *in, int wave, int64_t lane)
{
    Expr node[NODES];
    ExprPool p;
    expr_pool_fixed(&p, node, NODES);
    MatrixOperandLane l = matrix_operand_lane(&p, in, expr_var(&p, "lane", 0, 0, wave - 1));
    assert_int_equal(expr_pool_check(&p), ERR_OK);
    return (Place){value_of(l.row, lane, 0), 0, value_of(l.block, lane, 0), value_of(l.part, lane, 0)};
}

static Place acc_place(const MatrixInst *in, int wave, int64_t lane, int64_t v)
{
    Expr node[NODES];
    ExprPool p;
    expr_pool_fixed(&p, node, NODES);
    MatrixAccLane a =
        matrix_acc_lane(&p, in, expr_var(&p, "lane", 0, 0, wave - 1), expr_var(&p, "v", 1, 0, in->n_acc - 1));
    assert_int_equal(expr_pool_check(&p), ERR_OK);
    return (Place){value_of(a.row, lane, v), value_of(a.col, lane, v), value_of(a.block, lane, v), 0};
}

static const MatrixInst *find(const char *arch, DataType type, int m, int k, int blocks)
{
    const MatrixInst *in =
        matrix_inst(target_find(str_from(arch)), type, type, (const int32_t[]){m, m, k, blocks});
    assert_non_null(in);
    return in;
}

/* One row per documented fact: what lane `lane` holds. */
typedef struct {
    const char *arch;
    DataType type;
    int m, k, blocks, lane, row, block, part;
} OperandFact;
static const OperandFact operands[] = {
    {"gfx90a", TYPE_H, 32, 8, 1, 0, 0, 0, 0},    {"gfx90a", TYPE_H, 32, 8, 1, 31, 31, 0, 0},
    {"gfx90a", TYPE_H, 32, 8, 1, 32, 0, 0, 1}, /* k 4 to 7 */
    {"gfx90a", TYPE_H, 4, 4, 16, 5, 1, 1, 0},    {"gfx90a", TYPE_H, 4, 4, 16, 63, 3, 15, 0},
    {"gfx90a", TYPE_H, 16, 4, 4, 17, 1, 1, 0},   {"gfx90a", TYPE_D, 16, 4, 1, 35, 3, 0, 2},
    {"gfx90a", TYPE_D, 4, 4, 4, 21, 1, 1, 1},    {"gfx1100", TYPE_H, 16, 16, 1, 3, 3, 0, 0},
    {"gfx1100", TYPE_H, 16, 16, 1, 19, 3, 0, 0}, {"gfx1201", TYPE_H, 16, 16, 1, 19, 3, 0, 1},
};

static void test_operands(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof operands / sizeof operands[0]; i++) {
        const OperandFact *f = &operands[i];
        int wave = target_find(str_from(f->arch))->wave_size;
        Place at = operand_place(find(f->arch, f->type, f->m, f->k, f->blocks), wave, f->lane);
        assert_int_equal(at.row, f->row);
        assert_int_equal(at.block, f->block);
        assert_int_equal(at.part, f->part);
    }
}

typedef struct {
    const char *arch;
    DataType type;
    int m, k, blocks, lane, v, row, col, block;
} AccFact;
static const AccFact accs[] = {
    /* v_mfma_f32_32x32x8f16: four rows, eight on, in four turns; lanes 32 to 63 have the four between */
    {"gfx90a", TYPE_H, 32, 8, 1, 0, 3, 3, 0, 0},
    {"gfx90a", TYPE_H, 32, 8, 1, 0, 4, 8, 0, 0},
    {"gfx90a", TYPE_H, 32, 8, 1, 33, 0, 4, 1, 0},
    {"gfx90a", TYPE_H, 32, 8, 1, 63, 15, 31, 31, 0},
    /* v_mfma_f32_4x4x4f16: lanes 4b to 4b + 3 have block b */
    {"gfx90a", TYPE_H, 4, 4, 16, 0, 2, 2, 0, 0},
    {"gfx90a", TYPE_H, 4, 4, 16, 6, 3, 3, 2, 1},
    {"gfx90a", TYPE_H, 4, 4, 16, 63, 0, 0, 3, 15},
    /* v_mfma_f32_16x16x4f16: 4 blocks of 4 accumulators */
    {"gfx90a", TYPE_H, 16, 4, 4, 17, 6, 6, 1, 1},
    {"gfx90a", TYPE_H, 32, 4, 2, 0, 16, 0, 0, 1},
    /* v_mfma_f64_16x16x4f64, v_mfma_f64_4x4x4f64 */
    {"gfx90a", TYPE_D, 16, 4, 1, 17, 2, 9, 1, 0},
    {"gfx90a", TYPE_D, 4, 4, 4, 37, 0, 2, 1, 1},
    /* v_wmma_f32_16x16x16_f16: gfx11 even rows in lanes 0 to 15, odd ones in the others; gfx12 eight
     * rows each */
    {"gfx1100", TYPE_H, 16, 16, 1, 2, 3, 6, 2, 0},
    {"gfx1100", TYPE_H, 16, 16, 1, 18, 3, 7, 2, 0},
    {"gfx1201", TYPE_H, 16, 16, 1, 2, 3, 3, 2, 0},
    {"gfx1201", TYPE_H, 16, 16, 1, 18, 3, 11, 2, 0},
};

static void test_accumulators(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof accs / sizeof accs[0]; i++) {
        const AccFact *f = &accs[i];
        int wave = target_find(str_from(f->arch))->wave_size;
        Place at = acc_place(find(f->arch, f->type, f->m, f->k, f->blocks), wave, f->lane, f->v);
        assert_int_equal(at.row, f->row);
        assert_int_equal(at.col, f->col);
        assert_int_equal(at.block, f->block);
    }
}

/* All elements of all blocks are held, results once, operands once (WMMA of gfx11: twice). */
static void test_complete(void **unused)
{
    (void)unused;
    static const char *const archs[] = {"gfx90a", "gfx90a", "gfx90a", "gfx90a", "gfx90a",  "gfx90a",
                                        "gfx90a", "gfx90a", "gfx908", "gfx942", "gfx1100", "gfx1201"};
    static const DataType types[] = {TYPE_S, TYPE_S, TYPE_S, TYPE_H,  TYPE_H,  TYPE_H,
                                     TYPE_D, TYPE_D, TYPE_B, TYPE_F8, TYPE_I8, TYPE_B};
    static const int shapes[][3] = {{32, 1, 2}, {16, 4, 1},  {4, 1, 16},  {32, 8, 1},
                                    {16, 4, 4}, {4, 4, 16},  {16, 4, 1},  {4, 4, 4},
                                    {32, 2, 2}, {32, 16, 1}, {16, 16, 1}, {16, 16, 1}};
    for (size_t n = 0; n < sizeof archs / sizeof archs[0]; n++) {
        const MatrixInst *in = find(archs[n], types[n], shapes[n][0], shapes[n][1], shapes[n][2]);
        int wave = target_find(str_from(archs[n]))->wave_size, held[16][32][32] = {{{0}}},
            read[16][32][64] = {{{0}}};
        int parts = 0;
        for (int lane = 0; lane < wave; lane++) {
            Place at = operand_place(in, wave, lane);
            assert_true(at.row < in->m && at.block < in->blocks);
            read[at.block][at.row][at.part]++;
            if (at.part >= parts) parts = (int)at.part + 1;
            for (int v = 0; v < in->n_acc; v++) {
                at = acc_place(in, wave, lane, v);
                assert_true(at.row < in->m && at.col < in->n && at.block < in->blocks);
                held[at.block][at.row][at.col]++;
            }
        }
        int copies = wave / (in->m * in->blocks * parts);
        assert_int_equal(copies, in->layout == LANES_WMMA_R3 ? 2 : 1);
        for (int b = 0; b < in->blocks; b++)
            for (int r = 0; r < in->m; r++) {
                for (int c = 0; c < in->n; c++) assert_int_equal(held[b][r][c], 1);
                for (int k = 0; k < parts; k++) assert_int_equal(read[b][r][k], copies);
            }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_operands), cmocka_unit_test(test_accumulators),
                                       cmocka_unit_test(test_complete)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
