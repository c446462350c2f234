/* Derivation and rules of nvptx kernels with wgmma (wgmma.h), which need sm_90a.
 *
 * Parameters keep their meaning. MatrixInstruction [M, N, K, 1, 1, t0, t1, w0, w1] is an instruction's tile
 * of D, the number of instructions of a warp group (128 threads) along M and N, and the number of warp groups
 * along M and N. The 64 rows lie along M, or along N in [N, 64, ...] and with SourceSwap. WorkGroup includes
 * the producer's threads. WorkGroupMapping: width of the bands of tiles along N, or, when negative, along M.
 */
#include "problem/pack.h"
#include "problem/window.h"
#include "space/derive_internal.h"
#include "space/wgmma.h"

enum {
    CHUNK = 16,
    WARP = 32,
    MOST_STAGES = 12,
    OVERHEAD = 36,
    MOST_COUNTED = 16,
    LAUNCH_REGISTERS = 128,
    OPERANDS = 26
};

/* Warp groups that do not multiply. */
static int32_t producers(const Solution *s) { return s->PackOperands & PACK_LINES ? 2 : 1; }

/* Reads the number of warp groups, and of their instructions, along the 64 rows from either form of
 * MatrixInstruction. */
static bool take_groups(Derive *d, int rows, int32_t *groups, int32_t *repeats)
{
    Solution *s = d->s;
    const int32_t *m = s->MatrixInstruction.v;
    bool pingpong = s->ConsumerSchedule == SCHEDULE_PINGPONG;
    if (s->MatrixInstruction.n == 9) {
        int32_t other = m[7 + 1 - rows] * m[5 + 1 - rows];
        *groups = m[7 + rows], *repeats = m[5 + rows];
        if (other != 1 || m[4] != 1 || *groups > 3) STOP(d, WG_LANES, *groups, other);
    } else {
        const int32_t *wg = s->WorkGroup.v;
        *groups = wg[0] / WGMMA_LANES - producers(s), *repeats = s->ThreadTile.v[rows];
        if (wg[1] != 1 || wg[2] != 1 || wg[0] % WGMMA_LANES || *groups < 1 || *groups > 3 ||
            s->ThreadTile.v[1 - rows] != 1)
            STOP(d, WG_LANES, *groups, s->ThreadTile.v[1 - rows]);
        if (pingpong) *groups = *groups == 2 ? 1 : 0;
    }
    if (pingpong && *groups != 1) STOP(d, WG_PINGPONG, *groups);
    return true;
}

bool derive_wgmma_tile(Derive *d)
{
    Solution *s = d->s;
    const Deriver *f = d->f;
    int32_t *m = s->MatrixInstruction.v, groups, repeats;
    DataType type = f->type == TYPE_S && f->xdl == TYPE_X ? TYPE_X : matrix_type((DataType)f->type);
    if (is_complex(f->type) || !matrix_shape(MATRIX_UNIT_WGMMA, type, m))
        STOP(d, MI_NOT_FOR_TYPE, m[0], m[1], m[2], m[3]);
    if (!matrix_inst(f->target, type, type, m)) STOP(d, MI_NOT_ON_ARCH, m[0], m[1], m[2], m[3]);
    if (m[0] != WGMMA_ROWS) s->SourceSwap = 1;
    if (m[1] != WGMMA_ROWS && s->SourceSwap) STOP(d, MI_NOT_FOR_TYPE, m[0], m[1], m[2], m[3]);
    int rows = s->SourceSwap ? 1 : 0;
    if (!take_groups(d, rows, &groups, &repeats)) return false;
    bool pingpong = s->ConsumerSchedule == SCHEDULE_PINGPONG;
    int32_t columns = m[1 - rows];
    s->WavefrontSize = WARP;
    s->EnableF32XdlMathOp = f->xdl != TYPE_S && f->type == TYPE_S;
    s->EnableMatrixInstruction = 1, s->MFMA_BF16_1K = 0;
    s->MatrixInstruction = (IntList){4, {m[0], m[1], m[2], m[3]}};
    s->MatrixInstM = m[0], s->MatrixInstN = m[1], s->MatrixInstK = m[2];
    s->MatrixInstB = s->MatrixInstBM = s->MatrixInstBN = 1;
    s->MIBlock = (IntList){6, {m[0], m[1], m[2], 1, 1, 1}};
    s->MIWaveTile = s->MIWaveGroup = intlist2(1, 1);
    s->MIWaveTile.v[rows] = repeats, s->MIWaveGroup.v[rows] = groups;
    s->MIInputPerThread = 0, s->MIOutputVectorWidth = 2, s->MIRegPerOut = 1;
    s->ThreadTile = s->MIWaveTile;
    s->NumThreads = WGMMA_LANES * ((pingpong ? 2 : groups) + producers(s));
    s->WorkGroup = intlist3(s->NumThreads, 1, 1);
    s->LocalSplitU = 1, s->EnableMatrixInstructionStore = 1;
    /* a thread holds two rows of an instruction, and two of every eight columns */
    int32_t thread[2], group[2];
    thread[rows] = 2 * repeats, group[rows] = WGMMA_ROWS / 2 * groups;
    thread[1 - rows] = columns / 4, group[1 - rows] = 4;
    s->ThreadTile0 = thread[0], s->ThreadTile1 = thread[1];
    s->SubGroup0 = group[0], s->SubGroup1 = group[1];
    s->MacroTile0 = thread[0] * group[0], s->MacroTile1 = thread[1] * group[1];
    if (f->contraction && f->not_window) STOP(d, WG_WINDOW);
    if (!f->strided_batched) STOP(d, NV_FORM);
    if (s->MacroTile0 < 1 || s->MacroTile1 < 1 || s->MacroTile0 > 1024 || s->MacroTile1 > 1024)
        STOP(d, TILE_BIG, s->MacroTile0, s->MacroTile1);
    return true;
}

/* ---- values that these kernels do not support ---- */

static bool check_values(Derive *d)
{
    Solution *s = d->s;
    if (!check_only(d, ONLY_WGMMA)) return false;
    s->PrefetchAcrossPersistent = 0;
    bool streams = s->StreamK != 0;
    if (streams &&
        (s->GlobalSplitU > 1 || s->ClusterK > 1 || s->PersistentKernel != 0 || s->StreamKAtomic != 0))
        REJECT(d, WG_STREAM_K, s->StreamK);
    if (!streams) s->StreamKAtomic = 0;
    if (streams)
        s->PersistentKernelAlongBatch = 0;
    else if (s->PersistentKernel == 0 || (d->f->batched && !s->PersistentKernelAlongBatch))
        REJECT(d, WG_PERSISTENT, s->PersistentKernel, s->PersistentKernelAlongBatch);
    if (s->GlobalSplitU > 1 && s->GlobalAccumulation != GACC_MULTIPLE &&
        s->GlobalAccumulation != GACC_PARTIALS)
        REJECT(d, WG_SPLIT, s->GlobalSplitU);
    if (s->SelfResetCounters &&
        (s->GlobalSplitU < 2 || s->GlobalSplitU > MOST_COUNTED || s->GlobalAccumulation != GACC_PARTIALS))
        REJECT(d, WG_COUNTERS, s->GlobalSplitU);
    if (s->PartsFirst && (s->GlobalSplitU < 2 || s->GlobalSplitUWorkGroupMappingRoundRobin))
        REJECT(d, WG_PARTS_FIRST, s->GlobalSplitU);
    return true;
}

/* Whether PackOperands is one of the copies of problem/pack.h: lines of both operands (forward, without
 * groups); the filter alone, with groups as blocks; per tap lines of the pixels, or blocks of groups. */
static bool window_copies_fit(const Window *w, int32_t pack)
{
    const bool mirrored = w->mirrored[0] || w->mirrored[1];
    if (pack & PACK_LINES && w->group >= 0) return false;
    if (pack & PACK_LINES && w->per_tap) return pack == (PACK_LINES | (w->pixels ? PACK_B : PACK_A));
    if (pack == (PACK_LINES | PACK_A | PACK_B)) return !w->per_tap && !mirrored;
    if (pack == (PACK_A | PACK_B)) return !w->per_tap && !mirrored && w->group < 0;
    return pack == 0 || pack == ((w->pixels != 0) != w->per_tap ? PACK_A : PACK_B);
}

/* Rows and columns of weights that are those of several taps or groups are placed element by element, and
 * have no vectors. */
static bool check_taps(Derive *d, const Window *w)
{
    const Solution *s = d->s;
    if (!w->per_tap || (w->group < 0 && !s->PackOperands)) return true;
    if (s->EngineStore || s->ClusterK > 1 || fused_any(&d->f->fused))
        STOP(d, WG_WINDOW_TAPS, s->PackOperands, w->group >= 0, s->ClusterK);
    return true;
}

/* Are the rows of a tile of weights those of WindowTaps taps, in whole blocks of channels? */
static bool rows_are_of_taps(const Solution *s)
{
    const int32_t n = s->WindowTaps;
    if (s->SourceSwap) return s->MacroTile0 == n * WGMMA_ROWS;
    return s->MIWaveTile.v[0] % n == 0 || s->MIWaveGroup.v[0] == n;
}

/* Several taps of a stage share pixels. The results of windows that slide are stored as pixels, by the copy
 * engine alone; rows of several taps are placed element by element. */
static bool check_stage(Derive *d, const Window *w)
{
    const Solution *s = d->s;
    const Fused *fused = &d->f->fused;
    const int32_t n = s->WindowTaps;
    if (n == 1) return true;
    if (w->group >= 0 || w->image_in_batch || s->ClusterK > 1 || s->PackOperands) STOP(d, WG_WINDOW_STAGE, n);
    if (!w->per_tap &&
        (s->EngineStore || d->f->pt->UseBeta || s->GlobalSplitU > 1 || s->StreamK || fused->bias == ALONG_N ||
         fused->scale_alpha == ALONG_N || fused->scale_ab == SCALE_AB_VECTOR))
        STOP(d, WG_WINDOW_STAGE, n);
    if (w->per_tap &&
        (s->EngineStore || s->ClusterM * s->ClusterN > 1 || fused_any(fused) || !rows_are_of_taps(s)))
        STOP(d, WG_WINDOW_ROWS, n, s->MIWaveTile.v[0], s->MIWaveGroup.v[0]);
    return true;
}

/* Convolutions and the like, whose operands the copy engine loads as windows. */
static bool check_window(Derive *d)
{
    const Deriver *f = d->f;
    const Solution *s = d->s;
    Indices x;
    Window w;
    if (f->stochastic || f->fp16_alt) STOP(d, NV_FORM);
    if ((s->GlobalSplitU > 1 && s->GlobalAccumulation != GACC_PARTIALS) || (s->StreamK && s->StreamKAtomic))
        STOP(d, WG_WINDOW_SPLIT, s->GlobalSplitU, s->StreamK);
    if (indices_of_type(f->pt, s->PackBatchDims, &x) || window_of(&x, &w))
        STOP(d, WG_VALUE, PARAM_PackBatchDims, s->PackBatchDims);
    if (s->RowsFromRegisters || s->PackSummationDims)
        STOP(d, WG_WINDOW_FORM, s->RowsFromRegisters, s->PackSummationDims);
    /* scaleAlphaVec along M is the same for all groups, and a bias along N differs between groups: groups
     * that the copy merges into one cannot have them */
    if (s->PackOperands && w.group >= 0 && (f->fused.scale_alpha == ALONG_M || f->fused.bias == ALONG_N))
        STOP(d, WG_WINDOW_VECTORS, s->PackOperands);
    const int32_t cluster = s->ClusterM * s->ClusterN * s->ClusterK;
    if (s->PackOperands & PACK_LINES && (!is_16bit(f->type) || cluster > 1))
        STOP(d, WG_WINDOW_LINES, s->PackOperands, f->bpe, cluster);
    if (!window_copies_fit(&w, s->PackOperands))
        STOP(d, WG_WINDOW_COPY, w.pixels, s->PackOperands, w.group >= 0);
    return check_taps(d, &w) && check_stage(d, &w);
}

static bool check_problem(Derive *d)
{
    const Deriver *f = d->f;
    const ProblemType *pt = f->pt;
    if (f->contraction) {
        if (!check_window(d)) return false;
    } else if (d->s->PackBatchDims) {
        STOP(d, WG_VALUE, PARAM_PackBatchDims, d->s->PackBatchDims);
    } else if (d->s->PackOperands & PACK_LINES) {
        STOP(d, WG_VALUE, PARAM_PackOperands, d->s->PackOperands);
    } else if (d->s->WindowTaps > 1) {
        STOP(d, WG_WINDOW_STAGE, d->s->WindowTaps);
    } else if (f->initial_ab || f->initial_cd || f->zero_pad[0] || f->zero_pad[1] || f->stochastic ||
               pt->MirrorDimsA.n || pt->MirrorDimsB.n || f->fp16_alt || d->packed0 || d->packed1 ||
               f->tensor0) {
        STOP(d, NV_FORM);
    }
    bool half =
        is_16bit(f->type) && f->hpa && f->compute == TYPE_S && (f->dest == f->type || f->dest == TYPE_S);
    bool bytes = f->type == TYPE_I8 && f->dest == TYPE_I && f->compute == TYPE_I;
    bool single = f->type == TYPE_S && f->dest == TYPE_S && f->compute == TYPE_S;
    bool f8 = is_f8(f->type) && f->compute == TYPE_S;
    if (!half && !bytes && !single && !f8) STOP(d, NV_TYPE, f->type, f->dest, f->compute);
    const int rows = wgmma_rows_operand(d->s);
    const bool from_registers = d->s->RowsFromRegisters;
    if (from_registers && (f->bpe != 4 || wgmma_k_major(d->s, rows))) REJECT(d, WG_ROWS, rows, f->bpe);
    if (d->s->PromotionSets > 1 && !f8) REJECT(d, WG_PROMOTION, d->s->PromotionSets);
    for (int t = 0; t < 2; t++)
        if (!wgmma_k_major(d->s, t) && f->bpe != 2 && !(from_registers && t == rows))
            REJECT(d, WG_K_MAJOR, t, f->bpe);
    return true;
}

/* ---- numbers ---- */

static bool check_sides(Derive *d)
{
    Solution *s = d->s;
    const Deriver *f = d->f;
    int32_t row = WGMMA_ROW_BYTES / f->bpe, cluster = s->ClusterM * s->ClusterN;
    if (s->ClusterK > 1 && (cluster * s->ClusterK > 8 || s->ConsumerSchedule == SCHEDULE_PINGPONG))
        REJECT(d, WG_CLUSTER_K, s->ClusterK, s->ClusterM, s->ClusterN);
    if (s->ClusterK > 1 && s->GlobalSplitU > 1 && s->GlobalAccumulation != GACC_MULTIPLE)
        REJECT(d, WG_CLUSTER_SPLIT, s->ClusterK, s->GlobalSplitU);
    if (s->DepthU < 0) s->DepthU = row;
    if (s->DepthU % row) REJECT(d, WG_DEPTH, s->DepthU, row);
    s->DepthULds = s->LoopUnroll = s->DepthU;
    s->LoopIters = s->DepthU / s->MatrixInstK;
    for (int t = 0; t < 2; t++) {
        int32_t side = t ? s->MacroTile1 : s->MacroTile0, parts = t ? s->ClusterM : s->ClusterN;
        const bool k_major = wgmma_k_major(s, t);
        if (s->WindowTaps > 1 && t && k_major) side += WINDOW_REACH;
        bool cut =
            !k_major ? ceil_div(side, row) % parts == 0 || s->DepthU / parts % 8 == 0 : side / parts % 8 == 0;
        if (cluster > 8 || side % parts || !cut) REJECT(d, WG_CLUSTER, s->ClusterM, s->ClusterN, t);
        if (k_major && side / parts > 256) REJECT(d, WG_SIDE, t, side / parts, 256);
    }
    return true;
}

/* Registers of a lane of all warp groups together: setmaxnreg divides what the launch has given to their
 * threads, of which each has as many, a multiple of 8. */
static int32_t most_registers(int32_t groups)
{
    enum { LANES_REGISTERS = 512, UNIT = 8 };
    return LANES_REGISTERS / groups / UNIT * UNIT * groups;
}

static bool check_registers(Derive *d, const WgmmaPlan *p)
{
    static const int32_t producer_of[2][4] = {{0, 0, 56, 32}, {0, 0, 112, 64}},
                         consumer_of[2][4] = {{0, 0, 224, 160}, {0, 0, 144, 112}};
    Solution *s = d->s;
    const bool has_lines = s->PackOperands & PACK_LINES; /* producers have more to do */
    const int32_t *producer = producer_of[has_lines], *consumer = consumer_of[has_lines];
    if (p->groups > 1) {
        bool many = p->groups == 2 && !has_lines && p->registers + OVERHEAD > consumer[2];
        if (s->ProducerRegisters == 0) s->ProducerRegisters = many ? 40 : producer[p->groups];
        if (s->ConsumerRegisters == 0) s->ConsumerRegisters = many ? 232 : consumer[p->groups];
    } else if (s->ProducerRegisters || s->ConsumerRegisters) { /* 256 threads have the maximum anyway */
        REJECT(d, WG_VALUE, PARAM_ConsumerRegisters, s->ConsumerRegisters);
    }
    int32_t most = p->groups > 1 ? s->ConsumerRegisters : 255;
    /* an instruction's operands must fit what the launch gives a thread (ptxas C7602) */
    if (has_lines && p->groups > 1 && most > LAUNCH_REGISTERS - OPERANDS + OVERHEAD)
        most = LAUNCH_REGISTERS - OPERANDS + OVERHEAD;
    int32_t total = producers(s) * s->ProducerRegisters + p->groups * s->ConsumerRegisters;
    if (p->registers + OVERHEAD > most || total > most_registers(p->groups + producers(s)))
        REJECT(d, WG_REGISTERS, p->registers, most, s->ProducerRegisters, p->groups);
    return true;
}

/* One of two warp groups ends a tile before the other. */
static bool check_lag(Derive *d, const WgmmaPlan *p)
{
    const Solution *s = d->s;
    if (!s->ConsumerLag) return true;
    if (p->promotes) REJECT(d, WG_LAG_F8, s->ConsumerLag);
    if (p->from_registers) REJECT(d, WG_LAG_ROWS, s->ConsumerLag);
    if (s->ClusterK > 1) REJECT(d, WG_LAG_CLUSTER, s->ConsumerLag, s->ClusterK);
    if (p->groups != 2 || p->pingpong) REJECT(d, WG_LAG, s->ConsumerLag, p->tile_groups);
    if (s->ConsumerLag >= s->RingStages) REJECT(d, WG_LAG_STAGES, s->ConsumerLag, s->RingStages);
    return true;
}

static bool check_local(Derive *d)
{
    Solution *s = d->s;
    WgmmaPlan p;
    wgmma_plan(s, &p);
    int32_t limit = d->f->target->lds_bytes, row = WGMMA_ROW_BYTES / p.out_bytes;
    int32_t unit = p.swapped && p.columns > row ? row / 2 : 8;
    if (p.columns % unit) REJECT(d, WG_COLUMNS, p.columns, unit);
    if (s->RingStages == 0) s->RingStages = min32((limit - p.other_bytes) / p.stage_bytes, MOST_STAGES);
    wgmma_plan(s, &p);
    if (s->RingStages < 2 || p.local_bytes > limit)
        STOP(d, WG_STAGES, s->RingStages, p.stage_bytes, p.other_bytes, limit);
    if (p.cluster_sum_bytes > s->RingStages * p.stage_bytes)
        REJECT(d, WG_CLUSTER_SUMS, s->ClusterK, p.cluster_sum_bytes, s->RingStages * p.stage_bytes);
    if (!check_lag(d, &p)) return false;
    s->LdsNumElements = p.local_bytes / d->f->bpe;
    s->LdsNumElementsAlignedA = s->MacroTileA * s->DepthU;
    s->LdsNumElementsAlignedB = s->MacroTileB * s->DepthU;
    s->LdsOffsetB = s->LdsNumElementsAlignedA;
    s->NumElementsPerThread = p.sums;
    return check_registers(d, &p);
}

/* Sets rows of the table that have one value in these kernels. */
static void set_rest(Solution *s, const Deriver *f)
{
    int32_t width = CHUNK / f->bpe;
    s->NvRing = s->NvBlocks = 1;
    s->NvLanesM = s->NvShift = 0, s->NvRoundXF32 = 0;
    s->UseSgprForGROUsed = 0, s->VectorStoreUsed = 1, s->NoLdsWriteCode = 1;
    s->VectorWidth = s->VectorWidthA = s->VectorWidthB = s->StoreVectorWidth = s->LocalReadVectorWidth = 2;
    s->GlobalWriteVectorWidth = 2;
    s->NumGlobalWriteVectorsPerThread = s->NumElementsPerThread / 2;
    s->GlobalReadVectorWidth = -1;
    s->GlobalLoadVectorWidthA = s->GlobalLoadVectorWidthB = width;
    s->PrefetchGlobalRead = s->PrefetchLocalRead = 1;
    s->LdsPadA = s->LdsPadB = s->LdsBlockSizePerPadA = s->LdsBlockSizePerPadB = s->TransposeLDS = 0;
    s->UnrollMajorLDSA = s->UnrollMajorLDSB = 0;
    s->LDSBuffer1 = 0, s->VectorStore = -1, s->AssertMinApproxSize = 2;
    s->EdgeType = EDGE_BRANCH;
    s->EngineStore = wgmma_engine_store(s);
    if (s->GlobalSplitU == 1) s->GlobalSplitUAlgorithm = GSUA_SINGLE, s->MinKForGSU = 256;
    if (s->WorkGroupMappingDim < 0 && s->WorkGroupMapping <= 0 && s->WorkGroupMapping >= -1)
        s->WorkGroupMapping = 1;
}

bool derive_wgmma(Derive *d)
{
    if (!check_problem(d) || !check_values(d) || !check_sides(d)) return false;
    d->s->EngineStore = wgmma_engine_store(d->s);
    if (!check_local(d)) return false;
    set_rest(d->s, d->f);
    return true;
}

bool derive_without_wgmma(Derive *d)
{
    Solution *s = d->s;
    if (d->f->target->family != TARGET_NVPTX) return true;
    static const ParamId of_wgmma[] = {
        PARAM_ConsumerSchedule,  PARAM_RingStages,        PARAM_ClusterM,          PARAM_ClusterN,
        PARAM_ProducerRegisters, PARAM_ConsumerRegisters, PARAM_EngineStore,       PARAM_PackOperands,
        PARAM_ClusterK,          PARAM_DependentLaunch,   PARAM_RowsFromRegisters, PARAM_PromotionSets,
        PARAM_SelfResetCounters, PARAM_PartsFirst,        PARAM_ConsumerLag,       PARAM_WindowTaps};
    for (size_t i = 0; i < sizeof of_wgmma / sizeof *of_wgmma; i++) {
        const Param *p = param_at(of_wgmma[i]);
        if (p->id == PARAM_DependentLaunch && s->KeepWindow) continue;
        int32_t v = *(const int32_t *)solution_field_const(s, p);
        if (v != *(const int32_t *)solution_field_const(&d->f->defaults, p))
            REJECT(d, WG_ONLY, of_wgmma[i], v);
    }
    return true;
}
