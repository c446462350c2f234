/* Kernels of programs written by hand on GPUs: arguments, declarations, ops on elements. Each work-item has
 * the elements that the maps, or the lanes of a matrix instruction, give it. See gpu.h. */
#include "kernel/amdgcn/amdgcn.h"
#include "kernel/gpu/walk.h"
#include "kernel/lower/async.h"
#include "kernel/tile/gpu.h"

/* ---- elements of a work-item ---- */

const Expr *tile_gpu_tid(TileLowering *t)
{
    return expr_var(&t->s->pool, "tid", TILE_SLOT_TID, 0, t->plan->n_threads - 1);
}

const Expr *tile_gpu_held(TileLowering *t, int tile, int side, const Expr *e)
{
    return tile_held(&t->s->pool, t->p, t->plan, tile, side, tile_gpu_tid(t), e);
}

/* Sums of MFMA and WMMA are vectors, one for each instruction. */
static bool has_vectors(const Program *p, const TilePlan *plan, int tile)
{
    const MatrixInst *in = plan->tile[tile].inst;
    return in && in->n_acc > 1 && matrix_unit(in) != MATRIX_UNIT_MMA &&
           p->tile[tile].type == hand_sum_type(p->hand);
}

const Value *tile_gpu_register(TileLowering *t, int tile, const Expr *e)
{
    ExprPool *pool = &t->s->pool;
    const Value *all = tile_array(t, tile);
    if (!has_vectors(t->p, t->plan, tile)) return value_at(t->s, all, e);
    const int n = t->plan->tile[tile].inst->n_acc;
    return value_at(t->s, value_at(t->s, all, expr_div_i(pool, e, n)), expr_mod_i(pool, e, n));
}

void tile_gpu_clear(TileLowering *t, int tile)
{
    const Expr *e = stmt_unrolled(t->s, "e", TILE_SLOT_I, t->plan->tile[tile].count);
    stmt_set(t->s, tile_gpu_register(t, tile, e), tile_constant(t, 0));
    stmt_end(t->s);
}

/* at = what does not depend on counters of loops that are written out + *rest. */
static const Expr *common_part(ExprPool *pool, const Expr *at, const Expr **rest)
{
    static const int slots[] = {TILE_SLOT_L, TILE_SLOT_I, TILE_SLOT_J, TILE_SLOT_U};
    const Expr *common = at, *with;
    int64_t c;
    *rest = expr_const(pool, 0);
    for (size_t i = 0; i < sizeof slots / sizeof *slots; i++) {
        expr_split(pool, common, slots[i], &common, &with);
        *rest = expr_add(pool, *rest, with);
    }
    common = expr_base(pool, common, &c);
    *rest = expr_add_i(pool, *rest, c);
    return common;
}

TilePointer tile_gpu_pointer(TileLowering *t, int tile, const char *name, const Expr *at)
{
    const Expr *rest, *common = common_part(&t->s->pool, at, &rest);
    const Value *pointer = value_op(t->s, VALUE_ADD, tile_array(t, tile), value_expr(t->s, common));
    return (TilePointer){tile, common, stmt_define(t->s, "char *", name, pointer)};
}

Access tile_gpu_local(TileLowering *t, const TilePointer *p, const char *type, int bytes, const Expr *at)
{
    const Expr *rest, *common = common_part(&t->s->pool, at, &rest);
    if (expr_same(common, p->common)) return access_at(SPACE_LOCAL, type, bytes, p->pointer, rest);
    return access_at(SPACE_LOCAL, type, bytes, tile_array(t, p->tile), at);
}

static void elements(TileLowering *t, const Value *v)
{
    const int *tile = t->o->tile;
    const Expr *e = stmt_unrolled(t->s, "e", TILE_SLOT_I, t->plan->tile[tile[0]].count);
    const Value *d = tile_gpu_register(t, tile[0], e);
    const Value *a = v ? v : tile_gpu_register(t, tile[1], e);
    const Value *b = !v && tile[2] >= 0 ? tile_gpu_register(t, tile[2], e) : NULL;
    stmt_set(t->s, d, tile_element_value(t, d, a, b));
    stmt_end(t->s);
}

static const TileFamily gpu_family = {.style = &expr_gpu_style,
                                      .widen = "@to_c",
                                      .narrow = "@from_c",
                                      .load = tile_gpu_load,
                                      .store = tile_gpu_store,
                                      .mma = tile_gpu_mma,
                                      .elements = elements,
                                      .prefetch = tile_gpu_prefetch,
                                      .loop = tile_gpu_loop,
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

static void declare(TileLowering *t)
{
    Stmts *s = t->s;
    tile_gpu_local_tiles(t, NULL);
    for (int i = 0; i < t->p->n_tiles; i++) {
        const TilePlace *x = &t->plan->tile[i];
        const char *name = stmts_name(s, "t_%s", t->p->tile[i].name);
        if (t->p->tile[i].space != SPACE_REGISTER) continue;
        if (has_vectors(t->p, t->plan, i))
            stmt_array(s, "@AccV", name, DIMS(x->count / x->inst->n_acc));
        else
            stmt_array(s, tile_type(t->p, i), name, DIMS(x->count));
    }
    tile_positions(t);
    t->alpha = stmt_define(s, "@TC", "alpha_c", value_call(s, "@from_s", value_reg(s, "alpha")));
    t->beta = tile_gpu_plan(t)->use_beta
                  ? stmt_define(s, "@TC", "beta_c", value_call(s, "@from_s", value_reg(s, "beta")))
                  : tile_constant(t, 0);
}

static Err body(TileLowering *t, Buf *out)
{
    Stmts s;
    stmts_init(&s, GPU_STMTS_BYTES);
    t->s = &s;
    declare(t);
    tile_ops(t);
    Err e = t->plan->async ? async_derive(&s, NULL) : ERR_OK;
    if (!e) e = stmt_print(&s, tile_gpu_plan(t)->dialect->words, 1, out);
    stmts_fini(&s);
    return e;
}

/* Prefetches, and vectors from memory. */
static void amdgcn_memory(const GpuPlan *p, Stmts *s)
{
    amdgcn_raw_buffers(p, s);
    stmt_file(s, "amdgcn/tile.hip");
}

static void nvptx_memory(const GpuPlan *p, Stmts *s)
{
    (void)p;
    stmt_file(s, "nvptx/tile.cuh");
    stmt_file(s, "nvptx/async.cuh");
    stmt_file(s, "nvptx/shared.cuh");
}

/* What the kernel calls: access to memory, the matrix instruction, padding as an element of A and B. */
static void functions(TileLowering *t, Buf *out)
{
    static void (*const memory[])(const GpuPlan *p, Stmts *s) = {
        [TARGET_AMDGCN] = amdgcn_memory, [TARGET_NVPTX] = nvptx_memory};
    const GpuPlan *p = tile_gpu_plan(t);
    Stmts s;
    stmts_init(&s, GPU_STMTS_BYTES);
    t->s = &s;
    memory[p->target->family](p, &s);
    tile_gpu_mma_functions(t);
    stmt_file(&s, "gpu/iterations.h");
    gpu_put(p, &s, out);
    const char *narrow = gpu_narrow(p->in.type);
    buf_printf(out, "@DEV @T @narrow(@TC x) { return %s(x); }\n", *narrow ? narrow : "(@T)");
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
    TileLowering t = {.p = p, .plan = plan, .family = &gpu_family, .numbers = &g};
    t.ring = (StageRing){
        .n_stages = plan->stages, .bytes = (int)plan->stage_bytes, .in_bytes = true, .may_skip = true};
    buf_init(&text);
    g.dialect->prelude(&g, &text);
    gpu_types(&g, &text);
    functions(&t, &text);
    gpu_signature(&g, symbol, &text);
    g.dialect->lds_body(&g, &text);
    buf_puts(&text, "    const unsigned tid = @tid();\n");
    gpu_walk_place(&walk, &g, &text);
    numbers(&g, p->hand, &text);
    Err e = gpu_walk_check(&walk);
    if (!e) e = body(&t, &text);
    buf_puts(&text, "}\n");
    if (!e) e = buf_check(&text);
    if (!e) e = gpu_finish_program(&named, symbol, buf_view(&text), out);
    buf_fini(&text);
    return e;
}
