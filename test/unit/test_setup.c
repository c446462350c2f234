/* The set-up of mbarriers (lower/setup.h): what is right is taken, and each fault is refused for its
 * reason. */
#include "test/support.h"

#include "kernel/lower/setup.h"

typedef enum {
    RIGHT,
    ONE_LESS,
    TWICE,
    OTHER_ARRIVALS,
    NO_FENCE,
    NO_MEETING,
    ONE_MEETS,
    OTHER_ROLE,
    TWO_CALLS,
    NO_CALL,
    ENDS_EARLY,
    NO_LAUNCHES
} Fault;

enum { STAGES = 3, ARRIVALS = 2 };

static const Value *reg(Stmts *s, const char *name) { return value_reg(s, name); }
static void do_call(Stmts *s, const char *f) { stmt_do(s, value_call_0(s, f)); }
static void if_zero(Stmts *s, const char *of)
{
    stmt_if(s, value_op(s, VALUE_EQ, reg(s, of), value_int(s, 0)));
}

static void init(Stmts *s, const char *of, const Expr *i, int arrivals)
{
    stmt_call(s, "init", value_call(s, of, value_expr(s, i)), value_int(s, arrivals));
}

static void build(Stmts *s, Fault f)
{
    stmts_init(s, 0);
    stmt_function(s, (Function){.name = "kernel", STMT_PARAMS({"int", "thread"})});
    stmt_define(s, "int", "role", value_call(s, "role_of", reg(s, "thread")));
    if_zero(s, "thread");
    const Expr *i = stmt_unrolled(s, "i", 0, f == ONE_LESS ? STAGES - 1 : STAGES);
    init(s, "full", i, 1);
    if (f == TWICE) init(s, "full", i, 1);
    init(s, "empty", i, f == OTHER_ARRIVALS ? ARRIVALS + 1 : ARRIVALS);
    stmt_end(s);
    if (f != NO_FENCE) do_call(s, "fence");
    do_call(s, "engine_fence");
    if (f == ONE_MEETS) do_call(s, "meet");
    stmt_end(s);
    if (f != NO_MEETING) do_call(s, "meet");
    if (f != NO_LAUNCHES) do_call(s, "launches");
    if_zero(s, "role");
    do_call(s, f == OTHER_ROLE ? "consume" : "produce");
    if (f == TWO_CALLS) do_call(s, "produce");
    stmt_else(s);
    if (f != NO_CALL) do_call(s, "consume");
    stmt_end(s);
    if (f != ENDS_EARLY) do_call(s, "meet");
    stmt_end(s);
}

static void test_faults(void **unused)
{
    (void)unused;
    static const struct {
        Fault fault;
        const char *why;
    } rows[] = {
        {ONE_LESS, "mbarrier 2 of full is set up 0 times"},
        {TWICE, "mbarrier 0 of full is set up 2 times"},
        {OTHER_ARRIVALS, "an mbarrier of empty is set up for other than its 2 arrivals"},
        {NO_FENCE, "a role begins before all threads see its mbarriers"},
        {NO_MEETING, "a role begins before all threads see its mbarriers"},
        {ONE_MEETS, "threads of a work-group meet 3 and 2 times"},
        {OTHER_ROLE, "a thread calls the function of another role"},
        {TWO_CALLS, "a role's function is called 2 times"},
        {NO_CALL, "a role's function is called 0 times"},
        {ENDS_EARLY, "a work-group ends while others may arrive at its mbarriers"},
        {NO_LAUNCHES, "a role begins before the launches in front have ended"},
    };
    const Setup of = {.function = "kernel",
                      .thread = "thread",
                      .group = "role_of",
                      .group_threads = 128,
                      .barriers = {{"full", 0, STAGES, 1}, {"empty", 0, STAGES, ARRIVALS}},
                      .init = "init",
                      .fence = {"fence", "engine_fence"},
                      .meet = "meet",
                      .launches = "launches",
                      .role = {"produce", "consume"},
                      .meets_at_end = true};
    Stmts s;
    build(&s, RIGHT);
    assert_ok(setup_verify(&s, &of));
    stmts_fini(&s);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        build(&s, rows[i].fault);
        assert_int_equal(setup_verify(&s, &of), ERR_FAILED);
        assert_string_equal(err_message(), rows[i].why);
        stmts_fini(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_faults)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
