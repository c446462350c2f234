/* tuner-bench: cases from options and from YAML files, with rocblas-bench's names. */
#include <inttypes.h>
#include <string.h>

#include "base/fs.h"
#include "client/bench/bench.h"
#include "problem/datatype.h"

void case_init(BenchCase *c)
{
    *c = (BenchCase){
        .alpha = {1, 0}, .iters = 10, .cold_iters = 2, .rotating = -1, .fill = FILL_HPL, .seed = 1};
    c->g.m = c->g.n = c->g.k = 128;
    c->g.batch = 1;
}

/* ---- values ---- */

static const struct {
    const char *name, *letter;
    tuner_type type;
} types[] = {
    {"f32_r", "s", TUNER_F32},  {"f64_r", "d", TUNER_F64},      {"f32_c", "c", TUNER_C32},
    {"f64_c", "z", TUNER_C64},  {"f16_r", "h", TUNER_F16},      {"bf16_r", "b", TUNER_BF16},
    {"i8_r", "i8", TUNER_I8},   {"i32_r", "i", TUNER_I32},      {"f8_r", "f8", TUNER_F8},
    {"bf8_r", "b8", TUNER_BF8}, {"i8x4_r", "4xi8", TUNER_I8X4},
};

static Err read_type(const char *name, Str v, tuner_type *out)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (str_eq_c(v, types[i].name) || str_eq_c(v, types[i].letter)) {
            *out = types[i].type;
            return ERR_OK;
        }
    FAIL(ERR_INPUT,
         "--%s: type '%.*s' is not one of f32_r f64_r f32_c f64_c f16_r bf16_r i8_r i8x4_r i32_r f8_r bf8_r",
         name, STR_ARG(v));
}

static Err read_op(const char *name, Str v, tuner_op *out)
{
    static const char ops[] = "NTC";
    const char *at = v.n == 1 ? strchr(ops, v.s[0] & ~32) : NULL;
    if (!at || !*at) FAIL(ERR_INPUT, "--%s: '%.*s' is not N, T or C", name, STR_ARG(v));
    *out = (tuner_op)(at - ops);
    return ERR_OK;
}

static Err read_int(const char *name, Str v, int64_t min, int64_t *out)
{
    if (!str_to_i64(v, out) || *out < min)
        FAIL(ERR_INPUT, "--%s: '%.*s' is not an integer from %" PRId64, name, STR_ARG(v), min);
    return ERR_OK;
}

static Err read_real(const char *name, Str v, double *out)
{
    if (!str_to_f64(v, out)) FAIL(ERR_INPUT, "--%s: '%.*s' is not a number", name, STR_ARG(v));
    return ERR_OK;
}

static Err read_fill(Str v, BenchFill *out)
{
    static const char *const names[FILL_COUNT] = {
        "rand_int", "trig_float", "hpl", "zero", "One", "Two", "Random", "RandomNarrow", "Uniform", "Normal"};
    for (int i = 0; i < FILL_COUNT; i++)
        if (str_eq_c(v, names[i])) {
            *out = (BenchFill)i;
            return ERR_OK;
        }
    FAIL(ERR_INPUT,
         "--initialization: '%.*s' is not one of rand_int trig_float hpl zero One Two Random RandomNarrow "
         "Uniform Normal",
         STR_ARG(v));
}

static Err read_timing(Str v, BenchMethod *out)
{
    if (!str_eq_c(v, "race") && !str_eq_c(v, "loop"))
        FAIL(ERR_INPUT, "--timing: '%.*s' is neither race nor loop", STR_ARG(v));
    *out = str_eq_c(v, "race") ? TIMING_RACE : TIMING_LOOP;
    return ERR_OK;
}

static void set_types(BenchCase *c, tuner_type t)
{
    c->g.a_type = c->g.b_type = c->g.c_type = c->g.d_type = c->g.compute_type = t;
}

/* "gemm", "gemm_strided_batched_ex", "rocblas_sgemm_batched". A letter sets the type. */
static Err read_function(BenchCase *c, Str v)
{
    Str f = v;
    tuner_type t;
    if (str_starts(f, "rocblas_")) f = str_sub(f, 8, f.n);
    if (f.n > 4 && !str_starts(f, "gemm") && str_starts(str_sub(f, 1, f.n), "gemm")) {
        TRY(read_type("function", str_sub(f, 0, 1), &t));
        set_types(c, t);
        f = str_sub(f, 1, f.n);
    }
    if (!str_starts(f, "gemm")) FAIL(ERR_INPUT, "function '%.*s' is not a gemm", STR_ARG(v));
    f = str_sub(f, 4, f.n);
    c->ex = str_ends(f, "_ex");
    if (c->ex) f = str_sub(f, 0, f.n - 3);
    c->strided = str_eq_c(f, "_strided_batched");
    c->batched = str_eq_c(f, "_batched");
    if (f.n && !c->strided && !c->batched) FAIL(ERR_INPUT, "function '%.*s' is not supported", STR_ARG(v));
    return ERR_OK;
}

/* ---- names ---- */

typedef enum {
    SET_INT,
    SET_REAL,
    SET_TYPE,
    SET_OP,
    SET_FUNCTION,
    SET_PRECISION,
    SET_VERIFY,
    SET_FILL,
    SET_TIMING,
    SET_FLAG,
    SET_ZERO
} SetKind;

#define G(field) offsetof(BenchCase, g.field)
#define C(field) offsetof(BenchCase, field)
static const struct {
    const char *name, *other, *yaml; /* aliases or NULL */
    SetKind kind;
    size_t offset;
    int64_t min;
} options[] = {
    {"function", NULL, "rocblas_function", SET_FUNCTION, 0, 0},
    {"precision", NULL, NULL, SET_PRECISION, 0, 0},
    {"transposeA", NULL, "transA", SET_OP, G(trans_a), 0},
    {"transposeB", NULL, "transB", SET_OP, G(trans_b), 0},
    {"sizem", NULL, "M", SET_INT, G(m), 0},
    {"sizen", NULL, "N", SET_INT, G(n), 0},
    {"sizek", NULL, "K", SET_INT, G(k), 0},
    {"lda", NULL, NULL, SET_INT, G(lda), 0},
    {"ldb", NULL, NULL, SET_INT, G(ldb), 0},
    {"ldc", NULL, NULL, SET_INT, G(ldc), 0},
    {"ldd", NULL, NULL, SET_INT, G(ldd), 0},
    {"stride_a", NULL, NULL, SET_INT, G(stride_a), 0},
    {"stride_b", NULL, NULL, SET_INT, G(stride_b), 0},
    {"stride_c", NULL, NULL, SET_INT, G(stride_c), 0},
    {"stride_d", NULL, NULL, SET_INT, G(stride_d), 0},
    {"batch_count", "batch", NULL, SET_INT, G(batch), 1},
    {"solution_index", NULL, NULL, SET_INT, G(solution_index), 0},
    {"alpha", NULL, NULL, SET_REAL, C(alpha), 0},
    {"alphai", NULL, NULL, SET_REAL, C(alpha[1]), 0},
    {"beta", NULL, NULL, SET_REAL, C(beta), 0},
    {"betai", NULL, NULL, SET_REAL, C(beta[1]), 0},
    {"a_type", NULL, NULL, SET_TYPE, G(a_type), 0},
    {"b_type", NULL, NULL, SET_TYPE, G(b_type), 0},
    {"c_type", NULL, NULL, SET_TYPE, G(c_type), 0},
    {"d_type", NULL, NULL, SET_TYPE, G(d_type), 0},
    {"compute_type", NULL, NULL, SET_TYPE, G(compute_type), 0},
    {"iters", NULL, "call_count", SET_INT, C(iters), 1},
    {"cold_iters", NULL, NULL, SET_INT, C(cold_iters), 0},
    {"rotating", NULL, NULL, SET_INT, C(rotating), 0},
    {"math_mode", NULL, NULL, SET_FLAG, G(xf32), 0},
    {"verify", NULL, "norm_check", SET_VERIFY, 0, 0},
    {"initialization", NULL, NULL, SET_FILL, 0, 0},
    {"timing", NULL, NULL, SET_TIMING, 0, 0},
    {"algo", NULL, NULL, SET_ZERO, 0, 0},
    {"flags", NULL, NULL, SET_ZERO, 1, 0},
};

/* --algo chooses among implementations that this library does not have. Of --flags (rocblas_gemm_flags), 1
 * (packed int8, rocBLAS before 6.0) matters for i8_r only: see case_finish; 2 (CU-efficiency table) has no
 * effect, as --select-only has metric=cu for it; 4 and 8 are fp16_alt_impl and fp16_alt_impl_rnz. */
static Err set_zero(BenchCase *c, const char *name, Str v, bool flags)
{
    int64_t n;
    TRY(read_int(name, v, 0, &n));
    if (n > (flags ? 15 : 1)) FAIL(ERR_INPUT, "--%s: %" PRId64 " is not supported", name, n);
    if (flags) c->packed_int8 = n & 1, c->g.fp16_alt = (uint16_t)((unsigned)n >> 2);
    return ERR_OK;
}

static Err set_option(BenchCase *c, size_t i, Str value)
{
    const char *name = options[i].name;
    char *field = (char *)c + options[i].offset;
    tuner_type t;
    int64_t n;
    switch (options[i].kind) {
    case SET_INT:
        return read_int(name, value, options[i].min, (int64_t *)(void *)field);
    case SET_REAL:
        return read_real(name, value, (double *)(void *)field);
    case SET_TYPE:
        return read_type(name, value, (tuner_type *)(void *)field);
    case SET_OP:
        return read_op(name, value, (tuner_op *)(void *)field);
    case SET_FUNCTION:
        return read_function(c, value);
    case SET_FLAG:
        TRY(read_int(name, value, 0, &n));
        if (n > 1) FAIL(ERR_INPUT, "--%s: %" PRId64 " is not 0 or 1", name, n);
        *(int16_t *)(void *)field = (int16_t)n;
        return ERR_OK;
    case SET_FILL:
        return read_fill(value, &c->fill);
    case SET_TIMING:
        return read_timing(value, &c->timing);
    case SET_ZERO:
        return set_zero(c, name, value, options[i].offset != 0);
    case SET_VERIFY:
        TRY(read_int(name, value, 0, &n));
        c->verify = n != 0;
        return ERR_OK;
    case SET_PRECISION:
        break;
    }
    TRY(read_type(name, value, &t));
    set_types(c, t);
    return ERR_OK;
}

Err case_set(BenchCase *c, const char *name, Str value)
{
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (strcmp(name, options[i].name) == 0 || (options[i].other && strcmp(name, options[i].other) == 0) ||
            (options[i].yaml && strcmp(name, options[i].yaml) == 0))
            return set_option(c, i, value);
    FAIL(ERR_INPUT, "option '%s' is not supported", name);
}

/* ---- defaults ---- */

static int64_t at_least(int64_t v) { return v > 0 ? v : 1; }

static Err check_packed(const BenchCase *c)
{
    const tuner_gemm_desc *g = &c->g;
    bool a = g->a_type == TUNER_I8X4, b = g->b_type == TUNER_I8X4;
    if (a != b || g->c_type == TUNER_I8X4 || (c->ex && g->d_type == TUNER_I8X4))
        FAIL(ERR_INPUT, "type i8x4_r is for A and B, both; C and D are of i32_r");
    if (c->packed_int8 && g->a_type == TUNER_I8)
        FAIL(ERR_INPUT,
             "--flags: 1 packs i8_r: give i8x4_r instead, and k, lda of a transposed A, ldb of a B that is "
             "not, stride_a and stride_b divided by 4");
    return ERR_OK;
}

Err case_finish(BenchCase *c)
{
    tuner_gemm_desc *g = &c->g;
    int64_t a_rows = g->trans_a == TUNER_N ? g->m : g->k, b_rows = g->trans_b == TUNER_N ? g->k : g->n;
    int64_t a_cols = g->trans_a == TUNER_N ? g->k : g->m, b_cols = g->trans_b == TUNER_N ? g->n : g->k;
    TRY(check_packed(c));
    if (g->lda == 0) g->lda = at_least(a_rows);
    if (g->ldb == 0) g->ldb = at_least(b_rows);
    if (g->ldc == 0) g->ldc = at_least(g->m);
    if (g->ldd == 0) g->ldd = g->ldc;
    if (g->lda < a_rows || g->ldb < b_rows || g->ldc < g->m || g->ldd < g->m)
        FAIL(ERR_INPUT,
             "leading dimensions %" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64
             " are too small for A %" PRId64 ", B %" PRId64 ", C and D %" PRId64 " rows",
             g->lda, g->ldb, g->ldc, g->ldd, a_rows, b_rows, g->m);
    if (!c->strided && !c->batched) g->batch = 1;
    const int64_t limit = INT64_C(1) << 31;
    if (g->m > limit || g->n > limit || g->k > limit || g->batch > limit || g->lda > limit ||
        g->ldb > limit || g->ldc > limit || g->ldd > limit)
        FAIL(ERR_INPUT, "a size or leading dimension is above 2^31");
    if (g->stride_a == 0) g->stride_a = g->lda * at_least(a_cols);
    if (g->stride_b == 0) g->stride_b = g->ldb * at_least(b_cols);
    if (g->stride_c == 0) g->stride_c = g->ldc * at_least(g->n);
    if (g->stride_d == 0) g->stride_d = g->ldd * at_least(g->n);
    if (c->strided && g->stride_c < g->ldc * (g->n - 1) + g->m)
        FAIL(ERR_INPUT, "stride_c %" PRId64 " makes the matrices of the batch overlap", g->stride_c);
    g->pointer_arrays = c->batched;
    return ERR_OK;
}

/* ---- YAML ---- */

static Err read_map(const char *path, const Node *map, BenchCase *c)
{
    TRY(node_map(map, path, "problem"));
    const Node *function = node_get(map, "rocblas_function"); /* its letter comes before explicit types */
    if (function) TRY(read_function(c, function->text));
    for (size_t i = 0; i < map->n; i++) {
        const Node *key = &map->item[2 * i], *value = &map->item[2 * i + 1];
        char name[64];
        Str text;
        if (value == function) continue;
        if (key->text.n >= sizeof name)
            FAIL(ERR_INPUT, "%s:%d: option '%.*s' is not supported", path, key->line, STR_ARG(key->text));
        memcpy(name, key->text.s, key->text.n);
        name[key->text.n] = 0;
        TRY(node_str(value, path, name, &text));
        Err e = case_set(c, name, text);
        if (e) return err_context(e, "%s:%d: ", path, key->line);
    }
    Err e = case_finish(c);
    return e ? err_context(e, "%s:%d: ", path, map->line) : ERR_OK;
}

Err case_read_yaml(Arena *a, const char *path, const BenchCase *base, BenchCase **cases, size_t *n)
{
    Node *doc;
    TRY(yaml_read(a, path, NULL, &doc));
    TRY(node_seq(doc, path, "list of problems", 1, 1 << 20));
    *cases = ARENA_ARRAY(a, doc->n, BenchCase);
    TRY_ALLOC(*cases);
    *n = doc->n;
    for (size_t i = 0; i < doc->n; i++) {
        (*cases)[i] = *base;
        TRY(read_map(path, node_at(doc, i), &(*cases)[i]));
    }
    return ERR_OK;
}
