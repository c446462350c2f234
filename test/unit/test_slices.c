/* Slices of results that the copy engine stores: numbers of groups that waits leave under way and bytes of
 * C's mbarriers as they follow from statements, and what is refused: buffers that are written while stores
 * may still read them or before C is there, slices that are stored before all threads have written them. */
#include "test/support.h"

#include "kernel/lower/slices.h"

typedef enum {
    RIGHT,
    NO_AWAIT,
    NO_FIRST_AWAIT,
    NO_MEETING,
    NO_WAIT_FOR_C,
    OTHER_PARITY,
    SAME_PARITY,
    NO_BYTES,
    HALF_OF_C,
    OTHER_BARRIER,
    NO_FENCE,
    STORES_EARLY,
    NO_COMMIT,
    NOT_STORED,
    ONE_MEETS,
    ALL_LOAD
} Fault;

enum { BUFFERS = 2, BYTES = 4096 };

static const Value *reg(Stmts *s, const char *name) { return value_reg(s, name); }
static const Value *of_buffer(Stmts *s, const char *what, const Expr *i)
{
    return value_call(s, what, reg(s, "group"), value_expr(s, expr_mod_i(&s->pool, i, BUFFERS)));
}
static void if_thread(Stmts *s) { stmt_if(s, value_op(s, VALUE_EQ, reg(s, "thread"), value_int(s, 0))); }

static void load(Stmts *s, Fault f, const Expr *i)
{
    const Value *bar = of_buffer(s, "barrier", f == OTHER_BARRIER ? expr_add_i(&s->pool, i, 1) : i);
    const Box b = {.map = reg(s, "map"), .at = {value_int(s, 0)}};
    if (f != NO_AWAIT) stmt_store_await(s, of_buffer(s, "buffer", i));
    if (f != NO_BYTES) stmt_expect(s, of_buffer(s, "barrier", i));
    stmt_box(s, access_window(of_buffer(s, "buffer", i), NULL, f == HALF_OF_C ? BYTES / 2 : BYTES), bar, b);
}

static void acquire(Stmts *s, Fault f, bool reads, const Expr *i)
{
    const Value *buffer = value_expr(s, expr_mod_i(&s->pool, i, BUFFERS));
    const Value *parity = value_op(s, VALUE_SHR, reg(s, "phases"), buffer);
    if (f != ALL_LOAD) if_thread(s);
    if (reads)
        load(s, f, i);
    else {
        stmt_if_expr(s, expr_op(&s->pool, EXPR_EQ, i, expr_const(&s->pool, 0)));
        if (f != NO_FIRST_AWAIT) stmt_store_await(s, of_buffer(s, "buffer", i));
        stmt_else(s);
        if (f != NO_AWAIT) stmt_store_await(s, of_buffer(s, "buffer", i));
        stmt_end(s);
    }
    if (f == ONE_MEETS) stmt_do(s, value_call_0(s, "meet"));
    if (f != ALL_LOAD) stmt_end(s);
    if (!reads && f != NO_MEETING) stmt_do(s, value_call_0(s, "meet"));
    if (!reads) return;
    parity = value_op(s, VALUE_AND, parity, value_int(s, 1));
    if (f == OTHER_PARITY) parity = value_op(s, VALUE_XOR, parity, value_int(s, 1));
    if (f != NO_WAIT_FOR_C) stmt_phase(s, of_buffer(s, "barrier", i), parity);
    if (f != SAME_PARITY)
        stmt_update(s, VALUE_XOR, reg(s, "phases"), value_op(s, VALUE_SHL, value_int(s, 1), buffer));
}

static void build(Stmts *s, Fault f, bool reads, int slices)
{
    stmts_init(s, 0);
    stmt_function(s, (Function){.name = "store",
                                STMT_PARAMS({"int", "thread"}, {"int", "group"}, {"unsigned &", "phases"})});
    const Expr *i = stmt_unrolled(s, "i", 0, slices);
    acquire(s, f, reads, i);
    stmt_call(s, "write", of_buffer(s, "buffer", i));
    if (f != NO_FENCE) stmt_do(s, value_call_0(s, "fence"));
    if (f != STORES_EARLY) stmt_do(s, value_call_0(s, "meet"));
    if_thread(s);
    if (f != NOT_STORED) stmt_call(s, "box", reg(s, "map"), of_buffer(s, "buffer", i));
    if (f != NO_COMMIT) stmt_do(s, value_call_0(s, "commit"));
    stmt_end(s);
    stmt_end(s);
    stmt_end(s);
}

static Slices of(bool reads)
{
    return (Slices){.function = "store",
                    .thread = "thread",
                    .group = "group",
                    .phases = "phases",
                    .n_buffers = BUFFERS,
                    .bytes = BYTES,
                    .reads = reads,
                    .buffer = "buffer",
                    .barrier = "barrier",
                    .write = "write",
                    .fence = "fence",
                    .meet = "meet",
                    .store = "box",
                    .commit = "commit"};
}

static Stmt *find(const Stmt *list, StmtKind kind, int *n)
{
    for (const Stmt *s = list; s; s = s->next) {
        if (s->kind == kind && !(*n)--) return (Stmt *)s;
        Stmt *in = find(s->body, kind, n);
        if (!in) in = find(s->otherwise, kind, n);
        if (in) return in;
    }
    return NULL;
}

/* Of an odd number of slices the first one has the buffer of the last one of the tile before. */
static void test_numbers(void **unused)
{
    (void)unused;
    for (int slices = 2; slices <= 5; slices++)
        for (int reads = 0; reads < 2; reads++)
            for (int by = -1; by <= 1; by++) {
                const Slices x = of(reads);
                int first = 0, later = 1, bytes = 0;
                Stmts s;
                build(&s, RIGHT, reads, slices);
                assert_int_equal(slices_verify(&s, &x), ERR_FAILED); /* underived */
                assert_ok(slices_derive(&s, &x));
                Stmt *await = find(s.first, STMT_STORE_AWAIT, &first);
                assert_int_equal(await->number, slices % 2 ? 0 : 1);
                if (!reads) assert_int_equal(find(s.first, STMT_STORE_AWAIT, &later)->number, 1);
                if (reads) assert_int_equal(find(s.first, STMT_EXPECT, &bytes)->number, BYTES);
                await->number += by;
                if (await->number >= 0) assert_int_equal(slices_verify(&s, &x), by > 0 ? ERR_FAILED : ERR_OK);
                stmts_fini(&s);
            }
}

/* All threads read the slices back. Of an odd number the last one has the buffer of the next tile's first. */
static void read_back(bool in_memory, bool first, bool second)
{
    Slices x = of(false);
    Stmts s;
    x.read = "read";
    if (in_memory) x.memory = "lines", x.n_buffers = 1;
    stmts_init(&s, 0);
    stmt_function(&s, (Function){.name = "store",
                                 STMT_PARAMS({"int", "thread"}, {"int", "group"}, {"unsigned &", "phases"},
                                             {"float *", "lines"})});
    const Expr *i = stmt_unrolled(&s, "i", 0, 3);
    const Value *at = in_memory ? reg(&s, "lines") : of_buffer(&s, "buffer", i);
    if (first) in_memory ? stmt_barrier(&s) : stmt_do(&s, value_call_0(&s, "meet"));
    if (in_memory)
        stmt_store(&s, access_element(SPACE_LOCAL, "float", 4, at, NULL), value_int(&s, 0));
    else
        stmt_call(&s, "write", at);
    if (second) in_memory ? stmt_barrier(&s) : stmt_do(&s, value_call_0(&s, "meet"));
    stmt_call(&s, "put", value_call(&s, "read", at));
    stmt_end(&s);
    stmt_end(&s);
    assert_int_equal(slices_derive(&s, &x), first && second ? ERR_OK : ERR_FAILED);
    stmts_fini(&s);
}

static void test_read_back(void **unused)
{
    (void)unused;
    for (int i = 0; i < 8; i++) read_back(i & 4, i & 1, i & 2);
}

static void test_faults(void **unused)
{
    (void)unused;
    static const struct {
        bool reads;
        Fault fault;
        const char *why;
    } rows[] = {
        {false, NO_AWAIT, "a buffer is written that stores may still read"},
        {false, NO_FIRST_AWAIT, "a buffer is written that stores may still read"},
        {false, NO_MEETING, "a buffer is written that stores may still read"},
        {false, NO_FENCE, "a slice is stored that the copy engine may not see yet"},
        {false, STORES_EARLY, "a slice is stored that the copy engine may not see yet"},
        {false, NO_COMMIT, "a wait for stores that are in no group yet"},
        {false, NOT_STORED, "a slice is written over one that was not stored"},
        {false, ONE_MEETS, "threads of a warp group meet a different number of times"},
        {true, NO_AWAIT, "C is loaded into a buffer that stores may still read"},
        {true, NO_WAIT_FOR_C, "a buffer is written that stores may still read"},
        {true, OTHER_PARITY, "C is waited for by the wrong parity"},
        {true, SAME_PARITY, "C is waited for by the wrong parity"},
        {true, NO_BYTES, "C's mbarrier expects 0 bytes and gets 4096 of 4096"},
        {true, HALF_OF_C, "C's mbarrier expects 4096 bytes and gets 2048 of 4096"},
        {true, OTHER_BARRIER, "a slice of C is counted by another mbarrier"},
        {true, ALL_LOAD, "another thread than the first one loads or waits for stores"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const Slices x = of(rows[i].reads);
        Stmts s;
        build(&s, rows[i].fault, rows[i].reads, 3);
        assert_int_equal(slices_derive(&s, &x), ERR_FAILED);
        assert_string_equal(err_message(), rows[i].why);
        stmts_fini(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_numbers), cmocka_unit_test(test_read_back),
                                       cmocka_unit_test(test_faults)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
