/* Convolutions and their matrix products. See conv_desc.h. */
#include "problem/conv_desc.h"

#include <inttypes.h>
#include <string.h>

#include "base/integer.h"
#include "problem/sizes.h"

static const char *const images[] = {"NCHW", "NHWC", "CNHW", "CHWN", "NCDHW", "NDHWC", "CNDHW", "CDHWN"};
static const char *const filters[] = {"KCYX", "KYXC", "CKYX", "CYXK", "KCZYX", "KZYXC", "CKZYX", "CZYXK"};
enum { N_FORMATS = sizeof images / sizeof *images };

/* ---- making ---- */

void conv_desc_init(ConvDesc *c)
{
    memset(c, 0, sizeof *c);
    ConvSize *s = &c->size;
    c->op = OP_CONV_FORWARD;
    c->n_spatial = 2;
    s->n = s->c = s->k = s->groups = 1;
    for (int d = 0; d < CONV_SPATIAL; d++) s->in[d] = s->filter[d] = s->stride[d] = s->dilation[d] = 1;
    conv_desc_types(c, TYPE_S);
    conv_desc_formats(c, false);
}

void conv_desc_types(ConvDesc *c, DataType t)
{
    const bool integral = type_info(t)->integral;
    c->type[CONV_INPUT] = c->type[CONV_FILTER] = c->type[CONV_OUTPUT] = (int32_t)t;
    c->compute = integral ? TYPE_I : t == TYPE_D ? TYPE_D : TYPE_S;
    if (integral) c->type[conv_result(c)] = TYPE_I;
}

static void set_format(ConvDesc *c, ConvTensor t, const char *format)
{
    memset(c->format[t], 0, CONV_FORMAT_MAX);
    memcpy(c->format[t], format, strlen(format));
}

void conv_desc_formats(ConvDesc *c, bool channels_last)
{
    const int row = channels_last + (c->n_spatial == 3) * N_FORMATS / 2;
    for (int t = 0; t < CONV_TENSORS; t++)
        set_format(c, (ConvTensor)t, t == CONV_FILTER ? filters[row] : images[row]);
}

Err conv_desc_format(ConvDesc *c, ConvTensor tensor, Str name)
{
    const bool filter = tensor == CONV_FILTER;
    for (size_t i = 0; i < N_FORMATS; i++)
        if (str_eq_nocase(name, str_from(images[i])) ||
            (filter && str_eq_nocase(name, str_from(filters[i])))) {
            set_format(c, tensor, filter ? filters[i] : images[i]);
            return ERR_OK;
        }
    FAIL(ERR_INPUT, "format '%.*s' of the %s, expected %s, each also with D or Z",
         (int)(name.n < 32 ? name.n : 32), name.s, conv_tensor_name(tensor),
         filter ? "KCYX, KYXC, CKYX or CYXK" : "NCHW, NHWC, CNHW or CHWN");
}

static Err check_elements(const ConvDesc *c)
{
    int64_t size[CONV_DIMS], stride[CONV_DIMS];
    for (int t = 0; t < CONV_TENSORS; t++) {
        int64_t all = 1;
        conv_tensor(c, (ConvTensor)t, size, stride);
        for (int i = 0; i < CONV_DIMS; i++) all = conv_times(all, size[i]);
        if (all > TENSOR_ELEMENTS_MAX)
            FAIL(ERR_INPUT, "the %s has more than %lld elements", conv_tensor_name((ConvTensor)t),
                 (long long)TENSOR_ELEMENTS_MAX);
    }
    return ERR_OK;
}

Err conv_desc_check(const ConvDesc *c)
{
    for (int t = 0; t < CONV_TENSORS; t++)
        if (strlen(c->format[t]) != (size_t)c->n_spatial + 2)
            FAIL(ERR_INPUT, "format %s of the %s has %zu dimensions, expected %d", c->format[t],
                 conv_tensor_name((ConvTensor)t), strlen(c->format[t]), c->n_spatial + 2);
    TRY(conv_size_check(&c->size, c->n_spatial));
    return check_elements(c);
}

/* ---- tensors ---- */

ConvTensor conv_result(const ConvDesc *c)
{
    return c->op == OP_CONV_FORWARD ? CONV_OUTPUT : c->op == OP_CONV_BACKWARD_DATA ? CONV_INPUT : CONV_FILTER;
}
ConvTensor conv_left(const ConvDesc *c)
{
    return c->op == OP_CONV_BACKWARD_WEIGHTS ? CONV_OUTPUT : CONV_FILTER;
}
ConvTensor conv_right(const ConvDesc *c) { return c->op == OP_CONV_BACKWARD_DATA ? CONV_OUTPUT : CONV_INPUT; }

const char *conv_tensor_name(ConvTensor t)
{
    return t == CONV_INPUT ? "input" : t == CONV_FILTER ? "filter" : "output";
}

void conv_tensor(const ConvDesc *c, ConvTensor t, int64_t size[CONV_DIMS], int64_t stride[CONV_DIMS])
{
    const ConvSize *s = &c->size;
    const char *letters = t == CONV_FILTER ? "KCZYX" : "NCDHW";
    const int64_t channels = t == CONV_INPUT ? s->c : t == CONV_FILTER ? s->c / s->groups : s->k;
    for (int i = 0; i < CONV_DIMS; i++) {
        size[i] = conv_extent(s, letters[i], channels, t == CONV_INPUT);
        stride[i] = conv_distance(s, c->format[t], letters[i], channels, t == CONV_INPUT);
    }
}

int64_t conv_elements(const ConvDesc *c, ConvTensor t)
{
    int64_t size[CONV_DIMS], stride[CONV_DIMS], all = 1;
    conv_tensor(c, t, size, stride);
    for (int i = 0; i < CONV_DIMS; i++) all *= size[i];
    return all;
}

static int64_t outputs(const ConvSize *s) { return conv_out(s, 0) * conv_out(s, 1) * conv_out(s, 2); }
static int64_t taps(const ConvSize *s) { return s->filter[0] * s->filter[1] * s->filter[2]; }

double conv_flops(const ConvDesc *c)
{
    const ConvSize *s = &c->size;
    return 2.0 * (double)s->n * (double)outputs(s) * (double)s->k * (double)(s->c / s->groups) *
           (double)taps(s);
}

bool conv_is_pointwise(const ConvDesc *c)
{
    const ConvSize *s = &c->size;
    bool yes = taps(s) == 1;
    for (int d = 0; d < CONV_SPATIAL; d++) yes &= s->stride[d] == 1 && !s->pad[d] && !s->pad_end[d];
    return yes;
}

/* ---- matrix products ---- */

void conv_slices(const ConvSize *s, int d, ConvSlices *out)
{
    const int64_t st = s->stride[d], dil = s->dilation[d], pad = s->pad[d];
    out->phases = st / int_gcd(st, dil);
    out->taps = int_ceil_div(s->filter[d], out->phases);
    out->reach = conv_out(s, d) + int_ceil_div(dil * (s->filter[d] - 1), st);
    const int64_t before = pad - dil * (out->phases - 1);
    out->left = (before > 0 ? before : 0) / st;
    const int64_t last = int_ceil_div(pad + s->in[d] - 1, st) + 1;
    out->right = out->reach < last ? out->reach : last;
    out->size = out->right - out->left;
}

int64_t conv_phase_taps(const ConvSize *s, int d, int64_t i)
{
    ConvSlices v;
    conv_slices(s, d, &v);
    return i < s->filter[d] ? int_ceil_div(s->filter[d] - i, v.phases) : 0;
}

int64_t conv_n_gemms(const ConvDesc *c)
{
    int64_t n = 1;
    ConvSlices v;
    if (c->op != OP_CONV_BACKWARD_DATA) return 1;
    for (int d = 0; d < CONV_SPATIAL; d++) {
        conv_slices(&c->size, d, &v);
        n = conv_times(n, v.phases);
    }
    return n;
}

void conv_gemm(const ConvDesc *c, int64_t i, ConvGemm *out)
{
    const ConvSize *s = &c->size;
    const int64_t cg = s->c / s->groups, kg = s->k / s->groups, positions = s->n * outputs(s);
    *out = (ConvGemm){.m = kg, .n = positions, .k = cg * taps(s)};
    if (c->op == OP_CONV_BACKWARD_WEIGHTS) {
        out->n = cg * taps(s);
        out->k = positions;
    } else if (c->op == OP_CONV_BACKWARD_DATA) {
        *out = (ConvGemm){.m = cg, .n = s->n, .k = kg};
        for (int d = 0; d < CONV_SPATIAL; d++) {
            ConvSlices v;
            conv_slices(s, d, &v);
            out->phase[d] = i % v.phases;
            i /= v.phases;
            out->n *= v.size;
            out->k *= conv_phase_taps(s, d, out->phase[d]);
        }
    }
}

/* Whether a tensor's dimension is among those that the product sums over. Along a position of the input
 * moves the output position, not the filter element. */
static bool is_summed(const ConvDesc *c, ConvTensor t, char letter)
{
    switch (c->op) {
    case OP_CONV_FORWARD:
        return strchr("CXYZ", letter) != NULL;
    case OP_CONV_BACKWARD_WEIGHTS:
        return strchr("NWHD", letter) != NULL;
    default:
        return strchr(t == CONV_FILTER ? "KXYZ" : "C", letter) != NULL;
    }
}

static char unit_letter(const ConvDesc *c, ConvTensor t) { return c->format[t][c->n_spatial + 1]; }

bool conv_swaps(const ConvDesc *c)
{
    const char unit = unit_letter(c, conv_result(c));
    return c->op == OP_CONV_BACKWARD_WEIGHTS ? unit != 'K' : unit != 'C';
}

Err conv_gemm_call(const ConvDesc *c, const ConvGemm *g, GemmCall *out, bool *empty)
{
    const bool swaps = conv_swaps(c);
    const ConvTensor left = swaps ? conv_right(c) : conv_left(c),
                     right = swaps ? conv_left(c) : conv_right(c);
    *empty = g->k == 0;
    if (*empty) return ERR_OK;
    call_init(out);
    out->m = swaps ? g->n : g->m;
    out->n = swaps ? g->m : g->n;
    out->k = g->k;
    out->op[0] = is_summed(c, left, unit_letter(c, left)) ? 'T' : 'N';
    out->op[1] = is_summed(c, right, unit_letter(c, right)) ? 'N' : 'T';
    out->type[CALL_A] = (DataType)c->type[left];
    out->type[CALL_B] = (DataType)c->type[right];
    out->type[CALL_C] = out->type[CALL_D] = (DataType)c->type[conv_result(c)];
    out->type[CALL_COMPUTE] = (DataType)c->compute;
    out->xf32 = c->xf32;
    out->ex = true;
    out->batch = c->size.groups;
    out->strided = out->batch > 1;
    return call_finish(out);
}

/* ---- text ---- */

const char *conv_op_name(int32_t op)
{
    return op == OP_CONV_FORWARD ? "forward" : op == OP_CONV_BACKWARD_DATA ? "data" : "weights";
}

/* "s1" or "s1x2", slowest dimension first. */
static void numbers(const ConvDesc *c, const char *name, const int64_t *v, Buf *out)
{
    bool same = true;
    for (int d = 1; d < c->n_spatial; d++) same &= v[d] == v[0];
    buf_printf(out, " %s%" PRId64, name, v[c->n_spatial - 1]);
    for (int d = c->n_spatial - 2; d >= 0 && !same; d--) buf_printf(out, "x%" PRId64, v[d]);
}

void conv_desc_print(const ConvDesc *c, Buf *out)
{
    const ConvSize *s = &c->size;
    buf_printf(out, "%s %s", conv_op_name(c->op),
               c->xf32 ? "xf32" : type_info((DataType)c->type[conv_right(c)])->abbrev);
    for (int t = 0; t < CONV_TENSORS; t++) buf_printf(out, " %s", c->format[t]);
    buf_printf(out, " n%" PRId64 " c%" PRId64, s->n, s->c);
    for (int d = c->n_spatial - 1; d >= 0; d--) buf_printf(out, " %c%" PRId64, "whd"[d], s -> in[d]);
    buf_printf(out, " k%" PRId64, s->k);
    for (int d = c->n_spatial - 1; d >= 0; d--) buf_printf(out, " %c%" PRId64, "xyz"[d], s -> filter[d]);
    numbers(c, "s", s->stride, out);
    numbers(c, "p", s->pad, out);
    if (memcmp(s->pad, s->pad_end, sizeof s->pad)) numbers(c, "p_end", s->pad_end, out);
    numbers(c, "d", s->dilation, out);
    buf_printf(out, " g%" PRId64, s->groups);
}
