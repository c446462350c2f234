/* See pointwise.h. */
#include "problem/pointwise.h"

#include <string.h>

/* An index of the product: its size and its strides in the tensors, 0 where a tensor does not have it. */
typedef struct {
    int64_t size, stride[CONV_TENSORS];
    bool in[CONV_TENSORS];
} Index;

typedef struct {
    Index positions, images, groups, c, k;
} Indexes;

static Index index_of(const ConvDesc *c, const char letters[CONV_TENSORS], int64_t size)
{
    Index x = {.size = size};
    for (int t = 0; t < CONV_TENSORS; t++) {
        const int64_t channels = t == CONV_INPUT    ? c->size.c
                                 : t == CONV_FILTER ? c->size.c / c->size.groups
                                                    : c->size.k;
        if (letters[t] == ' ') continue;
        x.in[t] = true;
        x.stride[t] = conv_distance(&c->size, c->format[t], letters[t], channels, t == CONV_INPUT);
    }
    return x;
}

/* The index of the groups: a group's channels are contiguous, and the groups follow each other. */
static Index groups_of(const Index *c, const Index *k, int64_t groups)
{
    Index x = {.size = groups};
    x.stride[CONV_INPUT] = c->size * c->stride[CONV_INPUT];
    x.stride[CONV_FILTER] = k->size * k->stride[CONV_FILTER];
    x.stride[CONV_OUTPUT] = k->size * k->stride[CONV_OUTPUT];
    for (int t = 0; t < CONV_TENSORS; t++) x.in[t] = true;
    return x;
}

/* Makes one index of two where `slow` continues `fast` in both images. */
static bool join(Index *fast, const Index *slow)
{
    for (int t = 0; t < CONV_TENSORS; t++)
        if (fast->in[t] && slow->size > 1 && slow->stride[t] != fast->size * fast->stride[t]) return false;
    fast->size *= slow->size;
    return true;
}

static void indexes_of(const ConvDesc *c, Indexes *x)
{
    const ConvSize *s = &c->size;
    x->positions = index_of(c, "W W", s->in[0] * s->in[1] * s->in[2]);
    x->images = index_of(c, "N N", s->n);
    x->c = index_of(c, "CC ", s->c / s->groups);
    x->k = index_of(c, " KC", s->k / s->groups);
    x->groups = groups_of(&x->c, &x->k, s->groups);
    Index joined = x->images;
    if (join(&x->positions, &x->images)) {
        x->images.size = 1;
    } else if (join(&joined, &x->positions)) {
        x->positions = joined;
        x->images.size = 1;
    }
}

/* The operand that has the free index; its matrix is stored with that index or the sum first. */
static bool operand(const ConvTensor t, const Index *free, const Index *sum, bool left, PointwiseGemm *out)
{
    const bool free_first = free->stride[t] == 1;
    const int at = left ? 0 : 1;
    if (!free_first && sum->stride[t] != 1) return false;
    *(left ? &out->a : &out->b) = t;
    out->trans[at] = free_first != left;
    out->ld[at] = free_first ? sum->stride[t] : free->stride[t];
    const int64_t rows = free_first ? free->size : sum->size, columns = free_first ? sum->size : free->size;
    if (columns == 1 && out->ld[at] < rows) out->ld[at] = rows; /* one column: its value does not matter */
    return out->ld[at] >= rows;
}

bool pointwise_gemm(const ConvDesc *c, PointwiseGemm *out)
{
    Indexes x;
    if (!conv_is_pointwise(c)) return false;
    indexes_of(c, &x);
    const ConvTensor d = conv_result(c);
    const Index *pair[2], *sum, *batch = x.images.size > 1 ? &x.images : &x.groups;
    if (x.images.size > 1 && (x.groups.size > 1 || d == CONV_FILTER)) return false;
    sum = d == CONV_OUTPUT ? &x.c : d == CONV_INPUT ? &x.k : &x.positions;
    pair[0] = d == CONV_OUTPUT ? &x.k : &x.c;
    pair[1] = d == CONV_FILTER ? &x.k : &x.positions;
    const bool first = pair[0]->stride[d] == 1;
    const Index *m = pair[!first], *n = pair[first];
    if (m->stride[d] != 1) return false;
    memset(out, 0, sizeof *out);
    out->m = m->size, out->n = n->size, out->k = sum->size, out->batch = batch->size;
    ConvTensor with_m = CONV_INPUT, with_n = CONV_INPUT;
    for (int t = 0; t < CONV_TENSORS; t++) {
        if (t == (int)d) continue;
        if (m->in[t]) with_m = (ConvTensor)t;
        if (n->in[t]) with_n = (ConvTensor)t;
    }
    if (!operand(with_m, m, sum, true, out) || !operand(with_n, n, sum, false, out)) return false;
    out->ld[2] = n->size == 1 && n->stride[d] < m->size ? m->size : n->stride[d];
    out->stride[0] = batch->stride[with_m], out->stride[1] = batch->stride[with_n];
    out->stride[2] = batch->stride[d];
    return out->ld[2] >= m->size;
}
