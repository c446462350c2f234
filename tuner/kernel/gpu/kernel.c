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

/* GlobalSplitU, then WorkGroupMapping (tensile-formats 2.4). */
void gpu_mapping(const GpuPlan *p, Buf *out)
{
    const Solution *s = p->s;
    if (s->PersistentKernel) {
        bool along = s->PersistentKernelAlongBatch && p->batched;
        buf_printf(out, "    const unsigned rows = tiles_n * %d, n_tiles = tiles_m * rows%s;\n", p->gsu,
                   along ? " * size_batch" : "");
        buf_printf(out,
                   "    @NOUNROLL for (unsigned id = @group_x(); id < n_tiles; id += @grid_x()) {\n"
                   "    unsigned wg0 = id %% tiles_m, wg1 = id / tiles_m%s;\n    const unsigned wg2 = %s;\n",
                   along ? " % rows" : "", along ? "id / tiles_m / rows" : "@group_z()");
    } else
        buf_puts(out,
                 "    unsigned wg0 = @group_x(), wg1 = @group_y();\n    const unsigned wg2 = @group_z();\n");
    if (p->gsu > 1)
        buf_printf(out,
                   p->gsu_group_rr ? "    const unsigned part = wg1 / tiles_n;\n    wg1 %%= tiles_n;\n"
                                   : "    const unsigned part = wg1 %% %d;\n    wg1 /= %d;\n",
                   p->gsu, p->gsu);
    if (p->wgm > 1)
        buf_printf(
            out,
            "    {\n        const unsigned block = wg1 / %d, full = tiles_n / %d, rest = tiles_n %% %d;\n"
            "        const unsigned wide = block >= full && rest ? rest : %d;\n"
            "        const unsigned serial = wg0 + wg1 %% %d * tiles_m;\n"
            "        wg0 = serial / wide, wg1 = serial %% wide + block * %d;\n    }\n",
            p->wgm, p->wgm, p->wgm, p->wgm, p->wgm, p->wgm);
    if (p->wgm < -1)
        buf_printf(
            out,
            "    {\n        const unsigned block = wg0 / %d, full = tiles_m / %d, rest = tiles_m %% %d;\n"
            "        const unsigned wide = block >= full && rest ? rest : %d;\n"
            "        const unsigned serial = wg1 + wg0 %% %d * tiles_n;\n"
            "        wg1 = serial / wide, wg0 = serial %% wide + block * %d;\n    }\n",
            -p->wgm, -p->wgm, -p->wgm, -p->wgm, -p->wgm, -p->wgm);
}

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

/* Chunks of DepthU elements of K: first, first + step, ... count of them; those behind `whole` go through
 * copy_tail. As mapping_chunks. */
static void chunks(const GpuPlan *p, Buf *out)
{
    int du = p->depth_u;
    buf_printf(out, "    const unsigned chunks = t.k / %d + (t.k %% %d != 0);\n", du, du);
    if (p->gsu > 1) {
        buf_printf(out,
                   "    const unsigned each = chunks / %d, more = chunks %% %d;\n"
                   "    const unsigned count = each + (part < more), step = %d;\n"
                   "    const unsigned first = %s;\n",
                   p->gsu, p->gsu, p->gsu_chunk_rr ? p->gsu : 1,
                   p->gsu_chunk_rr ? "part" : "part * each + (part < more ? part : more)");
        buf_printf(out,
                   "    const bool ragged = t.k %% %d != 0 && count > 0 && first + (count - 1) * step == "
                   "chunks - 1;\n",
                   du);
    } else
        buf_printf(out,
                   "    const unsigned count = chunks, step = 1, first = 0;\n"
                   "    const bool ragged = t.k %% %d != 0;\n",
                   du);
    buf_puts(out, "    const unsigned whole = t.slow ? 0 : count - ragged;\n");
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

static void start(const GpuPlan *p, Buf *out)
{
    static const char *const id[] = {"wg0", "wg1", "wg2", "wg0 + wg1 * tiles_m + wg2 * tiles_m * tiles_n",
                                     "~0u"};
    const Solution *s = p->s;
    for (int i = 0; i < 2; i++) {
        buf_printf(out, "    const long long chunk_%c = (long long)@uniform64(", p->op[i].name);
        chunk_bytes(p, i, out);
        buf_printf(out, "), step_%c = (long long)@uniform64(chunk_%c * step);\n", p->op[i].name,
                   p->op[i].name);
    }
    const char *from = "first";
    if (s->StaggerU) { /* the work-groups start at different chunks and wrap around */
        int which = s->StaggerUMapping >= 0 && s->StaggerUMapping <= 4 ? s->StaggerUMapping : 0;
        buf_printf(out,
                   "    unsigned late = ((%s) & stagger_mask) << %d;\n"
                   "    if (late >= whole) late = 0;\n"
                   "    unsigned wrap = whole - late;\n"
                   "    const long long back_a = (long long)@uniform64(-step_a * (long long)(whole - 1));\n"
                   "    const long long back_b = (long long)@uniform64(-step_b * (long long)(whole - 1));\n",
                   id[which], s->StaggerStrideShift);
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
    if (p->s->PersistentKernel) buf_puts(out, "    @barrier();\n    }\n");
    buf_puts(out, "}\n");
}

Err gpu_kernel(const GpuPlan *p, const Program *program, Str symbol, Buf *out)
{
    gpu_signature(p, symbol, out);
    p->dialect->lds_body(p, out);
    buf_puts(out, "    const unsigned tid = @tid();\n");
    gpu_mapping(p, out);
    tile(p, out);
    chunks(p, out);
    start(p, out);
    TRY(gpu_loop(p, program, out));
    results(p, out);
    return buf_check(out);
}
