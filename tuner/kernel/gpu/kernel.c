/* The kernel function: arguments, work-group to tile and part of K, the start of the copies, the loop, the
 * stores. */
#include "kernel/gpu/gather.h"
#include "kernel/gpu/gpu.h"
#include "kernel/gpu/loads.h"
#include "kernel/gpu/walk.h"
#include "kernel/text.h"

#include <string.h>

void gpu_signature(const GpuPlan *p, Str symbol, Buf *out)
{
    buf_puts(out, "\n/* ---- the kernel ---- */\n\n");
    p->dialect->lds_file(p, symbol, out);
    p->dialect->kernel_head(p, symbol, p->n_threads, out);
    for (int i = 0; i < p->n_args; i++) {
        const char *type = p->arg[i].type;
        bool star = type[strlen(type) - 1] == '*';
        buf_printf(out, "%s%s%s%s",
                   i == 0  ? ""
                   : i % 4 ? ", "
                           : ",\n    ",
                   type, star ? "" : " ", p->arg[i].name);
    }
    buf_puts(out, ")\n{\n");
}

static const WalkNames names = {.group = {"@group_x()", "@group_y()", "@group_z()"},
                                .id = "id",
                                GPU_WALK_ARGUMENTS,
                                .stream_group = "group",
                                .stream_groups = "groups"};
const WalkNames gpu_names_of_tile = {.group = {"0u", "0u", "0u"}, .id = "tile", GPU_WALK_ARGUMENTS};

/* ---- the walk ---- */

static const Expr *word(ExprPool *pool, const char *name) { return expr_var(pool, name, 0, 0, UINT32_MAX); }

/* Stream-K in the text: the numbers that Tensile's host passes to kernels in the Assembly form. */
static WalkStreamWords stream_words(GpuWalk *w, const Expr *tiles, const Expr *groups)
{
    ExprPool *pool = &w->pool;
    const Walk *walk = &w->p->walk;
    const Expr *k = expr_var(pool, "size_k", WALK_K, 0, UINT32_MAX);
    WalkStreamWords words = walk_stream_words(pool, walk, tiles, groups, k, expr_const(pool, 1));
    if (!w->p->assembly) return words;
    words.chunks = word(pool, "tile_chunks");
    words.share = word(pool, "share_chunks");
    if (walk->stream_k == 1) return words;
    words.shared = word(pool, "share_tiles");
    words.longer = word(pool, "longer_groups");
    return words;
}

/* Opens the loop over the steps of a group. */
static void stream_loop(GpuWalk *w, Buf *out)
{
    ExprPool *pool = &w->pool;
    Walk whole = w->p->walk;
    whole.split = 1;
    const Expr *tiles = expr_name(pool, "all_tiles", walk_ids(pool, &whole, &names));
    const Expr *groups = expr_var(pool, "@grid_x()", WALK_GROUPS, 1, UINT32_MAX);
    expr_let(&w->text, names.stream_groups, groups);
    groups = expr_var(pool, names.stream_groups, WALK_GROUPS, 1, UINT32_MAX);
    const Expr *group = expr_var(pool, "@group_x()", WALK_GROUP_X, 0, UINT32_MAX);
    expr_let(&w->text, names.stream_group, walk_stream_group(pool, &w->p->walk, group, groups));
    const WalkStreamWords words = stream_words(w, tiles, groups);
    w->stream = walk_stream(pool, &w->p->walk, &names, &words, tiles);
    expr_let(&w->text, "n_steps", w->stream.steps);
    buf_puts(out, "    @NOUNROLL for (unsigned id = 0; id < n_steps; id++) {\n");
    expr_let(&w->text, gpu_names_of_tile.id, w->stream.tile);
}

/* Prints an assignment to a variable, or with a type ("unsigned ") its definition, behind declarations of the
 * named expressions in e. */
static void assign(GpuWalk *w, const char *type, const char *name, const Expr *e)
{
    expr_declare(&w->text, e);
    buf_printf(w->text.out, "%*s%s%s = ", 4 * w->text.indent, "", type, name);
    expr_print(w->text.style, e, 0, w->text.out);
    buf_puts(w->text.out, ";\n");
}

/* Stream-K by a grid that has a group for each part of all tiles. Returns the names of the tile's place.
 * What a group takes is a whole tile at first. The numbers of a part are computed only where tiles are cut,
 * because they take 0.1 us in front of the first load. */
static WalkNames even_parts(GpuWalk *w)
{
    static const char *const name[] = {"tile_column", "at_part",  "at_parts",
                                       "at_first",    "at_count", "at_group"};
    enum { FIELDS = sizeof name / sizeof *name };
    ExprPool *pool = &w->pool;
    WalkNames all = names, tile = names;
    const Expr *column, *k = expr_var(pool, "size_k", WALK_K, 0, UINT32_MAX);
    const Expr *zero = expr_const(pool, 0), *one = expr_const(pool, 1), *var[FIELDS];
    const Expr *x = expr_var(pool, names.group[0], WALK_GROUP_X, 0, UINT32_MAX);
    all.stream_groups = "@grid_x()";
    const WalkStream cut = walk_stream_even(pool, &w->p->walk, &all, k, &column);
    const Expr *chunks = expr_ceil_div(pool, k, expr_const(pool, w->p->walk.depth_u));
    const Expr *const of_whole[] = {x, zero, one, zero, chunks, zero};
    const Expr *const of_cut[] = {column, cut.part, cut.parts, cut.first, cut.count, cut.first_group};
    for (int i = 0; i < FIELDS; i++) assign(w, "unsigned ", name[i], of_whole[i]);
    const int n_declared = w->text.n_declared; /* names that are declared in the block end with it */
    buf_printf(w->text.out, "    if (@SELDOM(%s < %s)) {\n", all.tiles_m, all.stream_groups);
    w->text.indent++;
    for (int i = 0; i < FIELDS; i++) assign(w, "", name[i], of_cut[i]);
    w->text.indent--;
    buf_puts(w->text.out, "    }\n");
    w->text.n_declared = n_declared;
    for (int i = 0; i < FIELDS; i++) var[i] = expr_var(pool, name[i], 0, 0, UINT32_MAX);
    w->stream = (WalkStream){.steps = one,
                             .part = var[1],
                             .parts = var[2],
                             .first = var[3],
                             .count = var[4],
                             .first_group = var[5]};
    tile.group[0] = name[0];
    return tile;
}

/* Declares what @join (parts.c) needs to know of a tile's parts. */
static void parts(GpuWalk *w)
{
    const Walk *walk = &w->p->walk;
    ExprPool *pool = &w->pool;
    if (!w->p->partial_sums) return;
    if (walk->stream_k) {
        expr_let(&w->text, "part", w->stream.part);
        expr_let(&w->text, "parts", w->stream.parts);
        const Expr *first = expr_add_i(pool, w->stream.first_group, 1);
        expr_let(&w->text, "first_slot", expr_u32(pool, first));
        return;
    }
    const WalkSlots slots = walk_slots(pool, walk, &names, &w->at);
    expr_let(&w->text, "parts", slots.parts);
    expr_let(&w->text, "first_slot", slots.slot);
}

void gpu_walk_place(GpuWalk *w, const GpuPlan *p, Buf *out)
{
    const bool streams = p->walk.stream_k != 0;
    w->p = p;
    expr_pool_fixed(&w->pool, w->node, GPU_WALK_NODES);
    w->text = (ExprText){.style = &expr_gpu_style, .out = out, .indent = 1};
    WalkNames place = streams ? gpu_names_of_tile : names;
    if (p->walk.stream_even)
        place = even_parts(w);
    else if (streams)
        stream_loop(w, out);
    else if (p->walk.prefetches) {
        expr_let(&w->text, "n_ids", walk_ids(&w->pool, &p->walk, &names));
        if (!p->ring.used) buf_puts(out, "    @Tile last;\n");
        if (p->partial_sums) buf_puts(out, "    unsigned last_part = 0, last_parts = 1, last_slot = 0;\n");
        kernel_text_put("gpu/next_tile.h", out);
    } else if (p->walk.persistent) {
        expr_let(&w->text, "n_ids", walk_ids(&w->pool, &p->walk, &names));
        buf_puts(out, "    @NOUNROLL for (unsigned id = @group_x(); id < n_ids; id += @grid_x()) {\n");
    }
    w->at = walk_place(&w->pool, &p->walk, &place);
    expr_let(&w->text, "wg0", w->at.wg0);
    expr_let(&w->text, "wg1", w->at.wg1);
    expr_let(&w->text, "wg2", w->at.wg2);
    if (p->gsu > 1) expr_let(&w->text, "part", w->at.part);
    parts(w);
    /* what follows takes the names */
    w->at.wg0 = expr_var(&w->pool, "wg0", 0, w->at.wg0->lo, w->at.wg0->hi);
    w->at.wg1 = expr_var(&w->pool, "wg1", 0, w->at.wg1->lo, w->at.wg1->hi);
    w->at.wg2 = expr_var(&w->pool, "wg2", 0, w->at.wg2->lo, w->at.wg2->hi);
}

void gpu_walk_chunks(GpuWalk *w, const char *k, const char *slow)
{
    ExprPool *pool = &w->pool;
    const Expr *size = expr_var(pool, k, WALK_K, 0, UINT32_MAX);
    w->chunks = w->p->walk.stream_k ? walk_stream_chunks(pool, &w->p->walk, &w->stream, size)
                                    : walk_chunks(pool, &w->p->walk, size, w->at.part);
    const Expr *whole = w->chunks.whole;
    if (slow) {
        const Expr *is_slow = expr_var(pool, slow, 0, 0, 1);
        whole = expr_select(pool, is_slow, expr_const(pool, 0), whole);
    }
    expr_let(&w->text, "count", w->chunks.count);
    expr_let(&w->text, "first", w->chunks.first);
    expr_let(&w->text, "step", w->chunks.step);
    expr_let(&w->text, "whole", whole);
}

void gpu_walk_stagger(GpuWalk *w)
{
    const Expr *whole = expr_var(&w->pool, "whole", 0, 0, UINT32_MAX);
    expr_let(&w->text, "late", walk_stagger(&w->pool, &w->p->walk, &names, &w->at, whole));
}

Err gpu_walk_check(const GpuWalk *w) { return expr_pool_check(&w->pool); }

/* The base of one tensor's batch. */
void gpu_tensor(const GpuPlan *p, char n, bool strided, Buf *out)
{
    const char *z = p->batched ? "wg2" : "0";
    if (!strided)
        buf_printf(out, "@pointer(%c, %s) + offset_%c", n, z, n);
    else if (p->batched)
        buf_printf(out, "%c + (unsigned long long)wg2 * batch_%c", n, n);
    else
        buf_printf(out, "%c", n);
}

const Value *gpu_tensor_value(const GpuPlan *p, Stmts *s, char n, bool strided)
{
    if (p->indices) {
        const Expr *at = gpu_dims_matrix(p, s, n - 'a');
        return value_op(s, VALUE_ADD, value_named(s, "%c", n), value_expr(s, at));
    }
    const Value *base = value_named(s, "%c", n), *batch = p->batched ? value_reg(s, "wg2") : value_int(s, 0);
    if (!strided) {
        base = value_call(s, "@pointer", base, batch);
        return value_op(s, VALUE_ADD, base, value_named(s, "offset_%c", n));
    }
    if (!p->batched) return base;
    const Value *apart = value_named(s, "batch_%c", n);
    return value_op(s, VALUE_ADD, base,
                    value_op(s, VALUE_MUL, value_cast(s, "unsigned long long", batch), apart));
}

const Value *gpu_workspace_part(const GpuPlan *p, Stmts *s)
{
    const Value *all = value_cast(s, "unsigned long long", value_reg(s, "part"));
    all = value_op(s, VALUE_MUL, all, value_reg(s, "size_m"));
    all = value_op(s, VALUE_MUL, all, value_reg(s, "size_n"));
    return p->batched ? value_op(s, VALUE_MUL, all, value_reg(s, "size_batch")) : all;
}

/* The same in all threads of a wave. */
static const Value *uniform64(Stmts *s, const Value *x)
{
    return value_cast(s, "long long", value_call(s, "@uniform64", x));
}

/* What all threads of the work-group share. */
static void tile(const GpuPlan *p, Stmts *s)
{
    static const char *const base[] = {"t.a", "t.b"}, *const ld[] = {"t.lda", "t.ldb"};
    const Value *t = stmt_var(s, "@Tile", "t", NULL);
    if (p->indices) gpu_dims_set(p, s, "t.x.");
    for (int i = 0; i < 2; i++) {
        stmt_set_reg(s, base[i],
                     value_cast(s, "const char *", gpu_tensor_value(p, s, p->op[i].name, p->strided)));
        if (!p->indices) stmt_set_reg(s, ld[i], value_named(s, "ld%c", p->op[i].name));
    }
    stmt_set_reg(s, "t.m", value_reg(s, "size_m"));
    stmt_set_reg(s, "t.n", value_reg(s, "size_n"));
    stmt_comment(s, "where alpha is 0, A and B are not read");
    const Value *zero = value_call(s, "@is_zero", value_call(s, "@from_s", value_reg(s, "alpha")));
    stmt_set_reg(s, "t.k", value_select(s, zero, value_int(s, 0), value_reg(s, "size_k")));
    stmt_set_reg(s, "t.m0",
                 value_call(s, "@uniform", value_product(s, value_reg(s, "wg0"), value_int(s, p->mt[0]))));
    stmt_set_reg(s, "t.n0",
                 value_call(s, "@uniform", value_product(s, value_reg(s, "wg1"), value_int(s, p->mt[1]))));
    stmt_set_reg(s, "t.slow", value_call(s, "@copy_slow", t));
}

/* Bytes of a number of elements along K. */
static const Value *depth_bytes(const GpuPlan *p, Stmts *s, const GpuOperand *x, int elements)
{
    ExprPool *pool = &s->pool;
    if (p->indices) return value_literal(s, stmts_name(s, "%dll", elements)); /* @copy_move counts elements */
    const Expr *zero = expr_const(pool, 0), *depth = expr_const(pool, elements);
    const Expr *ld = gpu_stride(s, stmts_name(s, "t.ld%c", x->name));
    const Expr *bytes = gpu_operand_address(pool, p, x, zero, depth, ld);
    bytes = expr_mul_i(pool, bytes, gpu_type_bytes(&x->type));
    if (expr_is_const(bytes)) return value_literal(s, stmts_name(s, "%lldll", (long long)bytes->lo));
    return value_cast(s, "long long", value_expr(s, bytes));
}

/* The copies at the group's first chunk; the accumulators. */
static void start(const GpuPlan *p, Stmts *s)
{
    const Value *step = value_reg(s, "step"), *from = value_reg(s, "first"), *at[2];
    for (int i = 0; i < 2; i++) {
        const GpuOperand *x = &p->op[i];
        const char *chunk = stmts_name(s, "chunk_%c", x->name), *by = stmts_name(s, "step_%c", x->name);
        const int parts = gpu_chunk_parts(p);
        at[i] = stmt_define(s, "long long", chunk, uniform64(s, depth_bytes(p, s, x, p->depth_u * parts)));
        if (parts > 1)
            stmt_define(s, "long long", i ? "part_b" : "part_a",
                        uniform64(s, depth_bytes(p, s, x, p->depth_u)));
        stmt_define(s, "long long", by, uniform64(s, value_product(s, at[i], step)));
    }
    if (p->walk.staggers) { /* the work-groups start at different chunks and wrap around */
        const Value *whole = value_reg(s, "whole"), *late = value_reg(s, "late");
        stmt_var(s, "unsigned", "wrap", value_op(s, VALUE_SUB, whole, late));
        const Value *turns = value_cast(s, "long long", value_op(s, VALUE_SUB, whole, value_int(s, 1)));
        for (int i = 0; i < 2; i++) {
            const Value *back = value_op(s, VALUE_NEG, value_reg(s, i ? "step_b" : "step_a"), NULL);
            stmt_define(s, "long long", i ? "back_b" : "back_a", uniform64(s, value_product(s, back, turns)));
        }
        from = value_op(s, VALUE_ADD, from, value_product(s, late, step));
    }
    const Value *copy = stmt_var(s, "@Copy", "copy", NULL), *t = value_reg(s, "t");
    stmt_call(s, "@copy_init", copy, t, value_reg(s, "tid"));
    stmt_call(s, "@copy_move", copy, t, uniform64(s, value_product(s, at[0], from)),
              uniform64(s, value_product(s, at[1], from)));
}

static void clear_sums(const GpuPlan *p, Stmts *s)
{
    stmt_call(s, "@acc_zero", p->walk.prefetches ? value_reg(s, "acc") : stmt_var(s, "@Acc", "acc", NULL));
    if (gpu_compute_pins(p)) stmt_call(s, "@acc_pin", value_reg(s, "acc"));
}

/* Where the tile's results go, and what they are made of: struct o. */
static void output(const GpuPlan *p, Stmts *s)
{
    const bool strided = p->strided || p->workspace;
    const Value *d = gpu_tensor_value(p, s, 'd', strided);
    stmt_set_reg(s, "o.d", p->gsu_multiple ? value_op(s, VALUE_ADD, d, gpu_workspace_part(p, s)) : d);
    if (p->indices)
        stmt_set_reg(s, "o.x", value_reg(s, "t.x"));
    else
        stmt_set_reg(s, "o.ldd", value_reg(s, "ldd"));
    if (gpu_reads_c(p)) {
        stmt_set_reg(s, "o.c", gpu_tensor_value(p, s, 'c', strided));
        if (!p->indices) stmt_set_reg(s, "o.ldc", value_reg(s, "ldc"));
    }
    gpu_load_ops(p, s, "o");
}

/* Stores the results of the tile whose struct @Tile has that name. */
static void store_results(const GpuPlan *p, Stmts *s, const char *of)
{
    if (p->partial_sums) stmt_if(s, gpu_joined(p, s, value_reg(s, "lds")));
    stmt_call(s, "@finish", value_reg(s, of), value_reg(s, "o"), value_reg(s, "acc"), value_reg(s, "tid"));
    if (p->partial_sums) stmt_end(s);
    if (p->walk.persistent) stmt_barrier(s);
}

static void add_up_parts(const GpuPlan *p, Stmts *s)
{
    if (p->lsu > 1) stmt_call(s, "@reduce", value_reg(s, "acc"), value_reg(s, "lds"), value_reg(s, "tid"));
}

static void results(const GpuPlan *p, Stmts *s)
{
    add_up_parts(p, s);
    stmt_var(s, "@Out", "o", NULL);
    output(p, s);
    store_results(p, s, "t");
}

void gpu_next_tile(const GpuPlan *p, Stmts *s)
{
    if (p->partial_sums) {
        stmt_set_reg(s, "last_part", value_reg(s, "part"));
        stmt_set_reg(s, "last_parts", value_reg(s, "parts"));
        stmt_set_reg(s, "last_slot", value_reg(s, "first_slot"));
    }
    const Value *next = value_op(s, VALUE_ADD, value_reg(s, "id"), value_call_0(s, "@grid_x"));
    stmt_set_reg(s, "has_tile", value_op(s, VALUE_LT, next, value_reg(s, "n_ids")));
    stmt_set_reg(s, "id", value_select(s, value_reg(s, "has_tile"), next, value_reg(s, "id")));
}

/* The products of all chunks of the tile. */
static Err sums(const GpuPlan *p, const Program *program, Stmts *s)
{
    clear_sums(p, s);
    return p->direct ? gpu_direct_loop(p, program, s) : gpu_loop(p, program, s);
}

/* The tile of a walk that prefetches: its first loads, the results of the tile before it, its sums. An
 * iteration behind the last tile only stores. */
static Err prefetching_turn(const GpuPlan *p, const Program *program, Stmts *s)
{
    const Value *where = value_reg(s, "has_tile");
    if (p->direct)
        gpu_direct_first(p, program, s, where);
    else {
        start(p, s);
        TRY(gpu_loop_first(p, program, s, where));
    }
    stmt_if(s, value_reg(s, "stores"));
    store_results(p, s, "last");
    stmt_end(s);
    stmt_set_reg(s, "stores", value_reg(s, "has_tile"));
    stmt_if(s, value_reg(s, "has_tile"));
    TRY(sums(p, program, s));
    add_up_parts(p, s);
    output(p, s);
    stmt_set_reg(s, "last", value_reg(s, "t"));
    if (gpu_any_to_local(p)) stmt_barrier(s); /* the next tile's loads overwrite the first stage */
    gpu_next_tile(p, s);
    stmt_end(s);
    return ERR_OK;
}

/* Statements of the kernel function's body behind what the text has already. */
static Err put_body(const GpuPlan *p, Stmts *s, Buf *out)
{
    Err e = stmt_print(s, p->dialect->words, 1, out);
    stmts_fini(s);
    stmts_init(s, GPU_STMTS_BYTES);
    return e;
}

static Err body(const GpuPlan *p, const Program *program, Stmts *s, Buf *out)
{
    GpuWalk walk;
    stmt_define(s, "unsigned", "tid", value_call_0(s, "@tid"));
    if (p->indices) gpu_dims_sizes(p, s);
    TRY(put_body(p, s, out));
    gpu_walk_place(&walk, p, out);
    tile(p, s);
    TRY(put_body(p, s, out));
    gpu_walk_chunks(&walk, "t.k", "t.slow");
    if (p->walk.staggers) gpu_walk_stagger(&walk);
    TRY(gpu_walk_check(&walk));
    if (p->walk.prefetches)
        TRY(prefetching_turn(p, program, s));
    else {
        if (!p->direct) start(p, s);
        TRY(sums(p, program, s));
        results(p, s);
    }
    TRY(put_body(p, s, out));
    buf_puts(out, p->walk.persistent ? "    }\n}\n" : "}\n");
    return buf_check(out);
}

Err gpu_kernel(const GpuPlan *p, const Program *program, Str symbol, Buf *out)
{
    Stmts s;
    gpu_signature(p, symbol, out);
    p->dialect->lds_body(p, out);
    stmts_init(&s, GPU_STMTS_BYTES);
    Err e = body(p, program, &s, out);
    stmts_fini(&s);
    return e;
}
