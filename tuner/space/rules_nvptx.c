/* Derivation and rules of nvptx kernels with a ring of stages: cp.async copies to shared memory, multiplied
 * by FFMA/DFMA on thread tiles or by mma.sync (kernel/nvptx). Kernels without a ring are those of kernel/gpu
 * and are derived as on amdgcn.
 *
 * Parameters keep their meaning: WorkGroup and ThreadTile are threads and elements of D, PrefetchGlobalRead
 * is the number of K chunks in flight (the ring has one stage more), MatrixInstruction [M,N,K,1] is an
 * instruction's tile of D with the wave tiles and waves of the form of nine numbers. Values that the ring
 * cannot honour are rejected.
 */
#include "index/ring_tile.h"
#include "problem/indices.h"
#include "problem/matrix_inst.h"
#include "problem/window.h"
#include "space/derive_internal.h"
#include "space/direct.h"
#include "space/keep.h"

enum { CHUNK = 16, WARP = 32, MOST_SPLITS = 8 };

/* The data type that matrix instructions multiply. */
static DataType input_type(const Deriver *f)
{
    return f->type == TYPE_S && f->xdl == TYPE_X ? TYPE_X : matrix_type((DataType)f->type);
}

static bool plain_type(const Deriver *f)
{
    bool type = f->type == TYPE_S || f->type == TYPE_D || is_complex(f->type);
    return type && f->dest == f->type && f->compute == f->type;
}

/* Elements of a 16-byte vector in shared memory. */
static int32_t run_of(const Deriver *f) { return CHUNK / f->bpe; }

/* True for FFMA kernels that read vectors along K: the operand has K contiguous in memory, and its copy in
 * shared memory too. */
static bool k_vectors(const Derive *d, int t)
{
    return !d->s->EnableMatrixInstruction && AB(d->s, UnrollMajorLDS, t) && !d->tlu[t];
}

/* True when the copy transposes the operand: K is contiguous in memory and the slow dimension in shared
 * memory. */
static bool transposed(const Derive *d, int t)
{
    return !d->s->EnableMatrixInstruction && !d->tlu[t] && !k_vectors(d, t);
}

bool ring_copies_outputs(const Solution *s)
{
    const int32_t operation = s->pt->OperationType;
    return !s->EnableMatrixInstruction &&
           (operation == OP_CONV_FORWARD || operation == OP_CONV_BACKWARD_DATA);
}

/* The problem's operand whose free indices are the kernel's rows (t 0) or columns. */
static int operand_along(const Derive *d, int t) { return d->f->tensor0 ? 1 - t : t; }

bool nv_has_ring(const Deriver *f, const Solution *s)
{
    if (f->target->family != TARGET_NVPTX || s->NvRing == 0 || direct_is(s, f->target->family)) return false;
    if (s->NvRing == 1 || s->MatrixInstruction.n > 1) return true;
    int32_t run = run_of(f);
    return plain_type(f) && !f->contraction && !s->PackBatchDims && s->WorkGroup.v[2] <= MOST_SPLITS &&
           s->PrefetchGlobalRead > 0 && s->ThreadTile.v[0] % run == 0 && s->ThreadTile.v[1] % run == 0 &&
           s->KernelLanguage == LANG_SOURCE && (s->VectorWidth == -1 || s->VectorWidth == run);
}

bool derive_nv_instruction(Derive *d)
{
    Solution *s = d->s;
    const IntList *mi = &s->MatrixInstruction;
    DataType type = input_type(d->f);
    s->WavefrontSize = WARP;
    if (mi->n < 4) return true;
    if (is_complex(d->f->type) || !matrix_shape(MATRIX_UNIT_MMA, type, mi->v))
        STOP(d, MI_NOT_FOR_TYPE, mi->v[0], mi->v[1], mi->v[2], mi->v[3]);
    if (!matrix_inst(d->f->target, type, type, mi->v))
        STOP(d, MI_NOT_ON_ARCH, mi->v[0], mi->v[1], mi->v[2], mi->v[3]);
    return true;
}

/* 8-bit floats need a processor that has them. */
static bool check_f8(Derive *d)
{
    const Deriver *f = d->f;
    if (!is_f8(f->type) && !is_f8(f->dest)) return true;
    if (f->target->f8 == F8_NONE) STOP(d, NV_F8, f->type, f->dest);
    if (f->stochastic) STOP(d, NV_STOCHASTIC);
    return true;
}

static bool check_values(Derive *d)
{
    Solution *s = d->s;
    if (!check_only(d, ONLY_RING)) return false;
    if (!s->PersistentKernel) s->PrefetchAcrossPersistent = 0;
    if (s->PrefetchGlobalRead < 1 || s->PrefetchGlobalRead > 7)
        STOP(d, NV_VALUE, PARAM_PrefetchGlobalRead, s->PrefetchGlobalRead);
    if ((d->packed0 || d->packed1) && !gathers(d)) REJECT(d, NV_FORM);
    if (!s->LoopTail && s->AssertSummationElementMultiple % s->DepthU)
        REJECT(d, NV_TAIL, s->AssertSummationElementMultiple, s->DepthU);
    return true;
}

static bool check_problem(Derive *d)
{
    const Deriver *f = d->f;
    if (!check_f8(d)) return false;
    if (f->stochastic || f->fp16_alt || (d->s->NvShift && gathers(d))) STOP(d, NV_FORM);
    if (!check_contraction(d)) return false;
    if (!d->s->EnableMatrixInstruction) {
        if (!plain_type(f) || f->xdl == TYPE_X) STOP(d, NV_TYPE, f->type, f->dest, f->compute);
        return true;
    }
    bool half =
        is_16bit(f->type) && f->hpa && f->compute == TYPE_S && (f->dest == f->type || f->dest == TYPE_S);
    bool bytes = f->type == TYPE_I8 && f->dest == TYPE_I && f->compute == TYPE_I;
    bool f8 = is_f8(f->type) && f->compute == TYPE_S;
    if (!half && !bytes && !f8 && !plain_type(f)) STOP(d, NV_TYPE, f->type, f->dest, f->compute);
    return true;
}

/* ---- numbers ---- */

/* UnrollMajorLDS must hold for all operands that are contiguous along K, or for none. */
static bool check_layout(Derive *d)
{
    const Solution *s = d->s;
    if (!s->UnrollMajorLDSA && !s->UnrollMajorLDSB) return true;
    for (int t = 0; t < 2; t++)
        if (s->EnableMatrixInstruction || (AB(s, UnrollMajorLDS, t) != 0) == d->tlu[t])
            REJECT(d, NV_UNROLL_MAJOR, t, AB(s, UnrollMajorLDS, t));
    return true;
}

static bool check_tile(Derive *d)
{
    Solution *s = d->s;
    int32_t run = run_of(d->f);
    if (s->EnableMatrixInstruction) {
        s->MIOutputVectorWidth = 2;
        for (int t = 0; t < 2; t++) { /* conditions of swizzles */
            int32_t side = s->MIWaveTile.v[t] * (t ? s->MatrixInstN : s->MatrixInstM);
            int o = operand_along(d, t);
            bool transpose = d->tlu[o] && d->f->bpe == 1;
            if (side % (transpose ? 32 : 16) ||
                (d->tlu[o] && !s->KeepWindow && (!is_pow2(side) || !is_pow2(AB(s, MacroTile, o)))))
                REJECT(d, NV_WAVE_TILE, t, side);
        }
        run = 2;
    } else {
        if (s->ThreadTile0 % run || s->ThreadTile1 % run)
            STOP(d, VW_THREAD_TILE, s->ThreadTile0, s->ThreadTile1, run);
        int32_t lanes = s->NvLanesM ? s->NvLanesM : 4;
        for (; !s->NvLanesM && lanes > 1; lanes /= 2)
            if (s->SubGroup0 % lanes == 0 && s->SubGroup1 % (WARP / lanes) == 0) break;
        if (s->NvLanesM == 0 && s->SubGroup1 % (WARP / lanes))
            for (lanes = 8; lanes < WARP && s->SubGroup1 % (WARP / lanes); lanes *= 2) {
            }
        if (s->SubGroup0 % lanes || s->SubGroup1 % (WARP / lanes))
            REJECT(d, NV_LANES, s->SubGroup0, s->SubGroup1, lanes, WARP / lanes);
        s->NvLanesM = lanes;
    }
    if ((s->VectorWidth != -1 && s->VectorWidth != run) || (s->VectorWidthB != -1 && s->VectorWidthB != run))
        REJECT(d, NV_VW, s->VectorWidth, s->VectorWidthB, run);
    s->VectorWidth = s->VectorWidthA = s->VectorWidthB = run;
    if (s->StoreVectorWidth != -1 && s->StoreVectorWidth != run)
        REJECT(d, NV_STORE, s->StoreVectorWidth, run);
    s->StoreVectorWidth = s->LocalReadVectorWidth = s->GlobalWriteVectorWidth = run;
    s->NumElementsPerThread =
        (int32_t)((int64_t)s->MacroTile0 * s->MacroTile1 / (s->NumThreads / s->LocalSplitU));
    s->NumGlobalWriteVectorsPerThread = s->NumElementsPerThread / run;
    if (s->NumThreads > 1024) STOP(d, NV_THREADS, s->NumThreads);
    return true;
}

static bool check_depth(Derive *d)
{
    Solution *s = d->s;
    bool vectors = k_vectors(d, 0) || k_vectors(d, 1);
    int32_t step = s->EnableMatrixInstruction ? s->MatrixInstK : vectors ? run_of(d->f) : 1;
    if (s->DepthU < 0) s->DepthU = s->EnableMatrixInstruction ? 4 * step : 16;
    s->DepthULds = s->DepthU;
    s->LoopUnroll = s->DepthU;
    if (s->LocalSplitU > MOST_SPLITS || !is_pow2(s->LocalSplitU)) STOP(d, NV_SPLIT, s->LocalSplitU);
    s->LoopIters = s->DepthU / step / s->LocalSplitU;
    if (s->LoopIters < 1 || s->DepthU % (step * s->LocalSplitU))
        STOP(d, LOOP_EMPTY, s->DepthU, step * s->LocalSplitU);
    if (s->PrefetchLocalRead && s->LoopIters % 2) STOP(d, NV_STEPS, s->DepthU, s->LoopIters);
    bool rows = s->EnableMatrixInstruction && (!d->tlu[0] || !d->tlu[1]);
    if (rows && (!is_pow2(s->DepthU) || s->DepthU * d->f->bpe < 32)) STOP(d, NV_DEPTH, s->DepthU);
    if (rows && d->f->type == TYPE_D && s->DepthU < 16) STOP(d, NV_DEPTH, s->DepthU);
    return true;
}

/* True when the threads can share the copies of `rows` rows of `row` elements evenly in vectors of `width`
 * elements. */
static bool copies_fit(const Solution *s, int32_t rows, int32_t row, int32_t width)
{
    if (row % width) return false;
    int32_t pieces = row / width, along = min32(pieces, s->NumThreads);
    return rows > 0 && s->NumThreads % along == 0 && pieces % along == 0;
}

static bool find_copies(Derive *d, int t)
{
    Solution *s = d->s;
    const Deriver *f = d->f;
    int32_t rows = d->tlu[t] ? s->DepthU : AB(s, MacroTile, t),
            row = d->tlu[t] ? AB(s, MacroTile, t) : s->DepthU;
    int32_t given = AB(s, GlobalLoadVectorWidth, t), width = given > 0 ? given : CHUNK / f->bpe;
    int32_t least = f->bpe < 4 ? 4 / f->bpe : 1;
    if (!d->has_runs[t]) {
        if (given > 1 || f->bpe == 1) REJECT(d, NV_RUNS, t, max32(given, least));
        given = 1, width = 1;
    }
    if (given == -1 || given == 0)
        while (width > least && !copies_fit(s, rows, row, width)) width /= 2;
    if (transposed(d, t)) width = 1;
    /* cp.async copies at least four bytes; single 16-bit elements are copied through registers, in pairs */
    bool via_registers = given == 1 && is_16bit(f->type);
    if (given > 0 && given < least) width = least;
    if (!is_pow2(width) || width * f->bpe > CHUNK) STOP(d, GLVW_BIG, width, f->bpe);
    if (row * f->bpe % CHUNK || !copies_fit(s, rows, row, width)) STOP(d, NV_COPY, t, rows, row, width);
    int32_t pieces = row / width, along = min32(pieces, s->NumThreads), across = s->NumThreads / along;
    /* NumLoadsCoalesced follows from the tile; logic files contain that value */
    const int32_t coalesced = AB(s, NumLoadsCoalesced, t);
    if (coalesced != -1 && coalesced != 1 && coalesced != pieces / along)
        REJECT(d, NV_VALUE, t ? PARAM_NumLoadsCoalescedB : PARAM_NumLoadsCoalescedA, coalesced);
    AB(s, GlobalLoadVectorWidth, t) = via_registers ? 1 : width;
    AB(s, NumLoads, t) = ceil_div(rows, across) * (pieces / along);
    AB(s, NumLoadsCoalesced, t) = pieces / along;
    AB(s, NumLoadsPerpendicular, t) = ceil_div(rows, across);
    AB(s, LSC, t) = along * width, AB(s, LSP, t) = across;
    AB(s, LVC, t) = along, AB(s, LVP, t) = across;
    return true;
}

/* Copies of misaligned rows (NvShift): the distance of a thread's rows must be a multiple of four. */
static bool check_shift(Derive *d, int t)
{
    Solution *s = d->s;
    if (!s->NvShift) return true;
    bool fits = s->EnableMatrixInstruction && d->f->bpe == 4;
    if (!fits || AB(s, GlobalLoadVectorWidth, t) != 4 || AB(s, LSP, t) % 4)
        REJECT(d, NV_SHIFT, t, AB(s, GlobalLoadVectorWidth, t), AB(s, LSP, t));
    return true;
}

bool derive_without_ring(Derive *d)
{
    static const ParamId of_rings[] = {PARAM_NvLanesM, PARAM_NvBlocks, PARAM_NvShift, PARAM_KeepWindow};
    Solution *s = d->s;
    if (d->f->target->family != TARGET_NVPTX) return true;
    if (!check_f8(d) || !check_contraction(d)) return false;
    const int32_t values[] = {s->NvLanesM, s->NvBlocks, s->NvShift, s->KeepWindow};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        if (values[i]) STOP(d, NV_NO_RING, of_rings[i], values[i]);
    s->NvRoundXF32 = 1; /* there are no xf32 instructions */
    return check_only(d, ONLY_NV);
}

/* Windows that stay in local memory: which convolutions, and what such kernels do not have. */
static bool check_window(Derive *d)
{
    const Solution *s = d->s;
    Indices x;
    Window w;
    if (!s->KeepWindow) return true;
    if (!gathers(d) || !s->EnableMatrixInstruction || !is_16bit(d->f->type)) STOP(d, NV_KEEP, s->KeepWindow);
    if (indices_of_type(d->f->pt, s->PackBatchDims, &x)) {
        err_clear();
        STOP(d, NV_KEEP, s->KeepWindow);
    }
    if (window_of(&x, &w) || w.per_tap || w.image_in_batch) STOP(d, NV_KEEP, s->KeepWindow);
    if (s->GlobalSplitU > 1 || s->LocalSplitU > 1 || s->PersistentKernel || s->StreamK || s->StaggerU)
        STOP(d, NV_KEEP_FORM, s->KeepWindow);
    if (w.group >= 0 && fused_any(&d->f->fused)) STOP(d, NV_KEEP_FORM, s->KeepWindow);
    return true;
}

/* Bytes of one operand's tile in a stage. */
static int32_t tile_bytes(const Derive *d, int t)
{
    const Solution *s = d->s;
    return ring_tile(&(RingOperand){.first = t == operand_along(d, 0),
                                    .matrix = s->EnableMatrixInstruction,
                                    .tlu = d->tlu[t],
                                    .vectors = k_vectors(d, t),
                                    .shifts = s->NvShift,
                                    .tile = AB(s, MacroTile, t),
                                    .depth = s->DepthU,
                                    .bytes = d->f->bpe})
        .bytes;
}

/* Bytes of shared memory through which results are stored in parts. */
static int64_t result_bytes(const Derive *d)
{
    const Solution *s = d->s;
    int parts = s->EnableMatrixInstruction ? s->MIWaveTile.v[1] * s->MatrixInstN / 16
                                           : s->ThreadTile1 / s->VectorWidth;
    const int tile[] = {s->MacroTile0, s->MacroTile1};
    return ring_results(tile, parts, s->VectorWidth, max32(d->f->compute_bpe, 4), s->LocalSplitU).bytes;
}

static bool check_local(Derive *d)
{
    Solution *s = d->s;
    const Deriver *f = d->f;
    int64_t stage[2], limit = f->target->lds_bytes;
    for (int t = 0; t < 2; t++) {
        if (!find_copies(d, t) || !check_shift(d, t)) return false;
        stage[t] = tile_bytes(d, t);
    }
    const bool copies = gathers(d) || f->bpe * s->GlobalLoadVectorWidthA >= 4;
    const bool fills = s->PrefetchAcrossPersistent && copies;
    int64_t stages = (stage[0] + stage[1]) * (s->PrefetchGlobalRead + 1);
    if (gathers(d)) {
        const int pads = max32(f->pt->ZeroPadA.n, f->pt->ZeroPadB.n);
        stages += ring_table(s->NumThreads, s->DepthU, s->PrefetchGlobalRead, pads).bytes;
    }
    int64_t bytes = ring_local_bytes(stages, result_bytes(d), fills);
    if (s->KeepWindow) {
        const int64_t room = (int64_t)s->KeepWindow * 1024;
        if (keep_room(s) < 1) STOP(d, NV_KEEP_STAGES, s->KeepWindow, (int32_t)(room - keep_room(s)));
        if (room < result_bytes(d)) STOP(d, NV_KEEP_RESULTS, s->KeepWindow, (int32_t)result_bytes(d));
        bytes = room;
    }
    if (bytes > limit) STOP(d, NV_LOCAL, bytes, s->PrefetchGlobalRead + 1, limit);
    s->LdsNumElementsAlignedA = (int32_t)(stage[0] / f->bpe);
    s->LdsNumElementsAlignedB = (int32_t)(stage[1] / f->bpe);
    s->LdsOffsetB = s->LdsNumElementsAlignedA;
    s->LdsNumElements = (int32_t)(bytes / f->bpe);
    return true;
}

bool check_split(Derive *d)
{
    Solution *s = d->s;
    if (s->GlobalSplitU == 1) s->GlobalSplitUAlgorithm = GSUA_SINGLE, s->MinKForGSU = 256;
    bool adds = s->GlobalSplitU > 1 && s->GlobalAccumulation != GACC_MULTIPLE &&
                s->GlobalAccumulation != GACC_PARTIALS;
    if (adds && is_complex(d->f->compute)) REJECT(d, NV_ADDS, s->GlobalSplitU);
    order_along_n(s);
    return true;
}

/* Contractions: registers for the addresses and padding positions of the rows or columns that a thread
 * copies. */
static int32_t place_registers(const Derive *d, int t)
{
    enum { ADDRESS = 2, ENTRY = 4 };
    const Solution *s = d->s;
    const bool pairs = d->tlu[t] && s->GlobalLoadVectorWidthA * d->f->bpe < 4;
    const int32_t places =
        d->tlu[t] ? AB(s, NumLoadsCoalesced, t) * (pairs ? 2 : 1) : AB(s, NumLoadsPerpendicular, t);
    const int32_t pads = t ? d->f->pt->ZeroPadB.n : d->f->pt->ZeroPadA.n;
    return gathers(d) ? places * (ADDRESS + pads) + pads + ENTRY : 0;
}

/* Registers of a thread whose 16-bit elements are copied one by one, by what ptxas needs for mma.sync on
 * tiles of 32x64 to 128x64: accumulators; fragments, 4 registers for 16 columns of D and 2 for 8 rows; two
 * for each pair of elements between global and shared memory; addresses, which more than 16 copies of a chunk
 * keep. */
static int32_t registers_of_elements(const Solution *s, int32_t sums)
{
    enum { OTHERS = 42, AHEAD = 24, FEW = 8, MANY = 16, OF_COPY = 4 };
    const int32_t columns = s->MIWaveTile.v[1] * s->MatrixInstN, rows = s->MIWaveTile.v[0] * s->MatrixInstM;
    const int32_t fragments = columns / 16 * 4 + rows / 8 * 2, copies = s->NumLoadsA + s->NumLoadsB;
    return sums + fragments * (1 + s->PrefetchLocalRead) + 2 * copies + OTHERS +
           AHEAD * s->PrefetchLocalRead + (copies > MANY ? OF_COPY * (copies - FEW) : 0);
}

/* The same of others. */
static int32_t registers_of_vectors(const Derive *d, int32_t sums, int32_t words)
{
    enum { OTHERS = 56 };
    const Solution *s = d->s;
    const int32_t tile0 = s->MacroTile0 / s->SubGroup0, tile1 = s->MacroTile1 / s->SubGroup1;
    const int32_t deep = s->EnableMatrixInstruction           ? 2
                         : k_vectors(d, 0) || k_vectors(d, 1) ? run_of(d->f)
                                                              : 1;
    const int32_t fragments = (tile0 + tile1) * words * deep;
    const bool elements = d->f->bpe == 2 && s->GlobalLoadVectorWidthA == 1;
    return sums + fragments * (1 + s->PrefetchLocalRead) + OTHERS +
           (elements ? 2 * (s->NumLoadsA + s->NumLoadsB) : 0);
}

/* Sets the work-groups of a multiprocessor, by registers and shared memory. Tiles that are certain to spill
 * are rejected before they are compiled. */
static bool check_registers(Derive *d)
{
    enum { REGISTERS = 65536, MOST = 255 };
    Solution *s = d->s;
    const int32_t words = max32(d->f->compute_bpe, 4) / 4, sums = s->NumElementsPerThread * words;
    if (sums > 160) REJECT(d, NV_REGISTERS, sums);
    if (s->NvBlocks == 0) {
        const bool elements = s->EnableMatrixInstruction && d->f->bpe == 2 && s->GlobalLoadVectorWidthA == 1;
        int32_t need = elements ? registers_of_elements(s, sums) : registers_of_vectors(d, sums, words);
        for (int t = 0; t < 2; t++) need += place_registers(d, t);
        const int64_t local = (int64_t)s->LdsNumElements * d->f->bpe + 1024;
        const int64_t fit = min32(REGISTERS / (s->NumThreads * min32(need, MOST)),
                                  (int32_t)(d->f->target->lds_bytes / local));
        s->NvBlocks = max32(1, min32((int32_t)fit, 8));
    }
    if ((int64_t)s->NvBlocks * s->NumThreads > 2048) REJECT(d, NV_BLOCKS, s->NvBlocks, s->NumThreads);
    return true;
}

/* Sets tlu and has_runs: which indices of A and B are contiguous in memory. */
static bool take_indices(Derive *d)
{
    Indices x;
    for (int t = 0; t < 2; t++) d->tlu[t] = d->f->tlu[t], d->has_runs[t] = true;
    if (!gathers(d)) return true;
    if (indices_of_type(d->f->pt, d->s->PackBatchDims, &x)) {
        err_clear();
        STOP(d, NV_FORM);
    }
    x.outputs_first = ring_copies_outputs(d->s);
    for (int t = 0; t < 2; t++) {
        d->tlu[t] = indices_tile_first(&x, t);
        d->has_runs[t] = indices_run(&x, t, !d->tlu[t] ? INDICES_K : t ? INDICES_N : INDICES_M);
    }
    return true;
}

bool derive_nvptx(Derive *d)
{
    Solution *s = d->s;
    if (!take_indices(d)) return false;
    s->UseSgprForGROUsed = 0, s->VectorStoreUsed = 1, s->NoLdsWriteCode = 1;
    if (s->GlobalReadVectorWidth != -1)
        s->GlobalLoadVectorWidthA = s->GlobalLoadVectorWidthB = s->GlobalReadVectorWidth;
    if (!check_problem(d) || !check_layout(d) || !check_depth(d) || !check_values(d) || !check_tile(d) ||
        !check_window(d) || !check_local(d))
        return false;
    if (s->EnableMatrixInstruction && s->NvLanesM) REJECT(d, NV_VALUE, PARAM_NvLanesM, s->NvLanesM);
    if (!s->EnableF32XdlMathOp) s->NvRoundXF32 = 1;
    s->NvRing = 1;
    s->LdsPadA = s->LdsPadB = s->LdsBlockSizePerPadA = s->LdsBlockSizePerPadB = s->TransposeLDS = 0;
    s->LDSBuffer1 = 0, s->VectorStore = -1, s->AssertMinApproxSize = 2;
    if (!check_split(d)) return false;
    /* ShiftPtr moves edge tiles back into the matrix; otherwise they are guarded. */
    if (s->EdgeType != EDGE_SHIFTPTR) s->EdgeType = EDGE_BRANCH;
    return check_registers(d);
}
