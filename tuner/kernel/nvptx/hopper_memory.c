/* Shared memory of wgmma kernels: where the stages of A and B, the slices of results and the mbarriers are,
 * and the cursor of the ring, as statements over expressions. */
#include "base/integer.h"
#include "kernel/nvptx/hopper.h"
#include "problem/lines.h"

enum {
    BARRIER_BYTES = 8,     /* of an mbarrier (PTX ISA, "mbarrier") */
    BARRIERS_MAX = 64,     /* the planner's room for them */
    ALIGN_BYTES = 1024,    /* of the 128-byte swizzle */
    DESCRIPTOR_BYTES = 16, /* matrix descriptors count in them */
    SWIZZLE_128 = 1        /* of a matrix descriptor */
};

/* Bytes of an operand in a stage. */
static int operand_bytes(const GpuPlan *p, int i)
{
    const int bytes = gpu_type_bytes(&p->in), row = HOPPER_ROW_BYTES / bytes, side = hopper_side(p, i);
    const int whole = p->op[i].tlu ? (int)int_round_up(side, row) : side; /* K strided: whole blocks */
    return hopper_copies(p, i) * whole * hopper_depth(p, i) * bytes;
}

HopperMemory hopper_memory(const GpuPlan *p)
{
    const GpuWarpGroups *g = &p->groups;
    const int swap = p->matrix.swap;
    HopperMemory m = {.x_bytes = operand_bytes(p, swap),
                      .stage_bytes = operand_bytes(p, 0) + operand_bytes(p, 1),
                      .columns = swap ? g->slice_row : g->slice_n,
                      .line = g->slice_row * (gpu_slices_results(p) ? gpu_type_bytes(&p->out) : 4),
                      .pieces = swap ? 1 : WGMMA_ROWS / g->slice_row};
    m.along = p->mt[!swap] / m.columns;
    m.slices = p->matrix.tiles[swap] * m.along;
    m.slice_bytes = m.pieces * g->slice_n * m.line;
    m.out_at = g->stages * m.stage_bytes;
    /* results of a cluster's parts of K reuse the memory of the ring */
    m.lines_at = m.out_at + (hopper_members(p) > 1 ? 0 : g->consumers * HOPPER_BUFFERS * m.slice_bytes);
    m.lines_bytes = g->line_pixels ? line_local_bytes(g->line_pixels) : 0;
    m.barriers_at = m.lines_at + m.lines_bytes;
    return m;
}

/* Do the tiles consist of whole instructions, rows of blocks, slices and parts of multicasts? */
static bool divides(const GpuPlan *p)
{
    const GpuWarpGroups *g = &p->groups;
    const int swap = p->matrix.swap, x = p->mt[swap], y = p->mt[!swap],
              groups = g->pingpong ? 1 : g->consumers;
    const int parts[] = {g->cluster[1] > 1 ? g->cluster[1] : 1, g->cluster[0] > 1 ? g->cluster[0] : 1};
    if (g->slice_row < 1 || g->slice_n < 1 || g->slice_row > WGMMA_ROWS) return false;
    const HopperMemory m = hopper_memory(p);
    return x == p->matrix.tiles[swap] * groups * WGMMA_ROWS && y == m.along * m.columns &&
           m.columns % 8 == 0 && p->depth_u * gpu_type_bytes(&p->in) % HOPPER_ROW_BYTES == 0 &&
           p->mt[0] % parts[0] == 0 && hopper_side(p, 1) % parts[1] == 0 &&
           (m.line == HOPPER_ROW_BYTES || (swap && m.line < HOPPER_ROW_BYTES)) &&
           (!g->pingpong || g->consumers == 2);
}

Err hopper_memory_check(const GpuPlan *p)
{
    if (!divides(p))
        FAIL(ERR_INPUT,
             "a macro tile of %dx%d in slices of %d rows and %d columns is not one of %d warp groups",
             p->mt[0], p->mt[1], p->groups.slice_row, p->groups.slice_n, p->groups.consumers);
    const HopperMemory m = hopper_memory(p);
    const int barriers = 2 * p->groups.stages + p->groups.consumers * HOPPER_BUFFERS + 2 * LINE_BUFFERS;
    const int all = m.barriers_at + BARRIERS_MAX * BARRIER_BYTES + ALIGN_BYTES;
    if (barriers > BARRIERS_MAX) FAIL(ERR_INPUT, "%d mbarriers, %d at most", barriers, BARRIERS_MAX);
    if (p->lds_bytes != all || p->stage_bytes != m.stage_bytes)
        FAIL(ERR_INPUT, "%d bytes of local memory, %d of a stage: wgmma's tiles have %d, %d", p->lds_bytes,
             p->stage_bytes, all, m.stage_bytes);
    return ERR_OK;
}

/* ---- the cursor ---- */

/* Prints struct Ring: the current stage, and the parity of its mbarriers' phase. skip(n): as n calls of
 * next(). */
static void cursor(const StageRing *ring, Stmts *s)
{
    ExprPool *pool = &s->pool;
    const Value *stage = value_reg(s, "stage"), *phase = value_reg(s, "phase");
    stmt_struct(s, "Ring", 0);
    stmt_var(s, "u32", "stage", value_int(s, 0));
    stmt_var(s, "u32", "phase", value_int(s, 0));
    stmt_function(s, (Function){.name = "next"});
    stmt_update(s, VALUE_ADD, stage, value_int(s, 1));
    stmt_if(s, value_op(s, VALUE_EQ, stage, value_int(s, ring->n_stages)));
    stmt_set(s, stage, value_int(s, 0));
    stmt_update(s, VALUE_XOR, phase, value_int(s, 1));
    stmt_end(s);
    stmt_end(s);
    stmt_function(s, (Function){.name = "skip", STMT_PARAMS({"u32", "n"})});
    const Expr *now = expr_var(pool, "stage", 0, 0, ring->n_stages - 1);
    const Expr *at = stmt_let(s, "at", expr_add(pool, now, expr_var(pool, "n", 0, 0, INT32_MAX)));
    stmt_update(s, VALUE_XOR, phase,
                value_expr(s, expr_mod_i(pool, expr_div_i(pool, at, ring->n_stages), 2)));
    stmt_set(s, stage, value_expr(s, expr_mod_i(pool, at, ring->n_stages)));
    stmt_end(s);
    stmt_end(s);
}

/* ---- addresses ---- */

/* Prints a member of struct Shared that returns `base` + at. */
static void address(Stmts *s, const char *name, const StmtParam *param, int n, const Expr *at)
{
    stmt_function(
        s, (Function){.result = "u32", .name = name, .qualifier = "const", .param = param, .n_params = n});
    stmt_return(s, value_op(s, VALUE_ADD, value_reg(s, "base"), value_expr(s, at)));
    stmt_end(s);
}

/* The memory of lines of pixels, and the mbarriers of their rows. */
static void lines(const GpuPlan *p, const HopperMemory *m, Stmts *s)
{
    static const StmtParam of_rows[] = {{"u32", "buffer"}};
    const GpuWarpGroups *g = &p->groups;
    const Expr *buffer = expr_var(&s->pool, "buffer", 0, 0, LINE_BUFFERS - 1);
    const int64_t first = m->barriers_at + (2 * g->stages + g->consumers * HOPPER_BUFFERS) * BARRIER_BYTES;
    address(s, "lines", NULL, 0, expr_const(&s->pool, m->lines_at));
    const Expr *full = expr_add_i(&s->pool, expr_mul_i(&s->pool, buffer, BARRIER_BYTES), first);
    address(s, "rows_full", of_rows, 1, full);
    address(s, "rows_empty", of_rows, 1, expr_add_i(&s->pool, full, LINE_BUFFERS * BARRIER_BYTES));
}

/* Prints struct Shared: addresses of X's and Y's tiles, of slices, and of the mbarriers of full stages, empty
 * stages and slices of C. */
static void shared(const GpuPlan *p, Stmts *s)
{
    static const StmtParam of_stage[] = {{"u32", "stage"}}, of_buffer[] = {{"int", "wg"}, {"int", "buffer"}};
    ExprPool *pool = &s->pool;
    const HopperMemory m = hopper_memory(p);
    const int stages = p->groups.stages;
    const Expr *stage = expr_var(pool, "stage", 0, 0, stages - 1);
    const Expr *wg = expr_var(pool, "wg", 0, 0, p->groups.consumers - 1);
    const Expr *buffer = expr_var(pool, "buffer", 0, 0, HOPPER_BUFFERS - 1);
    const Expr *tile = expr_mul_i(pool, stage, m.stage_bytes);
    const Expr *slice = expr_add(pool, expr_mul_i(pool, wg, HOPPER_BUFFERS), buffer);
    const Expr *full = expr_add_i(pool, expr_mul_i(pool, stage, BARRIER_BYTES), m.barriers_at);
    const Expr *of_slice = expr_mul_i(pool, expr_add_i(pool, slice, (int64_t)2 * stages), BARRIER_BYTES);
    stmt_struct(s, "Shared", 0);
    stmt_var(s, "u32", "base", NULL);
    address(s, "x", of_stage, 1, tile);
    address(s, "y", of_stage, 1, expr_add_i(pool, tile, m.x_bytes));
    address(s, "out", of_buffer, 2, expr_add_i(pool, expr_mul_i(pool, slice, m.slice_bytes), m.out_at));
    address(s, "full", of_stage, 1, full);
    address(s, "empty", of_stage, 1, expr_add_i(pool, full, (int64_t)stages * BARRIER_BYTES));
    address(s, "c", of_buffer, 2, expr_add_i(pool, of_slice, m.barriers_at));
    if (p->groups.line_pixels) lines(p, &m, s);
    stmt_end(s);
}

/* ---- matrix descriptors ---- */

/* Prints a matrix descriptor without its address (PTX ISA, "Matrix Descriptor Format"): 128-byte swizzle,
 * stride byte offset of 8 rows, leading byte offset. */
static void descriptor(const GpuPlan *p, Stmts *s, const char *name, int operand)
{
    const bool k_major = !p->op[operand].tlu;
    const bool later = !operand && p->matrix.swap && hopper_taps_are_rows(p); /* that of taps (multiply()) */
    const int64_t blocks = later ? 0 : (int64_t)hopper_depth(p, operand) * HOPPER_ROW_BYTES;
    const int64_t leading = k_major ? DESCRIPTOR_BYTES : blocks;
    const int64_t stride = 8 * HOPPER_ROW_BYTES;
    stmt_constant(s, "u64", name,
                  (int64_t)SWIZZLE_128 << 62 | stride / DESCRIPTOR_BYTES << 32 |
                      leading / DESCRIPTOR_BYTES << 16);
}

static void descriptors(const GpuPlan *p, Stmts *s)
{
    enum { ADDRESSES = 1 << 18 }; /* that a descriptor can have */
    const bool swap = p->matrix.swap;
    descriptor(p, s, "X_DESC", swap);
    descriptor(p, s, "Y_DESC", !swap);
    stmt_function(s, (Function){.result = "u64",
                                .name = "with_address",
                                STMT_PARAMS({"u64", "desc"}, {"u32", "address"})});
    const Expr *address = expr_var(&s->pool, "address", 0, 0, UINT32_MAX);
    const Expr *at = expr_div_i(&s->pool, expr_and_i(&s->pool, address, ADDRESSES - 1), DESCRIPTOR_BYTES);
    stmt_return(s, value_op(s, VALUE_OR, value_reg(s, "desc"), value_cast(s, "u64", value_expr(s, at))));
    stmt_end(s);
}

const Value *hopper_base(Stmts *s, const Value *address)
{
    const Value *low = value_int(s, ALIGN_BYTES - 1);
    return value_op(s, VALUE_AND, value_op(s, VALUE_ADD, address, low), value_op(s, VALUE_INVERT, low, NULL));
}

void hopper_memory_put(const GpuPlan *p, const StageRing *ring, Stmts *s)
{
    gpu_heading(s, "---- shared memory ----");
    cursor(ring, s);
    shared(p, s);
    descriptors(p, s);
}
