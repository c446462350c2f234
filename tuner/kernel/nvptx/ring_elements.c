/* Copies of ring kernels that cp.async does not make: of misaligned operands, element by element, and through
 * registers. See ring_copy.c. */
#include "kernel/nvptx/ring_piece.h"

/* ---- copies of any alignment, element by element ---- */

/* cp.async copies at least 4 bytes (PTX ISA, cp.async): smaller elements are put together in registers. */
static void words_of_elements(const RingCopy *c, const Expr *from, int batch)
{
    Stmts *s = c->s;
    ExprPool *pool = &s->pool;
    const int words = c->cw / 4;
    const Value *w = reg(c, "w");
    stmt_array(s, "@u32", "w", DIMS(batch, words));
    const Expr *b = stmt_unrolled(s, "b", 0, batch);
    const Expr *wi = stmt_unrolled(s, "e", 0, words);
    stmt_set(s, value_at(s, value_at(s, w, b), wi), value_int(s, 0));
    stmt_end(s);
    const Expr *i = expr_add(pool, from, b);
    const Value *n = stmt_define(
        s, "int", "n",
        value_call(s, piece_function(c, "valid"), reg(c, "x"), value_expr(s, i), reg(c, "k_left")));
    const Value *at = stmt_define(s, "const char *", "at", piece_source(c, i));
    const Expr *e = stmt_unrolled(s, "e", 0, c->ce), *byte = expr_mul_i(pool, e, c->bpe);
    stmt_if(s, value_op(s, VALUE_LT, piece_int(c, e), n));
    const char *type = c->bpe == 2 ? "unsigned short" : "unsigned char";
    const Value *v =
        stmt_define(s, "@u32", "v", value_load(s, access_at(SPACE_GLOBAL, type, c->bpe, at, byte)));
    const Expr *bits = expr_mul_i(pool, expr_mod_i(pool, byte, 4), 8);
    stmt_update(s, VALUE_OR, value_at(s, value_at(s, w, b), expr_div_i(pool, byte, 4)),
                value_op(s, VALUE_SHL, v, value_expr(s, bits)));
    stmt_end(s);
    stmt_end(s);
    stmt_end(s);
    b = stmt_unrolled(s, "b", 0, batch);
    i = expr_add(pool, from, b);
    Access to = piece_to_stage(c, i, c->cw);
    to.guard = piece_guard(c, i);
    stmt_store(s, to, value_at(s, w, b));
    stmt_end(s);
}

/* Larger ones are copied in parts of at most 8 bytes, to which they are aligned. */
static void parts_of_elements(const RingCopy *c, const Expr *from, int batch)
{
    Stmts *s = c->s;
    ExprPool *pool = &s->pool;
    const int part = c->bpe > 8 ? 8 : c->bpe, parts = c->bpe / part;
    const Expr *b = stmt_unrolled(s, "b", 0, batch), *i = expr_add(pool, from, b);
    const Value *n = stmt_define(
        s, "int", "n",
        value_call(s, piece_function(c, "valid"), reg(c, "x"), value_expr(s, i), reg(c, "k_left")));
    const Value *wanted = piece_want(c, i);
    const Value *at = stmt_define(s, "const char *", "at", piece_source(c, i));
    if (!piece_leaves_out(c) && c->partly) stmt_if_expr(s, piece_in_tile(c, i));
    const Expr *e = stmt_unrolled(s, "e", 0, c->cw / part), *byte = expr_mul_i(pool, e, part);
    const Value *number = piece_int(c, e);
    stmt_if(s, value_op(s, VALUE_LT, number, times(c, wanted, parts)));
    const Value *in = stmt_define(s, "bool", "in", value_op(s, VALUE_LT, number, times(c, n, parts)));
    Access to = piece_to_stage(c, i, part);
    to.offset = expr_add(pool, to.offset, byte);
    const Value *valid_bytes = value_select(s, in, value_int(s, part), value_int(s, 0));
    stmt_copy(s, to, piece_or_safe(c, in, sum(c, at, value_expr(s, byte)), part), valid_bytes);
    stmt_end(s);
    if (!piece_leaves_out(c) && c->partly) stmt_end(s);
    stmt_end(s);
    stmt_end(s);
}

void ring_elements_put(const RingCopy *c)
{
    Stmts *s = c->s;
    const int batch = c->n % 4 ? c->n % 2 ? 1 : 2 : 4;
    piece_open(c, "elements", false, PIECE_PARAMS({"@u32", "stage"}, {"int", "k_left"}));
    piece_declare(c);
    const Expr *from = stmt_loop(s, (Loop){.var = "from",
                                           .type = "int",
                                           .start = expr_const(&s->pool, 0),
                                           .limit = expr_const(&s->pool, c->n),
                                           .step = batch,
                                           .unroll = UNROLL_NONE});
    (c->bpe < 4 ? words_of_elements : parts_of_elements)(c, from, batch);
    stmt_end(s);
    stmt_end(s);
}

/* ---- copies through registers ---- */

/* 16-bit operands of any alignment (GlobalReadVectorWidth 1): cp.async copies at least 4 bytes, so adjacent
 * threads load adjacent pairs of elements, and store them one chunk later. Aligned pairs are loaded as one
 * word (lo), others, and those at edges, as two elements (lo and hi); byte_select is the selector of
 * __byte_perm that makes the word of the chunk's pairs. */
static const char *const OF_WORDS = "0x3210";

static const Value *half(const RingCopy *c, const char *array, const Expr *i)
{
    return value_at(c->s, reg(c, array), i);
}
static const Value *load_half(const RingCopy *c, const Value *at, int byte, const char *type, int bytes)
{
    return value_load(c->s, access_at(SPACE_GLOBAL, type, bytes, at, expr_const(&c->s->pool, byte)));
}

void ring_store_words_put(const RingCopy *c)
{
    Stmts *s = c->s;
    piece_open(c, "store", false, PIECE_PARAMS({"@u32", "stage"}));
    piece_declare(c);
    const Expr *i = piece_each(c, UNROLL_FULL);
    const Value *word =
        value_call(s, "__byte_perm", half(c, "x.lo", i), half(c, "x.hi", i), reg(c, "x.byte_select"));
    const Value *v = stmt_define(s, "@u32", "v", word);
    Access to = piece_to_stage(c, i, 4);
    to.guard = piece_in_tile(c, i);
    stmt_store(s, to, value_op(s, VALUE_ADDRESS, v, NULL));
    stmt_end(s);
    stmt_end(s);
}

static void load_whole(const RingCopy *c)
{
    Stmts *s = c->s;
    piece_open(c, "load_whole", true, NULL, 0);
    stmt_var(s, "const char *", "q", reg(c, "x.p"));
    const Value *words = reg(c, "x.words");
    set(c, "x.byte_select",
        value_select(s, words, value_literal(s, OF_WORDS), value_literal(s, PIECE_OF_HALVES)));
    if (c->partly) piece_declare(c);
    const Expr *i = piece_each(c, UNROLL_FULL), *inside = piece_in_tile(c, i);
    const Value *at =
        stmt_define(s, "const char *", "at", sum(c, reg(c, "q"), value_expr(s, piece_in_row(c, i))));
    if (inside) stmt_if_expr(s, inside);
    stmt_if(s, words);
    stmt_set(s, half(c, "x.lo", i), load_half(c, at, 0, "@u32", 4));
    stmt_else(s);
    stmt_set(s, half(c, "x.lo", i), load_half(c, at, 0, "unsigned short", 2));
    stmt_set(s, half(c, "x.hi", i), load_half(c, at, 2, "unsigned short", 2));
    stmt_end(s);
    piece_next_row(c, i);
    if (inside) stmt_end(s);
    stmt_end(s);
    stmt_end(s);
}

/* Declares rows_0 and rows_1: up to which row of the tile a piece's first and second elements lie inside the
 * operand. */
static void limits(const RingCopy *c, const Expr *col)
{
    Stmts *s = c->s;
    const Value *left = reg(c, "x.left"), *k_left = reg(c, "k_left");
    for (int h = 0; h < 2; h++) {
        const Value *at = piece_int(c, expr_add_i(&s->pool, expr_mul_i(&s->pool, col, c->ce), h));
        const Value *in = value_op(s, VALUE_LT, at, c->k_rows ? left : k_left);
        stmt_define(s, "int", stmts_name(s, "rows_%d", h),
                    value_select(s, in, c->k_rows ? k_left : left, value_int(s, 0)));
    }
}

static void load(const RingCopy *c)
{
    Stmts *s = c->s;
    piece_open(c, "load", true, PIECE_PARAMS({"bool", "whole"}, {"int", "k_left"}));
    stmt_if(s, reg(c, "whole"));
    stmt_call(s, piece_function(c, "load_whole"), reg(c, "x"));
    stmt_return(s, NULL);
    stmt_end(s);
    stmt_var(s, "const char *", "q", reg(c, "x.p"));
    set(c, "x.byte_select", value_literal(s, PIECE_OF_HALVES));
    piece_declare(c);
    if (c->passes == 1) limits(c, piece_col(c, expr_const(&s->pool, 0)));
    const Expr *i = piece_each(c, UNROLL_FULL);
    if (c->passes > 1) limits(c, piece_col(c, i));
    const Value *at =
        stmt_define(s, "const char *", "at", sum(c, reg(c, "q"), value_expr(s, piece_in_row(c, i))));
    const Value *row = piece_int(c, piece_row(c, i));
    for (int h = 0; h < 2; h++) {
        const Value *part = half(c, h ? "x.hi" : "x.lo", i);
        stmt_set(s, part, value_int(s, 0));
        stmt_if(s, value_op(s, VALUE_LT, row, value_named(s, "rows_%d", h)));
        stmt_set(s, part, load_half(c, at, 2 * h, "unsigned short", 2));
        stmt_end(s);
    }
    piece_next_row(c, i);
    stmt_end(s);
    stmt_end(s);
}

void ring_registers_put(const RingCopy *c)
{
    ring_store_words_put(c);
    load_whole(c);
    load(c);
}
