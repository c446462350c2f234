/* Convolutions as contractions: 400 random ones against Tensile's answers
 * (test/data/tensile/convolution.txt), addresses, sizes and whole results against the definition of a
 * convolution, and bad ones. */
#include "test/support.h"

#include "problem/conv.h"
#include "problem/indices.h"

#include <stdlib.h>

enum { COLUMNS = 13 };

static Node *parse(Arena *a, const char *text)
{
    Node *n;
    assert_ok(yaml_parse(a, "t.yaml", str_from(text), NULL, &n));
    return n;
}

/* "Filter:3x3 Stride:1x1" as the list of a ConvolutionConfig. */
static void config_text(Str settings, Buf *out)
{
    Str part;
    buf_puts(out, "[");
    while (settings.n && str_split(&settings, ' ', &part)) {
        Str rest = part, key, value;
        str_split(&rest, ':', &key);
        str_split(&rest, ':', &value);
        buf_printf(out, "%s{%.*s: %.*s}", out->s[out->n - 1] == '[' ? "" : ", ", STR_ARG(key),
                   STR_ARG(value));
    }
    buf_puts(out, "]");
}

static Err type_read(Arena *a, Str operation, Str settings, ProblemType *pt)
{
    Buf b;
    buf_init(&b);
    buf_printf(&b, "{OperationType: %.*s, DataType: s, ConvolutionConfig: ", STR_ARG(operation));
    config_text(settings, &b);
    buf_puts(&b, "}");
    const Err e =
        problem_type_read("t.yaml", parse(a, buf_cstr(&b)), &(ProblemReadOptions){.strict = true}, pt);
    buf_fini(&b);
    return e;
}

static void put_list(Buf *b, const IndexList *l)
{
    for (int32_t i = 0; i < l->n; i++) buf_printf(b, "%s%d", i ? "," : "", l->v[i]);
}

static void put_tuples(Buf *b, const TupleList *l)
{
    for (int32_t i = 0; i < l->n; i++)
        for (int32_t j = 0; j < l->width; j++) buf_printf(b, "%s%d", j ? "," : i ? ";" : "", l->v[i][j]);
}

/* Columns 3 to 11 of the file. */
static void answer(const ProblemType *pt, Buf *b)
{
    int32_t index[CONV_SPATIAL], size[CONV_SPATIAL], n = conv_fixed_sizes(pt, index, size);
    buf_printf(b, "%d|", pt->NumIndicesC);
    put_list(b, &pt->IndexAssignmentsA), buf_puts(b, "|");
    put_list(b, &pt->IndexAssignmentsB), buf_puts(b, "|");
    put_tuples(b, &pt->SetConstStrideA), buf_puts(b, "|");
    put_tuples(b, &pt->SetConstStrideB), buf_puts(b, "|");
    put_tuples(b, &pt->ZeroPadA);
    buf_printf(b, "|%d|", pt->UseInitialStridesAB);
    const char *sep = "";
    for (int32_t at = 0; at < INDEX_MAX; at++)
        for (int32_t i = 0; i < n; i++)
            if (index[i] == at) buf_printf(b, "%s%d,%d", sep, index[i], size[i]), sep = ";";
    buf_printf(b, "|%d|", pt->AllowNoFreeDims);
}

static void sizes_answer(Arena *a, const ProblemType *pt, Str text, Buf *b)
{
    Buf yaml;
    ProblemSizes sizes;
    ProblemSize *list;
    size_t n;
    buf_init(&yaml);
    buf_puts(&yaml, "[Conv: {");
    for (Str part; text.n && str_split(&text, ' ', &part);) {
        Str rest = part, key, value;
        str_split(&rest, ':', &key), str_split(&rest, ':', &value);
        buf_printf(&yaml, "'%.*s': %.*s, ", STR_ARG(key), STR_ARG(value));
    }
    buf_puts(&yaml, "}]");
    if (problem_sizes_from_node(a, "t.yaml", parse(a, buf_cstr(&yaml)), pt, NULL, &sizes))
        buf_puts(b, err_message());
    else {
        assert_ok(problem_sizes_list(a, &sizes, 1, &list, &n));
        for (int32_t i = 0; i < pt->TotalIndices; i++)
            buf_printf(b, "%s%lld", i ? "," : "", (long long)list->v[i]);
    }
    buf_fini(&yaml);
}

/* Backward data whose stride along W is that of each size: Tensile's constant strides are those of a forward
 * convolution of the output, which is not its gradient. */
static bool is_other_data(Str operation, Str settings)
{
    Str rest = settings, part;
    while (str_eq_c(operation, "ConvolutionBackwardData") && str_split(&rest, ' ', &part))
        if (part.n > 7 && !memcmp(part.s, "Stride:", 7)) return part.s[part.n - 1] == 'N';
    return false;
}

static void test_tensile(void **state)
{
    (void)state;
    Arena a;
    Buf have;
    Str rest, line;
    size_t n_cases = 0, n_sizes = 0, n_packed = 0, n_data = 0, bad = 0;
    arena_init(&a, 0);
    buf_init(&have);
    assert_ok(file_read(&a, "test/data/tensile/convolution.txt", 1 << 20, &rest));
    while (rest.n && str_split(&rest, '\n', &line)) {
        if (!line.n) continue;
        Str column[COLUMNS], left = line;
        for (int i = 0; i < COLUMNS; i++) assert_true(str_split(&left, '|', &column[i]));
        ProblemType pt;
        if (is_other_data(column[0], column[1])) {
            n_data++;
            continue;
        }
        buf_reset(&have);
        if (type_read(&a, column[0], column[1], &pt))
            buf_puts(&have, err_message());
        else
            answer(&pt, &have);
        const Str want = {column[2].s, (size_t)(column[11].s - column[2].s)};
        const bool same = str_eq(buf_view(&have), want);
        if (!same)
            print_error("%.*s\n  have %s\n  want %.*s\n", STR_ARG(line), buf_cstr(&have), STR_ARG(want)),
                bad++;
        n_cases++;
        if (!same || !column[11].n) continue;
        n_sizes++;
        buf_reset(&have);
        sizes_answer(&a, &pt, column[11], &have);
        if (strstr(buf_cstr(&have), "packed spatial dimensions need lines of equal length")) {
            n_packed++; /* Tensile takes these, with addresses of another convolution */
            continue;
        }
        if (!str_eq(buf_view(&have), column[12]))
            print_error("%.*s\n  sizes %s\n", STR_ARG(line), buf_cstr(&have)), bad++;
    }
    assert_int_equal(bad, 0);
    assert_int_equal(n_cases + n_data, 400);
    assert_in_range(n_data, 1, 80);
    assert_true(n_sizes > 150 && n_packed < n_sizes / 3);
    buf_fini(&have);
    arena_fini(&a);
}

/* ---- addresses ---- */

typedef struct {
    const char *operation, *settings;
    const char *a, *b; /* formats of A and B, the letters of the convolution */
} Layout;

/* The offset of an element by its coordinates and the format, dimensions packed. */
static int64_t offset(const char *format, const int64_t *size, const int64_t *at)
{
    int64_t sum = 0;
    for (; *format; format++) sum = sum * size[(int)*format] + at[(int)*format];
    return sum;
}

/* The offset of an index tuple by the strides of the problem. */
static int64_t by_strides(const IndexList *l, const int64_t *stride, const int64_t *at)
{
    int64_t sum = 0;
    for (int32_t i = 0; i < l->n; i++) sum += stride[i] * at[l->v[i]];
    return sum;
}

/* Coordinates of the convolution for a position of the contraction: those of its indices by their sizes,
 * which are all different primes. */
typedef struct {
    const ConvSize *s;
    int64_t n, c, k, out[2], filter[2];
} Position;

static int64_t coordinate(const Position *p, int64_t size)
{
    const ConvSize *s = p->s;
    if (size == s->n) return p->n;
    if (size == s->c) return p->c;
    if (size == s->k) return p->k;
    for (int d = 0; d < 2; d++) {
        if (size == conv_out(s, d)) return p->out[d];
        if (size == s->filter[d]) return p->filter[d];
    }
    assert_int_equal(size, conv_out(s, 0) * conv_out(s, 1));
    return p->out[1] * conv_out(s, 0) + p->out[0];
}

static void check_position(const Layout *l, const ProblemType *pt, const ProblemSize *size, const Position *p)
{
    const ConvSize *s = p->s;
    const bool weights = pt->OperationType == OP_CONV_BACKWARD_WEIGHTS;
    int64_t at[INDEX_MAX], stride[INDEX_MAX], sizes[128] = {0}, where[128] = {0};
    for (int32_t i = 0; i < size->n; i++) at[i] = coordinate(p, size->v[i]);
    sizes['N'] = s->n, sizes['C'] = s->c, sizes['H'] = s->in[1], sizes['W'] = s->in[0];
    where['N'] = p->n, where['C'] = p->c;
    where['H'] = p->out[1] * s->stride[1] + p->filter[1] * s->dilation[1] - s->pad[1];
    where['W'] = p->out[0] * s->stride[0] + p->filter[0] * s->dilation[0] - s->pad[0];
    size_strides(pt, size, LD_A, stride);
    int64_t a = by_strides(&pt->IndexAssignmentsA, stride, at);
    for (int i = 0; i < size->extra->n_pad[0]; i++) a -= size->extra->pad_start[0][i];
    assert_int_equal(a, offset(l->a, sizes, where));
    size_strides(pt, size, LD_B, stride);
    if (weights) {
        sizes['C'] = s->k, sizes['H'] = conv_out(s, 1), sizes['W'] = conv_out(s, 0);
        where['C'] = p->k, where['H'] = p->out[1], where['W'] = p->out[0];
    } else {
        sizes['K'] = s->k, sizes['Y'] = s->filter[1], sizes['X'] = s->filter[0];
        where['K'] = p->k, where['Y'] = p->filter[1], where['X'] = p->filter[0];
    }
    assert_int_equal(by_strides(&pt->IndexAssignmentsB, stride, at), offset(l->b, sizes, where));
}

static void test_addresses(void **state)
{
    (void)state;
    static const Layout layouts[] = {
        {"ConvolutionForward", "Filter:3x5 PackedSpatialDims:0", "NCHW", "KCYX"},
        {"ConvolutionForward", "Filter:3x1", "NCHW", "KCYX"},
        {"ConvolutionForward", "Filter:3x5 UnrollOnChannel:0 PackedSpatialDims:0", "NCHW", "KCYX"},
        {"ConvolutionForward", "TensorAFormat:NHWC TensorBFormat:KYXC Filter:3x5 Stride:2x3", "NHWC", "KYXC"},
        {"ConvolutionForward", "TensorAFormat:CNHW TensorBFormat:CYXK Filter:NxN Stride:NxN Dilation:NxN",
         "CNHW", "CYXK"},
        {"ConvolutionForward", "TensorAFormat:CHWN TensorBFormat:CKYX Filter:NxN Stride:3x2 Dilation:1x2",
         "CHWN", "CKYX"},
        {"ConvolutionForward", "TensorAFormat:NHWC TensorBFormat:CYXK Filter:3x5 PadStart:NxN PadEnd:NxN",
         "NHWC", "CYXK"},
        {"ConvolutionBackwardWeights", "Filter:3x5 Stride:2x3 Dilation:3x1", "NCHW", "NCHW"},
        {"ConvolutionBackwardWeights",
         "TensorAFormat:NHWC TensorBFormat:NHWC TensorDFormat:KYXC Filter:3x5 PadStart:NxN", "NHWC", "NHWC"},
        {"ConvolutionBackwardWeights",
         "TensorAFormat:CHWN TensorBFormat:CNHW TensorDFormat:CYXK Filter:3x5 PackedSpatialDims:0", "CHWN",
         "CNHW"},
    };
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        const Layout *l = &layouts[i];
        Arena a;
        ProblemType pt;
        ProblemSize size;
        SizeExtra extra;
        ConvSize s = {.n = 2, .c = 7, .k = 19, .groups = 1};
        const bool padded = strstr(l->settings, "Pad");
        arena_init(&a, 0);
        assert_ok(type_read(&a, str_from(l->operation), str_from(l->settings), &pt));
        for (int d = 0; d < 2; d++) {
            s.filter[d] = d ? 3 : strstr(l->settings, "Filter:3x1") ? 1 : 5;
            s.stride[d] = strstr(l->settings, "Stride:2x3")   ? (d ? 2 : 3)
                          : strstr(l->settings, "Stride:3x2") ? (d ? 3 : 2)
                                                              : 1;
            s.dilation[d] = strstr(l->settings, "Dilation:3x1")   ? (d ? 3 : 1)
                            : strstr(l->settings, "Dilation:1x2") ? (d ? 1 : 2)
                                                                  : 1;
            s.pad[d] = padded ? d + 1 : 0;
            s.pad_end[d] = strstr(l->settings, "PadEnd") ? d : padded ? 0 : 0;
            /* 11 and 13 outputs */
            s.in[d] = ((d ? 13 : 11) - 1) * s.stride[d] + (s.filter[d] - 1) * s.dilation[d] + 1 - s.pad[d] -
                      s.pad_end[d];
            assert_int_equal(conv_out(&s, d), d ? 13 : 11);
        }
        if (conv_problem(&pt, &s, &size, &extra)) fail_msg("%s: %s", l->settings, err_message());
        unsigned seed = 1;
        for (int k = 0; k < 200; k++) {
            const Position p = {&s,
                                rand_r(&seed) % s.n,
                                rand_r(&seed) % s.c,
                                rand_r(&seed) % s.k,
                                {rand_r(&seed) % conv_out(&s, 0), rand_r(&seed) % conv_out(&s, 1)},
                                {rand_r(&seed) % s.filter[0], rand_r(&seed) % s.filter[1]}};
            check_position(l, &pt, &size, &p);
        }
        arena_fini(&a);
    }
}

/* ---- whole convolutions ---- */

enum { VALUES_MAX = 4096 };

static double value_of(int64_t at, int salt) { return (double)((at * 7 + salt) * 2654435761u % 1009) - 504; }

/* Sums of all parts by sizes, strides, pads and offsets, as a kernel makes them. d is -1 where nothing was
 * written. */
static void by_parts(const ProblemType *pt, const ConvSize *s, double *d)
{
    static const int tensors[] = {LD_A, LD_B, LD_C, LD_D};
    int64_t n_parts;
    assert_ok(conv_n_parts(pt, s, &n_parts));
    for (int64_t part = 0; part < n_parts; part++) {
        ConvPart p;
        IndexSizes x = {.size = {0}};
        if (conv_part(pt, s, part, &p)) fail_msg("part %d: %s", (int)part, err_message());
        p.size.extra = &p.extra;
        assert_ok(indices_of_type(pt, 0, &x.indices));
        memcpy(x.size, p.size.v, sizeof x.size);
        memcpy(x.pad_start, p.extra.pad_start, sizeof x.pad_start);
        memcpy(x.pad_end, p.extra.pad_end, sizeof x.pad_end);
        for (int t = 0; t < INDICES_TENSORS; t++) (void)size_strides(pt, &p.size, tensors[t], x.stride[t]);
        const int64_t rows = index_group_size(&x, INDICES_M), columns = index_group_size(&x, INDICES_N),
                      batch = index_group_size(&x, INDICES_BATCH), sums = index_group_size(&x, INDICES_K);
        for (int64_t at = 0; at < rows * columns * batch; at++) {
            const int64_t m = at % rows, n = at / rows % columns, z = at / rows / columns;
            double sum = 0;
            for (int64_t k = 0; k < sums && !p.zero; k++) {
                bool inside = true;
                int64_t a = p.offset[LD_A], b = p.offset[LD_B];
                for (int i = 0; i < x.indices.n_pads[0]; i++) {
                    const int64_t here = index_pad_position(&x, 0, i, INDICES_M, m) +
                                         index_pad_position(&x, 0, i, INDICES_K, k);
                    inside &= here >= x.pad_start[0][i] && here < index_pad_edge(&x, 0, i);
                    a -= x.pad_start[0][i];
                }
                if (!inside) continue;
                a += index_group_offset(&x, INDICES_M, 0, m) + index_group_offset(&x, INDICES_K, 0, k) +
                     index_group_offset(&x, INDICES_BATCH, 0, z);
                b += index_group_offset(&x, INDICES_N, 1, n) + index_group_offset(&x, INDICES_K, 1, k) +
                     index_group_offset(&x, INDICES_BATCH, 1, z);
                assert_true(a >= 0 && b >= 0);
                sum += value_of(a, 1) * value_of(b, 2);
            }
            const int64_t to = p.offset[LD_D] + index_group_offset(&x, INDICES_M, 3, m) +
                               index_group_offset(&x, INDICES_N, 3, n) +
                               index_group_offset(&x, INDICES_BATCH, 3, z);
            assert_in_range(to, 0, VALUES_MAX - 1);
            assert_true(d[to] == -1); /* written once */
            d[to] = sum + 0.5;
        }
    }
}

/* The same by the definition. */
static void by_definition(const ConvDesc *c, double *d)
{
    const ConvSize *s = &c->size;
    int64_t size[CONV_TENSORS][CONV_DIMS], stride[CONV_TENSORS][CONV_DIMS], at[CONV_DIMS], to[CONV_DIMS];
    for (int t = 0; t < CONV_TENSORS; t++) conv_tensor(c, (ConvTensor)t, size[t], stride[t]);
    const ConvTensor result = conv_result(c);
    const int64_t n = conv_elements(c, CONV_OUTPUT), taps = conv_elements(c, CONV_FILTER) / s->k,
                  k_group = s->k / s->groups, c_group = s->c / s->groups;
    assert_in_range(conv_elements(c, result), 1, VALUES_MAX);
    for (int64_t i = 0; i < conv_elements(c, result); i++) d[i] = 0.5;
    for (int64_t i = 0; i < n * taps; i++) {
        int64_t rest = i, offset[CONV_TENSORS] = {0};
        bool inside = true;
        for (int j = CONV_DIMS; j-- > 0; rest /= size[CONV_OUTPUT][j]) at[j] = rest % size[CONV_OUTPUT][j];
        for (int j = CONV_DIMS; j-- > 1; rest /= size[CONV_FILTER][j]) to[j] = rest % size[CONV_FILTER][j];
        to[0] = at[1];
        for (int j = 0; j < CONV_DIMS; j++) {
            const int w = CONV_DIMS - 1 - j; /* of spatial ones */
            const int64_t in = j == 0   ? at[0]
                               : j == 1 ? at[1] / k_group * c_group + to[1]
                                        : at[j] * s->stride[w] + to[j] * s->dilation[w] - s->pad[w];
            inside &= in >= 0 && in < size[CONV_INPUT][j];
            offset[CONV_INPUT] += in * stride[CONV_INPUT][j];
            offset[CONV_OUTPUT] += at[j] * stride[CONV_OUTPUT][j];
            offset[CONV_FILTER] += to[j] * stride[CONV_FILTER][j];
        }
        if (inside)
            d[offset[result]] += value_of(offset[conv_right(c)], 1) * value_of(offset[conv_left(c)], 2);
    }
}

static void test_parts(void **state)
{
    (void)state;
    static const struct {
        int64_t in, filter, stride, dilation, pad, pad_end, c, k, groups;
    } sizes[] = {{6, 3, 1, 1, 1, 1, 3, 4, 1}, {7, 3, 2, 1, 1, 0, 2, 3, 1}, {8, 4, 3, 2, 2, 1, 2, 2, 1},
                 {9, 3, 2, 2, 0, 0, 2, 3, 1}, {5, 1, 2, 1, 0, 0, 3, 2, 1}, {5, 1, 1, 1, 0, 0, 3, 2, 1},
                 {6, 2, 4, 1, 3, 3, 1, 2, 1}, {7, 3, 2, 1, 1, 1, 4, 6, 2}, {6, 3, 1, 1, 1, 1, 3, 3, 3},
                 {3, 2, 5, 1, 2, 0, 2, 2, 1}};
    static const OperationKind ops[] = {OP_CONV_FORWARD, OP_CONV_BACKWARD_DATA, OP_CONV_BACKWARD_WEIGHTS};
    static const char *const formats[] = {"NCHW", "NHWC", "CNHW", "CHWN"};
    static double have[VALUES_MAX], want[VALUES_MAX];
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int f = 0; f < 4 * 4 * 3; f++) {
            ConvDesc c;
            ProblemType pt;
            Buf name;
            conv_desc_init(&c);
            c.op = (int32_t)ops[f / 16];
            assert_ok(conv_desc_format(&c, CONV_INPUT, str_from(formats[f % 4])));
            assert_ok(conv_desc_format(&c, CONV_OUTPUT, str_from(formats[f % 4])));
            assert_ok(conv_desc_format(&c, CONV_FILTER, str_from(formats[f / 4 % 4])));
            ConvSize *s = &c.size;
            s->n = 2, s->c = sizes[i].c, s->k = sizes[i].k, s->groups = sizes[i].groups;
            for (int d = 0; d < 2; d++) {
                s->in[d] = sizes[i].in + d, s->filter[d] = sizes[i].filter, s->stride[d] = sizes[i].stride;
                s->dilation[d] = sizes[i].dilation;
                s->pad[d] = sizes[i].pad, s->pad_end[d] = sizes[i].pad_end;
            }
            assert_ok(conv_desc_check(&c));
            assert_ok(conv_problem_type(&c, &pt));
            for (int k = 0; k < VALUES_MAX; k++) have[k] = want[k] = -1;
            by_parts(&pt, s, have);
            by_definition(&c, want);
            buf_init(&name);
            conv_desc_print(&c, &name);
            if (memcmp(have, want, sizeof have)) fail_msg("%s", buf_cstr(&name));
            buf_fini(&name);
        }
}

/* ---- bad ones ---- */

static void test_refused(void **state)
{
    (void)state;
    static const struct {
        const char *settings, *why;
    } types[] = {
        {"TensorAFormat:NWHC",
         "TensorAFormat 'NWHC', expected NCHW, NHWC, CNHW, CHWN, NCDHW, NDHWC, CNDHW or CDHWN"},
        {"TensorBFormat:NCHW",
         "TensorBFormat 'NCHW', expected KCYX, KYXC, CKYX, CYXK, KCZYX, KZYXC, CKZYX or CZYXK"},
        {"TensorAFormat:NCDHW TensorBFormat:KCYX",
         "TensorAFormat NCDHW, TensorBFormat KCYX, TensorDFormat NCDHW, expected equally many dimensions"},
        {"Filter:3", "Filter '3', expected 2 numbers from 1 on or N, separated by x"},
        {"Filter:0x1", "Filter '0x1', expected 2 numbers from 1 on or N, separated by x"},
        {"Stride:1x1x1", "Stride '1x1x1', expected 2 numbers from 1 on or N, separated by x"},
        {"PackedSpatialDims:2", "PackedSpatialDims '2', expected 0 to 1"},
        {"GroupCount:0", "GroupCount '0', expected 1 to 2147483647"},
    };
    static const struct {
        const char *settings, *size, *why;
    } sizes[] = {
        {"Filter:3x3", "n:1 c:1 k:1 h:8 w:2",
         "along W the filter of 3 elements with dilation 1 does not fit the input of 2 with pads 0 and 0"},
        {"Filter:3x3", "n:1 c:1 k:1 h:8 w:8 x:2", "the filter size of W is 2, but the problem type's is 3"},
        {"Filter:NxN", "n:1 c:1 k:1 h:8 w:8 x:2",
         "the filter size of H is given neither here nor by the problem type"},
        {"Filter:3x3", "n:1 c:1 k:1 h:8 w:8",
         "packed spatial dimensions need lines of equal length, along W the input has 8 and the output 6 "
         "positions: set "
         "PackedSpatialDims 0"},
        {"Filter:1x1", "n:1 c:1 k:1 h:8",
         "the input size of W is given neither here nor by the problem type"},
        {"Filter:1x1", "n:1 c:6 k:6 h:8 w:8 g:4", "4 groups do not divide 6 input and 6 output channels"},
        {"Filter:1x1", "n:1 c:1 k:1 h:8 w:8 p:1", "the pad of H is 1, but the problem type's is 0"},
        {"Filter:1x1", "n:0 c:1 k:1 h:8 w:8", "n 0 is not in 1..2147483647"},
        /* the product of the three is 2^64 + 1673807444 */
        {"TensorAFormat:NCDHW TensorBFormat:KCZYX Filter:1x1x1", "n:1 c:1 k:1 d:442157 h:4008524 w:10407795",
         "a size 2305843009213693952 is not in 1..2147483647"},
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        Arena a;
        ProblemType pt;
        Buf want;
        arena_init(&a, 0), buf_init(&want);
        assert_int_equal(type_read(&a, STR("ConvolutionForward"), str_from(types[i].settings), &pt),
                         ERR_INPUT);
        buf_printf(&want, "t.yaml:1: ConvolutionConfig: %s", types[i].why);
        assert_string_equal(err_message(), buf_cstr(&want));
        buf_fini(&want), arena_fini(&a);
    }
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        Arena a;
        ProblemType pt;
        Buf have, want;
        arena_init(&a, 0), buf_init(&have), buf_init(&want);
        assert_ok(type_read(&a, STR("ConvolutionForward"), str_from(sizes[i].settings), &pt));
        sizes_answer(&a, &pt, str_from(sizes[i].size), &have);
        buf_printf(&want, "t.yaml:1: Conv: %s", sizes[i].why);
        assert_string_equal(buf_cstr(&have), buf_cstr(&want));
        buf_fini(&have), buf_fini(&want), arena_fini(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_tensile), cmocka_unit_test(test_addresses),
                                       cmocka_unit_test(test_parts), cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
