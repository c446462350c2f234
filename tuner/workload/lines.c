/* The forms of lines that logs of GEMMs have. See workload.h. */
#include <string.h>

#include "fmt/command.h"
#include "workload/workload.h"

/* ---- options ---- */

/* Names that hipblaslt-bench, its profile and CSV files have for an option of a call. */
static const struct {
    const char *name, *option;
} synonyms[] = {
    {"m", "M"},           {"n", "N"},           {"k", "K"},
    {"f", "function"},    {"r", "precision"},   {"batch_size", "batch_count"},
    {"transa", "transA"}, {"transb", "transB"},
};

/* Types under names that rocBLAS does not have, and compute types that round the operands. */
static const struct {
    const char *name;
    DataType type;
    bool xf32;
} other_types[] = {
    {"x", TYPE_S, true},
    {"xf32_r", TYPE_S, true},
    {"f32_f16_r", TYPE_S, false},
    {"f32_bf16_r", TYPE_S, false},
    {"f8_fnuz_r", TYPE_F8, false},
    {"bf8_fnuz_r", TYPE_B8, false},
    {"float", TYPE_S, false},
    {"double", TYPE_D, false},
    {"Half", TYPE_H, false},
    {"BFloat16", TYPE_B, false},
    {"Float8_e4m3fn", TYPE_F8, false},
    {"Float8_e4m3fnuz", TYPE_F8, false},
    {"Float8_e5m2", TYPE_B8, false},
    {"Float8_e5m2fnuz", TYPE_B8, false},
    {"c10::Half", TYPE_H, false},
    {"c10::BFloat16", TYPE_B, false},
    {"float32", TYPE_S, false},
    {"float16", TYPE_H, false},
    {"bfloat16", TYPE_B, false},
    {"tf32", TYPE_S, true},
    {"c10::complex<float>", TYPE_C, false},
    {"c10::complex<double>", TYPE_Z, false},
};

static bool find_type(Str text, DataType *type, bool *xf32)
{
    if (call_type_find(text, type)) return true;
    for (size_t i = 0; i < sizeof other_types / sizeof *other_types; i++)
        if (str_eq_c(text, other_types[i].name)) {
            *type = other_types[i].type;
            *xf32 |= other_types[i].xf32;
            return true;
        }
    return false;
}

Err workload_count(Str name, Str value, int64_t *count)
{
    if (str_to_i64(value, count) && *count >= 1 && *count <= INT64_C(1) << 40) return ERR_OK;
    FAIL(ERR_INPUT, "%.*s: '%.*s' is not a number of calls", STR_ARG(name), STR_ARG(value));
}

/* Options that are not of the call itself. */
static Err own_option(Workload *w, Str name, Str value, int64_t *count)
{
    if (str_eq_c(name, "call_count") || str_eq_c(name, "count") || str_eq_c(name, "calls"))
        return workload_count(name, value, count);
    if (str_eq_c(name, "activation_type") ? !str_eq_c(value, "none") : str_eq_c(name, "bias_vector"))
        w->line_epilogue = true;
    return ERR_OK;
}

Err workload_option(Workload *w, GemmCall *c, Str name, Str value, int64_t *count)
{
    DataType type;
    bool known;
    if (name.n == 1 || name.n == 6 || name.n == 10)
        for (size_t i = 0; i < sizeof synonyms / sizeof *synonyms; i++)
            if (str_eq_c(name, synonyms[i].name)) name = str_from(synonyms[i].option);
    if (str_eq_c(name, "algo") || str_eq_c(name, "solution_index")) return ERR_OK; /* of another library */
    bool of_type = str_ends(name, "_type") && !str_eq_c(name, "activation_type");
    if (of_type && find_type(value, &type, &c->xf32)) value = str_from(call_type_name(type));
    TRY(call_set_known(c, name, value, &known));
    return known ? ERR_OK : own_option(w, name, value, count);
}

static Err finish(Workload *w, GemmCall *c, bool typed, int64_t count, double seconds)
{
    if (c->m < 0 || c->n < 0 || c->k < 0) FAIL(ERR_INPUT, "the line does not give M, N and K");
    w->precision_used |= !typed;
    w->n_epilogues += w->line_epilogue;
    return workload_add(w, c, count, seconds);
}

static void start(Workload *w, GemmCall *c)
{
    call_init(c);
    w->line_epilogue = false;
    c->m = c->n = c->k = -1; /* not given yet */
    for (int i = 0; i < CALL_TYPES; i++) c->type[i] = w->precision;
}

/* ---- command lines ---- */

/* hip: a line of hipblaslt-bench, where every call may be a batch. */
static Err read_command(Workload *w, Str line, bool hip, Buf *reason, LineKind *kind)
{
    GemmCall c;
    Str rest = line, word, value;
    int64_t count = 1;
    bool typed = false;
    start(w, &c);
    while ((word = command_word(&rest)).n) {
        if (!command_is_option(word)) continue;
        Str name = command_option(word, &rest, &value);
        bool function = str_eq_c(name, "f") || str_eq_c(name, "function");
        if (function && !hip && !call_is_gemm(value)) {
            buf_printf(reason, "%.*s is no GEMM", STR_ARG(value));
            *kind = LINE_SKIPPED;
            return ERR_OK;
        }
        if ((function && hip) || str_eq_c(name, "i") || str_eq_c(name, "j") || str_eq_c(name, "v")) continue;
        typed |= str_ends(name, "_type") || str_eq_c(name, "r") || str_eq_c(name, "precision");
        if (value.n || str_eq_c(name, "bias_vector")) TRY(workload_option(w, &c, name, value, &count));
    }
    if (hip) c.ex = true, c.strided = c.batch > 1;
    return finish(w, &c, typed, count, 0);
}
static Err read_rocblas(Workload *w, Str line, Buf *reason, LineKind *kind)
{
    return read_command(w, line, false, reason, kind);
}
static Err read_hipblaslt(Workload *w, Str line, Buf *reason, LineKind *kind)
{
    return read_command(w, line, true, reason, kind);
}
static Err read_miopen(Workload *w, Str line, Buf *reason, LineKind *kind)
{
    MiopenConv c;
    (void)reason, (void)kind;
    TRY(miopen_read(line, &c));
    return workload_add_conv(w, &c, 1, 0);
}

/* ---- profiles: "- { rocblas_function: "rocblas_sgemm", transA: 'N', M: 128, ..., call_count: 3 }" ---- */

/* Takes "key: value" from a flow map of scalars. False at its end. */
static bool take_pair(Str *rest, Str *key, Str *value)
{
    size_t at = 0, colon, end;
    while (at < rest->n && strchr(" ,{", rest->s[at])) at++;
    colon = str_find(*rest, ':', at);
    if (colon >= rest->n) return false;
    *key = str_trim(str_sub(*rest, at, colon));
    for (at = colon + 1; at < rest->n && rest->s[at] == ' '; at++) continue;
    if (at < rest->n && (rest->s[at] == '"' || rest->s[at] == '\'')) {
        end = str_find(*rest, rest->s[at], at + 1);
        *value = str_sub(*rest, at + 1, end);
        end++;
    } else {
        for (end = at; end < rest->n && rest->s[end] != ',' && rest->s[end] != '}'; end++) continue;
        *value = str_trim(str_sub(*rest, at, end));
    }
    *rest = str_sub(*rest, end, rest->n);
    return true;
}

static Err read_profile(Workload *w, Str line, Buf *reason, LineKind *kind)
{
    GemmCall c;
    Str rest = str_sub(line, str_find(line, '{', 0), line.n), key, value;
    int64_t count = 1;
    bool typed = false, hip = false;
    if (str_find(rest, '}', 0) == rest.n) FAIL(ERR_INPUT, "the map has no end");
    start(w, &c);
    while (take_pair(&rest, &key, &value)) {
        if (str_eq_c(key, "function")) { /* hipBLASLt's: matmul */
            hip = true;
            continue;
        }
        if (str_eq_c(key, "rocblas_function")) {
            if (!call_is_gemm(value)) {
                buf_printf(reason, "%.*s is no GEMM", STR_ARG(value));
                *kind = LINE_SKIPPED;
                return ERR_OK;
            }
            typed |= !str_starts(value, "rocblas_gemm");
        }
        typed |= str_ends(key, "_type");
        if (value.n) TRY(workload_option(w, &c, key, value, &count));
    }
    if (hip) c.ex = true, c.strided = c.batch > 1;
    return finish(w, &c, typed, count, 0);
}

/* ---- TunableOp: "GemmTunableOp_Half_TN,tn_768_1024_64_ld_64_64_768[,Gemm_Rocblas_21,0.0123]" ---- */

/* Takes the number before the next '_'. */
static bool take_number(Str *rest, int64_t *out)
{
    Str part;
    return str_split(rest, '_', &part) && str_to_i64(part, out);
}

/* "tn_M_N_K[_B_BATCH][_ld_LDA_LDB_LDC][_rw_...]" */
static bool read_signature(Str text, GemmCall *c)
{
    Str rest = text, part;
    if (!str_split(&rest, '_', &part) || part.n != 2) return false;
    c->op[0] = (char)(part.s[0] & ~32), c->op[1] = (char)(part.s[1] & ~32);
    if (!strchr("NTC", c->op[0]) || !strchr("NTC", c->op[1])) return false;
    if (!take_number(&rest, &c->m) || !take_number(&rest, &c->n) || !take_number(&rest, &c->k)) return false;
    while (str_split(&rest, '_', &part)) {
        if (str_eq_c(part, "B") && !take_number(&rest, &c->batch)) return false;
        if (str_eq_c(part, "ld"))
            for (int i = 0; i < 3; i++)
                if (!take_number(&rest, &c->ld[i])) return false;
    }
    c->strided = c->batch > 1;
    return c->m > 0 && c->n > 0 && c->k > 0 && c->batch > 0;
}

/* The types of "Half_TN" or, with scales, "Float8_e4m3fn_Float8_e4m3fn_BFloat16_TN". */
static bool read_tunable_types(Str text, GemmCall *c)
{
    DataType type[3];
    int n = 0;
    size_t from = 0;
    while (n < 3 && from + 3 < text.n) {
        size_t end = text.n - 3; /* before "_TN" */
        bool found = false;
        for (size_t to = from + 1; to <= end && !found; to++)
            if (to == end || text.s[to] == '_')
                if ((found = find_type(str_sub(text, from, to), &type[n], &c->xf32))) from = to + 1;
        if (!found) return false;
        n++;
    }
    if (n != 1 && n != 3) return false;
    DataType d = type[n - 1];
    c->type[CALL_A] = type[0];
    c->type[CALL_B] = type[n / 2];
    c->type[CALL_C] = c->type[CALL_D] = d;
    bool narrow = type_bytes(type[0]) < 4 && !type_info(type[0])->integral;
    c->type[CALL_COMPUTE] = narrow ? TYPE_S : type[0];
    return true;
}

static Err read_tunable(Workload *w, Str line, Buf *reason, LineKind *kind)
{
    static const char mark[] = "TunableOp_";
    GemmCall c;
    Str cell[4] = {{0}}, rest = line;
    double milliseconds = 0;
    for (int i = 0; i < 4 && str_split(&rest, ',', &cell[i]); i++) cell[i] = str_trim(cell[i]);
    const char *at = memmem(cell[0].s, cell[0].n, mark, sizeof mark - 1);
    size_t types = at ? (size_t)(at - cell[0].s) + sizeof mark - 1 : 0;
    start(w, &c);
    c.ex = true;
    if (!at || !read_tunable_types(str_sub(cell[0], types, cell[0].n), &c)) {
        buf_printf(reason, "TunableOp of '%.*s'", STR_ARG(cell[0]));
        *kind = LINE_SKIPPED;
        return ERR_OK;
    }
    if (!read_signature(cell[1], &c)) FAIL(ERR_INPUT, "TunableOp's sizes '%.*s'", STR_ARG(cell[1]));
    w->line_epilogue = str_starts(cell[0], "GemmAndBias");
    if (cell[3].n && !str_to_f64(cell[3], &milliseconds)) milliseconds = 0;
    return finish(w, &c, true, 1, milliseconds * 1e-3);
}

/* ---- all ---- */

static const struct {
    const char *mark; /* a part of the line */
    bool after;       /* the form begins after the mark; else with the line */
    Err (*read)(Workload *w, Str line, Buf *reason, LineKind *kind);
} forms[] = {
    {"rocblas-bench ", true, read_rocblas},     {"tuner-bench ", true, read_rocblas},
    {"hipblaslt-bench ", true, read_hipblaslt}, {"rocblas_function:", false, read_profile},
    {"function: matmul", false, read_profile},  {"function: \"matmul\"", false, read_profile},
    {"TunableOp_", false, read_tunable},        {"MIOpenDriver ", true, read_miopen},
};

Err workload_line(Workload *w, Str line, Buf *reason, LineKind *kind)
{
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        size_t n = strlen(forms[i].mark);
        const char *at = line.n ? memmem(line.s, line.n, forms[i].mark, n) : NULL;
        if (!at) continue;
        *kind = LINE_CALL;
        Str from = forms[i].after ? str_sub(line, (size_t)(at - line.s) + n, line.n) : line;
        return forms[i].read(w, from, reason, kind);
    }
    *kind = LINE_OTHER;
    return ERR_OK;
}
