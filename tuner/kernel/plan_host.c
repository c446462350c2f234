/* Makes a HostPlan from a Solution, and refuses what the host kernel writer cannot do. The rules in
 * space/rules_host.c reject the same before a kernel is emitted, but logic files are untrusted input. */
#include "kernel/plan.h"

#include "space/derive.h"

void host_plan_types(HostPlan *p, const ProblemType *pt, const Target *t)
{
    *p = (HostPlan){.target = t, .level = t->isa[0], .gsu = 1};
    p->in = host_type((DataType)pt->DataType);
    p->compute = host_type((DataType)pt->ComputeDataType);
    p->out = host_type((DataType)pt->DestDataType);
    p->dest = (DataType)pt->DestDataType;
    p->scalar = p->compute;
    /* 16-bit inputs are summed in f32 whatever the problem type says: more exact, and there is no f16
     * arithmetic. */
    if (p->compute.bytes == 2) p->compute = host_type(TYPE_S);
    p->parts = p->compute.complex ? 2 : 1;
    p->conj[0] = pt->ComplexConjugateA;
    p->conj[1] = pt->ComplexConjugateB;
    p->batched = pt->NumIndicesC > 2;
    p->strided = pt->StridedBatched;
    p->use_beta = pt->UseBeta;
    p->fused = problem_fused(pt);
}

static Err check_problem(const HostPlan *p, const ProblemType *pt)
{
    if (!p->in.c || !p->compute.c || !p->out.c)
        FAIL(ERR_INPUT, "host kernels have no data types '%s', '%s', '%s'",
             type_letter((DataType)pt->DataType), type_letter((DataType)pt->DestDataType),
             type_letter((DataType)pt->ComputeDataType));
    if (pt->StochasticRounding) FAIL(ERR_INPUT, "host kernels have no stochastic rounding");
    return ERR_OK;
}

static void plan_tile(HostPlan *p, const Solution *s)
{
    int widest = p->target->vector_bits / 8 / p->compute.bytes;
    p->runs = s->HostDirectConv;
    p->crossed = host_vectors_along_1(s);
    const int m = p->crossed, n = 1 - m;
    p->mr = s->ThreadTile.v[m];
    p->nr = s->ThreadTile.v[n];
    p->vl = s->VectorWidth > 0 ? s->VectorWidth : widest;
    while (s->VectorWidth <= 0 && p->vl * p->compute.bytes > 16 && p->mr % p->vl) p->vl /= 2;
    p->mv = p->vl ? p->mr / p->vl : 0;
    p->lsu = s->WorkGroup.v[2] > 0 ? s->WorkGroup.v[2] : 1;
    p->unroll = s->InnerUnroll > 0 ? s->InnerUnroll : 1;
    p->prefetch_local = s->PrefetchLocalRead;
    p->prefetch_global = s->PrefetchGlobalRead;
    p->mc = s->WorkGroup.v[m] * p->mr;
    p->nc = s->WorkGroup.v[n] * p->nr;
    p->mt0 = p->mc * (m ? s->HostRepeatN : s->HostRepeatM);
    p->mt1 = p->nc * (m ? s->HostRepeatM : s->HostRepeatN);
    p->kc = s->DepthU;
    p->edges = s->EdgeType != EDGE_NONE;
    p->stagger_argument = s->StaggerU && (fused_any(&p->fused) || s->WorkGroupMappingDim >= 0);
}

static Err check_tile(const HostPlan *p, const Solution *s)
{
    int bytes = p->vl * p->compute.bytes;
    if (bytes != 16 && bytes != 32 && bytes != 64)
        FAIL(ERR_INPUT, "VectorWidth %d of %d-byte elements is no vector register", p->vl, p->compute.bytes);
    if (bytes * 8 > p->target->vector_bits)
        FAIL(ERR_INPUT, "VectorWidth %d needs %d-bit vectors, %s has %d", p->vl, bytes * 8, p->target->name,
             p->target->vector_bits);
    if (p->mr < 1 || p->nr < 1 || p->mr % p->vl)
        FAIL(ERR_INPUT, "ThreadTile%d %d is not a multiple of VectorWidth %d", p->crossed, p->mr, p->vl);
    int regs = p->mv * p->nr * p->lsu * p->parts;
    if (regs > p->target->n_vector_regs)
        FAIL(ERR_INPUT, "register tile of %d vectors is more than the %d registers of %s", regs,
             p->target->n_vector_regs, p->target->name);
    if (p->kc < 1) FAIL(ERR_INPUT, "DepthU is %d", p->kc);
    const int side0 = p->crossed ? p->mt1 : p->mt0, side1 = p->crossed ? p->mt0 : p->mt1;
    if (side0 < 1 || side1 < 1 || side0 != s->MacroTile0 || side1 != s->MacroTile1)
        FAIL(ERR_INPUT, "macro tile %dx%d is not WorkGroup x ThreadTile x HostRepeat, %dx%d", s->MacroTile0,
             s->MacroTile1, side0, side1);
    if (p->unroll * p->lsu > 64)
        FAIL(ERR_INPUT, "InnerUnroll %d times LocalSplitU %d is over 64", p->unroll, p->lsu);
    return ERR_OK;
}

static Err plan_split(HostPlan *p, const Solution *s)
{
    p->gsu = s->GlobalSplitU > 1 ? s->GlobalSplitU : 1;
    p->gsu_multiple = s->GlobalSplitUAlgorithm == GSUA_MULTIPLE;
    if (p->indices && (p->gsu > 1 || s->StreamK || fused_any(&p->fused) || !p->strided))
        FAIL(ERR_INPUT,
             "contractions but GEMMs have GlobalSplitU 1, not %d, no StreamK, no fused operations and no "
             "arrays "
             "of pointers",
             p->gsu);
    p->joins = s->GlobalAccumulation == GACC_PARTIALS;
    if ((s->PersistentKernel || s->StreamK) && p->gsu > 1)
        FAIL(ERR_INPUT, "host kernels with PersistentKernel %d, StreamK %d have GlobalSplitU 1, not %d",
             s->PersistentKernel, s->StreamK, p->gsu);
    if (s->StreamK && !p->joins)
        FAIL(ERR_INPUT, "host kernels do not add to D: StreamKAtomic %d", s->StreamKAtomic);
    const int slots = s->StreamK ? HOST_STREAM_SLOTS : p->gsu;
    if (p->joins && s->WorkspaceSizePerElemC < slots * p->compute.bytes)
        FAIL(ERR_INPUT, "%d slots of %d bytes for each element of a tile, the workspace has %d bytes", slots,
             p->compute.bytes, s->WorkspaceSizePerElemC);
    if (p->gsu == 1 || p->joins) return ERR_OK;
    bool accumulates = p->gsu_multiple || s->pt->ComputeDataType != s->pt->DestDataType;
    if (!accumulates && p->out.bytes == 2) FAIL(ERR_INPUT, "GlobalSplitU %d would add to 16-bit D", p->gsu);
    p->workspace = accumulates;
    if (accumulates) p->out = p->scalar; /* the workspace's type */
    return ERR_OK;
}

static Err plan_all(HostPlan *p, const Solution *s, const Target *t, const Indices *indices)
{
    host_plan_types(p, s->pt, t);
    p->indices = indices;
    if (indices_are_exchanged(indices)) {
        p->conj[0] = s->pt->ComplexConjugateB;
        p->conj[1] = s->pt->ComplexConjugateA;
    }
    TRY(check_problem(p, s->pt));
    /* fused operations are those of the kernel that adds the parts up */
    if (s->GlobalSplitU > 1 && s->GlobalSplitUAlgorithm == GSUA_MULTIPLE) p->fused = (Fused){0};
    plan_tile(p, s);
    TRY(check_tile(p, s));
    TRY(plan_split(p, s));
    p->direct = host_plan_is_direct(p);
    p->turns = p->runs && p->level >= 4 && p->vl == 16 && p->in.type == TYPE_S && p->compute.type == TYPE_S &&
               p->out.type == TYPE_S && !p->use_beta;
    if (p->joins && (p->parts == 2 || p->out.type != p->compute.type || !p->strided))
        FAIL(ERR_INPUT, "sums of parts of tiles are of D's type, real, and not of arrays of pointers");
    p->pack[0] = s->HostPackA;
    p->pack[1] = s->HostPackB;
    bool converts = p->in.type != p->compute.type || p->parts == 2;
    if (!p->pack[0] && (!s->pt->TLUA || converts || !p->direct))
        FAIL(ERR_INPUT, "HostPackA 0 needs A with contiguous columns and no conversion");
    if (!p->pack[1] && (converts || !p->direct)) FAIL(ERR_INPUT, "HostPackB 0 needs B without conversion");
    p->prefetch_panels = s->HostReadAheadA;
    if (p->pack[0] && p->prefetch_panels)
        FAIL(ERR_INPUT, "HostReadAheadA %d is for A that is not packed, HostPackA is 1", p->prefetch_panels);
    p->stream_d = s->HostStreamD;
    if (p->stream_d && (!p->direct || converts || p->compute.type == TYPE_I))
        FAIL(ERR_INPUT, "HostStreamD 1 needs a GEMM of S or D without conversion");
    if (p->runs && (!indices || p->parts == 2 || !p->pack[0] || !p->pack[1]))
        FAIL(ERR_INPUT,
             "HostDirectConv 1 needs a contraction of real numbers that is no GEMM, and packed operands");
    if (!p->pack[1] && s->HostKeepB)
        FAIL(ERR_INPUT, "HostKeepB %d keeps packed blocks, HostPackB is 0", s->HostKeepB);
    /* with runs the problem's B is what the kernel calls A */
    p->keep_a = p->runs ? s->HostKeepB : 0;
    p->keep_b = p->runs ? 0 : s->HostKeepB;
    HostLocal l = host_plan_local(p);
    int64_t bytes = (l.a + l.b + l.sums + l.runs) * p->compute.bytes;
    if (bytes > INT64_C(1) << 28)
        FAIL(ERR_INPUT, "local buffers of %lld bytes are over 256 MiB", (long long)bytes);
    return ERR_OK;
}

Err host_plan(HostPlan *p, const Solution *s, const Target *t)
{
    Indices x;
    TRY(solution_indices(s, &x));
    Err e = plan_all(p, s, t, x.is_gemm ? NULL : &x);
    p->indices = NULL; /* nobody keeps them without a program */
    return e;
}

Err plan_host(Program *program, const Solution *s)
{
    HostPlan *p = ARENA_NEW(program->arena, HostPlan);
    TRY_ALLOC(p);
    program->host = p;
    program->walk.staggers = false; /* the host has no memory channels to spread over */
    program->walk.stagger_shift = program->walk.stagger_mapping = 0;
    return plan_all(p, s, program->target, program->indices);
}
