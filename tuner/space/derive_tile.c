/* Derivation, first part: matrix instruction, thread tile, workgroup and macro tile. */
#include "problem/matrix_inst.h"
#include "space/derive_internal.h"

#define MI_ARGS(s)                                                                                           \
    (s)->MatrixInstruction.v[0], (s)->MatrixInstruction.v[1], (s)->MatrixInstruction.v[2],                   \
        (s)->MatrixInstruction.v[3]

/* As Tensile does: only of bf16 and int8 it asks whether the architecture has the instruction. */
static bool check_mfma(Derive *d)
{
    Solution *s = d->s;
    DataType type = matrix_type((DataType)(s->EnableF32XdlMathOp ? d->f->xdl : d->f->type));
    const int32_t *mi = s->MatrixInstruction.v;
    const MatrixInst *in = matrix_shape(MATRIX_UNIT_MFMA, type, mi);
    const Target *t = target_of_isa(TARGET_AMDGCN, s->ISA.v);
    if (!in) REJECT(d, MI_NOT_FOR_TYPE, MI_ARGS(s));
    if (in) s->MFMA_BF16_1K = matrix_is_bf16_1k(in);
    if (in && (type == TYPE_B || type == TYPE_I8) && t && !matrix_inst(t, type, type, mi))
        REJECT(d, MI_NOT_ON_ARCH, MI_ARGS(s));
    return true;
}

/* The form of nine numbers also sets ThreadTile and WorkGroup. */
static void expand_nine(Solution *s)
{
    const int32_t *m = s->MatrixInstruction.v;
    int32_t waves = m[7] * m[8];
    s->ThreadTile.v[0] = m[5];
    s->ThreadTile.v[1] = m[6] * m[1];
    s->WorkGroup.v[0] = m[4] * m[0] * m[7];
    s->WorkGroup.v[1] = waves * s->WavefrontSize / s->WorkGroup.v[0];
    IntList four = {4, {m[0], m[1], m[2], m[3]}};
    s->MatrixInstruction = four;
}

bool derive_matrix_instruction(Derive *d)
{
    Solution *s = d->s;
    s->EnableF32XdlMathOp = d->f->xdl != TYPE_S && d->f->type == TYPE_S;
    if (s->MatrixInstruction.n == 9) expand_nine(s);
    s->EnableMatrixInstruction = s->MatrixInstruction.n == 4;
    if (!s->EnableMatrixInstruction) return true;
    s->MFMA_BF16_1K = 0;
    if (d->caps & CAP_MFMA) {
        if (!check_mfma(d)) return false;
    } else if (d->caps & CAP_WMMA) {
        if (!matrix_shape(MATRIX_UNIT_WMMA, TYPE_ALL, s->MatrixInstruction.v))
            REJECT(d, MI_NOT_FOR_TYPE, MI_ARGS(s));
    }
    const int32_t *m = s->MatrixInstruction.v, *wg = s->WorkGroup.v;
    if (s->ThreadTile.v[1] % m[0]) REJECT(d, MI_THREAD_TILE, s->ThreadTile.v[1], m[0]);
    int32_t wg0 = max32(wg[0], m[0]);
    int32_t bm = min32(wg0 / m[0], m[3]), bn = m[3] / bm;
    s->MIBlock = (IntList){6, {m[0], m[1], m[2], m[3], bm, bn}};
    int32_t waves = max32(wg[0] * wg[1] / s->WavefrontSize, 1);
    int32_t first = min32(wg0 / m[0] / bm, waves);
    if (first < 1) STOP(d, MI_WAVE_GROUP, wg[0], wg[1]);
    s->MIWaveGroup = intlist2(first, waves / first);
    s->MIWaveTile = intlist2(s->ThreadTile.v[0], s->ThreadTile.v[1] / m[1]);
    s->MIInputPerThread = m[0] * m[2] * m[3] / s->WavefrontSize;
    if (!(d->caps & CAP_MFMA) && (d->caps & CAP_WMMA)) s->MIInputPerThread = m[2];
    return true;
}

static void tile_of_matrix(Derive *d)
{
    Solution *s = d->s;
    const int32_t *b = s->MIBlock.v, *wt = s->MIWaveTile.v, *wg = s->MIWaveGroup.v;
    s->MatrixInstM = b[0], s->MatrixInstN = b[1], s->MatrixInstK = b[2];
    s->MatrixInstB = b[3], s->MatrixInstBM = b[4], s->MatrixInstBN = b[5];
    s->MIOutputVectorWidth = 4, s->MIRegPerOut = 1;
    if (d->caps & CAP_MFMA) {
        if (d->f->type == TYPE_D || d->f->type == TYPE_Z) s->MIOutputVectorWidth = 1, s->MIRegPerOut = 2;
    } else if (d->caps & CAP_WMMA) {
        s->MIOutputVectorWidth = 1;
    }
    if (b[0] == 4) {
        s->ThreadTile0 = wt[0] * s->MIOutputVectorWidth;
        s->ThreadTile1 = wt[1];
        s->SubGroup0 = wg[0] * b[0] * b[4] / s->MIOutputVectorWidth;
        s->SubGroup1 = wg[1] * b[1] * b[5];
    } else {
        s->ThreadTile0 = b[4] * wt[0] * (b[0] * b[1] / s->WavefrontSize);
        s->ThreadTile1 = b[5] * wt[1];
        s->SubGroup0 = wg[0] * (s->WavefrontSize / b[1]);
        s->SubGroup1 = wg[1] * b[1];
    }
}

static bool check_shape(Derive *d)
{
    Solution *s = d->s;
    if (s->MacroTile0 < 1 || s->MacroTile1 < 1) STOP(d, TILE_EMPTY, s->MacroTile0, s->MacroTile1);
    if (d->f->target->family != TARGET_HOST && (s->MacroTile0 > 16384 || s->MacroTile1 > 16384))
        STOP(d, TILE_BIG, s->MacroTile0, s->MacroTile1);
    if (solution_has(s, PARAM_MacroTile) &&
        (s->MacroTile.v[0] != s->MacroTile0 || s->MacroTile.v[1] != s->MacroTile1))
        REJECT(d, TILE_MISMATCH, s->MacroTile0, s->MacroTile1, s->MacroTile.v[0], s->MacroTile.v[1]);
    int32_t shape = max32(s->MacroTile0 / s->MacroTile1, s->MacroTile1 / s->MacroTile0);
    if (shape < s->MacroTileShapeMin || shape > s->MacroTileShapeMax)
        REJECT(d, TILE_SHAPE, s->MacroTile0, s->MacroTile1, s->MacroTileShapeMin, s->MacroTileShapeMax);
    if (s->WorkGroupMappingType == WGMT_Z && (s->WorkGroupMapping > 2 || s->WorkGroupMapping < -2))
        REJECT(d, WGM_Z, s->WorkGroupMapping);
    return true;
}

bool derive_tile(Derive *d)
{
    Solution *s = d->s;
    if (!d->f->strided_batched && !d->f->batched) REJECT(d, GENERAL_BATCH_UNBATCHED);
    if (!d->f->strided_batched && !d->f->gemm) REJECT(d, GENERAL_BATCH_GEMM);
    if (s->EnableMatrixInstruction) {
        tile_of_matrix(d);
    } else {
        s->ThreadTile0 = s->ThreadTile.v[0], s->ThreadTile1 = s->ThreadTile.v[1];
        s->SubGroup0 = s->WorkGroup.v[0], s->SubGroup1 = s->WorkGroup.v[1];
    }
    s->LocalSplitU = s->WorkGroup.v[2];
    s->EnableMatrixInstructionStore = s->EnableMatrixInstruction && s->LocalSplitU == 1;
    int32_t group = s->SubGroup0 * s->SubGroup1, wave = s->WavefrontSize;
    s->NumThreads = group * s->LocalSplitU;
    if (s->NumThreads < 1) STOP(d, THREADS_NOT_WAVES, s->NumThreads, wave);
    if (d->f->target->family != TARGET_HOST) {
        if (s->NumThreads % wave) REJECT(d, THREADS_NOT_WAVES, s->NumThreads, wave);
        if (s->EnableMatrixInstruction && group % wave)
            REJECT(d, MI_THREADS_NOT_WAVES, s->SubGroup0, s->SubGroup1, wave);
        if (s->EnableMatrixInstruction && s->LocalSplitU > 4 && d->f->target->family == TARGET_AMDGCN)
            REJECT(d, MI_SPLIT_U, s->LocalSplitU);
    }
    s->MacroTile0 = s->SubGroup0 * s->ThreadTile0;
    s->MacroTile1 = s->SubGroup1 * s->ThreadTile1;
    if (d->f->target->family == TARGET_HOST) s->MacroTile0 *= s->HostRepeatM, s->MacroTile1 *= s->HostRepeatN;
    return check_shape(d);
}

/* Assigns D's two tile dimensions to A and B. */
bool derive_tensor_tiles(Derive *d)
{
    Solution *s = d->s;
    bool swap = d->f->tensor0 != 0;
    s->ThreadTileA = swap ? s->ThreadTile1 : s->ThreadTile0;
    s->ThreadTileB = swap ? s->ThreadTile0 : s->ThreadTile1;
    s->SubGroupA = swap ? s->SubGroup1 : s->SubGroup0;
    s->SubGroupB = swap ? s->SubGroup0 : s->SubGroup1;
    s->MacroTileA = swap ? s->MacroTile1 : s->MacroTile0;
    s->MacroTileB = swap ? s->MacroTile0 : s->MacroTile1;
    if (s->EnableMatrixInstruction) {
        s->MIWaveTileA = s->MIWaveTile.v[swap ? 1 : 0];
        s->MIWaveTileB = s->MIWaveTile.v[swap ? 0 : 1];
    }
    if (d->f->target->family == TARGET_HOST) return true;
    int32_t waves = s->NumThreads / s->WavefrontSize;
    for (int t = 0; t < 2; t++) {
        if (!AB(s, WaveSeparateGlobalRead, t)) continue;
        if (s->FractionalLoad) REJECT(d, WAVE_SEPARATE_FRACTIONAL, s->FractionalLoad);
        if (s->LocalDotLayout > 1) REJECT(d, WAVE_SEPARATE_DOT, s->LocalDotLayout);
        if (waves < 1) continue; /* reached only with NoReject */
        if (d->f->tlu[t] && s->DepthU > 0 && s->DepthU % waves)
            REJECT(d, WAVE_SEPARATE_DEPTH, s->DepthU, waves);
        if (!d->f->tlu[t] && AB(s, MacroTile, t) % waves)
            REJECT(d, WAVE_SEPARATE_TILE, AB(s, MacroTile, t), waves);
    }
    return true;
}
