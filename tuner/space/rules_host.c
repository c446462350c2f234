/* Derivation and rules of the host. A workgroup is one task of the thread pool; its macro tile is processed
 * in blocks of WorkGroup x ThreadTile, and these in register tiles of ThreadTile; local memory is a packed
 * buffer, so that LDS rules do not apply. */
#include "space/derive_internal.h"

/* Bytes of an accumulator: 16-bit types accumulate in f32. */
static int32_t sum_bytes(const Deriver *f)
{
    int32_t bytes = f->compute_bpe < 4 ? 4 : f->compute_bpe;
    return is_complex(f->compute) ? bytes / 2 : bytes;
}

bool host_vectors_along_1(const Solution *s) { return s->HostDirectConv && !s->pt->Tensor0; }

static bool check_problem(Derive *d)
{
    const Deriver *f = d->f;
    if (!check_contraction(d)) return false;
    const int32_t types[] = {f->type, f->dest, f->compute};
    for (int i = 0; i < 3; i++)
        if (types[i] == TYPE_4XI8 || types[i] == TYPE_X || is_f8(types[i])) STOP(d, HOST_TYPE, types[i]);
    if (f->stochastic || f->fp16_alt) REJECT(d, HOST_FORM);
    return true;
}

static bool check_registers(Derive *d)
{
    Solution *s = d->s;
    const Target *t = d->f->target;
    const bool along_1 = host_vectors_along_1(s);
    const int32_t side = along_1 ? s->ThreadTile1 : s->ThreadTile0,
                  other = along_1 ? s->ThreadTile0 : s->ThreadTile1;
    int32_t bytes = sum_bytes(d->f), widest = t->vector_bits / 8;
    if (s->VectorWidth < 1) { /* the widest register that divides the tile */
        s->VectorWidth = widest / bytes;
        while (s->VectorWidth * bytes > 16 && side % s->VectorWidth) s->VectorWidth /= 2;
    }
    int32_t vector = s->VectorWidth * bytes;
    if (!is_pow2(vector) || vector < 16 || vector > widest)
        STOP(d, HOST_VECTOR, s->VectorWidth, bytes, widest);
    if (side % s->VectorWidth) STOP(d, VW_THREAD_TILE, s->ThreadTile0, s->ThreadTile1, s->VectorWidth);
    s->VectorWidthA = s->VectorWidthB = s->VectorWidth;
    int32_t vectors = side / s->VectorWidth * other * s->LocalSplitU;
    if (is_complex(d->f->compute)) vectors *= 2;
    if (vectors > t->n_vector_regs) REJECT(d, HOST_REGISTERS, vectors, t->n_vector_regs);
    return true;
}

/* Checks parameters of which the host honours only some values. */
static bool check_parameters(Derive *d)
{
    Solution *s = d->s;
    if (s->EdgeType == EDGE_NONE &&
        (s->AssertFree0ElementMultiple % s->ThreadTile0 || s->AssertFree1ElementMultiple % s->ThreadTile1))
        REJECT(d, HOST_EDGE_NONE, s->AssertFree0ElementMultiple, s->AssertFree1ElementMultiple,
               s->ThreadTile0, s->ThreadTile1);
    if (!check_only(d, ONLY_CPU)) return false;
    if (!s->PersistentKernel) s->PrefetchAcrossPersistent = 0;
    if (s->PrefetchAcrossPersistent) REJECT(d, HOST_ACROSS, s->PrefetchAcrossPersistent);
    if (s->PersistentKernel && s->GlobalSplitU > 1)
        REJECT(d, HOST_PERSISTENT, s->PersistentKernel, s->GlobalSplitU);
    if (s->StreamK && s->StreamKAtomic) REJECT(d, HOST_ADDS, s->StreamKAtomic);
    if (s->GlobalAccumulation == GACC_PARTIALS && (d->f->dest != d->f->compute || is_complex(d->f->compute) ||
                                                   is_16bit(d->f->compute) || !d->f->strided_batched))
        REJECT(d, HOST_JOIN, d->f->dest, d->f->compute);
    if (s->InnerUnroll * s->LocalSplitU > 64) REJECT(d, HOST_UNROLL, s->InnerUnroll, s->LocalSplitU);
    if (!s->LoopTail && s->AssertSummationElementMultiple % s->DepthU)
        REJECT(d, HOST_TAIL, s->AssertSummationElementMultiple, s->DepthU);
    bool converts = fused_any(&d->f->fused) || gathers(d) || d->f->type != d->f->dest ||
                    d->f->type != d->f->compute || is_complex(d->f->type) || is_16bit(d->f->type);
    if (!s->HostPackA && (converts || !d->f->tlu[0])) REJECT(d, HOST_PACK_A);
    if (!s->HostPackB && converts) REJECT(d, HOST_PACK_B);
    if (s->HostPackA && s->HostReadAheadA) REJECT(d, HOST_READ_AHEAD_A, s->HostReadAheadA);
    if (s->HostStreamD && converts) REJECT(d, HOST_STREAM);
    if (!s->HostPackB && s->HostKeepB) REJECT(d, HOST_KEEP_B, s->HostKeepB);
    if (s->HostDirectConv && (!d->f->contraction || is_complex(d->f->type) || !s->HostPackA || !s->HostPackB))
        REJECT(d, HOST_DIRECT_CONV);
    if (s->GlobalSplitU > 1 && s->GlobalAccumulation == GACC_NONE && is_16bit(d->f->dest))
        REJECT(d, HOST_SPLIT_HALF, s->GlobalSplitU);
    return true;
}

static bool check_local(Derive *d)
{
    Solution *s = d->s;
    if (s->MacroTile0 > 1 << 20 || s->MacroTile1 > 1 << 20)
        STOP(d, HOST_TILE_LIMIT, s->MacroTile0, s->MacroTile1);
    const int64_t side0 = (int64_t)s->SubGroup0 * s->ThreadTile0, nc = (int64_t)s->SubGroup1 * s->ThreadTile1;
    int64_t parts = is_complex(d->f->compute) ? 2 : 1, elements = 0;
    if (s->HostPackA) elements += side0 * s->DepthU * parts;
    const int64_t blocks = s->HostKeepB > 0 ? s->HostKeepB : 1;
    if (s->HostPackB) elements += nc * s->DepthU * parts * blocks;
    /* with HostDirectConv a number for each column and summation index of the image side, too */
    if (s->HostDirectConv) elements += (host_vectors_along_1(s) ? side0 : nc) * s->DepthU;
    if (gathers(d)) /* the sums stay in local memory until the last chunk of K */
        elements += host_vectors_along_1(s) ? s->MacroTile1 * side0 : s->MacroTile0 * nc * parts;
    else if (is_16bit(d->f->dest) || fused_any(&d->f->fused))
        elements += s->MacroTile0 * nc;
    int64_t bytes = elements * sum_bytes(d->f);
    if (bytes > INT64_C(255) << 20) REJECT(d, HOST_LOCAL, bytes >> 10);
    return true;
}

bool derive_host(Derive *d)
{
    Solution *s = d->s;
    s->UseSgprForGROUsed = 0;
    s->VectorStoreUsed = s->VectorStore == -1 ? 1 : s->VectorStore;
    if (s->EnableMatrixInstruction || s->MatrixInstruction.n > 1) STOP(d, MI_ARCH);
    if (!d->f->hpa && d->f->compute_bpe > d->f->bpe) REJECT(d, VALU_NEEDS_HPA, d->f->compute_bpe, d->f->bpe);
    if (!check_problem(d) || !check_registers(d)) return false;
    if (s->DepthU < 0) s->DepthU = d->f->max_depth_u < 256 ? d->f->max_depth_u : 256;
    s->DepthULds = s->DepthU / s->DepthULdsDivisor;
    if ((int64_t)s->MacroTile0 * s->MacroTile1 < s->NumThreads)
        STOP(d, TILE_SMALL, (int64_t)s->MacroTile0 * s->MacroTile1, s->NumThreads);
    s->NumElementsPerThread = (int32_t)((int64_t)s->MacroTile0 * s->MacroTile1 / s->NumThreads);
    s->GlobalWriteVectorWidth = 1;
    s->NumGlobalWriteVectorsPerThread = s->NumElementsPerThread;
    s->LoopUnroll = s->DepthULds / s->LocalSplitU / s->InnerUnroll;
    if (s->LoopUnroll < 1) STOP(d, LOOP_EMPTY, s->DepthULds, s->LocalSplitU * s->InnerUnroll);
    if (s->DepthULds % s->LocalSplitU) STOP(d, LOOP_SPLIT, s->DepthULds, s->LocalSplitU);
    s->LoopIters = s->LoopUnroll;
    if (s->GlobalSplitU == 1) s->GlobalSplitUAlgorithm = GSUA_SINGLE, s->MinKForGSU = 256;
    order_along_n(s);
    if (s->EdgeType == EDGE_SHIFTPTR) s->EdgeType = EDGE_BRANCH; /* edge tiles are masked with either value */
    s->StaggerU = s->StaggerUStride = s->StaggerUMapping = 0;    /* have no meaning here; avoids duplicates */
    return check_parameters(d) && check_local(d);
}
