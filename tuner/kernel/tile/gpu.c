/* Elements of a program written by hand on GPUs: each work-item has those that the maps give it; operands of
 * products are in local memory. See lower.h. */
#include <string.h>

#include "kernel/gpu/gpu.h"
#include "kernel/text.h"
#include "kernel/tile/lower.h"

/* ---- who has what ---- */

static const Expr *tid(TileLowering *t)
{
    return expr_var(&t->s->pool, "tid", TILE_SLOT_TID, 0, t->plan->n_threads - 1);
}

/* Coordinates of this work-item: of its subgroup and in it. */
typedef struct {
    const Expr *subgroup[2], *lane[2];
} Coordinates;

static Coordinates coordinates(TileLowering *t, const TilePlace *x)
{
    ExprPool *pool = &t->s->pool;
    const Expr *group = expr_div_i(pool, tid(t), t->plan->n_lanes);
    const Expr *lane = expr_mod_i(pool, tid(t), t->plan->n_lanes);
    return (Coordinates){{expr_div_i(pool, group, x->wg.layout[1]), expr_mod_i(pool, group, x->wg.layout[1])},
                         {expr_div_i(pool, lane, x->sg.layout[1]), expr_mod_i(pool, lane, x->sg.layout[1])}};
}

/* Row or column of element i of this work-item. */
static const Expr *element(TileLowering *t, int tile, int side, const Expr *i)
{
    const TilePlace *x = &t->plan->tile[tile];
    Coordinates c = coordinates(t, x);
    return tile_element(&t->s->pool, x, t->p->tile[tile].size, side, c.subgroup[side], c.lane[side], i);
}

/* Opens an if around what only one of the work-items with the same elements does; false: all differ. */
static bool open_writes(TileLowering *t, int tile)
{
    const TilePlace *x = &t->plan->tile[tile];
    Coordinates c = coordinates(t, x);
    const Expr *writes = tile_writes(&t->s->pool, x, t->p->tile[tile].size, c.subgroup);
    if (expr_is(writes, 1)) return false;
    stmt_if_expr(t->s, writes);
    return true;
}

static Access global(TileLowering *t, int tile, const Expr *row, const Expr *col)
{
    const Tile *g = &t->p->tile[tile];
    const char *base = stmts_name(t->s, "base_%c", g->operand - 'A' + 'a');
    return access_element(SPACE_GLOBAL, tile_type(t->p, tile), type_bytes(g->type), value_reg(t->s, base),
                          tile_offset(t, tile, row, col));
}

/* Element number i * per[1] + j of a tile in registers. */
static const Value *held(TileLowering *t, int tile, const Expr *i, const Expr *j)
{
    ExprPool *pool = &t->s->pool;
    int32_t per = t->plan->tile[tile].per[1];
    return value_at(t->s, tile_array(t, tile), expr_add(pool, expr_mul_i(pool, i, per), j));
}

/* ---- loads and stores ---- */

/* What a load finds at (row, col), or the padding. */
static const Value *found(TileLowering *t, int tile, const char *type, const Expr *row, const Expr *col)
{
    const HandArgs *h = t->o->hand;
    const Value *padding = tile_constant(t, h->padding);
    const char *narrow = !strcmp(type, "@T") ? "@narrow" : "@from_c";
    const Value *inside = value_expr(t->s, tile_inside(t, tile, row, col));
    return value_select(t->s, inside, value_load(t->s, global(t, tile, row, col)),
                        value_call(t->s, narrow, padding));
}

static void load_element(TileLowering *t, const Expr *row, const Expr *col)
{
    const int to = t->o->tile[0], from = t->o->tile[1];
    const Tile *x = &t->p->tile[to];
    bool swap = t->o->hand->transpose;
    const Value *v = found(t, from, tile_type(t->p, from), swap ? col : row, swap ? row : col);
    const Expr *at = tile_local(&t->s->pool, &t->plan->tile[to], row, col);
    stmt_store(t->s, access_element(SPACE_LOCAL, "@T", type_bytes(x->type), tile_array(t, to), at), v);
}

/* Without a map: along the base's rows, all work-items side by side. */
static void load_in_turn(TileLowering *t)
{
    ExprPool *pool = &t->s->pool;
    const Tile *g = &t->p->tile[t->o->tile[1]];
    const Expr *e = stmt_loop(t->s, (Loop){.var = "e",
                                           .type = "unsigned",
                                           .start = tid(t),
                                           .limit = expr_const(pool, (int64_t)g->size[0] * g->size[1]),
                                           .step = t->plan->n_threads,
                                           .slot = TILE_SLOT_I,
                                           .unroll = UNROLL_NONE});
    const Expr *row = expr_div_i(pool, e, g->size[1]), *col = expr_mod_i(pool, e, g->size[1]);
    bool swap = t->o->hand->transpose;
    load_element(t, swap ? col : row, swap ? row : col);
    stmt_end(t->s);
}

static void load_local(TileLowering *t)
{
    const int to = t->o->tile[0];
    const TilePlace *x = &t->plan->tile[to];
    if (!x->mapped) {
        load_in_turn(t);
        return;
    }
    bool some = open_writes(t, to);
    const Expr *i = stmt_unrolled(t->s, "i", TILE_SLOT_I, x->per[0]);
    const Expr *j = stmt_unrolled(t->s, "j", TILE_SLOT_J, x->per[1]);
    load_element(t, element(t, to, 0, i), element(t, to, 1, j));
    stmt_end(t->s);
    stmt_end(t->s);
    if (some) stmt_end(t->s);
}

static void load(TileLowering *t)
{
    const int to = t->o->tile[0], from = t->o->tile[1];
    if (t->p->tile[to].space == SPACE_LOCAL) {
        load_local(t);
        return;
    }
    const TilePlace *x = &t->plan->tile[to];
    bool swap = t->o->hand->transpose;
    const Expr *i = stmt_unrolled(t->s, "i", TILE_SLOT_I, x->per[0]);
    const Expr *j = stmt_unrolled(t->s, "j", TILE_SLOT_J, x->per[1]);
    const Expr *row = element(t, to, 0, i), *col = element(t, to, 1, j);
    stmt_set(t->s, held(t, to, i, j),
             found(t, from, tile_type(t->p, from), swap ? col : row, swap ? row : col));
    stmt_end(t->s);
    stmt_end(t->s);
}

static void store(TileLowering *t)
{
    const int to = t->o->tile[0], from = t->o->tile[1];
    const TilePlace *x = &t->plan->tile[from];
    bool some = open_writes(t, from);
    const Expr *i = stmt_unrolled(t->s, "i", TILE_SLOT_I, x->per[0]);
    const Expr *j = stmt_unrolled(t->s, "j", TILE_SLOT_J, x->per[1]);
    const Expr *row = element(t, from, 0, i), *col = element(t, from, 1, j);
    stmt_if_expr(t->s, tile_inside(t, to, row, col));
    stmt_store(t->s, global(t, to, row, col), held(t, from, i, j));
    for (int k = 0; k < 3 + some; k++) stmt_end(t->s);
}

/* One element of every 64 bytes of each row, and the last one. */
static void prefetch(TileLowering *t)
{
    ExprPool *pool = &t->s->pool;
    const int tile = t->o->tile[0];
    const Tile *g = &t->p->tile[tile];
    int32_t line = 64 / type_bytes(g->type), lines = (g->size[1] + line - 1) / line + 1;
    const Expr *e = stmt_loop(t->s, (Loop){.var = "e",
                                           .type = "unsigned",
                                           .start = tid(t),
                                           .limit = expr_const(pool, (int64_t)g->size[0] * lines),
                                           .step = t->plan->n_threads,
                                           .slot = TILE_SLOT_I,
                                           .unroll = UNROLL_NONE});
    const Expr *row = expr_div_i(pool, e, lines), *at = expr_mul_i(pool, expr_mod_i(pool, e, lines), line);
    const Expr *col = expr_op(pool, EXPR_MIN, at, expr_const(pool, g->size[1] - 1));
    stmt_if_expr(t->s, tile_inside(t, tile, row, col));
    const Value *base = value_named(t->s, "base_%c", g->operand - 'A' + 'a');
    stmt_call(t->s, "@prefetch",
              value_op(t->s, VALUE_ADD, base, value_expr(t->s, tile_offset(t, tile, row, col))));
    stmt_end(t->s);
    stmt_end(t->s);
}

/* ---- arithmetic ---- */

static const Value *operand(TileLowering *t, int tile, const Expr *row, const Expr *col)
{
    const Tile *x = &t->p->tile[tile];
    const Expr *at = tile_local(&t->s->pool, &t->plan->tile[tile], row, col);
    const Value *v =
        value_load(t->s, access_element(SPACE_LOCAL, "@T", type_bytes(x->type), tile_array(t, tile), at));
    const char *widen = gpu_widen(x->type);
    return *widen ? value_call(t->s, widen, v) : value_cast(t->s, "@TC", v);
}

/* Products of one column of the first operand and one row of the second. */
static void outer_product(TileLowering *t, const Expr *l)
{
    const int acc = t->o->tile[0];
    const TilePlace *x = &t->plan->tile[acc];
    const Value *a = stmt_array(t->s, "@TC", "x", DIMS(x->per[0]));
    const Value *b = stmt_array(t->s, "@TC", "y", DIMS(x->per[1]));
    const Expr *i = stmt_unrolled(t->s, "i", TILE_SLOT_I, x->per[0]);
    stmt_set(t->s, value_at(t->s, a, i), operand(t, t->o->tile[1], element(t, acc, 0, i), l));
    stmt_end(t->s);
    const Expr *j = stmt_unrolled(t->s, "j", TILE_SLOT_J, x->per[1]);
    stmt_set(t->s, value_at(t->s, b, j), operand(t, t->o->tile[2], l, element(t, acc, 1, j)));
    stmt_end(t->s);
    i = stmt_unrolled(t->s, "i", TILE_SLOT_I, x->per[0]);
    j = stmt_unrolled(t->s, "j", TILE_SLOT_J, x->per[1]);
    const Value *sum = held(t, acc, i, j);
    stmt_set(t->s, sum, value_call(t->s, "@madd", value_at(t->s, a, i), value_at(t->s, b, j), sum));
    stmt_end(t->s);
    stmt_end(t->s);
}

static void elements(TileLowering *t, const Value *v);

static void mma(TileLowering *t)
{
    enum { PRODUCTS = 256 }; /* of a work-item in the body of the loop over K */
    ExprPool *pool = &t->s->pool;
    const TilePlace *x = &t->plan->tile[t->o->tile[0]];
    const int32_t depth = t->p->tile[t->o->tile[1]].size[1];
    int32_t unroll = 8;
    while (unroll > 1 && (depth % unroll || unroll * x->per[0] * x->per[1] > PRODUCTS)) unroll /= 2;
    if (!t->o->set) elements(t, tile_constant(t, 0));
    const Expr *l = stmt_loop(t->s, (Loop){.var = "l",
                                           .type = "int",
                                           .start = expr_const(pool, 0),
                                           .limit = expr_const(pool, depth),
                                           .step = unroll,
                                           .slot = TILE_SLOT_L,
                                           .unroll = UNROLL_NONE});
    l = expr_within(pool, l, 0, depth - unroll);
    const Expr *u = stmt_unrolled(t->s, "u", TILE_SLOT_U, unroll);
    outer_product(t, expr_add(pool, l, u));
    stmt_end(t->s);
    stmt_end(t->s);
}

static void elements(TileLowering *t, const Value *v)
{
    const int *tile = t->o->tile;
    const TilePlace *x = &t->plan->tile[tile[0]];
    const Expr *e = stmt_unrolled(t->s, "e", TILE_SLOT_I, (int64_t)x->per[0] * x->per[1]);
    const Value *d = value_at(t->s, tile_array(t, tile[0]), e);
    const Value *a = v ? v : value_at(t->s, tile_array(t, tile[1]), e);
    const Value *b = !v && tile[2] >= 0 ? value_at(t->s, tile_array(t, tile[2]), e) : NULL;
    stmt_set(t->s, d, t->o->kind == OP_TILE_MMA ? v : tile_element_value(t, d, a, b));
    stmt_end(t->s);
}

static const TileFamily gpu_family = {.style = &expr_gpu_style,
                                      .widen = "@to_c",
                                      .narrow = "@from_c",

                                      .load = load,
                                      .store = store,
                                      .mma = mma,
                                      .elements = elements,
                                      .prefetch = prefetch,
                                      .barriers = true};

/* ---- the kernel ---- */

/* Numbers of the program, batches of the matrices. */
static void numbers(const GpuPlan *p, const Hand *h, Buf *out)
{
    static const char *const names[] = {"size_m", "size_n", "ignored", "lda", "ldb",
                                        "ldc",    "ldd",    "wg0",     "wg1", "wg2"};
    for (int i = 0; i < HAND_PARAMS; i++)
        if (i != HAND_K && h->used[i])
            buf_printf(out, "    const unsigned v_%s = %s;\n", hand_params[i], names[i]);
    if (h->used[HAND_K]) buf_puts(out, "    const unsigned v_K = @is_zero(@from_s(alpha)) ? 0 : size_k;\n");
    for (int i = 0; i < 4; i++) {
        char n = "abcd"[i];
        buf_printf(out, "    %s%s *base_%c = ", i < 3 ? "const " : "", i < 2 ? "@T" : "@TD", n);
        gpu_tensor(p, n, p->strided, out);
        buf_puts(out, ";\n");
    }
}

static void declare(TileLowering *t, const GpuPlan *p)
{
    Stmts *s = t->s;
    for (int i = 0; i < t->p->n_tiles; i++) {
        const Tile *x = &t->p->tile[i];
        const TilePlace *at = &t->plan->tile[i];
        const char *name = stmts_name(s, "t_%s", x->name);
        if (x->space == SPACE_LOCAL)
            stmt_define(
                s, "@T *", name,
                value_cast(s, "@T *", value_op(s, VALUE_ADD, value_reg(s, "lds"), value_int(s, at->offset))));
        if (x->space == SPACE_REGISTER)
            stmt_array(s, tile_type(t->p, i), name, DIMS(at->per[0] * at->per[1]));
    }
    tile_positions(t);
    t->alpha = stmt_define(s, "@TC", "alpha_c", value_call(s, "@from_s", value_reg(s, "alpha")));
    t->beta = p->use_beta ? stmt_define(s, "@TC", "beta_c", value_call(s, "@from_s", value_reg(s, "beta")))
                          : tile_constant(t, 0);
}

static Err body(const Program *p, const TilePlan *plan, const GpuPlan *g, Buf *out)
{
    Stmts s;
    stmts_init(&s, GPU_STMTS_BYTES);
    TileLowering t = {.p = p, .plan = plan, .family = &gpu_family, .s = &s};
    declare(&t, g);
    tile_ops(&t);
    Err e = stmt_print(&s, g->dialect->words, 1, out);
    stmts_fini(&s);
    return e;
}

/* Padding as an element of A and B in memory; a prefetch. */
static void functions(const GpuPlan *p, Buf *out)
{
    static const char *const files[] = {
        [TARGET_AMDGCN] = "amdgcn/prefetch.hip", [TARGET_NVPTX] = "nvptx/prefetch.cuh"};
    const char *narrow = gpu_narrow(p->in.type);
    buf_printf(out, "@DEV @T @narrow(@TC x) { return %s(x); }\n", *narrow ? narrow : "(@T)");
    kernel_text_put(files[p->target->family], out);
}

Err tile_lower_gpu(const Program *p, const TilePlan *plan, Str symbol, Buf *out)
{
    GpuPlan g;
    GpuWalk walk;
    Buf text;
    TRY(gpu_plan_types(&g, &p->hand->type, plan->target));
    g.n_threads = plan->n_threads;
    g.lds_bytes = plan->local_bytes ? (int)plan->local_bytes : 16;
    g.walk = p->walk;
    TRY(gpu_args(&g));
    Program named = *p;
    named.gpu = &g;
    named.target = plan->target;
    buf_init(&text);
    g.dialect->prelude(&g, &text);
    gpu_types(&g, &text);
    functions(&g, &text);
    gpu_signature(&g, symbol, &text);
    g.dialect->lds_body(&g, &text);
    buf_puts(&text, "    const unsigned tid = @tid();\n");
    gpu_walk_place(&walk, &g, &text);
    numbers(&g, p->hand, &text);
    Err e = gpu_walk_check(&walk);
    if (!e) e = body(p, plan, &g, &text);
    buf_puts(&text, "}\n");
    if (!e) e = buf_check(&text);
    if (!e) e = gpu_finish_program(&named, symbol, buf_view(&text), out);
    buf_fini(&text);
    return e;
}
