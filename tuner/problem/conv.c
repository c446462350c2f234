/* See conv.h. The numbering of indices is Tensile's (SolutionStructs.py, class Convolution), down to what
 * is packed and which strides are constants. Tensile also packs where the filter is wider than one
 * element, which gives addresses of another convolution: such sizes are refused. Beyond it: pads where the
 * filter has one element, pads of Weights, CHWN and KZYXC; constant strides of Weights belong to the
 * dimension whose step they are. */
#include "problem/conv_internal.h"

#include <string.h>

/* ---- the settings ---- */

static const char *setting(const ProblemType *pt, ConvKey key)
{
    const ConvConfig *c = &pt->ConvolutionConfig;
    for (int i = 0; i < c->n; i++)
        if (c->key[i] == (int32_t)key) return c->value[i];
    return NULL;
}

static bool is_one_of(const char *text, const char *const *list)
{
    for (; *list; list++)
        if (!strcmp(text, *list)) return true;
    return false;
}

static Err read_format(const ProblemType *pt, ConvKey key, const char *fallback, bool filter, char *out)
{
    static const char *const images[] = {"NCHW",  "NHWC",  "CNHW",  "CHWN", "NCDHW",
                                         "NDHWC", "CNDHW", "CDHWN", NULL};
    static const char *const filters[] = {"KCYX",  "KYXC",  "CKYX",  "CYXK", "KCZYX",
                                          "KZYXC", "CKZYX", "CZYXK", NULL};
    const char *text = setting(pt, key);
    if (!text || !strcmp(text, "0")) text = fallback;
    if (!is_one_of(text, filter ? filters : images))
        FAIL(ERR_INPUT, "%s '%s', expected %s", conv_key_name(key), text,
             filter ? "KCYX, KYXC, CKYX, CYXK, KCZYX, KZYXC, CKZYX or CZYXK"
                    : "NCHW, NHWC, CNHW, CHWN, NCDHW, NDHWC, CNDHW or CDHWN");
    memcpy(out, text, strlen(text) + 1);
    return 0;
}

/* "3x5": H 3, W 5, the last number is W's; N: any. */
static Err read_numbers(const ProblemType *pt, ConvKey key, int n, int64_t otherwise, int64_t least,
                        int64_t *out)
{
    const char *text = setting(pt, key);
    for (int i = 0; i < CONV_SPATIAL; i++) out[i] = i < n || least == 0 ? otherwise : 1;
    if (!text || !*text) return 0;
    Str rest = str_from(text), part;
    int count = 0;
    for (; str_split(&rest, 'x', &part); count++) {
        int64_t v = CONV_ANY;
        bool any = part.n == 1 && (part.s[0] == 'N' || part.s[0] == 'n');
        if (count < n && (any || (str_to_i64(part, &v) && v >= least && v <= SIZE_VALUE_MAX))) {
            out[n - 1 - count] = v;
            continue;
        }
        count = n + 1;
        break;
    }
    if (count != n)
        FAIL(ERR_INPUT, "%s '%s', expected %d numbers from %d on or N, separated by x", conv_key_name(key),
             text, n, (int)least);
    return 0;
}

static Err read_number(const ProblemType *pt, ConvKey key, int64_t least, int64_t most, int64_t *out)
{
    const char *text = setting(pt, key);
    int64_t v;
    if (!text || !*text) return 0;
    if (!str_to_i64(str_from(text), &v) || v < least || v > most)
        FAIL(ERR_INPUT, "%s '%s', expected %lld to %lld", conv_key_name(key), text, (long long)least,
             (long long)most);
    *out = v;
    return 0;
}

static bool all(const int64_t *v, int from, int n, int64_t value)
{
    for (int i = from; i < n; i++)
        if (v[i] != value) return false;
    return true;
}

static Err read_flag(const ProblemType *pt, ConvKey key, bool *out)
{
    int64_t v = *out;
    TRY(read_number(pt, key, 0, 1, &v));
    *out = v;
    return 0;
}

static Err read_formats(const ProblemType *pt, Config *c)
{
    const bool weights = pt->OperationType == OP_CONV_BACKWARD_WEIGHTS;
    TRY(read_format(pt, CONV_TensorAFormat, "NCHW", false, c->a));
    c->n_spatial = (int)strlen(c->a) - 2;
    const char *filter = c->n_spatial == 2 ? "KCYX" : "KCZYX", *image = c->n_spatial == 2 ? "NCHW" : "NCDHW";
    TRY(read_format(pt, CONV_TensorBFormat, weights ? image : filter, !weights, c->b));
    TRY(read_format(pt, CONV_TensorDFormat, weights ? filter : c->a, weights, c->d));
    if (strlen(c->b) != strlen(c->a) || strlen(c->d) != strlen(c->a))
        FAIL(ERR_INPUT,
             "TensorAFormat %s, TensorBFormat %s, TensorDFormat %s, expected equally many dimensions", c->a,
             c->b, c->d);
    return 0;
}

static Err read_config(const ProblemType *pt, Config *c)
{
    memset(c, 0, sizeof *c);
    TRY(read_formats(pt, c));
    const int n = c->n_spatial;
    const char *in = setting(pt, CONV_Spatial);
    c->has_in = in && *in;
    TRY(read_numbers(pt, CONV_Spatial, n, CONV_ANY, 1, c->in));
    TRY(read_numbers(pt, CONV_Filter, n, 1, 1, c->filter));
    TRY(read_numbers(pt, CONV_Stride, n, 1, 1, c->stride));
    TRY(read_numbers(pt, CONV_Dilation, n, 1, 1, c->dilation));
    TRY(read_numbers(pt, CONV_PadStart, n, 0, 0, c->pad));
    TRY(read_numbers(pt, CONV_PadEnd, n, 0, 0, c->pad_end));
    c->packs_spatial = c->packs_filter = c->channel_last = true;
    TRY(read_flag(pt, CONV_PackedSpatialDims, &c->packs_spatial));
    TRY(read_flag(pt, CONV_PackedFilterDims, &c->packs_filter));
    TRY(read_flag(pt, CONV_UnrollOnChannel, &c->channel_last));
    const char *groups = setting(pt, CONV_GroupCount);
    c->groups = 1;
    if (groups && (!strcmp(groups, "N") || !strcmp(groups, "n")))
        c->groups = CONV_ANY;
    else
        TRY(read_number(pt, CONV_GroupCount, 1, SIZE_VALUE_MAX, &c->groups));
    if (!all(c->dilation, 1, n, 1) && !all(c->filter, 0, n, 1)) c->packs_filter = false;
    if (!all(c->stride, 1, n, 1) || !all(c->pad, 0, n, 0) || !all(c->pad_end, 0, n, 0))
        c->packs_spatial = false;
    return 0;
}

/* ---- dimensions and their indices ---- */

static void dim_init(Dim *d, char name, int64_t size) { *d = (Dim){name, -1, size, -1, -1}; }

static void init_dims(Conv *v)
{
    const Config *c = &v->cfg;
    const bool weights = v->op == OP_CONV_BACKWARD_WEIGHTS;
    dim_init(&v->n, 'N', -1), dim_init(&v->c, 'C', -1), dim_init(&v->k, 'K', -1), dim_init(&v->g, 'G', -1);
    v->has_groups = c->groups != 1;
    Dim **outs = weights ? v->filters : v->outs, **filters = weights ? v->outs : v->filters;
    int *n_outs = weights ? &v->n_filters : &v->n_outs, *n_filters = weights ? &v->n_outs : &v->n_filters;
    *n_outs = *n_filters = 0;
    for (int i = c->n_spatial - 1; i >= 0; i--) { /* slowest first */
        bool padded = c->pad[i] || c->pad_end[i];
        dim_init(&v->out[i], conv_names_out[i], -1);
        dim_init(&v->filter[i], conv_names_filter[i], c->filter[i]);
        if (!c->packs_filter || c->filter[i] != 1 || padded) filters[(*n_filters)++] = &v->filter[i];
        if (!c->packs_spatial) outs[(*n_outs)++] = &v->out[i];
    }
    if (c->packs_spatial) {
        dim_init(&v->out[0], NAME_PACKED, -1);
        outs[(*n_outs)++] = &v->out[0];
    }
}

/* Indices of D: its format from the fastest dimension on; then those that are summed over. outs and filters
 * stand for the dimensions that D and the filter have in a forward convolution. */
static void number_indices(Conv *v, const char *format, Dim *batch, Dim *sum, Dim *channel)
{
    int32_t next = 0;
    bool placed = false;
    for (size_t i = strlen(format); i-- > 0;) {
        if (format[i] == 'N') {
            batch->index = next++;
        } else if (format[i] == 'C') {
            channel->index = next++;
            if (v->has_groups) v->g.index = next++;
        } else if (!placed) {
            placed = true;
            for (int s = v->n_outs; s-- > 0;) v->outs[s]->index = next++;
        }
    }
    v->n_indices_d = next;
    if (!v->cfg.channel_last) sum->index = next++;
    for (int f = 0; f < v->n_filters; f++) v->filters[f]->index = next++;
    if (v->cfg.channel_last) sum->index = next++;
}

static void push(Dim **list, int *n, Dim *d) { list[(*n)++] = d; }

/* The dimensions of A (the image) or B (the filter). Without groups B has the batch in front, with stride 0;
 * with groups, the group is the batch, and what else is batch is a free dimension of A. grouped: the
 * letter of the channels that are cut into groups. */
static void list_dims(Conv *v, const char *format, bool image, char grouped, Dim *batch, Dim *sum,
                      Dim *channel)
{
    Dim **list = image ? v->a : v->b;
    int *n = image ? &v->n_a : &v->n_b;
    bool placed = false;
    *n = 0;
    if (!image && !v->has_groups) push(list, n, batch);
    for (; *format; format++) {
        if (*format == grouped && v->has_groups) push(list, n, &v->g);
        if (*format == 'N') {
            push(list, n, batch);
        } else if (*format == 'C') {
            push(list, n, sum);
        } else if (*format == 'K') {
            push(list, n, channel);
        } else if (!placed) {
            placed = true;
            for (int s = 0; s < v->n_outs && image; s++) push(list, n, v->outs[s]);
            for (int f = 0; f < v->n_filters; f++) push(list, n, v->filters[f]);
        }
    }
}

/* Exchanges letters of a format: from[i] becomes to[i]. */
static void rename_dims(const char *format, const char *from, const char *to, char out[CONV_FORMAT_MAX])
{
    size_t i = 0;
    for (; format[i]; i++) {
        const char *at = strchr(from, format[i]);
        out[i] = at ? to[at - from] : format[i];
    }
    out[i] = 0;
}

static bool is_filter(const Conv *v, const Dim *d)
{
    for (int i = 0; i < v->n_filters; i++)
        if (v->filters[i] == d) return true;
    return false;
}

/* Strides that are known when the kernel is written: of the contiguous dimension, and of the two that share
 * the contiguous one. */
static void fix_strides(Conv *v, Dim *batch, Dim *sum, Dim *channel, int64_t out_step, int64_t filter_step,
                        int64_t element_step)
{
    const char *single = "XWP";
    Dim *last_filter = v->n_filters ? v->filters[v->n_filters - 1] : NULL, *last = NULL;
    for (int i = 0; i < v->n_a; i++)
        if (!is_filter(v, v->a[i])) last = v->a[i];
    if (v->n_outs && last == v->outs[v->n_outs - 1]) {
        last->stride_a = out_step;
    } else if (last == sum || last == batch) {
        last->stride_a = 1;
    }
    if (last_filter && v->a[v->n_a - 1] == last_filter && strchr(single, last_filter->name))
        last_filter->stride_a = filter_step;
    if (!v->has_groups) batch->stride_b = 0;
    Dim *b = v->b[v->n_b - 1];
    if (b == sum || b == channel)
        b->stride_b = 1;
    else if (b == last_filter && strchr(single, b->name))
        b->stride_b = element_step;
}

Err conv_init(Conv *v, const ProblemType *pt)
{
    memset(v, 0, sizeof *v);
    v->op = (OperationKind)pt->OperationType;
    TRY(read_config(pt, &v->cfg));
    const Config *c = &v->cfg;
    init_dims(v);
    char a[CONV_FORMAT_MAX], b[CONV_FORMAT_MAX], d[CONV_FORMAT_MAX];
    Dim *batch = &v->n, *sum = &v->c, *channel = &v->k;
    int64_t out_step = c->stride[0], filter_step = c->dilation[0], element_step = 1;
    rename_dims(c->a, "", "", a), rename_dims(c->b, "", "", b), rename_dims(c->d, "", "", d);
    if (v->op == OP_CONV_BACKWARD_DATA) { /* the output's channels are summed over */
        sum = &v->k, channel = &v->c;
        rename_dims(c->b, "CK", "KC", b);
        if (out_step == CONV_ANY) out_step = 1, filter_step = element_step = CONV_ANY; /* as in conv_part.c */
    } else if (
        v->op ==
        OP_CONV_BACKWARD_WEIGHTS) { /* the filter's channels are D's batch, the images are summed over */
        batch = &v->c, sum = &v->n;
        rename_dims(c->a, "NC", "CN", a);
        rename_dims(c->b, "NCWHD", "CKXYZ", b);
        rename_dims(c->d, "CKXYZ", "NCWHD", d);
        out_step = c->dilation[0], filter_step = c->stride[0];
    }
    number_indices(v, d, batch, sum, channel);
    const bool weights = v->op == OP_CONV_BACKWARD_WEIGHTS, data = v->op == OP_CONV_BACKWARD_DATA;
    list_dims(v, a, true, weights ? 'N' : 'C', batch, sum, channel);
    list_dims(v, b, false, data ? 'C' : 'K', batch, sum, channel);
    fix_strides(v, batch, sum, channel, out_step, filter_step, element_step);
    return 0;
}

/* ---- the problem type ---- */

static void assign(IndexList *l, TupleList *fixed, Dim *const *dims, int n, bool b)
{
    *l = (IndexList){.n = 0};
    *fixed = (TupleList){.n = 0};
    for (int i = n; i-- > 0;) l->v[l->n++] = dims[i]->index;
    for (int32_t index = 0; index < INDEX_MAX; index++)
        for (int i = 0; i < n; i++) {
            const int64_t stride = b ? dims[i]->stride_b : dims[i]->stride_a;
            if (dims[i]->index != index || stride < 0) continue;
            fixed->width = 2;
            fixed->v[fixed->n][0] = index, fixed->v[fixed->n++][1] = (int32_t)stride;
        }
}

/* [free index, summation index, -1, -1] of each padded dimension; the pads are those of each size. */
static void assign_pads(const Conv *v, TupleList *pads)
{
    const Config *c = &v->cfg;
    const bool weights = v->op == OP_CONV_BACKWARD_WEIGHTS;
    *pads = (TupleList){.n = 0};
    for (int i = 0; i < c->n_spatial && !c->packs_spatial; i++) {
        if (!c->pad[i] && !c->pad_end[i]) continue;
        const int32_t out = v->out[i].index, filter = v->filter[i].index;
        int32_t *z = pads->v[pads->n++];
        pads->width = 4;
        z[0] = weights ? filter : out, z[1] = weights ? out : filter, z[2] = z[3] = -1;
    }
}

static bool is_product(const Config *c)
{
    const int n = c->n_spatial;
    return n == 2 && all(c->filter, 0, n, 1) && all(c->stride, 0, n, 1) && all(c->dilation, 0, n, 1) &&
           all(c->pad, 0, n, 0) && all(c->pad_end, 0, n, 0);
}

/* Backward data reads the filter backwards: the output's positions go down where the filter element goes up.
 * The input positions of one phase of the stride are not adjacent. */
static void assign_backwards(const Conv *v, ProblemType *pt)
{
    const Config *c = &v->cfg;
    const Dim *first = NULL;
    pt->MirrorDimsB = (IndexList){.n = 0};
    if (v->op != OP_CONV_BACKWARD_DATA) return;
    for (int32_t index = 0; index < INDEX_MAX; index++)
        for (int i = 0; i < v->n_filters; i++)
            if (v->filters[i]->index == index && v->filters[i]->size != 1)
                pt->MirrorDimsB.v[pt->MirrorDimsB.n++] = index;
    for (int i = 0; i < v->n_outs; i++)
        if (v->outs[i]->index == 0) first = v->outs[i];
    for (int i = 0; i < c->n_spatial && first; i++)
        if (c->stride[i] == CONV_ANY) pt->UseInitialStridesCD = 1;
}

Err conv_derive(ProblemType *pt)
{
    Conv v;
    TRY(conv_init(&v, pt));
    pt->NumIndicesC = v.n_indices_d;
    assign(&pt->IndexAssignmentsA, &pt->SetConstStrideA, v.a, v.n_a, false);
    assign(&pt->IndexAssignmentsB, &pt->SetConstStrideB, v.b, v.n_b, true);
    assign_pads(&v, &pt->ZeroPadA);
    assign_backwards(&v, pt);
    if (v.a[v.n_a - 1]->stride_a != 1 || v.b[v.n_b - 1]->stride_b != 1) pt->UseInitialStridesAB = 1;
    if (v.op == OP_CONV_BACKWARD_WEIGHTS && !v.n_outs) pt->AllowNoFreeDims = 1;
    if (!is_product(&v.cfg)) pt->UseBeta = 0;
    return 0;
}

static void set_key(ConvConfig *config, ConvKey key, const char *value)
{
    config->key[config->n] = (int32_t)key;
    memcpy(config->value[config->n++], value, strlen(value) + 1);
}

Err conv_problem_type(const ConvDesc *c, ProblemType *pt)
{
    const char *any = c->n_spatial == 2 ? "NxN" : "NxNxN";
    static const ConvKey of_size[] = {CONV_Filter, CONV_Stride, CONV_Dilation, CONV_PadStart, CONV_PadEnd};
    ConvConfig *config = &pt->ConvolutionConfig;
    problem_type_init(pt);
    pt->OperationType = c->op;
    pt->Batched = 1;
    pt->DataType = c->type[conv_right(c)];
    pt->DestDataType = c->type[conv_result(c)];
    pt->ComputeDataType = c->compute;
    pt->HighPrecisionAccumulate = problem_types_mixed((DataType)pt->DataType, (DataType)pt->DestDataType,
                                                      (DataType)pt->ComputeDataType);
    if (c->xf32 && pt->DataType == TYPE_S) pt->F32XdlMathOp = TYPE_X;
    set_key(config, CONV_TensorAFormat, c->format[conv_right(c)]);
    set_key(config, CONV_TensorBFormat, c->format[conv_left(c)]);
    set_key(config, CONV_TensorDFormat, c->format[conv_result(c)]);
    for (size_t i = 0; i < sizeof of_size / sizeof *of_size; i++) set_key(config, of_size[i], any);
    set_key(config, CONV_PackedSpatialDims, "0");
    set_key(config, CONV_PackedFilterDims, "0");
    if (c->op == OP_CONV_BACKWARD_WEIGHTS) set_key(config, CONV_UnrollOnChannel, "0"); /* W runs fastest */
    if (c->size.groups != 1) set_key(config, CONV_GroupCount, "N");
    TRY(conv_derive(pt));
    return problem_type_derive(pt);
}

int32_t conv_fixed_sizes(const ProblemType *pt, int32_t index[CONV_SPATIAL], int32_t size[CONV_SPATIAL])
{
    Conv v;
    int32_t n = 0;
    if (pt->OperationType < OP_CONV_FORWARD || conv_init(&v, pt)) return 0;
    for (int i = 0; i < v.cfg.n_spatial; i++)
        if (v.filter[i].index >= 0 && v.filter[i].size > 0)
            index[n] = v.filter[i].index, size[n++] = (int32_t)v.filter[i].size;
    return n;
}
