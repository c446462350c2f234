/* Copies of a contraction's operands to the stages of a ring, through the views of its tensors
 * (kernel/contract.h). Per operand X there is a struct @CopyX, which begin_X fills, and functions that copy a
 * chunk of DepthU elements of K, or a part of it:
 *
 *     @whole_X      pieces [from, to) of a chunk that has all elements of K
 *     @guarded_X    a chunk with k_left elements of K
 *     @elements_X   a chunk element by element, by divisions: tensors whose vectors are misaligned, and such
 *                   whose positions along a zero pad need more than 31 bits
 *     @store_X, @load_whole_X, @load_X   operands that are copied through registers
 *
 * An element's address is the sum of two parts: that of its row or column, which a thread takes apart once
 * (struct @CopyX), and that of its element of K, from a table in shared memory (RingTable). The same holds
 * for its position along each zero pad: elements outside are copied as zeros. Rows and columns past the edge
 * of the operand read the last ones again, which only reach results that are not stored. */
#include "kernel/contract.h"
#include "kernel/gpu/gather.h"
#include "kernel/nvptx/ring_piece.h"

enum { PAIR = 2, ADDRESS_WORDS = 2, BITS = 32 };

static ContractNames dims_of(const RingCopy *c) { return (ContractNames){c->s, "g.x."}; }
static int tensor_of(const RingCopy *c) { return c->upper == 'B'; }
static int n_pads(const RingCopy *c) { return c->p->indices->n_pads[tensor_of(c)]; }
static int coord_of(const RingCopy *c) { return tensor_of(c) ? CONTRACT_COLUMN : CONTRACT_ROW; }

/* With pad_bits, a word has a bit for each value of the index of K along each pad, up to that many. A row or
 * column has those set at which it is outside, an element of K its own; else both have positions along the
 * pads, whose sums are compared with the edges. */
static bool has_bits(const GpuPlan *p, int t) { return p->ring.pad_bits && p->indices->n_pads[t]; }
static int bits_of_pad(const GpuPlan *p, int t) { return BITS / p->indices->n_pads[t]; }

/* The number in K's group of the index along a pad. */
static int digit_of_pad(const Indices *x, int t, int pad)
{
    const IndexList *l = &x->group[INDICES_K];
    int i = 0;
    while (i + 1 < l->n && l->v[i] != x->pad[t][pad].free && l->v[i] != x->pad[t][pad].sum) i++;
    return i;
}

/* Rows or columns of the operand whose addresses a thread keeps: of a piece, and of all its pieces. */
static int places_of_piece(const RingCopy *c) { return c->via_registers && c->k_rows ? PAIR : 1; }
static int n_places(const RingCopy *c)
{
    return (c->k_rows ? c->passes : c->n / c->passes) * places_of_piece(c);
}

static const Expr *word(const RingCopy *c, const char *name) { return piece_field(c, name, UINT32_MAX); }
static const Value *unsigned_of(const RingCopy *c, const Value *x) { return value_cast(c->s, "unsigned", x); }

/* ---- table ---- */

RingTable ring_table_of(const GpuPlan *p)
{
    const int32_t *n = p->indices->n_pads;
    return ring_table(p->n_threads, p->depth_u, p->prefetch, n[0] > n[1] ? n[0] : n[1]);
}

/* Declares the digits k_0, k_1, .. of the element k of K. */
static void define_digits(const GpuPlan *p, Stmts *s, const Expr *digit[INDEX_MAX])
{
    const ContractNames names = {s, "g.x."};
    const IndexList *l = &p->indices->group[INDICES_K];
    const Value *rest = value_reg(s, "k");
    for (int32_t i = 0; i < l->n; i++) {
        const char *name = stmts_name(s, "k_%d", i);
        const Value *size = value_expr(s, contract_extent(&names, l->v[i]));
        const bool last = i + 1 == l->n;
        stmt_define(s, "unsigned", name, last ? rest : value_op(s, VALUE_MOD, rest, size));
        if (!last)
            rest =
                stmt_define(s, "unsigned", stmts_name(s, "rest_%d", i), value_op(s, VALUE_DIV, rest, size));
        digit[i] = expr_var(&s->pool, name, 0, 0, UINT32_MAX);
    }
}

/* Writes one operand's entry at the address `to`. */
static void put_entry(const GpuPlan *p, Stmts *s, int t, const RingTable *table, const Expr *const digit[])
{
    const ContractNames names = {s, "g.x."};
    const int bytes = gpu_type_bytes(&p->in), words = table->entry_bytes / 4;
    stmt_block(s);
    const Value *at = value_expr(s, contract_digits_offset(p->indices, t, &names, INDICES_K, digit));
    at = value_op(s, VALUE_MUL, value_cast(s, "@u64", at), value_int(s, bytes));
    at = stmt_define(s, "@u64", "at", at);
    const Value *v = stmt_array(s, "@u32", "v", DIMS(words));
    stmt_set(s, value_at_i(s, v, 0), value_cast(s, "@u32", at));
    stmt_set(s, value_at_i(s, v, 1), value_cast(s, "@u32", value_op(s, VALUE_SHR, at, value_int(s, 32))));
    if (has_bits(p, t)) {
        const Value *bits = NULL;
        for (int i = 0; i < p->indices->n_pads[t]; i++) {
            const Expr *of =
                expr_add_i(&s->pool, digit[digit_of_pad(p->indices, t, i)], (int64_t)i * bits_of_pad(p, t));
            of = expr_and_i(&s->pool, of, BITS - 1); /* values that no bit stands for are never looked up */
            const Value *bit = value_op(s, VALUE_SHL, value_literal(s, "1u"), value_expr(s, of));
            bits = bits ? value_op(s, VALUE_OR, bits, bit) : bit;
        }
        stmt_set(s, value_at_i(s, v, ADDRESS_WORDS), bits);
    }
    for (int i = has_bits(p, t); i + ADDRESS_WORDS < words; i++) {
        const Value *place = value_int(s, 0);
        if (i < p->indices->n_pads[t] && !has_bits(p, t))
            place = value_expr(s, contract_digits_position(p->indices, t, &names, i, INDICES_K, digit));
        stmt_set(s, value_at_i(s, v, i + ADDRESS_WORDS), value_cast(s, "@u32", place));
    }
    for (int w = 0; w < words; w += 4) {
        const Access to =
            access_window(value_reg(s, "to"), expr_const(&s->pool, t * table->operand_bytes + w * 4), 16);
        const Value *from = w ? value_op(s, VALUE_ADD, v, value_int(s, w)) : v;
        stmt_store(s, to, from);
    }
    stmt_end(s);
}

void ring_table_put(const GpuPlan *p, Stmts *s)
{
    ExprPool *pool = &s->pool;
    const RingTable t = ring_table_of(p);
    const Value *n = value_reg(s, "n"), *whole = value_reg(s, "g.whole");
    const Expr *digit[INDEX_MAX];
    stmt_comment(s, "The first element of K of the chunk number n.");
    stmt_function(s, (Function){.result = "unsigned",
                                .name = "@chunk_k",
                                STMT_PARAMS({"const @Ring &", "g"}, {"int", "n"})});
    if (p->walk.staggers) {
        stmt_if(s, value_op(s, VALUE_LT, n, whole));
        stmt_update(s, VALUE_ADD, n, value_op(s, VALUE_SUB, whole, value_reg(s, "g.wrap")));
        stmt_if(s, value_op(s, VALUE_GE, n, whole));
        stmt_update(s, VALUE_SUB, n, whole);
        stmt_end(s);
        stmt_end(s);
    }
    const Value *chunk = value_op(s, VALUE_MUL, unsigned_of(&(RingCopy){.s = s}, n), value_reg(s, "g.step"));
    chunk = value_op(s, VALUE_ADD, value_reg(s, "g.first"), chunk);
    stmt_return(s, value_op(s, VALUE_MUL, chunk, value_int(s, p->depth_u)));
    stmt_end(s);
    stmt_comment(s, "Fills a block of the table.");
    stmt_function(s, (Function){.name = "@fill", STMT_PARAMS({"const @Ring &", "g"}, {"int", "block"})});
    const Value *block = value_reg(s, "block");
    const Value *first =
        stmt_define(s, "int", "chunk", value_op(s, VALUE_MUL, block, value_int(s, t.chunks)));
    stmt_if(s, value_op(s, VALUE_GE, first, value_reg(s, "g.chunks")));
    stmt_return(s, NULL);
    stmt_end(s);
    const Value *slot = value_op(s, VALUE_MOD, block, value_int(s, RING_BLOCKS));
    slot = value_op(s, VALUE_MUL, slot, value_int(s, t.entries * t.entry_bytes));
    slot = value_op(s, VALUE_ADD, value_op(s, VALUE_ADD, value_reg(s, "g.smem"), slot),
                    value_int(s, p->stage_bytes * p->n_stages));
    stmt_define(s, "@u32", "table", slot);
    stmt_define(s, "unsigned", "tid", value_call_0(s, "@tid"));
    const Expr *e = stmt_loop(s, (Loop){.var = "e",
                                        .type = "unsigned",
                                        .start = expr_var(pool, "tid", 0, 0, p->n_threads - 1),
                                        .limit = expr_const(pool, t.entries),
                                        .step = p->n_threads,
                                        .unroll = UNROLL_NONE});
    e = expr_within(pool, e, 0, t.entries - 1);
    const Value *number = value_cast(s, "int", value_expr(s, expr_div_i(pool, e, p->depth_u)));
    const Value *k = value_call(s, "@chunk_k", value_reg(s, "g"), value_op(s, VALUE_ADD, first, number));
    stmt_define(s, "unsigned", "k",
                value_op(s, VALUE_ADD, k, value_expr(s, expr_mod_i(pool, e, p->depth_u))));
    stmt_define(
        s, "@u32", "to",
        value_op(s, VALUE_ADD, value_reg(s, "table"), value_expr(s, expr_mul_i(pool, e, t.entry_bytes))));
    define_digits(p, s, digit);
    for (int i = 0; i < 2; i++) put_entry(p, s, i, &t, digit);
    stmt_end(s);
    stmt_end(s);
}

/* ---- struct and first chunk ---- */

static void state(const RingCopy *c)
{
    Stmts *s = c->s;
    stmt_struct(s, stmts_name(s, "@Copy%c", c->upper), 0);
    stmt_var(s, "const char *", "base", NULL);
    stmt_array(s, "const char *", "at", DIMS(n_places(c)));
    if (has_bits(c->p, tensor_of(c)))
        stmt_array(s, "unsigned", "outside", DIMS(n_places(c)));
    else if (n_pads(c)) {
        stmt_array(s, "unsigned", "place", DIMS(n_places(c), n_pads(c)));
        stmt_array(s, "unsigned", "edge", DIMS(n_pads(c)));
    }
    static const char *const number[] = {"r", "col", "tile0", "size"};
    for (size_t i = 0; i < sizeof number / sizeof *number; i++) stmt_var(s, "int", number[i], NULL);
    stmt_var(s, "@u32", "s0", NULL);
    stmt_var(s, "@u32", "entry", NULL);
    if (c->via_registers) {
        stmt_array(s, "@u32", "lo", DIMS(c->n));
        stmt_array(s, "@u32", "hi", DIMS(c->n));
        stmt_var(s, "@u32", "byte_select", NULL);
    }
    stmt_end(s);
}

/* The row or column of the tile that piece i begins with; its element of K. */
static const Expr *free_of(const RingCopy *c, const Expr *i)
{
    return c->k_rows ? expr_mul_i(&c->s->pool, piece_col(c, i), c->ce) : piece_row(c, i);
}
static const Expr *k_of(const RingCopy *c, const Expr *i)
{
    return c->k_rows ? piece_row(c, i) : expr_mul_i(&c->s->pool, piece_col(c, i), c->ce);
}

/* Declares the row or column `free` of the operand at that one of the tile; past the edge the last one, or
 * the last ones of `width`. */
static const Expr *define_free(const RingCopy *c, const Expr *at, int width)
{
    Stmts *s = c->s;
    const Value *free = value_op(s, VALUE_ADD, unsigned_of(c, reg(c, "x.tile0")), value_expr(s, at));
    free = stmt_define(s, "unsigned", "at_free", free);
    const Value *last = value_op(s, VALUE_SUB, unsigned_of(c, reg(c, "x.size")), value_int(s, width));
    last = stmt_define(s, "unsigned", "last", last);
    stmt_define(s, "unsigned", "free", value_select(s, value_op(s, VALUE_LT, last, free), last, free));
    return word(c, "free");
}

/* Elements from the operand's first one to a row or column and an element of K. */
static const Expr *offset(const RingCopy *c, const Expr *free, const Expr *k)
{
    const int t = tensor_of(c);
    return gpu_dims_offset(c->p, c->s, t, "g.x.", t ? k : free, t ? free : k);
}

static const Value *bytes_of(const RingCopy *c, const Expr *elements)
{
    const Value *n = value_cast(c->s, "long long", value_expr(c->s, elements));
    return times(c, n, c->bpe);
}

/* Sets the bits of pad number `pad` of a place at that position along it. */
static void keep_bits(const RingCopy *c, const Expr *number, int pad, const Value *position)
{
    Stmts *s = c->s;
    ExprPool *pool = &s->pool;
    const ContractNames names = dims_of(c);
    const Indices *x = c->p->indices;
    const int t = tensor_of(c), digit = digit_of_pad(x, t, pad), bits = bits_of_pad(c->p, t);
    const Expr *at[INDEX_MAX], *values = contract_extent(&names, x->group[INDICES_K].v[digit]);
    const Expr *few = expr_op(pool, EXPR_LT, values, expr_const(pool, bits));
    const Value *place = stmt_define(s, "unsigned", stmts_name(s, "place_%d", pad), position);
    const Expr *d = stmt_loop(s, (Loop){.var = "d",
                                        .type = "unsigned",
                                        .start = expr_const(pool, 0),
                                        .limit = expr_select(pool, few, values, expr_const(pool, bits)),
                                        .unroll = UNROLL_NONE});
    for (int i = 0; i < x->group[INDICES_K].n; i++) at[i] = i == digit ? d : expr_const(pool, 0);
    const Expr *moved = contract_digits_position(x, t, &names, pad, INDICES_K, at);
    const Value *in =
        value_op(s, VALUE_LT, value_op(s, VALUE_ADD, place, value_cast(s, "@u32", value_expr(s, moved))),
                 reg(c, stmts_name(s, "edge_%d", pad)));
    const Value *bit = value_op(s, VALUE_SHL, value_literal(s, "1u"),
                                value_expr(s, expr_add_i(pool, d, (int64_t)pad * bits)));
    stmt_update(s, VALUE_OR, value_at(s, reg(c, "x.outside"), number),
                value_select(s, in, value_int(s, 0), bit));
    stmt_end(s);
}

/* Takes place number `number` apart, which is at that row or column of the tile. */
static void keep_place(const RingCopy *c, const Expr *number, const Expr *at)
{
    Stmts *s = c->s;
    const ContractNames names = dims_of(c);
    const int t = tensor_of(c);
    const Expr *free = define_free(c, at, c->k_rows && !c->via_registers ? c->ce : 1);
    const Value *from = sum(c, reg(c, "x.base"), bytes_of(c, offset(c, free, expr_const(&s->pool, 0))));
    stmt_set(s, value_at(s, reg(c, "x.at"), number), from);
    if (has_bits(c->p, t)) stmt_set(s, value_at(s, reg(c, "x.outside"), number), value_int(s, 0));
    for (int i = 0; i < n_pads(c); i++) {
        const Expr *place = contract_pad_position(c->p->indices, t, &names, i, coord_of(c), free);
        place = expr_sub(&s->pool, place, contract_pad_start(c->p->indices, t, &names, i));
        const Value *of = unsigned_of(c, value_expr(s, place));
        if (has_bits(c->p, t))
            keep_bits(c, number, i, of);
        else
            stmt_set(s, value_at_i(s, value_at(s, reg(c, "x.place"), number), i), of);
    }
}

static void begin_edges(const RingCopy *c)
{
    Stmts *s = c->s;
    const ContractNames names = dims_of(c);
    const int t = tensor_of(c);
    for (int i = 0; i < n_pads(c); i++) {
        const Expr *edge = contract_pad_edge(c->p->indices, t, &names, i);
        const Expr *start = contract_pad_start(c->p->indices, t, &names, i);
        const Value *length = value_expr(s, expr_sub(&s->pool, edge, start));
        const Value *any = value_op(s, VALUE_LT, value_cast(s, "long long", value_expr(s, start)),
                                    value_cast(s, "long long", value_expr(s, edge)));
        const Value *is = value_select(s, any, unsigned_of(c, length), value_int(s, 0));
        if (has_bits(c->p, t))
            stmt_define(s, "unsigned", stmts_name(s, "edge_%d", i), is);
        else
            stmt_set(s, value_at_i(s, reg(c, "x.edge"), i), is);
    }
}

static void begin(const RingCopy *c)
{
    Stmts *s = c->s;
    ExprPool *pool = &s->pool;
    const int each = places_of_piece(c), entry = ring_table_of(c->p).entry_bytes;
    piece_open(c, "begin", true,
               PIECE_PARAMS({"const @Ring &", "g"}, {"const @T *", "base"}, {"int", "tile0"}, {"int", "size"},
                            {"int", "tid"}));
    set(c, "x.r", value_op(s, VALUE_DIV, reg(c, "tid"), value_int(s, c->pass_cols)));
    set(c, "x.col", value_op(s, VALUE_MOD, reg(c, "tid"), value_int(s, c->pass_cols)));
    set(c, "x.tile0", reg(c, "tile0"));
    set(c, "x.size", reg(c, "size"));
    set(c, "x.base", value_cast(s, "const char *", reg(c, "base")));
    piece_declare(c);
    const Expr *zero = expr_const(pool, 0);
    set(c, "x.s0", value_expr(s, piece_first(c)));
    const Expr *k = k_of(c, zero);
    if (tensor_of(c))
        k = expr_add_i(pool, expr_mul_i(pool, k, entry), ring_table_of(c->p).operand_bytes);
    else
        k = expr_mul_i(pool, k, entry);
    set(c, "x.entry", value_expr(s, k));
    if (c->via_registers) set(c, "x.byte_select", value_literal(s, PIECE_OF_HALVES));
    begin_edges(c);
    const Expr *f = stmt_unrolled(s, "f", 0, n_places(c) / each), *e = stmt_unrolled(s, "e", 0, each);
    const Expr *i = c->k_rows ? f : expr_mul_i(pool, f, c->passes);
    keep_place(c, expr_add(pool, expr_mul_i(pool, f, each), e), expr_add(pool, free_of(c, i), e));
    stmt_end(s);
    stmt_end(s);
    stmt_end(s);
}

const Value *ring_gather_fits(const RingCopy *c, const Value *base)
{
    Stmts *s = c->s;
    const ContractNames names = dims_of(c);
    const int t = tensor_of(c);
    const IndexList *l = &c->p->indices->tensor[t];
    const bool vectors = c->ce > 1 && !c->via_registers;
    const Value *all = value_literal(s, "true"), *bits = value_cast(s, "@u64", base);
    for (int i = 0; i < n_pads(c); i++) {
        const Value *edge =
            value_cast(s, "long long", value_expr(s, contract_pad_edge(c->p->indices, t, &names, i)));
        all = value_op(s, VALUE_BOTH, all, value_op(s, VALUE_LE, edge, value_literal(s, "0x7fffffffll")));
        if (!has_bits(c->p, t)) continue;
        const int32_t index = c->p->indices->group[INDICES_K].v[digit_of_pad(c->p->indices, t, i)];
        all = value_op(s, VALUE_BOTH, all,
                       value_op(s, VALUE_LE, value_expr(s, contract_extent(&names, index)),
                                value_int(s, bits_of_pad(c->p, t))));
    }
    for (int32_t i = 0; i < l->n; i++) {
        const Expr *stride = contract_index_stride(c->p->indices, t, &names, l->v[i]);
        if (i == 0 && vectors) {
            const Expr *rest = expr_mod_i(&s->pool, contract_extent(&names, l->v[0]), c->ce);
            all = value_op(s, VALUE_BOTH, all, value_op(s, VALUE_EQ, value_expr(s, rest), value_int(s, 0)));
            if (!expr_is(stride, 1))
                all = value_op(s, VALUE_BOTH, all,
                               value_op(s, VALUE_EQ, value_expr(s, stride), value_int(s, 1)));
        } else
            bits = value_op(s, VALUE_OR, bits, value_expr(s, expr_mul_i(&s->pool, stride, c->bpe)));
    }
    if (!vectors && c->bpe < 16) return all;
    bits = value_op(s, VALUE_AND, bits, value_int(s, c->cw - 1));
    return value_op(s, VALUE_BOTH, all, value_op(s, VALUE_EQ, bits, value_int(s, 0)));
}

/* ---- pieces ---- */

/* Loads the table's entry of element h of piece i along K into the array `entry`. */
static void load_entry(const RingCopy *c, const Value *entry, const Expr *i, int h)
{
    Stmts *s = c->s;
    ExprPool *pool = &s->pool;
    const RingTable t = ring_table_of(c->p);
    const int reads = n_pads(c) > 2 && !has_bits(c->p, tensor_of(c)) ? t.entry_bytes : 16;
    /* the entry of the thread's first piece is at x.entry */
    const Expr *k = c->k_rows ? expr_mul_i(pool, expr_div_i(pool, i, c->passes), c->pass_rows)
                              : expr_mul_i(pool, expr_mod_i(pool, i, c->passes), c->pass_cols * c->ce);
    const Value *at = value_op(s, VALUE_ADD, reg(c, "table"), reg(c, "x.entry"));
    at = value_op(s, VALUE_ADD, at, value_expr(s, expr_mul_i(pool, expr_add_i(pool, k, h), t.entry_bytes)));
    for (int w = 0; w < reads; w += 16) {
        const Value *to = entry, *from = at;
        if (w) to = value_op(s, VALUE_ADD, to, value_int(s, w / 4)), from = sum(c, at, value_int(s, w));
        stmt_call(s, "@lds4", to, from);
    }
}

/* The address of an element or vector: place number `number`, element of K as in the entry. */
static const Value *address(const RingCopy *c, const Expr *number, const Value *entry)
{
    Stmts *s = c->s;
    const Value *high =
        value_op(s, VALUE_SHL, value_cast(s, "@u64", value_at_i(s, entry, 1)), value_int(s, 32));
    const Value *k = value_cast(s, "long long", value_op(s, VALUE_OR, high, value_at_i(s, entry, 0)));
    return sum(c, value_at(s, reg(c, "x.at"), number), k);
}

/* Whether it is inside the zero pads, and, unless limit is NULL, its element of K in front of the end. NULL:
 * always. */
static const Value *is_inside(const RingCopy *c, const Expr *number, const Value *entry, const Value *limit)
{
    Stmts *s = c->s;
    const Value *all = limit;
    if (has_bits(c->p, tensor_of(c))) {
        const Value *out = value_op(s, VALUE_AND, value_at(s, reg(c, "x.outside"), number),
                                    value_at_i(s, entry, ADDRESS_WORDS));
        out = value_op(s, VALUE_EQ, out, value_int(s, 0));
        return all ? value_op(s, VALUE_BOTH, all, out) : out;
    }
    for (int i = 0; i < n_pads(c); i++) {
        const Value *here = value_at_i(s, value_at(s, reg(c, "x.place"), number), i);
        here = value_op(s, VALUE_ADD, here, value_at_i(s, entry, ADDRESS_WORDS + i));
        const Value *in = value_op(s, VALUE_LT, here, value_at_i(s, reg(c, "x.edge"), i));
        all = all ? value_op(s, VALUE_BOTH, all, in) : in;
    }
    return all;
}

static const Value *in_k(const RingCopy *c, const Expr *k)
{
    return value_op(c->s, VALUE_LT, piece_int(c, k), reg(c, "k_left"));
}

static const Expr *place_number(const RingCopy *c, const Expr *i, const Expr *e)
{
    ExprPool *pool = &c->s->pool;
    const Expr *f = c->k_rows ? expr_mod_i(pool, i, c->passes) : expr_div_i(pool, i, c->passes);
    return e ? expr_add(pool, expr_mul_i(pool, f, places_of_piece(c)), e) : f;
}

/* Opens the loop over pieces [from, to) that are in the tile. */
static const Expr *open_pieces(const RingCopy *c, const Expr *from, const Expr *to)
{
    const Expr *i =
        stmt_loop(c->s, (Loop){.var = "i", .type = "int", .start = from, .limit = to, .unroll = UNROLL_FULL});
    i = expr_within(&c->s->pool, i, 0, c->n - 1);
    stmt_if_expr(c->s, c->partly ? piece_in_tile(c, i) : expr_const(&c->s->pool, 1));
    return i;
}
static void close_pieces(const RingCopy *c) { stmt_end(c->s), stmt_end(c->s); }

/* The entry that piece i needs, of those that load_entries has loaded. */
static const Value *entry_of(const RingCopy *c, const Expr *i)
{
    ExprPool *pool = &c->s->pool;
    return value_at(c->s, reg(c, "entry"),
                    c->k_rows ? expr_div_i(pool, i, c->passes) : expr_mod_i(pool, i, c->passes));
}

static int entries_of(const RingCopy *c) { return c->k_rows ? c->n / c->passes : c->passes; }

/* Loads the entry of piece i, unless a piece of [from, i) has the same one. */
static void load_first_entry(const RingCopy *c, const Expr *from, const Expr *i)
{
    Stmts *s = c->s;
    ExprPool *pool = &s->pool;
    const Expr *first = expr_op(pool, EXPR_EQ, i, from), *zero = expr_const(pool, 0);
    if (c->k_rows)
        first =
            expr_op(pool, EXPR_EITHER, first, expr_op(pool, EXPR_EQ, expr_mod_i(pool, i, c->passes), zero));
    else
        first = expr_op(pool, EXPR_LT, expr_sub(pool, i, from), expr_const(pool, c->passes));
    stmt_if_expr(s, first);
    load_entry(c, entry_of(c, i), i, 0);
    stmt_end(s);
}

/* Loads the entries of pieces [from, to). They stand in front of all copies of these: ptxas of CUDA 13.0 puts
 * three instructions without effect between a load of shared memory and the next asynchronous copy. */
static void load_entries(const RingCopy *c, const Expr *from, const Expr *to)
{
    stmt_array(c->s, "@u32", "entry", DIMS(entries_of(c), RING_ENTRY_WORDS));
    load_first_entry(c, from, open_pieces(c, from, to));
    close_pieces(c);
}

/* Prints @whole_X or, with limits, @guarded_X. */
static void copies(const RingCopy *c, bool limits)
{
    static const StmtParam whole[] = {{"@u32", "stage"}, {"int", "from"}, {"int", "to"}, {"@u32", "table"}},
                           guarded[] = {{"@u32", "stage"}, {"@u32", "table"}, {"int", "k_left"}};
    Stmts *s = c->s;
    ExprPool *pool = &s->pool;
    piece_open(c, limits ? "guarded" : "whole", false, limits ? guarded : whole, limits ? 3 : 4);
    piece_declare(c);
    const Expr *from = limits ? expr_const(pool, 0) : piece_field(c, "from", c->n),
               *to_end = limits ? expr_const(pool, c->n) : piece_field(c, "to", c->n);
    if (limits) /* of which more would be held in registers than are worth it */
        stmt_array(s, "@u32", "entry", DIMS(entries_of(c), RING_ENTRY_WORDS));
    else
        load_entries(c, from, to_end);
    const Expr *i = open_pieces(c, from, to_end), *number = place_number(c, i, NULL);
    if (limits) load_first_entry(c, from, i);
    const Value *entry = entry_of(c, i);
    const Value *in = is_inside(c, number, entry, limits ? in_k(c, k_of(c, i)) : NULL);
    if (in) in = value_select(s, stmt_define(s, "bool", "in", in), value_int(s, c->cw), value_int(s, 0));
    stmt_copy(s, piece_to_stage(c, i, c->cw), piece_from(address(c, number, entry), NULL, c->cw), in);
    close_pieces(c);
    stmt_end(s);
}

/* ---- through registers ---- */

/* Prints @load_whole_X or, with limits, @load_X: the pairs of a chunk. */
static void loads(const RingCopy *c, bool limits)
{
    static const StmtParam param[] = {{"@u32", "table"}, {"int", "k_left"}};
    static const char *const entries[] = {"entry", "entry_1"}, *const to[] = {"x.lo", "x.hi"};
    Stmts *s = c->s;
    ExprPool *pool = &s->pool;
    piece_open(c, limits ? "load" : "load_whole", true, param, limits ? 2 : 1);
    piece_declare(c);
    for (int h = 0; h < (c->k_rows ? 1 : PAIR); h++)
        stmt_array(s, "@u32", entries[h], DIMS(RING_ENTRY_WORDS));
    const Expr *i = expr_within(pool, piece_each(c, UNROLL_FULL), 0, c->n - 1),
               *in_tile = piece_in_tile(c, i);
    if (in_tile) stmt_if_expr(s, in_tile);
    const Expr *begins =
        expr_op(pool, EXPR_EQ, c->k_rows ? expr_mod_i(pool, i, c->passes) : i, expr_const(pool, 0));
    if (c->k_rows || c->passes == 1) stmt_if_expr(s, begins);
    for (int h = 0; h < (c->k_rows ? 1 : PAIR); h++) load_entry(c, value_reg(s, entries[h]), i, h);
    if (c->k_rows || c->passes == 1) stmt_end(s);
    for (int h = 0; h < PAIR; h++) {
        const Expr *number = place_number(c, i, expr_const(pool, c->k_rows ? h : 0));
        const Value *entry = value_reg(s, entries[c->k_rows ? 0 : h]);
        const Expr *k = c->k_rows ? k_of(c, i) : expr_add_i(pool, k_of(c, i), h);
        const Value *half = value_at(s, reg(c, to[h]), i);
        const Value *in = is_inside(c, number, entry, limits ? in_k(c, k) : NULL);
        if (in) {
            stmt_set(s, half, value_int(s, 0));
            stmt_if(s, in);
        }
        stmt_set(
            s, half,
            value_load(s, access_at(SPACE_GLOBAL, "unsigned short", 2, address(c, number, entry), NULL)));
        if (in) stmt_end(s);
    }
    if (in_tile) stmt_end(s);
    stmt_end(s);
    stmt_end(s);
}

/* ---- element by element ---- */

static void elements(const RingCopy *c)
{
    Stmts *s = c->s;
    ExprPool *pool = &s->pool;
    const ContractNames names = dims_of(c);
    const int t = tensor_of(c), part = c->bpe < 4 ? c->bpe : 4, words = c->cw / 4;
    static const char *const type[] = {[1] = "unsigned char", [2] = "unsigned short", [4] = "@u32"};
    piece_open(
        c, "elements", false,
        PIECE_PARAMS({"const @Ring &", "g"}, {"@u32", "stage"}, {"unsigned", "k0"}, {"int", "k_left"}));
    piece_declare(c);
    const Expr *i = expr_within(pool, piece_each(c, UNROLL_NONE), 0, c->n - 1);
    const Value *w = stmt_array(s, "@u32", "w", DIMS(words));
    const Expr *b = stmt_unrolled(s, "b", 0, words);
    stmt_set(s, value_at(s, w, b), value_int(s, 0));
    stmt_end(s);
    const Expr *e = stmt_unrolled(s, "e", 0, c->ce);
    const Expr *along_k = c->k_rows ? k_of(c, i) : expr_add(pool, k_of(c, i), e);
    const Expr *free = define_free(c, c->k_rows ? expr_add(pool, free_of(c, i), e) : free_of(c, i), 1);
    stmt_define(s, "unsigned", "k", value_op(s, VALUE_ADD, reg(c, "k0"), value_expr(s, along_k)));
    const Expr *k = word(c, "k");
    const Value *in = value_expr(s, contract_inside(c->p->indices, t, &names, t ? k : free, t ? free : k));
    stmt_if(s, value_op(s, VALUE_BOTH, in_k(c, along_k), in));
    const Value *at =
        stmt_define(s, "const char *", "at", sum(c, reg(c, "x.base"), bytes_of(c, offset(c, free, k))));
    const Expr *q = stmt_unrolled(s, "q", 0, c->bpe / part);
    const Expr *byte = expr_add(pool, expr_mul_i(pool, e, c->bpe), expr_mul_i(pool, q, part));
    const Value *v = value_cast(
        s, "@u32", value_load(s, access_at(SPACE_GLOBAL, type[part], part, at, expr_mul_i(pool, q, part))));
    const Expr *bits = expr_mul_i(pool, expr_mod_i(pool, byte, 4), 8);
    stmt_update(s, VALUE_OR, value_at(s, w, expr_div_i(pool, byte, 4)),
                value_op(s, VALUE_SHL, v, value_expr(s, bits)));
    stmt_end(s);
    stmt_end(s);
    stmt_end(s);
    Access to = piece_to_stage(c, i, c->cw);
    to.guard = piece_in_tile(c, i);
    stmt_store(s, to, w);
    stmt_end(s);
    stmt_end(s);
}

void ring_gather_put(const RingCopy *c)
{
    state(c);
    begin(c);
    if (c->via_registers) {
        ring_store_words_put(c);
        loads(c, false);
        loads(c, true);
    } else {
        copies(c, false);
        copies(c, true);
    }
    elements(c);
}
