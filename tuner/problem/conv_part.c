/* The contractions of one convolution. See conv.h.
 *
 * Backward data: in[h] = sum over y of out[(h + pad - d * y) / s] * filter[y], where s divides. The positions
 * h, h + s, h + 2 s, .. are one part: with q = (h + pad) / s rounded down, r the rest and g = gcd(s, d),
 * their filter elements are y0, y0 + s / g, y0 + 2 s / g, .. where d * y0 = r modulo s, and the output's
 * positions q + (r - d * y0) / s - (d / g) * j + i for the part's element j and position i. With the last
 * element first (MirrorDimsB) that is a forward convolution with stride 1 and dilation d / g. Elements of D
 * that no filter element reaches are zeros.
 */
#include "problem/conv_internal.h"

#include <string.h>

#include "base/integer.h"
#include "problem/conv_desc.h"

/* How a spatial dimension of A and B is walked through: the slid tensor's position is
 * step * i + tap_step * j + first, for position i of D (of Weights: of the output) and filter element j. */
typedef struct {
    int64_t size, step;          /* positions i */
    int64_t taps, tap_step;      /* elements j */
    int64_t first, limit;        /* position of i = j = 0; positions that the slid tensor has */
    int64_t d_first, d_step;     /* in D */
    int64_t tap_first, tap_skip; /* filter element of j = 0, of Data the last one; elements apart */
} Slide;

typedef struct {
    const Conv *v;
    const ConvSize *s;
    Slide slide[CONV_SPATIAL];
    bool zero; /* no filter element reaches the part */
} Part;

/* ---- numbers that the size leaves to the problem type ---- */

static Err take(const char *what, int d, int64_t fixed, int64_t *given)
{
    if (*given == CONV_ANY) *given = fixed;
    if (fixed != CONV_ANY && *given != fixed)
        FAIL(ERR_INPUT, "%s of %c is %lld, but the problem type's is %lld", what, conv_names_out[d],
             (long long)*given, (long long)fixed);
    if (*given == CONV_ANY)
        FAIL(ERR_INPUT, "%s of %c is given neither here nor by the problem type", what, conv_names_out[d]);
    return 0;
}

/* Fills in the numbers that the size does not give from the problem type. */
static Err complete(const Config *c, ConvSize *s)
{
    for (int d = 0; d < CONV_SPATIAL; d++) {
        if (d >= c->n_spatial) {
            s->in[d] = s->filter[d] = s->stride[d] = s->dilation[d] = 1, s->pad[d] = s->pad_end[d] = 0;
            continue;
        }
        if (s->pad_end[d] == CONV_ANY) s->pad_end[d] = s->pad[d];
        TRY(take("the input size", d, c->in[d], &s->in[d]));
        TRY(take("the filter size", d, c->filter[d], &s->filter[d]));
        TRY(take("the stride", d, c->stride[d], &s->stride[d]));
        TRY(take("the dilation", d, c->dilation[d], &s->dilation[d]));
        TRY(take("the pad", d, c->pad[d], &s->pad[d]));
        TRY(take("the pad at the end", d, c->pad_end[d], &s->pad_end[d]));
    }
    TRY(conv_size_check(s, c->n_spatial));
    if (c->groups != CONV_ANY && s->groups != c->groups)
        FAIL(ERR_INPUT, "%lld groups, but the problem type's GroupCount is %lld%s", (long long)s->groups,
             (long long)c->groups, c->groups == 1 ? ": set GroupCount N" : "");
    return ERR_OK;
}

/* ---- spatial dimensions ---- */

static Slide slide_along(const ConvSize *s, int d)
{
    return (Slide){.size = conv_out(s, d),
                   .step = s->stride[d],
                   .taps = s->filter[d],
                   .tap_step = s->dilation[d],
                   .first = -s->pad[d],
                   .limit = s->in[d],
                   .d_step = 1,
                   .tap_skip = 1};
}

static int64_t phases(const ConvSize *s, int d) { return s->stride[d] < s->in[d] ? s->stride[d] : s->in[d]; }

/* The positions h, h + stride, .. of the input. taps 0: nothing reaches them. */
static Slide slide_back(const ConvSize *s, int d, int64_t h)
{
    const int64_t stride = s->stride[d], dilation = s->dilation[d], rest = (h + s->pad[d]) % stride;
    const int64_t skip = stride / int_gcd(stride, dilation);
    int64_t y = 0;
    while (y < skip && y < s->filter[d] && (dilation * y - rest) % stride) y++;
    const bool any = y < skip && y < s->filter[d];
    Slide out = {.size = int_ceil_div(s->in[d] - h, stride),
                 .step = 1,
                 .taps = any ? int_ceil_div(s->filter[d] - y, skip) : 0,
                 .tap_step = dilation * skip / stride,
                 .limit = conv_out(s, d),
                 .d_first = h,
                 .d_step = stride,
                 .tap_first = any ? y : 0,
                 .tap_skip = skip};
    if (any)
        out.first = (h + s->pad[d]) / stride + (rest - dilation * y) / stride - out.tap_step * (out.taps - 1);
    return out;
}

static void part_init(Part *p, const Conv *v, const ConvSize *s, int64_t number)
{
    *p = (Part){.v = v, .s = s};
    for (int d = 0; d < CONV_SPATIAL; d++) {
        if (v->op != OP_CONV_BACKWARD_DATA) {
            p->slide[d] = slide_along(s, d);
            continue;
        }
        p->slide[d] = slide_back(s, d, number % phases(s, d));
        number /= phases(s, d);
        p->zero |= !p->slide[d].taps;
    }
}

/* ---- sizes and strides ---- */

typedef struct {
    const char *format;
    int64_t channels;  /* sizes of C in the format */
    bool image, in;    /* has positions of the input or the output; the input's */
    char group;        /* letter of the channels of all groups */
    int64_t per_group; /* of them */
} Tensor;

static Tensor tensor_of(const Part *p, ConvTensor t, const char *format)
{
    const ConvSize *s = p->s;
    const int64_t c = s->c / s->groups, k = s->k / s->groups;
    if (t == CONV_FILTER) return (Tensor){format, c, false, false, 'K', k};
    return (Tensor){format, t == CONV_INPUT ? s->c : s->k, true, t == CONV_INPUT,
                    'C',    t == CONV_INPUT ? c : k};
}

static int64_t distance(const Part *p, const Tensor *t, char letter)
{
    return conv_distance(p->s, t->format, letter, t->channels, t->in);
}

/* Elements between two neighbours along spatial dimension d. */
static int64_t spatial(const Part *p, const Tensor *t, int d)
{
    return distance(p, t, t->image ? conv_names_out[d] : conv_names_filter[d]);
}

/* The stride of a dimension in A (slid), B or D. */
static int64_t dim_stride(const Part *p, const Tensor *t, char which, char name)
{
    const char *at;
    if (name == NAME_PACKED) name = 'W';
    if (name == 'G') return conv_times(distance(p, t, t->group), t->per_group);
    if ((at = strchr(conv_names_out, name))) {
        const int d = (int)(at - conv_names_out);
        const Slide *s = &p->slide[d];
        return conv_times(spatial(p, t, d), which == 'A' ? s->step : which == 'D' ? s->d_step : 1);
    }
    if ((at = strchr(conv_names_filter, name))) {
        const int d = (int)(at - conv_names_filter);
        const Slide *s = &p->slide[d];
        return conv_times(spatial(p, t, d), which == 'A' ? s->tap_step : which == 'B' ? s->tap_skip : 1);
    }
    if (t->image && name == 'K') name = 'C'; /* the output's channels are called C in its format */
    return distance(p, t, name);
}

static int64_t dim_size(const Part *p, char name)
{
    const ConvSize *s = p->s;
    const char *at;
    if (name == NAME_PACKED) {
        int64_t all_of = 1;
        for (int d = 0; d < p->v->cfg.n_spatial; d++) all_of = conv_times(all_of, p->slide[d].size);
        return all_of;
    }
    if (name == 'C') return s->c / s->groups;
    if (name == 'K') return s->k / s->groups;
    if (name == 'G') return s->groups;
    if (name == 'N') return s->n;
    if ((at = strchr(conv_names_out, name))) return p->slide[at - conv_names_out].size;
    const int64_t taps = p->slide[strchr(conv_names_filter, name) - conv_names_filter].taps;
    return taps ? taps : 1;
}

/* Refuses a convolution whose numbers differ from those that the problem type fixes. */
static Err check_fixed(const Part *p, const Tensor *a, const Tensor *b)
{
    const Conv *v = p->v;
    for (int d = 0; d < v->cfg.n_spatial; d++)
        if (!p->zero && v->filter[d].index >= 0 && v->filter[d].size > 0 &&
            v->filter[d].size != p->slide[d].taps)
            FAIL(ERR_INPUT, "with stride %lld along %c a part has %lld of %lld filter elements: set Filter N",
                 (long long)p->s->stride[d], conv_names_out[d], (long long)p->slide[d].taps,
                 (long long)p->s->filter[d]);
    for (int i = 0; i < v->n_a + v->n_b; i++) {
        const bool of_a = i < v->n_a;
        const Dim *dim = of_a ? v->a[i] : v->b[i - v->n_a];
        const int64_t fixed = of_a ? dim->stride_a : dim->stride_b,
                      own = dim_stride(p, of_a ? a : b, of_a ? 'A' : 'B', dim->name);
        if (fixed > 0 && fixed != own && dim_size(p, dim->name) > 1)
            FAIL(ERR_INPUT,
                 "%c has the stride %lld along %c, but the problem type's is %lld: set Stride and Dilation N",
                 of_a ? 'A' : 'B', (long long)own, dim->name == NAME_PACKED ? 'W' : dim->name,
                 (long long)fixed);
    }
    return ERR_OK;
}

static Err check_packed(const Conv *v, const ConvSize *s)
{
    for (int d = 0; d + 1 < v->cfg.n_spatial && v->cfg.packs_spatial; d++)
        if (conv_out(s, d) != s->in[d])
            FAIL(ERR_INPUT,
                 "packed spatial dimensions need lines of equal length, along %c the input has %lld and the "
                 "output %lld "
                 "positions: set PackedSpatialDims 0",
                 conv_names_out[d], (long long)s->in[d], (long long)conv_out(s, d));
    return ERR_OK;
}

/* Gives the strides of D and C where their positions are not adjacent. */
static Err set_result(const Part *p, const ProblemType *pt, const Tensor *t, SizeExtra *e)
{
    const Conv *v = p->v;
    const Dim *const all[] = {&v->n,      &v->c,      &v->k,         &v->g,         &v->out[0],
                              &v->out[1], &v->out[2], &v->filter[0], &v->filter[1], &v->filter[2]};
    bool apart = false;
    for (int d = 0; d < v->cfg.n_spatial; d++) apart |= p->slide[d].d_step != 1;
    if (!apart) return ERR_OK;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (all[i]->name == 0 || all[i]->index < 0 || all[i]->index >= v->n_indices_d) continue;
        e->stride[LD_D][all[i]->index] = dim_stride(p, t, 'D', all[i]->name);
    }
    if (e->stride[LD_D][0] != 1 && !pt->UseInitialStridesCD)
        FAIL(ERR_INPUT, "neighbouring positions of a part are %lld elements apart in D: set Stride N",
             (long long)e->stride[LD_D][0]);
    e->n_stride[LD_D] = e->n_stride[LD_C] = v->n_indices_d;
    memcpy(e->stride[LD_C], e->stride[LD_D], sizeof e->stride[LD_C]);
    return ERR_OK;
}

static void set_operands(const Part *p, const Tensor *a, const Tensor *b, ProblemSize *size, SizeExtra *e)
{
    const Conv *v = p->v;
    for (int i = 0; i < v->n_a; i++) {
        e->stride[LD_A][v->n_a - 1 - i] = dim_stride(p, a, 'A', v->a[i]->name);
        size->v[v->a[i]->index] = dim_size(p, v->a[i]->name);
    }
    for (int i = 0; i < v->n_b; i++) {
        e->stride[LD_B][v->n_b - 1 - i] = v->b[i]->stride_b == 0 ? 0 : dim_stride(p, b, 'B', v->b[i]->name);
        size->v[v->b[i]->index] = dim_size(p, v->b[i]->name);
    }
    e->n_stride[LD_A] = v->n_a, e->n_stride[LD_B] = v->n_b;
}

/* ---- zero padding ---- */

/* The point from which Tensile counts the padding at the end of the slid tensor: size * stride of the free
 * index plus (size - 1) * stride of the summation index. Where the free index has a stride, this is beyond
 * the last position that is read. */
static int64_t pad_reach(const ProblemType *pt, const ProblemSize *p, const SizeExtra *e, const int32_t *pad)
{
    const IndexList *a = &pt->IndexAssignmentsA;
    const int64_t free = e->stride[LD_A][index_list_find(a, pad[0])],
                  sum = e->stride[LD_A][index_list_find(a, pad[1])];
    return conv_times(p->v[pad[0]], free) + conv_times(p->v[pad[1]] - 1, sum);
}

/* Whether dimension d reads positions before or after the slid tensor. */
static bool overhangs(const Slide *s)
{
    const int64_t last = s->first + (s->size - 1) * s->step + (s->taps - 1) * s->tap_step;
    return s->taps && (s->first < 0 || last >= s->limit);
}

/* Pads of dimension d, elements of A in front of the first that is read, and of D and B. */
static Err set_spatial(const Part *p, const ProblemType *pt, const Tensor *t, int d, int *pad, ConvPart *out)
{
    const Slide *s = &p->slide[d];
    const Config *c = &p->v->cfg;
    const bool back = p->v->op == OP_CONV_BACKWARD_DATA,
               has_pad = *pad < pt->ZeroPadA.n && (c->pad[d] || c->pad_end[d]);
    const int64_t step = spatial(p, &t[0], d), before = s->first > 0 ? s->first : 0;
    out->offset[LD_A] += conv_times(before, step);
    if (back) {
        out->offset[LD_B] += conv_times(s->tap_first, spatial(p, &t[1], d));
        out->offset[LD_D] += conv_times(s->d_first, spatial(p, &t[2], d));
    }
    if (!has_pad) {
        if (overhangs(s))
            FAIL(ERR_INPUT, "along %c zeros are read beyond the tensor's edge: set PadStart N",
                 conv_names_out[d]);
        return ERR_OK;
    }
    SizeExtra *e = &out->extra;
    e->pad_start[0][*pad] = conv_times(before - s->first, step);
    const int64_t end = e->pad_start[0][*pad] + (s->limit - before) * step;
    const int64_t behind = pad_reach(pt, &out->size, e, pt->ZeroPadA.v[*pad]) - end;
    const int64_t reach = behind + end;
    e->pad_end[0][*pad] = behind < 0                    ? 0
                          : end < e->pad_start[0][*pad] ? reach - e->pad_start[0][*pad]
                                                        : behind;
    ++*pad;
    return ERR_OK;
}

/* ---- parts ---- */

static Err open(const ProblemType *pt, const ConvSize *given, Conv *v, ConvSize *s, int64_t *n)
{
    *s = *given;
    *n = 1;
    TRY(conv_init(v, pt));
    TRY(complete(&v->cfg, s));
    TRY(check_packed(v, s));
    for (int d = 0; d < CONV_SPATIAL && v->op == OP_CONV_BACKWARD_DATA; d++)
        *n = conv_times(*n, phases(s, d));
    if (*n > CONV_PRODUCTS_MAX)
        FAIL(ERR_INPUT, "strides of %lld phases in all, at most %lld are supported", (long long)*n,
             (long long)CONV_PRODUCTS_MAX);
    return ERR_OK;
}

Err conv_n_parts(const ProblemType *pt, const ConvSize *given, int64_t *n)
{
    Conv v;
    ConvSize s;
    return open(pt, given, &v, &s, n);
}

Err conv_part(const ProblemType *pt, const ConvSize *given, int64_t i, ConvPart *out)
{
    Conv v;
    ConvSize s;
    Part p;
    int64_t n;
    int pad = 0;
    TRY(open(pt, given, &v, &s, &n));
    if (i < 0 || i >= n)
        FAIL(ERR_INPUT, "part %lld of a convolution that has %lld", (long long)i, (long long)n);
    part_init(&p, &v, &s, i);
    const bool weights = v.op == OP_CONV_BACKWARD_WEIGHTS, data = v.op == OP_CONV_BACKWARD_DATA;
    const Tensor t[] = {tensor_of(&p, data ? CONV_OUTPUT : CONV_INPUT, v.cfg.a),
                        tensor_of(&p, weights ? CONV_OUTPUT : CONV_FILTER, v.cfg.b),
                        tensor_of(&p,
                                  weights ? CONV_FILTER
                                  : data  ? CONV_INPUT
                                          : CONV_OUTPUT,
                                  v.cfg.d)};
    memset(out, 0, sizeof *out);
    out->zero = p.zero;
    out->size.n = pt->TotalIndices;
    out->extra.count = s.count;
    out->extra.n_pad[0] = pt->ZeroPadA.n;
    if (data) TRY(check_fixed(&p, &t[0], &t[1]));
    set_operands(&p, &t[0], &t[1], &out->size, &out->extra);
    TRY(set_result(&p, pt, &t[2], &out->extra));
    for (int d = 0; d < v.cfg.n_spatial; d++) TRY(set_spatial(&p, pt, t, d, &pad, out));
    out->offset[LD_C] = out->offset[LD_D];
    for (int32_t k = 0; k < out->size.n; k++)
        if (out->size.v[k] < 1 || out->size.v[k] > SIZE_VALUE_MAX)
            FAIL(ERR_INPUT, "a size %lld is not in 1..%lld", (long long)out->size.v[k],
                 (long long)SIZE_VALUE_MAX);
    ProblemSize checked = out->size;
    checked.extra = &out->extra;
    return problem_size_check(pt, &checked);
}

Err conv_problem(const ProblemType *pt, const ConvSize *given, ProblemSize *out, SizeExtra *extra)
{
    int64_t n;
    ConvPart part;
    TRY(conv_n_parts(pt, given, &n));
    if (n != 1)
        FAIL(ERR_INPUT, "backward data with these strides is %lld contractions, one is expected",
             (long long)n);
    TRY(conv_part(pt, given, 0, &part));
    if (part.zero || part.offset[LD_A] || part.offset[LD_B] || part.offset[LD_D])
        FAIL(ERR_INPUT,
             "the contraction of this convolution begins %lld elements after A's first one, expected 0",
             (long long)part.offset[LD_A]);
    *extra = part.extra;
    *out = part.size;
    out->extra = extra;
    return ERR_OK;
}
