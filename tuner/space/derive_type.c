/* Derivation: accumulation buffers, stream-K, kernel argument preload, modifiers, types, persistence,
 * strides. */
#include "problem/part.h"
#include "space/derive_internal.h"
#include "space/wgmma.h"

static bool check_stream_k(Derive *d)
{
    Solution *s = d->s;
    const Deriver *f = d->f;
    if (!s->EnableMatrixInstruction) STOP(d, STREAM_K_NO_MI);
    if (s->MIWaveGroup.v[0] * s->MIWaveGroup.v[1] != 4)
        REJECT(d, STREAM_K_WAVES, s->MIWaveGroup.v[0], s->MIWaveGroup.v[1]);
    if (d->caps & CAP_WMMA) REJECT(d, STREAM_K_WMMA);
    if (s->GlobalSplitU > 1) REJECT(d, STREAM_K_GSU, s->GlobalSplitU);
    if (s->PersistentKernel) REJECT(d, STREAM_K_PERSISTENT, s->PersistentKernel);
    if (!f->strided_batched) REJECT(d, STREAM_K_GENERAL_BATCH);
    if (s->StreamKXCCMapping > 0 && part_traffic(str_from(f->target->name), 0).dies < 2)
        REJECT(d, STREAM_K_XCC, s->StreamKXCCMapping);
    if (s->StreamKAtomic == 1) {
        if (f->type != TYPE_S) REJECT(d, STREAM_K_ATOMIC_TYPE);
        if (!s->BufferStore) REJECT(d, STREAM_K_ATOMIC_BUFFER);
        if (s->LocalSplitU > 1) REJECT(d, STREAM_K_ATOMIC_LSU, s->LocalSplitU);
    }
    return true;
}

/* The rules of stream-K kernels that are not Tensile's: these have any number of threads, with and without
 * matrix instructions. */
static bool check_own_stream_k(Derive *d)
{
    Solution *s = d->s;
    if (s->GlobalSplitU > 1 || s->PersistentKernel)
        REJECT(d, STREAM_K_ALONE, s->StreamK, s->GlobalSplitU, s->PersistentKernel);
    if (s->StreamKAtomic && (d->f->dest != TYPE_S || d->f->compute != TYPE_S)) REJECT(d, STREAM_K_ADDS);
    s->StreamKXCCMapping = s->DebugStreamK = 0;
    return true;
}

static bool derive_stream_k(Derive *d)
{
    Solution *s = d->s;
    const TargetFamily family = d->f->target->family;
    if (s->StreamK && family == TARGET_AMDGCN) return check_stream_k(d);
    if (s->StreamK && family == TARGET_NVPTX && wgmma_is(s)) return true; /* rules_wgmma.c has their rules */
    if (s->StreamK) return check_own_stream_k(d);
    if (family != TARGET_AMDGCN && s->PersistentKernel == 0) s->PersistentKernelAlongBatch = 0;
    s->StreamKAtomic = s->StreamKXCCMapping = s->DebugStreamK = 0; /* avoids duplicates */
    return true;
}

/* Bytes of the workspace for an element of D that is summed in parts, for each slot of a part. */
static int32_t slot_bytes(const Derive *d)
{
    const Solution *s = d->s;
    const bool on_amd = d->f->target->family == TARGET_AMDGCN;
    const int32_t sum = d->f->compute_bpe < 4 ? 4 : d->f->compute_bpe; /* 16-bit types are summed in f32 */
    if (on_amd && s->StreamK) return d->f->compute_bpe;                /* as in Tensile */
    /* as wgmma kernels: a slot for the tile that a work-group begins with and one for that it ends with */
    if (d->f->target->family == TARGET_HOST && s->StreamK) return 2 * sum;
    /* with LocalSplitU each part of a ring kernel's work-group stores its own sums */
    return s->NvRing && d->f->target->family == TARGET_NVPTX && !wgmma_is(s) ? sum * s->LocalSplitU : sum;
}

/* Where the parts of K are added up. A logic file's solution keeps its values. */
static void accumulation(Derive *d)
{
    Solution *s = d->s;
    bool by_wgmma = d->f->target->family == TARGET_NVPTX && wgmma_is(s);
    if (solution_has(s, PARAM_GlobalAccumulation) && solution_has(s, PARAM_WorkspaceSizePerElemC)) return;
    s->GlobalAccumulation = GACC_NONE;
    s->WorkspaceSizePerElemC = 0;
    if (s->StreamK > 0 && s->StreamKAtomic == 0) {
        s->GlobalAccumulation = GACC_PARTIALS;
        s->WorkspaceSizePerElemC = slot_bytes(d);
        /* a work-group has a slot for the tile that it begins with and one for the tile that it ends with */
        if (by_wgmma) s->WorkspaceSizePerElemC *= 2;
    }
    if (s->GlobalSplitU > 1) {
        if (s->GlobalSplitUAlgorithm == GSUA_SINGLE_KERNEL) {
            s->GlobalAccumulation = GACC_PARTIALS;
            s->WorkspaceSizePerElemC = slot_bytes(d) * s->GlobalSplitU;
        } else if (s->GlobalSplitUAlgorithm == GSUA_MULTIPLE) {
            s->GlobalAccumulation = GACC_MULTIPLE;
            s->WorkspaceSizePerElemC = d->f->compute_bpe * s->GlobalSplitU;
        } else if (d->f->compute != d->f->dest) {
            s->GlobalAccumulation = GACC_SINGLE;
            s->WorkspaceSizePerElemC = d->f->compute_bpe;
        }
    }
}

bool derive_accumulation(Derive *d)
{
    const Solution *s = d->s;
    accumulation(d);
    const bool whole = s->GlobalAccumulation == GACC_PARTIALS || s->GlobalAccumulation == GACC_MULTIPLE;
    if (fused_any(&d->f->fused) && (s->GlobalSplitU > 1 || s->StreamK) && !whole)
        REJECT(d, FUSED_SPLIT, s->GlobalSplitU, s->StreamK);
    if (fused_any(&d->f->fused) && d->f->contraction && s->GlobalSplitU > 1 &&
        s->GlobalAccumulation == GACC_MULTIPLE)
        REJECT(d, FUSED_CONTRACTION, s->GlobalSplitU);
    return derive_stream_k(d);
}

/* The rule that forbids PreloadKernelArguments; RULE_NONE: no rule does. */
static RuleId preload_obstacle(const Derive *d)
{
    const Solution *s = d->s;
    const Deriver *f = d->f;
    if (!(d->caps & CAP_PRELOAD)) return RULE_PRELOAD_ARCH;
    if (!f->strided_batched) return RULE_PRELOAD_GENERAL_BATCH;
    if (f->type != TYPE_S && !is_16bit(f->type)) return RULE_PRELOAD_TYPE;
    if (!f->use_beta) return RULE_PRELOAD_BETA;
    if (f->initial_ab) return RULE_PRELOAD_STRIDES;
    if (s->WorkGroupMappingDim < 0 && (s->WorkGroupMapping > 1 || s->WorkGroupMapping < -1))
        return RULE_PRELOAD_WGM;
    if (!s->PrefetchGlobalRead) return RULE_PRELOAD_PGR;
    if (s->EdgeType == EDGE_SHIFTPTR) return RULE_PRELOAD_SHIFT_PTR;
    if (s->StaggerU) return RULE_PRELOAD_STAGGER;
    return RULE_NONE;
}

bool derive_preload(Derive *d)
{
    Solution *s = d->s;
    if (d->assembly && !s->BufferLoad) s->StaggerU = 0;
    if (!(d->caps & CAP_PRELOAD)) s->PreloadKernelArguments = 0;
    if (s->PreloadKernelArguments) {
        RuleId why = preload_obstacle(d);
        if (s->PreloadKernelArguments == -1)
            s->PreloadKernelArguments = why == RULE_NONE;
        else if (why != RULE_NONE && derive_reject(d, why, (const int64_t[5]){0, s->WorkGroupMapping}))
            return false;
    }
    if (s->DelayRemainingArguments && s->PreloadKernelArguments != 1) REJECT(d, DELAY_NEEDS_PRELOAD);
    s->UseSgprForGROUsed = s->UseSgprForGRO;
    s->VectorStoreUsed = s->VectorStore == -1 ? 1 : s->VectorStore;
    return true;
}

bool derive_modifiers(Derive *d)
{
    Solution *s = d->s;
    s->LoopIters = 0;
    if (s->ScheduleIterAlg == 2) {
        if (!s->EnableMatrixInstruction) STOP(d, SIA_NEEDS_MI, s->ScheduleIterAlg);
        /* Rounds down like Python, for the negative DepthU of a search. */
        int32_t q = s->DepthU / s->MatrixInstK;
        s->InnerUnroll = s->DepthU < 0 && s->DepthU % s->MatrixInstK ? q - 1 : q;
        s->PrefetchLocalRead = s->ExpandPointerSwap = s->LDSBuffer1 = 1;
        if (s->InnerUnroll < 1) STOP(d, LOOP_EMPTY, s->DepthU, s->MatrixInstK);
    }
    if (s->MemoryModifierFormat == MMF_NONE) s->MemoryModifierFormat = d->caps & CAP_GLC ? MMF_GLC : MMF_SC0;
    if (s->ForceStoreSC1 == SC1_AUTO)
        s->ForceStoreSC1 = SC1_FALSE; /* no architecture of the table needs it */
    if (!(d->caps & CAP_NT)) {
        int32_t *hints[] = {&s->NonTemporalA, &s->NonTemporalB, &s->NonTemporalC, &s->NonTemporalD};
        for (int i = 0; i < 4; i++)
            if (*hints[i] >= 4) *hints[i] -= 4;
    }
    if (s->WavefrontSize == 32 && !(d->caps & CAP_WAVE32)) REJECT(d, WAVE32_ARCH);
    if (s->WavefrontSize == 32 && !d->assembly && !(d->f->source_matrix && s->MatrixInstruction.n > 1))
        REJECT(d, WAVE32_SOURCE);
    return true;
}

static bool check_mi_types(Derive *d)
{
    const Deriver *f = d->f;
    if (!(d->caps & (CAP_MFMA | CAP_WMMA))) STOP(d, MI_ARCH);
    if (f->type == TYPE_I || f->type == TYPE_4XI8 || f->type == TYPE_X) STOP(d, MI_TYPE);
    bool wmma_only = !(d->caps & CAP_MFMA);
    if (wmma_only && d->s->WavefrontSize == 64) STOP(d, WMMA_WAVE);
    if (!wmma_only && !f->hpa && f->bpe < 4) STOP(d, MI_NEEDS_HPA);
    if ((d->caps & CAP_WMMA) && f->bpe >= 4) STOP(d, WMMA_TYPE);
    if (d->s->InterleaveAlpha) STOP(d, MI_INTERLEAVE_ALPHA);
    return true;
}

bool derive_types(Derive *d)
{
    const Solution *s = d->s;
    if (s->EnableMatrixInstruction) return check_mi_types(d);
    if (!d->f->hpa && d->f->compute_bpe > d->f->bpe) REJECT(d, VALU_NEEDS_HPA, d->f->compute_bpe, d->f->bpe);
    if (s->ThreadTile0 > 16 || s->ThreadTile1 > 16)
        REJECT(d, THREAD_TILE_BIG, s->ThreadTile0, s->ThreadTile1);
    if (s->ScheduleIterAlg >= 2) REJECT(d, SIA_NEEDS_MI, s->ScheduleIterAlg);
    return true;
}

bool derive_persistent(Derive *d)
{
    Solution *s = d->s;
    s->LocalWriteUseSgprA = s->LocalWriteUseSgprB = 0;
    if ((!d->assembly || s->WorkGroupMappingType == WGMT_Z) && s->WorkGroupMapping < 0)
        s->WorkGroupMapping = -s->WorkGroupMapping;
    if (s->WorkGroupMapping == -1) s->WorkGroupMapping = 1;
    if (d->assembly && (s->GlobalSplitU != 1 || s->WorkGroupMapping < 0)) s->PersistentKernel = 0;
    if (s->PersistentKernel == 0 || (!d->assembly && s->GlobalSplitU != 1)) s->PersistentKernelAlongBatch = 0;
    if (s->PrefetchAcrossPersistent) {
        const bool on_nvidia = d->f->target->family == TARGET_NVPTX;
        if (!(d->assembly || on_nvidia) || !s->PersistentKernel || !s->PrefetchGlobalRead ||
            s->SuppressNoLoadLoop)
            s->PrefetchAcrossPersistent = s->PrefetchAcrossPersistentMode = 0;
        if (s->PrefetchAcrossPersistentMode == 0 && s->PrefetchGlobalRead == 2 && !on_nvidia)
            STOP(d, PAP_PGR2);
    } else if (s->PrefetchAcrossPersistentMode) {
        STOP(d, PAP_MODE, s->PrefetchAcrossPersistentMode);
    }
    return true;
}

static int32_t list_index(const IntList *l, int32_t value)
{
    for (int32_t i = 0; i < l->n; i++)
        if (l->v[i] == value) return i;
    return -1;
}

/* Solutions of a convolution assert its constant strides and filter sizes, whatever the config has. */
static bool assert_convolution(Solution *s, const Deriver *f)
{
    const ProblemType *pt = f->pt;
    bool fits = true;
    if (pt->OperationType < OP_CONV_FORWARD || !pt->ConvolutionConfig.n) return true;
    s->AssertStrideAEqual = s->AssertStrideBEqual = s->AssertSizeEqual = (IntMap){.n = 0};
    for (int t = 0; t < 2; t++) {
        const TupleList *fixed = t ? &pt->SetConstStrideB : &pt->SetConstStrideA;
        for (int32_t i = 0; i < fixed->n; i++)
            fits = intmap_set(t ? &s->AssertStrideBEqual : &s->AssertStrideAEqual,
                              index_list_find(f->assign[t], fixed->v[i][0]), fixed->v[i][1]) &&
                   fits;
    }
    for (int32_t i = 0; i < f->n_fixed_sizes; i++)
        fits = intmap_set(&s->AssertSizeEqual, f->fixed_index[i], f->fixed_size[i]) && fits;
    return fits;
}

bool derive_strides(Derive *d)
{
    Solution *s = d->s;
    const Deriver *f = d->f;
    bool fits = assert_convolution(s, f);
    if (!f->initial_ab)
        fits = intmap_set(&s->AssertStrideAEqual, 0, 1) && intmap_set(&s->AssertStrideBEqual, 0, 1) && fits;
    if (!f->initial_cd)
        fits = intmap_set(&s->AssertStrideCEqual, 0, 1) && intmap_set(&s->AssertStrideDEqual, 0, 1) && fits;
    for (int t = 0; t < 2; t++) /* batch packed into A has stride 0 in B and the other way round */
        for (int32_t i = 0; i < f->n_indices_c && (s->PackBatchDims & (t ? 1 : 2)); i++)
            if (f->batch_mask >> i & 1)
                fits = intmap_set(t ? &s->AssertStrideBEqual : &s->AssertStrideAEqual,
                                  index_list_find(f->assign[t], i), 0) &&
                       fits;
    if (!fits) STOP(d, TOO_MANY_ASSERTS);
    for (int t = 0; t < 2; t++) {
        bool has_free = false;
        for (int32_t i = 0; i < f->assign[t]->n; i++) has_free |= f->free_mask >> f->assign[t]->v[i] & 1;
        if (!has_free && (!f->no_free_dims || !(s->PackBatchDims & (t ? 2 : 1)))) STOP(d, NO_FREE_INDEX, t);
    }
    return true;
}

static void pack(const Derive *d, int t, IntList *letters, IntList *indices)
{
    const Deriver *f = d->f;
    indices->n = 0;
    for (int32_t i = 0; i < f->assign[t]->n; i++) {
        int32_t index = f->assign[t]->v[i];
        bool packed = (f->free_mask >> index & 1 && d->s->PackFreeDims) ||
                      (f->batch_mask >> index & 1 && d->s->PackBatchDims & (t ? 2 : 1));
        if (packed && index < f->n_indices_c) indices->v[indices->n++] = index;
    }
    for (int32_t i = indices->n; i < INTLIST_MAX; i++) indices->v[i] = 0;
    *letters = *indices;
}

bool derive_packing(Derive *d)
{
    Solution *s = d->s;
    int t0 = d->f->tensor0 ? 1 : 0;
    pack(d, t0, &s->PackedC0IdxChars, &s->PackedC0IndicesX);
    pack(d, 1 - t0, &s->PackedC1IdxChars, &s->PackedC1IndicesX);
    for (int t = 0; t < 2; t++)
        if (list_index(t == t0 ? &s->PackedC0IndicesX : &s->PackedC1IndicesX, d->f->index01[t]) < 0)
            STOP(d, FREE_INDEX_UNPACKED, t);
    d->packed0 = s->PackedC0IndicesX.n > 1;
    d->packed1 = s->PackedC1IndicesX.n > 1;
    d->buffer_load = s->BufferLoad && d->assembly;
    if (!d->buffer_load) s->DirectToLdsA = s->DirectToLdsB = s->UseSgprForGROUsed = s->FractionalLoad = 0;
    if (!(d->buffer_load && s->PrefetchGlobalRead == 1 && s->GlobalSplitU == 1)) s->SuppressNoLoadLoop = 0;
    bool direct = s->DirectToVgprA || s->DirectToVgprB;
    bool swap_type = d->f->type != TYPE_4XI8 && d->f->type != TYPE_I && d->f->type != TYPE_X;
    bool swaps = (d->buffer_load || direct) &&
                 (s->PrefetchGlobalRead == 1 || (s->PrefetchGlobalRead > 1 && swap_type));
    if (!swaps || s->DepthULdsDivisor > 1) s->ExpandPointerSwap = 0;
    s->OptPreLoopVmcnt = s->OptPreLoopVmcnt && s->PrefetchAcrossPersistent;
    return true;
}

bool derive_stagger(Derive *d)
{
    Solution *s = d->s;
    if (s->StaggerUStride == 0 && s->StaggerU) STOP(d, STAGGER_NO_STRIDE, s->StaggerU);
    if (s->StaggerU == 0) s->StaggerUMapping = s->StaggerUStride = 0;
    s->StaggerStrideShift = 0;
    if (s->StaggerUStride && s->DepthU > 0) { /* a DepthU to be searched gives 0, as in Tensile */
        int64_t step = (int64_t)s->DepthU * d->f->bpe, stride = s->StaggerUStride;
        if (2 * stride <= step) STOP(d, STAGGER_STRIDE, stride, s->DepthU, d->f->bpe);
        while (step < stride) step *= 2, s->StaggerStrideShift++;
    }
    return true;
}
