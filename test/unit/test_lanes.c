/* Lanes of matrix instructions against tables of AMD documents for MFMA and WMMA and figures of the PTX ISA;
 * every element of the operands and of the result belongs to the right number of lanes. */
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
    /* v_mfma_f32_32x32x8f16: four consecutive rows, repeated four times at a distance of eight; lanes 32 to
     * 63 have the four between */
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

/* ---- NVIDIA: the formulas below the figures of fragments in the PTX ISA manual, mma and wgmma ---- */

typedef struct {
    int row, col; /* of A: row, k; of B: k, column; of C: row, column */
} Figure;
/* g: groupID, lane / 4; t: threadID_in_group, lane % 4; i: number of the element. */
typedef Figure (*FigureAt)(int g, int t, int i);

static Figure a_k16(int g, int t, int i)
{
    return (Figure){i < 2 || (i >= 4 && i < 6) ? g : g + 8, t * 2 + (i & 1) + (i < 4 ? 0 : 8)};
}
static Figure b_k16(int g, int t, int i) { return (Figure){t * 2 + (i & 1) + (i < 2 ? 0 : 8), g}; }
static Figure a_tf32(int g, int t, int i)
{
    return (Figure){i == 0 || i == 2 ? g : g + 8, i == 0 || i == 1 ? t : t + 4};
}
static Figure b_tf32(int g, int t, int i) { return (Figure){i == 0 ? t : t + 4, g}; }
static Figure a_k32(int g, int t, int i)
{
    return (Figure){i < 4 || (i >= 8 && i < 12) ? g : g + 8, t * 4 + (i & 3) + (i < 8 ? 0 : 16)};
}
static Figure b_k32(int g, int t, int i) { return (Figure){t * 4 + (i & 3) + (i < 4 ? 0 : 16), g}; }
static Figure a_f64(int g, int t, int i)
{
    return (Figure){i % 2 == 0 ? g : g + 8, i % 2 == 0 ? i * 2 + t : i * 2 - 2 + t};
}
static Figure b_f64(int g, int t, int i) { return (Figure){t + i * 4, g}; }
static Figure a_m8(int g, int t, int i) { return (Figure){g, t + i}; } /* of one element */
static Figure c_all(int g, int t, int i) { return (Figure){i < 2 ? g : g + 8, t * 2 + (i & 1)}; }

static const struct {
    const char *arch;
    DataType type;
    int m, n, k;
    FigureAt a, b;
} figures[] = {
    {"sm_80", TYPE_H, 16, 8, 16, a_k16, b_k16},  {"sm_80", TYPE_B, 16, 8, 16, a_k16, b_k16},
    {"sm_80", TYPE_X, 16, 8, 8, a_tf32, b_tf32}, {"sm_80", TYPE_I8, 16, 8, 32, a_k32, b_k32},
    {"sm_89", TYPE_F8, 16, 8, 32, a_k32, b_k32}, {"sm_80", TYPE_D, 8, 8, 4, a_m8, b_f64},
    {"sm_90", TYPE_D, 16, 8, 4, a_f64, b_f64},   {"sm_90", TYPE_D, 16, 8, 8, a_f64, b_f64},
    {"sm_90", TYPE_D, 16, 8, 16, a_f64, b_f64},
};

typedef struct {
    Expr node[NODES];
    ExprPool p;
    const Expr *lane, *v;
} Build;

static void build(Build *b, int lanes, int elements)
{
    expr_pool_fixed(&b->p, b->node, NODES);
    b->lane = expr_var(&b->p, "lane", 0, 0, lanes - 1);
    b->v = expr_var(&b->p, "v", 1, 0, elements - 1);
}

static void test_mma_figures(void **unused)
{
    (void)unused;
    for (size_t n = 0; n < sizeof figures / sizeof figures[0]; n++) {
        const int32_t shape[] = {figures[n].m, figures[n].n, figures[n].k, 1};
        const MatrixInst *in =
            matrix_inst(target_find(str_from(figures[n].arch)), figures[n].type, figures[n].type, shape);
        assert_non_null(in);
        for (int lane = 0; lane < 32; lane++) {
            Build b;
            for (int i = 0; i < in->n_a; i++) {
                build(&b, in->lanes, in->n_a);
                MatrixElement e = matrix_operand_element(&b.p, in, 0, b.lane, b.v);
                Figure f = figures[n].a(lane / 4, lane % 4, i);
                assert_int_equal(value_of(e.free, lane, i), f.row);
                assert_int_equal(value_of(e.k, lane, i), f.col);
            }
            for (int i = 0; i < in->n_b; i++) {
                build(&b, in->lanes, in->n_b);
                MatrixElement e = matrix_operand_element(&b.p, in, 1, b.lane, b.v);
                Figure f = figures[n].b(lane / 4, lane % 4, i);
                assert_int_equal(value_of(e.k, lane, i), f.row);
                assert_int_equal(value_of(e.free, lane, i), f.col);
            }
            for (int i = 0; i < in->n_acc; i++) {
                Place at = acc_place(in, 32, lane, i);
                Figure f = c_all(lane / 4, lane % 4, i);
                assert_int_equal(at.row, f.row);
                assert_int_equal(at.col, f.col);
            }
        }
    }
}

/* Figure "D fragment of wgmma .m64nNk16": warp w of the warp group has rows 16w to 16w + 15. */
static void test_wgmma_figure(void **unused)
{
    (void)unused;
    for (int32_t columns = 8; columns <= 256; columns += 8) {
        const MatrixInst *in =
            matrix_inst(target_find(STR("sm_90a")), TYPE_H, TYPE_H, (const int32_t[]){64, columns, 16, 1});
        assert_non_null(in);
        Build b;
        build(&b, in->lanes, columns / 2);
        MatrixAccLane at = matrix_acc_lane(&b.p, in, b.lane, b.v);
        assert_int_equal(expr_pool_check(&b.p), ERR_OK);
        for (int thread = 0; thread < 128; thread++)
            for (int i = 0; i < columns / 2; i++) {
                int g = thread % 32 / 4, t = thread % 4;
                assert_int_equal(value_of(at.row, thread, i), thread / 32 * 16 + g + (i / 2 % 2 ? 8 : 0));
                assert_int_equal(value_of(at.col, thread, i), i / 4 * 8 + t * 2 + (i & 1));
            }
    }
}

/* Of every row of the table: all elements of all blocks are held, results once, operands once (WMMA of gfx11:
 * twice; wgmma: in shared memory). */
static void check_complete(const MatrixInst *in)
{
    static int held[16][64][64], read[2][16][64][128];
    memset(held, 0, sizeof held);
    memset(read, 0, sizeof read);
    const int n[] = {in->n_a, in->n_b}, side[] = {in->m, in->n};
    for (int lane = 0; lane < in->lanes; lane++) {
        for (int op = 0; op < 2; op++)
            for (int i = 0; i < n[op]; i++) {
                Build b;
                build(&b, in->lanes, n[op]);
                MatrixElement e = matrix_operand_element(&b.p, in, op, b.lane, b.v);
                assert_int_equal(expr_pool_check(&b.p), ERR_OK);
                int64_t free = value_of(e.free, lane, i), k = value_of(e.k, lane, i);
                int64_t block = value_of(e.block, lane, i);
                assert_true(free < side[op] && k < in->k && block < in->blocks);
                read[op][block][free][k]++;
            }
        for (int v = 0; v < in->n_acc; v++) {
            Place at = acc_place(in, in->lanes, lane, v);
            assert_true(at.row < in->m && at.col < in->n && at.block < in->blocks);
            held[at.block][at.row][at.col]++;
        }
    }
    int copies = in->layout == LANES_WMMA_R3 ? 2 : in->layout == LANES_WGMMA ? 0 : 1;
    for (int b = 0; b < in->blocks; b++) {
        for (int r = 0; r < in->m; r++)
            for (int c = 0; c < in->n; c++) assert_int_equal(held[b][r][c], 1);
        for (int op = 0; op < 2; op++)
            for (int r = 0; r < side[op]; r++)
                for (int k = 0; k < in->k; k++) assert_int_equal(read[op][b][r][k], copies);
    }
}

static void test_complete(void **unused)
{
    (void)unused;
    const MatrixInst *in;
    for (size_t i = 0; (in = matrix_inst_at(i)); i++) check_complete(in);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_operands), cmocka_unit_test(test_accumulators),
                                       cmocka_unit_test(test_mma_figures),
                                       cmocka_unit_test(test_wgmma_figure), cmocka_unit_test(test_complete)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
