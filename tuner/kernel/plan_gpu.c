/* Makes a GpuPlan from a Solution: every number that a GPU kernel's text is printed from. Refuses what the
 * kernel writer cannot do; the rules of space/ reject most of that before, but logic files are untrusted
 * input. */
#include "kernel/plan.h"

#include "kernel/gpu/loads.h"
#include "kernel/gpu/maps.h"
#include "problem/window.h"
#include "space/direct.h"
#include "space/wgmma.h"

Err gpu_plan_types(GpuPlan *p, const ProblemType *pt, const Target *t)
{
    gpu_plan_init(p, t);
    p->gsu = p->n_stages = p->n_sets = 1;
    p->wave = t->wave_size;
    p->in = gpu_type((DataType)pt->DataType);
    p->to_bf16 = pt->Fp16AltImpl && p->in.type == TYPE_H;
    p->to_bf16_rounds = p->to_bf16 && pt->Fp16AltImplRound;
    if (p->to_bf16) p->in = gpu_type(TYPE_B);
    p->scalar = gpu_type((DataType)pt->ComputeDataType);
    p->dest = p->out = gpu_type((DataType)pt->DestDataType);
    /* Products of 16-bit types are summed in f32 for every problem type, which is more exact than Tensile. */
    p->acc = p->scalar.part_bytes == 2 ? gpu_type(TYPE_S) : p->scalar;
    p->batched = pt->NumIndicesC > 2;
    p->strided = pt->StridedBatched;
    p->use_beta = pt->UseBeta;
    p->fused = problem_fused(pt);
    p->f8_clips = pt->Fp32toFp8SWClip;
    p->math = pt->F32XdlMathOp == TYPE_X ? TYPE_X : p->in.type;
    if ((gpu_is_f8(p->in.type) || gpu_is_f8(p->dest.type)) && t->f8 == F8_NONE)
        FAIL(ERR_INPUT, "kernels of %s have no 8-bit floats, data types '%s', '%s'", t->name,
             type_letter((DataType)pt->DataType), type_letter((DataType)pt->DestDataType));
    if (!p->in.part || !p->scalar.part || !p->dest.part)
        FAIL(ERR_INPUT, "GPU kernels have no data types '%s', '%s', '%s'",
             type_letter((DataType)pt->DataType), type_letter((DataType)pt->DestDataType),
             type_letter((DataType)pt->ComputeDataType));
    if (pt->Fp16AltImpl && !p->to_bf16)
        FAIL(ERR_INPUT, "Fp16AltImpl is for half, not data type '%s'", type_letter((DataType)pt->DataType));
    if (pt->StochasticRounding) FAIL(ERR_INPUT, "GPU kernels have no stochastic rounding");
    return ERR_OK;
}

static void plan_numbers(GpuPlan *p, const Solution *s)
{
    const int parts = p->dialect->divides_chunks && s->DepthULdsDivisor > 1 ? s->DepthULdsDivisor : 1;
    p->main = true;
    p->assembly = s->KernelLanguage == LANG_ASSEMBLY;
    p->mt[0] = s->MacroTile0, p->mt[1] = s->MacroTile1;
    p->depth_u = s->DepthU / parts;
    p->sg[0] = s->SubGroup0, p->sg[1] = s->SubGroup1;
    p->tt[0] = s->ThreadTile0, p->tt[1] = s->ThreadTile1;
    p->lsu = s->LocalSplitU > 1 ? s->LocalSplitU : 1;
    p->vw = s->VectorWidth > 0 ? s->VectorWidth : 1;
    p->n_threads = s->NumThreads;
    p->prefetch = s->PrefetchGlobalRead;
    p->prefetch_local = s->LoopIters > 0 && s->PrefetchLocalRead % s->LoopIters > 0;
    p->n_stages = p->prefetch > 0 && s->LDSBuffer1 != 1 ? 2 : 1;
    p->n_sets = parts > 1 ? parts : p->prefetch > 1 ? 2 : 1;
    p->gsu = s->GlobalSplitU > 1 ? s->GlobalSplitU : 1;
    /* Older logic files have MultipleBuffer without a workspace; their parts are added to D. */
    p->gsu_multiple = p->gsu > 1 && s->GlobalAccumulation == GACC_MULTIPLE;
    p->workspace = s->GlobalAccumulation == GACC_SINGLE || s->GlobalAccumulation == GACC_MULTIPLE;
    if (p->gsu_multiple) p->fused = (Fused){0}; /* those are the ops of the kernel that adds the parts up */
    p->partial_sums = s->GlobalAccumulation == GACC_PARTIALS;
    p->adds_shares = s->StreamK ? s->StreamKAtomic != 0 : s->AtomicAddC && p->gsu == 1;
    if (p->workspace) p->out = p->scalar;
    int width = s->EnableMatrixInstruction ? s->StoreVectorWidth : s->GlobalWriteVectorWidth;
    p->store_width = s->VectorStoreUsed && width > 0 ? width : 1;
    while (p->store_width > 1 && p->store_width * p->out.part_bytes * p->out.parts > 16) p->store_width /= 2;
}

/* Divides the lanes of a line among the groups of a wave; a wave must have whole lines. */
static Err plan_groups(const GpuPlan *p, GpuOperand *x, int separate, bool grouped)
{
    x->groups = 1;
    if (!separate || !p->dialect->separates_threads) return ERR_OK;
    if (!grouped || x->lvc < 1 || x->lvc % (2 * separate) || p->wave % x->lvc || p->wave % (2 * separate))
        FAIL(ERR_INPUT, "ThreadSeparateGlobalRead%c %d does not divide lines of %d lanes%s",
             x->name - 'a' + 'A', separate, x->lvc, grouped ? "" : " with GlobalReadCoalesceGroup False");
    x->groups = 2 * separate;
    return ERR_OK;
}

/* Loads of a part of a chunk: fewer along K, else by fewer threads side by side along K, else shorter. */
static Err plan_part_loads(const GpuPlan *p, GpuOperand *x)
{
    const int parts = gpu_chunk_parts(p);
    if (parts == 1) return ERR_OK;
    if (!x->tlu && x->nlc % parts == 0)
        x->nlc /= parts;
    else if (!x->tlu && x->nlp % parts == 0 && x->width > 0 && x->lsc % (parts * x->width) == 0)
        x->lsc /= parts, x->lsp *= parts, x->nlp /= parts;
    else if (!x->tlu && x->width % parts == 0 && x->lsc % parts == 0)
        x->lsc /= parts, x->width /= parts;
    else
        FAIL(ERR_INPUT,
             "DepthULdsDivisor %d: %d x %d loads of %c do not divide into parts of K of %d elements", parts,
             x->nlc, x->nlp, x->name - 'a' + 'A', p->depth_u);
    return ERR_OK;
}

static Err plan_operand(GpuPlan *p, const Solution *s, int i)
{
    const ProblemType *pt = s->pt;
    GpuOperand *x = &p->op[i];
    const bool b = (i == 1) != indices_are_exchanged(p->indices); /* which of the solution's operands */
    *x = (GpuOperand){.type = p->to_bf16 ? p->in : gpu_type(b ? problem_b_type(pt) : problem_a_type(pt)),
                      .name = i ? 'b' : 'a',
                      .tlu = b ? pt->TLUB : pt->TLUA,
                      .conj = b ? pt->ComplexConjugateB : pt->ComplexConjugateA,
                      .tile = p->mt[i],
                      .width = b ? s->GlobalLoadVectorWidthB : s->GlobalLoadVectorWidthA,
                      .nlc = b ? s->NumLoadsCoalescedB : s->NumLoadsCoalescedA,
                      .nlp = b ? s->NumLoadsPerpendicularB : s->NumLoadsPerpendicularA,
                      .lsc = b ? s->LSCB : s->LSCA,
                      .lsp = b ? s->LSPB : s->LSPA,
                      .k_major = b ? s->UnrollMajorLDSB : s->UnrollMajorLDSA,
                      .pad = b ? s->LdsPadB : s->LdsPadA,
                      .pad_block = b ? s->LdsBlockSizePerPadB : s->LdsBlockSizePerPadA,
                      .grouped = b ? s->GlobalReadCoalesceGroupB : s->GlobalReadCoalesceGroupA,
                      .to_local = b ? s->DirectToLdsB : s->DirectToLdsA,
                      .in_registers = s->EnableMatrixInstruction && (b ? s->DirectToVgprB : s->DirectToVgprA),
                      .shift = 1,
                      .hint = b ? s->NonTemporalB : s->NonTemporalA};
    TRY(plan_part_loads(p, x));
    if (p->indices && p->ring.used) x->tlu = indices_tile_first(p->indices, i);
    if (x->to_local && x->width < 1) x->width = 1; /* of a part of an element: gpu_check_loads */
    bool separate = b ? s->WaveSeparateGlobalReadB : s->WaveSeparateGlobalReadA;
    x->n_waves = separate && s->WavefrontSize > 0 ? p->n_threads / s->WavefrontSize : 1;
    x->lvc = x->width > 0 ? x->lsc / x->width : 0;
    x->parts = 1;
    if (p->ring.used && !p->groups.used) { /* copies have 4 bytes at least */
        x->lvc = b ? s->LVCB : s->LVCA;
        if (x->lvc > 0) x->width = x->lsc / x->lvc;
    }
    TRY(plan_groups(p, x, b ? s->ThreadSeparateGlobalReadB : s->ThreadSeparateGlobalReadA, x->grouped));
    if (p->ring.used) return ERR_OK; /* some threads may have nothing to copy */
    if (x->in_registers)
        x->n_waves = x->groups = x->parts = 1;
    else
        TRY(gpu_check_loads(p, x, s->FractionalLoad || x->to_local));
    if (x->pad_block > 0) x->pad_block /= gpu_type_bytes(&x->type);
    if (x->pad < 0) x->pad = 0;
    int multiple = i ? s->AssertFree1ElementMultiple : s->AssertFree0ElementMultiple;
    if (x->tlu && x->width > 1 && multiple % x->width) x->shift = x->width;
    return ERR_OK;
}

static Err check_solution(const GpuPlan *p, const Solution *s)
{
    if (p->mt[0] < 1 || p->mt[1] < 1 || p->n_threads < 1 || p->depth_u < 1)
        FAIL(ERR_INPUT, "macro tile %dx%dx%d with %d threads is empty", p->mt[0], p->mt[1], p->depth_u,
             p->n_threads);
    const int slot = gpu_type_bytes(&p->acc) * (p->ring.used ? p->lsu : 1) * p->gsu;
    if (p->partial_sums && s->WorkspaceSizePerElemC < slot)
        FAIL(ERR_INPUT, "sums of %d bytes for each element of a tile, the workspace has %d", slot,
             s->WorkspaceSizePerElemC);
    const int parts = gpu_chunk_parts(p);
    if (parts > 1 && (p->depth_u * parts != s->DepthU || p->prefetch > 1 || p->ring.used || p->indices ||
                      s->DirectToLdsA || s->DirectToLdsB || s->DirectToVgprA || s->DirectToVgprB))
        FAIL(ERR_INPUT,
             "DepthULdsDivisor %d of DepthU %d: parts of a GEMM's chunk go through registers, with "
             "PrefetchGlobalRead 0 or 1",
             s->DepthULdsDivisor, s->DepthU);
    if (p->indices && (!p->strided || p->preloads_args))
        FAIL(ERR_INPUT, "contractions but GEMMs have no arrays of pointers and preloaded arguments");
    if (gpu_adds(p) && p->out.part_bytes == 1)
        FAIL(ERR_INPUT, "GlobalSplitU %d would add to 8-bit D in place", p->gsu);
    if (p->walk.prefetches && !gpu_can_prefetch(p))
        FAIL(ERR_INPUT, "PrefetchAcrossPersistent %d: the kernel has no loads ahead of a next tile",
             s->PrefetchAcrossPersistent);
    if (s->WorkGroupMappingType == WGMT_Z && (s->WorkGroupMapping > 1 || p->walk.mapping_words))
        FAIL(ERR_INPUT, "WorkGroupMappingType Z with WorkGroupMapping %d, WorkGroupMappingDim %d",
             s->WorkGroupMapping, s->WorkGroupMappingDim);
    if (s->WorkGroupMapping < 0 && (!p->assembly || p->walk.mapping_words))
        FAIL(ERR_INPUT, "WorkGroupMapping %d is negative", s->WorkGroupMapping);
    return ERR_OK;
}

static void plan_matrix(GpuPlan *p, const Solution *s)
{
    p->matrix = (GpuMatrix){.used = s->EnableMatrixInstruction != 0,
                            .m = s->MatrixInstM,
                            .n = s->MatrixInstN,
                            .k = s->MatrixInstK,
                            .b = s->MatrixInstB,
                            .blocks = {s->MatrixInstBM, s->MatrixInstBN},
                            .tiles = {s->MIWaveTile.v[0], s->MIWaveTile.v[1]},
                            .waves = {s->MIWaveGroup.v[0], s->MIWaveGroup.v[1]},
                            .swap = s->SourceSwap != 0};
}

static void plan_ring(GpuPlan *p, const Solution *s)
{
    int bytes = gpu_type_bytes(&p->in);
    bool matrix = s->EnableMatrixInstruction != 0;
    p->ring = (GpuRing){.used = s->NvRing == 1,
                        .blocks = s->NvBlocks,
                        .lanes_m = s->NvLanesM,
                        .read_ahead = s->PrefetchLocalRead,
                        .shifts = s->NvShift != 0,
                        .shift_ptr = s->EdgeType == EDGE_SHIFTPTR,
                        .rounds_xf32 = s->EnableF32XdlMathOp ? s->NvRoundXF32 : 0,
                        .k_major = {matrix || s->UnrollMajorLDSA, matrix || s->UnrollMajorLDSB},
                        .via_registers = bytes * s->GlobalLoadVectorWidthA < 4,
                        .k_vectors = !matrix && (s->UnrollMajorLDSA || s->UnrollMajorLDSB),
                        .lds_bytes = s->LdsNumElements * bytes,
                        .stage_bytes = (s->LdsNumElementsAlignedA + s->LdsNumElementsAlignedB) * bytes};
    if (!p->indices) return;
    const bool from_b = indices_are_exchanged(p->indices);
    p->ring.window_bytes = s->KeepWindow * 1024;
    p->ring.dependent_launch = s->KeepWindow && s->DependentLaunch;
    if (s->KeepWindow) p->ring.window_piece = from_b ? s->GlobalLoadVectorWidthB : s->GlobalLoadVectorWidthA;
    /* edges need neither: copies of contractions read the last row or column again */
    p->ring.shift_ptr = p->ring.via_registers = false;
    /* K has the filter's elements, of which there are few along a pad, or else pixels */
    p->ring.pad_bits =
        s->pt->OperationType == OP_CONV_FORWARD || s->pt->OperationType == OP_CONV_BACKWARD_DATA;
    for (int i = 0; i < 2; i++) {
        const bool b = (i == 1) != indices_are_exchanged(p->indices);
        p->ring.gathered_via_registers[i] =
            bytes * (b ? s->GlobalLoadVectorWidthB : s->GlobalLoadVectorWidthA) < 4;
    }
}

static void plan_rest(GpuPlan *p, const Solution *s)
{
    plan_matrix(p, s);
    plan_ring(p, s);
    p->hint_c = s->NonTemporalC, p->hint_d = s->NonTemporalD;
    p->batch_store = s->NumElementsPerBatchStore;
    p->buffer_load = s->BufferLoad, p->buffer_store = s->BufferStore;
    p->preloads_args = s->PreloadKernelArguments == 1;
    p->one_loop = p->prefetch > 0 && s->SuppressNoLoadLoop;
    p->lds_reserve = s->MaxOccupancy > 0 ? 65536 / s->MaxOccupancy / 16 * 16 : 0;
}

/* May the copy of a sliding window's filter have blocks (problem/pack.h), of groups or of outputs that are
 * stored element by element? */
static bool has_blocks(const GpuPlan *p, const Solution *s)
{
    Window w;
    if (!p->indices || !s->PackOperands || p->acc.type == TYPE_I || window_of(p->indices, &w)) return false;
    const bool by_element = !wgmma_engine_store(s) && s->ClusterK <= 1;
    return !w.per_tap && (w.group >= 0 || (by_element && window_is_placed(&w, true)));
}

/* Plans the warp groups and stages of wgmma kernels. */
static Err plan_warp_groups(GpuPlan *p, const Solution *s)
{
    WgmmaPlan w;
    Window window;
    wgmma_plan(s, &w);
    if (s->RingStages < 2 || w.stage_bytes < 1)
        FAIL(ERR_INPUT, "a ring of %d stages with %d bytes each is empty", s->RingStages, w.stage_bytes);
    if (!p->strided) FAIL(ERR_INPUT, "tensor maps cannot be made of arrays of pointers");
    if (p->gsu > 1 && !p->gsu_multiple && !p->partial_sums)
        FAIL(ERR_INPUT, "GlobalSplitU %d: wgmma kernels do not add to D in place", p->gsu);
    p->groups = (GpuWarpGroups){.used = true,
                                .stages = s->RingStages,
                                .consumers = w.groups,
                                .pingpong = w.pingpong,
                                .lag = s->ConsumerLag,
                                .window_taps = s->WindowTaps,
                                .per_tap = p->indices && !window_of(p->indices, &window) && window.per_tap,
                                .promotes = w.promotes,
                                .promotion_sets = s->PromotionSets,
                                .rows_from_registers = w.from_registers,
                                .producer_registers = s->ProducerRegisters,
                                .consumer_registers = s->ConsumerRegisters,
                                .cluster = {s->ClusterM, s->ClusterN},
                                .engine_store = wgmma_engine_store(s),
                                .slice_row = w.box[2][0],
                                .slice_n = w.slice_n,
                                .dependent_launch = s->DependentLaunch != 0,
                                .self_reset = s->SelfResetCounters != 0,
                                .line_pixels = w.line_pixels,
                                .mends = has_blocks(p, s)};
    for (int i = 0; i < 2; i++) {
        const bool b = (i == 1) != indices_are_exchanged(p->indices);
        p->op[i] = (GpuOperand){.type = gpu_type(b ? problem_b_type(s->pt) : problem_a_type(s->pt)),
                                .name = i ? 'b' : 'a',
                                .tlu = !w.k_major[i],
                                .tile = p->mt[i]};
    }
    p->lds_bytes = w.local_bytes, p->stage_bytes = w.stage_bytes;
    return gpu_plan_modules(p);
}

/* Kernels without local memory. */
static Err plan_direct(GpuPlan *p, const Solution *s)
{
    DirectPlan d;
    direct_plan(s, &d);
    TRY(check_solution(p, s));
    if (d.runs < 1 || p->depth_u != d.runs * d.run * p->lsu || (p->lsu & (p->lsu - 1)) || p->to_bf16)
        FAIL(ERR_INPUT, "DepthU %d is not %d groups of %d elements of K", p->depth_u, p->lsu, d.run);
    for (int i = 0; i < 2; i++) {
        int multiple = i ? s->AssertFree1ElementMultiple : s->AssertFree0ElementMultiple;
        if (p->tt[i] < 1 || p->tt[i] % d.vector[i] || d.run % (d.vector[i] > 1 ? 1 : d.width[i]) ||
            p->sg[i] * p->tt[i] != p->mt[i])
            FAIL(ERR_INPUT, "loads of %d elements of %c do not make up %d of a thread", d.width[i], "AB"[i],
                 p -> tt[i]);
        p->op[i] = (GpuOperand){.type = gpu_type(i ? problem_b_type(s->pt) : problem_a_type(s->pt)),
                                .name = i ? 'b' : 'a',
                                .tlu = i ? s->pt->TLUB : s->pt->TLUA,
                                .conj = i ? s->pt->ComplexConjugateB : s->pt->ComplexConjugateA,
                                .tile = p->mt[i],
                                .width = d.width[i],
                                .shift = d.vector[i] > 1 && multiple % d.vector[i] ? d.vector[i] : 1,
                                .hint = i ? s->NonTemporalB : s->NonTemporalA};
    }
    p->direct = true;
    p->n_stages = 1, p->n_sets = p->prefetch > 0 ? 2 : 1, p->prefetch_local = 0, p->one_loop = false;
    p->vw = d.vector[0];
    p->k_step = d.run, p->steps = d.runs;
    p->n_acc = d.sums, p->acc_run = d.vector[0];
    if (p->store_width > p->acc_run) p->store_width = p->acc_run;
    p->lds_bytes = d.local_bytes > 0 ? d.local_bytes : 16;
    return gpu_plan_modules(p);
}

static Err plan_tiles(GpuPlan *p, const Solution *s)
{
    for (int i = 0; i < 2; i++) TRY(plan_operand(p, s, i));
    return gpu_plan_finish(p);
}

/* Kernels with one buffer in local memory where two do not fit. Foreign logic has such solutions, because
 * DirectToVgpr keeps an operand out of local memory; the ordinary kernels that stand in for them do not.
 * DirectToLds loads as many chunks ahead as fit. */
static Err plan_buffers(GpuPlan *p, const Solution *s)
{
    Err e = plan_tiles(p, s);
    while (e && gpu_any_to_local(p) && !p->ring.used && p->prefetch > 0 &&
           p->lds_bytes > p->target->lds_bytes) {
        err_clear();
        p->prefetch--;
        e = plan_tiles(p, s);
    }
    if (!e || p->n_stages != 2 || p->ring.used || p->lds_bytes <= p->target->lds_bytes) return e;
    err_clear();
    p->n_stages = p->n_sets = p->prefetch = 1;
    return plan_tiles(p, s);
}

static Err plan_solution(GpuPlan *p, const Solution *s, const Target *t, const Indices *indices, bool sketch)
{
    TRY(gpu_plan_types(p, s->pt, t));
    p->indices = indices;
    p->sketch = sketch;
    p->walk = plan_walk(s);
    plan_numbers(p, s);
    plan_rest(p, s);
    if (p->ring.used && wgmma_is(s)) return plan_warp_groups(p, s);
    if (p->indices && direct_is(s, t->family))
        FAIL(ERR_INPUT, "contractions but GEMMs are multiplied from local memory");
    if (direct_is(s, t->family)) return plan_direct(p, s);
    TRY(check_solution(p, s));
    return plan_buffers(p, s);
}

/* Without a program there is nobody to keep the indices: *p has none behind the planning. */
static Err plan_alone(GpuPlan *p, const Solution *s, const Target *t, bool sketch)
{
    Indices x;
    TRY(solution_indices(s, &x));
    Err e = plan_solution(p, s, t, x.is_gemm ? NULL : &x, sketch);
    p->indices = NULL;
    return e;
}

Err gpu_plan(GpuPlan *p, const Solution *s, const Target *t) { return plan_alone(p, s, t, false); }

Err gpu_plan_sketch(GpuPlan *p, const Solution *s, const Target *t) { return plan_alone(p, s, t, true); }

Err plan_gpu(Program *program, const Solution *s)
{
    GpuPlan *p = ARENA_NEW(program->arena, GpuPlan);
    TRY_ALLOC(p);
    program->gpu = p;
    return plan_solution(p, s, program->target, program->indices, false);
}
