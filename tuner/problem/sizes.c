/* Problem sizes: resolves leading dimensions and strides, enumerates ranges, makes lists. Reading is in
 * sizes_read.c. */
#include "problem/sizes.h"

#include <stdlib.h>
#include <string.h>

#include "problem/indices.h"

static const char tensor_letter[] = "DCAB";

IndexList size_tensor_indices(const ProblemType *pt, int tensor)
{
    if (tensor == LD_A) return pt->IndexAssignmentsA;
    if (tensor == LD_B) return pt->IndexAssignmentsB;
    IndexList l = {0};
    for (; l.n < pt->NumIndicesC; l.n++) l.v[l.n] = l.n;
    return l;
}

int64_t size_min_ld(const ProblemType *pt, const ProblemSize *s, int tensor)
{
    const int32_t first = tensor == LD_A   ? pt->IndexAssignmentsA.v[0]
                          : tensor == LD_B ? pt->IndexAssignmentsB.v[0]
                                           : 0;
    return s->v[first];
}

void size_resolve_ld(const ProblemType *pt, ProblemSize *s, const int64_t given[SIZE_LD_MAX])
{
    if (!problem_is_gemm(pt)) return;
    for (int t = 0; t < SIZE_LD_MAX; t++) {
        const int64_t min = size_min_ld(pt, s, t);
        s->v[pt->TotalIndices + t] = given[t] > min ? given[t] : min;
    }
    s->n = pt->TotalIndices + SIZE_LD_MAX;
}

static int64_t product(const IndexList *of, const IndexList *in, const ProblemSize *s)
{
    int64_t p = 1;
    for (int32_t i = 0; i < of->n; i++)
        if (!in || index_list_has(in, of->v[i])) p *= s->v[of->v[i]];
    return p;
}

int64_t size_m(const ProblemType *pt, const ProblemSize *s)
{
    return product(&pt->IndicesFree, &pt->IndexAssignmentsA, s);
}

int64_t size_n(const ProblemType *pt, const ProblemSize *s)
{
    return product(&pt->IndicesFree, &pt->IndexAssignmentsB, s);
}

int64_t size_k(const ProblemType *pt, const ProblemSize *s)
{
    return product(&pt->IndicesSummation, NULL, s);
}

int64_t size_batch(const ProblemType *pt, const ProblemSize *s)
{
    return product(&pt->IndicesBatch, NULL, s);
}

int64_t size_ld(const ProblemType *pt, const ProblemSize *s, int tensor)
{
    return pt->NumIndicesLD ? s->v[pt->TotalIndices + tensor] : size_min_ld(pt, s, tensor);
}

static int64_t const_stride(const TupleList *l, int32_t index)
{
    for (int32_t i = 0; i < l->n; i++)
        if (l->v[i][0] == index) return l->v[i][1];
    return -1;
}

int32_t size_strides(const ProblemType *pt, const ProblemSize *s, int tensor, int64_t out[INDEX_MAX])
{
    const IndexList l = size_tensor_indices(pt, tensor);
    const TupleList *fixed = tensor == LD_A   ? &pt->SetConstStrideA
                             : tensor == LD_B ? &pt->SetConstStrideB
                                              : NULL;
    for (int32_t i = 0; i < l.n; i++) {
        int64_t stride = s->extra && i < s->extra->n_stride[tensor] ? s->extra->stride[tensor][i] : -1;
        if (stride < 0 && fixed) stride = const_stride(fixed, l.v[i]);
        if (stride < 0 && i == 1 && problem_is_gemm(pt)) stride = size_ld(pt, s, tensor);
        if (stride < 0 && i == 0) stride = 1;
        if (stride < 0 && __builtin_mul_overflow(out[i - 1], s->v[l.v[i - 1]], &stride)) stride = INT64_MAX;
        out[i] = stride;
    }
    return l.n;
}

int32_t size_key_strides(const ProblemType *pt, int32_t dim[SIZE_KEY_MAX])
{
    Indices x;
    int32_t n = 0;
    if (pt->OperationType < OP_CONV_FORWARD) return 0;
    if (indices_of_type(pt, 0, &x)) {
        err_clear();
        return 0;
    }
    if (indices_are_gemm(&x, NULL)) return 0;
    for (int32_t i = 0; i < x.tensor[0].n && n < SIZE_KEY_MAX; i++)
        if (!index_list_has(&x.group[INDICES_BATCH], x.tensor[0].v[i])) dim[n++] = i;
    return n;
}

int32_t size_key_length(const ProblemType *pt)
{
    int32_t dim[SIZE_KEY_MAX];
    return pt->TotalIndices + pt->NumIndicesLD + size_key_strides(pt, dim);
}

void size_key_finish(const ProblemType *pt, ProblemSize *s)
{
    int32_t dim[SIZE_KEY_MAX];
    int64_t stride[INDEX_MAX];
    const int32_t n = size_key_strides(pt, dim);
    if (!n) return;
    size_strides(pt, s, LD_A, stride);
    for (int32_t i = 0; i < n; i++) s->v[pt->TotalIndices + i] = stride[dim[i]];
    s->n = pt->TotalIndices + n;
}

int64_t size_tensor_elements(const ProblemType *pt, const ProblemSize *s, int tensor)
{
    int64_t stride[INDEX_MAX], total = 1;
    const IndexList l = size_tensor_indices(pt, tensor);
    size_strides(pt, s, tensor, stride);
    for (int32_t i = 0; i < l.n; i++) {
        int64_t span;
        if (s->v[l.v[i]] == 0) return 0;
        if (__builtin_mul_overflow(s->v[l.v[i]] - 1, stride[i], &span)) return -1;
        if (__builtin_add_overflow(total, span, &total)) return -1;
    }
    return total;
}

Err problem_size_check(const ProblemType *pt, const ProblemSize *s)
{
    for (int t = 0; t < 4; t++) {
        const int64_t n = size_tensor_elements(pt, s, t);
        if (n >= 0 && n <= TENSOR_ELEMENTS_MAX) continue;
        Buf b;
        buf_init(&b);
        problem_size_print(s, &b);
        const Err err = err_set(ERR_INPUT, "size [%s]: tensor %c would have more than 2^46 elements",
                                buf_cstr(&b), tensor_letter[t]);
        buf_fini(&b);
        return err;
    }
    return 0;
}

static Err check_sizes(const ProblemType *pt, const int64_t *v)
{
    for (int32_t i = 0; i < pt->TotalIndices; i++)
        if (v[i] < 1 || v[i] > SIZE_VALUE_MAX)
            FAIL(ERR_INPUT, "size %lld of index %d ('%c') is not in 1..%lld", (long long)v[i], (int)i,
                 (char)('i' + i), (long long)SIZE_VALUE_MAX);
    return 0;
}

/* Reads the numbers after the indices of a size that has no leading dimensions: the key strides. */
static Err strides_given(const ProblemType *pt, const int64_t *v, size_t n, ProblemSize *out)
{
    size_key_finish(pt, out);
    for (size_t i = (size_t)pt->TotalIndices; i < n; i++) {
        if (v[i] < 0 || v[i] > TENSOR_ELEMENTS_MAX)
            FAIL(ERR_INPUT, "stride %lld of A is not in 0..2^46", (long long)v[i]);
        out->v[i] = v[i];
    }
    return problem_size_check(pt, out);
}

Err problem_size_from_ints(const ProblemType *pt, const int64_t *v, size_t n, ProblemSize *out)
{
    const size_t sizes = (size_t)pt->TotalIndices, all = (size_t)size_key_length(pt);
    int64_t given[SIZE_LD_MAX] = {-1, -1, -1, -1};
    *out = (ProblemSize){.n = pt->TotalIndices};
    if (n != sizes && n != all)
        FAIL(ERR_INPUT, "%zu numbers in a size; expected %zu%s", n, sizes,
             pt->NumIndicesLD ? ", or 4 more for the leading dimensions LDD, LDC, LDA, LDB"
             : all > sizes    ? ", and strides of A"
                              : "");
    TRY(check_sizes(pt, v));
    memcpy(out->v, v, sizes * sizeof *v);
    if (!pt->NumIndicesLD) return strides_given(pt, v, n, out);
    for (size_t i = sizes; i < n; i++) {
        const int t = (int)(i - sizes);
        const int64_t min = size_min_ld(pt, out, t);
        if (v[i] > SIZE_VALUE_MAX || v[i] < -1 || (v[i] > 0 && v[i] < min))
            FAIL(ERR_INPUT, "leading dimension LD%c %lld is not in %lld..%lld (-1: the least)",
                 tensor_letter[t], (long long)v[i], (long long)min, (long long)SIZE_VALUE_MAX);
        given[t] = v[i];
    }
    size_resolve_ld(pt, out, given);
    return problem_size_check(pt, out);
}

/* ---- streaming ---- */

void size_iter_init(SizeIter *it, const ProblemSizes *sizes) { *it = (SizeIter){.sizes = sizes}; }

static void range_start(SizeIter *it, const SizeRange *r)
{
    for (int32_t i = 0; i < r->n; i++) {
        it->value[i] = r->dim[i].start;
        it->step[i] = r->dim[i].stride;
    }
    it->in_range = true;
}

/* Dimension 0 varies fastest; a dimension that passes its end starts again and the next one advances. */
static void range_advance(SizeIter *it, const SizeRange *r)
{
    for (int32_t i = 0; i < r->n; i++) {
        const SizeDim *d = &r->dim[i];
        if (d->mapped) continue;
        it->value[i] += it->step[i];
        it->step[i] += d->increment;
        if (it->value[i] <= d->end) return;
        it->value[i] = d->start;
        it->step[i] = d->stride;
    }
    it->in_range = false;
    it->range++;
}

static void range_emit(SizeIter *it, const SizeRange *r, ProblemSize *out)
{
    const ProblemType *pt = &it->sizes->pt;
    *out = (ProblemSize){.n = pt->TotalIndices};
    for (int32_t i = 0; i < r->n; i++)
        it->full[i] = r->dim[i].mapped ? it->full[r->dim[i].source] : it->value[i];
    memcpy(out->v, it->full, (size_t)pt->TotalIndices * sizeof *out->v);
    size_resolve_ld(pt, out, it->full + pt->TotalIndices);
    size_key_finish(pt, out);
}

bool size_iter_next(SizeIter *it, ProblemSize *out)
{
    const ProblemSizes *s = it->sizes;
    if (it->range < s->n_ranges) {
        const SizeRange *r = &s->range[it->range];
        if (!it->in_range) range_start(it, r);
        range_emit(it, r, out);
        range_advance(it, r);
        return true;
    }
    if (it->exact >= s->n_exacts) return false;
    *out = s->exact[it->exact++];
    return true;
}

int problem_size_cmp(const ProblemSize *a, const ProblemSize *b)
{
    for (int32_t i = 0; i < a->n && i < b->n; i++)
        if (a->v[i] != b->v[i]) return a->v[i] < b->v[i] ? -1 : 1;
    return (a->n > b->n) - (a->n < b->n);
}

bool problem_size_equal(const ProblemSize *a, const ProblemSize *b) { return problem_size_cmp(a, b) == 0; }

void problem_size_print(const ProblemSize *s, Buf *out)
{
    for (int32_t i = 0; i < s->n; i++) buf_printf(out, "%s%lld", i ? "," : "", (long long)s->v[i]);
}

typedef struct {
    ProblemSize size;
    size_t position;
} Numbered;

static int numbered_cmp(const void *pa, const void *pb)
{
    const Numbered *a = pa, *b = pb;
    const int c = problem_size_cmp(&a->size, &b->size);
    return c ? c : (a->position > b->position) - (a->position < b->position);
}

static Err sort_sizes(ProblemSize *v, size_t n)
{
    Numbered *sorted = n ? calloc(n, sizeof *sorted) : NULL;
    if (!sorted) {
        if (!n) return 0;
        FAIL(ERR_FAILED, "out of memory for %zu problem sizes", n);
    }
    for (size_t i = 0; i < n; i++) sorted[i] = (Numbered){v[i], i};
    qsort(sorted, n, sizeof *sorted, numbered_cmp);
    for (size_t i = 0; i < n; i++) v[i] = sorted[i].size;
    free(sorted);
    return 0;
}

Err problem_sizes_list(Arena *a, const ProblemSizes *sizes, int64_t max, ProblemSize **out, size_t *n)
{
    if (sizes->count > max)
        FAIL(ERR_INPUT, "%lld problem sizes, at most %lld are allowed", (long long)sizes->count,
             (long long)max);
    *n = 0;
    *out = ARENA_ARRAY(a, (size_t)sizes->count, ProblemSize);
    if (!*out) FAIL(ERR_FAILED, "out of memory for %lld problem sizes", (long long)sizes->count);
    SizeIter it;
    size_iter_init(&it, sizes);
    while (*n < (size_t)sizes->count && size_iter_next(&it, &(*out)[*n])) ++*n;
    return sizes->sorted ? sort_sizes(*out, *n) : 0;
}
