/* libtuner: descriptions of convolutions: checks a tuner_conv2d_desc or tuner_conv3d_desc and makes the one
 * form that both have inside the library (ConvCall). */
#include <inttypes.h>
#include <string.h>

#include "client/runtime/conv_members.h"
#include "client/runtime/tuner_conv.h"

/* Bytes of the descriptions in the first release; later members follow those. */
enum { FIRST_SIZE_2D = 240, FIRST_SIZE_3D = 296 };
_Static_assert(sizeof(tuner_conv2d_desc) == FIRST_SIZE_2D && sizeof(tuner_conv3d_desc) == FIRST_SIZE_3D,
               "members are added at the end, and these sizes stay");
_Static_assert((int)TUNER_CONV_BACKWARD_DATA + (int)OP_CONV_FORWARD == (int)OP_CONV_BACKWARD_DATA &&
                   (int)TUNER_CONV_BACKWARD_WEIGHTS + (int)OP_CONV_FORWARD == (int)OP_CONV_BACKWARD_WEIGHTS,
               "directions have the order of problem/problem.h");

/* What both descriptions say, with its numbers by dimension: W, H, D. */
typedef struct {
    const char *name;
    int n_spatial;
    int32_t direction, layout[CONV_TENSORS], type[CONV_TENSORS], compute, xf32;
    int64_t n, c, k, groups;
    int64_t in[CONV_SPATIAL], filter[CONV_SPATIAL], stride[CONV_SPATIAL], dilation[CONV_SPATIAL];
    int64_t pad[CONV_SPATIAL], pad_end[CONV_SPATIAL], out[CONV_SPATIAL];
} Given;

static Err check_types(const Given *g)
{
    for (int t = 0; t < CONV_TENSORS; t++)
        TRY(check_type(conv_tensor_name((ConvTensor)t), (tuner_type)g->type[t]));
    if (g->compute != TUNER_F32 && g->compute != TUNER_F64 && g->compute != TUNER_I32)
        FAIL(ERR_INPUT, "compute type of a convolution: %s, expected f32_r, f64_r or i32_r",
             tuner_type_word((unsigned)g->compute));
    return ERR_OK;
}

static Err check_members(const Given *g, int32_t metric)
{
    static const char *const layout[] = {"input_layout", "filter_layout", "output_layout"};
    TRY(check_member(g->name, "direction", g->direction, TUNER_CONV_BACKWARD_WEIGHTS));
    for (int t = 0; t < CONV_TENSORS; t++) TRY(check_member(g->name, layout[t], g->layout[t], TUNER_CHWN));
    TRY(check_member(g->name, "metric", metric, TUNER_METRIC_DEVICE));
    TRY(check_member(g->name, "xf32", g->xf32, 1));
    return check_types(g);
}

/* Output sizes that the caller gave must be those that follow. */
static Err check_output(const Given *g, const ConvSize *s)
{
    for (int i = 0; i < g->n_spatial; i++)
        if (g->out[i] && g->out[i] != conv_out(s, i))
            FAIL(ERR_INPUT,
                 "out_%c %" PRId64 " does not follow from input %" PRId64 ", filter %" PRId64
                 ", pads %" PRId64 " and %" PRId64 ", stride %" PRId64 ", dilation %" PRId64
                 ", which give %" PRId64,
                 "whd"[i], g -> out[i], s -> in[i], s -> filter[i], s -> pad[i], s -> pad_end[i],
                 s -> stride[i], s -> dilation[i], conv_out(s, i));
    return ERR_OK;
}

static Err desc_of(const Given *g, ConvDesc *c)
{
    static const char *const layouts[2][4] = {{"NCHW", "NHWC", "CNHW", "CHWN"},
                                              {"NCDHW", "NDHWC", "CNDHW", "CDHWN"}};
    ConvSize *s = &c->size;
    conv_desc_init(c);
    c->op = OP_CONV_FORWARD + g->direction, c->n_spatial = g->n_spatial;
    memcpy(c->type, g->type, sizeof c->type);
    c->compute = g->compute, c->xf32 = g->xf32;
    s->n = g->n, s->c = g->c, s->k = g->k, s->groups = g->groups ? g->groups : 1;
    for (int i = 0; i < g->n_spatial; i++) {
        s->in[i] = g->in[i], s->filter[i] = g->filter[i];
        s->stride[i] = g->stride[i] ? g->stride[i] : 1, s->dilation[i] = g->dilation[i] ? g->dilation[i] : 1;
        s->pad[i] = g->pad[i], s->pad_end[i] = g->pad_end[i];
    }
    for (int t = 0; t < CONV_TENSORS; t++)
        TRY(conv_desc_format(c, (ConvTensor)t, str_from(layouts[g->n_spatial == 3][g->layout[t]])));
    TRY(conv_desc_check(c));
    return check_output(g, s);
}

/* ---- epilogues ---- */

/* Vectors lie along the channels of the result: D's rows or its columns. */
static Err epilogue_of_conv(const tuner_epilogue *e, ConvCall *out)
{
    const ConvDesc *c = &out->c;
    tuner_gemm_desc types = {.compute_type = (tuner_type)c->compute};
    tuner_epilogue of_d;
    if (!e) return ERR_OK;
    TRY(epilogue_of_call(&types, e, &out->f));
    of_d = *e;
    if (e->bias_along == TUNER_ALONG_N || e->scale_alpha_along == TUNER_ALONG_N || e->bias_stride)
        FAIL(ERR_INPUT,
             "tuner_epilogue of a convolution: bias_along %d, scale_alpha_along %d, bias_stride %" PRId64
             ": expected TUNER_ALONG_M, along channels, and no stride",
             (int)e->bias_along, (int)e->scale_alpha_along, e->bias_stride);
    if (c->op == OP_CONV_BACKWARD_WEIGHTS || e->scale_ab == TUNER_SCALE_VECTOR)
        FAIL(ERR_INPUT, "tuner_epilogue: %s has no %s", conv_op_name(c->op),
             e->scale_ab == TUNER_SCALE_VECTOR ? "scale factors along M and N" : "fused operations");
    if (e->scale_alpha_along && c->size.groups > 1)
        FAIL(ERR_INPUT, "tuner_epilogue.scale_alpha: %" PRId64 " groups have no vector in common",
             c->size.groups);
    if (!conv_swaps(c)) return ERR_OK;
    if (e->bias_along) of_d.bias_along = TUNER_ALONG_N;
    if (e->scale_alpha_along) of_d.scale_alpha_along = TUNER_ALONG_N;
    return epilogue_of_call(&types, &of_d, &out->f);
}

/* ---- the two descriptions ---- */

static Err call_of(const char *name, int n_spatial, const tuner_conv3d_desc *d, const tuner_epilogue *e,
                   ConvCall *out)
{
    const Given g = {.name = name,
                     .n_spatial = n_spatial,
                     .direction = d->direction,
                     .layout = {d->input_layout, d->filter_layout, d->output_layout},
                     .type = {d->input_type, d->filter_type, d->output_type},
                     .compute = d->compute_type,
                     .xf32 = d->xf32,
                     .n = d->n,
                     .c = d->c,
                     .k = d->k,
                     .groups = d->groups,
                     .in = {d->w, d->h, d->d},
                     .filter = {d->x, d->y, d->z},
                     .stride = {d->stride_w, d->stride_h, d->stride_d},
                     .dilation = {d->dilation_w, d->dilation_h, d->dilation_d},
                     .pad = {d->pad_w, d->pad_h, d->pad_d},
                     .pad_end = {d->pad_w_end, d->pad_h_end, d->pad_d_end},
                     .out = {d->out_w, d->out_h, d->out_d}};
    *out =
        (ConvCall){.metric = (uint8_t)d->metric,
                   .alpha = d->alpha,
                   .beta = d->beta,
                   .tensor = {[CONV_INPUT] = d->input, [CONV_FILTER] = d->filter, [CONV_OUTPUT] = d->output},
                   .solution_index = d->solution_index};
    TRY(check_members(&g, d->metric));
    TRY(desc_of(&g, &out->c));
    return epilogue_of_conv(e, out);
}

Err conv_call_2d(const tuner_conv2d_desc *d, const tuner_epilogue *e, ConvCall *out)
{
    TRY(check_struct("tuner_conv2d_desc", d, FIRST_SIZE_2D, sizeof *d));
    tuner_conv3d_desc same = {.size = sizeof same};
#define COPY(m) same.m = d->m;
    CONV_MEMBERS(COPY)
#undef COPY
    return call_of("tuner_conv2d_desc", 2, &same, e, out);
}

Err conv_call_3d(const tuner_conv3d_desc *d, const tuner_epilogue *e, ConvCall *out)
{
    TRY(check_struct("tuner_conv3d_desc", d, FIRST_SIZE_3D, sizeof *d));
    return call_of("tuner_conv3d_desc", 3, d, e, out);
}
