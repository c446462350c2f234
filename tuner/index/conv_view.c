/* Views of convolutions. See conv_view.h. */
#include "index/conv_view.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *const in_names[] = {"wi", "hi", "di"}, *const pad_names[] = {"wipad", "hipad", "dipad"},
                         *const out_names[] = {"wo", "ho", "do"}, *const tap_names[] = {"x", "y", "z"},
                         *const slice_names[] = {"ws", "hs", "ds"}, *const phase_names[] = {"xs", "ys", "zs"},
                         *const out_pad_names[] = {"wopad", "hopad", "dopad"};

typedef struct {
    const ConvDesc *c;
    const ConvGemm *g;
    ConvView *to;
    /* dimensions of the view by letter: N, C, K, output positions W H D, filter elements X Y Z; -1: none */
    int at[128];
    bool failed;
} Maker;

static const char *text(Maker *m, int64_t value)
{
    char *to = m->to->number[m->to->n_numbers++];
    snprintf(to, sizeof m->to->number[0], "%" PRId64, value);
    return to;
}

static int memory(Maker *m, const char *name, int64_t size, int64_t stride)
{
    const int d = view_memory_dim(&m->to->view, name, text(m, size), text(m, stride));
    m->failed |= d < 0;
    return d;
}

/* ---- sides ---- */

/* Letters of a tensor's format in order, images' positions as filter elements where taps is set. */
static int letters_of(const ConvDesc *c, ConvTensor t, const char *keep, bool taps, char *to)
{
    int n = 0;
    for (const char *f = c->format[t]; *f; f++) {
        const char *spatial = strchr(conv_names_out, *f);
        const char letter = spatial && taps ? conv_names_filter[spatial - conv_names_out] : *f;
        if (strchr(keep, letter)) to[n++] = letter;
    }
    return n;
}

int conv_side(const ConvDesc *c, char side, char letters[CONV_DIMS])
{
    const bool weights = c->op == OP_CONV_BACKWARD_WEIGHTS, data = c->op == OP_CONV_BACKWARD_DATA;
    int n;
    if (side == 'M') {
        letters[0] = data ? 'C' : 'K';
        return 1;
    }
    if (side == 'N') return letters_of(c, conv_result(c), weights ? "CXYZ" : "NWHD", false, letters);
    if (weights) return letters_of(c, CONV_OUTPUT, "NWHD", false, letters);
    n = letters_of(c, conv_right(c), "CXYZ", true, letters);
    for (int i = 0; i < n && data; i++)
        if (letters[i] == 'C') letters[i] = 'K';
    return n;
}

static void merge_side(Maker *m, char side)
{
    char letters[CONV_DIMS];
    int lower[CONV_DIMS], size_at = 0;
    int64_t size = side == 'M' ? m->g->m : side == 'N' ? m->g->n : m->g->k;
    const char *name = side == 'M' ? "gemmM" : side == 'N' ? "gemmN" : "gemmK";
    const int n = conv_side(m->c, side, letters);
    for (int i = 0; i < n; i++) lower[size_at++] = m->at[(int)letters[i]];
    const int d = n == 1 ? view_pass(&m->to->view, lower[0], name)
                         : view_merge(&m->to->view, lower, n, name, text(m, size));
    m->failed |= d < 0;
}

/* ---- spatial dimensions ---- */

static int64_t at_least_0(int64_t v) { return v > 0 ? v : 0; }

/* Of backward data: how far a dimension's phase moves through the output for each of its filter elements. */
static int64_t step_back(const ConvSize *s, int d, const ConvSlices *v)
{
    return s->dilation[d] * v->phases / s->stride[d];
}

/* Pads so that every coordinate below the embed is at least 0 and inside: of the input those of the
 * convolution; of backward data also what the last positions and the filter elements of a phase reach. */
static int pad(Maker *m, ConvTensor t, int lower, int d)
{
    const ConvSize *s = &m->c->size;
    const bool data = m->c->op == OP_CONV_BACKWARD_DATA, input = t == CONV_INPUT;
    int64_t size = input ? s->in[d] : conv_out(s, d), left = s->pad[d], right = s->pad_end[d];
    ConvSlices v;
    if (t == CONV_FILTER || (!input && !data)) return lower;
    conv_slices(s, d, &v);
    if (data && input) {
        const int64_t last = s->stride[d] * (v.right - 1) + s->dilation[d] * m->g->phase[d];
        right = at_least_0(last + 1 - left - size);
    } else if (data) {
        left = at_least_0(step_back(s, d, &v) * (conv_phase_taps(s, d, m->g->phase[d]) - 1) - v.left);
        right = at_least_0(v.right - size);
    }
    const int upper = view_pad(&m->to->view, lower, left, right, input ? pad_names[d] : out_pad_names[d],
                               text(m, left + size + right));
    m->failed |= upper < 0;
    return upper;
}

/* The dimensions along filter elements and output positions that one of the tensor is made of. */
static void embed(Maker *m, ConvTensor t, int lower, int d)
{
    const ConvSize *s = &m->c->size;
    const bool data = m->c->op == OP_CONV_BACKWARD_DATA, input = t == CONV_INPUT, filter = t == CONV_FILTER;
    const bool taps = !data || !input, positions = !filter;
    const int64_t phase = m->g->phase[d];
    const char *name[2], *size[2];
    int64_t coefficient[2], constant = 0;
    int upper[2], n = 0;
    ConvSlices v;
    if (!data && !input) {
        m->at[(int)(filter ? conv_names_filter[d] : conv_names_out[d])] = lower;
        return;
    }
    conv_slices(s, d, &v);
    const int64_t n_taps = data ? conv_phase_taps(s, d, phase) : s->filter[d];
    const int64_t before = step_back(s, d, &v) * (n_taps - 1);
    if (taps) {
        name[n] = data ? phase_names[d] : tap_names[d];
        size[n] = text(m, n_taps);
        coefficient[n++] = !data ? s->dilation[d] : filter ? v.phases : -step_back(s, d, &v);
    }
    if (positions) {
        name[n] = data ? slice_names[d] : out_names[d];
        size[n] = text(m, data ? v.size : conv_out(s, d));
        coefficient[n++] = input ? s->stride[d] : 1;
    }
    if (data)
        constant = filter  ? phase
                   : input ? s->stride[d] * v.left + s->dilation[d] * phase
                           : v.left + at_least_0(before - v.left);
    m->failed |= !view_embed(&m->to->view, lower, name, size, coefficient, n, constant, upper);
    if (taps) m->at[(int)conv_names_filter[d]] = upper[0];
    if (positions) m->at[(int)conv_names_out[d]] = upper[n - 1];
}

/* ---- tensors ---- */

/* The tensor's dimensions; its channels of all groups are two: group and channel. */
static void dimensions(Maker *m, ConvTensor t, int lower[CONV_SPATIAL])
{
    const ConvDesc *c = m->c;
    const ConvSize *s = &c->size;
    const bool filter = t == CONV_FILTER, input = t == CONV_INPUT;
    const char channel = input ? 'C' : 'K';
    int64_t size[CONV_DIMS], stride[CONV_DIMS];
    conv_tensor(c, t, size, stride);
    const int all = filter ? 0 : 1;
    const int64_t per_group = size[all] / s->groups;
    if (s->groups > 1) memory(m, "g", s->groups, per_group * stride[all]);
    if (!filter) m->at['N'] = memory(m, "n", size[0], stride[0]);
    m->at[(int)channel] = memory(m, input ? "c" : "k", per_group, stride[all]);
    if (filter) m->at['C'] = memory(m, "c", size[1], stride[1]);
    for (int d = c->n_spatial - 1; d >= 0; d--)
        lower[d] = memory(m,
                          filter  ? tap_names[d]
                          : input ? in_names[d]
                                  : out_names[d],
                          size[CONV_DIMS - 1 - d], stride[CONV_DIMS - 1 - d]);
}

bool conv_view(const ConvDesc *c, const ConvGemm *g, ConvTensor t, ConvView *out)
{
    Maker m = {.c = c, .g = g, .to = out};
    int lower[CONV_SPATIAL];
    memset(out, 0, sizeof *out);
    view_init(&out->view);
    dimensions(&m, t, lower);
    for (int d = c->n_spatial - 1; d >= 0 && !m.failed; d--) lower[d] = pad(&m, t, lower[d], d);
    for (int d = c->n_spatial - 1; d >= 0 && !m.failed; d--) embed(&m, t, lower[d], d);
    if (m.failed) return false;
    if (t != conv_result(c)) merge_side(&m, 'K');
    if (t != conv_right(c)) merge_side(&m, 'M');
    if (t != conv_left(c)) merge_side(&m, 'N');
    return !m.failed;
}

/* ---- text ---- */

static void names(const View *v, const int *dim, int n, Buf *out)
{
    if (n > 1) buf_putc(out, '(');
    for (int i = 0; i < n; i++) buf_printf(out, "%s%s", i ? ", " : "", v->dim[dim[i]].name);
    if (n > 1) buf_putc(out, ')');
}

static void step_print(const View *v, const ViewStep *s, Buf *out)
{
    names(v, s->upper, s->n_upper, out);
    switch (s->kind) {
    case VIEW_PAD:
        buf_printf(out, " = pad(%s, [%" PRId64 ", %" PRId64 "])", v->dim[s->lower[0]].name, s->param[0],
                   s->param[1]);
        break;
    case VIEW_EMBED:
        buf_printf(out, " = embed(%s, [%d, [", v->dim[s->lower[0]].name, s->n_upper);
        for (int i = 0; i <= s->n_upper; i++) buf_printf(out, "%s%" PRId64, i ? ", " : "", s->param[i]);
        buf_puts(out, "]])");
        break;
    default:
        buf_printf(out, " = %s", s->kind == VIEW_PASSTHROUGH ? "passthrough(" : "merge");
        names(v, s->lower, s->n_lower, out);
        if (s->kind == VIEW_PASSTHROUGH) buf_putc(out, ')');
    }
}

void conv_view_print(const ConvDesc *c, const ConvView *cv, ConvTensor t, Buf *out)
{
    const View *v = &cv->view;
    buf_printf(out, "%s %s [", conv_tensor_name(t), c->format[t]);
    for (int d = 0; d < v->n_memory; d++)
        buf_printf(out, "%s%s:%s*%s", d ? ", " : "", v->dim[d].name, v->dim[d].size, v->dim[d].stride);
    buf_puts(out, "]\n");
    for (int i = 0; i < v->n_steps; i++) {
        const bool begins = i == 0 || v->step[i].kind != v->step[i - 1].kind;
        buf_puts(out, begins ? "  " : "; ");
        step_print(v, &v->step[i], out);
        if (i + 1 == v->n_steps || v->step[i + 1].kind != v->step[i].kind) buf_putc(out, '\n');
    }
}
