/* Copies of ring kernels from global memory to a stage of shared memory, as statements: by cp.async, or
 * through registers. Per operand X (a, b) there is a struct @CopyX, which begin_X fills, and functions that
 * copy a chunk of DepthU elements of K, or a part of it:
 *
 *     @whole_X       pieces [from, to) of a chunk that lies inside the operand
 *     @k_tail_X      a chunk with k_left elements of K, when all rows and columns of the tile are inside
 *     @guarded_X     an aligned chunk with k_left elements of K, which may cross the edge of the operand
 *     @elements_X    a chunk of any alignment, element by element
 *     @store_X, @load_whole_X, @load_X   a chunk through registers, loaded one chunk ahead of its store
 *
 * In global memory the tile has MR rows of MC contiguous elements. A thread copies pieces of CW bytes (CE
 * elements); all threads together copy PASS_COLS adjacent pieces of PASS_ROWS rows in one pass. In shared
 * memory a row has the tile's row_bytes, padding included. Unless the tile is transposed the rows are those
 * of global memory, and the number of a 16-byte chunk is exclusive-or'ed with the row's swizzle against bank
 * conflicts. Transposed, the columns of global memory are the rows, and the number of an element is
 * exclusive-or'ed with its row's element swizzle.
 *
 * Elements past the end of K are copied as zeros. Those past the last row or column of the operand only
 * reach results that are not stored, and may have any value. */
#include "kernel/nvptx/ring_piece.h"

/* ---- struct and first chunk ---- */

static void state(const RingCopy *c)
{
    static const struct {
        const char *type, *name;
    } fields[] = {{"const char *", "p"}, {"const char *", "p_safe"},
                  {"@u64", "row_step"},  {"long long", "k_step"},
                  {"int", "r"},          {"int", "col"},
                  {"int", "left"},       {"@u32", "s0"}};
    Stmts *s = c->s;
    stmt_struct(s, stmts_name(s, "@Copy%c", c->upper), 0);
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        stmt_var(s, fields[i].type, fields[i].name, NULL);
    if (c->p->ring.via_registers) {
        stmt_array(s, "@u32", "lo", DIMS(c->n));
        stmt_array(s, "@u32", "hi", DIMS(c->n));
        stmt_var(s, "@u32", "byte_select", NULL);
        stmt_var(s, "bool", "words", NULL);
    }
    if (c->p->ring.shifts) {
        stmt_var(s, "int", "shifts", NULL);
        stmt_var(s, "long long", "extra", NULL);
    }
    stmt_end(s);
}

/* Elements of global memory from the operand's first one: at_free along the free dimension, at_k along K. */
static const Value *elements_at(const RingCopy *c, const char *function, const Value *x)
{
    return value_call(c->s, piece_function(c, function), x, reg(c, "ld"));
}

/* x.extra: bytes from x.p to the extra piece at the end of the row with the thread's number. */
static void begin_shifted(const RingCopy *c)
{
    Stmts *s = c->s;
    const Value *p = value_cast(s, "@u64", reg(c, "x.p")), *four = value_int(s, 4);
    const Value *first = value_op(s, VALUE_SUB, p, times(c, reg(c, "x.col"), 16));
    first = stmt_define(s, "@u64", "first", first);
    const Value *rows = value_cast(s, "long long", value_op(s, VALUE_SUB, reg(c, "tid"), reg(c, "x.r")));
    const Value *row_bytes = value_cast(s, "long long", times(c, reg(c, "ld"), 4));
    const Value *last =
        stmt_define(s, "@u64", "last", sum(c, first, value_op(s, VALUE_MUL, rows, row_bytes)));
    const Value *own =
        value_op(s, VALUE_AND, value_op(s, VALUE_SHR, first, value_int(s, 2)), value_int(s, 3));
    const Value *of_last = value_op(s, VALUE_AND, last, value_int(s, 12));
    set(c, "x.shifts", value_cast(s, "int", value_op(s, VALUE_OR, own, of_last)));
    stmt_update(s, VALUE_SUB, reg(c, "x.p"), value_op(s, VALUE_MUL, value_expr(s, piece_shift(c)), four));
    const Value *end =
        sum(c, value_op(s, VALUE_AND, last, value_literal(s, "~15ull")), value_int(s, c->mc * 4));
    set(c, "x.extra", value_cast(s, "long long", value_op(s, VALUE_SUB, end, p)));
}

/* Fills the struct for the chunk whose first element of K is k0; later ones are k_add elements apart. */
static void begin(const RingCopy *c)
{
    Stmts *s = c->s;
    piece_open(c, "begin", true,
               PIECE_PARAMS({"const @T *", "base"}, {"@u64", "ld"}, {"int", "tile0"}, {"int", "size"},
                            {"int", "tid"}, {"@u64", "k0"}, {"int", "k_add"}));
    set(c, "x.r", value_op(s, VALUE_DIV, reg(c, "tid"), value_int(s, c->pass_cols)));
    set(c, "x.col", value_op(s, VALUE_MOD, reg(c, "tid"), value_int(s, c->pass_cols)));
    set(c, "x.left", value_op(s, VALUE_SUB, reg(c, "size"), reg(c, "tile0")));
    piece_declare(c);
    set(c, "x.s0", value_expr(s, piece_first(c)));
    set(c, "x.p_safe", value_cast(s, "const char *", reg(c, "base")));
    set(c, "x.row_step", times(c, reg(c, "ld"), c->pass_rows * c->bpe));
    const Value *col = times(c, reg(c, "x.col"), c->ce), *from = reg(c, "base");
    if (c->k_rows) {
        from = sum(c, from, elements_at(c, "k_at", sum(c, reg(c, "k0"), reg(c, "x.r"))));
        from = sum(c, from, elements_at(c, "free_at", reg(c, "tile0")));
        from = sum(c, from, elements_at(c, "free_at", col));
    } else {
        from = sum(c, from, elements_at(c, "free_at", sum(c, reg(c, "tile0"), reg(c, "x.r"))));
        from = sum(c, from, elements_at(c, "k_at", reg(c, "k0")));
        from = sum(c, from, elements_at(c, "k_at", col));
    }
    set(c, "x.p", value_cast(s, "const char *", from));
    const Value *k_bytes = times(c, reg(c, "k_add"), c->bpe);
    set(c, "x.k_step", value_cast(s, "long long", elements_at(c, "k_at", k_bytes)));
    if (c->p->ring.shifts) begin_shifted(c);
    stmt_end(s);
}

/* ---- copies by cp.async ---- */

/* Copies n elements of extra piece i of a row of NvShift, zeros behind them. */
static void extra(const RingCopy *c)
{
    Stmts *s = c->s;
    ExprPool *pool = &s->pool;
    piece_open(c, "extra", false, PIECE_PARAMS({"@u32", "stage"}, {"int", "i"}, {"int", "n"}));
    const Expr *i = piece_field(c, "i", c->extra - 1),
               *tid = expr_var(pool, "tid", 0, 0, c->p->n_threads - 1);
    stmt_define(s, "@u32", "tid", value_call_0(s, "@tid"));
    const Expr *row = stmt_let(s, "row", expr_add(pool, tid, expr_mul_i(pool, i, c->p->n_threads)));
    const Value *rows =
        value_op(s, VALUE_MUL, value_reg(s, "i"), times(c, reg(c, "x.row_step"), c->pass_cols));
    const Value *from = sum(c, sum(c, reg(c, "x.p"), reg(c, "x.extra")), rows);
    const Expr *to = expr_add_i(pool, expr_mul_i(pool, row, c->tile.row_bytes), c->mc * 4);
    Access at = access_window(reg(c, "stage"), to, 16);
    at.guard = expr_op(pool, EXPR_LT, row, expr_const(pool, c->mr));
    const Value *n = reg(c, "n");
    stmt_copy(s, at, piece_or_safe(c, n, from, 16), times(c, n, 4));
    stmt_end(s);
}

static void call_extra(const RingCopy *c, const Expr *i, const Value *n)
{
    stmt_call(c->s, piece_function(c, "extra"), reg(c, "x"), reg(c, "stage"), value_expr(c->s, i), n);
}

static void call_extras(const RingCopy *c)
{
    stmt_call(c->s, piece_function(c, "extras"), reg(c, "x"), reg(c, "stage"), reg(c, "k_left"));
}

static void whole(const RingCopy *c)
{
    Stmts *s = c->s;
    ExprPool *pool = &s->pool;
    const int pieces = c->n + c->extra;
    piece_open(c, "whole", false,
               PIECE_PARAMS({"@u32", "stage"}, {"int", "from"}, {"int", "to"}, {"const char *&", "q"}));
    piece_declare(c);
    const Expr *i = stmt_loop(s, (Loop){.var = "i",
                                        .type = "int",
                                        .start = piece_field(c, "from", pieces),
                                        .limit = piece_field(c, "to", pieces),
                                        .unroll = UNROLL_FULL});
    if (c->extra) {
        const Expr *n = expr_const(pool, c->n);
        stmt_if_expr(s, expr_op(pool, EXPR_LE, n, i));
        call_extra(c, expr_within(pool, expr_sub(pool, i, n), 0, c->extra),
                   value_expr(s, piece_extra_shift(c)));
        stmt_next(s);
        stmt_end(s);
    }
    Access to = piece_to_stage(c, i, c->cw);
    to.guard = piece_in_tile(c, i);
    stmt_copy(s, to, piece_from(reg(c, "q"), piece_in_row(c, i), c->cw), NULL);
    piece_next_row(c, i);
    stmt_end(s);
    stmt_end(s);
}

/* Returns how many elements of piece i stand in front of the end of K. */
static const Value *n_in_k(const RingCopy *c, const Expr *i)
{
    Stmts *s = c->s;
    ExprPool *pool = &s->pool;
    const Value *k_left = reg(c, "k_left"), *zero = value_int(s, 0), *ce = value_int(s, c->ce);
    if (c->k_rows) {
        const Value *in = value_op(s, VALUE_LT, piece_int(c, piece_row(c, i)), k_left);
        return value_select(s, in, ce, zero);
    }
    const Expr *k = expr_mul_i(pool, piece_col(c, i), c->ce);
    if (c->p->ring.shifts) k = expr_sub(pool, k, piece_shift(c));
    const Value *left = stmt_define(s, "int", "left", value_op(s, VALUE_SUB, k_left, piece_int(c, k)));
    const Value *some = value_select(s, value_op(s, VALUE_LT, left, ce), left, ce);
    return value_select(s, value_op(s, VALUE_LT, left, zero), zero, some);
}

static void k_tail(const RingCopy *c)
{
    Stmts *s = c->s;
    piece_open(c, "k_tail", false, PIECE_PARAMS({"@u32", "stage"}, {"int", "k_left"}));
    piece_declare(c);
    stmt_var(s, "const char *", "q", reg(c, "x.p"));
    const Expr *i = piece_each(c, UNROLL_4), *inside = piece_in_tile(c, i);
    const Value *n = stmt_define(s, "int", "n", n_in_k(c, i));
    if (inside) stmt_if_expr(s, inside);
    const Value *from = sum(c, reg(c, "q"), value_expr(s, piece_in_row(c, i)));
    stmt_copy(s, piece_to_stage(c, i, c->cw), piece_or_safe(c, n, from, c->cw), times(c, n, c->bpe));
    piece_next_row(c, i);
    if (inside) stmt_end(s);
    stmt_end(s);
    if (c->extra) call_extras(c);
    stmt_end(s);
}

static void guarded(const RingCopy *c)
{
    Stmts *s = c->s;
    piece_open(c, "guarded", false, PIECE_PARAMS({"@u32", "stage"}, {"int", "k_left"}));
    piece_declare(c);
    const Expr *i = piece_each(c, UNROLL_4);
    const Value *n = stmt_define(
        s, "int", "n",
        value_call(s, piece_function(c, "valid"), reg(c, "x"), value_expr(s, i), reg(c, "k_left")));
    Access to = piece_to_stage(c, i, c->cw);
    to.guard = piece_guard(c, i);
    stmt_copy(s, to, piece_or_safe(c, n, piece_source(c, i), c->cw), times(c, n, c->bpe));
    stmt_end(s);
    stmt_end(s);
}

/* ---- copies by cp.async of rows of any alignment (NvShift) ---- */

/* Prints @valid_X of NvShift: how many elements, `most` at most, of 16-byte piece c of a row lie inside the
 * operand when the row's first element is element `from` of its first piece. */
static void valid_shifted(const RingCopy *c)
{
    Stmts *s = c->s;
    const Value *left = reg(c, "x.left"), *k_left = reg(c, "k_left"), *zero = value_int(s, 0);
    stmt_function(s,
                  (Function){.result = "int",
                             .name = piece_function(c, "valid"),
                             STMT_PARAMS({stmts_name(s, "const @Copy%c &", c->upper), "x"}, {"int", "row"},
                                         {"int", "c"}, {"int", "from"}, {"int", "most"}, {"int", "k_left"})});
    const Value *n = sum(c, c->k_rows ? left : k_left, reg(c, "from"));
    n = stmt_define(s, "int", "n", value_op(s, VALUE_SUB, n, times(c, reg(c, "c"), 4)));
    const Value *behind = value_op(s, VALUE_GE, reg(c, "row"), c->k_rows ? k_left : left);
    stmt_if(s, value_op(s, VALUE_EITHER, behind, value_op(s, VALUE_LT, n, zero)));
    stmt_return(s, zero);
    stmt_end(s);
    const Value *most = reg(c, "most");
    stmt_return(s, value_select(s, value_op(s, VALUE_GT, n, most), most, n));
    stmt_end(s);
}

static const Value *call_valid(const RingCopy *c, const Expr *row, const Expr *piece, const Expr *from,
                               const Value *most)
{
    Stmts *s = c->s;
    return value_call(s, piece_function(c, "valid"), reg(c, "x"), value_expr(s, row), value_expr(s, piece),
                      value_expr(s, from), most, reg(c, "k_left"));
}

/* Prints @extras_X: the extra pieces of a chunk that may cross an edge. */
static void extras(const RingCopy *c)
{
    Stmts *s = c->s;
    ExprPool *pool = &s->pool;
    piece_open(c, "extras", false, PIECE_PARAMS({"@u32", "stage"}, {"int", "k_left"}));
    const Expr *i = stmt_unrolled(s, "i", 0, c->extra);
    stmt_define(s, "@u32", "tid", value_call_0(s, "@tid"));
    const Expr *tid = expr_var(pool, "tid", 0, 0, c->p->n_threads - 1);
    const Expr *row = expr_add(pool, tid, expr_mul_i(pool, i, c->p->n_threads));
    const Value *most = value_expr(s, piece_extra_shift(c));
    call_extra(c, i, call_valid(c, row, expr_const(pool, c->mc / 4), piece_extra_shift(c), most));
    stmt_end(s);
    stmt_end(s);
}

static void guarded_shifted(const RingCopy *c)
{
    Stmts *s = c->s;
    ExprPool *pool = &s->pool;
    piece_open(c, "guarded", false, PIECE_PARAMS({"@u32", "stage"}, {"int", "k_left"}));
    piece_declare(c);
    const Expr *i = piece_each(c, UNROLL_4);
    const Value *n = stmt_define(
        s, "int", "n", call_valid(c, piece_row(c, i), piece_col(c, i), piece_shift(c), value_int(s, 4)));
    const Expr *at =
        c->k_rows ? expr_sub(pool, expr_mul_i(pool, piece_col(c, i), 4), piece_shift(c)) : piece_row(c, i);
    Access to = piece_to_stage(c, i, 16);
    to.guard =
        piece_both(c, piece_in_tile(c, i), expr_op(pool, EXPR_LT, expr_const(pool, 0), piece_left(c, at)));
    stmt_copy(s, to, piece_or_safe(c, n, piece_source(c, i), 16), times(c, n, 4));
    stmt_end(s);
    call_extras(c);
    stmt_end(s);
}

/* ---- all of an operand ---- */

RingCopy ring_copy_of(const GpuPlan *p, Stmts *s, int i)
{
    const GpuOperand *x = &p->op[i];
    const int bpe = gpu_type_bytes(&p->in), cw = x->width * bpe;
    RingCopy c = {.p = p,
                  .s = s,
                  .x = x,
                  .tile = ring_tile_of(p, i),
                  .upper = (char)('A' + i),
                  .k_rows = x->tlu,
                  .bpe = bpe,
                  .cw = cw,
                  .ce = x->width,
                  .mr = x->tlu ? p->depth_u : x->tile,
                  .mc = x->tlu ? x->tile : p->depth_u,
                  .pass_cols = x->lvc,
                  .pass_rows = x->lsp,
                  .via_registers = p->ring.gathered_via_registers[i]};
    c.passes = c.mc / c.ce / c.pass_cols;
    c.n = (c.mr + c.pass_rows - 1) / c.pass_rows * c.passes;
    c.partly = c.mr % c.pass_rows != 0;
    c.extra = p->ring.shifts ? (c.mr + p->n_threads - 1) / p->n_threads : 0;
    /* a piece of one element is always aligned */
    c.always_aligned = p->ring.shifts || (cw == bpe && bpe < 16);
    return c;
}

void ring_copy_put(const RingCopy *c)
{
    const GpuRing *r = &c->p->ring;
    if (c->p->indices) {
        ring_gather_put(c);
        return;
    }
    state(c);
    begin(c);
    if (r->via_registers) {
        ring_registers_put(c);
        return;
    }
    (r->shifts ? valid_shifted : piece_put_valid)(c);
    if (piece_leaves_out(c) && !r->shifts) piece_put_needed(c);
    if (r->shifts) extra(c), extras(c);
    whole(c);
    if (r->shift_ptr) k_tail(c);
    (r->shifts ? guarded_shifted : guarded)(c);
    if (c->elements && !r->shifts) ring_elements_put(c);
}
