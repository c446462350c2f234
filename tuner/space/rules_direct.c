/* Derivation and rules of kernels whose threads load A and B from global memory straight into registers
 * (direct.h).
 *
 * Parameters keep their meaning: WorkGroup [threads along M, threads along N, split of K], ThreadTile,
 * GlobalReadVectorWidth elements of a load along the contiguous dimension, PrefetchGlobalRead 1 with the next
 * DepthU's loads under way. DepthU is a multiple of LocalSplitU runs of K. */
#include "space/derive_internal.h"
#include "space/direct.h"

enum { CHUNK = 16, MOST_REGISTERS = 192, MOST_FOUND = 128, MOST_RUNS = 8, DEPTH_MAX = 1024 };

static bool check_problem(Derive *d)
{
    const Deriver *f = d->f;
    const ProblemType *pt = f->pt;
    if (f->contraction || f->initial_ab || f->initial_cd || f->zero_pad[0] || f->zero_pad[1] || f->tensor0 ||
        pt->MirrorDimsA.n || pt->MirrorDimsB.n || f->fp16_alt || d->packed0 || d->packed1)
        STOP(d, DIRECT_FORM);
    if ((is_f8(f->type) || is_f8(f->dest)) && f->target->f8 == F8_NONE) STOP(d, NV_F8, f->type, f->dest);
    if (f->stochastic) STOP(d, NV_STOCHASTIC);
    if (!f->hpa && f->compute_bpe > f->bpe) REJECT(d, VALU_NEEDS_HPA, f->compute_bpe, f->bpe);
    return true;
}

/* The given load width, or the widest one that fits the thread's part of the tile. */
static bool check_width(Derive *d, int t)
{
    Solution *s = d->s;
    const Deriver *f = d->f;
    int32_t side = t ? s->ThreadTile1 : s->ThreadTile0, *width = &AB(s, GlobalLoadVectorWidth, t);
    if (s->GlobalReadVectorWidth != -1) *width = s->GlobalReadVectorWidth;
    if (*width < 1) *width = max32(CHUNK / f->bpe, 1);
    if (!is_pow2(*width) || *width * f->bpe > CHUNK) STOP(d, GLVW_BIG, *width, f->bpe);
    while (f->tlu[t] && side % *width) *width /= 2;
    return true;
}

/* Chooses DepthU: as many runs as leave the compiler registers for addresses. */
static void find_depth(Solution *s, int32_t step)
{
    DirectPlan p;
    for (s->DepthU = step; 2 * s->DepthU <= DEPTH_MAX; s->DepthU *= 2) {
        Solution twice = *s;
        twice.DepthU *= 2;
        direct_plan(&twice, &p);
        if (p.runs > MOST_RUNS || p.registers > MOST_FOUND) break;
    }
}

static bool check_depth(Derive *d)
{
    Solution *s = d->s;
    DirectPlan p;
    if (!is_pow2(s->LocalSplitU)) STOP(d, DIRECT_SPLIT, s->LocalSplitU);
    for (int t = 0; t < 2; t++)
        if (!check_width(d, t)) return false;
    direct_plan(s, &p);
    int32_t step = s->LocalSplitU * p.run;
    if (s->DepthU < 0) find_depth(s, step);
    if (s->DepthU % step || s->DepthU < step) STOP(d, DIRECT_DEPTH, s->DepthU, s->LocalSplitU, p.run);
    s->DepthULds = s->LoopUnroll = s->DepthU;
    s->LoopIters = s->DepthU / s->LocalSplitU;
    return true;
}

static bool check_plan(Derive *d)
{
    Solution *s = d->s;
    DirectPlan p;
    direct_plan(s, &p);
    int32_t limit = d->f->target->lds_bytes;
    if (s->NumThreads > 1024) STOP(d, NV_THREADS, s->NumThreads);
    if (s->VectorWidth != -1 && s->VectorWidth != p.vector[0])
        REJECT(d, DIRECT_VECTOR, s->VectorWidth, p.vector[0]);
    if (p.registers > MOST_REGISTERS) REJECT(d, DIRECT_REGISTERS, p.registers, MOST_REGISTERS);
    if (p.local_bytes > limit) STOP(d, DIRECT_LOCAL, s->LocalSplitU, p.local_bytes, limit);
    s->VectorWidth = s->VectorWidthA = p.vector[0], s->VectorWidthB = p.vector[1];
    s->StoreVectorWidth = s->GlobalWriteVectorWidth = p.vector[0];
    s->NumElementsPerThread = p.sums;
    s->NumGlobalWriteVectorsPerThread = p.sums / p.vector[0];
    s->NumLoadsA = p.loads[0] * p.runs, s->NumLoadsB = p.loads[1] * p.runs;
    s->LdsNumElements = p.local_bytes / d->f->bpe;
    return true;
}

/* Sets rows of the table that have one value in these kernels. */
static bool set_rest(Derive *d)
{
    Solution *s = d->s;
    if (!check_split(d)) return false;
    s->UseSgprForGROUsed = 0, s->VectorStoreUsed = 1, s->NoLdsWriteCode = 1, s->VectorStore = -1;
    s->LocalReadVectorWidth = 1, s->PrefetchLocalRead = 0;
    s->LdsPadA = s->LdsPadB = s->LdsBlockSizePerPadA = s->LdsBlockSizePerPadB = s->TransposeLDS = 0;
    s->UnrollMajorLDSA = s->UnrollMajorLDSB = s->LDSBuffer1 = 0;
    s->NvRoundXF32 = 1, s->NvRing = 0;
    s->EdgeType = EDGE_BRANCH, s->AssertMinApproxSize = 2;
    return true;
}

bool derive_direct(Derive *d)
{
    Solution *s = d->s;
    if (!check_problem(d) || !check_only(d, ONLY_DIRECT)) return false;
    if (!s->PersistentKernel) s->PrefetchAcrossPersistent = 0;
    return check_depth(d) && check_plan(d) && set_rest(d);
}
