/* Consumers of a ring by asynchronous products: numbers of pending groups and releases of a stage as they
 * follow from statements, and what is refused: stages that are read, released or left behind wrongly,
 * registers that products under way use, warp groups that wait for ever. */
#include "test/support.h"

#include "kernel/lower/consumer.h"

typedef enum { TOGETHER, PING_PONG, REGISTERS, TWO_SETS } Schedule;

typedef enum {
    RIGHT,
    NO_WAIT,
    OTHER_PARITY,
    OTHER_STAGE,
    NO_FENCE,
    NO_COMMIT,
    NO_AWAIT,
    NO_LAST_AWAIT,
    NO_RELEASE,
    NO_LAST_RELEASE,
    RELEASES_TWICE,
    RELEASES_NOW,
    RELEASES_SOMETIMES,
    NO_ADVANCE,
    ADVANCES_FIRST,
    USES_SUMS,
    LOADS_EARLY,
    RELEASES_LOADED,
    MULTIPLIES_NOTHING,
    AWAITS_NOTHING,
    LEAVES_EARLY,
    NO_SKIP,
    NO_TURN,
    NO_TURN_WAIT,
    GIVES_TURN_TWICE,
    ENDS_EARLY
} Fault;

typedef struct {
    Schedule schedule;
    int stages;
    Fault fault;
} Case;

static const Value *reg(Stmts *s, const char *name) { return value_reg(s, name); }
static const Value *stage(Stmts *s) { return value_field(s, reg(s, "ring"), "stage"); }
static const Value *tile(Stmts *s, const char *of)
{
    return value_op(s, VALUE_ADD, value_call(s, of, stage(s)), reg(s, "offset"));
}

static void wait_for_stage(Stmts *s, Fault f)
{
    const Value *parity = value_field(s, reg(s, "ring"), "phase");
    if (f == NO_WAIT) return;
    if (f == OTHER_PARITY) parity = value_op(s, VALUE_XOR, parity, value_int(s, 1));
    stmt_phase(s, value_call(s, "full", f == OTHER_STAGE ? value_int(s, 0) : stage(s)), parity);
}

static void release(Stmts *s, const Value *of) { stmt_call(s, "release", of, reg(s, "thread")); }

/* A product of every one of 2 x 2 blocks. x: registers, or NULL. */
static void products(Stmts *s, const char *acc, const char *x)
{
    const Expr *i = stmt_unrolled(s, "i", 0, 2);
    const Value *from = x ? value_at(s, reg(s, x), i) : value_call(s, "descriptor", tile(s, "x"));
    stmt_product(s, (Product){value_at(s, reg(s, acc), i), from, value_call(s, "descriptor", tile(s, "y")),
                              value_int(s, 1)});
    stmt_end(s);
}

static void chunk(Stmts *s, const Case *c, const Expr *i)
{
    const Fault f = c->fault;
    if (f == ADVANCES_FIRST) stmt_advance(s, NULL, reg(s, "ring"));
    wait_for_stage(s, f);
    if (f == LEAVES_EARLY) stmt_leave(s);
    if (f != NO_FENCE) stmt_product_fence(s);
    if (f != MULTIPLIES_NOTHING) products(s, "acc", NULL);
    if (f == USES_SUMS) stmt_call(s, "keep", reg(s, "acc"));
    if (f != NO_COMMIT) stmt_product_commit(s);
    if (f == AWAITS_NOTHING) stmt_product_await(s, reg(s, "unused"));
    stmt_if(s, f == RELEASES_SOMETIMES ? reg(s, "sometimes")
                                       : value_op(s, VALUE_GT, value_expr(s, i), value_int(s, 0)));
    if (f != NO_AWAIT) stmt_product_await(s, reg(s, "last"));
    if (f != NO_RELEASE) release(s, f == RELEASES_NOW ? stage(s) : reg(s, "last"));
    if (f == RELEASES_TWICE) release(s, reg(s, "last"));
    stmt_end(s);
    stmt_set(s, reg(s, "last"), stage(s));
    if (f != NO_ADVANCE && f != ADVANCES_FIRST) stmt_advance(s, NULL, reg(s, "ring"));
}

/* One batch of fragments of a chunk of two. */
static void batch(Stmts *s, Fault f, const char *now, const char *other)
{
    stmt_call(s, "load", tile(s, "x"), reg(s, now));
    stmt_product_fence(s);
    products(s, "acc", now);
    stmt_product_commit(s);
    if (f != LOADS_EARLY) stmt_product_await(s, reg(s, other));
}

static void chunk_of_registers(Stmts *s, const Case *c, const Expr *i)
{
    const Fault f = c->fault;
    wait_for_stage(s, f);
    batch(s, f, "even", "odd");
    stmt_if(s, value_op(s, VALUE_GT, value_expr(s, i), value_int(s, 0)));
    release(s, reg(s, "last"));
    stmt_end(s);
    if (f == RELEASES_LOADED) { /* its words are loaded, no product has taken them */
        stmt_product_await(s, reg(s, "even"));
        stmt_call(s, "load", tile(s, "x"), reg(s, "odd"));
        release(s, stage(s));
    } else
        batch(s, f, "odd", "even");
    stmt_set(s, reg(s, "last"), stage(s));
    stmt_advance(s, NULL, reg(s, "ring"));
}

/* Starts the next chunk's sums, and adds those of the one before. */
static void start(Stmts *s, Fault f, const char *part)
{
    wait_for_stage(s, f);
    stmt_call(s, "keep", reg(s, part));
    stmt_product_fence(s);
    products(s, part, NULL);
    stmt_product_commit(s);
}

static void end_part(Stmts *s, Fault f, const char *part, const char *now)
{
    if (f != NO_AWAIT) stmt_product_await(s, reg(s, now));
    release(s, reg(s, "last"));
    stmt_call(s, "add", reg(s, "acc"), reg(s, part));
}

static void move_on(Stmts *s)
{
    stmt_set(s, reg(s, "last"), stage(s));
    stmt_advance(s, NULL, reg(s, "ring"));
}

static void two_sets(Stmts *s, const Case *c, const Expr *chunks)
{
    ExprPool *pool = &s->pool;
    const Expr *i = expr_var(pool, "i", 0, 1, 1 << 20);
    stmt_array(s, "float", "one", DIMS(2, 4));
    stmt_array(s, "float", "two", DIMS(2, 4));
    stmt_var(s, "unsigned", "i", value_int(s, 1));
    start(s, c->fault, "one");
    stmt_loop(s, (Loop){.var = "i",
                        .condition = value_expr(s, expr_op(pool, EXPR_LT, expr_add_i(pool, i, 1), chunks)),
                        .step = 2});
    for (int k = 0; k < 2; k++) {
        move_on(s);
        start(s, c->fault, k ? "one" : "two");
        end_part(s, c->fault, k ? "two" : "one", k ? "two" : "one");
    }
    stmt_end(s);
    stmt_if_expr(s, expr_op(pool, EXPR_LT, i, chunks));
    move_on(s);
    start(s, c->fault, "two");
    end_part(s, c->fault, "one", "one");
    move_on(s);
    end_part(s, c->fault, "two", "two");
    stmt_else(s);
    move_on(s);
    end_part(s, c->fault, "one", "one");
    stmt_end(s);
}

static void accumulate(Stmts *s, const Case *c)
{
    const Fault f = c->fault;
    stmt_function(s, (Function){.name = "accumulate",
                                STMT_PARAMS({"Sums &", "acc"}, {"Ring &", "ring"}, {"int", "chunks"},
                                            {"int", "group"})});
    const Expr *chunks = expr_var(&s->pool, "chunks", 0, 1, 1 << 20);
    stmt_var(s, "unsigned", "last", value_int(s, 0));
    stmt_array(s, "int", "even", DIMS(2, 4));
    stmt_array(s, "int", "odd", DIMS(2, 4));
    stmt_array(s, "int", "unused", DIMS(2, 4));
    if (c->schedule == TWO_SETS)
        two_sets(s, c, chunks);
    else {
        const Expr *i = stmt_loop(s, (Loop){.var = "i", .start = expr_const(&s->pool, 0), .limit = chunks});
        if (c->schedule == REGISTERS)
            chunk_of_registers(s, c, i);
        else
            chunk(s, c, i);
        stmt_end(s);
    }
    for (int k = 0; c->schedule == PING_PONG && f != NO_TURN && k < (f == GIVES_TURN_TWICE ? 2 : 1); k++)
        stmt_call(s, "give_turn", value_op(s, VALUE_SUB, value_int(s, 1), reg(s, "group")));
    if (c->schedule != TWO_SETS) {
        if (f != NO_LAST_AWAIT && f != RELEASES_LOADED) stmt_product_await(s, reg(s, "acc"));
        if (f != NO_LAST_RELEASE && f != RELEASES_LOADED) release(s, reg(s, "last"));
    }
    stmt_end(s);
}

static void skip_tile(Stmts *s, const Case *c, bool first)
{
    const Value *more = value_op(s, VALUE_NOT, value_call_0(s, "done"), NULL);
    if (c->schedule != PING_PONG) return;
    stmt_if(s, first ? value_op(s, VALUE_BOTH, reg(s, "group"), more) : more);
    stmt_define(s, "Tile", "other", value_call(s, "take", reg(s, "args")));
    if (c->fault != NO_SKIP) stmt_call(s, "skip", value_field(s, reg(s, "other"), "chunks"));
    stmt_do(s, value_call_0(s, "next"));
    stmt_end(s);
}

static void build(Stmts *s, const Case *c)
{
    stmts_init(s, 0);
    accumulate(s, c);
    stmt_function(s, (Function){.name = "consume", STMT_PARAMS({"int", "group"}, {"int", "thread"})});
    stmt_array(s, "float", "acc", DIMS(2, 4));
    if (c->schedule == PING_PONG) {
        stmt_if(s, reg(s, "group"));
        stmt_call(s, "give_turn", value_int(s, 0));
        stmt_end(s);
    }
    skip_tile(s, c, true);
    if (c->fault == ENDS_EARLY) stmt_if(s, value_op(s, VALUE_NOT, value_call_0(s, "done"), NULL));
    if (c->fault != ENDS_EARLY)
        stmt_loop(s, (Loop){.condition = value_op(s, VALUE_NOT, value_call_0(s, "done"), NULL)});
    stmt_define(s, "Tile", "tile", value_call(s, "take", reg(s, "args")));
    if (c->schedule == PING_PONG && c->fault != NO_TURN_WAIT) stmt_call(s, "wait_turn", reg(s, "group"));
    stmt_call(s, "accumulate", reg(s, "acc"), reg(s, "ring"), value_field(s, reg(s, "tile"), "chunks"),
              reg(s, "group"));
    stmt_call(s, "store", reg(s, "acc"));
    stmt_do(s, value_call_0(s, "next"));
    skip_tile(s, c, false);
    stmt_end(s);
    stmt_end(s);
}

static Consumers consumers(const StageRing *r)
{
    return (Consumers){.function = "consume",
                       .group = "group",
                       .n_groups = 2,
                       .ring = r,
                       .cursor = "ring",
                       .skip = "skip",
                       .full = "full",
                       .tile = {"x", "y"},
                       .release = "release",
                       .done = "done",
                       .next = "next",
                       .take = "take",
                       .count = "chunks",
                       .turn_wait = "wait_turn",
                       .turn_give = "give_turn"};
}

static int numbers(const Stmt *list, int *number)
{
    int n = 0;
    for (const Stmt *s = list; s; s = s->next) {
        if (s->kind == STMT_PRODUCT_AWAIT) number[n++] = (int)s->number;
        n += numbers(s->body, number + n);
        n += numbers(s->otherwise, number + n);
    }
    return n;
}

static void test_numbers(void **unused)
{
    (void)unused;
    static const struct {
        Schedule schedule;
        int releases, n, number[6];
    } rows[] = {{TOGETHER, 2, 2, {1, 0}},
                {PING_PONG, 1, 2, {1, 0}},
                {REGISTERS, 2, 3, {1, 1, 0}},
                {TWO_SETS, 2, 5, {1, 1, 1, 0, 0}}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int stages = 2; stages <= 9; stages++) {
            const StageRing r = {.n_stages = stages, .has_phase = true};
            const Consumers c = consumers(&r);
            int number[8], releases = 0;
            Stmts s;
            build(&s, &(Case){.schedule = rows[i].schedule});
            assert_int_equal(consumer_verify(&s, &c, &releases), ERR_FAILED); /* underived */
            releases = 0;
            if (consumer_derive(&s, &c, &releases))
                fail_msg("schedule %d, %d stages: %s", rows[i].schedule, stages, err_message());
            assert_int_equal(releases, rows[i].releases);
            const int n = numbers(s.first, number);
            assert_int_equal(n, rows[i].n);
            for (int k = 0; k < n; k++) assert_int_equal(number[k], rows[i].number[k]);
            releases = 0;
            assert_ok(consumer_verify(&s, &c, &releases));
            assert_int_equal(releases, rows[i].releases);
            stmts_fini(&s);
        }
}

/* Warp groups meet the other threads of a cluster as often as the producer does. */
static void test_meetings(void **unused)
{
    (void)unused;
    const StageRing r = {.n_stages = 4, .has_phase = true};
    for (int meetings = 0; meetings <= 2; meetings++) {
        Consumers c = consumers(&r);
        int releases = 0;
        Stmts s;
        c.meet = "store", c.meetings = meetings; /* which is called once a tile */
        build(&s, &(Case){.schedule = TOGETHER});
        const Err e = consumer_derive(&s, &c, &releases);
        assert_int_equal(e, meetings == 1 ? ERR_OK : ERR_FAILED);
        if (e) assert_non_null(strstr(err_message(), "a warp group meets the cluster 1 times in 1 tiles"));
        stmts_fini(&s);
    }
}

/* The n-th wait of a list; *n counts down. */
static Stmt *wait_at(Stmt *list, int *n)
{
    for (Stmt *s = list; s; s = s->next) {
        if (s->kind == STMT_PRODUCT_AWAIT && !(*n)--) return s;
        Stmt *in = wait_at(s->body, n);
        if (!in) in = wait_at(s->otherwise, n);
        if (in) return in;
    }
    return NULL;
}

/* A wait with one group more under way than was derived is refused, one with fewer is not. */
static void test_wrong_numbers(void **unused)
{
    (void)unused;
    static const int n_waits[] = {[TOGETHER] = 2, [PING_PONG] = 2, [REGISTERS] = 3, [TWO_SETS] = 5};
    const StageRing r = {.n_stages = 4, .has_phase = true};
    const Consumers c = consumers(&r);
    for (Schedule schedule = TOGETHER; schedule <= TWO_SETS; schedule++)
        for (int i = 0; i < n_waits[schedule]; i++)
            for (int by = -1; by <= 1; by++) {
                int at = i, releases = 0;
                Stmts s;
                build(&s, &(Case){.schedule = schedule});
                assert_ok(consumer_derive(&s, &c, &releases));
                Stmt *wait = wait_at(s.first, &at);
                assert_non_null(wait);
                wait->number += by;
                if (wait->number >= 0)
                    assert_int_equal(consumer_verify(&s, &c, &releases), by > 0 ? ERR_FAILED : ERR_OK);
                stmts_fini(&s);
            }
}

static void test_faults(void **unused)
{
    (void)unused;
    static const struct {
        Fault fault;
        Schedule schedule;
        const char *why;
    } rows[] = {
        {NO_WAIT, TOGETHER, "is read or released, but was not waited for"},
        {OTHER_PARITY, TOGETHER,
         "chunk 0 is waited for in stage 0 with parity 1, it is in stage 0 with parity 0"},
        {OTHER_STAGE, TOGETHER,
         "chunk 1 is waited for in stage 0 with parity 0, it is in stage 1 with parity 0"},
        {NO_FENCE, TOGETHER, "registers 'acc' are used by a product with no fence in front of it"},
        {NO_COMMIT, TOGETHER, "a wait for products that are in no group yet"},
        {NO_AWAIT, TOGETHER, "is released while products may still read it"},
        {NO_AWAIT, TWO_SETS, "released while products may still read it"},
        {NO_LAST_AWAIT, TOGETHER, "is released while products may still read it"},
        {NO_RELEASE, TOGETHER, "is waited for again, but was not released"},
        {NO_LAST_RELEASE, PING_PONG, "is not released"},
        {RELEASES_TWICE, TOGETHER, "is read or released, but was not waited for"},
        {RELEASES_NOW, TOGETHER, "is released while products may still read it"},
        {RELEASES_SOMETIMES, TOGETHER, "depends on a condition that is not known"},
        {NO_ADVANCE, TOGETHER, "is waited for again, but was not released"},
        {ADVANCES_FIRST, TOGETHER, "the ring's cursor leaves stage 0, which was not waited for"},
        {USES_SUMS, TOGETHER, "registers 'acc' are used, but products under way use them"},
        {LOADS_EARLY, REGISTERS, "registers 'even' are used, but products under way use them"},
        {RELEASES_LOADED, REGISTERS, "is released while threads may still load 'odd' from it"},
        {MULTIPLIES_NOTHING, TOGETHER, "is released unread"},
        {AWAITS_NOTHING, TOGETHER, "a wait for products that are complete in any case, or without a number"},
        {LEAVES_EARLY, TOGETHER, "a function of a warp group is left early"},
        {NO_SKIP, PING_PONG, "released by"},
        {NO_TURN, PING_PONG, "waits for ever"},
        {NO_TURN_WAIT, PING_PONG, "does not know whether chunk"},
        {GIVES_TURN_TWICE, PING_PONG, "gets its turn twice"},
        {ENDS_EARLY, TOGETHER, "a warp group ends before the walk"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const StageRing r = {.n_stages = 3, .has_phase = true};
        const Consumers c = consumers(&r);
        int releases = 0;
        Stmts s;
        build(&s, &(Case){.schedule = rows[i].schedule, .fault = rows[i].fault});
        const Err e = consumer_derive(&s, &c, &releases);
        if (!e || !strstr(err_message(), rows[i].why))
            fail_msg("fault %d: %s", rows[i].fault, e ? err_message() : "not refused");
        assert_int_equal(e, ERR_FAILED);
        stmts_fini(&s);
    }
}

static void test_text(void **unused)
{
    (void)unused;
    const StageRing r = {.n_stages = 4, .has_phase = true};
    Stmts s;
    Buf out;
    stmts_init(&s, 0);
    stmt_phase(&s, value_call(&s, "full", stage(&s)), value_field(&s, reg(&s, "ring"), "phase"));
    stmt_product_fence(&s);
    stmt_product(&s, (Product){reg(&s, "acc"), reg(&s, "x"), reg(&s, "y"), value_int(&s, 1)});
    stmt_product_commit(&s);
    stmt_product_await(&s, reg(&s, "acc"));
    s.first->next->next->next->next->number = 1;
    stmt_arrive(&s, reg(&s, "empty"), reg(&s, "rank"));
    stmt_advance(&s, &r, reg(&s, "ring"));
    stmt_loop(&s, (Loop){.condition = reg(&s, "more")});
    stmt_do(&s, value_call_0(&s, "next"));
    stmt_end(&s);
    buf_init(&out);
    assert_ok(stmt_print(&s, &stmt_words_cuda, 0, &out));
    assert_string_equal(buf_cstr(&out),
                        "bar_wait(full(ring.stage), ring.phase);\nwgmma_fence();\n"
                        "wgmma(acc, x, y, 1);\nwgmma_commit();\nwgmma_wait<1>();\n"
                        "bar_arrive(empty, rank);\nring.next();\nwhile (more)\n    next();\n");
    buf_fini(&out);
    stmts_fini(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers), cmocka_unit_test(test_meetings), cmocka_unit_test(test_wrong_numbers),
        cmocka_unit_test(test_faults),  cmocka_unit_test(test_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
