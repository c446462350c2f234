/* Kernels that multiply by wgmma: the text nvptx/text/hopper.cuh and hopper_results.cuh behind the numbers
 * of a kernel, which are read from the program as hopper_program.c leaves it, and the kernel function.
 * Arguments are Tensile's in the Source form; behind them stand tensor maps of A, B and, where the copy
 * engine stores D, of C and D. */
#include "kernel/nvptx/hopper.h"

#include "kernel/nvptx/lanes.h"
#include "kernel/text.h"
#include "problem/matrix_inst.h"

/* ---- numbers ---- */

static void number(const char *type, const char *name, int value, Buf *out)
{
    buf_printf(out, "constexpr %s %s = %d;\n", type, name, value);
}

static void numbers(const GpuPlan *p, Buf *out)
{
    const GpuWarpGroups *g = &p->groups;
    buf_puts(out, "\n/* ---- numbers ---- */\n\n");
    number("int", "M0", p->mt[0], out);
    number("int", "M1", p->mt[1], out);
    number("int", "DU", p->depth_u, out);
    number("int", "STAGES", g->stages, out);
    number("int", "CONSUMERS", g->consumers, out);
    number("bool", "PINGPONG", g->turns, out);
    number("bool", "PROMOTES", g->promotes, out);
    number("int", "REGS_PRODUCER", g->producer_registers, out);
    number("int", "REGS_CONSUMER", g->consumer_registers, out);
    number("bool", "SWAP", p->matrix.swap, out);
    number("bool", "A_K_MAJOR", !p->op[0].tlu, out);
    number("bool", "B_K_MAJOR", !p->op[1].tlu, out);
    number("int", "CLUSTER_M", g->cluster[0], out);
    number("int", "CLUSTER_N", g->cluster[1], out);
    number("int", "SPLIT", p->walk.split, out);
    number("bool", "STORE_TMA", g->engine_store, out);
    number("bool", "READS", p->use_beta && !p->workspace, out);
    number("bool", "PAIR_BF16", p->dest.type == TYPE_B, out);
    number("int", "SHARED_BYTES", p->lds_bytes, out);
}

/* ---- the instruction ---- */

/* One instruction in the words of the PTX ISA (9.7.15.5): accumulators, descriptors of X and Y, whether to
 * add; for floats signs of both, for 16 bits which of them has K strided. */
static Err instruction(const GpuPlan *plan, Buf *out)
{
    const GpuMatrix *mi = &plan->matrix;
    int columns = mi->swap ? mi->m : mi->n, n = WGMMA_ROWS * columns / WGMMA_LANES, k = mi->k;
    bool whole = plan->acc.type == TYPE_I, wide = plan->in.part_bytes == 2;
    const bool tf32 = plan->math == TYPE_X;
    const DataType x = tf32 ? TYPE_X : plan->op[mi->swap].type.type,
                   y = tf32 ? TYPE_X : plan->op[!mi->swap].type.type;
    const MatrixInst *in = matrix_inst(plan->target, x, y, (const int32_t[]){mi->m, mi->n, k, mi->b});
    if (!in)
        FAIL(ERR_INPUT, "wgmma has no data types %s, %s", type_letter(plan->op[0].type.type),
             type_letter(plan->op[1].type.type));
    bool x_k = !plan->op[mi->swap].tlu, y_k = !plan->op[!mi->swap].tlu;
    buf_printf(out,
               "\n__device__ __forceinline__ void wgmma(g_TC (&d)[%d], unsigned long long x, unsigned long "
               "long y, int add)\n"
               "{\n    asm volatile(\"{\\n\\t.reg .pred p;\\n\\tsetp.ne.b32 p, %%%d, 0;\\n\\t\"\n"
               "                 \"wgmma.mma_async.sync.aligned.m%dn%dk%d.%s {",
               n, n + 2, in->m, columns, k, in->name);
    for (int i = 0; i < n; i++)
        buf_printf(out, "%s%%%d", i == 0 ? "" : i % 16 ? ", " : ", \"\n                 \"", i);
    buf_printf(out, "}, %%%d, %%%d, p", n, n + 1);
    if (!whole) buf_puts(out, ", 1, 1");
    if (wide) buf_printf(out, ", %d, %d", !x_k, !y_k);
    buf_puts(out, ";\\n\\t}\"\n                 : ");
    for (int i = 0; i < n; i++)
        buf_printf(out, "%s\"+%s\"(d[%d])",
                   i == 0  ? ""
                   : i % 8 ? ", "
                           : ",\n                   ",
                   whole ? "r" : "f", i);
    buf_puts(out, "\n                 : \"l\"(x), \"l\"(y), \"r\"(add));\n}\n");
    return nvptx_wgmma_lanes(in, columns, out);
}

/* ---- the walk ---- */

static const WalkNames names = {.group = {"0u", "0u", "0u"},
                                .id = "id",
                                .tiles_m = "tiles_m",
                                .tiles_n = "tiles_n",
                                .batch = "size_batch",
                                .stagger_mask = "stagger_mask"};

/* Tiles count in clusters here; hopper.cuh finds a work-group's own. */
static Err walk(const Walk *w, Buf *out)
{
    enum { NODES = 512 };
    static const char head[] =
        "(unsigned id, unsigned tiles_m, unsigned tiles_n, unsigned size_batch, unsigned size_k, "
        "unsigned stagger_mask)";
    Expr node[NODES];
    ExprPool pool;
    ExprText to = {.style = &expr_gpu_style, .out = out, .indent = 1};
    expr_pool_fixed(&pool, node, NODES);
    buf_puts(out, "\n/* ---- the walk ---- */\n\n"
                  "struct Tile {\n    unsigned wg0, wg1, wg2, part, first, step, late, count;\n};\n");
    buf_printf(out, "__device__ __forceinline__ Tile tile_of%s\n{\n", head);
    WalkPlace at = walk_place(&pool, w, &names);
    WalkChunks chunks = walk_chunks(&pool, w, expr_var(&pool, "size_k", WALK_K, 0, UINT32_MAX), at.part);
    expr_let(&to, "wg0", at.wg0), expr_let(&to, "wg1", at.wg1), expr_let(&to, "wg2", at.wg2);
    expr_let(&to, "tile_part", at.part);
    expr_let(&to, "n", chunks.count), expr_let(&to, "from", chunks.first), expr_let(&to, "by", chunks.step);
    if (w->staggers)
        expr_let(&to, "late", walk_stagger(&pool, w, &names, &at, chunks.whole));
    else
        buf_puts(out, "    const unsigned late = 0;\n");
    buf_puts(out, "    return {wg0, wg1, wg2, tile_part, from, by, late, n};\n}\n"
                  "__device__ __forceinline__ unsigned tile_ids(unsigned tiles_m, unsigned tiles_n, unsigned "
                  "size_batch)\n"
                  "{\n");
    ExprText ids = {.style = &expr_gpu_style, .out = out, .indent = 1};
    expr_let(&ids, "n", walk_ids(&pool, w, &names));
    buf_puts(out, "    return n;\n}\n\n");
    return expr_pool_check(&pool);
}

/* ---- the kernel ---- */

static void kernel_head(const GpuPlan *plan, Str symbol, Buf *out)
{
    const GpuWarpGroups *g = &plan->groups;
    int cluster = g->cluster[0] * g->cluster[1], n_maps = g->engine_store ? 4 : 2;
    plan->dialect->lds_file(plan, symbol, out);
    /* the 1 lets the compiler know how many registers there are to be divided */
    buf_printf(out, "extern \"C\" __global__ void __launch_bounds__(%d, 1) ", plan->n_threads);
    if (cluster > 1) buf_printf(out, "__cluster_dims__(%d, 1, 1) ", cluster);
    buf_printf(out, "%.*s(", STR_ARG(symbol));
    for (int i = 0; i < plan->n_args; i++) buf_printf(out, "%s %s, ", plan->arg[i].type, plan->arg[i].name);
    for (int i = 0; i < n_maps; i++)
        buf_printf(out, "%sconst __grid_constant__ Map map_%c", i ? ", " : "\n    ", 'a' + i);
    buf_puts(out, ")\n{\n");
    plan->dialect->lds_body(plan, out);
}

static void kernel(const GpuPlan *p, Str symbol, Buf *out)
{
    kernel_head(p, symbol, out);
    buf_printf(
        out,
        "    const Args args = {d, c, g_from_s(alpha), %s, ldd, %s, ldc, %s, size_m, size_n, %s, size_k, "
        "tiles_m, tiles_n, %s};\n",
        p->use_beta ? "g_from_s(beta)" : "0", p->batched ? "batch_d" : "0", p->batched ? "batch_c" : "0",
        p->batched ? "size_batch" : "1", p->walk.staggers ? "stagger_mask" : "0");
    buf_printf(out, "    gemm(lds, args, map_a, map_b, %s);\n}\n",
               p->groups.engine_store ? "map_c, map_d" : "map_a, map_b");
}

Err hopper_lower(const Program *program, Str symbol, Buf *out)
{
    const GpuPlan *p = program->gpu;
    Buf body;
    buf_init(&body);
    p->dialect->prelude(p, &body);
    gpu_types(p, &body);
    numbers(p, &body);
    Err e = instruction(p, &body);
    if (!e) e = walk(&program->walk, &body);
    kernel_text_put("nvptx/hopper.cuh", &body);
    kernel_text_put("nvptx/hopper_results.cuh", &body);
    kernel(p, symbol, &body);
    if (!e) e = gpu_finish_program(program, symbol, buf_view(&body), out);
    buf_fini(&body);
    return e;
}
