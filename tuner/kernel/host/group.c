/* Work-groups: the loop nest around the register tiles. Lowers the program's outer ops. */
#include "kernel/host/text.h"

static const Expr *least(HostText *t, const Expr *x, const Expr *y)
{
    return expr_op(&t->s.pool, EXPR_MIN, x, y);
}

/* Returns min(x - y, n). */
static const Expr *rest(HostText *t, const char *x, const char *y, int64_t n)
{
    return least(t, expr_sub(&t->s.pool, host_int(t, x), host_int(t, y)), host_number(t, n));
}

/* Elements of K of a chunk. */
static const Expr *depth(HostText *t, int64_t step)
{
    return t->p->runs ? host_int(t, "depth") : host_number(t, step);
}

const Expr *host_chunks(HostText *t)
{
    ExprPool *pool = &t->s.pool;
    const Expr *k = expr_var(pool, "g->k", 0, 0, UINT32_MAX);
    return expr_ceil_div(pool, k,
                         t->p->runs ? expr_var(pool, "depth", 0, 1, UINT32_MAX) : host_number(t, t->p->kc));
}

/* ---- loops ---- */

/* Opens the loop over the DepthU chunks of this part of K. There is at least one, so that D is always
 * written. */
static void open_chunks(HostText *t, const Op *o)
{
    Stmts *s = &t->s;
    ExprPool *pool = &s->pool;
    stmt_var(s, "const @TD *", "C", value_reg(s, "C0"));
    stmt_var(s, "int64_t", "ldc", value_reg(s, "g->ldc"));
    stmt_var(s, "@TC", "ab[2 * @PARTS]", NULL);
    stmt_call(s, "memcpy", value_reg(s, "ab"), value_reg(s, "g->ab"), value_reg(s, "sizeof ab"));
    stmt_var(s, "int64_t", "left", value_reg(s, "count"));
    stmt_loop(s, (Loop){.var = "chunk",
                        .type = "int64_t",
                        .start = host_int(t, "first"),
                        .step_by = host_int(t, "step")});
    stmt_let(s, "k0", expr_mul(pool, host_int(t, "chunk"), depth(t, o->step)));
    const Expr *any = expr_op(pool, EXPR_LT, host_number(t, 0), host_int(t, "left"));
    const Expr *rest_of_k = expr_sub(pool, host_int(t, "g->k"), host_int(t, "k0"));
    stmt_let(s, "kc", expr_select(pool, any, least(t, rest_of_k, depth(t, o->step)), host_number(t, 0)));
}

/* The next chunk adds to the sums of this one, which stand in D. */
static void carry(HostText *t)
{
    Stmts *s = &t->s;
    const int parts = t->p->parts;
    stmt_set(s, value_reg(s, "C"), value_reg(s, "D"));
    stmt_set(s, value_reg(s, "ldc"), value_reg(s, "g->ldd"));
    for (int i = parts; i < 2 * parts; i++)
        stmt_set(s, value_named(s, "ab[%d]", i), value_int(s, i == parts));
}

static void close_chunks(HostText *t, const Op *o)
{
    Stmts *s = &t->s;
    stmt_update(s, VALUE_SUB, value_reg(s, "left"), value_int(s, 1));
    stmt_if(s, value_op(s, VALUE_LE, value_reg(s, "left"), value_int(s, 0)));
    stmt_leave(s);
    stmt_end(s);
    if (op_find(o->body, OP_CARRY_TILE)) carry(t);
    stmt_end(s);
}

static void open_loop(HostText *t, const Op *o)
{
    static const char *const index[2][2] = {{"m0", "n0"}, {"i", "j"}}, *const size[2][2] = {{"mc", "nc"},
                                                                                            {"mr", "nr"}};
    static const char *const limits[2][2] = {{"mt", "nt"}, {"mc", "nc"}};
    const int inner = o->level == LEVEL_SUBGROUP, dim = o->dim == DIM_N;
    if (o->level == LEVEL_GROUP) {
        open_chunks(t, o);
        return;
    }
    if (inner && dim && t->p->runs) {
        host_runs_columns(t);
        return;
    }
    const char *limit = limits[inner][dim];
    host_loop(t, index[inner][dim], host_int(t, limit), o->step);
    stmt_let(&t->s, size[inner][dim], rest(t, limit, index[inner][dim], o->step));
}

/* ---- bodies of the loops ---- */

/* The same of a contraction: rows are counted from the first of the matrix. */
static void load_dims(HostText *t, bool b)
{
    Stmts *s = &t->s;
    const Expr *from = expr_add(&s->pool, host_int(t, b ? "n1" : "m1"), host_int(t, b ? "n0" : "m0"));
    const Value *const arg[] = {value_reg(s, "g"),
                                value_reg(s, b ? "B" : "A"),
                                value_expr(s, from),
                                value_reg(s, b ? "nc" : "mc"),
                                value_reg(s, "k0"),
                                value_reg(s, "kc"),
                                value_reg(s, host_keep_buffer(t, b ? HOST_B : HOST_A)),
                                value_reg(s, "runs")};
    enum { ALL = sizeof arg / sizeof *arg };
    stmt_do(s, value_call_n(s, b ? "@pack_b" : "@pack_a", b && t->p->runs ? ALL : ALL - 1, arg));
}

/* Packs a block of A or B into its buffer. */
static void load_local(HostText *t, const Op *o)
{
    Stmts *s = &t->s;
    const Expr *k0 = host_int(t, "k0");
    const bool b = t->program->tile[o->tile[0]].operand == 'B';
    const HostOperand operand = b ? HOST_B : HOST_A;
    const bool keeps = host_keeps(t, operand);
    if (keeps) host_keep_open(t, operand);
    if (t->indices)
        load_dims(t, b);
    else if (b)
        stmt_call(s, "@pack_b", host_plus(t, "B", host_address_k(t, HOST_B, "g->ldb", host_int(t, "n0"), k0)),
                  value_reg(s, "g->ldb"), value_reg(s, "nc"), value_reg(s, "kc"),
                  value_reg(s, host_keep_buffer(t, HOST_B)));
    else
        stmt_call(s, "@pack_a", host_plus(t, "A", host_address_k(t, HOST_A, "g->lda", host_int(t, "m0"), k0)),
                  value_reg(s, "g->lda"), value_reg(s, "mc"), value_reg(s, "kc"), value_reg(s, "la"));
    if (keeps) stmt_end(s);
}

/* Row and column of D where the register tile begins, in the work-group's tile. */
const Expr *host_tile_row(HostText *t) { return expr_add(&t->s.pool, host_int(t, "m0"), host_int(t, "i")); }
static const Expr *tile_column(HostText *t)
{
    return expr_add(&t->s.pool, host_int(t, "n0"), host_int(t, "j"));
}

/* Returns the distance in memory from an element of C or D to the one `rows` and `columns` further. */
static const Value *stride(HostText *t, HostOperand o, int rows, int columns)
{
    const char *ld = o == HOST_C ? "ldc" : "g->ldd";
    return value_expr(&t->s, host_address(t, o, ld, host_number(t, rows), host_number(t, columns)));
}

static const Value *tile_of_c(HostText *t)
{
    return host_plus(t, "C", host_address(t, HOST_C, "ldc", host_tile_row(t), tile_column(t)));
}

static const Value *tile_of_d(HostText *t)
{
    return host_plus(t, "D", host_address(t, HOST_D, "g->ldd", host_tile_row(t), tile_column(t)));
}

const Expr *host_panel_of_a(HostText *t)
{
    ExprPool *pool = &t->s.pool;
    return expr_mul_i(pool, expr_mul(pool, host_int(t, "i"), host_int(t, "kc")), t->p->parts);
}

/* Declares where the register tile's stripes of A and B begin. In the packed buffer a panel has kc rows, and
 * i (j) is a multiple of its width. */
static void stripes(HostText *t)
{
    ExprPool *pool = &t->s.pool;
    const HostPlan *p = t->p;
    const Expr *kc = host_int(t, "kc"), *k0 = host_int(t, "k0"), *a = host_panel_of_a(t);
    const Expr *b = expr_mul_i(pool, expr_mul(pool, host_int(t, "j"), kc), p->parts);
    if (!p->pack[0]) a = host_address_k(t, HOST_A, "g->lda", host_tile_row(t), k0);
    if (!p->pack[1]) b = host_address_k(t, HOST_B, "g->ldb", tile_column(t), k0);
    host_pointer(t, "const @TC *", "ap", p->pack[0] ? "la" : "A", a);
    host_pointer(t, "const @TC *", "bp", p->pack[1] ? host_keep_buffer(t, HOST_B) : "B", b);
}

/* Returns the place in local memory of a register tile's sums, which are kept there between chunks of K. */
static const Expr *kept_sums(HostText *t)
{
    ExprPool *pool = &t->s.pool;
    const HostPlan *p = t->p;
    const Expr *column = expr_div_i(pool, host_int(t, "j"), p->nr),
               *row = expr_div_i(pool, host_tile_row(t), p->mr);
    const Expr *rows = expr_div_i(pool, expr_add_i(pool, host_int(t, "mt"), p->mr - 1), p->mr);
    return expr_mul_i(pool, expr_add(pool, expr_mul(pool, column, rows), row),
                      (int64_t)p->mr * p->nr * p->parts);
}

static void staged_call(HostText *t)
{
    const HostPlan *p = t->p;
    Stmts *s = &t->s;
    const Op *store = op_find(t->loop->next, OP_STORE_TILE);
    const bool keeps = store->last;
    const Value *left = value_reg(s, "left"), *sum = value_reg(s, keeps ? "s" : "sums");
    if (keeps) host_pointer(t, "@TC *", "s", "sums", kept_sums(t));
    stmt_call(s, host_tile_name(t, false, p->mv, p->nr), value_reg(s, "kc"), value_reg(s, "ap"),
              value_reg(s, "g->lda"), value_reg(s, "bp"), value_reg(s, "g->ldb"), sum,
              keeps ? value_op(s, VALUE_LT, left, value_reg(s, "count")) : value_int(s, 0));
    if (keeps) stmt_if(s, value_op(s, VALUE_LE, left, value_int(s, 1)));
    const Value *row = value_expr(s, expr_add(&s->pool, host_int(t, "m1"), host_tile_row(t)));
    const Value *column = value_expr(s, expr_add(&s->pool, host_int(t, "n1"), tile_column(t)));
    if (t->indices) {
        stmt_call(s, "@finish", value_reg(s, "g"), sum, value_reg(s, "mr"), value_reg(s, "nr"),
                  value_reg(s, "ab"), value_reg(s, "C"), value_reg(s, "D"), row, column);
        if (keeps) stmt_end(s);
        return;
    }
    const Value *const arg[] = {sum,
                                value_reg(s, "mr"),
                                value_reg(s, "nr"),
                                value_reg(s, "ab"),
                                tile_of_c(t),
                                stride(t, HOST_C, 1, 0),
                                stride(t, HOST_C, 0, 1),
                                tile_of_d(t),
                                stride(t, HOST_D, 1, 0),
                                stride(t, HOST_D, 0, 1),
                                value_cast(s, "const @Fused *", value_reg(s, "g")),
                                row,
                                column,
                                value_reg(s, "z")};
    enum { ALL = sizeof arg / sizeof *arg, OF_FUSED = 4 };
    stmt_do(s, value_call_n(s, "@finish", fused_any(&p->fused) ? ALL : ALL - OF_FUSED, arg));
    if (keeps) stmt_end(s);
}

static void direct_call(HostText *t, const char *f, const Value *width)
{
    Stmts *s = &t->s;
    stmt_call(s, f, value_reg(s, "kc"), value_reg(s, "ap"), value_reg(s, "g->lda"), value_reg(s, "bp"),
              value_reg(s, "g->ldb"), value_reg(s, "ab"), value_reg(s, "cp"), value_reg(s, "ldc"),
              value_reg(s, "dp"), value_reg(s, "g->ldd"), width);
}

/* The body of the subgroup loops: a call of a register tile. */
static void tile_call(HostText *t)
{
    const HostPlan *p = t->p;
    Stmts *s = &t->s;
    const char *whole = host_tile_name(t, false, p->mv, p->nr);
    if (p->runs) {
        host_runs_tile(t);
        return;
    }
    stripes(t);
    if (!p->direct) {
        staged_call(t);
        return;
    }
    stmt_var(s, "const @TD *", "cp", tile_of_c(t));
    stmt_var(s, "@TD *", "dp", tile_of_d(t));
    if (!p->edges) {
        direct_call(t, whole, value_int(s, 0));
        HOST_UNUSED(t, "mr", "nr");
        return;
    }
    const Value *rows = value_op(s, VALUE_EQ, value_reg(s, "mr"), value_int(s, p->mr));
    const Value *columns = value_op(s, VALUE_EQ, value_reg(s, "nr"), value_int(s, p->nr));
    stmt_if(s, value_op(s, VALUE_BOTH, rows, columns));
    direct_call(t, whole, value_int(s, 0));
    stmt_else(s);
    const Expr *before = expr_div_i(&s->pool, expr_add_i(&s->pool, host_int(t, "mr"), -1), p->vl);
    const Expr *v = stmt_let(s, "v", before);
    const Expr *width = expr_sub(&s->pool, host_int(t, "mr"), expr_mul_i(&s->pool, v, p->vl));
    direct_call(t, "@tiles[v][nr - 1]", value_expr(s, width));
    stmt_end(s);
}

static void nest(HostText *t, const Op *list)
{
    for (const Op *o = list; o; o = o->next) {
        if (o->kind == OP_LOAD_TILE && t->program->tile[o->tile[0]].space == SPACE_LOCAL) load_local(t, o);
        if (o->kind != OP_LOOP)
            continue; /* barrier: one thread; init_tile, updates: in the loops' own arithmetic */
        open_loop(t, o);
        if (o->level == LEVEL_SUBGROUP && op_find(o->body, OP_STORE_TILE))
            tile_call(t);
        else
            nest(t, o->body);
        if (o->level == LEVEL_GROUP)
            close_chunks(t, o);
        else
            stmt_end(&t->s);
        if (o->level == LEVEL_SUBGROUP && o->dim == DIM_N && t->p->runs) stmt_end(&t->s);
    }
}

/* ---- the work-group ---- */

/* Declares the first chunk of K of this part, the step to the next one, and their number. */
static void chunks(HostText *t)
{
    ExprPool *pool = &t->s.pool;
    if (t->p->runs) { /* their depth is known at run time, and K is not split */
        host_runs_open(t);
        stmt_let(&t->s, "count", host_chunks(t));
        stmt_let(&t->s, "first", host_number(t, 0));
        stmt_let(&t->s, "step", host_number(t, 1));
        return;
    }
    const Expr *k = expr_var(pool, "g->k", WALK_K, 0, UINT32_MAX);
    const Expr *part = expr_var(pool, "part", WALK_PART, 0, t->p->gsu - 1);
    WalkChunks c = walk_chunks(pool, &t->program->walk, k, part);
    stmt_let(&t->s, "count", c.count);
    stmt_let(&t->s, "first", c.first);
    stmt_let(&t->s, "step", c.step);
}

/* Declares the work-group's tile of each operand. */
static void operands(HostText *t)
{
    static const struct {
        HostOperand operand;
        char field;
        const char *name, *type, *ld;
    } all[] = {{HOST_D, 'd', "D", "@TD", "g->ldd"},
               {HOST_C, 'c', "C0", "@TD", "g->ldc"},
               {HOST_A, 'a', "A", "@TI", "g->lda"},
               {HOST_B, 'b', "B", "@TI", "g->ldb"}};
    const HostPlan *p = t->p;
    Stmts *s = &t->s;
    for (int i = 0; i < 4; i++) {
        const HostOperand o = all[i].operand;
        const bool is_const = o != HOST_D, result = o == HOST_C || o == HOST_D;
        const Expr *at =
            t->indices ? host_dims_matrix(t, o, "z")
                       : host_address(t, o, all[i].ld, o == HOST_B ? host_number(t, 0) : host_int(t, "m1"),
                                      o == HOST_A ? host_number(t, 0) : host_int(t, "n1"));
        if (o == HOST_D && p->gsu > 1 && p->gsu_multiple) { /* a matrix of the workspace for each part */
            const Expr *all_of_d = expr_mul(&s->pool, host_int(t, "g->m"), host_int(t, "g->n"));
            all_of_d = expr_mul(&s->pool, all_of_d, host_int(t, "g->batch"));
            all_of_d = expr_mul_i(&s->pool, expr_mul(&s->pool, host_int(t, "part"), all_of_d), p->parts);
            at = expr_add(&s->pool, at, all_of_d);
        }
        if (t->indices) {
            const char *type = stmts_name(s, "%s%s *", is_const ? "const " : "", all[i].type);
            const Value *first = value_cast(s, type, value_named(s, "g->%c", all[i].field));
            stmt_var(s, type, all[i].name, value_op(s, VALUE_ADD, first, value_expr(s, at)));
            continue;
        }
        const Value *base =
            host_matrix(t, all[i].field, all[i].type, is_const, p->strided || (result && p->workspace), "z");
        stmt_var(s, stmts_name(s, "%s%s *", is_const ? "const " : "", all[i].type), all[i].name,
                 value_op(s, VALUE_ADD, base, value_expr(s, at)));
    }
}

void host_group_tile(HostText *t)
{
    Stmts *s = &t->s;
    stmt_let(s, "m1", expr_mul_i(&s->pool, host_int(t, "wg0"), t->p->mt0));
    stmt_let(s, "n1", expr_mul_i(&s->pool, host_int(t, "wg1"), t->p->mt1));
    stmt_let(s, "mt", rest(t, "g->m", "m1", t->p->mt0));
    stmt_let(s, "nt", rest(t, "g->n", "n1", t->p->mt1));
}

void host_group_function(HostText *t)
{
    const HostPlan *p = t->p;
    Stmts *s = &t->s;
    stmt_gap(s);
    const Function of_part = {.kind = FUNCTION_STATIC,
                              .name = "@group",
                              STMT_PARAMS({"const @Args *", "g"}, {"int64_t", "wg0"}, {"int64_t", "wg1"},
                                          {"int64_t", "z"}, {"uint32_t", "part"}, {"@TC *", "la"},
                                          {"@TC *", "lb"}, {"@TC *", "sums"})};
    const Function of_chunks = {.kind = FUNCTION_STATIC,
                                .name = "@group",
                                STMT_PARAMS({"const @Args *", "g"}, {"int64_t", "wg0"}, {"int64_t", "wg1"},
                                            {"int64_t", "z"}, {"uint32_t", "first"}, {"uint32_t", "step"},
                                            {"uint32_t", "count"}, {"@TC *", "la"}, {"@TC *", "lb"},
                                            {"@TC *", "sums"})};
    stmt_function(s, p->joins ? of_chunks : of_part);
    host_group_tile(t);
    if (t->indices) host_dims_open(t);
    operands(t);
    if (!p->joins) {
        chunks(t);
        HOST_UNUSED(t, "part");
    }
    HOST_UNUSED(t, "first", "step", "la", "lb", "sums", "C0");
    nest(t, t->program->body);
    stmt_end(s);
}
