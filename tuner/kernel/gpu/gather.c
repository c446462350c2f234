/* Copy module "gather": contractions that are no GEMM (kernel/contract.h), from global memory to registers to
 * local memory.
 *
 * A thread takes the free index of each of its elements apart once and keeps the offset and the positions
 * along the zero pads; a chunk's elements of K are taken apart in each load, one for all elements that share
 * it. Elements in a zero padding are 0. Rows and columns behind the edge read the last one again.
 *
 * Loads are of one element each, or of vectors where the dimension along which they lie has an index that is
 * the first one of the tensor and has no padding (channels of NHWC). Its size must then be a multiple of the
 * vector, else copy_slow says so. */
#include "kernel/contract.h"
#include "kernel/gpu/gather.h"
#include "kernel/gpu/copy.h"

static ContractNames dims_in(Stmts *s, const char *dims) { return (ContractNames){s, dims}; }

/* ---- sizes and strides in the text ---- */

void gpu_dims_struct(const GpuPlan *p, Stmts *s)
{
    ContractArg arg[CONTRACT_ARGS_MAX];
    const int n = contract_args(p->indices, p->gsu > 1, arg);
    stmt_struct(s, "@Dims", 0);
    for (int i = 0; i < n; i++)
        if (!arg[i].is_unused)
            stmt_var(s,
                     arg[i].is_signed   ? "int"
                     : arg[i].is_stride ? "unsigned long long"
                                        : "unsigned",
                     arg[i].name, NULL);
    stmt_end(s);
    stmt_gap(s);
}

void gpu_dims_set(const GpuPlan *p, Stmts *s, const char *to)
{
    ContractArg arg[CONTRACT_ARGS_MAX];
    const int n = contract_args(p->indices, p->gsu > 1, arg);
    for (int i = 0; i < n; i++)
        if (!arg[i].is_unused)
            stmt_set(s, value_named(s, "%s%s", to, arg[i].name), value_named(s, "%s", arg[i].name));
}

void gpu_dims_sizes(const GpuPlan *p, Stmts *s)
{
    static const char *const name[INDICES_GROUPS] = {"size_m", "size_n", "size_batch", "size_k"};
    const ContractNames names = dims_in(s, "");
    const bool keeps = p->ring.window_bytes; /* rows of all groups are counted through */
    for (int g = 0; g < INDICES_GROUPS; g++) {
        const Expr *size = contract_size(p->indices, (IndexGroup)g, &names);
        if (keeps && g == INDICES_M)
            size = expr_mul(&s->pool, size, contract_size(p->indices, INDICES_BATCH, &names));
        if (keeps && g == INDICES_BATCH) size = expr_const(&s->pool, 1);
        stmt_define(s, "unsigned", name[g], value_cast(s, "unsigned", value_expr(s, size)));
    }
}

const Expr *gpu_dims_offset(const GpuPlan *p, Stmts *s, int tensor, const char *dims, const Expr *row,
                            const Expr *column)
{
    const ContractNames names = dims_in(s, dims);
    const Expr *const coord[CONTRACT_COORDS] = {row, column, expr_const(&s->pool, 0)};
    return contract_offset(p->indices, tensor, &names, coord);
}

const Expr *gpu_dims_matrix(const GpuPlan *p, Stmts *s, int tensor)
{
    const ContractNames names = dims_in(s, p->ring.used ? "dims." : "t.x.");
    const Expr *zero = expr_const(&s->pool, 0);
    const Expr *const coord[CONTRACT_COORDS] = {zero, zero, expr_var(&s->pool, "wg2", 0, 0, UINT32_MAX)};
    return contract_address(p->indices, tensor, &names, coord);
}

/* ---- the state of the copies ---- */

/* The operand's free dimension or K as a coordinate of its view. */
static int coord_of(const GpuOperand *x, bool free)
{
    return (gpu_operand_index(x) == 0) == free ? CONTRACT_ROW : CONTRACT_COLUMN;
}

/* Are loads vectors? */
static bool is_wide(const GpuPlan *p, const GpuOperand *x)
{
    return x->width > 1 && contract_runs(p->indices, gpu_operand_index(x), coord_of(x, x->tlu));
}

/* Free indices of an operand that a thread has, in each load and in all. */
static int free_of_load(const GpuPlan *p, const GpuOperand *x)
{
    return x->tlu && !is_wide(p, x) ? x->width : 1;
}
static int free_places(const GpuPlan *p, const GpuOperand *x) { return copy_loads(x) * free_of_load(p, x); }

static Err gather_plan(GpuPlan *p)
{
    for (int i = 0; i < 2; i++) p->op[i].shift = 1;
    return ERR_OK;
}

static int n_pads(const GpuPlan *p, const GpuOperand *x) { return p->indices->n_pads[gpu_operand_index(x)]; }

static const IndexList *sums_of(const GpuPlan *p) { return &p->indices->group[INDICES_K]; }

static const Value *tensor(Stmts *s, const char *tile, const GpuOperand *x)
{
    return value_named(s, "%s%c", tile, x->name);
}

/* A field of @Copy that the operand has. */
static const Value *field(Stmts *s, const char *name, const GpuOperand *x)
{
    return value_reg(s, copy_name(s, stmts_name(s, "c.%s", name), x, ""));
}

static void state(const GpuPlan *p, Stmts *s)
{
    stmt_struct(s, "@Copy", 0);
    stmt_var(s, "@Tile", "t", NULL);
    if (sums_of(p)->n > 1) stmt_array(s, "unsigned", "magic", DIMS(sums_of(p)->n - 1));
    for (int i = 0; i < 2; i++) {
        const GpuOperand *x = &p->op[i];
        stmt_var(s, "unsigned", copy_name(s, "k_", x, ""), NULL);
        stmt_var(s, "unsigned", copy_name(s, "along_", x, ""), NULL);
        stmt_var(s, "unsigned", copy_name(s, "across_", x, ""), NULL);
        stmt_array(s, "unsigned long long", copy_name(s, "at_", x, ""), DIMS(free_places(p, x)));
        if (n_pads(p, x)) {
            stmt_array(s, "unsigned", copy_name(s, "place_", x, ""), DIMS(free_places(p, x), n_pads(p, x)));
            stmt_array(s, "unsigned", copy_name(s, "edge_", x, ""), DIMS(n_pads(p, x)));
        }
        stmt_array(s, stmts_name(s, "@VP%d", x->width * p->in.parts), copy_name(s, "", x, "_data"),
                   DIMS(p->n_sets, copy_loads(x)));
    }
    stmt_end(s);
    stmt_gap(s);
}

/* Elements from the operand's coordinates 0 to a free index and an element of K. */
static const Expr *offset(const GpuPlan *p, Stmts *s, const GpuOperand *x, const char *dims, const Expr *free,
                          const Expr *k)
{
    const bool b = gpu_operand_index(x);
    return gpu_dims_offset(p, s, b, dims, b ? k : free, b ? free : k);
}

static const Expr *inside(const GpuPlan *p, Stmts *s, const GpuOperand *x, const char *dims, const Expr *free,
                          const Expr *k)
{
    const bool b = gpu_operand_index(x);
    const ContractNames names = dims_in(s, dims);
    return contract_inside(p->indices, b, &names, b ? k : free, b ? free : k);
}

static const Expr *index_of(Stmts *s, const char *name) { return expr_var(&s->pool, name, 0, 0, UINT32_MAX); }

/* ---- the start ---- */

/* The row or column of A or B that a position of the tile reads. */
static void define_free(Stmts *s, const GpuOperand *x, const char *tile, const Expr *position)
{
    stmt_define(s, "unsigned", "free", gpu_near(s, gpu_operand_index(x), value_reg(s, tile), position));
}

/* The first of a vector of rows or columns; behind the edge the last vector's. */
static void define_vector(Stmts *s, const GpuOperand *x, const Expr *position)
{
    ExprPool *pool = &s->pool;
    const bool b = gpu_operand_index(x);
    const Expr *last = expr_u32(pool, expr_add_i(pool, gpu_side(s, b), -x->width));
    const Expr *at = expr_u32(pool, expr_add(pool, gpu_origin(s, b), position));
    stmt_define(s, "unsigned", "free", value_expr(s, expr_op(pool, EXPR_MIN, at, last)));
}

/* What a thread keeps of the free index `free`: its offset, and its positions along the pads, counted from
 * the tensor's begin. Positions are below 2^31 (copy_slow). */
static void keep_free(const GpuPlan *p, Stmts *s, const GpuOperand *x, const Expr *number)
{
    ExprPool *pool = &s->pool;
    const int t = gpu_operand_index(x);
    const ContractNames names = dims_in(s, "t.x.");
    const Expr *free = index_of(s, "free");
    stmt_set(s, value_at(s, field(s, "at_", x), number),
             value_expr(s, offset(p, s, x, "t.x.", free, expr_const(pool, 0))));
    for (int i = 0; i < n_pads(p, x); i++) {
        const Expr *place = contract_pad_position(p->indices, t, &names, i, coord_of(x, true), free);
        place = expr_sub(pool, place, contract_pad_start(p->indices, t, &names, i));
        stmt_set(s, value_at_i(s, value_at(s, field(s, "place_", x), number), i),
                 value_cast(s, "unsigned", value_expr(s, place)));
    }
}

static void init_operand(const GpuPlan *p, Stmts *s, const GpuOperand *x)
{
    ExprPool *pool = &s->pool;
    const GpuPlace first = gpu_load_place(pool, p, x);
    const int each = free_of_load(p, x), t = gpu_operand_index(x);
    const ContractNames names = dims_in(s, "t.x.");
    const bool vector = x->tlu && is_wide(p, x);
    stmt_set(s, field(s, "k_", x), value_int(s, 0));
    stmt_set(s, field(s, "along_", x), value_expr(s, first.along));
    stmt_set(s, field(s, "across_", x), value_expr(s, first.across));
    for (int i = 0; i < n_pads(p, x); i++) {
        const Expr *edge = contract_pad_edge(p->indices, t, &names, i);
        const Expr *start = contract_pad_start(p->indices, t, &names, i);
        const Value *length = value_expr(s, expr_sub(pool, edge, start));
        const Value *any =
            value_op(s, VALUE_LT, value_expr(s, start), value_cast(s, "long long", value_expr(s, edge)));
        stmt_set(s, value_at_i(s, field(s, "edge_", x), i),
                 value_select(s, any, value_cast(s, "unsigned", length), value_int(s, 0)));
    }
    const Expr *i = stmt_unrolled(s, "i", GPU_I, copy_loads(x)), *e = stmt_unrolled(s, "e", GPU_E, each);
    const GpuPlace at = copy_load_place(pool, x, copy_kept_place(s, p, x), i, e);
    const Expr *position = x->tlu ? at.along : at.across;
    if (x->fractional)
        position = expr_op(pool, EXPR_MIN, position, expr_const(pool, x->tile - (vector ? x->width : 1)));
    if (vector)
        define_vector(s, x, position);
    else
        define_free(s, x, "t", position);
    keep_free(p, s, x, expr_add(pool, expr_mul_i(pool, i, each), e));
    stmt_end(s);
    stmt_end(s);
}

static void init(const GpuPlan *p, Stmts *s)
{
    const ContractNames names = dims_in(s, "t.x.");
    stmt_function(s, (Function){.name = "@copy_init",
                                STMT_PARAMS({"@Copy &", "c"}, {"const @Tile &", "t"}, {"unsigned", "tid"})});
    stmt_set(s, value_reg(s, "c.t"), value_reg(s, "t"));
    for (int32_t i = 0; i + 1 < sums_of(p)->n; i++) {
        const Value *size = value_expr(s, contract_extent(&names, sums_of(p)->v[i]));
        stmt_set(s, value_named(s, "c.magic[%d]", i),
                 value_op(s, VALUE_DIV, value_literal(s, "0xffffffffu"), size));
    }
    for (int i = 0; i < 2; i++) init_operand(p, s, &p->op[i]);
    stmt_end(s);
    stmt_gap(s);
    stmt_comment(s, "a, b: elements of K");
    stmt_function(s, (Function){.name = "@copy_move",
                                STMT_PARAMS({"@Copy &", "c"}, {"const @Tile &", NULL}, {"long long", "a"},
                                            {"long long", "b"})});
    for (int i = 0; i < 2; i++)
        stmt_update(s, VALUE_ADD, value_named(s, "c.k_%c", "ab"[i]),
                    value_cast(s, "unsigned", value_reg(s, i ? "b" : "a")));
    stmt_end(s);
    stmt_gap(s);
}

/* ---- loads ---- */

/* The element of the operand at element `at` from `base`; 0 where guard is not met. NULL: no guard. */
static const Value *element(const GpuPlan *p, Stmts *s, const Value *base, const Expr *at, const Expr *q,
                            const Expr *guard)
{
    const Value *start = value_cast(s, "const @P *", base);
    const Value *from = value_op(s, VALUE_ADD, start, value_expr(s, expr_mul_i(&s->pool, at, p->in.parts)));
    Access access = access_element(SPACE_GLOBAL, "@P", p->in.part_bytes, from, q);
    access.guard = guard && !expr_is(guard, 1) ? guard : NULL;
    return value_load(s, access);
}

/* Declares the digits k_0, k_1, .. of the element k of K. */
static void define_digits(const GpuPlan *p, Stmts *s, const Expr *k, const Expr *digit[INDEX_MAX])
{
    const ContractNames names = dims_in(s, "c.t.x.");
    const int32_t n = sums_of(p)->n;
    const Value *rest = value_expr(s, k);
    for (int32_t i = 0; i < n; i++) {
        const char *name = stmts_name(s, "k_%d", i);
        digit[i] = index_of(s, name);
        if (i + 1 == n) {
            stmt_define(s, "unsigned", name, rest);
            return;
        }
        stmt_var(s, "unsigned", name, NULL);
        rest = stmt_define(s, "unsigned", stmts_name(s, "rest_%d", i),
                           value_call(s, "@divide", rest,
                                      value_expr(s, contract_extent(&names, sums_of(p)->v[i])),
                                      value_named(s, "c.magic[%d]", i), value_reg(s, name)));
    }
}

/* Declares where the place `number` is along each pad at the element of K; all of them inside: the guard. */
static const Expr *define_guard(const GpuPlan *p, Stmts *s, const GpuOperand *x, const Expr *number,
                                const Expr *const digit[INDEX_MAX])
{
    ExprPool *pool = &s->pool;
    const ContractNames names = dims_in(s, "c.t.x.");
    const Expr *all = expr_const(pool, 1);
    for (int i = 0; i < n_pads(p, x); i++) {
        const char *here = stmts_name(s, "here_%d", i),
                   *edge = copy_name(s, "c.edge_", x, stmts_name(s, "[%d]", i));
        const Expr *place =
            contract_digits_position(p->indices, gpu_operand_index(x), &names, i, INDICES_K, digit);
        stmt_define(s, "unsigned", here,
                    value_op(s, VALUE_ADD, value_at_i(s, value_at(s, field(s, "place_", x), number), i),
                             value_cast(s, "unsigned", value_expr(s, place))));
        all = expr_op(pool, EXPR_BOTH, all, expr_op(pool, EXPR_LT, index_of(s, here), index_of(s, edge)));
    }
    return all;
}

/* The element of K that a load's element reads; a thread without a load reads a valid one. */
static const Expr *element_of_k(const GpuPlan *p, Stmts *s, const GpuOperand *x, GpuPlace at)
{
    ExprPool *pool = &s->pool;
    const Expr *from = index_of(s, copy_name(s, "c.k_", x, ""));
    const Expr *k = expr_add(pool, from, x->tlu ? at.across : at.along);
    const int last = p->depth_u - (is_wide(p, x) && !x->tlu ? x->width : 1);
    if (x->fractional) k = expr_op(pool, EXPR_MIN, k, expr_add_i(pool, from, last));
    return stmt_let(s, "k", expr_u32(pool, k));
}

/* Loads element e, or the whole vector, of load i from element `at` on. */
static void load_at(const GpuPlan *p, Stmts *s, const GpuOperand *x, const Expr *i, const Expr *e,
                    const Expr *guard)
{
    ExprPool *pool = &s->pool;
    const Value *base = tensor(s, "c.t.", x), *data = copy_data(s, x, copy_set(s), i);
    if (!is_wide(p, x)) {
        const Expr *q = stmt_unrolled(s, "q", GPU_Q, p->in.parts);
        const Expr *part = expr_add(pool, expr_mul_i(pool, e, p->in.parts), q);
        stmt_set(s, value_at(s, data, part), element(p, s, base, gpu_stride(s, "at"), q, guard));
        stmt_end(s);
        return;
    }
    const int n = x->width * p->in.parts;
    const Value *start = value_cast(s, "const @P *", base);
    const Value *from =
        value_op(s, VALUE_ADD, start, value_expr(s, expr_mul_i(pool, gpu_stride(s, "at"), p->in.parts)));
    Access a =
        access_at(SPACE_GLOBAL, stmts_name(s, "@VP%du", n), x->width * gpu_type_bytes(&p->in), from, NULL);
    a.hint = x->hint;
    if (!expr_is(guard, 1)) {
        const Expr *q = stmt_unrolled(s, "q", GPU_Q, n);
        stmt_set(s, value_at(s, data, q), value_int(s, 0));
        stmt_end(s);
        stmt_if_expr(s, guard);
    }
    stmt_set(s, data, value_load(s, a));
    if (!expr_is(guard, 1)) stmt_end(s);
}

static void load_operand(const GpuPlan *p, Stmts *s, const GpuOperand *x)
{
    ExprPool *pool = &s->pool;
    const ContractNames names = dims_in(s, "c.t.x.");
    const int each = free_of_load(p, x);
    const Expr *i = stmt_unrolled(s, "i", GPU_I, copy_loads(x)),
               *e = stmt_unrolled(s, "e", GPU_E, is_wide(p, x) ? 1 : x->width), *digit[INDEX_MAX];
    const GpuPlace at = copy_load_place(pool, x, copy_kept_place(s, p, x), i, e);
    define_digits(p, s, element_of_k(p, s, x, at), digit);
    const Expr *number = x->tlu ? expr_add(pool, expr_mul_i(pool, i, each), e) : i;
    const Value *kept = value_at(s, field(s, "at_", x), number);
    const Expr *guard = define_guard(p, s, x, number, digit);
    const Value *along =
        value_expr(s, contract_digits_offset(p->indices, gpu_operand_index(x), &names, INDICES_K, digit));
    stmt_define(s, "unsigned long long", "at", value_op(s, VALUE_ADD, kept, along));
    load_at(p, s, x, i, e, guard);
    stmt_end(s);
    stmt_end(s);
}

static void load(const GpuPlan *p, Stmts *s)
{
    stmt_function(
        s, (Function){.name = "@copy_load", STMT_PARAMS({"@Copy &", "c"}, {"int", "set"}, {"char *", NULL})});
    for (int i = 0; i < 2; i++) load_operand(p, s, &p->op[i]);
    stmt_end(s);
    stmt_gap(s);
}

/* ---- what the fast functions cannot do ---- */

/* Vectors: the first stride, whole vectors along its index, and where vectors must be aligned, all other
 * strides and the address. */
static void slow_vectors(const GpuPlan *p, Stmts *s, const GpuOperand *x)
{
    const int t = gpu_operand_index(x), bytes = x->width * gpu_type_bytes(&p->in);
    const ContractNames names = dims_in(s, "t.x.");
    const IndexList *l = &p->indices->tensor[t];
    const Value *bits = value_cast(s, "unsigned long long", tensor(s, "t.", x));
    for (int32_t i = 0; i < l->n; i++) {
        const Expr *stride = contract_index_stride(p->indices, t, &names, l->v[i]);
        const Value *step = value_expr(s, expr_mul_i(&s->pool, stride, gpu_type_bytes(&p->in)));
        if (i == 0 && !expr_is(stride, 1))
            copy_slow_if(s, value_op(s, VALUE_NE, value_expr(s, stride), value_int(s, 1)));
        if (i) bits = value_op(s, VALUE_OR, bits, step);
    }
    const Expr *size = contract_extent(&names, l->v[0]);
    copy_slow_if(s,
                 value_op(s, VALUE_NE, value_expr(s, expr_mod_i(&s->pool, size, x->width)), value_int(s, 0)));
    if (!p->dialect->aligned_loads) return;
    bits = value_op(s, VALUE_AND, bits, value_int(s, bytes - 1));
    copy_slow_if(s, value_op(s, VALUE_NE, bits, value_int(s, 0)));
}

static void slow(const GpuPlan *p, Stmts *s)
{
    const ContractNames names = dims_in(s, "t.x.");
    stmt_function(s, (Function){.result = "int", .name = "@copy_slow", STMT_PARAMS({"const @Tile &", "t"})});
    stmt_var(s, "int", "slow", value_int(s, 0));
    stmt_do(s, value_cast(s, "void", value_reg(s, "t")));
    for (int o = 0; o < 2; o++) {
        const GpuOperand *x = &p->op[o];
        for (int i = 0; i < n_pads(p, x); i++) {
            const Value *edge = value_expr(s, contract_pad_edge(p->indices, o, &names, i));
            copy_slow_if(
                s, value_op(s, VALUE_GT, value_cast(s, "long long", edge), value_literal(s, "0x7fffffffll")));
        }
        if (is_wide(p, x)) slow_vectors(p, s, x);
    }
    stmt_return(s, value_reg(s, "slow"));
    stmt_end(s);
    stmt_gap(s);
}

/* ---- the rest of K ---- */

static void tail_operand(const GpuPlan *p, Stmts *s, const GpuOperand *x)
{
    ExprPool *pool = &s->pool;
    const GpuPlace at = copy_tail_open(p, s, x);
    const Expr *k0 = index_of(s, "k0");
    const Expr *k = stmt_let(s, "k", expr_u32(pool, expr_add(pool, k0, x->tlu ? at.across : at.along)));
    define_free(s, x, "t", x->tlu ? at.along : at.across);
    const Expr *free = index_of(s, "free");
    const Expr *guard = expr_op(pool, EXPR_BOTH, expr_op(pool, EXPR_LT, k, gpu_size(s, "t.k")),
                                inside(p, s, x, "t.x.", free, k));
    stmt_define(s, "unsigned long long", "at", value_expr(s, offset(p, s, x, "t.x.", free, k)));
    const Value *to =
        stmt_define(s, "@P *", "to", value_place(s, copy_local_at(s, x, "@P", gpu_type_bytes(&p->in), at)));
    const Expr *q = stmt_unrolled(s, "q", GPU_Q, p->in.parts);
    const Value *v = element(p, s, tensor(s, "t.", x), gpu_stride(s, "at"), q, guard);
    if (p->to_bf16) v = value_call(s, "@to_bf16", v); /* of a zero too */
    stmt_store(s, access_element(SPACE_LOCAL, "@P", p->in.part_bytes, to, q), v);
    stmt_end(s);
    stmt_end(s);
    stmt_end(s);
}

static void gather_emit(const GpuPlan *p, Buf *out)
{
    static const CopyPieces pieces = {
        .heading = "---- copy: global memory, registers, local memory, by offsets ----",
        .file = "gpu/divide.h",
        .state = state,
        .init = init,
        .load = load,
        .slow = slow,
        .tail = tail_operand};
    copy_emit(p, &pieces, out);
}

const GpuCopy gpu_copy_gather = {.name = "gather", .plan = gather_plan, .emit = gather_emit};
