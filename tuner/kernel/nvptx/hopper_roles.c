/* The kernel function of wgmma kernels, as statements: mbarriers are set up, the threads of the cluster
 * meet, and the warp groups take their roles. */
#include "kernel/lower/setup.h"
#include "kernel/nvptx/hopper.h"
#include "problem/lines.h"

static const Value *first_thread(Stmts *s, const char *of)
{
    return value_op(s, VALUE_EQ, value_reg(s, of), value_int(s, 0));
}

/* Sets up n mbarriers of a kind in an open loop. */
static void init(Stmts *s, const Value *barrier, int arrivals)
{
    stmt_call(s, "bar_init", barrier, value_int(s, arrivals));
}

static void barriers(const GpuPlan *p, Stmts *s, int arrivals)
{
    const GpuWarpGroups *g = &p->groups;
    const char *const map[] = {"map_a", "map_b", "map_d"};
    stmt_if(s, first_thread(s, "threadIdx.x"));
    for (int i = 0; i < (g->engine_store ? 3 : 2); i++) stmt_call(s, "prefetch_map", value_reg(s, map[i]));
    const Expr *zero = expr_const(&s->pool, 0);
    const Expr *i = stmt_loop(s, (Loop){.var = "i", .start = zero, .limit = expr_const(&s->pool, g->stages)});
    init(s, value_call(s, "shared.full", value_expr(s, i)), hopper_full_arrivals(p));
    init(s, value_call(s, "shared.empty", value_expr(s, i)), arrivals);
    stmt_end(s);
    i = stmt_loop(s, (Loop){.var = "i", .start = zero, .limit = expr_const(&s->pool, g->consumers)});
    for (int buffer = 0; buffer < HOPPER_BUFFERS; buffer++)
        init(s, value_call(s, "shared.c", value_expr(s, i), value_int(s, buffer)), 1);
    stmt_end(s);
    if (g->line_pixels) {
        i = stmt_loop(s, (Loop){.var = "i", .start = zero, .limit = expr_const(&s->pool, LINE_BUFFERS)});
        init(s, value_call(s, "shared.rows_full", value_expr(s, i)), hopper_rows_arrivals(true));
        init(s, value_call(s, "shared.rows_empty", value_expr(s, i)), hopper_rows_arrivals(false));
        stmt_end(s);
    }
    stmt_do(s, value_call_0(s, "bars_fence"));
    stmt_do(s, value_call_0(s, "proxy_fence"));
    stmt_end(s);
}

/* Sets the registers per thread of a role; 0: as compiled. */
static void registers(Stmts *s, const char *change, int n)
{
    if (n > 0) stmt_do(s, value_call_0(s, stmts_name(s, "%s<%d>", change, n)));
}

static void roles(const GpuPlan *p, Stmts *s)
{
    const Value *args = value_reg(s, "args"), *shared = value_reg(s, "shared"),
                *thread = value_reg(s, "thread");
    const bool by_all = hopper_members(p) > 1; /* all threads of the producer meet those of the cluster */
    const int lines = p->groups.line_pixels;
    const Value *first = first_thread(s, "group"), *group = value_reg(s, "group");
    const Value *last = value_op(s, VALUE_EQ, group, value_int(s, 1 + p->groups.consumers));
    stmt_if(s, lines ? value_op(s, VALUE_EITHER, first, last) : first);
    registers(s, "fewer_registers", p->groups.producer_registers);
    if (!by_all) stmt_if(s, first_thread(s, lines ? "threadIdx.x" : "thread"));
    stmt_call(s, "produce", args, value_reg(s, "map_a"), value_reg(s, "map_b"), shared, thread);
    if (!by_all) stmt_end(s);
    if (lines) stmt_call(s, "lines", args, shared, group, thread);
    stmt_do(s, value_call_0(s, "__syncwarp"));
    stmt_else(s);
    registers(s, "more_registers", p->groups.consumer_registers);
    stmt_call(s, "consume", args, value_reg(s, "map_c"), value_reg(s, "map_d"), shared,
              value_op(s, VALUE_SUB, value_reg(s, "group"), value_int(s, 1)), thread);
    stmt_do(s, value_call_0(s, "__syncwarp"));
    stmt_end(s);
}

Err hopper_roles(const GpuPlan *p, int arrivals, Stmts *s)
{
    const GpuWarpGroups *g = &p->groups;
    const bool cluster = hopper_sharing(p) * hopper_members(p) > 1;
    const Value *tid = value_reg(s, "threadIdx.x"), *lanes = value_int(s, WGMMA_LANES);
    stmt_function(s, (Function){.name = "gemm",
                                STMT_PARAMS({"char *", "dynamic"}, {"const Args &", "args"},
                                            {"const Map &", "map_a"}, {"const Map &", "map_b"},
                                            {"const Map &", "map_c"}, {"const Map &", "map_d"})});
    stmt_var(s, "Shared", "shared",
             value_list(s, hopper_base(s, value_call(s, "shared_address", value_reg(s, "dynamic")))));
    stmt_define(s, "int", "group", value_call(s, "g_uniform", value_op(s, VALUE_DIV, tid, lanes)));
    stmt_define(s, "int", "thread", value_op(s, VALUE_MOD, tid, lanes));
    if (g->dependent_launch) stmt_do(s, value_call_0(s, "dependent_begins"));
    if (g->line_pixels) stmt_call(s, "lines_clear", value_reg(s, "shared"));
    barriers(p, s, arrivals);
    stmt_do(s, value_call_0(s, "cluster_sync"));
    if (g->dependent_launch) stmt_do(s, value_call_0(s, "wait_for_launches"));
    roles(p, s);
    /* other work-groups may still multicast into this one and arrive at its mbarriers */
    if (cluster) stmt_do(s, value_call_0(s, "cluster_sync"));
    stmt_end(s);
    const int rows = g->line_pixels ? LINE_BUFFERS : 0;
    const Setup of = {.function = "gemm",
                      .thread = "threadIdx.x",
                      .group = "g_uniform",
                      .group_threads = WGMMA_LANES,
                      .barriers = {{"shared.full", 0, g->stages, hopper_full_arrivals(p)},
                                   {"shared.empty", 0, g->stages, arrivals},
                                   {"shared.c", g->consumers, HOPPER_BUFFERS, 1},
                                   {"shared.rows_full", 0, rows, hopper_rows_arrivals(true)},
                                   {"shared.rows_empty", 0, rows, hopper_rows_arrivals(false)}},
                      .init = "bar_init",
                      .fence = {"bars_fence", "proxy_fence"},
                      .meet = "cluster_sync",
                      .launches = g->dependent_launch ? "wait_for_launches" : NULL,
                      .role = {"produce", "consume"},
                      .meets_at_end = cluster};
    return setup_verify(s, &of);
}
