/* Copy module "register": global memory to registers to local memory, on any target.
 *
 * A thread's loads have 32-bit offsets from one uniform pointer per operand, which moves along K, so that the
 * loop has no vector arithmetic for addresses. A vector that straddles M or N is shifted back to end at the
 * edge (GpuOperand.shift); loads past the edge read the last row or column again. copy_tail handles all other
 * cases: it loads element by element with 64-bit addresses. */
#include "kernel/gpu/copy.h"

static Err register_plan(GpuPlan *p)
{
    (void)p;
    return ERR_OK;
}

int copy_loads(const GpuOperand *x) { return x->nlc * x->nlp; }

/* ---- names ---- */

const char *copy_name(Stmts *s, const char *before, const GpuOperand *x, const char *behind)
{
    return stmts_name(s, "%s%c%s", before, x->name, behind);
}

/* Members of @Tile t of the operand. */
static const Value *tensor(Stmts *s, const GpuOperand *x)
{
    return gpu_operand_start(s, gpu_operand_index(x));
}
static const Expr *side(Stmts *s, const GpuOperand *x) { return gpu_side(s, gpu_operand_index(x)); }
static const Expr *origin(Stmts *s, const GpuOperand *x) { return gpu_origin(s, gpu_operand_index(x)); }
static const Expr *leading(Stmts *s, const GpuOperand *x) { return gpu_leading(s, gpu_operand_index(x)); }

static const Expr *least(ExprPool *pool, const Expr *x, const Expr *y)
{
    return expr_op(pool, EXPR_MIN, x, y);
}

static const Expr *below(ExprPool *pool, const Expr *x, int64_t n)
{
    return expr_op(pool, EXPR_LT, x, expr_const(pool, n));
}

/* Returns the registers of load i. */
const Value *copy_data(Stmts *s, const GpuOperand *x, const Value *set, const Expr *i)
{
    const Value *sets = value_reg(s, copy_name(s, "c.", x, "_data"));
    return value_at(s, value_at(s, sets, set->expr), i);
}

const Value *copy_set(Stmts *s) { return value_expr(s, gpu_counter(&s->pool, "set", 0, GPU_SETS_MAX)); }

/* ---- places ---- */

static void state(const GpuPlan *p, Stmts *s)
{
    stmt_struct(s, "@Copy", 0);
    for (int i = 0; i < 2; i++) {
        const GpuOperand *x = &p->op[i];
        stmt_var(s, "const char *", x->name == 'a' ? "a" : "b", NULL);
        stmt_array(s, "unsigned", copy_name(s, "off_", x, ""), DIMS(copy_loads(x)));
        stmt_var(s, "unsigned", copy_name(s, "along_", x, ""), NULL);
        stmt_var(s, "unsigned", copy_name(s, "across_", x, ""), NULL);
        stmt_array(s, stmts_name(s, "@VP%d", x->width * p->in.parts), copy_name(s, "", x, "_data"),
                   DIMS(p->n_sets, copy_loads(x)));
    }
    stmt_end(s);
    stmt_gap(s);
}

/* FractionalLoad: some loads of some threads are outside the tile. */
static const Expr *in_tile(ExprPool *pool, const GpuPlan *p, const GpuOperand *x, GpuPlace at)
{
    return expr_op(pool, EXPR_BOTH, below(pool, at.along, x->tlu ? x->tile : p->depth_u),
                   below(pool, at.across, x->tlu ? p->depth_u : x->tile));
}

/* The position of the thread's load 0, which copy_init has stored. */
GpuPlace copy_kept_place(Stmts *s, const GpuPlan *p, const GpuOperand *x)
{
    GpuPlace at = gpu_load_place(&s->pool, p, x);
    at.along = expr_kept(&s->pool, copy_name(s, "c.along_", x, ""), at.along);
    at.across = expr_kept(&s->pool, copy_name(s, "c.across_", x, ""), at.across);
    stmt_known(s, at.along);
    stmt_known(s, at.across);
    return at;
}

/* Returns the position of element e of load i. */
GpuPlace copy_load_place(ExprPool *pool, const GpuOperand *x, GpuPlace first, const Expr *i, const Expr *e)
{
    const Expr *along = expr_mul_i(pool, expr_mod_i(pool, i, x->nlc), x->lsc),
               *across = expr_mul_i(pool, expr_div_i(pool, i, x->nlc), x->lsp);
    along = expr_add(pool, expr_add(pool, first.along, along), e);
    return (GpuPlace){along, expr_add(pool, first.across, across)};
}

/* The same, declared as along and across. */
static GpuPlace let_place(Stmts *s, const GpuOperand *x, GpuPlace first, const Expr *i, const Expr *e)
{
    GpuPlace at = copy_load_place(&s->pool, x, first, i, e);
    return (GpuPlace){stmt_let(s, "along", at.along), stmt_let(s, "across", at.across)};
}

/* ---- global memory to registers ---- */

/* Moves the pointer to the tile's first element that is read. Returns that element's row or column, and the
 * last one that a load may begin with, counted from there. */
static const Expr *init_pointer(const GpuPlan *p, Stmts *s, const GpuOperand *x, const Expr **last)
{
    ExprPool *pool = &s->pool;
    const int bytes = gpu_type_bytes(&x->type);
    const Expr *zero = expr_const(pool, 0), *from = zero, *first = origin(s, x);
    if (x->tlu) {
        *last = stmt_let(s, "last", expr_u31(pool, expr_add_i(pool, side(s, x), -x->width)));
        from = first = stmt_let(s, "from", least(pool, first, *last));
    } else {
        const Expr *most = expr_u31(pool, expr_add_i(pool, side(s, x), -1));
        *last = stmt_let(s, "last", expr_u31(pool, expr_sub(pool, most, first)));
    }
    const Expr *at = gpu_operand_address(pool, p, x, first, zero, leading(s, x));
    const Value *moved =
        value_op(s, VALUE_MUL, value_cast(s, "unsigned long long", value_expr(s, at)), value_int(s, bytes));
    stmt_set(s, value_reg(s, copy_name(s, "c.", x, "")), value_op(s, VALUE_ADD, tensor(s, x), moved));
    return from;
}

/* Returns the byte offset of a load from the pointer. copy_slow has checked that it fits in 32 bits. */
static const Expr *load_offset(const GpuPlan *p, Stmts *s, const GpuOperand *x, GpuPlace at, const Expr *from,
                               const Expr *last)
{
    ExprPool *pool = &s->pool;
    const Expr *ld = expr_var(pool, "ld", 0, 0, UINT32_MAX), *zero = expr_const(pool, 0);
    const Expr *first = x->tlu ? expr_add(pool, origin(s, x), at.along) : at.across;
    const Expr *free = stmt_let(s, "free", least(pool, first, last)), *k = x->tlu ? at.across : at.along;
    if (x->tlu) free = expr_u31(pool, expr_sub(pool, free, from));
    /* each of both coordinates' addresses needs no more than 32 bits */
    const Expr *of_free = expr_u31(pool, gpu_operand_address(pool, p, x, free, zero, ld));
    const Expr *of_k = expr_u31(pool, gpu_operand_address(pool, p, x, zero, k, ld));
    const Expr *at_load = x->tlu ? expr_add(pool, of_k, of_free) : expr_add(pool, of_free, of_k);
    return expr_u31(pool, expr_mul_i(pool, expr_u31(pool, at_load), gpu_type_bytes(&x->type)));
}

static void init_operand(const GpuPlan *p, Stmts *s, const GpuOperand *x)
{
    ExprPool *pool = &s->pool;
    const Expr *last;
    GpuPlace first = gpu_load_place(pool, p, x);
    stmt_set(s, value_reg(s, copy_name(s, "c.along_", x, "")), value_expr(s, first.along));
    stmt_set(s, value_reg(s, copy_name(s, "c.across_", x, "")), value_expr(s, first.across));
    stmt_block(s);
    const Expr *from = init_pointer(p, s, x, &last);
    stmt_define(s, "unsigned", "ld", value_cast(s, "unsigned", value_expr(s, leading(s, x))));
    const Expr *i = stmt_unrolled(s, "i", GPU_I, copy_loads(x));
    GpuPlace at = copy_load_place(pool, x, copy_kept_place(s, p, x), i, expr_const(pool, 0));
    if (x->fractional) { /* a thread without a load reads a valid address */
        at.along = least(pool, at.along, expr_const(pool, (x->tlu ? x->tile : p->depth_u) - x->width));
        at.across = least(pool, at.across, expr_const(pool, (x->tlu ? p->depth_u : x->tile) - 1));
    }
    at = (GpuPlace){stmt_let(s, "along", at.along), stmt_let(s, "across", at.across)};
    const Value *offset = value_at(s, value_reg(s, copy_name(s, "c.off_", x, "")), i);
    stmt_set(s, offset, value_expr(s, load_offset(p, s, x, at, from, last)));
    stmt_end(s);
    stmt_end(s);
}

static void init(const GpuPlan *p, Stmts *s)
{
    stmt_function(s, (Function){.name = "@copy_init",
                                STMT_PARAMS({"@Copy &", "c"}, {"const @Tile &", "t"}, {"unsigned", "tid"})});
    for (int i = 0; i < 2; i++) init_operand(p, s, &p->op[i]);
    stmt_end(s);
    stmt_gap(s);
    stmt_function(s, (Function){.name = "@copy_move",
                                STMT_PARAMS({"@Copy &", "c"}, {"const @Tile &", NULL}, {"long long", "a"},
                                            {"long long", "b"})});
    stmt_update(s, VALUE_ADD, value_reg(s, "c.a"), value_reg(s, "a"));
    stmt_update(s, VALUE_ADD, value_reg(s, "c.b"), value_reg(s, "b"));
    stmt_end(s);
    stmt_gap(s);
}

static void load(const GpuPlan *p, Stmts *s)
{
    stmt_function(
        s, (Function){.name = "@copy_load", STMT_PARAMS({"@Copy &", "c"}, {"int", "set"}, {"char *", NULL})});
    for (int n = 0; n < 2; n++) {
        const GpuOperand *x = &p->op[n];
        const Expr *i = stmt_unrolled(s, "i", GPU_I, copy_loads(x));
        Access from = access_at(SPACE_GLOBAL, stmts_name(s, "@VP%du", x->width * p->in.parts),
                                x->width * gpu_type_bytes(&p->in), value_reg(s, copy_name(s, "c.", x, "")),
                                gpu_size(s, copy_name(s, "c.off_", x, "[i]")));
        from.hint = x->hint;
        stmt_set(s, copy_data(s, x, copy_set(s), i), value_load(s, from));
        stmt_end(s);
    }
    stmt_end(s);
    stmt_gap(s);
}

/* ---- registers to local memory ---- */

/* Returns whether a load's vector is also contiguous in local memory, and aligned to its size. */
static bool is_vector(ExprPool *pool, const GpuOperand *x, GpuPlace at)
{
    const Layout *l = &x->layout;
    return x->tlu != x->k_major && layout_is_run(pool, l, at.across, at.along, x->width) &&
           layout_at(pool, l, at.across, at.along)->factor % (x->width * l->bytes) == 0;
}

bool gpu_register_writes(const GpuPlan *p, const GpuOperand *x, int i, ExprPool *pool, GpuAccess *a)
{
    bool vector = x->tlu != x->k_major;
    int bytes = vector ? x->width * x->layout.bytes : x->layout.bytes;
    if (i >= (vector ? 1 : x->width)) return false;
    GpuPlace at = gpu_load_place(pool, p, x);
    at.along = expr_add_i(pool, at.along, vector ? 0 : i);
    a->k = x->tlu ? at.across : at.along, a->free = x->tlu ? at.along : at.across;
    a->bytes = bytes < 16 ? bytes : 16;
    a->n_threads = p->n_threads / x->n_waves;
    return true;
}

/* Fp16AltImpl: converts the loaded f16 elements to bf16. */
static void convert(Stmts *s, const GpuOperand *x)
{
    const Expr *i = stmt_unrolled(s, "i", GPU_I, copy_loads(x)), *e = stmt_unrolled(s, "e", GPU_E, x->width);
    const Value *element = value_at(s, copy_data(s, x, copy_set(s), i), e);
    stmt_set(s, element, value_call(s, "@to_bf16", element));
    stmt_end(s);
    stmt_end(s);
}

/* Returns the local memory address of a position in the operand's tile. */
Access copy_local_at(Stmts *s, const GpuOperand *x, const char *type, int bytes, GpuPlace at)
{
    const Expr *offset = expr_add_i(&s->pool, gpu_lds_place(&s->pool, x, at), x->lds_offset);
    return access_at(SPACE_LOCAL, type, bytes, value_reg(s, "stage"), offset);
}

/* Writes the registers of one operand to local memory, as vectors where the same dimension is contiguous
 * there. */
static void store_operand(const GpuPlan *p, Stmts *s, const GpuOperand *x)
{
    ExprPool *pool = &s->pool;
    const int parts = p->in.parts, bytes = gpu_type_bytes(&p->in);
    if (p->to_bf16) convert(s, x);
    const Expr *i = stmt_unrolled(s, "i", GPU_I, copy_loads(x));
    GpuPlace at = let_place(s, x, copy_kept_place(s, p, x), i, expr_const(pool, 0));
    const Value *data = copy_data(s, x, copy_set(s), i);
    if (x->fractional) stmt_if_expr(s, in_tile(pool, p, x, at));
    if (is_vector(pool, x, at)) {
        const char *type = stmts_name(s, "@VP%d", x->width * parts);
        stmt_store(s, copy_local_at(s, x, type, x->width * bytes, at), data);
    } else {
        const Expr *e = stmt_unrolled(s, "e", GPU_E, x->width);
        at.along = expr_add(pool, at.along, e);
        const Value *to = stmt_define(s, "@P *", "to", value_place(s, copy_local_at(s, x, "@P", bytes, at)));
        const Expr *q = stmt_unrolled(s, "q", GPU_Q, parts);
        const Expr *part = expr_add(pool, expr_mul_i(pool, e, parts), q);
        stmt_store(s, access_element(SPACE_LOCAL, "@P", p->in.part_bytes, to, q), value_at(s, data, part));
        stmt_end(s);
        stmt_end(s);
    }
    if (x->fractional) stmt_end(s);
    stmt_end(s);
}

static void copy_store(const GpuPlan *p, Stmts *s)
{
    stmt_function(s, (Function){.name = "@copy_store",
                                STMT_PARAMS({"@Copy &", "c"}, {"int", "set"}, {"char *", "stage"})});
    for (int i = 0; i < 2; i++) store_operand(p, s, &p->op[i]);
    stmt_end(s);
    stmt_gap(s);
    stmt_function(s, (Function){.name = "@copy_wait", STMT_PARAMS({"int", NULL})});
    stmt_end(s);
    stmt_gap(s);
    if (p->n_sets == 1 || gpu_chunk_parts(p) > 1) return;
    stmt_function(s, (Function){.name = "@copy_shift", STMT_PARAMS({"@Copy &", "c"})});
    for (int n = 0; n < 2; n++) {
        const Expr *i = stmt_unrolled(s, "i", GPU_I, copy_loads(&p->op[n]));
        stmt_set(s, copy_data(s, &p->op[n], value_int(s, 0), i), copy_data(s, &p->op[n], value_int(s, 1), i));
        stmt_end(s);
    }
    stmt_end(s);
    stmt_gap(s);
}

/* ---- what the fast functions cannot do ---- */

void copy_slow_if(Stmts *s, const Value *condition)
{
    stmt_update(s, VALUE_OR, value_reg(s, "slow"), condition);
}

/* Finds misaligned vectors, on targets whose vector loads must be aligned. */
static void slow_alignment(Stmts *s, const GpuOperand *x)
{
    ExprPool *pool = &s->pool;
    const int bytes = gpu_type_bytes(&x->type);
    const Value *address = value_cast(s, "unsigned long long", tensor(s, x));
    const Value *step = value_expr(s, expr_mul_i(pool, leading(s, x), bytes));
    const Value *bits = value_op(s, VALUE_OR, address, step);
    bits = value_op(s, VALUE_AND, bits, value_int(s, x->width * bytes - 1));
    copy_slow_if(s, value_op(s, VALUE_NE, bits, value_int(s, 0)));
    if (x->shift < 2) return;
    const Expr *end = expr_add_i(pool, origin(s, x), x->tile);
    const Value *hangs = value_op(s, VALUE_GT, value_expr(s, end), value_expr(s, side(s, x)));
    const Value *odd = value_expr(s, expr_mod_i(pool, side(s, x), x->width));
    copy_slow_if(s, value_op(s, VALUE_BOTH, hangs, value_op(s, VALUE_NE, odd, value_int(s, 0))));
}

void gpu_slow_vectors(const GpuPlan *p, Stmts *s, const GpuOperand *x)
{
    if (x->tlu && x->width > 1)
        copy_slow_if(s, value_op(s, VALUE_LT, value_expr(s, side(s, x)), value_int(s, x->width)));
    if (p->dialect->aligned_loads && x->width * gpu_type_bytes(&x->type) > p->in.part_bytes)
        slow_alignment(s, x);
}

/* Prints copy_slow: M or N below a vector, offsets over 32 bits, or misaligned vectors. */
static void slow(const GpuPlan *p, Stmts *s)
{
    stmt_function(s, (Function){.result = "int", .name = "@copy_slow", STMT_PARAMS({"const @Tile &", "t"})});
    stmt_var(s, "int", "slow", value_int(s, 0));
    for (int i = 0; i < 2; i++) {
        const GpuOperand *x = &p->op[i];
        const int bytes = gpu_type_bytes(&x->type), lines = x->tlu ? p->depth_u : x->tile;
        const int64_t most = ((int64_t)UINT32_MAX / bytes - (x->tile + p->depth_u)) / lines;
        if (x->tlu && x->width > 1)
            copy_slow_if(s, value_op(s, VALUE_LT, value_expr(s, side(s, x)), value_int(s, x->width)));
        copy_slow_if(s, value_op(s, VALUE_GT, value_expr(s, leading(s, x)), value_int(s, most)));
        if (p->dialect->aligned_loads && x->width * bytes > p->in.part_bytes) slow_alignment(s, x);
    }
    stmt_return(s, value_reg(s, "slow"));
    stmt_end(s);
    stmt_gap(s);
}

GpuPlace copy_tail_open(const GpuPlan *p, Stmts *s, const GpuOperand *x)
{
    ExprPool *pool = &s->pool;
    const int elements = copy_loads(x) * x->width;
    stmt_block(s);
    GpuPlace first = gpu_load_place(pool, p, x);
    first.along = stmt_let(s, "along_0", first.along);
    first.across = stmt_let(s, "across_0", first.across);
    stmt_loop(s, (Loop){.var = "i",
                        .type = "unsigned",
                        .start = expr_const(pool, 0),
                        .limit = expr_const(pool, elements),
                        .unroll = UNROLL_NONE});
    const Expr *number = gpu_counter(pool, "i", GPU_I, elements);
    const GpuPlace at =
        let_place(s, x, first, expr_div_i(pool, number, x->width), expr_mod_i(pool, number, x->width));
    if (x->fractional) {
        stmt_if(s, value_op(s, VALUE_NOT, value_expr(s, in_tile(pool, p, x, at)), NULL));
        stmt_next(s);
        stmt_end(s);
    }
    return at;
}

/* Prints copy_tail: element by element, with 64-bit addresses, and zeros past K. */
static void tail_operand(const GpuPlan *p, Stmts *s, const GpuOperand *x)
{
    ExprPool *pool = &s->pool;
    const GpuPlace at = copy_tail_open(p, s, x);
    const Expr *k0 = expr_var(pool, "k0", 0, 0, UINT32_MAX), *free = gpu_stride(s, "free");
    const Expr *k = stmt_let(s, "k", expr_add(pool, k0, x->tlu ? at.across : at.along));
    stmt_define(s, "unsigned long long", "free",
                gpu_near(s, gpu_operand_index(x), value_reg(s, "t"), x->tlu ? at.along : at.across));
    const Expr *element = gpu_operand_address(pool, p, x, free, k, leading(s, x));
    const Value *start = value_cast(s, "const @P *", tensor(s, x));
    const Value *moved = value_expr(s, expr_mul_i(pool, element, p->in.parts));
    const Value *from = stmt_define(s, "const @P *", "from", value_op(s, VALUE_ADD, start, moved));
    const Value *to =
        stmt_define(s, "@P *", "to", value_place(s, copy_local_at(s, x, "@P", gpu_type_bytes(&p->in), at)));
    const Expr *q = stmt_unrolled(s, "q", GPU_Q, p->in.parts),
               *in_k = expr_op(pool, EXPR_LT, k, gpu_size(s, "t.k"));
    Access element_at = access_element(SPACE_GLOBAL, "@P", p->in.part_bytes, from, q);
    if (!p->to_bf16) element_at.guard = in_k;
    const Value *loaded = value_load(s, element_at), *zero = value_cast(s, "@P", value_int(s, 0));
    if (p->to_bf16) loaded = value_select(s, value_expr(s, in_k), value_call(s, "@to_bf16", loaded), zero);
    stmt_store(s, access_element(SPACE_LOCAL, "@P", p->in.part_bytes, to, q), loaded);
    stmt_end(s);
    stmt_end(s);
    stmt_end(s);
}

static void copy_tail(const GpuPlan *p, Stmts *s, CopyTail *operand)
{
    stmt_function(s, (Function){.name = "@copy_tail",
                                STMT_PARAMS({"const @Tile &", "t"}, {"unsigned", "tid"}, {"char *", "stage"},
                                            {"unsigned", "k0"})});
    for (int i = 0; i < 2; i++)
        if (!p->op[i].in_registers) operand(p, s, &p->op[i]);
    stmt_end(s);
    stmt_gap(s);
}

void gpu_copy_tail(const GpuPlan *p, Buf *out)
{
    Stmts s;
    stmts_init(&s, GPU_STMTS_BYTES);
    copy_tail(p, &s, tail_operand);
    gpu_put(p, &s, out);
}

void copy_emit(const GpuPlan *p, const CopyPieces *x, Buf *out)
{
    Stmts s;
    stmts_init(&s, GPU_STMTS_BYTES);
    gpu_heading(&s, x->heading);
    if (x->file) stmt_file(&s, x->file);
    x->state(p, &s);
    x->init(p, &s);
    x->load(p, &s);
    copy_store(p, &s);
    x->slow(p, &s);
    copy_tail(p, &s, x->tail);
    gpu_put(p, &s, out);
}

static void register_emit(const GpuPlan *p, Buf *out)
{
    static const CopyPieces pieces = {.heading = "---- copy: global memory, registers, local memory ----",
                                      .state = state,
                                      .init = init,
                                      .load = load,
                                      .slow = slow,
                                      .tail = tail_operand};
    copy_emit(p, &pieces, out);
}

const GpuCopy gpu_copy_register = {.name = "register", .plan = register_plan, .emit = register_emit};
