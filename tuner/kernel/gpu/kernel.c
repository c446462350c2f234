/* The kernel function: arguments, work-group to tile and part of K, the start of the copies, the loop, the
 * stores. */
#include "kernel/gpu/gpu.h"

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
                                .tiles_m = "tiles_m",
                                .tiles_n = "tiles_n",
                                .batch = "size_batch",
                                .stagger_mask = "stagger_mask"};

void gpu_walk_place(GpuWalk *w, const GpuPlan *p, Buf *out)
{
    w->p = p;
    expr_pool_fixed(&w->pool, w->node, GPU_WALK_NODES);
    w->text = (ExprText){.style = &expr_gpu_style, .out = out, .indent = 1};
    if (p->walk.persistent) {
        expr_let(&w->text, "n_ids", walk_ids(&w->pool, &p->walk, &names));
        buf_puts(out, "    @NOUNROLL for (unsigned id = @group_x(); id < n_ids; id += @grid_x()) {\n");
    }
    w->at = walk_place(&w->pool, &p->walk, &names);
    expr_let(&w->text, "wg0", w->at.wg0);
    expr_let(&w->text, "wg1", w->at.wg1);
    expr_let(&w->text, "wg2", w->at.wg2);
    if (p->gsu > 1) expr_let(&w->text, "part", w->at.part);
    /* what follows takes the names */
    w->at.wg0 = expr_var(&w->pool, "wg0", 0, w->at.wg0->lo, w->at.wg0->hi);
    w->at.wg1 = expr_var(&w->pool, "wg1", 0, w->at.wg1->lo, w->at.wg1->hi);
    w->at.wg2 = expr_var(&w->pool, "wg2", 0, w->at.wg2->lo, w->at.wg2->hi);
}

void gpu_walk_chunks(GpuWalk *w, const char *k, const char *slow)
{
    ExprPool *pool = &w->pool;
    const Expr *size = expr_var(pool, k, WALK_K, 0, UINT32_MAX);
    w->chunks = walk_chunks(pool, &w->p->walk, size, w->at.part);
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

static void tile(const GpuPlan *p, Buf *out)
{
    buf_puts(out, "    @Tile t;\n");
    for (int i = 0; i < 2; i++) {
        char n = p->op[i].name;
        buf_printf(out, "    t.%c = (const char *)(", n);
        gpu_tensor(p, n, p->strided, out);
        buf_printf(out, ");\n    t.ld%c = ld%c;\n", n, n);
    }
    buf_printf(out,
               "    t.m = size_m, t.n = size_n;\n"
               "    t.k = @is_zero(@from_s(alpha)) ? 0 : size_k; /* then A and B are not read */\n"
               "    t.m0 = @uniform(wg0 * %d), t.n0 = @uniform(wg1 * %d);\n"
               "    t.slow = @copy_slow(t);\n",
               p->mt[0], p->mt[1]);
}

/* Bytes of one chunk along K. */
static void chunk_bytes(const GpuPlan *p, int i, Buf *out)
{
    const GpuOperand *x = &p->op[i];
    int bytes = gpu_type_bytes(&x->type);
    if (x->tlu)
        buf_printf(out, "(long long)(t.ld%c * %d)", x->name, p->depth_u * bytes);
    else
        buf_printf(out, "%dll", p->depth_u * bytes);
}

static void start(GpuWalk *w, Buf *out)
{
    const GpuPlan *p = w->p;
    for (int i = 0; i < 2; i++) {
        buf_printf(out, "    const long long chunk_%c = (long long)@uniform64(", p->op[i].name);
        chunk_bytes(p, i, out);
        buf_printf(out, "), step_%c = (long long)@uniform64(chunk_%c * step);\n", p->op[i].name,
                   p->op[i].name);
    }
    const char *from = "first";
    if (p->walk.staggers) { /* the work-groups start at different chunks and wrap around */
        gpu_walk_stagger(w);
        buf_puts(out,
                 "    unsigned wrap = whole - late;\n"
                 "    const long long back_a = (long long)@uniform64(-step_a * (long long)(whole - 1));\n"
                 "    const long long back_b = (long long)@uniform64(-step_b * (long long)(whole - 1));\n");
        from = "(first + late * step)";
    }
    buf_printf(
        out,
        "    @Copy copy;\n    @copy_init(copy, t, tid);\n"
        "    @copy_move(copy, t, (long long)@uniform64(chunk_a * %s), (long long)@uniform64(chunk_b * %s));\n"
        "    @Acc acc;\n    @acc_zero(acc);\n",
        from, from);
}

static void results(const GpuPlan *p, Buf *out)
{
    bool strided = p->strided || p->workspace;
    if (p->lsu > 1) buf_puts(out, "    @reduce(acc, lds, tid);\n");
    buf_puts(out, "    @Out o;\n    o.d = ");
    gpu_tensor(p, 'd', strided, out);
    if (p->gsu_multiple) {
        buf_puts(out, " + (unsigned long long)part * size_m * size_n");
        if (p->batched) buf_puts(out, " * size_batch");
    }
    buf_puts(out, ";\n    o.ldd = ldd;\n");
    if (!p->gsu_multiple) buf_puts(out, "    o.alpha = @from_s(alpha);\n");
    if (p->use_beta && p->gsu == 1) {
        buf_puts(out, "    o.c = ");
        gpu_tensor(p, 'c', strided, out);
        buf_puts(out, ";\n    o.ldc = ldc;\n    o.beta = @from_s(beta);\n");
    }
    buf_puts(out, "    @finish(t, o, acc, tid);\n");
    if (p->walk.persistent) buf_puts(out, "    @barrier();\n    }\n");
    buf_puts(out, "}\n");
}

Err gpu_kernel(const GpuPlan *p, const Program *program, Str symbol, Buf *out)
{
    gpu_signature(p, symbol, out);
    p->dialect->lds_body(p, out);
    buf_puts(out, "    const unsigned tid = @tid();\n");
    GpuWalk walk;
    gpu_walk_place(&walk, p, out);
    tile(p, out);
    gpu_walk_chunks(&walk, "t.k", "t.slow");
    start(&walk, out);
    TRY(gpu_walk_check(&walk));
    Stmts s;
    stmts_init(&s, GPU_STMTS_BYTES);
    Err e = gpu_loop(p, program, &s);
    if (!e) e = stmt_print(&s, p->dialect->words, 1, out);
    stmts_fini(&s);
    TRY(e);
    results(p, out);
    return buf_check(out);
}
