/* Producers of a ring by the copy engine: the bytes that the mbarrier of a full stage expects as they follow
 * from statements, and what is refused: stages that are filled too early, parts of tiles that a work-group of
 * the cluster gets twice or not at all, chunks that are left out. */
#include "test/support.h"

#include "kernel/lower/producer.h"

typedef enum {
    RIGHT,
    NO_WAIT,
    OTHER_PARITY,
    WAITS_FOR_FULL,
    NO_BYTES,
    BYTES_TWICE,
    BYTES_ELSEWHERE,
    OTHER_BARRIER,
    OTHER_STAGE,
    OTHER_MAP,
    OUTSIDE,
    PART_OF_ROW,
    SOMETIMES,
    LESS,
    SAME_PART,
    TO_ITSELF,
    TO_OTHERS,
    NOT_KNOWN_TO,
    OTHER_ROWS,
    OTHER_CHUNK,
    SAME_CHUNK,
    NO_ADVANCE,
    CHUNK_LEFT_OUT,
    ONE_MEETS,
    TAKES_TOO_MUCH
} Fault;

enum { STAGES = 3, DEPTH = 64, ROWS = 64 };
static const StageRing ring = {.n_stages = STAGES, .has_phase = true};

/* A cluster of two work-groups along M: a tile of A each, and half of a tile of B of two blocks to both. */
static const Producers producers = {
    .function = "produce",
    .thread = "thread",
    .by_all = true,
    .args = "args",
    .rank = "own_rank",
    .cluster = 2,
    .sharing = 2,
    .depth = DEPTH,
    .ring = &ring,
    .cursor = "ring",
    .full = "full",
    .empty = "empty",
    .done = "done",
    .next = "next",
    .tile_of = "tile_of",
    .tile_type = "Tile",
    .meet = "meet",
    .tile = {{"a", "map_a", (int64_t)ROWS * 128, 128, 64, ROWS, true, 1, 0},
             {"b", "map_b", (int64_t)2 * DEPTH * 128, 128, 64, DEPTH, false, 1, 0}}};

static const Value *reg(Stmts *s, const char *name) { return value_reg(s, name); }
static const Value *field(Stmts *s, const char *of, const char *name)
{
    return value_field(s, reg(s, of), name);
}
static const Value *sum(Stmts *s, const Value *x, const Value *y) { return value_op(s, VALUE_ADD, x, y); }
static const Value *of_stage(Stmts *s, const char *what)
{
    return value_call(s, what, field(s, "ring", "stage"));
}

static void box_of_a(Stmts *s, Fault f)
{
    const Value *from = reg(s, f == OTHER_MAP ? "map_b" : "map_a");
    const Value *m = f == OTHER_ROWS ? sum(s, reg(s, "m"), value_int(s, 1)) : reg(s, "m");
    const Value *full = f == OTHER_BARRIER ? of_stage(s, "empty") : of_stage(s, "full");
    const Value *to = f == OTHER_STAGE ? value_call(s, "a", value_int(s, 1)) : of_stage(s, "a");
    const int bytes = ROWS * 128 / 2;
    if (f == SOMETIMES) stmt_if(s, reg(s, "some"));
    for (int i = 0; i < 2; i++) {
        const Expr *at = expr_const(&s->pool, i * bytes + (f == OUTSIDE ? 128 : f == PART_OF_ROW ? 64 : 0));
        const Box b = {
            from, {reg(s, "k"), i && f != OTHER_ROWS ? sum(s, m, value_int(s, ROWS / 2)) : m}, NULL};
        stmt_box(s, access_window(to, at, bytes), full, b);
    }
    if (f == SOMETIMES) stmt_end(s);
}

static void boxes_of_b(Stmts *s, Fault f)
{
    ExprPool *pool = &s->pool;
    const Expr *i = stmt_unrolled(s, "i", 0, f == LESS ? 1 : 2);
    const Expr *part = f == SAME_PART ? expr_const(pool, 0) : expr_var(pool, "rank", 0, 0, 1);
    const Expr *row = expr_mul_i(pool, part, DEPTH / 2);
    const Expr *at = expr_mul_i(pool, expr_add(pool, expr_mul_i(pool, i, DEPTH), row), 128);
    const Value *mask =
        f == TO_ITSELF ? value_op(s, VALUE_SHL, value_int(s, 1), reg(s, "rank")) : value_int(s, 3);
    if (f == TO_OTHERS) mask = value_int(s, 7);
    if (f == NOT_KNOWN_TO) mask = reg(s, "somebody");
    const Value *n = sum(s, reg(s, "n"), value_expr(s, expr_mul_i(pool, i, 64)));
    const Value *k = f == OTHER_CHUNK
                         ? sum(s, reg(s, "k"), value_op(s, VALUE_MUL, reg(s, "rank"), reg(s, "i")))
                         : reg(s, "k");
    const Box b = {reg(s, "map_b"), {n, sum(s, k, value_expr(s, row))}, mask};
    stmt_box(s, access_window(of_stage(s, "b"), at, DEPTH / 2 * 128), of_stage(s, "full"), b);
    stmt_end(s);
}

static void chunk(Stmts *s, Fault f)
{
    const Value *one = value_int(s, 1), *parity = value_op(s, VALUE_XOR, field(s, "ring", "phase"), one);
    const Value *step = value_op(s, VALUE_MUL, reg(s, "i"), field(s, "t", "step"));
    const Value *at = f == SAME_CHUNK ? field(s, "t", "first") : sum(s, field(s, "t", "first"), step);
    stmt_define(s, "int", "k", value_op(s, VALUE_MUL, at, value_int(s, DEPTH)));
    if (f == OTHER_PARITY) parity = field(s, "ring", "phase");
    if (f != NO_WAIT) stmt_phase(s, of_stage(s, f == WAITS_FOR_FULL ? "full" : "empty"), parity);
    for (int i = 0; i < (f == NO_BYTES ? 0 : f == BYTES_TWICE ? 2 : 1); i++)
        stmt_expect(s, f == BYTES_ELSEWHERE ? value_call(s, "full", value_int(s, 0)) : of_stage(s, "full"));
    box_of_a(s, f);
    boxes_of_b(s, f);
    if (f != NO_ADVANCE) stmt_advance(s, &ring, reg(s, "ring"));
}

static void tile_struct(Stmts *s)
{
    static const char *const names[] = {"wg0", "wg1", "first", "step", "count"};
    stmt_struct(s, "Tile", 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) stmt_var(s, "unsigned", names[i], NULL);
    stmt_end(s);
}

static void build(Stmts *s, Fault f)
{
    stmts_init(s, 0);
    tile_struct(s);
    stmt_function(s, (Function){.name = "produce", STMT_PARAMS({"int", "thread"})});
    stmt_define(s, "int", "rank", value_call_0(s, "own_rank"));
    stmt_loop(s, (Loop){.condition = value_op(s, VALUE_NOT, value_call_0(s, "done"), NULL)});
    stmt_define(s, "Tile", "t", value_call_0(s, "tile_of"));
    const Value *wg = value_op(s, VALUE_MUL, field(s, "t", "wg0"), value_int(s, 2));
    stmt_define(s, "int", "m", value_op(s, VALUE_MUL, sum(s, wg, reg(s, "rank")), value_int(s, ROWS)));
    stmt_define(s, "int", "n", value_op(s, VALUE_MUL, field(s, "t", "wg1"), value_int(s, 128)));
    stmt_if(s, value_op(s, VALUE_EQ, reg(s, "thread"), value_int(s, 0)));
    const Value *count = field(s, "t", "count");
    if (f == CHUNK_LEFT_OUT) count = value_op(s, VALUE_SUB, count, value_int(s, 1));
    stmt_var(s, "int", "i", value_int(s, 0));
    stmt_loop(s, (Loop){.var = "i", .condition = value_op(s, VALUE_LT, reg(s, "i"), count)});
    chunk(s, f);
    stmt_end(s);
    if (f == ONE_MEETS) stmt_do(s, value_call_0(s, "meet"));
    stmt_end(s);
    stmt_do(s, value_call_0(s, "meet"));
    if (f != TAKES_TOO_MUCH) stmt_do(s, value_call_0(s, "next"));
    stmt_end(s);
    if (f == TAKES_TOO_MUCH) stmt_define(s, "Tile", "more", value_call_0(s, "tile_of"));
    stmt_end(s);
}

static Stmt *expectation(const Stmt *list)
{
    for (const Stmt *at = list; at; at = at->next) {
        if (at->kind == STMT_EXPECT) return (Stmt *)at;
        Stmt *in = expectation(at->body);
        if (in) return in;
    }
    return NULL;
}

static void test_bytes(void **unused)
{
    (void)unused;
    Stmts s;
    Produced facts;
    build(&s, RIGHT);
    assert_int_equal(producer_verify(&s, &producers, &facts), ERR_FAILED); /* underived */
    assert_ok(producer_derive(&s, &producers, &facts));
    assert_int_equal(expectation(s.first)->number, (ROWS + 2 * DEPTH) * 128);
    assert_int_equal(facts.bytes, (ROWS + 2 * DEPTH) * 128);
    assert_int_equal(facts.meetings, 1);
    for (int i = 0; i < 2; i++) assert_int_equal(facts.reaches[i], 3);
    assert_ok(producer_verify(&s, &producers, &facts));
    for (int by = -128; by <= 128; by += 256) {
        expectation(s.first)->number = facts.bytes + by;
        assert_int_equal(producer_verify(&s, &producers, &facts), ERR_FAILED);
        assert_non_null(strstr(err_message(), "'full' expects 24"));
    }
    stmts_fini(&s);
}

static void test_faults(void **unused)
{
    (void)unused;
    static const struct {
        Fault fault;
        const char *why;
    } rows[] = {
        {NO_WAIT, "'full' is given its bytes before its stage is empty"},
        {OTHER_PARITY, "chunk 0 waits for the wrong parity of its empty stage"},
        {WAITS_FOR_FULL, "a producer waits for what is not the mbarrier of its empty stage"},
        {NO_BYTES, "'full' is not given its bytes"},
        {BYTES_TWICE, "'full' is given its bytes twice"},
        {BYTES_ELSEWHERE, "'full' is not given its bytes"},
        {OTHER_BARRIER, "a box is not counted by 'full'"},
        {OTHER_STAGE, "a box is copied to none of the stage's tiles"},
        {OTHER_MAP, "a box of 'a' is not copied from 'map_a'"},
        {OUTSIDE, "a box ends at byte 8320 of 'a', which has 8192"},
        {PART_OF_ROW, "a box of 4096 bytes at byte 64 of 'a' is not of whole rows of a block"},
        {SOMETIMES, "what a producer does to its stages depends on a condition that is not known"},
        {LESS, "work-group 0 gets 8192 of 16384 bytes of 'b'"},
        {SAME_PART, "work-group 0 gets row 0 of 'b' twice"},
        {TO_ITSELF, "work-group 0 gets 8192 of 16384 bytes of 'b'"},
        {TO_OTHERS, "a box is copied to work-groups outside of the cluster"},
        {NOT_KNOWN_TO, "the work-groups of a box are not known"},
        {OTHER_ROWS, "work-group 0 gets rows of 'a' of another tile or chunk from 0"},
        {OTHER_CHUNK, "boxes of chunk 0 begin at elements 0 and 1 of K"},
        {SAME_CHUNK, "chunk 0 of a tile is copied 2 times"},
        {NO_ADVANCE, "a producer copies 0 of 1 chunks of a tile"},
        {CHUNK_LEFT_OUT, "a producer copies 0 of 1 chunks of a tile"},
        {ONE_MEETS, "threads of a producer meet 2 and 1 times"},
        {TAKES_TOO_MUCH, "a producer copies more chunks of a tile than it has"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Stmts s;
        Produced facts;
        build(&s, rows[i].fault);
        assert_int_equal(producer_derive(&s, &producers, &facts), ERR_FAILED);
        assert_string_equal(err_message(), rows[i].why);
        stmts_fini(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_bytes), cmocka_unit_test(test_faults)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
