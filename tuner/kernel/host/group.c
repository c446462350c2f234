/* Work-groups: the loop nest around the register tiles, and the exported function. Lowers the program's outer
 * ops; see kernel.h for the ABI.
 */
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
    stmt_let(s, "k0", expr_mul_i(pool, host_int(t, "chunk"), o->step));
    const Expr *any = expr_op(pool, EXPR_LT, host_number(t, 0), host_int(t, "left"));
    stmt_let(s, "kc", expr_select(pool, any, rest(t, "g->k", "k0", o->step), host_number(t, 0)));
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
    stmt_call(s, b ? "@pack_b" : "@pack_a", value_reg(s, "g"), value_reg(s, b ? "B" : "A"),
              value_expr(s, from), value_reg(s, b ? "nc" : "mc"), value_reg(s, "k0"), value_reg(s, "kc"),
              value_reg(s, b ? host_keep_buffer(t) : "la"));
}

/* Packs a block of A or B into its buffer. */
static void load_local(HostText *t, const Op *o)
{
    Stmts *s = &t->s;
    const Expr *k0 = host_int(t, "k0");
    const bool b = t->program->tile[o->tile[0]].operand == 'B', keeps = b && t->p->keep_b;
    if (keeps) host_keep_open(t);
    if (t->indices)
        load_dims(t, b);
    else if (b)
        stmt_call(s, "@pack_b", host_plus(t, "B", host_address_k(t, HOST_B, "g->ldb", host_int(t, "n0"), k0)),
                  value_reg(s, "g->ldb"), value_reg(s, "nc"), value_reg(s, "kc"),
                  value_reg(s, host_keep_buffer(t)));
    else
        stmt_call(s, "@pack_a", host_plus(t, "A", host_address_k(t, HOST_A, "g->lda", host_int(t, "m0"), k0)),
                  value_reg(s, "g->lda"), value_reg(s, "mc"), value_reg(s, "kc"), value_reg(s, "la"));
    if (keeps) stmt_end(s);
}

/* Row and column of D where the register tile begins, in the work-group's tile. */
static const Expr *tile_row(HostText *t) { return expr_add(&t->s.pool, host_int(t, "m0"), host_int(t, "i")); }
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
    return host_plus(t, "C", host_address(t, HOST_C, "ldc", tile_row(t), tile_column(t)));
}

static const Value *tile_of_d(HostText *t)
{
    return host_plus(t, "D", host_address(t, HOST_D, "g->ldd", tile_row(t), tile_column(t)));
}

/* Declares where the register tile's stripes of A and B begin. In the packed buffer a panel has kc rows, and
 * i (j) is a multiple of its width. */
static void stripes(HostText *t)
{
    ExprPool *pool = &t->s.pool;
    const HostPlan *p = t->p;
    const Expr *kc = host_int(t, "kc"), *k0 = host_int(t, "k0");
    const Expr *a = expr_mul_i(pool, expr_mul(pool, host_int(t, "i"), kc), p->parts);
    const Expr *b = expr_mul_i(pool, expr_mul(pool, host_int(t, "j"), kc), p->parts);
    if (!p->pack[0]) a = host_address_k(t, HOST_A, "g->lda", tile_row(t), k0);
    if (!p->pack[1]) b = host_address_k(t, HOST_B, "g->ldb", tile_column(t), k0);
    host_pointer(t, "const @TC *", "ap", p->pack[0] ? "la" : "A", a);
    host_pointer(t, "const @TC *", "bp", p->pack[1] ? host_keep_buffer(t) : "B", b);
}

/* Returns the place in local memory of a register tile's sums, which are kept there between chunks of K. */
static const Expr *kept_sums(HostText *t)
{
    ExprPool *pool = &t->s.pool;
    const HostPlan *p = t->p;
    const Expr *column = expr_div_i(pool, host_int(t, "j"), p->nr),
               *row = expr_div_i(pool, tile_row(t), p->mr);
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
    const Value *row = value_expr(s, expr_add(&s->pool, host_int(t, "m1"), tile_row(t)));
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
    }
}

/* ---- the work-group ---- */

/* Declares the first chunk of K of this part, the step to the next one, and their number. */
static void chunks(HostText *t)
{
    ExprPool *pool = &t->s.pool;
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

/* Prints the function of one work-group: tile (wg0, wg1) of D, one part of K. */
static void group_function(HostText *t)
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
    stmt_let(s, "m1", expr_mul_i(&s->pool, host_int(t, "wg0"), p->mt0));
    stmt_let(s, "n1", expr_mul_i(&s->pool, host_int(t, "wg1"), p->mt1));
    stmt_let(s, "mt", rest(t, "g->m", "m1", p->mt0));
    stmt_let(s, "nt", rest(t, "g->n", "n1", p->mt1));
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

/* ---- the exported function ---- */

/* A part of a tile, by text/parts.h. */
static void part_call(HostText *t, const WalkSlots *slots, const Expr *next_slot)
{
    Stmts *s = &t->s;
    stmt_let(s, "slot", slots->slot);
    stmt_let(s, "next_slot", next_slot);
    stmt_let(s, "parts", slots->parts);
    const Value *sums = value_cast(s, "@TC *", value_reg(s, "slots")),
                *flags = value_cast(s, "uint32_t *", value_reg(s, "flags"));
    stmt_define(s, "@Parts", "q",
                value_list(s, sums, flags, value_reg(s, "part"), value_reg(s, "parts"), value_reg(s, "slot"),
                           value_reg(s, "next_slot")));
    stmt_call(s, "@group_part", value_reg(s, "g"), value_reg(s, "x"), value_reg(s, "y"), value_reg(s, "z"),
              value_reg(s, "first_chunk"), value_reg(s, "step"), value_reg(s, "chunks_here"),
              value_op(s, VALUE_ADDRESS, value_reg(s, "q"), NULL), value_reg(s, "la"), value_reg(s, "lb"),
              value_reg(s, "sums"));
}

static void group_call(HostText *t)
{
    Stmts *s = &t->s;
    stmt_call(s, "@group", value_reg(s, "g"), value_reg(s, "x"), value_reg(s, "y"), value_reg(s, "z"),
              value_reg(s, "part"), value_reg(s, "la"), value_reg(s, "lb"), value_reg(s, "sums"));
}

/* ---- walks of several tiles ---- */

static const WalkNames names_of_tile = {.group = {"0", "0", "z_of_group"},
                                        .id = "tile",
                                        .tiles_m = "tiles0",
                                        .tiles_n = "tiles1",
                                        .batch = "n_matrices",
                                        .stream_group = "group",
                                        .stream_groups = "groups",
                                        .mapping = "mapping",
                                        .mapping_chunk = "mapping_chunk"};

static void place_of_tile(HostText *t, const Walk *w)
{
    WalkPlace at = walk_place(&t->s.pool, w, &names_of_tile);
    stmt_let(&t->s, "x", at.wg0);
    stmt_let(&t->s, "y", at.wg1);
    stmt_let(&t->s, "z", at.wg2);
    if (w->split > 1) stmt_let(&t->s, "part", at.part);
}

/* Tiles along M and N, and matrices, of grids that do not say. */
static void count_tiles(HostText *t)
{
    ExprPool *pool = &t->s.pool;
    const char *const size[] = {"g->m", "g->n"}, *const name[] = {"tiles0", "tiles1"};
    const int tile[] = {t->p->mt0, t->p->mt1};
    for (int i = 0; i < 2; i++) {
        const Expr *of = expr_var(pool, size[i], 0, 1, UINT32_MAX);
        stmt_let(&t->s, name[i], expr_ceil_div(pool, of, expr_const(pool, tile[i])));
    }
    stmt_define(&t->s, "uint32_t", "n_matrices", value_cast(&t->s, "uint32_t", value_reg(&t->s, "g->batch")));
    HOST_UNUSED(t, "n_matrices");
}

/* Opens the loop over work-groups of the thread. */
static void open_groups(HostText *t)
{
    Stmts *s = &t->s;
    count_tiles(t);
    stmt_loop(
        s,
        (Loop){.var = "id", .type = "uint64_t", .start = host_int(t, "first"), .limit = host_int(t, "last")});
    const Value *id = value_reg(s, "id"), *groups = value_reg(s, "grid[0]");
    stmt_define(s, "uint32_t", "groups", groups);
    stmt_define(s, "uint32_t", "group", value_cast(s, "uint32_t", value_op(s, VALUE_MOD, id, groups)));
    stmt_define(s, "uint32_t", "z_of_group", value_cast(s, "uint32_t", value_op(s, VALUE_DIV, id, groups)));
    HOST_UNUSED(t, "z_of_group", "group", "groups");
}

/* PersistentKernel: a work-group takes tiles group, group + groups, ... */
static void walk_persistent(HostText *t)
{
    Stmts *s = &t->s;
    const Walk *w = &t->program->walk;
    open_groups(t);
    stmt_let(s, "n_ids", walk_ids(&s->pool, w, &names_of_tile));
    stmt_loop(s, (Loop){.var = "tile_id",
                        .type = "uint64_t",
                        .start = host_int(t, "group"),
                        .limit = host_int(t, "n_ids"),
                        .step_by = host_int(t, "groups")});
    stmt_define(s, "uint32_t", "tile", value_cast(s, "uint32_t", value_reg(s, "tile_id")));
    place_of_tile(t, w);
    stmt_define(s, "uint32_t", "part", value_int(s, 0));
    group_call(t);
    stmt_end(s);
    stmt_end(s);
}

/* StreamK: a work-group takes its share of the chunks of tiles. */
static void walk_stream_k(HostText *t)
{
    Stmts *s = &t->s;
    ExprPool *pool = &s->pool;
    const Walk *w = &t->program->walk;
    open_groups(t);
    const Expr *tiles = walk_ids(pool, w, &names_of_tile);
    const Expr *groups = expr_var(pool, names_of_tile.stream_groups, WALK_GROUPS, 1, UINT32_MAX);
    const Expr *k = expr_var(pool, "g->k", WALK_K, 0, UINT32_MAX);
    WalkNames names = names_of_tile;
    names.id = "round";
    const WalkStreamWords words = walk_stream_words(pool, w, tiles, groups, k, expr_const(pool, 1));
    const WalkStream x = walk_stream(pool, w, &names, &words, tiles);
    stmt_let(s, "n_steps", x.steps);
    stmt_loop(s, (Loop){.var = "round",
                        .type = "uint32_t",
                        .start = host_number(t, 0),
                        .limit = host_int(t, "n_steps")});
    stmt_let(s, "tile", x.tile);
    place_of_tile(t, w);
    stmt_let(s, "first_chunk", x.first);
    stmt_let(s, "chunks_here", x.count);
    stmt_define(s, "uint32_t", "step", value_int(s, 1));
    stmt_let(s, "part", x.part);
    part_call(t, &(WalkSlots){.slot = x.slot, .parts = x.parts}, x.next_slot);
    stmt_end(s);
    stmt_end(s);
}

/* GlobalSplitU whose parts are added up by the last one: ids of tiles and parts. */
static void walk_parts(HostText *t)
{
    Stmts *s = &t->s;
    ExprPool *pool = &s->pool;
    Walk w = t->program->walk;
    w.persistent = w.batch_in_id = true;
    open_groups(t);
    stmt_define(s, "uint32_t", "tile", value_cast(s, "uint32_t", value_reg(s, "id")));
    place_of_tile(t, &w);
    const Expr *k = expr_var(pool, "g->k", WALK_K, 0, UINT32_MAX);
    const WalkChunks c = walk_chunks(pool, &w, k, expr_var(pool, "part", WALK_PART, 0, w.split - 1));
    stmt_let(s, "first_chunk", c.first);
    stmt_let(s, "step", c.step);
    stmt_let(s, "chunks_here", c.count);
    const WalkPlace at = {.wg0 = expr_var(pool, "x", 0, 0, UINT32_MAX),
                          .wg1 = expr_var(pool, "y", 0, 0, UINT32_MAX),
                          .wg2 = expr_var(pool, "z", 0, 0, UINT32_MAX)};
    const WalkSlots slots = walk_slots(pool, &w, &names_of_tile, &at);
    part_call(t, &slots, slots.slot);
    stmt_end(s);
}

/* Prints the loop over ids first to last - 1 of the grid. Where parts of K are added to D in place, the
 * thread that has a tile does all of its parts, in order. */
static void walk_ids_of_thread(HostText *t)
{
    static const WalkNames names = {.id = "tile",
                                    .tiles_m = "tiles0",
                                    .tiles_n = "tiles1",
                                    .mapping = "mapping",
                                    .mapping_chunk = "mapping_chunk"};
    const HostPlan *p = t->p;
    Stmts *s = &t->s;
    const bool serial = p->gsu > 1 && !p->gsu_multiple;
    Walk w = t->program->walk;
    w.persistent = w.batch_in_id = true;
    if (serial) w.split = 1;
    stmt_loop(
        s,
        (Loop){.var = "id", .type = "uint64_t", .start = host_int(t, "first"), .limit = host_int(t, "last")});
    const Value *id = value_reg(s, "id"), *parts = value_int(s, serial ? p->gsu : 1);
    if (serial) {
        stmt_if(s, value_op(s, VALUE_MOD, id, parts));
        stmt_next(s);
        stmt_end(s);
    }
    stmt_define(s, "uint32_t", "tile", value_cast(s, "uint32_t", value_op(s, VALUE_DIV, id, parts)));
    WalkPlace at = walk_place(&s->pool, &w, &names);
    stmt_let(s, "x", at.wg0);
    stmt_let(s, "y", at.wg1);
    stmt_let(s, "z", at.wg2);
    if (serial)
        stmt_loop(s, (Loop){.var = "part",
                            .type = "uint32_t",
                            .start = host_number(t, 0),
                            .limit = host_number(t, p->gsu)});
    else
        stmt_let(s, "part", at.part);
    group_call(t);
    if (serial) stmt_end(s);
    stmt_end(s);
}

/* Changes the arguments for GlobalSplitU. A part does not read C. Its sums are scaled by the kernel that adds
 * up the workspace, or are added to D, which the beta-only kernel has written before. */
static void split_args(HostText *t)
{
    const HostPlan *p = t->p;
    Stmts *s = &t->s;
    if (p->gsu == 1 || p->joins) return;
    static const char *const same[][2] = {
        {"g->c", "g->d"}, {"g->ldc", "g->ldd"}, {"g->batchc", "g->batchd"}, {"g->offc", "g->offd"}};
    for (int i = 0; i < 4 && !p->gsu_multiple; i++)
        stmt_set(s, value_reg(s, same[i][0]), value_reg(s, same[i][1]));
    const int one = p->gsu_multiple ? 0 : p->parts;
    for (int i = p->gsu_multiple ? 0 : p->parts; i < 2 * p->parts; i++)
        stmt_set(s, value_named(s, "g->ab[%d]", i), value_int(s, i == one));
}

/* The text of parts of tiles, behind @group. */
static void parts_text(HostText *t)
{
    Stmts *s = &t->s;
    if (!t->p->joins) return;
    stmt_constant(s, "int", "@MT0", t->p->mt0);
    stmt_constant(s, "int", "@MT1", t->p->mt1);
    stmt_constant(s, "int", "@SLOT_STEP", t->program->walk.stream_k ? HOST_STREAM_SLOTS : 1);
    stmt_constant(s, "int", "@FLAGS", WALK_SLOT_FLAGS);
    stmt_file(s, fused_any(&t->p->fused) ? "host/part_fused.h" : "host/part_plain.h");
    stmt_file(s, "host/parts.h");
}

/* Ends the exported function. Stores past the caches are ordered before those by which the thread says that
 * it is done. */
static void close_kernel(HostText *t)
{
    if (t->p->stream_d) stmt_call(&t->s, "_mm_sfence");
    stmt_end(&t->s);
}

void host_groups(HostText *t, Str symbol)
{
    Stmts *s = &t->s;
    const Walk *w = &t->program->walk;
    HostLocal l = host_plan_local(t->p);
    host_keep_text(t);
    group_function(t);
    parts_text(t);
    host_open_kernel(t, symbol, (l.a + l.b + l.sums) * t->p->compute.bytes);
    host_args(t);
    split_args(t);
    stmt_var(s, "@TC *", "la", value_reg(s, "local"));
    host_pointer(t, "@TC *", "lb", "la", host_number(t, l.a));
    host_pointer(t, "@TC *", "sums", "lb", host_number(t, l.b));
    if (t->p->keep_b) stmt_call(s, "@keep_none", value_reg(s, "lb"));
    if (w->persistent || t->p->joins) {
        w->stream_k ? walk_stream_k(t) : w->persistent ? walk_persistent(t) : walk_parts(t);
        close_kernel(t);
        return;
    }
    const Expr *rows = expr_div_i(&s->pool, expr_var(&s->pool, "grid[1]", 0, 0, UINT32_MAX), t->p->gsu);
    stmt_define(s, "uint32_t", "tiles0", value_reg(s, "grid[0]"));
    stmt_define(s, "uint32_t", "tiles1", value_expr(s, rows));
    HOST_UNUSED(t, "tiles1");
    walk_ids_of_thread(t);
    close_kernel(t);
}
