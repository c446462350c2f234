/* Elements of a program written by hand on the host: one thread runs a work-group, tiles lie in local memory,
 * and a subtile of a subgroup is multiplied in register tiles of vectors. See lower.h. */
#include "kernel/host/text.h"
#include "kernel/tile/lower.h"

enum { VECTOR_ALIGN = 64 };

/* What products are made of: h rows and w vectors of a subtile stay in registers. */
typedef struct {
    HostPlan plan;
    int64_t bytes; /* of local memory */
} HostNumbers;

static const HostNumbers *numbers(const TileLowering *t) { return t->numbers; }

static const Expr *counter(TileLowering *t, const char *name, int slot, int64_t n, int64_t step)
{
    ExprPool *pool = &t->s->pool;
    const Expr *e = stmt_loop(t->s, (Loop){.var = name,
                                           .type = "int64_t",
                                           .start = expr_const(pool, 0),
                                           .limit = expr_const(pool, n),
                                           .step = step,
                                           .slot = slot});
    (void)e;
    return expr_var(pool, name, slot, 0, INT64_C(1) << 40); /* as wide as its type */
}

/* Type of a tile's elements in this thread's memory. */
static const char *type_of(const TileLowering *t, int tile)
{
    return t->p->tile[tile].space == SPACE_LOCAL ? "@TC" : tile_type(t->p, tile);
}

static int bytes_of(const TileLowering *t, int tile)
{
    const Tile *x = &t->p->tile[tile];
    return x->space == SPACE_LOCAL ? numbers(t)->plan.compute.bytes : type_bytes(x->type);
}

static Access global(TileLowering *t, int tile, const Expr *row, const Expr *col)
{
    const Tile *g = &t->p->tile[tile];
    const char *base = stmts_name(t->s, "base_%c", g->operand - 'A' + 'a');
    const char *type = g->operand == 'C' || g->operand == 'D' ? "@TD" : "@TI";
    return access_element(SPACE_GLOBAL, type, type_bytes(g->type), value_reg(t->s, base),
                          tile_offset(t, tile, row, col));
}

/* Where (row, col) of a local or register tile is. The first operand of products is read an element at a
 * time, so that rows stay rows. */
static const Expr *at(TileLowering *t, int tile, const Expr *row, const Expr *col)
{
    const Tile *x = &t->p->tile[tile];
    return expr_add(&t->s->pool, expr_mul_i(&t->s->pool, row, x->size[1]), col);
}

static Access local(TileLowering *t, int tile, const Expr *i)
{
    return access_element(SPACE_LOCAL, type_of(t, tile), bytes_of(t, tile), tile_array(t, tile), i);
}

/* ---- loads and stores ---- */

/* 1: the whole tile is inside of its base. */
static const Expr *all_inside(TileLowering *t, int tile)
{
    ExprPool *pool = &t->s->pool;
    const Tile *g = &t->p->tile[tile];
    const Expr *zero = expr_const(pool, 0);
    const Expr *first = tile_inside(t, tile, zero, zero);
    const Expr *last =
        tile_inside(t, tile, expr_const(pool, g->size[0] - 1), expr_const(pool, g->size[1] - 1));
    return expr_op(pool, EXPR_BOTH, first, last);
}

static void load_elements(TileLowering *t, bool guarded)
{
    const int to = t->o->tile[0], from = t->o->tile[1];
    const Tile *x = &t->p->tile[to];
    const bool swap = t->o->hand->transpose;
    const Expr *e[2] = {counter(t, "i", TILE_SLOT_I, x->size[0], 1)};
    e[1] = counter(t, "j", TILE_SLOT_J, x->size[1], 1);
    const Expr *row = swap ? e[1] : e[0], *col = swap ? e[0] : e[1];
    const Value *v = value_load(t->s, global(t, from, row, col));
    if (x->space == SPACE_LOCAL) v = value_call(t->s, "@in", v);
    if (guarded) {
        const Value *padding = tile_constant(t, t->o->hand->padding);
        if (x->space != SPACE_LOCAL) padding = value_call(t->s, "@to", padding);
        v = value_select(t->s, value_expr(t->s, tile_inside(t, from, row, col)), v, padding);
    }
    stmt_store(t->s, local(t, to, at(t, to, e[0], e[1])), v);
    stmt_end(t->s);
    stmt_end(t->s);
}

/* Rows of equal types, all inside of the base: compilers make vectors of a copy of known length. */
static void copy_rows(TileLowering *t, int memory, int tile, bool stores)
{
    const Tile *x = &t->p->tile[tile];
    const Expr *i = counter(t, "i", TILE_SLOT_I, x->size[0], 1), *zero = expr_const(&t->s->pool, 0);
    const Value *base = value_named(t->s, "base_%c", t->p->tile[memory].operand - 'A' + 'a');
    const Value *outside = value_op(t->s, VALUE_ADD, base, value_expr(t->s, tile_offset(t, memory, i, zero)));
    const Value *inside =
        value_op(t->s, VALUE_ADD, tile_array(t, tile), value_expr(t->s, at(t, tile, i, zero)));
    stmt_call(t->s, "memcpy", stores ? outside : inside, stores ? inside : outside,
              value_int(t->s, (int64_t)x->size[1] * bytes_of(t, tile)));
    stmt_end(t->s);
}

static void load(TileLowering *t)
{
    const int to = t->o->tile[0], from = t->o->tile[1];
    stmt_if_expr(t->s, all_inside(t, from));
    if (!t->o->hand->transpose && bytes_of(t, to) == type_bytes(t->p->tile[from].type))
        copy_rows(t, from, to, false);
    else
        load_elements(t, false);
    stmt_else(t->s);
    load_elements(t, true);
    stmt_end(t->s);
}

static void store_elements(TileLowering *t)
{
    const int to = t->o->tile[0], from = t->o->tile[1];
    const Tile *x = &t->p->tile[from];
    const Expr *i = counter(t, "i", TILE_SLOT_I, x->size[0], 1);
    const Expr *j = counter(t, "j", TILE_SLOT_J, x->size[1], 1);
    stmt_if_expr(t->s, tile_inside(t, to, i, j));
    stmt_store(t->s, global(t, to, i, j), value_load(t->s, local(t, from, at(t, from, i, j))));
    for (int k = 0; k < 3; k++) stmt_end(t->s);
}

static void store(TileLowering *t)
{
    stmt_if_expr(t->s, all_inside(t, t->o->tile[0]));
    copy_rows(t, t->o->tile[0], t->o->tile[1], true);
    stmt_else(t->s);
    store_elements(t);
    stmt_end(t->s);
}

/* The first element of every 64 bytes of each row. */
static void prefetch(TileLowering *t)
{
    const int tile = t->o->tile[0];
    const Tile *g = &t->p->tile[tile];
    const Expr *i = counter(t, "i", TILE_SLOT_I, g->size[0], 1);
    const Expr *j = counter(t, "j", TILE_SLOT_J, g->size[1], 64 / type_bytes(g->type));
    stmt_if_expr(t->s, tile_inside(t, tile, i, j));
    const Value *base = value_named(t->s, "base_%c", g->operand - 'A' + 'a');
    stmt_call(t->s, "__builtin_prefetch",
              value_op(t->s, VALUE_ADD, base, value_expr(t->s, tile_offset(t, tile, i, j))));
    for (int k = 0; k < 3; k++) stmt_end(t->s);
}

/* ---- arithmetic ---- */

static void elements(TileLowering *t, const Value *v)
{
    const int *tile = t->o->tile;
    const Tile *x = &t->p->tile[tile[0]];
    const Expr *e = counter(t, "e", TILE_SLOT_I, (int64_t)x->size[0] * x->size[1], 1);
    const Value *d = value_load(t->s, local(t, tile[0], e));
    const Value *a = v ? v : value_load(t->s, local(t, tile[1], e));
    const Value *b = !v && tile[2] >= 0 ? value_load(t->s, local(t, tile[2], e)) : NULL;
    stmt_store(t->s, local(t, tile[0], e), t->o->kind == OP_TILE_MMA ? v : tile_element_value(t, d, a, b));
    stmt_end(t->s);
}

/* Rows and vectors that stay in registers: the most products for each vector that is read. */
static void register_tile(const TileLowering *t, int tile, int *h, int *w)
{
    const HostPlan *p = &numbers(t)->plan;
    const int32_t *data = t->plan->tile[tile].wg.data;
    const int regs = p->target->n_vector_regs;
    double best = 0;
    *h = *w = 0;
    for (int v = 1; v * p->vl <= data[1]; v++)
        for (int r = 1; r <= data[0]; r++) {
            if (data[1] % (v * p->vl) || data[0] % r || r * v + v + 1 > regs) continue;
            double score = (double)r * v / (r + v);
            if (score > best) best = score, *h = r, *w = v;
        }
}

static const Value *vector_pointer(TileLowering *t, int tile, const Expr *row, const Expr *col)
{
    return value_op(t->s, VALUE_ADD, tile_array(t, tile), value_expr(t->s, at(t, tile, row, col)));
}

/* One column of the first operand times one row of the second, in registers. */
static void register_products(TileLowering *t, const Expr *r, const Expr *c, const Expr *l, int h, int w)
{
    ExprPool *pool = &t->s->pool;
    const int vl = numbers(t)->plan.vl, *tile = t->o->tile;
    const Value *y[32];
    for (int v = 0; v < w; v++)
        y[v] = stmt_define(
            t->s, "@V", stmts_name(t->s, "y%d", v),
            value_call(t->s, "@load", vector_pointer(t, tile[2], l, expr_add_i(pool, c, v * vl))));
    for (int i = 0; i < h; i++) {
        const Expr *row = expr_add_i(pool, r, i);
        const Value *x = stmt_define(
            t->s, "@V", stmts_name(t->s, "x%d", i),
            value_call(t->s, "@set", value_load(t->s, local(t, tile[1], at(t, tile[1], row, l)))));
        for (int v = 0; v < w; v++) {
            const Value *sum = value_named(t->s, "s%d_%d", i, v);
            stmt_set(t->s, sum, value_call(t->s, "@fma", x, y[v], sum));
        }
    }
}

static void register_mma(TileLowering *t, int h, int w)
{
    ExprPool *pool = &t->s->pool;
    const int acc = t->o->tile[0], vl = numbers(t)->plan.vl;
    const Tile *x = &t->p->tile[acc];
    const Expr *c = counter(t, "j", TILE_SLOT_J, x->size[1], w * vl);
    const Expr *r = counter(t, "i", TILE_SLOT_I, x->size[0], h);
    for (int i = 0; i < h; i++)
        for (int v = 0; v < w; v++) {
            const Value *from = vector_pointer(t, acc, expr_add_i(pool, r, i), expr_add_i(pool, c, v * vl));
            stmt_var(t->s, "@V", stmts_name(t->s, "s%d_%d", i, v),
                     t->o->set ? value_call(t->s, "@load", from)
                               : value_call(t->s, "@set", tile_constant(t, 0)));
        }
    const Expr *l = counter(t, "l", TILE_SLOT_L, t->p->tile[t->o->tile[1]].size[1], 1);
    register_products(t, r, c, l, h, w);
    stmt_end(t->s);
    for (int i = 0; i < h; i++)
        for (int v = 0; v < w; v++) {
            const Value *to = vector_pointer(t, acc, expr_add_i(pool, r, i), expr_add_i(pool, c, v * vl));
            stmt_call(t->s, "@store", to, value_named(t->s, "s%d_%d", i, v));
        }
    stmt_end(t->s);
    stmt_end(t->s);
}

/* Subtiles that are no multiple of a vector. */
static void scalar_mma(TileLowering *t)
{
    const int *tile = t->o->tile;
    if (!t->o->set) elements(t, tile_constant(t, 0));
    const Expr *i = counter(t, "i", TILE_SLOT_I, t->p->tile[tile[0]].size[0], 1);
    const Expr *l = counter(t, "l", TILE_SLOT_L, t->p->tile[tile[1]].size[1], 1);
    const Value *x = stmt_define(t->s, "@TC", "x", value_load(t->s, local(t, tile[1], at(t, tile[1], i, l))));
    const Expr *j = counter(t, "j", TILE_SLOT_J, t->p->tile[tile[0]].size[1], 1);
    const Access sum = local(t, tile[0], at(t, tile[0], i, j));
    const Value *y = value_load(t->s, local(t, tile[2], at(t, tile[2], l, j)));
    stmt_store(t->s, sum, value_op(t->s, VALUE_ADD, value_load(t->s, sum), value_op(t->s, VALUE_MUL, x, y)));
    for (int k = 0; k < 3; k++) stmt_end(t->s);
}

static void mma(TileLowering *t)
{
    int h, w;
    register_tile(t, t->o->tile[0], &h, &w);
    if (h)
        register_mma(t, h, w);
    else
        scalar_mma(t);
}

static const TileFamily host_family = {.style = &expr_c_style,
                                       .widen = "@from",
                                       .narrow = "@to",
                                       .load = load,
                                       .store = store,
                                       .mma = mma,
                                       .elements = elements,
                                       .prefetch = prefetch};

/* ---- the kernel ---- */

static void params(TileLowering *t, const HostPlan *p)
{
    static const char *const names[] = {"g->m",   "g->n",   "g->k", "g->lda", "g->ldb",
                                        "g->ldc", "g->ldd", "wg0",  "wg1",    "wg2"};
    Stmts *s = t->s;
    t->alpha = stmt_define(s, "@TC", "alpha_c", value_named(s, "g->ab[0]"));
    t->beta = stmt_define(s, "@TC", "beta_c", value_named(s, "g->ab[%d]", p->parts));
    for (int i = 0; i < HAND_PARAMS; i++) {
        if (!t->p->hand->used[i]) continue;
        const Value *x = value_cast(s, "uint32_t", value_reg(s, names[i]));
        if (i == HAND_K) /* BLAS does not read A and B where alpha is 0 */
            x = value_select(s, value_op(s, VALUE_EQ, t->alpha, value_int(s, 0)), value_int(s, 0), x);
        stmt_define(s, "uint32_t", hand_param(&s->pool, (HandParam)i)->name, x);
        stmt_do(s, value_cast(s, "void", value_reg(s, hand_param(&s->pool, (HandParam)i)->name)));
    }
    stmt_do(s, value_cast(s, "void", value_reg(s, "beta_c")));
}

static void bases(TileLowering *t, HostText *h)
{
    for (int i = 0; i < 4; i++) {
        const char n = "abcd"[i];
        const char *element = i < 2 ? "@TI" : "@TD", *constant = i < 3 ? "const " : "";
        const char *name = stmts_name(t->s, "base_%c", n);
        stmt_define(t->s, stmts_name(t->s, "%s%s *", constant, element), name,
                    host_matrix(h, n, element, i < 3, h->p->strided, "wg2"));
        HOST_UNUSED(h, name);
    }
}

static void declare(TileLowering *t, HostNumbers *n)
{
    Stmts *s = t->s;
    int64_t offset = 0;
    for (int i = 0; i < t->p->n_tiles; i++) {
        const Tile *x = &t->p->tile[i];
        if (x->space == SPACE_GLOBAL) continue;
        const char *pointer = stmts_name(s, "%s *", type_of(t, i)), *name = stmts_name(s, "t_%s", x->name);
        stmt_define(
            s, stmts_name(s, "%srestrict ", pointer), name,
            value_cast(s, pointer, value_op(s, VALUE_ADD, value_reg(s, "local"), value_int(s, offset))));
        stmt_do(s, value_cast(s, "void", value_reg(s, name)));
        int64_t bytes = (int64_t)x->size[0] * x->size[1] * bytes_of(t, i);
        offset += (bytes + VECTOR_ALIGN - 1) / VECTOR_ALIGN * VECTOR_ALIGN;
    }
    n->bytes = offset;
    tile_positions(t);
}

static void group(TileLowering *t, HostText *h, HostNumbers *n)
{
    stmt_gap(t->s);
    stmt_function(t->s, (Function){.kind = FUNCTION_STATIC,
                                   .name = "@group",
                                   STMT_PARAMS({"const @Args *", "g"}, {"int64_t", "wg0"}, {"int64_t", "wg1"},
                                               {"int64_t", "wg2"}, {"char *", "local"})});
    params(t, &n->plan);
    bases(t, h);
    declare(t, n);
    tile_ops(t);
    stmt_end(t->s);
}

/* Work-groups first .. last - 1 of the grid. */
static void entry(TileLowering *t, HostText *h, const HostNumbers *n, Str symbol)
{
    static const WalkNames names = {.id = "tile", .tiles_m = "tiles0", .tiles_n = "tiles1"};
    Stmts *s = t->s;
    Walk w = t->p->walk;
    w.persistent = w.batch_in_id = true;
    w.split = 1;
    host_open_kernel(h, symbol, n->bytes ? n->bytes : VECTOR_ALIGN);
    host_args(h);
    stmt_define(s, "uint32_t", "tiles0", value_reg(s, "grid[0]"));
    stmt_define(s, "uint32_t", "tiles1", value_reg(s, "grid[1]"));
    HOST_UNUSED(h, "tiles1");
    stmt_loop(
        s,
        (Loop){.var = "id", .type = "uint64_t", .start = host_int(h, "first"), .limit = host_int(h, "last")});
    stmt_define(s, "uint32_t", "tile", value_cast(s, "uint32_t", value_reg(s, "id")));
    WalkPlace place = walk_place(&s->pool, &w, &names);
    const Expr *wg0 = stmt_let(s, "wg0", place.wg0), *wg1 = stmt_let(s, "wg1", place.wg1);
    const Expr *wg2 = stmt_let(s, "wg2", place.wg2);
    stmt_call(s, "@group", value_reg(s, "g"), value_expr(s, wg0), value_expr(s, wg1), value_expr(s, wg2),
              value_reg(s, "local"));
    stmt_end(s);
    stmt_end(s);
}

Err tile_lower_host(const Program *p, const TilePlan *plan, Str symbol, Buf *out)
{
    HostNumbers n = {.bytes = 0};
    HostText h;
    View view[4];
    const ProblemType *pt = &p->hand->type;
    host_plan_types(&n.plan, pt, plan->target);
    const HostPlan *types = &n.plan;
    if (types->parts != 1 || !types->in.c || !types->compute.c || !types->out.c)
        FAIL(ERR_INPUT, "host kernels written by hand have no data type '%s'",
             type_letter((DataType)pt->DataType));
    n.plan.vl = plan->target->vector_bits / 8 / types->compute.bytes;
    for (int i = 0; i < 4; i++)
        program_view(&view[i], i, i == 0 ? pt->TransposeA : i == 1 ? pt->TransposeB : false);
    TRY(host_text_init(&h, types, view));
    h.program = p;
    TileLowering t = {.p = p, .plan = plan, .family = &host_family, .s = &h.s, .numbers = &n};
    host_prelude(&h);
    group(&t, &h, &n);
    entry(&t, &h, &n, symbol);
    Err e = host_finish(&h, symbol, out);
    host_text_fini(&h);
    return e;
}
