/* How ring kernels read fragments of mma.sync from shared memory without bank conflicts, as statements.
 * Where K is contiguous there, ldmatrix reads 32 bytes of K. Where the free dimension is, it is a
 * transposing ldmatrix for 16-bit elements, plain loads for longer ones, and plain loads with a transpose
 * of 4x4 blocks in registers for bytes. Doubles, and rows copied from the 16 bytes that they begin in
 * (NvShift), are read by plain loads. */
#include "index/matrix_lanes.h"
#include "kernel/nvptx/ring_acc.h"

enum {
    LANES = 32,
    MATRIX = 8,      /* rows of a matrix of ldmatrix, each of 16 bytes */
    STEP_BYTES = 32, /* of K, where it is contiguous */
    SWIZZLED = 128,  /* the swizzle changes bits below */
    BANK_QUAD = 96,  /* the bits of it that rows of 32-bit elements change */
    LANE = 0
};

typedef enum { READ_K, READ_T16, READ_T32, READ_T8, READ_DOUBLE, READ_SHIFTED } ReadKind;

typedef struct {
    const MmaReader *m;
    Stmts *s;
    RingTile tile;
    bool k_rows; /* rows of the tile in shared memory lie along the free dimension */
    ReadKind kind;
    int bytes, depth; /* of an element; K of a step */
} Reader;

static ReadKind kind_of(const GpuPlan *p, const RingCopy *copy)
{
    if (p->in.type == TYPE_D) return READ_DOUBLE;
    if (p->ring.shifts) return READ_SHIFTED;
    if (!copy->x->tlu) return READ_K;
    return copy->bpe == 2 ? READ_T16 : copy->bpe == 4 ? READ_T32 : READ_T8;
}

static Reader reader_of(Stmts *s, const MmaReader *m)
{
    const RingCopy copy = ring_copy_of(m->p, s, m->i);
    return (Reader){.m = m,
                    .s = s,
                    .tile = copy.tile,
                    .k_rows = copy.k_rows,
                    .kind = kind_of(m->p, &copy),
                    .bytes = copy.bpe,
                    .depth = m->p->matrix.k};
}

/* ---- places ---- */

/* Element v of a lane's fragment. */
static MatrixElement element(const Reader *c, const Expr *lane, const Expr *v)
{
    return matrix_operand_element(&c->s->pool, c->m->layout, !c->m->row, lane, v);
}
static MatrixElement element_i(const Reader *c, const Expr *lane, int64_t v)
{
    return element(c, lane, expr_const(&c->s->pool, v));
}

/* Where element (free, k) of the tile stands in its stage. */
static const Expr *place(const Reader *c, const Expr *free, const Expr *k)
{
    ExprPool *pool = &c->s->pool;
    const bool along = c->kind == READ_DOUBLE || c->kind == READ_SHIFTED ? c->k_rows : c->kind != READ_K;
    const Expr *row = along ? k : free, *in = along ? free : k;
    const Expr *byte = expr_within(pool, expr_mul_i(pool, in, c->bytes), 0, c->tile.row_bytes - 1);
    return ring_at(pool, &c->tile, expr_within(pool, row, 0, c->tile.rows - 1), byte);
}

/* The place of this lane's first word. `first`: the wave's first row or column. */
static const Expr *first_place(const Reader *c)
{
    ExprPool *pool = &c->s->pool;
    const bool row = c->m->row;
    const Expr *first = expr_var(pool, "first", LANE, 0, c->m->p->mt[c->m->i] - 1);
    const Expr *lane = expr_var(pool, "lane", LANE, 0, LANES - 1), *zero = expr_const(pool, 0);
    /* ldmatrix takes the address of one row of matrix q from each lane */
    const Expr *q = expr_div_i(pool, lane, MATRIX), *of_q = row ? q : expr_mod_i(pool, q, 2);
    const Expr *in_q = expr_mod_i(pool, lane, MATRIX);
    const Expr *second = row ? zero : expr_mul_i(pool, expr_div_i(pool, q, 2), MATRIX);
    MatrixElement x;
    switch (c->kind) {
    case READ_K: /* the row begins with an element of the first of the four lanes that receive it */
        x = element(c, expr_mul_i(pool, in_q, 4), expr_mul_i(pool, of_q, 4 / c->bytes));
        x.free = expr_add(pool, x.free, second);
        break;
    case READ_T16: /* it is transposed: its rows are consecutive elements of K, from one of lane 0 on */
        x = element(c, zero, expr_mul_i(pool, of_q, 2));
        x.k = expr_add(pool, x.k, in_q);
        x.free = expr_add(pool, x.free, second);
        break;
    case READ_T8: /* four tiles of the instruction are interleaved */
        x = element(c, lane, zero);
        x.free = expr_mul_i(pool, x.free, 4);
        break;
    default:
        x = element(c, lane, zero);
    }
    return place(c, expr_add(pool, first, x.free), x.k);
}

/* Exchanges the bits below SWIZZLED, adds the others. */
static const Expr *moved(const Reader *c, const Expr *from, const Expr *by, int swizzled)
{
    ExprPool *pool = &c->s->pool;
    const Expr *low = expr_and_i(pool, by, swizzled);
    return expr_add(pool, expr_op(pool, EXPR_XOR, from, low), expr_sub(pool, by, low));
}

/* The lane's place in step ks of the stage, from its place in the first one. */
static const Expr *in_step(const Reader *c, const Expr *p, const Expr *ks)
{
    ExprPool *pool = &c->s->pool;
    const Expr *k = expr_mul_i(pool, ks, c->depth);
    if (c->kind == READ_K) return expr_op(pool, EXPR_XOR, p, expr_mul_i(pool, ks, STEP_BYTES));
    if (c->kind == READ_SHIFTED && !c->k_rows) return expr_add(pool, p, expr_mul_i(pool, ks, STEP_BYTES));
    if (c->kind == READ_DOUBLE && !c->k_rows) return moved(c, p, expr_mul_i(pool, k, c->bytes), SWIZZLED - 1);
    return expr_add(pool, p, expr_mul_i(pool, k, c->tile.row_bytes));
}

static const Expr *own_place(const Reader *c)
{
    return expr_var(&c->s->pool, "p", LANE, 0, c->tile.bytes - 1);
}
static const Expr *step_number(const Reader *c)
{
    return expr_var(&c->s->pool, "ks", LANE, 0, c->m->p->depth_u / c->depth - 1);
}

/* ---- members ---- */

static void init(const Reader *c)
{
    static const StmtParam param[] = {{"@u32", "first"}, {"@u32", "lane"}};
    ring_acc_member(c->s, "init", true, param, 2);
    stmt_set(c->s, value_reg(c->s, "p"), value_expr(c->s, first_place(c)));
    stmt_end(c->s);
}

/* LocalSplitU: a part of the work-group begins at another step. */
static void skip(const Reader *c)
{
    ring_acc_member(c->s, "skip", true, (const StmtParam[]){{"int", "ks"}}, 1);
    stmt_set(c->s, value_reg(c->s, "p"), value_expr(c->s, in_step(c, own_place(c), step_number(c))));
    stmt_end(c->s);
}

/* Adds the 0 to 3 elements between the 16-byte boundary that a row is copied from and its first element. */
static void shift(const Reader *c)
{
    static const StmtParam param[] = {
        {"const void *", "base"}, {"@u64", "ld"}, {"int", "tile0"}, {"@u32", "lane"}};
    Stmts *s = c->s;
    const char name = c->m->p->op[c->m->i].name;
    const char *free_at = stmts_name(s, "@free_at_%c", name), *k_at = stmts_name(s, "@k_at_%c", name);
    const MatrixElement x = element_i(c, expr_var(&s->pool, "lane", LANE, 0, LANES - 1), 0);
    const Value *ld = value_reg(s, "ld"), *line = value_expr(s, c->k_rows ? x.k : x.free);
    ring_acc_member(s, "shift", true, param, sizeof param / sizeof *param);
    const Value *base = value_cast(s, "@u64", value_reg(s, "base"));
    const Value *from = value_op(s, VALUE_SHR, base, value_int(s, 2));
    from = value_op(s, VALUE_ADD, from, value_call(s, free_at, value_reg(s, "tile0"), ld));
    from = value_op(s, VALUE_ADD, from, value_call(s, c->k_rows ? k_at : free_at, line, ld));
    const Value *rest = value_op(s, VALUE_AND, value_cast(s, "@u32", from), value_int(s, 3));
    stmt_update(s, VALUE_ADD, value_reg(s, "p"), value_op(s, VALUE_MUL, rest, value_int(s, 4)));
    stmt_end(s);
}

/* ---- loads ---- */

static const Value *at_stage(const Reader *c, const Expr *at)
{
    return value_op(c->s, VALUE_ADD, value_reg(c->s, "stage"), value_expr(c->s, at));
}

/* Register `word` of fragment `i`, or its address. */
static const Value *word_of(const Reader *c, const Expr *i, const Expr *word)
{
    return value_at(c->s, value_at(c->s, value_reg(c->s, "f"), i), word);
}
static const Value *address_of(const Reader *c, const Expr *i, int64_t word, const Expr *more)
{
    ExprPool *pool = &c->s->pool;
    return value_op(c->s, VALUE_ADDRESS, word_of(c, i, expr_add_i(pool, more, word)), NULL);
}

/* Four matrices by ldmatrix: a fragment of the first operand, or two of the second. */
static void load_matrices(const Reader *c)
{
    Stmts *s = c->s;
    ExprPool *pool = &s->pool;
    const bool transposes = c->kind == READ_T16;
    const Expr *p = own_place(c), *ks = step_number(c), *i = stmt_unrolled(s, "i", LANE, c->m->tile / 16);
    const Expr *at;
    if (transposes)
        at = in_step(c, expr_op(pool, EXPR_XOR, p, expr_mul_i(pool, i, 16 * c->bytes)), ks);
    else
        at = expr_add(pool, in_step(c, p, ks), expr_mul_i(pool, i, (int64_t)16 * c->tile.row_bytes));
    const Value *to = value_at(s, value_reg(s, "f"), c->m->row ? i : expr_mul_i(pool, i, 2));
    stmt_call(s, transposes ? "@ldsm_t" : "@ldsm", to, at_stage(c, at));
    stmt_end(s);
}

/* Words one by one: tile i of eight rows or columns, of the first operand one half of fragment i / 2. */
static void load_words(const Reader *c)
{
    Stmts *s = c->s;
    ExprPool *pool = &s->pool;
    const bool row = c->m->row, along = c->kind == READ_T32 || c->k_rows;
    const int second = row ? 2 : 1; /* the register with the later elements of K */
    const Expr *zero = expr_const(pool, 0), *p = own_place(c),
               *i = stmt_unrolled(s, "i", LANE, c->m->tile / 8);
    const Expr *by = expr_mul_i(pool, i, along ? 8 * c->bytes : (int64_t)8 * c->tile.row_bytes);
    const Expr *at = c->kind == READ_T32 ? moved(c, p, by, BANK_QUAD) : expr_add(pool, p, by);
    at = in_step(c, at, step_number(c));
    const Expr *later = expr_mul_i(pool, element_i(c, zero, second).k, along ? c->tile.row_bytes : c->bytes);
    const Expr *number = row ? expr_div_i(pool, i, 2) : i, *half = row ? expr_mod_i(pool, i, 2) : zero;
    stmt_call(s, "@lds1", address_of(c, number, 0, half), at_stage(c, at));
    stmt_call(s, "@lds1", address_of(c, number, second, half), at_stage(c, expr_add(pool, at, later)));
    stmt_end(s);
}

static void load_doubles(const Reader *c)
{
    Stmts *s = c->s;
    ExprPool *pool = &s->pool;
    const bool row = c->m->row;
    const Expr *zero = expr_const(pool, 0), *i = stmt_unrolled(s, "i", LANE, c->m->tile / 8);
    const Expr *q = stmt_unrolled(s, "q", LANE, c->depth / 4);
    const Expr *v = row ? expr_add(pool, expr_mul_i(pool, q, 2), expr_mod_i(pool, i, 2)) : q;
    const MatrixElement x = element(c, zero, v);
    const Expr *k = expr_add(pool, expr_mul_i(pool, step_number(c), c->depth), x.k);
    const Expr *free =
        row ? expr_add(pool, expr_mul_i(pool, expr_div_i(pool, i, 2), 16), x.free) : expr_mul_i(pool, i, 8);
    const Expr *along = expr_mul_i(pool, c->k_rows ? free : k, c->bytes);
    const Expr *across = expr_mul_i(pool, c->k_rows ? k : free, c->tile.row_bytes);
    const Expr *at = expr_add(pool, moved(c, own_place(c), along, SWIZZLED - 1), across);
    const Value *to = word_of(c, row ? expr_div_i(pool, i, 2) : i, v);
    stmt_call(s, "@ldsd", value_op(s, VALUE_ADDRESS, to, NULL), at_stage(c, at));
    stmt_end(s);
    stmt_end(s);
}

static const Value *permuted(const Reader *c, const Value *x, const Value *y, const char *select)
{
    return value_call(c->s, "__byte_perm", x, y, value_literal(c->s, select));
}

/* Transposes the 4x4 bytes of the words s[0..3] to the registers of four fragments. */
static void transpose(const Reader *c, const Expr *i, const Expr *half)
{
    static const char *const names[] = {"a", "b", "c", "d"}, *const low[] = {"0x5140", "0x7362"},
                             *const whole[] = {"0x5410", "0x7632"};
    Stmts *s = c->s;
    ExprPool *pool = &s->pool;
    const Value *word[4], *pair[4];
    for (int e = 0; e < 4; e++) word[e] = value_at_i(s, value_reg(s, "s"), e);
    for (int e = 0; e < 4; e++)
        pair[e] =
            stmt_define(s, "@u32", names[e], permuted(c, word[e % 2 * 2], word[e % 2 * 2 + 1], low[e / 2]));
    for (int e = 0; e < 4; e++) {
        const Expr *to = c->m->row ? expr_add_i(pool, expr_mul_i(pool, i, 2), e / 2)
                                   : expr_add_i(pool, expr_mul_i(pool, i, 4), e);
        const Expr *reg = c->m->row ? expr_add_i(pool, expr_mul_i(pool, half, 2), e % 2) : half;
        stmt_set(s, word_of(c, to, reg), permuted(c, pair[e / 2 * 2], pair[e / 2 * 2 + 1], whole[e % 2]));
    }
}

/* ldmatrix transposes 16-bit elements only. Element 4g + i of 32 along the free dimension is then element g
 * of the instruction's tile i. */
static void load_bytes(const Reader *c)
{
    Stmts *s = c->s;
    ExprPool *pool = &s->pool;
    const Expr *i = stmt_unrolled(s, "i", LANE, c->m->tile / 32), *half = stmt_unrolled(s, "h", LANE, 2);
    stmt_array(s, "@u32", "s", DIMS(4));
    const Expr *e = stmt_unrolled(s, "e", LANE, 4);
    const Expr *v = expr_add(pool, expr_mul_i(pool, half, c->m->row ? 8 : 4), e);
    const Expr *k =
        expr_add(pool, expr_mul_i(pool, step_number(c), c->depth), element(c, expr_const(pool, 0), v).k);
    const Expr *at = expr_op(pool, EXPR_XOR, own_place(c), expr_mul_i(pool, i, 32));
    at = expr_add(pool, at, expr_mul_i(pool, k, c->tile.row_bytes));
    const Value *to = value_at(s, value_reg(s, "s"), e);
    stmt_call(s, "@lds1", value_op(s, VALUE_ADDRESS, to, NULL), at_stage(c, at));
    stmt_end(s);
    transpose(c, i, half);
    stmt_end(s);
    stmt_end(s);
}

static void load(const Reader *c)
{
    Stmts *s = c->s;
    const StmtParam param[] = {
        {stmts_name(s, "@F (*f)[%d]", c->m->words), NULL}, {"@u32", "stage"}, {"int", "ks"}};
    ring_acc_member(s, "load", false, param, 3);
    if (c->kind == READ_K || c->kind == READ_T16)
        load_matrices(c);
    else if (c->kind == READ_DOUBLE)
        load_doubles(c);
    else if (c->kind == READ_T8)
        load_bytes(c);
    else
        load_words(c);
    stmt_end(s);
}

void ring_mma_reader(Stmts *s, const MmaReader *m)
{
    const Reader c = reader_of(s, m);
    stmt_struct(s, stmts_name(s, "@Read%c", 'A' + m->i), 0);
    stmt_var(s, "@u32", "p", NULL);
    init(&c);
    skip(&c);
    if (c.kind == READ_SHIFTED) shift(&c);
    load(&c);
    stmt_end(s);
}
