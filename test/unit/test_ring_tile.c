/* Shared memory of a ring's stages: bytes, rows, and that no bank is asked for twice by the lanes that read
 * together, with the lanes of the matrix instructions' own maps. */
#include "test/support.h"

#include "index/matrix_lanes.h"
#include "index/ring_tile.h"

enum { NODES = 128, CHUNK = 16, BANK_BYTES = 128 };

static void check_bytes(RingOperand x, int rows, int row_bytes, int every, int gap, int bytes)
{
    RingTile t = ring_tile(&x);
    assert_int_equal(t.rows, rows);
    assert_int_equal(t.row_bytes, row_bytes);
    assert_int_equal(t.every, every);
    assert_int_equal(t.gap, gap);
    assert_int_equal(t.bytes, bytes);
}

static void test_bytes(void **unused)
{
    (void)unused;
    check_bytes((RingOperand){.matrix = true, .tlu = true, .tile = 128, .depth = 32, .bytes = 2}, 32, 256, 1,
                0, 8192);
    check_bytes((RingOperand){.matrix = true, .tile = 128, .depth = 32, .bytes = 2}, 128, 64, 1, 0, 8192);
    /* transposed: K is the slow dimension, 16 bytes behind each row */
    check_bytes((RingOperand){.tile = 64, .depth = 16, .bytes = 4}, 16, 272, 1, 0, 4352);
    /* vectors along K: of A 16 bytes behind each 16 bytes' worth of rows, of B behind each row */
    check_bytes((RingOperand){.first = true, .vectors = true, .tile = 64, .depth = 16, .bytes = 4}, 64, 64, 4,
                16, 4352);
    check_bytes((RingOperand){.vectors = true, .tile = 64, .depth = 16, .bytes = 4}, 64, 80, 1, 0, 5120);
    /* shifted copies have room for 16 bytes more; in rows of the free dimension, which are odd, for 32 */
    check_bytes((RingOperand){.matrix = true, .shifts = true, .tile = 64, .depth = 32, .bytes = 4}, 64, 144,
                1, 0, 9216);
    check_bytes(
        (RingOperand){.matrix = true, .shifts = true, .tlu = true, .tile = 64, .depth = 32, .bytes = 4}, 32,
        288, 1, 0, 9216);
    RingResults r = ring_results((const int[]){128, 128}, 4, 2, 4, 1);
    assert_int_equal(r.line, 136);
    assert_int_equal(r.slots, 32);
    assert_int_equal(r.bytes, 17408);
    r = ring_results((const int[]){64, 32}, 2, 4, 4, 2);
    assert_int_equal(r.line, 68);
    assert_int_equal(r.bytes, 68 * 16 * 4 * 2);
}

static int64_t value(const Expr *e, int64_t at)
{
    int64_t v = -1;
    assert_true(expr_eval(e, &at, &v));
    return v;
}

/* Byte of a chunk of a row, as kernels address it. */
static int64_t address(const RingTile *t, int row, int byte)
{
    Expr node[NODES];
    ExprPool p;
    expr_pool_fixed(&p, node, NODES);
    const Expr *r = expr_var(&p, "r", 0, 0, 4096);
    int64_t at = value(ring_row(&p, t, r), row) +
                 (((byte / CHUNK) ^ value(ring_swizzle(&p, t, r), row)) * CHUNK) + byte % CHUNK;
    assert_int_equal(value(ring_at(&p, t, r, expr_const(&p, byte)), row), at);
    assert_int_equal(expr_pool_check(&p), ERR_OK);
    return at;
}

/* ldmatrix: eight rows' chunks of 16 bytes, wherever they begin. */
static void test_ldmatrix(void **unused)
{
    (void)unused;
    for (int tlu = 0; tlu < 2; tlu++)
        for (int side = 16; side <= 256; side *= 2) {
            RingOperand x = {
                .matrix = true, .tlu = tlu, .tile = tlu ? side : 64, .depth = tlu ? 32 : side, .bytes = 2};
            RingTile t = ring_tile(&x);
            for (int row = 0; row + 8 <= t.rows; row += 8)
                for (int chunk = 0; chunk < t.row_bytes / CHUNK; chunk++) {
                    unsigned used = 0;
                    for (int i = 0; i < 8; i++)
                        used |= 1u << address(&t, row + i, chunk * CHUNK) % BANK_BYTES / CHUNK;
                    assert_int_equal(used, 0xff);
                }
        }
}

/* Each lane reads the element that the instruction's lane map says: as many lanes as 128 bytes have place for
 * read different banks. */
static void check_lanes(const char *arch, DataType type, int k, RingOperand x)
{
    const MatrixInst *in =
        matrix_inst(target_find(str_from(arch)), type, type, (const int32_t[]){16, 8, k, 1});
    assert_non_null(in);
    Expr node[NODES];
    ExprPool p;
    expr_pool_fixed(&p, node, NODES);
    const Expr *lane = expr_var(&p, "lane", 0, 0, 31);
    MatrixElement e = matrix_operand_element(&p, in, 1, lane, expr_const(&p, 0));
    RingTile t = ring_tile(&x);
    int word = x.bytes < 4 ? 4 : x.bytes, together = BANK_BYTES / word,
        spread = x.bytes == 1 && x.tlu ? 4 : 1;
    for (int from = 0; from < 32; from += together) {
        uint32_t used = 0;
        for (int i = from; i < from + together; i++) {
            int free = (int)value(e.free, i) * spread, row = (int)value(e.k, i);
            int64_t at = x.tlu ? address(&t, row, free * x.bytes) : address(&t, free, row * x.bytes);
            used |= 1u << at % BANK_BYTES / word;
        }
        assert_int_equal(used, together == 32 ? 0xffffffffu : (1u << together) - 1);
    }
}

static void test_lanes(void **unused)
{
    (void)unused;
    check_lanes("sm_90", TYPE_D, 8,
                (RingOperand){.matrix = true, .tlu = true, .tile = 64, .depth = 16, .bytes = 8});
    check_lanes("sm_90", TYPE_D, 8, (RingOperand){.matrix = true, .tile = 64, .depth = 16, .bytes = 8});
    check_lanes("sm_80", TYPE_X, 8,
                (RingOperand){.matrix = true, .tlu = true, .tile = 64, .depth = 32, .bytes = 4});
    check_lanes("sm_80", TYPE_I8, 32,
                (RingOperand){.matrix = true, .tlu = true, .tile = 128, .depth = 64, .bytes = 1});
    check_lanes("sm_80", TYPE_X, 8,
                (RingOperand){.matrix = true, .shifts = true, .tile = 64, .depth = 32, .bytes = 4});
    check_lanes(
        "sm_80", TYPE_X, 8,
        (RingOperand){.matrix = true, .shifts = true, .tlu = true, .tile = 64, .depth = 32, .bytes = 4});
}

/* A transposed tile's writes: lanes with neighbouring K's put an element of one row of memory each. */
static void test_element_swizzle(void **unused)
{
    (void)unused;
    RingOperand x = {.tile = 64, .depth = 32, .bytes = 4};
    RingTile t = ring_tile(&x);
    Expr node[NODES];
    ExprPool p;
    expr_pool_fixed(&p, node, NODES);
    const Expr *k = expr_var(&p, "k", 0, 0, 31), *swizzle = ring_element_swizzle(&p, &t, k),
               *row = ring_row(&p, &t, k);
    uint32_t used = 0;
    for (int lane = 0; lane < 32; lane++)
        used |= 1u << (value(row, lane) + value(swizzle, lane) * 4) % BANK_BYTES / 4;
    assert_int_equal(used, 0xffffffffu);
    x.tlu = true, t = ring_tile(&x);
    assert_true(expr_is(ring_element_swizzle(&p, &t, k), 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_bytes), cmocka_unit_test(test_ldmatrix),
                                       cmocka_unit_test(test_lanes), cmocka_unit_test(test_element_swizzle)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
