/* Command lines of MIOpenDriver. See miopen.h; names and defaults are those of MIOpen's conv_driver.hpp. */
#include "problem/miopen.h"

#include <inttypes.h>
#include <string.h>

#include "fmt/command.h"
#include "problem/sizes.h"

static const struct {
    const char *name;
    DataType type;
} bases[] = {{"conv", TYPE_S},      {"convfp16", TYPE_H}, {"convbfp16", TYPE_B},
             {"convint8", TYPE_I8}, {"convfp8", TYPE_F8}, {"convbfp8", TYPE_B8}};
enum { N_BASES = sizeof bases / sizeof *bases };

typedef enum {
    SET_INT,
    SET_FLAG,
    SET_FORMAT,
    SET_MODE,
    SET_PAD_MODE,
    SET_RUN,     /* of the run, not of the problem */
    SET_NO_CAST, /* refused but for one value */
    SET_ZERO,
    SET_ONE
} SetKind;

typedef struct {
    const char *name;
    char letter; /* 0: none */
    uint8_t kind;
    size_t offset;
    int64_t min, max;
} MiopenOption;

#define AT(field) offsetof(MiopenOptions, field)
#define SIZE(field) AT(c.size.field)
static const MiopenOption options[] = {
    {"batchsize", 'n', SET_INT, SIZE(n), 1, SIZE_VALUE_MAX},
    {"in_channels", 'c', SET_INT, SIZE(c), 1, SIZE_VALUE_MAX},
    {"in_d", '!', SET_INT, SIZE(in[2]), 1, SIZE_VALUE_MAX},
    {"in_h", 'H', SET_INT, SIZE(in[1]), 1, SIZE_VALUE_MAX},
    {"in_w", 'W', SET_INT, SIZE(in[0]), 1, SIZE_VALUE_MAX},
    {"out_channels", 'k', SET_INT, SIZE(k), 1, SIZE_VALUE_MAX},
    {"fil_d", '@', SET_INT, SIZE(filter[2]), 1, SIZE_VALUE_MAX},
    {"fil_h", 'y', SET_INT, SIZE(filter[1]), 1, SIZE_VALUE_MAX},
    {"fil_w", 'x', SET_INT, SIZE(filter[0]), 1, SIZE_VALUE_MAX},
    {"conv_stride_d", '#', SET_INT, SIZE(stride[2]), 1, SIZE_VALUE_MAX},
    {"conv_stride_h", 'u', SET_INT, SIZE(stride[1]), 1, SIZE_VALUE_MAX},
    {"conv_stride_w", 'v', SET_INT, SIZE(stride[0]), 1, SIZE_VALUE_MAX},
    {"pad_d", '$', SET_INT, SIZE(pad[2]), 0, SIZE_VALUE_MAX},
    {"pad_h", 'p', SET_INT, SIZE(pad[1]), 0, SIZE_VALUE_MAX},
    {"pad_w", 'q', SET_INT, SIZE(pad[0]), 0, SIZE_VALUE_MAX},
    {"pad_d_end", 0, SET_INT, SIZE(pad_end[2]), 0, SIZE_VALUE_MAX},
    {"pad_h_end", 0, SET_INT, SIZE(pad_end[1]), 0, SIZE_VALUE_MAX},
    {"pad_w_end", 0, SET_INT, SIZE(pad_end[0]), 0, SIZE_VALUE_MAX},
    {"dilation_d", '^', SET_INT, SIZE(dilation[2]), 1, SIZE_VALUE_MAX},
    {"dilation_h", 'l', SET_INT, SIZE(dilation[1]), 1, SIZE_VALUE_MAX},
    {"dilation_w", 'j', SET_INT, SIZE(dilation[0]), 1, SIZE_VALUE_MAX},
    {"group_count", 'g', SET_INT, SIZE(groups), 1, SIZE_VALUE_MAX},
    {"forw", 'F', SET_INT, AT(forw), 0, 7},
    {"spatial_dim", '_', SET_INT, AT(spatial_dim), 2, 3},
    {"iter", 'i', SET_INT, AT(iters), 0, SIZE_VALUE_MAX},
    {"out_d", 0, SET_INT, AT(out[2]), 1, SIZE_VALUE_MAX},
    {"out_h", 0, SET_INT, AT(out[1]), 1, SIZE_VALUE_MAX},
    {"out_w", 0, SET_INT, AT(out[0]), 1, SIZE_VALUE_MAX},
    {"trans_output_pad_d", '%', SET_INT, AT(out_pad[2]), 0, SIZE_VALUE_MAX},
    {"trans_output_pad_h", 'Y', SET_INT, AT(out_pad[1]), 0, SIZE_VALUE_MAX},
    {"trans_output_pad_w", 'X', SET_INT, AT(out_pad[0]), 0, SIZE_VALUE_MAX},
    {"in_layout", 'I', SET_FORMAT, AT(format[CONV_INPUT]), 0, 0},
    {"out_layout", 'O', SET_FORMAT, AT(format[CONV_OUTPUT]), 0, 0},
    {"fil_layout", 'f', SET_FORMAT, AT(format[CONV_FILTER]), 0, 0},
    {"mode", 'm', SET_MODE, 0, 0, 0},
    {"pad_mode", 'z', SET_PAD_MODE, 0, 0, 0},
    {"bias", 'b', SET_FLAG, AT(bias), 0, 1},
    {"verify", 'V', SET_FLAG, AT(verify), 0, 1},
    {"xf32", 0, SET_INT, AT(xf32), 0, 1},
    {"pad_val", 'r', SET_ZERO, 0, 0, 0},
    {"tensor_vect", 'Z', SET_ZERO, 0, 0, 0},
    {"vector_length", 'L', SET_ONE, 0, 0, 0},
    {"in_cast_type", 'U', SET_NO_CAST, 0, 0, 0},
    {"wei_cast_type", 'R', SET_NO_CAST, 0, 0, 0},
    {"out_cast_type", 'T', SET_NO_CAST, 0, 0, 0},
    {"time", 't', SET_RUN, 0, 0, 0},
    {"wall", 'w', SET_RUN, 0, 0, 0},
    {"search", 's', SET_RUN, 0, 0, 0},
    {"printconv", 'P', SET_RUN, 0, 0, 0},
    {"dump_output", 'o', SET_RUN, 0, 0, 0},
    {"in_data", 'd', SET_RUN, 0, 0, 0},
    {"weights", 'e', SET_RUN, 0, 0, 0},
    {"in_bias", 'a', SET_RUN, 0, 0, 0},
    {"dout_data", 'D', SET_RUN, 0, 0, 0},
    {"solution", 'S', SET_RUN, 0, 0, 0},
    {"gpualloc", 'G', SET_RUN, 0, 0, 0},
    {"verification_cache", 'C', SET_RUN, 0, 0, 0},
    {"gpubuffer_check", 'B', SET_RUN, 0, 0, 0},
};
enum { N_OPTIONS = sizeof options / sizeof *options };

static const MiopenOption *option_find(Str name)
{
    for (size_t i = 0; i < N_OPTIONS; i++)
        if (name.n == 1 ? name.s[0] == options[i].letter : str_eq_c(name, options[i].name))
            return &options[i];
    return NULL;
}

bool miopen_init(MiopenOptions *o, Str base)
{
    enum { BATCH = 100, CHANNELS = 3, POSITIONS = 32, FILTER = 3, ITERS = 10 }; /* conv_driver.hpp */
    ConvSize *s = &o->c.size;
    for (size_t i = 0; i < N_BASES; i++) {
        if (!str_eq_c(base, bases[i].name)) continue;
        memset(o, 0, sizeof *o);
        conv_desc_init(&o->c);
        conv_desc_types(&o->c, bases[i].type);
        s->n = BATCH, s->c = CHANNELS, s->k = POSITIONS;
        for (int d = 0; d < CONV_SPATIAL; d++) {
            s->in[d] = POSITIONS, s->filter[d] = FILTER;
            s->pad_end[d] = o->out[d] = CONV_ANY;
        }
        o->spatial_dim = 2, o->iters = ITERS, o->verify = true;
        return true;
    }
    return false;
}

/* ---- options ---- */

static Err bad_value(const MiopenOption *o, Str value, const char *expected)
{
    FAIL(ERR_INPUT, "--%s: '%.*s', expected %s", o->name, (int)(value.n < 64 ? value.n : 64), value.s,
         expected);
}

static Err set_int(const MiopenOption *o, Str value, int64_t *out)
{
    if (str_to_i64(value, out) && *out >= o->min && *out <= o->max) return ERR_OK;
    FAIL(ERR_INPUT, "--%s: '%.*s' is not an integer from %" PRId64 " to %" PRId64, o->name,
         (int)(value.n < 64 ? value.n : 64), value.s, o->min, o->max);
}

static Err set_words(MiopenOptions *m, const MiopenOption *o, Str value)
{
    if (o->kind == SET_MODE) {
        m->transposed = str_eq_c(value, "trans");
        return m->transposed || str_eq_c(value, "conv") ? ERR_OK : bad_value(o, value, "conv or trans");
    }
    m->same = str_eq_c(value, "same"), m->valid = str_eq_c(value, "valid");
    return m->same || m->valid || str_eq_c(value, "default") ? ERR_OK
                                                             : bad_value(o, value, "same, valid or default");
}

Err miopen_set(MiopenOptions *m, Str name, Str value, bool *known)
{
    const MiopenOption *o = option_find(name);
    int64_t v = 0;
    *known = o != NULL;
    if (!o) return ERR_OK;
    void *field = (char *)m + o->offset;
    switch ((SetKind)o->kind) {
    case SET_INT:
        TRY(set_int(o, value, &v));
        *(int64_t *)field = v;
        return ERR_OK;
    case SET_FLAG:
        if (value.n) TRY(set_int(o, value, &v));
        *(bool *)field = v != 0;
        return ERR_OK;
    case SET_FORMAT:
        *(Str *)field = value;
        return ERR_OK;
    case SET_MODE:
    case SET_PAD_MODE:
        return set_words(m, o, value);
    case SET_RUN:
        return ERR_OK;
    case SET_NO_CAST:
        return str_eq_c(value, "-1") ? ERR_OK : bad_value(o, value, "-1: casts are not supported");
    case SET_ZERO:
        return str_eq_c(value, "0") ? ERR_OK : bad_value(o, value, "0: others are not supported");
    case SET_ONE:
        return str_eq_c(value, "1") ? ERR_OK : bad_value(o, value, "1: others are not supported");
    }
    FAIL(ERR_FAILED, "option '%s' has no kind", o->name);
}

/* ---- the convolution ---- */

enum { FORWARD = 1, DATA = 2, WEIGHTS = 4, ALL = FORWARD + DATA + WEIGHTS }; /* bits of --forw */

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

/* The pads of -z same and -z valid; MIOpen heeds them where no filter is dilated, and not in transposed
 * convolutions. */
static void pad_by_mode(const MiopenOptions *o, ConvSize *s)
{
    bool dilated = false, wide = false;
    for (int d = 0; d < o->c.n_spatial; d++) dilated |= s->dilation[d] != 1, wide |= s->filter[d] != 1;
    if (o->transposed || (dilated && wide) || (!o->same && !o->valid)) return;
    for (int d = 0; d < o->c.n_spatial; d++) {
        const int64_t rest = s->in[d] % s->stride[d];
        s->pad[d] = o->valid ? 0 : larger(s->filter[d] - (rest ? rest : s->stride[d]), 0) / 2;
        s->pad_end[d] = s->pad[d];
    }
}

/* The convolution of which a transposed one is the data pass. */
static Err transpose(const MiopenOptions *o, ConvDesc *c)
{
    ConvSize *s = &c->size;
    const int64_t channels = s->c;
    char format[CONV_FORMAT_MAX];
    for (int d = 0; d < c->n_spatial; d++) {
        const int64_t from = s->in[d];
        s->in[d] = s->stride[d] * (from - 1) + s->dilation[d] * (s->filter[d] - 1) + 1 - s->pad[d] -
                   s->pad_end[d] + o->out_pad[d];
        if (s->in[d] < 1 || s->in[d] > SIZE_VALUE_MAX || conv_out(s, d) != from)
            FAIL(ERR_INPUT,
                 "transposed along %c: an output of %" PRId64
                 " positions does not give back the input of %" PRId64 " (output pad %" PRId64
                 ", stride %" PRId64 ")",
                 conv_names_out[d], s->in[d], from, o->out_pad[d], s->stride[d]);
    }
    s->c = s->k, s->k = channels;
    memcpy(format, c->format[CONV_INPUT], sizeof format);
    memcpy(c->format[CONV_INPUT], c->format[CONV_OUTPUT], sizeof format);
    memcpy(c->format[CONV_OUTPUT], format, sizeof format);
    return ERR_OK;
}

static Err check_outputs(const MiopenOptions *o, const ConvDesc *c)
{
    const ConvSize *s = &c->size;
    for (int d = 0; d < c->n_spatial; d++) {
        const int64_t has = o->transposed ? s->in[d] : conv_out(s, d);
        if (o->out[d] == CONV_ANY || o->out[d] == has) continue;
        FAIL(ERR_INPUT,
             "--out_%c: %" PRId64 " does not follow from input %" PRId64 ", filter %" PRId64 ", pads %" PRId64
             " and %" PRId64 ", stride %" PRId64 ", dilation %" PRId64 ", which give %" PRId64,
             "whd"[d], o -> out[d], o -> transposed ? conv_out(s, d) : s -> in[d], s -> filter[d],
             s -> pad[d], s -> pad_end[d], s -> stride[d], s -> dilation[d], has);
    }
    return ERR_OK;
}

static Err prepare(MiopenOptions *o)
{
    ConvDesc *c = &o->c;
    ConvSize *s = &c->size;
    c->n_spatial = (int32_t)o->spatial_dim;
    c->xf32 = (int32_t)o->xf32;
    conv_desc_formats(c, false);
    for (int t = 0; t < CONV_TENSORS; t++)
        if (o->format[t].n) TRY(conv_desc_format(c, (ConvTensor)t, o->format[t]));
    for (int d = 0; d < CONV_SPATIAL; d++) {
        if (d >= c->n_spatial) {
            s->in[d] = s->filter[d] = s->stride[d] = s->dilation[d] = 1;
            s->pad[d] = s->pad_end[d] = 0;
        }
        if (s->pad_end[d] == CONV_ANY) s->pad_end[d] = s->pad[d];
    }
    pad_by_mode(o, s);
    if (o->transposed) TRY(transpose(o, c));
    TRY(conv_desc_check(c));
    return check_outputs(o, c);
}

Err miopen_finish(MiopenOptions *o, MiopenConv *out)
{
    static const struct {
        int bit, op, op_transposed;
    } directions[MIOPEN_DIRECTIONS] = {
        {FORWARD, OP_CONV_FORWARD, OP_CONV_BACKWARD_DATA},
        {DATA, OP_CONV_BACKWARD_DATA, OP_CONV_FORWARD},
        {WEIGHTS, OP_CONV_BACKWARD_WEIGHTS, OP_CONV_BACKWARD_WEIGHTS},
    };
    const DataType type = (DataType)o->c.type[CONV_INPUT];
    TRY(prepare(o));
    *out = (MiopenConv){.bias = o->bias, .iters = o->iters, .verify = o->verify};
    for (int i = 0; i < MIOPEN_DIRECTIONS; i++) {
        if (!((o->forw ? o->forw : ALL) & directions[i].bit)) continue;
        ConvDesc *c = &out->conv[out->n++];
        *c = o->c;
        c->op = o->transposed ? directions[i].op_transposed : directions[i].op;
        conv_desc_types(c, type);
    }
    return ERR_OK;
}

Err miopen_read(Str line, MiopenConv *out)
{
    MiopenOptions o;
    Str rest = line, value, word = command_word(&rest);
    if (!miopen_init(&o, word))
        FAIL(ERR_INPUT, "MIOpenDriver %.*s is no convolution", (int)(word.n < 32 ? word.n : 32), word.s);
    while ((word = command_word(&rest)).n) {
        bool known;
        if (word.n < 2 || word.s[0] != '-')
            FAIL(ERR_INPUT, "MIOpenDriver: '%.*s', expected an option", (int)(word.n < 64 ? word.n : 64),
                 word.s);
        Str name = command_option(word, &rest, &value);
        TRY(miopen_set(&o, name, value, &known));
        if (!known)
            FAIL(ERR_INPUT, "MIOpenDriver has no option '%.*s'", (int)(word.n < 64 ? word.n : 64), word.s);
    }
    return miopen_finish(&o, out);
}

/* ---- writing ---- */

static const char *base_of(const ConvDesc *c)
{
    for (size_t i = 0; i < N_BASES; i++)
        if ((int32_t)bases[i].type == c->type[conv_right(c)]) return bases[i].name;
    return "conv";
}

static int64_t value_of(const MiopenOption *o, const ConvDesc *c)
{
    const MiopenOptions m = {
        .c = *c,
        .forw = c->op == OP_CONV_FORWARD         ? FORWARD
                : c->op == OP_CONV_BACKWARD_DATA ? DATA
                                                 : WEIGHTS,
        .spatial_dim = c->n_spatial,
    };
    return *(const int64_t *)(const void *)((const char *)&m + o->offset);
}

/* Whether an option is a number of the problem. */
static bool is_number(const MiopenOption *o) { return o->kind == SET_INT && o->offset < AT(out); }

/* Whether the convolution needs it: one dimension of two has no depth, and pads are mostly equal. */
static bool is_needed(const MiopenOption *o, const ConvDesc *c)
{
    const ConvSize *s = &c->size;
    for (int d = 0; d < CONV_SPATIAL; d++) {
        if (o->offset == SIZE(pad_end[d])) return s->pad_end[d] != s->pad[d];
        const size_t of_size[] = {SIZE(in[d]), SIZE(filter[d]), SIZE(stride[d]), SIZE(pad[d]),
                                  SIZE(dilation[d])};
        for (size_t i = 0; i < sizeof of_size / sizeof *of_size; i++)
            if (o->offset == of_size[i]) return d < c->n_spatial;
    }
    return o->offset != AT(spatial_dim) || c->n_spatial == CONV_SPATIAL;
}

static const struct {
    char letter;
    const char *name;
    ConvTensor tensor;
} formats[] = {
    {'I', "in_layout", CONV_INPUT}, {'f', "fil_layout", CONV_FILTER}, {'O', "out_layout", CONV_OUTPUT}};
enum { N_FORMATS = sizeof formats / sizeof *formats };

void miopen_print(const ConvDesc *c, Buf *out)
{
    ConvDesc usual = *c;
    buf_puts(out, base_of(c));
    for (size_t i = 0; i < N_OPTIONS; i++) {
        const MiopenOption *o = &options[i];
        if (!is_number(o) || !is_needed(o, c)) continue;
        if (o->letter)
            buf_printf(out, " -%c %" PRId64, o->letter, value_of(o, c));
        else
            buf_printf(out, " --%s %" PRId64, o->name, value_of(o, c));
    }
    conv_desc_formats(&usual, false);
    for (size_t i = 0; i < N_FORMATS; i++)
        if (strcmp(c->format[formats[i].tensor], usual.format[formats[i].tensor]))
            buf_printf(out, " -%c %s", formats[i].letter, c->format[formats[i].tensor]);
    if (c->xf32) buf_puts(out, " --xf32 1");
}

void miopen_csv_header(Buf *out)
{
    buf_puts(out, "base");
    for (size_t i = 0; i < N_OPTIONS; i++)
        if (is_number(&options[i])) buf_printf(out, ",%s", options[i].name);
    for (size_t i = 0; i < N_FORMATS; i++) buf_printf(out, ",%s", formats[i].name);
    buf_puts(out, ",xf32");
}

void miopen_csv_row(const ConvDesc *c, Buf *out)
{
    buf_puts(out, base_of(c));
    for (size_t i = 0; i < N_OPTIONS; i++) {
        if (!is_number(&options[i])) continue;
        buf_putc(out, ',');
        if (is_needed(&options[i], c)) buf_i64(out, value_of(&options[i], c));
    }
    for (size_t i = 0; i < N_FORMATS; i++) buf_printf(out, ",%s", c->format[formats[i].tensor]);
    buf_printf(out, ",%d", c->xf32);
}
