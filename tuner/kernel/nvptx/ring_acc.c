/* Members of @Acc that are the same for all compute modules. See ring_acc.h. */
#include "kernel/nvptx/ring_acc.h"

enum { OF_RESULTS = 0 };

AccNames ring_acc_names(const GpuPlan *p, ExprPool *pool, int runs)
{
    return (AccNames){.r = expr_var(pool, "r", OF_RESULTS, 0, runs - 1),
                      .e = expr_var(pool, "e", OF_RESULTS, 0, p->acc_run - 1),
                      .slot = expr_var(pool, "slot", OF_RESULTS, 0, p->mt[1] - 1),
                      .part = expr_var(pool, "part", OF_RESULTS, 0, p->mt[1] - 1),
                      .m = expr_var(pool, "m", OF_RESULTS, 0, p->mt[0] - 1),
                      .n = expr_var(pool, "n", OF_RESULTS, 0, p->mt[1] - 1)};
}

int ring_acc_adjacent(const GpuPlan *p)
{
    return p->matrix.used ? ring_mma_adjacent(p) : ring_simt_adjacent(p);
}

void ring_acc_constants(Stmts *s, const AccRuns *x)
{
    stmt_constant(s, "int", "@RUN", x->run);
    stmt_constant(s, "int", "@N_RUN", x->runs);
}

AccThread ring_acc_thread(Stmts *s)
{
    const Value *tid = value_reg(s, "tid");
    stmt_define(s, "int", "lane", value_op(s, VALUE_AND, tid, value_int(s, ACC_LANES - 1)));
    stmt_define(s, "int", "warp", value_op(s, VALUE_SHR, tid, value_int(s, 5)));
    return (AccThread){expr_var(&s->pool, "lane", OF_RESULTS, 0, ACC_LANES - 1),
                       expr_var(&s->pool, "warp", OF_RESULTS, 0, ACC_WARPS - 1)};
}

void ring_acc_member(Stmts *s, const char *name, bool changes, const StmtParam *param, int n_params)
{
    stmt_function(
        s, (Function){
               .name = name, .qualifier = changes ? NULL : "const", .param = param, .n_params = n_params});
}

/* A member that returns a number of run r. */
static void of_run(Stmts *s, const char *name, const Expr *x)
{
    stmt_function(s,
                  (Function){.result = "int", .name = name, .qualifier = "const", STMT_PARAMS({"int", "r"})});
    stmt_return(s, value_expr(s, x));
    stmt_end(s);
}

static const Value *element(Stmts *s, const AccRuns *x)
{
    const Value *v = value_reg(s, "v");
    for (int i = 0; i < ACC_SUBSCRIPTS && x->subscript[i]; i++) v = value_at(s, v, x->subscript[i]);
    return v;
}

void ring_acc_results(Stmts *s, const AccRuns *x)
{
    stmt_constant(s, "static int", "PARTS", x->parts);
    of_run(s, "row", x->row);
    of_run(s, "col", x->col);
    stmt_function(s, (Function){.result = "@TC",
                                .name = "get",
                                .qualifier = "const",
                                STMT_PARAMS({"int", "r"}, {"int", "e"})});
    stmt_return(s, element(s, x));
    stmt_end(s);
    stmt_function(s, (Function){.name = "set", STMT_PARAMS({"int", "r"}, {"int", "e"}, {"@TC", "x"})});
    stmt_set(s, element(s, x), value_reg(s, "x"));
    stmt_end(s);
    of_run(s, "part", x->part);
    of_run(s, "slot", x->slot);
    stmt_function(
        s,
        (Function){.result = "static int", .name = "column", STMT_PARAMS({"int", "part"}, {"@u32", "slot"})});
    stmt_return(s, value_expr(s, x->column));
    stmt_end(s);
}
