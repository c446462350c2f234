/* The end of a kernel: it adds up the parts of LocalSplitU, then writes D with alpha and beta, or the partial
 * sums of GlobalSplitU. Tiles inside D are written in vectors, others element by element. Here by pointers; a
 * dialect may have another way (GpuDialect.finish). */
#include "kernel/contract.h"
#include "kernel/gpu/gather.h"
#include "kernel/gpu/store.h"

/* The tensors C and D, and what the epilogue's ops take. */
static void out_struct(const GpuPlan *p, Stmts *s)
{
    gpu_heading(s, "---- stores ----");
    gpu_ops(p, s);
    stmt_struct(s, "@Out : @Ops", 0);
    stmt_var(s, "@TD *", "d", NULL);
    if (p->indices)
        stmt_var(s, "@Dims", "x", NULL);
    else
        stmt_var(s, "unsigned long long", "ldd", NULL);
    if (gpu_reads_c(p)) {
        stmt_var(s, "const @TD *", "c", NULL);
        if (!p->indices) stmt_var(s, "unsigned long long", "ldc", NULL);
    }
    stmt_end(s);
    stmt_gap(s);
}

/* Prints the atomic addition. Types without an instruction for it use compare and swap of the 4 or 8 bytes
 * that contain the element. */
static void add_function(const GpuPlan *p, Stmts *s)
{
    if (p->out.parts == 1 && p->out.part_bytes < 4) {
        stmt_file(s, "gpu/add_by_cas.h");
        return;
    }
    stmt_function(s, (Function){.name = "@add_to", STMT_PARAMS({"@TD *", "p"}, {"@TC", "x"})});
    const Value *x = value_reg(s, "x");
    if (p->out.parts == 2) {
        static const char *const part[] = {"re", "im"}, *const at[] = {"p->re", "p->im"};
        for (int i = 0; i < 2; i++)
            stmt_call(s, "@atomic_add", value_op(s, VALUE_ADDRESS, value_reg(s, at[i]), NULL),
                      value_field(s, x, part[i]));
    } else
        stmt_call(s, "@atomic_add", value_reg(s, "p"), value_cast(s, "@TD", x));
    stmt_end(s);
    stmt_gap(s);
}

/* ---- elements and vectors ---- */

/* Are neighbouring rows neighbours in C and D, as far as the first index of both goes? */
static bool rows_run(const Indices *x)
{
    return contract_runs(x, 2, CONTRACT_ROW) && contract_runs(x, 3, CONTRACT_ROW);
}

static bool stores_vectors(const GpuPlan *p)
{
    return !gpu_adds(p) && (p->indices ? rows_run(p->indices) : gpu_contiguous_results(p));
}

/* Element (row, col) of C or D: its number, counted from the tensor's first. */
static const Expr *element_at(const GpuPlan *p, Stmts *s, char tensor)
{
    ExprPool *pool = &s->pool;
    const Expr *row = expr_var(pool, "row", 0, 0, UINT32_MAX), *col = expr_var(pool, "col", 0, 0, UINT32_MAX);
    if (p->indices) return gpu_dims_offset(p, s, tensor - 'a', "o.x.", row, col);
    return gpu_address(pool, p, tensor - 'a', row, col, gpu_stride(s, tensor == 'c' ? "o.ldc" : "o.ldd"));
}

static const Value *element_of(const GpuPlan *p, Stmts *s, char tensor)
{
    const Value *base = value_reg(s, tensor == 'c' ? "o.c" : "o.d");
    return value_op(s, VALUE_ADD, base, value_expr(s, element_at(p, s, tensor)));
}

const Value *gpu_uses_c(Stmts *s)
{
    return value_op(s, VALUE_NOT, value_call(s, "@is_zero", value_reg(s, "o.beta")), NULL);
}

/* Declares the elements of fused operations' vectors that belong to the row or column. */
static const Value *element_of_side(const GpuPlan *p, Stmts *s, Along along)
{
    const bool m = along == ALONG_M;
    const Value *of = value_reg(s, m ? "of_row" : "of_col");
    if (!gpu_has_vectors(p, along)) return of;
    stmt_var(s, m ? "@OfRow" : "@OfCol", m ? "of_row" : "of_col", NULL);
    stmt_call(s, m ? "@rows<1>" : "@cols<1>", value_reg(s, "o"), value_reg(s, m ? "row" : "col"),
              value_literal(s, "true"), value_op(s, VALUE_ADDRESS, of, NULL));
    return of;
}

/* The ops of the epilogue on the element x at `to`. */
static void element_ops(const GpuPlan *p, Stmts *s, const Value *to)
{
    const int bytes = gpu_type_bytes(&p->out);
    const Value *const x = value_reg(s, "x"), *out = x;
    GpuPoint at = {element_of_side(p, s, ALONG_M), element_of_side(p, s, ALONG_N), NULL};
    for (const Op *o = p->epilogue; o; o = o->next) {
        if (o->kind == OP_ADD_TILE && o->scalar) {
            Access c = access_element(SPACE_GLOBAL, "@TD", bytes, value_reg(s, "o.c"), element_at(p, s, 'c'));
            stmt_if(s, gpu_uses_c(s));
            at.c = value_load(s, c);
            stmt_set(s, x, gpu_element_op(p, s, o, &at, x));
            stmt_end(s);
        } else if (o->kind == OP_CONVERT_TILE)
            out = gpu_element_op(p, s, o, &at, x);
        else if (o->kind == OP_ATOMIC_ADD_TILE)
            stmt_call(s, "@add_to", to, x);
        else if (o->kind == OP_STORE_TILE) {
            Access d = access_element(SPACE_GLOBAL, "@TD", bytes, to, NULL);
            if (p->out.parts == 1) d.hint = p->hint_d;
            stmt_store(s, d, out);
        } else if (o->kind == OP_SCALE_TILE || o->kind == OP_ADD_TILE || o->kind == OP_ACTIVATE_TILE) {
            const Value *y = gpu_element_op(p, s, o, &at, x);
            if (y != x) stmt_set(s, x, y);
        }
    }
}

/* One element at row and col. */
static void element(const GpuPlan *p, Stmts *s)
{
    stmt_function(s, (Function){.name = "@put",
                                STMT_PARAMS({"const @Out &", "o"}, {"unsigned", "row"}, {"unsigned", "col"},
                                            {"@TC", "x"})});
    const Value *to = stmt_define(s, "@TD *", "to", element_of(p, s, 'd'));
    element_ops(p, s, to);
    stmt_end(s);
    stmt_gap(s);
}

void gpu_fill_vector(const GpuPlan *p, Stmts *s, int width, const Expr *i, const Value *old)
{
    ExprPool *pool = &s->pool;
    const Expr *q = stmt_unrolled(s, "q", GPU_Q, width);
    const Value *v = value_reg(s, "v"), *was = NULL;
    const Expr *at[] = {expr_mul_i(pool, q, p->out.parts),
                        expr_add_i(pool, expr_mul_i(pool, q, p->out.parts), 1)};
    if (old) {
        was = value_at(s, old, q);
        if (p->out.parts == 2) was = value_list(s, value_at(s, old, at[0]), value_at(s, old, at[1]));
        was = stmt_define(s, "@TD", "was", was);
    }
    const Value *x = value_call(s, "@acc_get", value_reg(s, "acc"), value_expr(s, expr_add(pool, i, q)));
    const GpuPoint point = {value_at(s, value_reg(s, "rows"), q), value_reg(s, "of_col"), was};
    for (const Op *o = p->epilogue; o; o = o->next) {
        if (o->kind == OP_CONVERT_TILE) x = stmt_define(s, "@TC", "x", x);
        x = gpu_element_op(p, s, o, &point, x);
    }
    if (p->out.parts == 2) {
        const Value *e = stmt_define(s, "@TD", "e", x);
        stmt_set(s, value_at(s, v, at[0]), value_field(s, e, "re"));
        stmt_set(s, value_at(s, v, at[1]), value_field(s, e, "im"));
    } else
        stmt_set(s, value_at(s, v, q), x);
    stmt_end(s);
}

void gpu_vectors_of_run(const GpuPlan *p, Stmts *s, int width)
{
    const Value *o = value_reg(s, "o"), *row = value_reg(s, "row");
    element_of_side(p, s, ALONG_N);
    if (!gpu_has_vectors(p, ALONG_M)) return;
    const Value *rows = stmt_array(s, "@OfRow", "rows", DIMS(width));
    const Value *whole = value_call(s, stmts_name(s, "@rows_whole<%d>", width), o, row, value_int(s, width));
    stmt_call(s, stmts_name(s, "@rows<%d>", width), o, row, whole, rows);
}

/* store_width elements of a run. */
static void vector(const GpuPlan *p, Stmts *s)
{
    const int parts = p->store_width * p->out.parts, bytes = p->store_width * gpu_type_bytes(&p->out);
    const char *type = stmts_name(s, "@VD%d", parts), *memory = stmts_name(s, "@VD%du", parts);
    stmt_function(s, (Function){.name = "@put_vector",
                                STMT_PARAMS({"const @Out &", "o"}, {"unsigned", "row"}, {"unsigned", "col"},
                                            {"const @Acc &", "acc"}, {"int", "i"})});
    const char *pointer = stmts_name(s, "%s *", memory);
    gpu_vectors_of_run(p, s, p->store_width);
    const Value *to = stmt_define(s, pointer, "to", value_cast(s, pointer, element_of(p, s, 'd')));
    stmt_var(s, type, "v", NULL);
    const Expr *i = gpu_size(s, "i");
    if (gpu_reads_c(p)) {
        stmt_if(s, gpu_uses_c(s));
        const Value *from = value_cast(s, stmts_name(s, "const %s", pointer), element_of(p, s, 'c'));
        Access c = access_element(SPACE_GLOBAL, memory, bytes, from, NULL);
        c.hint = p->hint_c;
        gpu_fill_vector(p, s, p->store_width, i, stmt_define(s, type, "old", value_load(s, c)));
        stmt_else(s);
        gpu_fill_vector(p, s, p->store_width, i, NULL);
        stmt_end(s);
    } else
        gpu_fill_vector(p, s, p->store_width, i, NULL);
    Access d = access_element(SPACE_GLOBAL, memory, bytes, to, NULL);
    d.hint = p->hint_d;
    stmt_store(s, d, d.hint ? value_cast(s, memory, value_reg(s, "v")) : value_reg(s, "v"));
    stmt_end(s);
    stmt_gap(s);
}

/* ---- all accumulators ---- */

/* Whether vectors of a tensor are aligned to their size. */
static const Value *is_aligned(const GpuPlan *p, Stmts *s, const char *base, const char *ld)
{
    const int bytes = gpu_type_bytes(&p->out);
    const Value *address = value_cast(s, "unsigned long long", value_reg(s, base));
    const Value *step = value_expr(s, expr_mul_i(&s->pool, gpu_stride(s, ld), bytes));
    const Value *bits = value_op(s, VALUE_OR, address, step);
    bits = value_op(s, VALUE_AND, bits, value_int(s, p->store_width * bytes - 1));
    return value_op(s, VALUE_EQ, bits, value_int(s, 0));
}

const Value *gpu_dims_vectors(const GpuPlan *p, Stmts *s, int width, const Value *so_far)
{
    const ContractNames names = {s, "o.x."};
    const int bytes = gpu_type_bytes(&p->out);
    const Expr *size = contract_extent(&names, 0);
    const bool keeps = p->ring.window_bytes; /* the rows of all groups follow one another */
    const Value *zero = value_int(s, 0);
    if (keeps) size = expr_mul(&s->pool, size, contract_size(p->indices, INDICES_BATCH, &names));
    if (!rows_run(p->indices)) return value_literal(s, "false");
    const Value *all = value_op(s, VALUE_EQ, value_expr(s, expr_mod_i(&s->pool, size, width)), zero);
    all = value_both(s, so_far, all);
    for (int t = gpu_reads_c(p) ? 2 : 3; t < INDICES_TENSORS; t++) {
        const Value *bits = value_cast(s, "unsigned long long", value_reg(s, t == 2 ? "o.c" : "o.d"));
        for (int32_t i = 0; i < p->indices->of_d; i++) {
            const Expr *stride = contract_index_stride(p->indices, t, &names, i);
            if (i == 0 && !expr_is(stride, 1))
                all = value_both(s, all, value_op(s, VALUE_EQ, value_expr(s, stride), value_int(s, 1)));
            if (keeps && index_list_has(&p->indices->group[INDICES_BATCH], i)) continue;
            if (i) bits = value_op(s, VALUE_OR, bits, value_expr(s, expr_mul_i(&s->pool, stride, bytes)));
        }
        bits = value_op(s, VALUE_AND, bits, value_int(s, width * bytes - 1));
        if (p->dialect->aligned_loads) all = value_both(s, all, value_op(s, VALUE_EQ, bits, zero));
    }
    return all;
}

const Value *gpu_whole_tile(const GpuPlan *p, Stmts *s)
{
    ExprPool *pool = &s->pool;
    const Expr *m = expr_add_i(pool, gpu_size(s, "t.m0"), p->mt[0]);
    const Expr *n = expr_add_i(pool, gpu_size(s, "t.n0"), p->mt[1]);
    const Expr *inside = expr_op(pool, EXPR_BOTH, expr_op(pool, EXPR_LE, m, gpu_size(s, "t.m")),
                                 expr_op(pool, EXPR_LE, n, gpu_size(s, "t.n")));
    const Value *whole = value_expr(s, inside);
    if (p->indices)
        return p->store_width > 1 && stores_vectors(p) ? gpu_dims_vectors(p, s, p->store_width, whole)
                                                       : whole;
    if (!p->dialect->aligned_loads || p->store_width == 1) return whole;
    whole = value_op(s, VALUE_BOTH, whole, is_aligned(p, s, "o.d", "o.ldd"));
    if (gpu_reads_c(p)) whole = value_op(s, VALUE_BOTH, whole, is_aligned(p, s, "o.c", "o.ldc"));
    return whole;
}

int gpu_share(const GpuPlan *p)
{
    if (p->direct) return p->n_acc;
    return p->n_acc % p->lsu == 0 && p->n_acc / p->lsu % p->store_width == 0 ? p->n_acc / p->lsu : p->n_acc;
}

/* The sum of part l with number i. */
static const Expr *sum_at(const GpuPlan *p, Stmts *s, const Expr *l, const Expr *i)
{
    ExprPool *pool = &s->pool;
    const Expr *line = expr_add(pool, expr_mul_i(pool, l, p->n_acc), i);
    return expr_add(pool, expr_mul_i(pool, line, p->n_threads / p->lsu), gpu_size(s, "at"));
}

/* Many parts of kernels without local memory: the first half of them adds the second half's sums to its own,
 * until one part is left. */
static void reduce_in_pairs(const GpuPlan *p, Stmts *s)
{
    ExprPool *pool = &s->pool;
    const int threads = p->n_threads / p->lsu;
    stmt_function(s, (Function){.name = "@reduce",
                                STMT_PARAMS({"@Acc &", "acc"}, {"char *", "lds"}, {"unsigned", "tid"})});
    const Expr *tid = gpu_tid(pool, p), *part = stmt_let(s, "part", expr_div_i(pool, tid, threads));
    stmt_let(s, "at", expr_mod_i(pool, tid, threads));
    const Value *acc = value_reg(s, "acc"),
                *sums = stmt_define(s, "@TC *", "sums", value_cast(s, "@TC *", value_reg(s, "lds")));
    Access sum = access_element(SPACE_LOCAL, "@TC", gpu_type_bytes(&p->acc), sums, NULL);
    for (int half = p->lsu / 2; half > 0; half /= 2) {
        stmt_if_expr(s, expr_op(pool, EXPR_BOTH, expr_op(pool, EXPR_LE, expr_const(pool, half), part),
                                expr_op(pool, EXPR_LT, part, expr_const(pool, 2 * half))));
        const Expr *i = stmt_unrolled(s, "i", GPU_I, p->n_acc);
        sum.offset = sum_at(p, s, part, i);
        stmt_store(s, sum, value_call(s, "@acc_get", acc, value_expr(s, i)));
        stmt_end(s);
        stmt_end(s);
        stmt_barrier(s);
        stmt_if_expr(s, expr_op(pool, EXPR_LT, part, expr_const(pool, half)));
        i = stmt_unrolled(s, "i", GPU_I, p->n_acc);
        sum.offset = sum_at(p, s, expr_add_i(pool, part, half), i);
        const Value *mine = value_call(s, "@acc_get", acc, value_expr(s, i));
        stmt_call(s, "@acc_set", acc, value_expr(s, i), value_call(s, "@add", mine, value_load(s, sum)));
        stmt_end(s);
        stmt_end(s);
    }
    stmt_end(s);
    stmt_gap(s);
}

/* LocalSplitU: all parts write their sums to local memory, and each part adds up a share of them. */
static void reduce(const GpuPlan *p, Stmts *s)
{
    ExprPool *pool = &s->pool;
    const int threads = p->n_threads / p->lsu, n = gpu_share(p);
    if (p->lsu == 1) return;
    stmt_function(s, (Function){.name = "@reduce",
                                STMT_PARAMS({"@Acc &", "acc"}, {"char *", "lds"}, {"unsigned", "tid"})});
    const Expr *tid = gpu_tid(pool, p), *part = stmt_let(s, "part", expr_div_i(pool, tid, threads));
    const Expr *at = stmt_let(s, "at", expr_mod_i(pool, tid, threads));
    const Expr *first = stmt_let(s, "first", expr_mul_i(pool, part, n < p->n_acc ? n : 0));
    const Value *acc = value_reg(s, "acc"),
                *sums = stmt_define(s, "@TC *", "sums", value_cast(s, "@TC *", value_reg(s, "lds")));
    Access sum = access_element(SPACE_LOCAL, "@TC", gpu_type_bytes(&p->acc), sums, NULL);
    stmt_barrier(s);
    const Expr *i = stmt_unrolled(s, "i", GPU_I, p->n_acc);
    const Expr *line = expr_add(pool, expr_mul_i(pool, part, p->n_acc), i);
    sum.offset = expr_add(pool, expr_mul_i(pool, line, threads), at);
    stmt_store(s, sum, value_call(s, "@acc_get", acc, value_expr(s, i)));
    stmt_end(s);
    stmt_barrier(s);
    i = stmt_unrolled(s, "i", GPU_I, n);
    const Expr *mine = expr_add(pool, first, i);
    sum.offset = expr_add(pool, expr_mul_i(pool, mine, threads), at);
    const Value *x = stmt_var(s, "@TC", "x", value_load(s, sum));
    const Expr *l = stmt_loop(s, (Loop){.var = "l",
                                        .start = expr_const(pool, 1),
                                        .limit = expr_const(pool, p->lsu),
                                        .unroll = UNROLL_FULL});
    line = expr_add(pool, expr_mul_i(pool, l, p->n_acc), mine);
    sum.offset = expr_add(pool, expr_mul_i(pool, line, threads), at);
    stmt_set(s, x, value_call(s, "@add", x, value_load(s, sum)));
    stmt_end(s);
    stmt_call(s, "@acc_set", acc, value_expr(s, i), x);
    stmt_end(s);
    stmt_end(s);
    stmt_gap(s);
}

const Expr *gpu_finish_open(const GpuPlan *p, Stmts *s, const char *sums)
{
    ExprPool *pool = &s->pool;
    const int threads = p->n_threads / p->lsu;
    stmt_function(s, (Function){.name = "@finish",
                                STMT_PARAMS({"const @Tile &", "t"}, {"const @Out &", "o"}, {sums, "acc"},
                                            {"unsigned", "tid"})});
    const Expr *tid = gpu_tid(pool, p);
    if (gpu_share(p) < p->n_acc) {
        const Expr *first = expr_mul_i(pool, expr_div_i(pool, tid, threads), gpu_share(p));
        stmt_define(s, "int", "first", value_cast(s, "int", value_expr(s, first)));
        return gpu_size(s, "first");
    }
    if (p->lsu > 1) {
        stmt_if_expr(s, expr_op(pool, EXPR_LE, expr_const(pool, threads), tid));
        stmt_return(s, NULL);
        stmt_end(s);
    }
    return expr_const(pool, 0);
}

/* NumElementsPerBatchStore limits how far the loads of C run ahead of the stores of D. */
static void batch(const GpuPlan *p, Stmts *s, const Expr *i)
{
    ExprPool *pool = &s->pool;
    const int each = p->batch_store / p->store_width * p->store_width;
    if (each < 1) return;
    const Expr *stored = expr_mod_i(pool, expr_add_i(pool, i, p->store_width), each);
    stmt_if_expr(s, expr_op(pool, EXPR_EQ, stored, expr_const(pool, 0)));
    stmt_asm(s, (Asm){.text = "", .is_volatile = true, .touches_memory = true});
    stmt_end(s);
}

/* Row or column of the tile that an accumulator has. */
static const Value *place(Stmts *s, const char *function, const Expr *number)
{
    return value_call(s, function, value_reg(s, "tid"), value_expr(s, number));
}

static void finish(const GpuPlan *p, Stmts *s)
{
    ExprPool *pool = &s->pool;
    const int n = gpu_share(p);
    const Expr *first = gpu_finish_open(p, s, "const @Acc &"), *i;
    const Value *o = value_reg(s, "o"), *acc = value_reg(s, "acc"), *t = value_reg(s, "t");
    if (stores_vectors(p)) {
        stmt_if(s, stmt_define(s, "bool", "whole", gpu_whole_tile(p, s)));
        i = stmt_loop(s, (Loop){.var = "i",
                                .start = expr_const(pool, 0),
                                .limit = expr_const(pool, n),
                                .step = p->store_width,
                                .unroll = UNROLL_FULL});
        const Expr *number = expr_add(pool, first, i);
        const Value *row = value_op(s, VALUE_ADD, value_reg(s, "t.m0"), place(s, "@acc_row", number));
        const Value *col = value_op(s, VALUE_ADD, value_reg(s, "t.n0"), place(s, "@acc_col", number));
        stmt_call(s, "@put_vector", o, row, col, acc, value_expr(s, i));
        batch(p, s, i);
        stmt_end(s);
        stmt_return(s, NULL);
        stmt_end(s);
    }
    i = stmt_unrolled(s, "i", GPU_I, n);
    const Expr *number = expr_add(pool, first, i);
    const Value *none = value_literal(s, "~0u");
    const Value *row =
        stmt_define(s, "unsigned", "row", value_call(s, "@edge_row", t, place(s, "@acc_row", number)));
    const Value *col =
        stmt_define(s, "unsigned", "col", value_call(s, "@edge_col", t, place(s, "@acc_col", number)));
    stmt_if(s, value_op(s, VALUE_BOTH, value_op(s, VALUE_NE, row, none), value_op(s, VALUE_NE, col, none)));
    stmt_call(s, "@put", o, row, col, value_call(s, "@acc_get", acc, value_expr(s, i)));
    stmt_end(s);
    stmt_end(s);
    stmt_end(s);
    stmt_gap(s);
}

static void by_pointers(const GpuPlan *p, Stmts *s)
{
    if (gpu_adds(p)) add_function(p, s);
    element(p, s);
    if (stores_vectors(p)) vector(p, s);
    finish(p, s);
}

void gpu_store(const GpuPlan *p, Buf *out)
{
    Stmts s;
    stmts_init(&s, GPU_STMTS_BYTES);
    out_struct(p, &s);
    if (p->direct && p->lsu > 1)
        reduce_in_pairs(p, &s);
    else
        reduce(p, &s);
    if (p->partial_sums) gpu_parts(p, &s);
    gpu_put(p, &s, out);
    if (!p->indices && p->dialect->finish && p->dialect->finish(p, out)) return;
    stmts_init(&s, GPU_STMTS_BYTES);
    by_pointers(p, &s);
    gpu_put(p, &s, out);
}
