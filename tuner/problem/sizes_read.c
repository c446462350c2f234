/* Reads the ProblemSizes of a config: Range, Exact (list and map), Conv, MinStride. */
#include "problem/conv.h"
#include "problem/sizes.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

typedef struct {
    Arena *arena;
    const char *file;
    const ProblemType *pt;
    Notices *notices;
    ProblemSizes *out;
    int64_t n_raised;               /* leading dimensions that were below the minimum */
    int64_t raised_from, raised_to; /* the first of them */
    int raised_line, raised_tensor;
} Reader;

static Err read_ints(const Reader *r, const Node *n, const char *what, size_t min, size_t max, int64_t *v)
{
    TRY(node_seq(n, r->file, what, min, max));
    for (size_t i = 0; i < n->n; i++) TRY(node_int(&n->item[i], r->file, what, INT64_MIN, INT64_MAX, &v[i]));
    return 0;
}

/* ---- ranges ---- */

/* Counts the values: while value <= end, value += stride, stride += increment. */
static Err count_values(const Reader *r, int line, int32_t index, SizeDim *d)
{
    if (d->start > d->end)
        FAIL(ERR_INPUT, "%s:%d: Range: dimension %d starts at %lld, after its end %lld", r->file, line,
             (int)index, (long long)d->start, (long long)d->end);
    if (d->increment == 0) {
        if (d->stride < 1 && d->start + d->stride <= d->end)
            FAIL(ERR_INPUT, "%s:%d: Range: dimension %d never ends with stride %lld", r->file, line,
                 (int)index, (long long)d->stride);
        d->count = d->stride < 1 ? 1 : (d->end - d->start) / d->stride + 1;
        return 0;
    }
    int64_t value = d->start, stride = d->stride;
    for (d->count = 0; value <= d->end; d->count++) {
        if (stride < 0 || (stride == 0 && d->increment < 0) || d->count > SIZES_COUNT_MAX)
            FAIL(ERR_INPUT, "%s:%d: Range: dimension %d never ends with stride %lld and increment %lld",
                 r->file, line, (int)index, (long long)d->stride, (long long)d->increment);
        value += stride;
        stride += d->increment;
    }
    return 0;
}

/* [v], [first, last] with the first as stride, [first, stride, last] or [first, stride, increment, last]. */
static Err read_sized(const Reader *r, const Node *n, int32_t index, SizeDim *d)
{
    int64_t v[4];
    TRY(read_ints(r, n, "Range", 1, 4, v));
    for (size_t i = 0; i < n->n; i++)
        if (v[i] > SIZE_VALUE_MAX || v[i] < -SIZE_VALUE_MAX)
            FAIL(ERR_INPUT, "%s:%d: Range: %lld in dimension %d is over %lld", r->file, n->line,
                 (long long)v[i], (int)index, (long long)SIZE_VALUE_MAX);
    switch (n->n) {
    case 1:
        *d = (SizeDim){.start = v[0], .stride = 1, .end = v[0]};
        break;
    case 2:
        *d = (SizeDim){.start = v[0], .stride = v[0], .end = v[1]};
        break;
    case 3:
        *d = (SizeDim){.start = v[0], .stride = v[1], .end = v[2]};
        break;
    default:
        *d = (SizeDim){.start = v[0], .stride = v[1], .increment = v[2], .end = v[3]};
    }
    if (index < r->pt->TotalIndices && d->start < 1)
        FAIL(ERR_INPUT, "%s:%d: Range: size %lld of index %d ('%c') is not in 1..%lld", r->file, n->line,
             (long long)d->start, (int)index, (char)('i' + index), (long long)SIZE_VALUE_MAX);
    return count_values(r, n->line, index, d);
}

static Err read_dim(const Reader *r, const Node *n, int32_t index, SizeDim *d)
{
    if (n->kind != NODE_INT) return read_sized(r, n, index, d);
    if (n->integer < 0 || n->integer >= index)
        FAIL(ERR_INPUT,
             "%s:%d: Range: dimension %d copies dimension %lld, which is not before it (one value: [%lld])",
             r->file, n->line, (int)index, (long long)n->integer, (long long)n->integer);
    *d = (SizeDim){.mapped = true, .source = (int32_t)n->integer, .count = 1};
    return 0;
}

static int64_t last_value(const SizeDim *d)
{
    if (!d->increment) return d->start + (d->count - 1) * d->stride;
    int64_t value = d->start, stride = d->stride;
    for (int64_t i = 1; i < d->count; i++, stride += d->increment) value += stride;
    return value;
}

/* The point with all dimensions at their ends must be a valid problem size. */
static Err check_corner(const Reader *r, const SizeRange *range)
{
    int64_t v[SIZE_MAX_DIMS];
    ProblemSize corner = {.n = r->pt->TotalIndices};
    for (int32_t i = 0; i < range->n; i++)
        v[i] = range->dim[i].mapped ? v[range->dim[i].source] : last_value(&range->dim[i]);
    memcpy(corner.v, v, (size_t)r->pt->TotalIndices * sizeof *v);
    size_resolve_ld(r->pt, &corner, v + r->pt->TotalIndices);
    const Err err = problem_size_check(r->pt, &corner);
    return err ? err_context(err, "%s:%d: Range: ", r->file, range->line) : 0;
}

static Err count_points(const Reader *r, SizeRange *range)
{
    range->count = 1;
    for (int32_t i = 0; i < range->n; i++)
        if (__builtin_mul_overflow(range->count, range->dim[i].count, &range->count))
            FAIL(ERR_INPUT, "%s:%d: Range has more than 2^63 problem sizes, at most %lld are allowed",
                 r->file, range->line, (long long)SIZES_COUNT_MAX);
    if (range->count > SIZES_COUNT_MAX)
        FAIL(ERR_INPUT, "%s:%d: Range has %lld problem sizes, at most %lld are allowed", r->file, range->line,
             (long long)range->count, (long long)SIZES_COUNT_MAX);
    return 0;
}

static Err push_range(Reader *r, const SizeRange *range)
{
    TRY(check_corner(r, range));
    TRY_ALLOC(r->out->range = arena_grow(r->arena, r->out->range, r->out->n_ranges, sizeof *range));
    r->out->range[r->out->n_ranges++] = *range;
    return 0;
}

/* Dimensions that are not given copy dimension 0; leading dimensions that are not given are minimal. */
static void pad_range(const ProblemType *pt, SizeRange *range, size_t given)
{
    range->n = pt->TotalIndices + pt->NumIndicesLD;
    for (int32_t i = (int32_t)given; i < range->n; i++)
        range->dim[i] =
            i < pt->TotalIndices ? (SizeDim){.mapped = true, .count = 1} : (SizeDim){.stride = 1, .count = 1};
}

static Err read_range(Reader *r, const Node *n)
{
    SizeRange range = {.line = n->line};
    TRY(node_seq(n, r->file, "Range", 1, (size_t)(r->pt->TotalIndices + r->pt->NumIndicesLD)));
    for (size_t i = 0; i < n->n; i++) TRY(read_dim(r, &n->item[i], (int32_t)i, &range.dim[i]));
    pad_range(r->pt, &range, n->n);
    TRY(count_points(r, &range));
    return push_range(r, &range);
}

/* Tensile's default: 64, 128, 256, 448 in all dimensions, one batch. */
static Err default_range(Reader *r)
{
    SizeRange range = {0};
    range.dim[0] = (SizeDim){.start = 64, .stride = 64, .increment = 64, .end = 512, .count = 4};
    pad_range(r->pt, &range, 1);
    if (r->pt->Batched && r->pt->TotalIndices > 2)
        range.dim[2] = (SizeDim){.start = 1, .stride = 1, .end = 1, .count = 1};
    TRY(count_points(r, &range));
    return push_range(r, &range);
}

/* ---- exact sizes ---- */

static Err push_exact(Reader *r, const ProblemSize *s)
{
    TRY_ALLOC(r->out->exact = arena_grow(r->arena, r->out->exact, r->out->n_exacts, sizeof *s));
    r->out->exact[r->out->n_exacts++] = *s;
    return 0;
}

/* Replaces leading dimensions below the minimum by -1, which means the minimum. v: all numbers of an Exact.
 */
static void raise_leading(Reader *r, int line, int64_t *v)
{
    ProblemSize s = {.n = r->pt->TotalIndices};
    int64_t *const ld = v + s.n;
    memcpy(s.v, v, (size_t)s.n * sizeof *v);
    for (int t = 0; t < SIZE_LD_MAX; t++) {
        const int64_t min = size_min_ld(r->pt, &s, t);
        if (ld[t] >= min || ld[t] == -1 || ld[t] == 0) continue;
        if (!r->n_raised++) {
            r->raised_from = ld[t], r->raised_to = min;
            r->raised_line = line, r->raised_tensor = t;
        }
        ld[t] = -1;
    }
}

static void note_raised(const Reader *r)
{
    char more[64] = "";
    if (!r->n_raised) return;
    if (r->n_raised > 1) snprintf(more, sizeof more, ", and of %lld more", (long long)r->n_raised - 1);
    notices_add(
        r->notices,
        "%s:%d: Exact: leading dimension LD%c %lld is below the least, %lld, which takes its place, as "
        "in Tensile%s",
        r->file, r->raised_line, "DCAB"[r->raised_tensor], (long long)r -> raised_from,
        (long long)r -> raised_to, more);
}

static Err read_exact_list(Reader *r, const Node *n)
{
    int64_t v[SIZE_MAX_DIMS];
    ProblemSize s;
    TRY(read_ints(r, n, "Exact", 1, SIZE_MAX_DIMS, v));
    if (r->pt->NumIndicesLD && n->n == (size_t)(r->pt->TotalIndices + r->pt->NumIndicesLD))
        raise_leading(r, n->line, v);
    const Err err = problem_size_from_ints(r->pt, v, n->n, &s);
    if (err) return err_context(err, "%s:%d: Exact: ", r->file, n->line);
    return push_exact(r, &s);
}

/* A stride list in the order of the tensor's indices; entry 1 of a GEMM's tensor is its leading dimension.
 * Entries beyond the last index are ignored. */
static Err read_strides(const Reader *r, const Node *n, const char *key, int tensor, SizeExtra *e)
{
    const IndexList l = size_tensor_indices(r->pt, tensor);
    const size_t min = problem_is_gemm(r->pt) ? 2 : 1;
    int64_t v[INDEX_MAX];
    TRY(read_ints(r, n, key, min, INDEX_MAX, v));
    const size_t used = n->n < (size_t)l.n ? n->n : (size_t)l.n;
    if (used < n->n)
        notices_add(r->notices, "%s:%d: %s: %c has %d indices: strides after these have no effect", r->file,
                    n->line, key, "DCAB"[tensor], (int)l.n);
    memcpy(e->stride[tensor], v, used * sizeof *v);
    for (size_t i = 0; i < used; i++)
        if (e->stride[tensor][i] < -1 || e->stride[tensor][i] > TENSOR_ELEMENTS_MAX)
            FAIL(ERR_INPUT, "%s:%d: %s: stride %lld is not in -1..2^46", r->file, n->line, key,
                 (long long)e->stride[tensor][i]);
    e->n_stride[tensor] = (int32_t)used;
    return 0;
}

/* Pads must agree with those that the problem type fixes. */
static Err read_pads(const Reader *r, const Node *n, const char *key, const TupleList *zero_pad, int column,
                     int64_t *pad)
{
    int64_t v[TUPLE_MAX];
    TRY(read_ints(r, n, key, (size_t)zero_pad->n, (size_t)zero_pad->n, v));
    for (size_t i = 0; i < n->n; i++) {
        const int32_t fixed = zero_pad->v[i][column];
        if (fixed != -1 && fixed != v[i])
            FAIL(ERR_INPUT, "%s:%d: %s %lld is not the problem type's %d", r->file, n->line, key,
                 (long long)v[i], (int)fixed);
        if (v[i] < 0 || v[i] > SIZE_VALUE_MAX)
            FAIL(ERR_INPUT, "%s:%d: %s %lld is not in 0..%lld", r->file, n->line, key, (long long)v[i],
                 (long long)SIZE_VALUE_MAX);
        pad[i] = v[i];
    }
    return 0;
}

static Err read_exact_key(const Reader *r, Str key, const Node *n, const Node **sizes, SizeExtra *e)
{
    static const char *const strides[] = {"stridesD", "stridesC", "stridesA", "stridesB"};
    for (int t = 0; t < 4; t++)
        if (str_eq_c(key, strides[t])) return read_strides(r, n, strides[t], t, e);
    if (str_eq_c(key, "padStartA")) return read_pads(r, n, "padStartA", &r->pt->ZeroPadA, 2, e->pad_start[0]);
    if (str_eq_c(key, "padEndA")) return read_pads(r, n, "padEndA", &r->pt->ZeroPadA, 3, e->pad_end[0]);
    if (str_eq_c(key, "padStartB")) return read_pads(r, n, "padStartB", &r->pt->ZeroPadB, 2, e->pad_start[1]);
    if (str_eq_c(key, "padEndB")) return read_pads(r, n, "padEndB", &r->pt->ZeroPadB, 3, e->pad_end[1]);
    if (str_eq_c(key, "count")) return node_int(n, r->file, "count", -1, INT32_MAX, &e->count);
    if (str_eq_c(key, "sizes")) {
        *sizes = n;
        return 0;
    }
    FAIL(ERR_INPUT,
         "%s:%d: unknown key '%.*s' in Exact (legal: sizes, stridesA, stridesB, stridesC, stridesD, "
         "padStartA, "
         "padEndA, padStartB, padEndB, count)",
         r->file, n->line, (int)(key.n < 64 ? key.n : 64), key.s);
}

/* Leading dimensions that are given as strides replace the packed ones. */
static Err apply_strides(const Reader *r, int line, SizeExtra *e, ProblemSize *s)
{
    if (!problem_is_gemm(r->pt)) return 0;
    for (int t = 0; t < 4; t++) {
        if (e->n_stride[t] < 2 || e->stride[t][1] == -1) continue;
        const int64_t min = size_min_ld(r->pt, s, t), ld = e->stride[t][1];
        if (ld < min || ld > SIZE_VALUE_MAX)
            FAIL(ERR_INPUT, "%s:%d: Exact: leading dimension strides%c[1] %lld is not in %lld..%lld", r->file,
                 line, "DCAB"[t], (long long)ld, (long long)min, (long long)SIZE_VALUE_MAX);
        s->v[r->pt->TotalIndices + t] = ld;
    }
    return 0;
}

static Err check_pads_given(const Reader *r, int line, const SizeExtra *e)
{
    for (int t = 0; t < 2; t++)
        for (int32_t i = 0; i < e->n_pad[t]; i++)
            if (e->pad_start[t][i] < 0 || e->pad_end[t][i] < 0)
                FAIL(ERR_INPUT,
                     "%s:%d: Exact: pad %d of tensor %c is given neither here nor by the problem type",
                     r->file, line, (int)i, "AB"[t]);
    return 0;
}

static Err read_exact_map(Reader *r, const Node *n)
{
    const TupleList *zero_pad[2] = {&r->pt->ZeroPadA, &r->pt->ZeroPadB};
    SizeExtra *e = ARENA_NEW(r->arena, SizeExtra);
    TRY_ALLOC(e);
    for (int t = 0; t < 2; t++) {
        e->n_pad[t] = zero_pad[t]->n;
        for (int32_t i = 0; i < zero_pad[t]->n; i++) {
            e->pad_start[t][i] = zero_pad[t]->v[i][2];
            e->pad_end[t][i] = zero_pad[t]->v[i][3];
        }
    }
    const Node *sizes = NULL;
    for (size_t i = 0; i < n->n; i++) {
        Str key;
        TRY(node_str(&n->item[2 * i], r->file, "Exact", &key));
        TRY(read_exact_key(r, key, &n->item[2 * i + 1], &sizes, e));
    }
    if (!sizes) FAIL(ERR_INPUT, "%s:%d: Exact has no 'sizes'", r->file, n->line);
    int64_t v[SIZE_MAX_DIMS];
    ProblemSize s;
    TRY(read_ints(r, sizes, "sizes", 1, SIZE_MAX_DIMS, v));
    Err err = problem_size_from_ints(r->pt, v, sizes->n, &s);
    if (err) return err_context(err, "%s:%d: Exact: ", r->file, n->line);
    TRY(apply_strides(r, n->line, e, &s));
    TRY(check_pads_given(r, n->line, e));
    s.extra = e;
    size_key_finish(r->pt, &s);
    err = problem_size_check(r->pt, &s);
    if (err) return err_context(err, "%s:%d: Exact: ", r->file, n->line);
    return push_exact(r, &s);
}

static Err read_min_stride(Reader *r, const Node *n)
{
    int64_t v[INDEX_MAX];
    const size_t total = (size_t)r->pt->TotalIndices;
    if (r->out->has_min_stride) FAIL(ERR_INPUT, "%s:%d: MinStride is there twice", r->file, n->line);
    TRY(read_ints(r, n, "MinStride", total, total, v));
    for (size_t i = 0; i < total; i++) {
        if (v[i] < 0 || v[i] > SIZE_VALUE_MAX)
            FAIL(ERR_INPUT, "%s:%d: MinStride: %lld is not in 0..%lld", r->file, n->line, (long long)v[i],
                 (long long)SIZE_VALUE_MAX);
        r->out->min_stride[i] = v[i];
    }
    r->out->has_min_stride = true;
    return 0;
}

/* ---- Conv: {n, c, k, [d,] h, w, ...} ---- */

/* Part i of a convolution is a size of its own, unless it only writes zeros. */
static Err push_part(Reader *r, const ConvSize *s, Str text, int64_t i, int64_t n)
{
    ConvPart *part = ARENA_NEW(r->arena, ConvPart);
    TRY_ALLOC(part);
    TRY(conv_part(r->pt, s, i, part));
    part->extra.conv =
        n == 1 ? text : arena_printf(r->arena, "%.*s,part=%" PRId64 "/%" PRId64, STR_ARG(text), i + 1, n);
    TRY_ALLOC(part->extra.conv.s);
    part->size.extra = &part->extra;
    size_key_finish(r->pt, &part->size);
    return part->zero ? ERR_OK : push_exact(r, &part->size);
}

/* "n=64,c=3,..", as the config has it. */
static Err conv_text(Reader *r, const Node *n, Str *out)
{
    Buf text;
    buf_init(&text);
    for (size_t i = 0; i < n->n; i++) {
        const Str key = n->item[2 * i].text, value = n->item[2 * i + 1].text;
        if (!str_eq_c(key, "count"))
            buf_printf(&text, "%s%.*s=%.*s", i ? "," : "", STR_ARG(key), STR_ARG(value));
    }
    *out = arena_dup(r->arena, buf_view(&text));
    buf_fini(&text);
    TRY_ALLOC(out->s);
    return ERR_OK;
}

static Err read_conv(Reader *r, const Node *key_node, const Node *n)
{
    if (r->pt->OperationType < OP_CONV_FORWARD || !r->pt->ConvolutionConfig.n)
        FAIL(ERR_INPUT, "%s:%d: Conv needs an OperationType Convolution..., this is %s", r->file,
             key_node->line, operation_name((OperationKind)r->pt->OperationType));
    TRY(node_map(n, r->file, "Conv"));
    ConvSize s;
    conv_size_init(&s);
    for (size_t i = 0; i < n->n; i++) {
        Str key;
        TRY(node_str(&n->item[2 * i], r->file, "Conv", &key));
        int64_t *field = conv_size_field(&s, key);
        if (!field)
            FAIL(ERR_INPUT,
                 "%s:%d: unknown key '%.*s' in Conv (legal: n c k, d h w, z y x, # u v, ^ l j, $ p q, $_ p_ "
                 "q_, g, count)",
                 r->file, n->item[2 * i].line, (int)(key.n < 64 ? key.n : 64), key.s);
        TRY(node_int(&n->item[2 * i + 1], r->file, "Conv", -1, SIZE_VALUE_MAX, field));
    }
    if (s.n < 0 || s.c < 0 || s.k < 0)
        FAIL(ERR_INPUT, "%s:%d: Conv has no '%s'", r->file, n->line, s.n < 0 ? "n" : s.c < 0 ? "c" : "k");
    if (s.count < 0) s.count = 0;
    int64_t parts;
    Str text;
    TRY(conv_text(r, n, &text));
    Err err = conv_n_parts(r->pt, &s, &parts);
    for (int64_t i = 0; i < parts && !err; i++) err = push_part(r, &s, text, i, parts);
    return err ? err_context(err, "%s:%d: Conv: ", r->file, n->line) : ERR_OK;
}

static Err read_entry(Reader *r, const Node *key_node, const Node *n)
{
    Str key;
    TRY(node_str(key_node, r->file, "ProblemSizes", &key));
    if (str_eq_c(key, "Range")) return read_range(r, n);
    if (str_eq_c(key, "Exact")) return n->kind == NODE_MAP ? read_exact_map(r, n) : read_exact_list(r, n);
    if (str_eq_c(key, "MinStride")) return read_min_stride(r, n);
    if (str_eq_c(key, "Conv")) return read_conv(r, key_node, n);
    FAIL(ERR_INPUT, "%s:%d: unknown kind of size '%.*s' (legal: Exact, Range, MinStride, Conv)", r->file,
         key_node->line, (int)(key.n < 64 ? key.n : 64), key.s);
}

static Err count_all(Reader *r, int line)
{
    ProblemSizes *s = r->out;
    s->count = (int64_t)s->n_exacts;
    for (size_t i = 0; i < s->n_ranges; i++)
        if (__builtin_add_overflow(s->count, s->range[i].count, &s->count) || s->count > SIZES_COUNT_MAX)
            FAIL(ERR_INPUT, "%s:%d: ProblemSizes: more than %lld problem sizes", r->file, line,
                 (long long)SIZES_COUNT_MAX);
    return 0;
}

Err problem_sizes_from_node(Arena *a, const char *file, const Node *node, const ProblemType *pt,
                            Notices *notices, ProblemSizes *out)
{
    Reader r = {.arena = a, .file = file, .pt = pt, .notices = notices, .out = out};
    *out = (ProblemSizes){.pt = *pt};
    if (!node || node->kind == NODE_NULL || (node->kind == NODE_SEQ && !node->n)) {
        TRY(default_range(&r));
        return count_all(&r, node ? node->line : 0);
    }
    TRY(node_seq(node, file, "ProblemSizes", 1, (size_t)SIZES_COUNT_MAX));
    for (size_t i = 0; i < node->n; i++) {
        const Node *entry = &node->item[i];
        TRY(node_map(entry, file, "ProblemSizes"));
        for (size_t j = 0; j < entry->n; j++)
            TRY(read_entry(&r, &entry->item[2 * j], &entry->item[2 * j + 1]));
    }
    note_raised(&r);
    return count_all(&r, node->line);
}
