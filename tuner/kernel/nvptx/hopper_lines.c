/* Kernels whose threads make lines of pixels (problem/lines.h), as statements: who goes through which blocks
 * and stages, and who waits for whom. What a lane does in between is the text nvptx/hopper_lines.cuh.
 *
 * Two warp groups do not multiply. Their first warp copies the other operand (hopper_produce.c), the second
 * one loads blocks, and the others make lines. All go through the same tiles and chunks. */
#include "problem/lines.h"

#include "kernel/nvptx/hopper.h"

enum { WARP = 32, MAKERS = 2 * WGMMA_LANES / WARP - 2, FIRST_MAKER = 2 };

/* All lanes of the warps that load blocks or make lines arrive at the mbarriers of rows and stages, rather
 * than lane 0 behind __syncwarp(): its own arrival orders a lane's writes and reads of local memory. By the
 * causality order of PTX __syncwarp() is enough, but tools that follow the arrivals of each thread alone
 * (racecheck of compute-sanitizer) check this order, too. */
int hopper_full_arrivals(const GpuPlan *p) { return p->groups.line_pixels ? 1 + MAKERS * WARP : 1; }
int hopper_rows_arrivals(bool full) { return full ? WARP : MAKERS * WARP; }

void hopper_line_args(Stmts *s)
{
    stmt_var(s, "const g_T *", "line_from", NULL);
    for (int i = 0; i < LINE_ARGS; i++) stmt_var(s, "u32", line_arg_names[i], NULL);
}

typedef struct {
    const GpuPlan *p;
    Stmts *s;
    bool per_tap;
} Lines;

static const Value *reg(const Lines *c, const char *name) { return value_reg(c->s, name); }
static const Value *number(const Lines *c, int64_t n) { return value_int(c->s, n); }
static const Value *op(const Lines *c, ValueOp o, const Value *x, const Value *y)
{
    return value_op(c->s, o, x, y);
}
static const Value *buffer_of(const Lines *c, const Value *n)
{
    return op(c, VALUE_MOD, n, number(c, LINE_BUFFERS));
}
/* The parity of the phase in which block number n is in its buffer. */
static const Value *turn_of(const Lines *c, const Value *n)
{
    return op(c, VALUE_MOD, op(c, VALUE_DIV, n, number(c, LINE_BUFFERS)), number(c, 2));
}
static const Value *rows(const Lines *c, const char *barrier, const Value *n)
{
    return value_call(c->s, barrier, buffer_of(c, n));
}

/* ---- the walk ---- */

/* Opens the loop over tiles, of which p is one. */
static void each_tile(const Lines *c)
{
    Stmts *s = c->s;
    stmt_var(s, "Walk", "walk", value_call(s, "walk_of", reg(c, "args")));
    stmt_loop(s,
              (Loop){.condition = value_op(s, VALUE_NOT, value_call(s, "walk_done", reg(c, "walk")), NULL)});
    stmt_define(s, "WorkTile", "p",
                value_call(s, "work_tile", reg(c, "walk"), reg(c, "args"), reg(c, "rank")));
}
static void end_tile(const Lines *c)
{
    stmt_call(c->s, "walk_next", reg(c, "walk"));
    stmt_end(c->s);
}

/* Opens the loop over a tile's chunks. */
static void each_chunk(const Lines *c)
{
    Stmts *s = c->s;
    stmt_var(s, "LineChunks", "c", value_list(s, reg(c, "p.late"), number(c, 0), number(c, 1)));
    stmt_loop(s, (Loop){.var = "i",
                        .type = "u32",
                        .start = expr_const(&s->pool, 0),
                        .limit = expr_var(&s->pool, "p.count", 0, 0, INT32_MAX)});
}
static void end_chunk(const Lines *c)
{
    stmt_call(c->s, "next_chunk", reg(c, "c"), reg(c, "p"));
    stmt_end(c->s);
}
static void if_block_begins(const Lines *c)
{
    stmt_if(c->s, value_call(c->s, "begins_block", reg(c, "c"), reg(c, "p")));
}

/* ---- blocks ---- */

/* Prints load_block(): once its buffer is free, the copies of a block's rows are started, and the places of
 * its outputs written while they are under way. Lane 0's arrival expects the bytes of all copies. */
static void load_block(const Lines *c)
{
    Stmts *s = c->s;
    const Value *args = reg(c, "args"), *shared = reg(c, "shared"), *n = reg(c, "number"),
                *first = reg(c, "first"), *lane = reg(c, "lane");
    stmt_function(
        s, (Function){.name = "load_block",
                      STMT_PARAMS({"const WindowArgs &", "args"}, {"const Shared &", "shared"},
                                  {"u32", "rank"}, {"u32", "number"}, {"u32", "first"}, {"u32", "lane"})});
    const Value *buffer = stmt_define(s, "u32", "buffer", buffer_of(c, n));
    const Value *block = stmt_define(s, "LineBlock", "block", value_call(s, "block_of", args, first, lane));
    stmt_phase(s, rows(c, "shared.rows_empty", n), op(c, VALUE_XOR, turn_of(c, n), number(c, 1)));
    const Value *bytes =
        stmt_define(s, "u32", "bytes", value_call(s, "load_rows", args, shared, buffer, block, lane));
    stmt_call(s, "find_places", args, shared, buffer, block, lane);
    stmt_if(s, op(c, VALUE_EQ, lane, number(c, 0)));
    stmt_call(s, "bar_expect", rows(c, "shared.rows_full", n), bytes);
    stmt_else(s);
    stmt_arrive(s, rows(c, "shared.rows_full", n), reg(c, "rank"));
    stmt_end(s);
    stmt_end(s);
}

/* Prints load_blocks(), of the warp that goes ahead. */
static void load_blocks(const Lines *c)
{
    Stmts *s = c->s;
    const Value *first = c->per_tap ? op(c, VALUE_MUL, reg(c, "c.first"), reg(c, "LINE_ROWS"))
                                    : value_call(s, "first_output", reg(c, "args"), reg(c, "p"));
    stmt_function(s, (Function){.name = "load_blocks",
                                STMT_PARAMS({"const WindowArgs &", "args"}, {"const Shared &", "shared"},
                                            {"u32", "rank"}, {"u32", "lane"})});
    const Value *n = stmt_var(s, "u32", "number", number(c, 0));
    each_tile(c);
    if (c->per_tap) each_chunk(c), if_block_begins(c);
    stmt_call(s, "load_block", reg(c, "args"), reg(c, "shared"), reg(c, "rank"), n, first, reg(c, "lane"));
    stmt_update(s, VALUE_ADD, n, number(c, 1));
    if (c->per_tap) stmt_end(s), end_chunk(c);
    end_tile(c);
    stmt_end(s);
}

/* ---- lines ---- */

/* The next block: the lane does not need the one in front any more. */
static void next_block(const Lines *c)
{
    Stmts *s = c->s;
    const Value *n = reg(c, "number"), *before = op(c, VALUE_SUB, n, number(c, 1));
    stmt_if(s, op(c, VALUE_LT, number(c, 0), n));
    stmt_arrive(s, rows(c, "shared.rows_empty", before), reg(c, "rank"));
    stmt_end(s);
    stmt_phase(s, rows(c, "shared.rows_full", n), turn_of(c, n));
    stmt_update(s, VALUE_ADD, n, number(c, 1));
}

/* Fills a stage, and arrives at its mbarrier. */
static void make_stage(const Lines *c, bool of_x)
{
    Stmts *s = c->s;
    const Value *stage = reg(c, "ring.stage"), *rank = reg(c, "rank");
    const Value *block = buffer_of(c, op(c, VALUE_SUB, reg(c, "number"), number(c, 1)));
    const Value *places = value_call(s, "line_places", reg(c, "shared"), block, reg(c, "c"), reg(c, "p"));
    const Value *parity = op(c, VALUE_XOR, reg(c, "ring.phase"), number(c, 1));
    stmt_phase(s, value_call(s, "shared.empty", stage), parity);
    stmt_call(s, "fill_lines", reg(c, "args"), value_call_0(s, "shared.lines"), places,
              value_call(s, of_x ? "shared.x" : "shared.y", stage),
              value_call(s, "first_piece", reg(c, "c"), reg(c, "p")), reg(c, "unit"), reg(c, "lane"));
    stmt_do(s, value_call_0(s, "proxy_fence"));
    stmt_arrive(s, value_call(s, "shared.full", stage), rank);
}

/* Prints make_lines(), of a maker. */
static void make_lines(const Lines *c, const StageRing *ring, bool of_x)
{
    Stmts *s = c->s;
    stmt_function(s, (Function){.name = "make_lines",
                                STMT_PARAMS({"const WindowArgs &", "args"}, {"const Shared &", "shared"},
                                            {"u32", "rank"}, {"u32", "maker"}, {"u32", "lane"})});
    stmt_var(s, "u32", "unit", reg(c, "maker"));
    stmt_var(s, "u32", "number", number(c, 0));
    stmt_var(s, "Ring", "ring", NULL);
    each_tile(c);
    each_chunk(c);
    if_block_begins(c);
    next_block(c);
    stmt_end(s);
    make_stage(c, of_x);
    stmt_advance(s, ring, reg(c, "ring"));
    end_chunk(c);
    end_tile(c);
    stmt_end(s);
}

/* Prints lines(), what the warps of both warp groups do beside the first one. */
static void all_warps(const Lines *c)
{
    Stmts *s = c->s;
    const Value *args = reg(c, "args"), *shared = reg(c, "shared"), *thread = reg(c, "thread"),
                *warp = reg(c, "warp"), *lanes = number(c, WARP);
    stmt_function(s, (Function){.name = "lines",
                                STMT_PARAMS({"const Args &", "all"}, {"const Shared &", "shared"},
                                            {"int", "group"}, {"int", "thread"})});
    stmt_define(s, "WindowArgs &", "args", value_cast(s, "const WindowArgs &", reg(c, "all")));
    stmt_define(s, "u32", "rank", value_call_0(s, "cluster_rank"));
    const Value *lane = stmt_define(s, "u32", "lane", op(c, VALUE_MOD, thread, lanes));
    const Value *own = value_call(s, "g_uniform", op(c, VALUE_DIV, thread, lanes));
    const Value *others = number(c, WGMMA_LANES / WARP);
    stmt_define(s, "u32", "warp",
                op(c, VALUE_ADD, own, value_select(s, reg(c, "group"), others, number(c, 0))));
    stmt_if(s, op(c, VALUE_EQ, warp, number(c, FIRST_MAKER - 1)));
    stmt_call(s, "load_blocks", args, shared, reg(c, "rank"), lane);
    stmt_end(s);
    stmt_if(s, op(c, VALUE_GE, warp, number(c, FIRST_MAKER)));
    stmt_call(s, "make_lines", args, shared, reg(c, "rank"), op(c, VALUE_SUB, warp, number(c, FIRST_MAKER)),
              lane);
    stmt_end(s);
    stmt_end(s);
}

void hopper_lines(const GpuPlan *p, const Window *w, const StageRing *ring, Stmts *s)
{
    const Lines c = {p, s, w->per_tap};
    const int pixels = p->groups.line_pixels, row = HOPPER_ROW_BYTES / gpu_type_bytes(&p->in);
    const int along = w->per_tap ? p->mt[w->pixels] : p->depth_u; /* elements of an output in a stage */
    stmt_constant(s, "u32", "LINE_MAKERS", MAKERS);
    stmt_constant(s, "u32", "LINE_THREADS", p->n_threads);
    stmt_constant(s, "u32", "LINE_PIXELS", pixels);
    stmt_constant(s, "u32", "LINE_ROWS", w->per_tap ? p->depth_u : pixels);
    stmt_constant(s, "u32", "LINE_BLOCKS", (along + row - 1) / row);
    stmt_constant(s, "u32", "LINE_DEPTH", p->depth_u);
    stmt_constant(s, "u32", "LINE_ROWS_BYTES", line_rows_bytes(pixels));
    stmt_constant(s, "u32", "LINE_LOCAL_BYTES", line_local_bytes(pixels));
    stmt_constant(s, "bool", "LINE_PER_TAP", w->per_tap);
    stmt_file(s, "nvptx/hopper_lines.cuh");
    load_block(&c);
    load_blocks(&c);
    make_lines(&c, ring, w->pixels == p->matrix.swap);
    all_warps(&c);
}
