/* GpuPlan from a Solution: every number that the text is printed from, and what the skeleton refuses. The
 * rules of space/ reject most of that before a kernel is asked for; it is checked again here because logic
 * files come from anywhere. Called by lower.c and helper.c.
 */
#include "kernel/gpu/gpu.h"

#include <string.h>

GpuType gpu_type(DataType type)
{
    switch (type) {
    case TYPE_S:
        return (GpuType){type, "float", 4, 1};
    case TYPE_D:
        return (GpuType){type, "double", 8, 1};
    case TYPE_C:
        return (GpuType){type, "float", 4, 2};
    case TYPE_Z:
        return (GpuType){type, "double", 8, 2};
    case TYPE_H:
    case TYPE_B:
        return (GpuType){type, "unsigned short", 2, 1};
    case TYPE_I8:
        return (GpuType){type, "signed char", 1, 1};
    case TYPE_F8:
    case TYPE_B8:
    case TYPE_F8B8: /* A's and B's own types: GpuOperand.type */
    case TYPE_B8F8:
        return (GpuType){type, "unsigned char", 1, 1};
    case TYPE_4XI8:
    case TYPE_I:
        return (GpuType){type, "int", 4, 1};
    default:
        return (GpuType){type, NULL, 0, 0};
    }
}

Err gpu_plan_types(GpuPlan *p, const ProblemType *pt, const Target *t)
{
    *p = (GpuPlan){.pt = pt, .target = t, .gsu = 1, .n_stages = 1, .n_sets = 1};
    p->dialect = t->family == TARGET_AMDGCN ? &dialect_amdgcn : &dialect_nvptx;
    p->wave = t->wave_size;
    p->in = gpu_type((DataType)pt->DataType);
    p->scalar = gpu_type((DataType)pt->ComputeDataType);
    p->dest = p->out = gpu_type((DataType)pt->DestDataType);
    /* 16-bit types are summed in f32 whatever the problem type says: more exact than the reference. */
    p->acc = p->scalar.part_bytes == 2 ? gpu_type(TYPE_S) : p->scalar;
    p->batched = pt->NumIndicesC > 2;
    p->strided = pt->StridedBatched;
    p->use_beta = pt->UseBeta;
    if (pt->OperationType != OP_GEMM)
        FAIL(ERR_INPUT, "GPU kernels are GEMMs; operation is %s",
             operation_name((OperationKind)pt->OperationType));
    if ((gpu_is_f8(p->in.type) || gpu_is_f8(p->dest.type)) && t->f8 == F8_NONE)
        FAIL(ERR_INPUT, "kernels of %s have no 8-bit floats, data types '%s', '%s'", t->name,
             type_letter((DataType)pt->DataType), type_letter((DataType)pt->DestDataType));
    if (!p->in.part || !p->scalar.part || !p->dest.part)
        FAIL(ERR_INPUT, "GPU kernels have no data types '%s', '%s', '%s'",
             type_letter((DataType)pt->DataType), type_letter((DataType)pt->DestDataType),
             type_letter((DataType)pt->ComputeDataType));
    if (pt->UseInitialStridesAB || pt->UseInitialStridesCD)
        FAIL(ERR_INPUT, "GPU kernels need unit first strides; UseInitialStrides is set");
    if (pt->ZeroPadA.n || pt->ZeroPadB.n || pt->MirrorDimsA.n || pt->MirrorDimsB.n || pt->StochasticRounding)
        FAIL(ERR_INPUT, "GPU kernels have no zero padding, mirroring or stochastic rounding");
    return ERR_OK;
}

static void plan_numbers(GpuPlan *p, const Solution *s)
{
    p->s = s;
    p->assembly = s->KernelLanguage == LANG_ASSEMBLY;
    p->mt[0] = s->MacroTile0, p->mt[1] = s->MacroTile1;
    p->depth_u = s->DepthU;
    p->sg[0] = s->SubGroup0, p->sg[1] = s->SubGroup1;
    p->tt[0] = s->ThreadTile0, p->tt[1] = s->ThreadTile1;
    p->lsu = s->LocalSplitU > 1 ? s->LocalSplitU : 1;
    p->vw = s->VectorWidth > 0 ? s->VectorWidth : 1;
    p->n_threads = s->NumThreads;
    p->prefetch = s->PrefetchGlobalRead;
    p->prefetch_local = s->LoopIters > 0 && s->PrefetchLocalRead % s->LoopIters > 0;
    p->n_stages = p->prefetch > 0 && s->LDSBuffer1 != 1 ? 2 : 1;
    p->n_sets = p->prefetch > 1 ? 2 : 1;
    p->gsu = s->GlobalSplitU > 1 ? s->GlobalSplitU : 1;
    /* older files name MultipleBuffer without a workspace: their parts add to D */
    p->gsu_multiple = p->gsu > 1 && s->GlobalAccumulation == GACC_MULTIPLE;
    p->workspace = s->GlobalAccumulation == GACC_SINGLE || s->GlobalAccumulation == GACC_MULTIPLE;
    if (p->workspace) p->out = p->scalar;
    int width = p->s->EnableMatrixInstruction ? s->StoreVectorWidth : s->GlobalWriteVectorWidth;
    p->store_width = s->VectorStoreUsed && width > 0 ? width : 1;
    while (p->store_width > 1 && p->store_width * p->out.part_bytes * p->out.parts > 16) p->store_width /= 2;
}

/* The loads of all threads make up the tile; with FractionalLoad they may be more, and then are `fractional`.
 */
static Err check_loads(const GpuPlan *p, GpuOperand *x, int along, int across)
{
    int threads = p->n_threads / x->n_waves, covers_along = x->lsc * x->nlc,
        covers_across = x->lsp * x->nlp * x->n_waves;
    bool exact = covers_along == along && covers_across == across && x->lvc * x->lsp == threads;
    bool enough = covers_along >= along && covers_across >= across && x->lvc * x->lsp <= threads &&
                  along % (x->width > 0 ? x->width : 1) == 0;
    if (x->width < 1 || x->nlc < 1 || x->nlp < 1 || x->lsc < 1 || x->lsp < 1 || x->lsc % x->width ||
        !(p->s->FractionalLoad ? enough : exact))
        FAIL(ERR_INPUT, "loads of %c, %d x %d of %d x %d elements by %d threads, do not make up %d x %d",
             x->name - 'a' + 'A', x->nlc, x->nlp, x->lsc, x->lsp, threads, along, across);
    x->fractional = !exact;
    return ERR_OK;
}

/* Lanes of a line are divided among the groups of a wave, and a wave has whole lines. */
static Err plan_groups(const GpuPlan *p, GpuOperand *x, int separate, bool grouped)
{
    x->groups = 1;
    if (!separate || p->target->family != TARGET_AMDGCN) return ERR_OK;
    if (!grouped || x->lvc < 1 || x->lvc % (2 * separate) || p->wave % x->lvc || p->wave % (2 * separate))
        FAIL(ERR_INPUT, "ThreadSeparateGlobalRead%c %d does not divide lines of %d lanes%s",
             x->name - 'a' + 'A', separate, x->lvc, grouped ? "" : " with GlobalReadCoalesceGroup False");
    x->groups = 2 * separate;
    return ERR_OK;
}

static Err plan_operand(GpuPlan *p, int i)
{
    const Solution *s = p->s;
    const ProblemType *pt = p->pt;
    GpuOperand *x = &p->op[i];
    *x = (GpuOperand){.type = gpu_type(i ? problem_b_type(pt) : problem_a_type(pt)),
                      .name = i ? 'b' : 'a',
                      .tlu = i ? pt->TLUB : pt->TLUA,
                      .conj = i ? pt->ComplexConjugateB : pt->ComplexConjugateA,
                      .tile = p->mt[i],
                      .width = i ? s->GlobalLoadVectorWidthB : s->GlobalLoadVectorWidthA,
                      .nlc = i ? s->NumLoadsCoalescedB : s->NumLoadsCoalescedA,
                      .nlp = i ? s->NumLoadsPerpendicularB : s->NumLoadsPerpendicularA,
                      .lsc = i ? s->LSCB : s->LSCA,
                      .lsp = i ? s->LSPB : s->LSPA,
                      .k_major = i ? s->UnrollMajorLDSB : s->UnrollMajorLDSA,
                      .pad = i ? s->LdsPadB : s->LdsPadA,
                      .pad_block = i ? s->LdsBlockSizePerPadB : s->LdsBlockSizePerPadA,
                      .shift = 1,
                      .hint = i ? s->NonTemporalB : s->NonTemporalA};
    bool separate = i ? s->WaveSeparateGlobalReadB : s->WaveSeparateGlobalReadA;
    x->n_waves = separate && s->WavefrontSize > 0 ? p->n_threads / s->WavefrontSize : 1;
    int along = x->tlu ? x->tile : p->depth_u, across = x->tlu ? p->depth_u : x->tile;
    x->lvc = x->width > 0 ? x->lsc / x->width : 0;
    TRY(plan_groups(p, x, i ? s->ThreadSeparateGlobalReadB : s->ThreadSeparateGlobalReadA,
                    i ? s->GlobalReadCoalesceGroupB : s->GlobalReadCoalesceGroupA));
    if (s->NvRing == 1) return ERR_OK; /* some threads may have no copies */
    TRY(check_loads(p, x, along, across));
    if (x->pad_block > 0) x->pad_block /= gpu_type_bytes(&x->type);
    if (x->pad < 0) x->pad = 0;
    int multiple = i ? s->AssertFree1ElementMultiple : s->AssertFree0ElementMultiple;
    if (x->tlu && x->width > 1 && multiple % x->width) x->shift = x->width;
    return ERR_OK;
}

static int round_up(int n, int to) { return (n + to - 1) / to * to; }

/* Where A and B are in a stage, and how large all of it is. */
static void lay_out(GpuPlan *p)
{
    int at = 0;
    for (int i = 0; i < 2; i++) {
        GpuOperand *x = &p->op[i];
        int lines = x->k_major ? x->tile : p->depth_u, length = x->k_major ? p->depth_u : x->tile;
        x->line = length + (x->pad_block ? x->line_pad : x->pad);
        int n = lines * x->line;
        if (x->pad_block) n += n / x->pad_block * x->pad;
        x->lds_offset = at;
        x->lds_bytes = n * gpu_type_bytes(&x->type);
        at += round_up(x->lds_bytes, 16);
    }
    p->stage_bytes = at;
    p->lds_bytes = at * p->n_stages;
    int sums = p->lsu > 1 ? p->mt[0] * p->mt[1] * p->lsu * gpu_type_bytes(&p->acc) : 0;
    if (sums > p->lds_bytes) p->lds_bytes = sums;
    int reserve = p->s->MaxOccupancy > 0 ? 65536 / p->s->MaxOccupancy / 16 * 16 : 0;
    if (reserve > p->lds_bytes) p->lds_bytes = reserve;
}

static Err check_solution(const GpuPlan *p, const Solution *s)
{
    if (p->mt[0] < 1 || p->mt[1] < 1 || p->n_threads < 1 || p->depth_u < 1)
        FAIL(ERR_INPUT, "macro tile %dx%dx%d with %d threads is empty", p->mt[0], p->mt[1], p->depth_u,
             p->n_threads);
    if (s->StreamK) FAIL(ERR_INPUT, "GPU kernels have no StreamK yet; it is %d", s->StreamK);
    if (s->DepthULdsDivisor > 1)
        FAIL(ERR_INPUT, "DepthULdsDivisor %d needs an assembler", s->DepthULdsDivisor);
    if (s->PackBatchDims)
        FAIL(ERR_INPUT, "PackBatchDims %d: packed batches have no kernels", s->PackBatchDims);
    if (p->gsu > 1 && !p->gsu_multiple && p->out.part_bytes == 1)
        FAIL(ERR_INPUT, "GlobalSplitU %d would add to 8-bit D in place", p->gsu);
    if (s->WorkGroupMappingType != WGMT_B) FAIL(ERR_INPUT, "WorkGroupMappingType Z has no kernels");
    if (s->WorkGroupMapping < 0 && !p->assembly)
        FAIL(ERR_INPUT, "WorkGroupMapping %d is negative", s->WorkGroupMapping);
    return ERR_OK;
}

Err gpu_plan(GpuPlan *p, const Solution *s, const Target *t)
{
    TRY(gpu_plan_types(p, s->pt, t));
    plan_numbers(p, s);
    TRY(check_solution(p, s));
    for (int i = 0; i < 2; i++) TRY(plan_operand(p, i));
    TRY(p->dialect->choose(p, &p->compute, &p->copy));
    TRY(p->compute->plan(p));
    TRY(p->copy->plan(p));
    if (p->store_width > p->acc_run) p->store_width = p->acc_run;
    while (p->acc_run % p->store_width) p->store_width--;
    if (p->dialect->pads) p->dialect->pads(p);
    if (s->NvRing != 1) lay_out(p);
    if (p->lds_bytes > t->lds_bytes && p->lds_bytes > p->dialect->static_lds && t->family == TARGET_AMDGCN)
        FAIL(ERR_INPUT, "local memory of %d bytes is more than the %d of %s", p->lds_bytes, t->lds_bytes,
             t->name);
    return gpu_args(p);
}

Err gpu_plan_program(GpuPlan *p, const Program *program)
{
    TRY(gpu_plan(p, program->s, program->target));
    p->walk = program->walk;
    return ERR_OK;
}

void gpu_lsu_of_thread(const GpuPlan *p, Buf *out)
{
    if (p->lsu > 1)
        buf_printf(out, "tid / %d", p->n_threads / p->lsu);
    else
        buf_puts(out, "0");
}

const char *gpu_load_hinted(const GpuPlan *p, int hint)
{
    static const char *const levels[] = {"*", "@load_nt<1>", "@load_nt<2>", "@load_nt<3>"};
    if (p->dialect->hint_levels) return levels[hint & 3];
    return hint ? "@load_nt" : "*";
}

const char *gpu_store_hinted(const GpuPlan *p, int hint)
{
    static const char *const levels[] = {"", "@store_nt<1>", "@store_nt<2>", "@store_nt<3>"};
    return p->dialect->hint_levels ? levels[hint & 3] : "@store_nt";
}

/* An operand of an expression: in brackets unless it is one word. */
static const char *bracket(const char *text, char *to, size_t n)
{
    snprintf(to, n, strchr(text, ' ') ? "(%s)" : "%s", text);
    return to;
}

void gpu_lds_element(const GpuPlan *p, int i, const char *k, const char *free, Buf *out)
{
    const GpuOperand *x = &p->op[i];
    char line[160];
    const char *at = x->k_major ? k : free;
    bracket(x->k_major ? free : k, line, sizeof line);
    if (x->xor_mask) {
        int piece = 16 / gpu_type_bytes(&x->type);
        buf_printf(out, "(%s * %d + (((%s) / %d ^ (%s / %d & %d)) * %d + (%s) %% %d))", line, x->line, at,
                   piece, line, x->xor_lines, x->xor_mask, piece, at, piece);
    } else if (x->pad_block && !x->k_major && x->pad_block % x->line == 0)
        buf_printf(out, "(%s * %d + %s + %s / %d * %d)", line, x->line, at, line, x->pad_block / x->line,
                   x->pad);
    else if (x->pad_block)
        buf_printf(out, "(%s * %d + %s + (%s * %d + %s) / %d * %d)", line, x->line, at, line, x->line, at,
                   x->pad_block, x->pad);
    else
        buf_printf(out, "(%s * %d + %s)", line, x->line, at);
}
