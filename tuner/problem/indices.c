/* Identifiers, groups and offsets. See indices.h; indices_type.c has those of problem types. */
#include "problem/indices.h"

#include <string.h>

/* ---- reading ---- */

/* mirror: of those in upper case; NULL: there are none. */
static bool letters(Str text, IndexList *out, IndexList *mirror)
{
    *out = (IndexList){0};
    if (text.n < 1 || text.n > INDEX_MAX) return false;
    for (size_t i = 0; i < text.n; i++) {
        const bool upper = mirror && text.s[i] >= 'I' && text.s[i] < 'I' + INDEX_MAX;
        const int32_t index = text.s[i] - (upper ? 'I' : 'i');
        if (index < 0 || index >= INDEX_MAX || index_list_has(out, index)) return false;
        out->v[out->n++] = index;
        if (upper) mirror->v[mirror->n++] = index;
    }
    return true;
}

/* "Ailk" or "AilkC": the indices after the tensor's name, and whether it is conjugated. */
static bool tensor(Str text, char name, IndexList *out, bool *conj, IndexList *mirror)
{
    if (text.n < 2 || text.s[0] != name) return false;
    *conj = text.n > 2 && text.s[text.n - 1] == 'C';
    return letters(str_sub(text, 1, text.n - *conj), out, mirror);
}

static bool in(const Indices *x, int t, int32_t index) { return index_list_has(&x->tensor[t], index); }

bool indices_has(const Indices *x, int t, int32_t index) { return in(x, t, index); }

/* The groups of a problem whose lists are known. False: an index has no role. */
static bool assign(Indices *x, const IndexList *sums)
{
    for (int t = 0; t < 2; t++)
        for (int32_t i = 0; i < x->tensor[t].n; i++) {
            const int32_t index = x->tensor[t].v[i];
            const bool other = in(x, 1 - t, index), of_d = index < x->of_d;
            if (!of_d && !(other && index_list_has(sums, index))) return false;
            if (of_d && !other) index_list_add(&x->group[t ? INDICES_N : INDICES_M], index);
        }
    for (int32_t i = 0; i < x->of_d; i++) {
        if (!in(x, 0, i) && !in(x, 1, i)) return false;
        if (in(x, 0, i) && in(x, 1, i)) index_list_add(&x->group[INDICES_BATCH], i);
    }
    for (int32_t i = sums->n; i-- > 0;) {
        if (sums->v[i] < x->of_d || !in(x, 0, sums->v[i]) || !in(x, 1, sums->v[i])) return false;
        index_list_add(&x->group[INDICES_K], sums->v[i]);
    }
    x->n = x->of_d + sums->n;
    return x->n <= INDEX_MAX;
}

Err indices_read(Str identifier, Indices *out)
{
    Str rest = identifier, word, part[5];
    IndexList sums;
    bool conj[2], ok = str_split(&rest, '_', &word) && str_eq_c(word, "Contraction");
    *out = (Indices){0};
    for (int i = 0; i < 5 && ok; i++) ok = str_split(&rest, '_', &part[i]);
    ok = ok && !rest.s && letters(part[0], &sums, NULL);
    for (int t = 0; t < INDICES_TENSORS && ok; t++)
        ok = tensor(part[1 + t], "ABCD"[t], &out -> tensor[t], t < 2 ? &out -> conj[t] : &conj[t - 2],
                    t < 2 ? &out -> mirror[t] : NULL);
    ok = ok && !conj[0] && !conj[1];
    if (!ok)
        FAIL(ERR_INPUT, "'%.*s' is not of the form Contraction_l_Ailk_Bljk_Cijk_Dijk", STR_ARG(identifier));
    out->of_d = out->tensor[3].n;
    for (int32_t i = 0; i < out->of_d; i++)
        if (out->tensor[2].n != out->of_d || out->tensor[2].v[i] != i || out->tensor[3].v[i] != i)
            FAIL(ERR_INPUT, "'%.*s': C and D do not have the indices i, j, .. in this order",
                 STR_ARG(identifier));
    if (!assign(out, &sums))
        FAIL(ERR_INPUT, "'%.*s': an index is neither of D nor summed over, or is in no operand",
             STR_ARG(identifier));
    return ERR_OK;
}

/* The packed indices stand in the order of the operand into which they are packed. */
void indices_pack(Indices *x, int32_t pack)
{
    x->pack = pack;
    if (pack != 1 && pack != 2) return;
    IndexList *to = &x->group[pack == 1 ? INDICES_M : INDICES_N];
    const IndexList *order = &x->tensor[pack - 1];
    *to = (IndexList){0};
    for (int32_t i = 0; i < order->n; i++)
        if (order->v[i] < x->of_d) index_list_add(to, order->v[i]);
    x->group[INDICES_BATCH] = (IndexList){0};
}

/* The first index of D that makes rows or columns of an operand; one of the batch where it has none. */
static int32_t first_of_d(const Indices *x, int t)
{
    const IndexList *g = &x->group[t ? INDICES_N : INDICES_M];
    if (g->n) return g->v[0];
    for (int32_t i = 0; i < x->tensor[t].n; i++)
        if (x->tensor[t].v[i] < x->of_d) return x->tensor[t].v[i];
    return x->of_d;
}

bool indices_rows_of_b(const Indices *x) { return first_of_d(x, 1) < first_of_d(x, 0); }

static void exchange(void *a, void *b, size_t n)
{
    unsigned char *p = a, *q = b;
    for (size_t i = 0; i < n; i++) {
        const unsigned char kept = p[i];
        p[i] = q[i], q[i] = kept;
    }
}

void indices_exchange(Indices *x)
{
    exchange(&x->tensor[0], &x->tensor[1], sizeof x->tensor[0]);
    exchange(&x->group[INDICES_M], &x->group[INDICES_N], sizeof x->group[0]);
    exchange(&x->conj[0], &x->conj[1], sizeof x->conj[0]);
    exchange(&x->mirror[0], &x->mirror[1], sizeof x->mirror[0]);
    exchange(&x->n_pads[0], &x->n_pads[1], sizeof x->n_pads[0]);
    exchange(&x->pad[0], &x->pad[1], sizeof x->pad[0]);
    if (x->pack == 1 || x->pack == 2) x->pack = 3 - x->pack;
    x->exchanged = !x->exchanged;
}

bool indices_tile_first(const Indices *x, int t)
{
    const int32_t free = x->group[t ? INDICES_N : INDICES_M].v[0], sum = x->group[INDICES_K].v[0];
    for (int32_t i = 0; x->outputs_first && i < x->n_pads[t]; i++)
        if (x->pad[t][i].free == free && x->pad[t][i].sum == sum) return true;
    return index_list_find(&x->tensor[t], free) < index_list_find(&x->tensor[t], sum);
}

static bool list_is(const IndexList *l, int32_t n, int32_t x, int32_t y, int32_t z)
{
    return l->n == n && l->v[0] == x && l->v[1] == y && (n == 2 || l->v[2] == z);
}

bool indices_are_gemm(const Indices *x, bool trans[2])
{
    const int32_t n = x->of_d, k = n;
    if ((n != 2 && n != 3) || x->n != n + 1 || x->initial_ab || x->initial_cd || x->n_pads[0] ||
        x->n_pads[1] || x->pack || x->mirror[0].n || x->mirror[1].n)
        return false;
    const bool is_n[2] = {list_is(&x->tensor[0], n, 0, k, 2), list_is(&x->tensor[1], n, k, 1, 2)};
    const bool is_t[2] = {list_is(&x->tensor[0], n, k, 0, 2), list_is(&x->tensor[1], n, 1, k, 2)};
    if (trans) trans[0] = is_t[0], trans[1] = is_t[1];
    return (is_n[0] || is_t[0]) && (is_n[1] || is_t[1]);
}

/* ---- one contraction ---- */

int64_t index_group_size(const IndexSizes *x, IndexGroup group)
{
    const IndexList *g = &x->indices.group[group];
    int64_t n = 1;
    for (int32_t i = 0; i < g->n; i++)
        if (__builtin_mul_overflow(n, x->size[g->v[i]], &n) || n > INT64_C(1) << 62) return -1;
    return n;
}

int64_t index_group_offset(const IndexSizes *x, IndexGroup group, int t, int64_t at)
{
    const IndexList *g = &x->indices.group[group];
    int64_t offset = 0;
    for (int32_t i = 0; i < g->n; i++) {
        const int32_t dim = index_list_find(&x->indices.tensor[t], g->v[i]);
        const int64_t size = x->size[g->v[i]], digit = at % size;
        const bool down = t < 2 && index_list_has(&x->indices.mirror[t], g->v[i]);
        if (dim >= 0) offset += (down ? size - 1 - digit : digit) * x->stride[t][dim];
        at /= size;
    }
    return offset;
}

int64_t index_stride(const IndexSizes *x, unsigned tensor, int32_t index)
{
    const int32_t dim = index_list_find(&x->indices.tensor[tensor], index);
    return dim < 0 ? 0 : x->stride[tensor][dim];
}

int64_t index_pad_position(const IndexSizes *x, int operand, int pad, IndexGroup group, int64_t at)
{
    const IndexList *g = &x->indices.group[group];
    int64_t position = 0;
    for (int32_t i = 0; i < g->n; i++) {
        const int32_t index = g->v[i];
        if (index == x->indices.pad[operand][pad].free || index == x->indices.pad[operand][pad].sum)
            position += at % x->size[index] * index_stride(x, (unsigned)operand, index);
        at /= x->size[index];
    }
    return position;
}

int64_t index_pad_edge(const IndexSizes *x, int operand, int pad)
{
    const int32_t free = x->indices.pad[operand][pad].free, sum = x->indices.pad[operand][pad].sum;
    return x->size[free] * index_stride(x, (unsigned)operand, free) +
           (x->size[sum] - 1) * index_stride(x, (unsigned)operand, sum) - x->pad_end[operand][pad];
}

bool indices_run(const Indices *x, int tensor, IndexGroup group)
{
    const IndexList *l = &x->group[group];
    const int32_t index = l->n ? l->v[0] : -1;
    if (index < 0 || x->tensor[tensor].v[0] != index) return false;
    if (tensor < 2 && index_list_has(&x->mirror[tensor], index)) return false;
    for (int32_t i = 0; tensor < 2 && i < x->n_pads[tensor]; i++)
        if (x->pad[tensor][i].free == index || x->pad[tensor][i].sum == index) return false;
    return true;
}
