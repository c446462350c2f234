/* Copy module "gather": contractions that are no GEMM (kernel/contract.h), from global memory to registers to
 * local memory, element by element.
 *
 * A thread takes the free index of each of its elements apart once and keeps the offset; a chunk's elements
 * of K are taken apart in each load, one for all elements that share it. Elements in a zero padding are 0.
 * Rows and columns behind the edge read the last one again. */
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
    for (int g = 0; g < INDICES_GROUPS; g++) {
        const Expr *size = contract_size(p->indices, (IndexGroup)g, &names);
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
    const ContractNames names = dims_in(s, "t.x.");
    const Expr *zero = expr_const(&s->pool, 0);
    const Expr *const coord[CONTRACT_COORDS] = {zero, zero, expr_var(&s->pool, "wg2", 0, 0, UINT32_MAX)};
    return contract_address(p->indices, tensor, &names, coord);
}

/* ---- the state of the copies ---- */

/* Free indices of an operand that a thread has. */
static int free_places(const GpuOperand *x) { return copy_loads(x) * (x->tlu ? x->width : 1); }

static Err gather_plan(GpuPlan *p)
{
    for (int i = 0; i < 2; i++) p->op[i].shift = 1;
    return ERR_OK;
}

static int operand_of(const GpuOperand *x) { return x->name == 'b'; }

static bool has_pads(const GpuPlan *p, const GpuOperand *x) { return p->indices->n_pads[operand_of(x)] > 0; }

static const Value *tensor(Stmts *s, const char *tile, const GpuOperand *x)
{
    return value_named(s, "%s%c", tile, x->name);
}

static void state(const GpuPlan *p, Stmts *s)
{
    stmt_struct(s, "@Copy", 0);
    stmt_var(s, "@Tile", "t", NULL);
    for (int i = 0; i < 2; i++) {
        const GpuOperand *x = &p->op[i];
        stmt_var(s, "unsigned", copy_name(s, "k_", x, ""), NULL);
        stmt_var(s, "unsigned", copy_name(s, "along_", x, ""), NULL);
        stmt_var(s, "unsigned", copy_name(s, "across_", x, ""), NULL);
        stmt_array(s, "unsigned long long", copy_name(s, "at_", x, ""), DIMS(free_places(x)));
        if (has_pads(p, x)) stmt_array(s, "unsigned", copy_name(s, "free_", x, ""), DIMS(free_places(x)));
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
    const bool b = operand_of(x);
    return gpu_dims_offset(p, s, b, dims, b ? k : free, b ? free : k);
}

static const Expr *inside(const GpuPlan *p, Stmts *s, const GpuOperand *x, const char *dims, const Expr *free,
                          const Expr *k)
{
    const bool b = operand_of(x);
    const ContractNames names = dims_in(s, dims);
    return contract_inside(p->indices, b, &names, b ? k : free, b ? free : k);
}

static const Expr *index_of(Stmts *s, const char *name) { return expr_var(&s->pool, name, 0, 0, UINT32_MAX); }

/* ---- the start ---- */

/* The row or column of A or B that a position of the tile reads. */
static void define_free(Stmts *s, const GpuOperand *x, const char *tile, const Expr *position)
{
    stmt_define(s, "unsigned", "free",
                value_call(s, x->name == 'a' ? "@near_row" : "@near_col", value_reg(s, tile),
                           value_expr(s, position)));
}

static void init_operand(const GpuPlan *p, Stmts *s, const GpuOperand *x)
{
    ExprPool *pool = &s->pool;
    const GpuPlace first = gpu_load_place(pool, p, x);
    const int each = x->tlu ? x->width : 1;
    stmt_set(s, value_reg(s, copy_name(s, "c.k_", x, "")), value_int(s, 0));
    stmt_set(s, value_reg(s, copy_name(s, "c.along_", x, "")), value_expr(s, first.along));
    stmt_set(s, value_reg(s, copy_name(s, "c.across_", x, "")), value_expr(s, first.across));
    const Expr *i = stmt_unrolled(s, "i", GPU_I, copy_loads(x)), *e = stmt_unrolled(s, "e", GPU_E, each);
    const GpuPlace at = copy_load_place(pool, x, copy_kept_place(s, p, x), i, e);
    const Expr *position = x->tlu ? at.along : at.across;
    if (x->fractional) position = expr_op(pool, EXPR_MIN, position, expr_const(pool, x->tile - 1));
    define_free(s, x, "t", position);
    const Expr *number = expr_add(pool, expr_mul_i(pool, i, each), e), *free = index_of(s, "free");
    const Expr *zero = expr_const(pool, 0);
    stmt_set(s, value_at(s, value_reg(s, copy_name(s, "c.at_", x, "")), number),
             value_expr(s, offset(p, s, x, "t.x.", free, zero)));
    if (has_pads(p, x))
        stmt_set(s, value_at(s, value_reg(s, copy_name(s, "c.free_", x, "")), number), value_reg(s, "free"));
    stmt_end(s);
    stmt_end(s);
}

static void init(const GpuPlan *p, Stmts *s)
{
    stmt_function(s, (Function){.name = "@copy_init",
                                STMT_PARAMS({"@Copy &", "c"}, {"const @Tile &", "t"}, {"unsigned", "tid"})});
    stmt_set(s, value_reg(s, "c.t"), value_reg(s, "t"));
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

static void load_operand(const GpuPlan *p, Stmts *s, const GpuOperand *x)
{
    ExprPool *pool = &s->pool;
    const Expr *zero = expr_const(pool, 0);
    const int each = x->tlu ? x->width : 1;
    const Expr *i = stmt_unrolled(s, "i", GPU_I, copy_loads(x)), *e = stmt_unrolled(s, "e", GPU_E, x->width);
    const GpuPlace at = copy_load_place(pool, x, copy_kept_place(s, p, x), i, e);
    const Expr *from = index_of(s, copy_name(s, "c.k_", x, ""));
    const Expr *in_k = expr_add(pool, from, x->tlu ? at.across : at.along);
    if (x->fractional) /* a thread without a load reads a valid element */
        in_k = expr_op(pool, EXPR_MIN, in_k, expr_add_i(pool, from, p->depth_u - 1));
    const Expr *k = stmt_let(s, "k", expr_within(pool, in_k, 0, UINT32_MAX));
    const Expr *number = x->tlu ? expr_add(pool, expr_mul_i(pool, i, each), e) : i;
    const Value *kept = value_at(s, value_reg(s, copy_name(s, "c.at_", x, "")), number), *free = NULL;
    if (has_pads(p, x)) {
        free = value_at(s, value_reg(s, copy_name(s, "c.free_", x, "")), number);
        stmt_define(s, "unsigned", "free", free);
    }
    const Expr *guard = has_pads(p, x) ? inside(p, s, x, "c.t.x.", index_of(s, "free"), k) : NULL;
    const Value *along = value_expr(s, offset(p, s, x, "c.t.x.", zero, k));
    stmt_define(s, "unsigned long long", "at", value_op(s, VALUE_ADD, kept, along));
    const Expr *q = stmt_unrolled(s, "q", GPU_Q, p->in.parts);
    const Expr *part = expr_add(pool, expr_mul_i(pool, e, p->in.parts), q);
    stmt_set(s, value_at(s, copy_data(s, x, copy_set(s), i), part),
             element(p, s, tensor(s, "c.t.", x), gpu_stride(s, "at"), q, guard));
    stmt_end(s);
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

/* ---- the rest of K ---- */

static void tail_operand(const GpuPlan *p, Stmts *s, const GpuOperand *x)
{
    ExprPool *pool = &s->pool;
    const GpuPlace at = copy_tail_open(p, s, x);
    const Expr *k0 = index_of(s, "k0");
    const Expr *k =
        stmt_let(s, "k", expr_within(pool, expr_add(pool, k0, x->tlu ? at.across : at.along), 0, UINT32_MAX));
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

static void tail(const GpuPlan *p, Stmts *s)
{
    stmt_function(s, (Function){.name = "@copy_tail",
                                STMT_PARAMS({"const @Tile &", "t"}, {"unsigned", "tid"}, {"char *", "stage"},
                                            {"unsigned", "k0"})});
    for (int i = 0; i < 2; i++) tail_operand(p, s, &p->op[i]);
    stmt_end(s);
    stmt_gap(s);
}

static void gather_emit(const GpuPlan *p, Buf *out)
{
    Stmts s;
    stmts_init(&s, GPU_STMTS_BYTES);
    gpu_heading(&s, "---- copy: global memory, registers, local memory, by offsets ----");
    state(p, &s);
    init(p, &s);
    load(p, &s);
    copy_store(p, &s);
    stmt_function(&s,
                  (Function){.result = "int", .name = "@copy_slow", STMT_PARAMS({"const @Tile &", NULL})});
    stmt_return(&s, value_int(&s, 0));
    stmt_end(&s);
    stmt_gap(&s);
    tail(p, &s);
    gpu_put(p, &s, out);
}

const GpuCopy gpu_copy_gather = {.name = "gather", .plan = gather_plan, .emit = gather_emit};
