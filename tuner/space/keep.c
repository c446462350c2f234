/* See keep.h. */
#include "space/keep.h"

#include "base/err.h"
#include "problem/indices.h"
#include "problem/keep.h"

static bool indices_of(const Solution *s, Indices *x)
{
    if (!indices_of_type(s->pt, s->PackBatchDims, x)) return true;
    err_clear();
    return false;
}

int32_t keep_piece(const Solution *s)
{
    Indices x;
    if (!indices_of(s, &x)) return 0;
    /* the filter's rows are those of D */
    return indices_rows_of_b(&x) ? s->GlobalLoadVectorWidthB : s->GlobalLoadVectorWidthA;
}

int32_t keep_rows(const Solution *s) { return s->MacroTile0 / s->MIWaveGroup.v[0]; }

int32_t keep_room(const Solution *s)
{
    Indices x;
    if (!indices_of(s, &x)) return 0;
    const bool rows_first = indices_tile_first(&x, indices_rows_of_b(&x));
    const int32_t stage = keep_stage_bytes(s->MacroTile0, s->DepthU, rows_first);
    const int32_t table = rows_first ? 0 : s->MacroTile0 * KEEP_CHUNK_BYTES; /* of the filter's lines */
    return s->KeepWindow * 1024 - KEEP_OWN_BYTES - (s->PrefetchGlobalRead + 1) * stage - table;
}
