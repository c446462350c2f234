/* See matrix_map.h. */
#include "client/worker/matrix_map.h"

#include <stdlib.h>

#include "base/integer.h"

/* Rows and columns of each tensor. */
static const IndexGroup sides[INDICES_TENSORS][2] = {
    {INDICES_M, INDICES_K}, {INDICES_K, INDICES_N}, {INDICES_M, INDICES_N}, {INDICES_M, INDICES_N}};

typedef struct {
    const IndexSizes *x;
    int64_t *at;
} Filler;

static const int64_t *offsets(Filler *f, IndexGroup group, int t, int64_t minus)
{
    int64_t *table = f->at;
    const int64_t n = index_group_size(f->x, group);
    for (int64_t i = 0; i < n; i++) *f->at++ = index_group_offset(f->x, group, t, i) - minus;
    return table;
}

static const int64_t *positions(Filler *f, IndexGroup group, int t, int pad)
{
    int64_t *table = f->at;
    const int64_t n = index_group_size(f->x, group);
    for (int64_t i = 0; i < n; i++) *f->at++ = index_pad_position(f->x, t, pad, group, i);
    return table;
}

/* Whether the steps of an index group before and after entry i are equal, in data and in all pads. */
static bool same_step(const MatrixMap *m, bool rows, int64_t i)
{
    const int64_t *at = (rows ? m->row : m->col) + i;
    bool same = at[1] - at[0] == at[0] - at[-1];
    for (int p = 0; same && p < m->n_pads; p++) {
        at = (rows ? m->pad[p].row : m->pad[p].col) + i;
        same = at[1] - at[0] == at[0] - at[-1];
    }
    return same;
}

static const int64_t *runs(Filler *f, const MatrixMap *m, bool rows, int64_t n)
{
    int64_t *table = f->at;
    for (int64_t i = n - 1; i >= 0; i--)
        table[i] = i + 1 == n ? 1 : i + 2 < n && same_step(m, rows, i + 1) ? table[i + 1] + 1 : 2;
    f->at += n;
    return table;
}

static void fill(Filler *f, int t, MatrixMap *m)
{
    const IndexSizes *x = f->x;
    int64_t front = 0;
    m->n_pads = t < 2 ? x->indices.n_pads[t] : 0;
    for (int i = 0; i < m->n_pads; i++) front += x->pad_start[t][i];
    m->row = offsets(f, sides[t][0], t, front);
    m->col = offsets(f, sides[t][1], t, 0);
    m->batch = offsets(f, INDICES_BATCH, t, 0);
    for (int i = 0; i < m->n_pads; i++) {
        m->pad[i].row = positions(f, sides[t][0], t, i);
        m->pad[i].col = positions(f, sides[t][1], t, i);
        m->pad[i].start = x->pad_start[t][i];
        m->pad[i].edge = index_pad_edge(x, t, i);
    }
    m->row_run = runs(f, m, true, index_group_size(x, sides[t][0]));
    m->col_run = runs(f, m, false, index_group_size(x, sides[t][1]));
}

Err matrix_maps_init(MatrixMaps *m, const IndexSizes *x)
{
    *m = (MatrixMaps){.offsets = NULL};
    if (!x) return 0;
    size_t n = 0;
    for (int t = 0; t < INDICES_TENSORS; t++) {
        const size_t tables = 2 + (size_t)(t < 2 ? x->indices.n_pads[t] : 0); /* offsets, runs, pads */
        for (int i = 0; i < 2; i++) n += tables * (size_t)index_group_size(x, sides[t][i]);
        n += (size_t)index_group_size(x, INDICES_BATCH);
    }
    m->offsets = malloc(n * sizeof *m->offsets);
    if (!m->offsets) FAIL(ERR_FAILED, "out of memory for %zu offsets of a contraction", n);
    Filler f = {x, m->offsets};
    for (int t = 0; t < INDICES_TENSORS; t++) fill(&f, t, &m->map[t]);
    return 0;
}

void matrix_maps_fini(MatrixMaps *m)
{
    free(m->offsets);
    m->offsets = NULL;
}

Err matrix_map_used(const MatrixMap *m, const IndexSizes *x, int64_t n_elements, uint64_t **used)
{
    const int64_t rows = index_group_size(x, INDICES_M), cols = index_group_size(x, INDICES_N),
                  batches = index_group_size(x, INDICES_BATCH);
    *used = NULL;
    if (rows * cols * batches == n_elements) return 0; /* no two indices of D share an element */
    const size_t words = ((size_t)n_elements + 63) / 64;
    uint64_t *bits = calloc(words + 1, sizeof *bits);
    if (!bits) FAIL(ERR_FAILED, "out of memory for the extent of D, %lld elements", (long long)n_elements);
    for (int64_t b = 0; b < batches; b++)
        for (int64_t j = 0; j < cols; j++)
            for (int64_t i = 0; i < rows; i++) {
                const int64_t at = m->row[i] + m->col[j] + m->batch[b];
                bits[at / 64] |= UINT64_C(1) << at % 64;
            }
    if (n_elements % 64) bits[words - 1] |= ~UINT64_C(0) << n_elements % 64;
    *used = bits;
    return 0;
}

/* Elements that a zero pad takes off the extent of a tensor: those before it, and those after the last
 * position below the pad's edge. */
static int64_t padded(const IndexSizes *x, int t, int pad)
{
    const IndexList *l = &x->indices.tensor[t];
    const int32_t index[] = {x->indices.pad[t][pad].free, x->indices.pad[t][pad].sum};
    int64_t step = 0, last = 0;
    for (int i = 0; i < 2; i++) {
        const int64_t stride = x->stride[t][index_list_find(l, index[i])];
        step = int_gcd(stride, step);
        last += (x->size[index[i]] - 1) * stride;
    }
    int64_t reached = index_pad_edge(x, t, pad) - 1;
    if (step > 0) reached -= reached % step;
    return x->pad_start[t][pad] + (reached < last ? last - reached : 0);
}

Err matrix_map_elements(const IndexSizes *x, int t, int64_t *n)
{
    const int64_t limit = INT64_C(1) << 40;
    const IndexList *l = &x->indices.tensor[t];
    *n = 1;
    for (int32_t i = 0; i < l->n; i++) {
        int64_t last;
        if (__builtin_mul_overflow(x->size[l->v[i]] - 1, x->stride[t][i], &last) || last > limit - *n)
            FAIL(ERR_INPUT, "tensor of more than 2^40 elements (size %lld, stride %lld)",
                 (long long)x->size[l->v[i]], (long long)x->stride[t][i]);
        *n += last;
    }
    for (int i = 0; t < 2 && i < x->indices.n_pads[t]; i++) *n -= padded(x, t, i);
    if (*n < 1) FAIL(ERR_INPUT, "zero pads of %c leave no element", "AB"[t]);
    return 0;
}
