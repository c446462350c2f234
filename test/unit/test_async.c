/* Asynchronous copies: numbers of pending groups as they follow from statements, and what is refused: a
 * read that no wait or barrier covers, a wait for too few groups, a stage that is filled while it is read or
 * before it was read, copies that are left under way. */
#include "test/support.h"

#include "kernel/lower/async.h"

/* A ring kernel in small, with one of its faults. */
typedef enum {
    RIGHT,
    NO_WAIT,
    NO_BARRIER,
    NO_FIRST_WAIT,
    NO_ADVANCE_OF_READ,
    NO_ADVANCE_OF_WRITE,
    FILLS_EARLY,       /* before the barrier behind the last read of the stage */
    COMMITS_SOMETIMES, /* a group in one of two ways alone */
    NO_DRAIN,
    WAITS_BEFORE_COMMIT,
    STARTS_AT_READ, /* the loop fills the stage that it reads */
    LEAVES_EARLY,
    NO_LAST_BARRIER /* of functions that take turns */
} Fault;

typedef struct {
    int stages;
    bool in_bytes, ahead; /* cursors count bytes; the next stage is waited for inside of a turn */
    bool turns;           /* the first chunks are copied by @first, which takes turns with @main */
    Fault fault;
} Case;

static const Value *reg(Stmts *s, const char *name) { return value_reg(s, name); }

/* void @fill(unsigned stage, int there): a chunk, if it is there, as one group. */
static void fill(Stmts *s, Fault fault)
{
    stmt_function(s, (Function){.name = "@pieces", STMT_PARAMS({"unsigned", "at"}, {"int", "n"})});
    const Expr *i = stmt_loop(s, (Loop){.var = "i", .limit = expr_var(&s->pool, "n", 0, 0, 9)});
    stmt_copy(s, access_window(reg(s, "at"), expr_mul_i(&s->pool, i, 16), 16),
              access_at(SPACE_GLOBAL, "char", 16, reg(s, "p"), expr_mul_i(&s->pool, i, 64)), reg(s, "valid"));
    stmt_end(s);
    stmt_end(s);
    stmt_function(s, (Function){.name = "@fill", STMT_PARAMS({"unsigned", "stage"}, {"int", "there"})});
    stmt_if(s, reg(s, "there"));
    stmt_call(s, "@pieces", value_op(s, VALUE_ADD, reg(s, "stage"), value_int(s, 64)), value_int(s, 4));
    if (fault == COMMITS_SOMETIMES) stmt_commit(s);
    stmt_end(s);
    if (fault != COMMITS_SOMETIMES) stmt_commit(s);
    stmt_end(s);
}

static void wait_for(Stmts *s, const StageRing *r, Fault fault, int ahead)
{
    if (fault != NO_WAIT) stmt_await(s, r, reg(s, "rd"), ahead);
    if (fault != NO_BARRIER) stmt_barrier(s);
}

static void turn(Stmts *s, const StageRing *r, const Case *c)
{
    const Value *base = reg(s, "smem"), *rd = reg(s, "rd"), *wr = reg(s, "wr");
    const Value *to = value_stage(s, r, base, c->fault == STARTS_AT_READ ? rd : wr), *one = value_int(s, 1);
    if (c->fault == LEAVES_EARLY) stmt_leave(s);
    if (c->ahead) { /* the rest of the current stage is read behind the copies of the next turns */
        stmt_call(s, "@fill", to, one);
        const Expr *k = stmt_unrolled(s, "k", 0, 4);
        stmt_if_expr(s, expr_op(&s->pool, EXPR_EQ, k, expr_const(&s->pool, 3)));
        wait_for(s, r, c->fault, 1);
        if (c->fault != NO_ADVANCE_OF_READ) stmt_advance(s, r, rd);
        stmt_set(s, reg(s, "now"), value_stage(s, r, base, rd));
        stmt_end(s);
        stmt_call(s, "load", reg(s, "now"), value_expr(s, k));
        stmt_end(s);
    } else {
        if (c->fault == FILLS_EARLY) stmt_call(s, "@fill", to, one);
        wait_for(s, r, c->fault, 0);
        if (c->fault != FILLS_EARLY) stmt_call(s, "@fill", to, one);
        stmt_call(s, "load", value_stage(s, r, base, rd));
        if (c->fault != NO_ADVANCE_OF_READ) stmt_advance(s, r, rd);
    }
    if (c->fault != NO_ADVANCE_OF_WRITE) stmt_advance(s, r, wr);
}

static void build(Stmts *s, const StageRing *r, const Case *c)
{
    const int first = r->n_stages - 1;
    stmts_init(s, 0);
    fill(s, c->fault);
    stmt_function(s, (Function){.name = c->turns ? "@first" : "@main"});
    const Expr *i = stmt_loop(
        s, (Loop){.var = "i", .start = expr_const(&s->pool, 0), .limit = expr_const(&s->pool, first)});
    stmt_call(s, "@fill", value_stage(s, r, reg(s, "smem"), value_expr(s, i)), reg(s, "there"));
    stmt_end(s);
    if (c->turns) {
        stmt_end(s);
        stmt_function(s, (Function){.name = "@main"});
    }
    const Value *rd = stmt_cursor(s, r, "int", "rd", 0);
    stmt_cursor(s, r, "int", "wr", first);
    if (c->ahead) {
        if (c->fault == WAITS_BEFORE_COMMIT)
            stmt_copy(s, access_window(value_stage(s, r, reg(s, "smem"), rd), NULL, 4),
                      access_at(SPACE_GLOBAL, "char", 4, reg(s, "p"), NULL), NULL);
        if (c->fault != NO_FIRST_WAIT) stmt_await(s, r, rd, 0);
        stmt_barrier(s);
        stmt_var(s, "unsigned", "now", value_stage(s, r, reg(s, "smem"), rd));
        stmt_call(s, "load", reg(s, "now"), value_int(s, 0));
    }
    for (int l = 0; l < 2; l++) { /* whole chunks, then the others */
        stmt_loop(s,
                  (Loop){.var = "j", .condition = value_op(s, VALUE_LT, reg(s, "j"), reg(s, l ? "n" : "m"))});
        turn(s, r, c);
        stmt_end(s);
    }
    if (c->fault != NO_DRAIN) stmt_await(s, r, NULL, 0);
    if (c->turns && c->fault != NO_LAST_BARRIER) stmt_barrier(s);
    stmt_end(s);
}

/* The numbers of all waits, in the order of the text. */
static int numbers(const Stmt *list, int *number)
{
    int n = 0;
    for (const Stmt *s = list; s; s = s->next) {
        if (s->kind == STMT_AWAIT) number[n++] = (int)s->number;
        n += numbers(s->body, number + n);
    }
    return n;
}

static void test_numbers(void **unused)
{
    (void)unused;
    for (int stages = 2; stages <= 8; stages++)
        for (int ahead = 0; ahead < 2; ahead++) {
            const StageRing r = {.n_stages = stages, .bytes = 4096, .in_bytes = stages % 2};
            int number[8];
            Stmts s;
            build(&s, &r, &(Case){.ahead = ahead});
            if (async_derive(&s, "@main")) fail_msg("%d stages, ahead %d: %s", stages, ahead, err_message());
            assert_ok(async_verify(&s, "@main"));
            /* in front of the loops (ahead), one in each, the drain: all others leave stages - 2 groups */
            const int n = numbers(s.first, number);
            assert_int_equal(n, ahead ? 4 : 3);
            for (int i = 0; i < n; i++) assert_int_equal(number[i], i + 1 < n ? stages - 2 : 0);
            stmts_fini(&s);
        }
}

static void test_text(void **unused)
{
    (void)unused;
    const StageRing r = {.n_stages = 4, .bytes = 4096}, b = {.n_stages = 3, .bytes = 512, .in_bytes = true};
    Stmts s;
    Buf out;
    stmts_init(&s, 0);
    const Value *wr = stmt_cursor(&s, &r, "int", "wr", 3), *at = stmt_cursor(&s, &b, "unsigned", "at", 2);
    const Expr *row = expr_var(&s.pool, "row", 0, 0, 7), *eight = expr_const(&s.pool, 8);
    Access to =
        access_window(value_stage(&s, &r, value_reg(&s, "smem"), wr), expr_mul_i(&s.pool, row, 80), 8);
    to.guard = expr_op(&s.pool, EXPR_LT, expr_var(&s.pool, "i", 0, 0, 99), eight);
    const Access from = access_at(SPACE_GLOBAL, "char", 8, value_reg(&s, "q"), eight);
    stmt_copy(&s, to, from, NULL);
    to.guard = NULL;
    stmt_copy(&s, to, from, value_reg(&s, "n"));
    stmt_store(&s, to, value_reg(&s, "w"));
    stmt_commit(&s);
    stmt_advance(&s, &r, wr);
    stmt_advance(&s, &b, at);
    stmt_cursor_set(&s, &b, at, 1);
    stmt_await(&s, &r, wr, 0);
    s.first->next->next->next->next->next->next->next->next->next->number = 2;
    buf_init(&out);
    assert_ok(stmt_print(&s, &stmt_words_cuda, 0, &out));
    assert_string_equal(buf_cstr(&out), "int wr = 3;\nunsigned at = 1024;\n"
                                        "if (i < 8) @cp<8>(smem + wr * 4096 + row * 80, q + 8);\n"
                                        "@cpz<8>(smem + wr * 4096 + row * 80, q + 8, n);\n"
                                        "@sts<8>(smem + wr * 4096 + row * 80, w);\n@commit();\n"
                                        "wr = wr == 3 ? 0 : wr + 1;\nat = at == 1024 ? 0 : at + 512;\n"
                                        "at = 512;\n@arrived<2>();\n");
    buf_fini(&out);
    stmts_fini(&s);
}

static void test_faults(void **unused)
{
    (void)unused;
    static const struct {
        Fault fault;
        int ahead;
        const char *why;
    } rows[] = {
        {NO_WAIT, 0, "stage 0 is read, but no wait covers its copies"},
        {NO_WAIT, 1, "stage 1 is read, but no wait covers its copies"},
        {NO_BARRIER, 0, "stage 0 is read with no barrier behind the wait for its copies"},
        {NO_BARRIER, 1, "stage 1 is read with no barrier behind the wait for its copies"},
        {NO_FIRST_WAIT, 1, "stage 0 is read, but no wait covers its copies"},
        {NO_ADVANCE_OF_READ, 0, "cursor"},
        {NO_ADVANCE_OF_WRITE, 0, "cursor"},
        {FILLS_EARLY, 0, "is filled while threads may still read it"},
        {NO_DRAIN, 0, "copies to stage"},
        {WAITS_BEFORE_COMMIT, 1, "is filled again, but its chunk has not been read"},
        {STARTS_AT_READ, 0, "is filled again, but its chunk has not been read"},
        {LEAVES_EARLY, 0, "a loop that waits or commits is left early"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const StageRing r = {.n_stages = 3, .bytes = 4096};
        Stmts s;
        build(&s, &r, &(Case){.ahead = rows[i].ahead, .fault = rows[i].fault});
        const Err e = async_derive(&s, "@main");
        if (!e || !strstr(err_message(), rows[i].why))
            fail_msg("fault %d, ahead %d: %s", rows[i].fault, rows[i].ahead,
                     e ? err_message() : "not refused");
        assert_int_equal(e, ERR_FAILED);
        stmts_fini(&s);
    }
}

/* Two functions that take turns: the numbers of one function. Without a barrier behind the second one, the
 * next turn of the first fills stages that are still read; without the wait behind the loops, that are still
 * copied to. */
static void test_functions_in_turn(void **unused)
{
    (void)unused;
    const StageRing r = {.n_stages = 4, .bytes = 4096};
    for (int ahead = 0; ahead < 2; ahead++) {
        int number[8];
        Stmts s;
        build(&s, &r, &(Case){.ahead = ahead, .turns = true});
        assert_ok(async_derive_turns(&s, "@first", "@main"));
        const int n = numbers(s.first, number);
        assert_int_equal(n, ahead ? 4 : 3);
        for (int i = 0; i < n; i++) assert_int_equal(number[i], i + 1 < n ? 2 : 0);
        stmts_fini(&s);
        for (int fault = 0; fault < 2; fault++) {
            build(&s, &r,
                  &(Case){.ahead = ahead, .turns = true, .fault = fault ? NO_DRAIN : NO_LAST_BARRIER});
            assert_int_equal(async_derive_turns(&s, "@first", "@main"), ERR_FAILED);
            if (!fault) assert_non_null(strstr(err_message(), "is filled while threads may still read it"));
            stmts_fini(&s);
        }
    }
}

/* Where a turn may end without a group, fewer of the newer ones can be counted on. */
static void test_groups_of_some_ways(void **unused)
{
    (void)unused;
    const StageRing r = {.n_stages = 4, .bytes = 4096};
    int number[8];
    Stmts s;
    build(&s, &r, &(Case){.fault = COMMITS_SOMETIMES});
    assert_ok(async_derive(&s, "@main"));
    assert_int_equal(numbers(s.first, number), 3);
    for (int i = 0; i < 3; i++) assert_int_equal(number[i], 0);
    stmts_fini(&s);
}

/* The n-th wait of a list; *n counts down. */
static Stmt *wait_at(Stmt *list, int *n)
{
    for (Stmt *s = list; s; s = s->next) {
        if (s->kind == STMT_AWAIT && !(*n)--) return s;
        Stmt *in = wait_at(s->body, n);
        if (in) return in;
    }
    return NULL;
}

/* Every wait with one group more under way than was derived is refused, one with fewer is not. */
static void test_wrong_numbers(void **unused)
{
    (void)unused;
    const StageRing r = {.n_stages = 4, .bytes = 4096};
    for (int ahead = 0; ahead < 2; ahead++)
        for (int i = 0; i < (ahead ? 4 : 3); i++)
            for (int by = -1; by <= 1; by++) {
                Stmts s;
                int at = i;
                build(&s, &r, &(Case){.ahead = ahead});
                assert_ok(async_derive(&s, "@main"));
                Stmt *wait = wait_at(s.first, &at);
                assert_non_null(wait);
                if (wait->number + by >= 0) {
                    wait->number += by;
                    assert_int_equal(async_verify(&s, "@main"), by > 0 ? ERR_FAILED : ERR_OK);
                }
                wait->number = UNDERIVED;
                assert_int_equal(async_verify(&s, "@main"), ERR_FAILED);
                stmts_fini(&s);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_faults),
        cmocka_unit_test(test_functions_in_turn),
        cmocka_unit_test(test_groups_of_some_ways),
        cmocka_unit_test(test_wrong_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
