/* Names of fused operations, and the activations' meaning. See fused.h. */
#include "problem/fused.h"

#include <math.h>
#include <string.h>

static const struct {
    const char *name, *suffix;
    int numbers;
} activations[ACTIVATION_COUNT] = {
    [ACTIVATION_NONE] = {"none", "", 0},
    [ACTIVATION_ABS] = {"abs", "_ABS", 0},
    [ACTIVATION_CLIPPEDRELU] = {"clippedrelu", "_CLIPPEDRELU", 2},
    [ACTIVATION_GELU] = {"gelu", "_GELU", 0},
    [ACTIVATION_LEAKYRELU] = {"leakyrelu", "_LEAKYRELU", 1},
    [ACTIVATION_RELU] = {"relu", "_RELU", 0},
    [ACTIVATION_SIGMOID] = {"sigmoid", "_SIGMOID", 0},
    [ACTIVATION_TANH] = {"tanh", "_TANH", 2},
    [ACTIVATION_SILU] = {"silu", "_SILU", 0},
    [ACTIVATION_CLAMP] = {"clamp", "_CLAMP", 2},
};

static const char *const names[FUSED_OPERANDS] = {"scale_a", "scale_b",     "scale_c",
                                                  "scale_d", "scale_alpha", "bias"};

const char *fused_name(FusedOperand o) { return names[o]; }

bool fused_any(const Fused *f)
{
    return f->bias || f->scale_alpha || f->activation || f->scale_ab || f->scale_cd;
}

bool fused_has(const Fused *f, FusedOperand o)
{
    switch (o) {
    case FUSED_SCALE_A:
    case FUSED_SCALE_B:
        return f->scale_ab != SCALE_AB_NONE;
    case FUSED_SCALE_C:
    case FUSED_SCALE_D:
        return f->scale_cd;
    case FUSED_SCALE_ALPHA:
        return f->scale_alpha != ALONG_NONE;
    default:
        return f->bias != ALONG_NONE;
    }
}

Along fused_along(const Fused *f, FusedOperand o)
{
    const bool vector = f->scale_ab == SCALE_AB_VECTOR;
    switch (o) {
    case FUSED_SCALE_A:
        return vector ? ALONG_M : ALONG_NONE;
    case FUSED_SCALE_B:
        return vector ? ALONG_N : ALONG_NONE;
    case FUSED_SCALE_ALPHA:
        return f->scale_alpha;
    case FUSED_BIAS:
        return f->bias;
    default:
        return ALONG_NONE;
    }
}

const char *activation_name(Activation a) { return activations[a].name; }
int activation_numbers(Activation a) { return activations[a].numbers; }

bool activation_has_exp(Activation a)
{
    return a == ACTIVATION_GELU || a == ACTIVATION_SIGMOID || a == ACTIVATION_TANH || a == ACTIVATION_SILU;
}

bool activation_find(Str name, Activation *out)
{
    for (int i = 0; i < ACTIVATION_COUNT; i++)
        if (str_eq_c(name, activations[i].name)) {
            *out = (Activation)i;
            return true;
        }
    return false;
}

double activation_of(Activation a, double x, const double number[2])
{
    const double root = 0.7978845608028654; /* sqrt(2 / pi) */
    switch (a) {
    case ACTIVATION_ABS:
        return fabs(x);
    case ACTIVATION_CLIPPEDRELU:
        return x >= number[0] ? fmin(x, number[1]) : 0;
    case ACTIVATION_GELU:
        return 0.5 * x * (1 + tanh(root * (x + 0.044715 * x * x * x)));
    case ACTIVATION_LEAKYRELU:
        return x >= 0 ? x : number[0] * x;
    case ACTIVATION_RELU:
        return x > 0 ? x : 0;
    case ACTIVATION_SIGMOID:
        return 1 / (1 + exp(-x));
    case ACTIVATION_TANH:
        return number[0] * tanh(number[1] * x);
    case ACTIVATION_SILU:
        return x / (1 + exp(-x));
    case ACTIVATION_CLAMP:
        return fmax(number[0], fmin(x, number[1]));
    default:
        return x;
    }
}

size_t fused_suffix(const Fused *f, char out[FUSED_SUFFIX_MAX])
{
    const char *const part[] = {f->bias ? "_Bias" : "",
                                f->bias ? type_letter(f->bias_type) : "",
                                f->bias == ALONG_N ? "N" : "",
                                activations[f->activation].suffix,
                                f->scale_ab == SCALE_AB_VECTOR ? "_SABV"
                                : f->scale_ab                  ? "_SAB"
                                                               : "",
                                f->scale_cd ? "_SCD" : "",
                                f->scale_alpha == ALONG_N ? "_SAVN"
                                : f->scale_alpha          ? "_SAV"
                                                          : ""};
    size_t n = 0;
    for (size_t i = 0; i < sizeof part / sizeof *part; i++)
        for (const char *s = part[i]; *s && n < FUSED_SUFFIX_MAX; s++) out[n++] = *s;
    return n;
}

void fused_put(const Fused *f, Buf *out)
{
    char suffix[FUSED_SUFFIX_MAX];
    buf_add(out, suffix, fused_suffix(f, suffix));
}

/* Reads one word of a suffix, without its '_'. */
static bool read_word(Str w, Fused *f)
{
    static const char bias[] = "Bias";
    if (str_starts(w, bias)) {
        Str type = str_sub(w, sizeof bias - 1, w.n);
        const bool n = type.n > 1 && type.s[type.n - 1] == 'N';
        f->bias = n ? ALONG_N : ALONG_M;
        return type_find(str_sub(type, 0, type.n - n), &f->bias_type);
    }
    for (int i = 1; i < ACTIVATION_COUNT; i++)
        if (str_eq_c(w, activations[i].suffix + 1)) f->activation = (Activation)i;
    if (str_eq_c(w, "SAB")) f->scale_ab = SCALE_AB_SCALAR;
    if (str_eq_c(w, "SABV")) f->scale_ab = SCALE_AB_VECTOR;
    if (str_eq_c(w, "SCD")) f->scale_cd = true;
    if (str_eq_c(w, "SAV")) f->scale_alpha = ALONG_M;
    if (str_eq_c(w, "SAVN")) f->scale_alpha = ALONG_N;
    return true;
}

bool fused_read(Str suffix, Fused *out)
{
    Str rest = suffix, word;
    Buf again;
    memset(out, 0, sizeof *out);
    if (suffix.n == 0) return true;
    if (suffix.s[0] != '_') return false;
    str_split(&rest, '_', &word);
    while (str_split(&rest, '_', &word))
        if (!read_word(word, out)) return false;
    buf_init(&again); /* words that are none, or in another order, do not come back */
    fused_put(out, &again);
    const bool same = !buf_check(&again) && str_eq(buf_view(&again), suffix);
    buf_fini(&again);
    return same;
}

bool fused_of_identifier(Str *identifier, Fused *out)
{
    enum { PARTS = 6 }; /* Contraction, indices, A, B, C, D */
    size_t at = 0;
    for (int i = 0; i < PARTS; i++) {
        at = str_find(*identifier, '_', at);
        if (at >= identifier->n) break;
        if (i + 1 < PARTS) at++;
    }
    const Str suffix = str_sub(*identifier, at, identifier->n);
    *identifier = str_sub(*identifier, 0, at);
    return fused_read(suffix, out);
}
