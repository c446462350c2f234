/* Sizes of convolutions. See conv_size.h. */
#include "problem/conv_size.h"

#include <string.h>

#include "problem/sizes.h"

const char conv_names_out[] = "WHD", conv_names_filter[] = "XYZ";

void conv_size_init(ConvSize *s)
{
    memset(s, 0xff, sizeof *s);
    s->groups = 1, s->count = 0;
}

int64_t conv_out(const ConvSize *s, int d)
{
    const int64_t span = s->in[d] + s->pad[d] + s->pad_end[d] - ((s->filter[d] - 1) * s->dilation[d] + 1);
    return span < 0 ? 0 : span / s->stride[d] + 1;
}

static Err in_range(const char *what, int64_t v, int64_t least)
{
    if (v < least || v > SIZE_VALUE_MAX)
        FAIL(ERR_INPUT, "%s %lld is not in %lld..%lld", what, (long long)v, (long long)least,
             (long long)SIZE_VALUE_MAX);
    return 0;
}

static Err check_dimension(const ConvSize *s, int d)
{
    TRY(in_range("input size", s->in[d], 1));
    TRY(in_range("filter size", s->filter[d], 1));
    TRY(in_range("stride", s->stride[d], 1));
    TRY(in_range("dilation", s->dilation[d], 1));
    TRY(in_range("pad", s->pad[d], 0));
    TRY(in_range("pad at the end", s->pad_end[d], 0));
    if (conv_out(s, d) < 1)
        FAIL(ERR_INPUT,
             "along %c the filter of %lld elements with dilation %lld does not fit the input of %lld with "
             "pads %lld and %lld",
             conv_names_out[d], (long long)s->filter[d], (long long)s->dilation[d], (long long)s->in[d],
             (long long)s->pad[d], (long long)s->pad_end[d]);
    return 0;
}

Err conv_size_check(const ConvSize *s, int n_spatial)
{
    for (int d = 0; d < n_spatial; d++) TRY(check_dimension(s, d));
    TRY(in_range("n", s->n, 1));
    TRY(in_range("c", s->c, 1));
    TRY(in_range("k", s->k, 1));
    if (s->groups < 1 || s->c % s->groups || s->k % s->groups)
        FAIL(ERR_INPUT, "%lld groups do not divide %lld input and %lld output channels", (long long)s->groups,
             (long long)s->c, (long long)s->k);
    return 0;
}

int64_t conv_times(int64_t a, int64_t b)
{
    enum { HUGE_SHIFT = 61 };
    const int64_t huge = INT64_C(1) << HUGE_SHIFT;
    int64_t product;
    return __builtin_mul_overflow(a, b, &product) || product > huge ? huge : product;
}

int64_t conv_extent(const ConvSize *s, char letter, int64_t channels, bool in)
{
    const char *at;
    if (letter == 'N') return s->n;
    if (letter == 'C') return channels;
    if (letter == 'K') return s->k;
    if ((at = strchr(conv_names_out, letter)))
        return in ? s->in[at - conv_names_out] : conv_out(s, (int)(at - conv_names_out));
    return s->filter[strchr(conv_names_filter, letter) - conv_names_filter];
}

int64_t conv_distance(const ConvSize *s, const char *format, char letter, int64_t channels, bool in)
{
    int64_t step = 1;
    for (size_t i = strlen(format); i-- > 0;) {
        if (format[i] == letter) return step;
        step = conv_times(step, conv_extent(s, format[i], channels, in));
    }
    return 0;
}

int64_t *conv_size_field(ConvSize *s, Str key)
{
    const struct {
        const char *letters[CONV_SPATIAL];
        int64_t *field;
    } spatial[] = {{{"w", "h", "d"}, s->in},     {{"x", "y", "z"}, s->filter},
                   {{"v", "u", "#"}, s->stride}, {{"j", "l", "^"}, s->dilation},
                   {{"q", "p", "$"}, s->pad},    {{"q_", "p_", "$_"}, s->pad_end}};
    const struct {
        const char *name;
        int64_t *field;
    } single[] = {{"n", &s->n}, {"c", &s->c}, {"k", &s->k}, {"g", &s->groups}, {"count", &s->count}};
    for (size_t i = 0; i < sizeof single / sizeof *single; i++)
        if (str_eq_c(key, single[i].name)) return single[i].field;
    for (size_t i = 0; i < sizeof spatial / sizeof *spatial; i++)
        for (int d = 0; d < CONV_SPATIAL; d++)
            if (str_eq_c(key, spatial[i].letters[d])) return &spatial[i].field[d];
    return NULL;
}
