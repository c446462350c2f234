/* Derivation and rules that are the host's own. A workgroup is one task of the thread pool; its macro tile is
 * walked in register tiles of ThreadTile; local memory is a packed buffer, so that LDS rules do not apply. */
#include "model/derive_internal.h"

bool derive_host(Derive *d)
{
    Solution *s = d->s;
    s->UseSgprForGROUsed = 0;
    s->VectorStoreUsed = s->VectorStore == -1 ? 1 : s->VectorStore;
    if (s->EnableMatrixInstruction || s->MatrixInstruction.n > 1) STOP(d, MI_ARCH);
    if (!d->f->hpa && d->f->compute_bpe > d->f->bpe) REJECT(d, VALU_NEEDS_HPA, d->f->compute_bpe, d->f->bpe);
    if (s->VectorWidth < 1) {
        s->VectorWidth = max32(16 / d->f->bpe, 1);
        while (s->ThreadTile0 % s->VectorWidth) s->VectorWidth /= 2;
    }
    if (s->ThreadTile0 % s->VectorWidth)
        STOP(d, VW_THREAD_TILE, s->ThreadTile0, s->ThreadTile1, s->VectorWidth);
    s->VectorWidthA = s->VectorWidthB = s->VectorWidth;
    if (s->DepthU < 0) s->DepthU = d->f->max_depth_u < 256 ? d->f->max_depth_u : 256;
    s->DepthULds = s->DepthU / s->DepthULdsDivisor;
    int32_t elements = s->MacroTile0 * s->MacroTile1;
    if (elements < s->NumThreads) STOP(d, TILE_SMALL, elements, s->NumThreads);
    s->NumElementsPerThread = elements / s->NumThreads;
    s->GlobalWriteVectorWidth = 1;
    s->NumGlobalWriteVectorsPerThread = s->NumElementsPerThread;
    s->LoopUnroll = s->DepthULds / s->LocalSplitU / s->InnerUnroll;
    if (s->LoopUnroll < 1) STOP(d, LOOP_EMPTY, s->DepthULds, s->LocalSplitU * s->InnerUnroll);
    if (s->DepthULds % s->LocalSplitU) STOP(d, LOOP_SPLIT, s->DepthULds, s->LocalSplitU);
    s->LoopIters = s->LoopUnroll;
    if (s->GlobalSplitU == 1) s->GlobalSplitUAlgorithm = GSUA_SINGLE, s->MinKForGSU = 256;
    if (s->WorkGroupMapping < 0) s->WorkGroupMapping = -s->WorkGroupMapping;
    if (s->WorkGroupMapping == 0) s->WorkGroupMapping = 1;
    s->StaggerU = s->StaggerUStride = s->StaggerUMapping = 0; /* no meaning here: no duplicates */
    return true;
}
