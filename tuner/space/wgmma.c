/* The planner of wgmma kernels. See wgmma.h. */
#include "space/wgmma.h"

#include "problem/datatype.h"
#include "problem/lines.h"
#include "problem/pack.h"
#include "problem/problem.h"
#include "problem/window.h"

enum {
    BARRIER_BYTES = 512,
    ALIGN_BYTES = 1024,
    MOST_SLICE = 64,
    MOST_WIDE = 112,
    /* X in registers (kernel/nvptx/hopper_products.c): two sets of fragments, each for two instructions along
       K, of four registers for 64 rows */
    FRAGMENT_SETS = 2,
    FRAGMENT_STEPS = 2,
    FRAGMENT_REGISTERS = 4
};

bool wgmma_is(const Solution *s)
{
    const IntList *m = &s->MatrixInstruction;
    return m->n >= 4 && (m->v[0] == WGMMA_ROWS || m->v[1] == WGMMA_ROWS);
}

/* Finds the roles of a contraction's indices; false: it is no window, so that the copy engine cannot load
 * it. */
static bool window(const Solution *s, Window *w)
{
    Indices x;
    if (indices_are_plain_gemm(s->pt)) return false;
    if (!indices_of_type(s->pt, s->PackBatchDims, &x)) return !window_of(&x, w);
    err_clear();
    return false;
}

bool wgmma_k_major(const Solution *s, int t)
{
    const int operand = wgmma_operand(s, t);
    Window w;
    if (window(s, &w)) return operand == w.pixels ? !w.per_tap : w.other_k_major;
    bool k_major = !(operand ? s->pt->TLUB : s->pt->TLUA),
         copied = s->PackOperands & (operand ? PACK_B : PACK_A);
    return k_major || (copied && pack_transposes(type_bytes((DataType)s->pt->DataType), k_major));
}

/* Bytes of an element that the kernel stores: of D, or of the sums of parts of K in the workspace. */
static int32_t stored_bytes(const Solution *s)
{
    bool parts = s->GlobalSplitU > 1 && s->GlobalSplitUAlgorithm == GSUA_MULTIPLE;
    return type_bytes((DataType)(parts ? s->pt->ComputeDataType : s->pt->DestDataType));
}

bool wgmma_engine_store(const Solution *s)
{
    return s->EngineStore && s->ClusterK <= 1 && stored_bytes(s) > 1;
}

/* The box that one TMA copy transfers of a work-group's part of an operand's tile. */
static void plan_box(const Solution *s, WgmmaPlan *p, int t)
{
    int32_t row = WGMMA_ROW_BYTES / type_bytes((DataType)s->pt->DataType);
    p->box[t][0] = row, p->swizzle[t] = WGMMA_ROW_BYTES;
    if (p->k_major[t]) {
        p->box[t][1] = p->shared_side[t] / p->parts[t];
        return;
    }
    bool whole =
        p->shared_side[t] / row % p->parts[t] == 0; /* whole blocks each; else some rows of every block */
    p->box[t][1] = whole ? p->depth[t] : p->depth[t] / p->parts[t];
}

/* Columns of a slice of results that threads store (WindowTaps): each slice takes a meeting of the warp group
 * and divisions, so that they are large; in multiples of 16 columns, which are written at once, or of 8. */
static int32_t wide_slice(int32_t columns, int32_t most)
{
    for (int32_t unit = 16; unit >= 8; unit /= 2)
        for (int32_t n = most / unit * unit; n > unit; n -= unit)
            if (columns % n == 0) return n;
    return columns % 16 ? 8 : 16;
}

/* Results are stored in slices of 64 of the instruction's rows and lines of 128 bytes along M. If the rows
 * lie along M, a slice has up to 64 columns. If they lie along N, an instruction whose columns are less than
 * a line or no multiple of it has shorter lines. */
static void plan_slices(const Solution *s, WgmmaPlan *p)
{
    p->out_bytes = wgmma_engine_store(s) || p->wide ? stored_bytes(s) : 4;
    int32_t row = WGMMA_ROW_BYTES / p->out_bytes;
    if (p->swapped && p->columns < row)
        row = p->columns;
    else if (p->swapped && p->columns % row)
        row /= 2; /* 160 columns are five half lines */
    int32_t pieces = p->swapped ? 1 : WGMMA_ROWS / row;
    p->slice_n = WGMMA_ROWS;
    if (!p->swapped && p->wide) {
        p->slice_n = wide_slice(p->columns, MOST_WIDE / pieces);
    } else if (!p->swapped) {
        p->slice_n = MOST_SLICE / pieces;
        if (p->columns < p->slice_n)
            p->slice_n = p->columns;
        else if (p->columns % p->slice_n)
            p->slice_n = p->columns % 16 ? 8 : 16;
    }
    p->slice_bytes = s->ClusterK > 1 ? 0 : pieces * p->slice_n * row * p->out_bytes;
    for (int t = 2; t < 4; t++) {
        p->box[t][0] = row, p->box[t][1] = p->slice_n;
        p->swizzle[t] = row * p->out_bytes == WGMMA_ROW_BYTES ? WGMMA_ROW_BYTES : 0;
    }
}

void wgmma_plan(const Solution *s, WgmmaPlan *p)
{
    int32_t bytes = type_bytes((DataType)s->pt->DataType);
    *p = (WgmmaPlan){.swapped = s->SourceSwap != 0,
                     .pingpong = s->ConsumerSchedule == SCHEDULE_PINGPONG,
                     .from_registers = s->RowsFromRegisters != 0,
                     .k = s->MatrixInstK};
    Window w;
    int rows = p->swapped ? 1 : 0;
    p->columns = p->swapped ? s->MatrixInstM : s->MatrixInstN;
    p->tile_groups = s->MIWaveGroup.v[rows];
    p->groups = p->pingpong ? 2 : p->tile_groups;
    p->repeats = s->MIWaveTile.v[rows];
    p->side[0] = s->MacroTile0, p->side[1] = s->MacroTile1;
    for (int t = 0; t < 2; t++) p->k_major[t] = wgmma_k_major(s, t);
    p->parts[0] = s->ClusterN, p->parts[1] = s->ClusterM;
    int32_t row = WGMMA_ROW_BYTES / bytes;
    const bool has_window = window(s, &w), slides = has_window && !w.per_tap;
    const int32_t taps = has_window ? s->WindowTaps : 1;
    p->wide = taps > 1 && slides;
    for (int t = 0; t < 2; t++) {
        const bool of_pixels = taps > 1 && wgmma_operand(s, t) == w.pixels;
        int32_t side = p->side[t];
        if (of_pixels) side = slides ? side + WINDOW_REACH : side / taps;
        p->depth[t] = of_pixels && !slides ? s->DepthU + WINDOW_REACH : s->DepthU;
        p->shared_side[t] = p->k_major[t] ? side : (side + row - 1) / row * row;
        p->stage_bytes +=
            p->shared_side[t] * p->depth[t] * (taps > 1 && slides && !of_pixels ? taps : 1) * bytes;
        plan_box(s, p, t);
    }
    plan_slices(s, p);
    p->sums = p->repeats * p->columns / 2;
    /* wgmma adds products of 8-bit floats with fewer bits than f32 has (PTX ISA 9.7.15.5) */
    p->promotes = bytes == 1 && s->pt->DataType != TYPE_I8;
    p->registers = p->sums * (p->promotes ? 1 + s->PromotionSets : 1);
    if (p->from_registers) p->registers += FRAGMENT_SETS * FRAGMENT_STEPS * FRAGMENT_REGISTERS * p->repeats;
    /* columns of D; the pitch keeps writes of the fragments free of bank conflicts */
    if (s->ClusterK > 1) p->cluster_sum_bytes = p->side[1] * (p->side[0] + (p->swapped ? 8 : 4)) * 4;
    p->other_bytes = p->groups * WGMMA_BUFFERS * p->slice_bytes + BARRIER_BYTES + ALIGN_BYTES;
    if (s->PackOperands & PACK_LINES && has_window)
        p->line_pixels = w.per_tap ? line_block(s->DepthU) : p->side[1];
    if (p->line_pixels) p->other_bytes += line_local_bytes(p->line_pixels);
    p->local_bytes = s->RingStages * p->stage_bytes + p->other_bytes;
}
