/* Derivation of a solution whose kernel is written by hand: tile, work-group and order of work-groups are the
 * program's, whatever else is forked; all else has its default. See custom.h. */
#include "space/custom.h"
#include "space/derive_internal.h"

#include <string.h>

bool derive_custom(Derive *d)
{
    Solution *s = d->s;
    const CustomKernel *k = s->custom;
    if (!k) REJECT(d, CUSTOM_KERNEL);
    const Solution given = *s;
    *s = d->f->defaults;
    memcpy(s->present, given.present, sizeof s->present);
    s->CustomKernelName = given.CustomKernelName;
    s->SolutionIndex = given.SolutionIndex;
    s->SolutionNameMin = given.SolutionNameMin;
    s->ISA = given.ISA;
    s->custom = k;
    s->KernelLanguage = LANG_SOURCE;
    s->WorkGroup = intlist3(k->n_threads, 1, 1);
    s->NumThreads = k->n_threads;
    s->SubGroup0 = k->n_threads, s->SubGroup1 = 1;
    s->MacroTile0 = s->MacroTileA = k->tile_m, s->MacroTile1 = s->MacroTileB = k->tile_n;
    s->DepthU = s->LoopUnroll = k->depth;
    s->WorkGroupMapping = k->mapping;
    s->GlobalSplitU = s->LocalSplitU = 1;
    s->GlobalAccumulation = GACC_NONE;
    s->StaggerU = s->PersistentKernel = s->NvRing = s->PreloadKernelArguments = 0;
    s->EnableMatrixInstruction = 0;
    s->MacroTileShapeMin = s->MacroTileShapeMax = 1;
    return true;
}
