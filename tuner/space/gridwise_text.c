/* Parameters of gridwise GEMMs as text. See gridwise.h. */
#include <inttypes.h>

#include "problem/matrix_inst.h"
#include "space/gridwise.h"

enum { PERF_VECTOR = 6, PERF_MATRIX = 8, PERF_MATRIX_READ = 9, PERF_MOST = 9 };

Err gridwise_perf_read(Str text, GridwiseTuning *t)
{
    int64_t v[PERF_MOST] = {0};
    int n = 0;
    Str rest = text, part;
    while (str_split(&rest, ',', &part)) {
        part = str_trim(part);
        if (n == PERF_MOST || !str_to_i64(part, &v[n]) || v[n] < 0)
            FAIL(ERR_INPUT, "perf_config '%.*s': '%.*s', expected 6, 8 or 9 numbers separated by commas",
                 (int)(text.n < 80 ? text.n : 80), text.s, (int)(part.n < 32 ? part.n : 32), part.s);
        n++;
    }
    if (n == PERF_VECTOR) {
        *t = (GridwiseTuning){false, v[0], v[1], v[2], v[3], v[4], v[5], 1, 0, 0, 0};
        return ERR_OK;
    }
    if (n != PERF_MATRIX && n != PERF_MATRIX_READ)
        FAIL(ERR_INPUT,
             "perf_config '%.*s' has %d numbers, expected 6 (vector kernels), 8 or 9 (matrix kernels)",
             (int)(text.n < 80 ? text.n : 80), text.s, n);
    if (v[6] > 1 || v[7] > 1)
        FAIL(ERR_INPUT, "perf_config '%.*s': numbers 7 and 8 are flags, expected 0 or 1",
             (int)(text.n < 80 ? text.n : 80), text.s);
    *t = (GridwiseTuning){true, 0, v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[8]};
    return ERR_OK;
}

void gridwise_perf_print(const GridwiseTuning *t, Buf *out)
{
    if (!t->matrix) buf_printf(out, "%" PRId64 ",", t->block_size);
    buf_printf(out, "%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64, t->m_per_block,
               t->n_per_block, t->k_per_block, t->m_per_part, t->n_per_part);
    if (t->matrix)
        buf_printf(out, ",%" PRId64 ",%" PRId64 ",%" PRId64, t->k_pack, t->a_more_k, t->b_more_k_pack);
    if (t->matrix && t->b_read) buf_printf(out, ",%" PRId64, t->b_read);
}

/* The parameters of the copy of A (M) or B (N), as the documents list them. */
static void copy_print(const GridwiseCopy *c, char operand, char side, Buf *out)
{
    static const char name[] = "CK_PARAM_TUNABLE_GEMM";
    buf_printf(out, "%s_%c_BLOCK_COPY_CLUSTER_LENGTHS_GEMM_K: %" PRId64 "\n", name, operand,
               c->cluster[SIDE_K]);
    buf_printf(out, "%s_%c_BLOCK_COPY_CLUSTER_LENGTHS_GEMM_%c: %" PRId64 "\n", name, operand, side,
               c->cluster[SIDE_FREE]);
    buf_printf(out, "%s_%c_BLOCK_COPY_DST_DATA_PER_WRITE_GEMM_%c: %" PRId64 "\n", name, operand, side,
               c->write);
    buf_printf(out, "%s_%c_BLOCK_COPY_SRC_DATA_PER_READ_GEMM_%c: %" PRId64 "\n", name, operand,
               c->read_side == SIDE_K ? 'K' : side, c->read);
}

void gridwise_params_print(const GridwiseTuning *t, const GridwiseDerived *d, Buf *out)
{
    static const char name[] = "CK_PARAM_TUNABLE";
    buf_printf(out, "%s_GEMM_M_PER_BLOCK: %" PRId64 "\n", name, t->m_per_block);
    buf_printf(out, "%s_GEMM_N_PER_BLOCK: %" PRId64 "\n", name, t->n_per_block);
    buf_printf(out, "%s_GEMM_K_PER_BLOCK: %" PRId64 "\n", name, t->k_per_block);
    if (t->matrix) {
        buf_printf(out, "CK_PARAM_GEMM_M_PER_WAVE: %" PRId64 "\n", t->m_per_part);
        buf_printf(out, "CK_PARAM_GEMM_N_PER_WAVE: %" PRId64 "\n", t->n_per_part);
        buf_printf(out, "CK_PARAM_GEMM_KPACK_LENGTH: %" PRId64 "\n", t->k_pack);
    } else {
        buf_printf(out, "%s_GEMM_M_PER_THREAD_SUB_C: %" PRId64 "\n", name, t->m_per_part);
        buf_printf(out, "%s_GEMM_N_PER_THREAD_SUB_C: %" PRId64 "\n", name, t->n_per_part);
        for (int i = 0; i < 2; i++) {
            buf_printf(out, "%s_GEMM_%c_LEVEL0_CLUSTER: %" PRId64 "\n", name, "MN"[i], d -> level0[i]);
            buf_printf(out, "%s_GEMM_%c_LEVEL1_CLUSTER: %" PRId64 "\n", name, "MN"[i], d -> level1[i]);
        }
    }
    buf_printf(out, "%s_BLOCK_SIZE: %" PRId64 "\n", name, d->block_size);
    copy_print(&d->a, 'A', 'M', out);
    copy_print(&d->b, 'B', 'N', out);
    buf_printf(out, "%s_GEMM_C_THREAD_COPY_%s: %" PRId64 "\n", name,
               t->matrix ? "DATA_PER_ACCESS_N" : "DST_DATA_PER_WRITE_GEMM_N1", d->d_write);
    buf_printf(out, "CK_PARAM_DEPENDENT_GRID_SIZE: %" PRId64 "\n", d->grid);
}

/* The widest MFMA instruction with one block whose sides divide the wave's tile. */
static const MatrixInst *instruction(const GridwiseTuning *t, DataType type)
{
    const MatrixInst *best = NULL, *in;
    for (size_t i = 0; (in = matrix_inst_at(i)); i++) {
        if (matrix_unit(in) != MATRIX_UNIT_MFMA || in->a != type || in->b != type || in->blocks != 1)
            continue;
        if (t->m_per_part % in->m || t->n_per_part % in->n || t->k_per_block * t->k_pack % in->k) continue;
        if (!best || in->m > best->m) best = in;
    }
    return best;
}

void gridwise_config_print(const GridwiseTuning *t, const GridwiseDerived *d, DataType type, Buf *out)
{
    if (!t->matrix) {
        buf_printf(out, "WorkGroup: [%" PRId64 ", %" PRId64 ", 1], ThreadTile: [%" PRId64 ", %" PRId64 "]",
                   d->level0[0] * d->level1[0], d->level0[1] * d->level1[1], 2 * t->m_per_part,
                   2 * t->n_per_part);
    } else {
        const MatrixInst *in = instruction(t, type);
        if (!in) {
            buf_printf(out, "no MatrixInstruction of %s with one block has this tile",
                       type_info(type)->abbrev);
            return;
        }
        buf_printf(
            out, "MatrixInstruction: [%d, %d, %d, 1, 1, %" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64 "]",
            in->m, in->n, in->k, t->m_per_part / in->m, t->n_per_part / in->n, d->waves[0], d->waves[1]);
    }
    buf_printf(out, ", DepthU: %" PRId64, t->k_per_block * t->k_pack);
}
