/* Calls of GEMMs by the names of rocblas-bench's options. See gemm_call.h. */
#include "problem/gemm_call.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void call_init(GemmCall *c)
{
    *c = (GemmCall){.op = {'N', 'N'}, .m = 128, .n = 128, .k = 128, .batch = 1, .alpha = {1, 0}};
    for (int i = 0; i < CALL_TYPES; i++) c->type[i] = TYPE_S;
}

/* ---- values ---- */

static const struct {
    const char *name, *letter;
    DataType type;
} types[] = {
    {"f32_r", "s", TYPE_S},  {"f64_r", "d", TYPE_D},   {"f32_c", "c", TYPE_C},        {"f64_c", "z", TYPE_Z},
    {"f16_r", "h", TYPE_H},  {"bf16_r", "b", TYPE_B},  {"i8_r", "i8", TYPE_I8},       {"i32_r", "i", TYPE_I},
    {"f8_r", "f8", TYPE_F8}, {"bf8_r", "b8", TYPE_B8}, {"i8x4_r", "4xi8", TYPE_4XI8},
};
enum { N_TYPES = sizeof types / sizeof *types };

const char *call_type_name(DataType t)
{
    for (size_t i = 0; i < N_TYPES; i++)
        if (types[i].type == t) return types[i].name;
    return NULL;
}

bool call_type_find(Str text, DataType *out)
{
    for (size_t i = 0; i < N_TYPES; i++)
        if (str_eq_c(text, types[i].name) || str_eq_c(text, types[i].letter)) {
            *out = types[i].type;
            return true;
        }
    return false;
}

static Err read_type(const char *name, Str v, DataType *out)
{
    if (call_type_find(v, out)) return ERR_OK;
    FAIL(ERR_INPUT,
         "--%s: type '%.*s' is not one of f32_r f64_r f32_c f64_c f16_r bf16_r i8_r i8x4_r i32_r f8_r bf8_r",
         name, STR_ARG(v));
}

static Err read_op(const char *name, Str v, char *out)
{
    char letter = v.n == 1 ? (char)(v.s[0] & ~32) : 0;
    if (letter != 'N' && letter != 'T' && letter != 'C')
        FAIL(ERR_INPUT, "--%s: '%.*s' is not N, T or C", name, STR_ARG(v));
    *out = letter;
    return ERR_OK;
}

Err call_read_int(const char *name, Str v, int64_t min, int64_t *out)
{
    if (!str_to_i64(v, out) || *out < min)
        FAIL(ERR_INPUT, "--%s: '%.*s' is not an integer from %" PRId64, name, STR_ARG(v), min);
    return ERR_OK;
}

static void set_types(GemmCall *c, DataType t)
{
    for (int i = 0; i < CALL_TYPES; i++) c->type[i] = t;
}

/* "gemm", "gemm_strided_batched_ex", "rocblas_sgemm_batched". A letter sets the type. */
static Err read_function(GemmCall *c, Str v)
{
    Str f = v;
    DataType t;
    if (str_starts(f, "rocblas_")) f = str_sub(f, 8, f.n);
    if (f.n > 4 && !str_starts(f, "gemm") && str_starts(str_sub(f, 1, f.n), "gemm")) {
        TRY(read_type("function", str_sub(f, 0, 1), &t));
        set_types(c, t);
        f = str_sub(f, 1, f.n);
    }
    if (!str_starts(f, "gemm"))
        FAIL(ERR_INPUT, "function '%.*s', expected gemm, gemm_strided_batched or gemm_batched, or with _ex",
             STR_ARG(v));
    f = str_sub(f, 4, f.n);
    c->ex = str_ends(f, "_ex");
    if (c->ex) f = str_sub(f, 0, f.n - 3);
    c->strided = str_eq_c(f, "_strided_batched");
    c->batched = str_eq_c(f, "_batched");
    if (f.n && !c->strided && !c->batched) FAIL(ERR_INPUT, "function '%.*s' is not supported", STR_ARG(v));
    return ERR_OK;
}

bool call_is_gemm(Str function)
{
    GemmCall c;
    bool is = read_function(&c, function) == ERR_OK;
    err_clear();
    return is;
}

/* ---- options ---- */

typedef enum { SET_INT, SET_REAL, SET_TYPE, SET_OP, SET_FUNCTION, SET_PRECISION, SET_MATH, SET_ALGO } SetKind;

typedef struct {
    const char *name, *long_name; /* long_name: the same option under the name that messages have */
    SetKind kind;
    size_t offset;
    int64_t min, max; /* max 0: none */
} CallOption;

#define AT(field) offsetof(GemmCall, field)
/* Sorted by name. --algo has no effect: there is only one implementation. Of --flags (rocblas_gemm_flags), 1
 * packs int8, 2 asks for the CU-efficiency table, 4 and 8 are fp16_alt_impl and fp16_alt_impl_rnz. */
static const CallOption options[] = {
    {"K", "sizek", SET_INT, AT(k), 0, 0},
    {"M", "sizem", SET_INT, AT(m), 0, 0},
    {"N", "sizen", SET_INT, AT(n), 0, 0},
    {"a_type", NULL, SET_TYPE, AT(type[CALL_A]), 0, 0},
    {"algo", NULL, SET_ALGO, 0, 0, 1},
    {"alpha", NULL, SET_REAL, AT(alpha), 0, 0},
    {"alphai", NULL, SET_REAL, AT(alpha[1]), 0, 0},
    {"b_type", NULL, SET_TYPE, AT(type[CALL_B]), 0, 0},
    {"batch", "batch_count", SET_INT, AT(batch), 1, 0},
    {"batch_count", NULL, SET_INT, AT(batch), 1, 0},
    {"beta", NULL, SET_REAL, AT(beta), 0, 0},
    {"betai", NULL, SET_REAL, AT(beta[1]), 0, 0},
    {"c_type", NULL, SET_TYPE, AT(type[CALL_C]), 0, 0},
    {"compute_type", NULL, SET_TYPE, AT(type[CALL_COMPUTE]), 0, 0},
    {"d_type", NULL, SET_TYPE, AT(type[CALL_D]), 0, 0},
    {"flags", NULL, SET_INT, AT(flags), 0, 15},
    {"function", NULL, SET_FUNCTION, 0, 0, 0},
    {"lda", NULL, SET_INT, AT(ld[CALL_A]), 0, 0},
    {"ldb", NULL, SET_INT, AT(ld[CALL_B]), 0, 0},
    {"ldc", NULL, SET_INT, AT(ld[CALL_C]), 0, 0},
    {"ldd", NULL, SET_INT, AT(ld[CALL_D]), 0, 0},
    {"math_mode", NULL, SET_MATH, AT(xf32), 0, 1},
    {"precision", NULL, SET_PRECISION, 0, 0, 0},
    {"rocblas_function", "function", SET_FUNCTION, 0, 0, 0},
    {"sizek", NULL, SET_INT, AT(k), 0, 0},
    {"sizem", NULL, SET_INT, AT(m), 0, 0},
    {"sizen", NULL, SET_INT, AT(n), 0, 0},
    {"solution_index", NULL, SET_INT, AT(solution_index), 0, 0},
    {"stride_a", NULL, SET_INT, AT(stride[CALL_A]), 0, 0},
    {"stride_b", NULL, SET_INT, AT(stride[CALL_B]), 0, 0},
    {"stride_c", NULL, SET_INT, AT(stride[CALL_C]), 0, 0},
    {"stride_d", NULL, SET_INT, AT(stride[CALL_D]), 0, 0},
    {"transA", "transposeA", SET_OP, AT(op[0]), 0, 0},
    {"transB", "transposeB", SET_OP, AT(op[1]), 0, 0},
    {"transposeA", NULL, SET_OP, AT(op[0]), 0, 0},
    {"transposeB", NULL, SET_OP, AT(op[1]), 0, 0},
};

static int option_cmp(const void *key, const void *row)
{
    Str name = *(const Str *)key;
    const CallOption *o = row;
    int first = name.n ? (unsigned char)name.s[0] - (unsigned char)o->name[0] : -1;
    return first ? first : str_cmp(name, str_from(o->name));
}
static const CallOption *option_find(Str name)
{
    return bsearch(&name, options, sizeof options / sizeof *options, sizeof *options, option_cmp);
}

static Err set_int(const CallOption *o, const char *name, Str value, int64_t *out)
{
    TRY(call_read_int(name, value, o->min, out));
    if (o->max && *out > o->max) FAIL(ERR_INPUT, "--%s: %" PRId64 " is not supported", name, *out);
    return ERR_OK;
}

Err call_set(GemmCall *c, Str option, Str value)
{
    bool known;
    TRY(call_set_known(c, option, value, &known));
    if (!known) FAIL(ERR_INPUT, "unknown option '%.*s'", STR_ARG(option));
    return ERR_OK;
}

Err call_set_known(GemmCall *c, Str option, Str value, bool *known)
{
    const CallOption *o = option_find(option);
    *known = o != NULL;
    if (!o) return ERR_OK;
    const char *name = o->long_name ? o->long_name : o->name;
    void *field = (char *)c + o->offset;
    DataType t;
    int64_t n;
    switch (o->kind) {
    case SET_INT:
        return set_int(o, name, value, field);
    case SET_REAL:
        if (!str_to_f64(value, field)) FAIL(ERR_INPUT, "--%s: '%.*s' is not a number", name, STR_ARG(value));
        return ERR_OK;
    case SET_TYPE:
        return read_type(name, value, field);
    case SET_OP:
        return read_op(name, value, field);
    case SET_FUNCTION:
        return read_function(c, value);
    case SET_PRECISION:
        TRY(read_type(name, value, &t));
        set_types(c, t);
        return ERR_OK;
    case SET_MATH:
        TRY(call_read_int(name, value, 0, &n));
        if (n > 1) FAIL(ERR_INPUT, "--%s: %" PRId64 " is not 0 or 1", name, n);
        c->xf32 = n != 0;
        return ERR_OK;
    case SET_ALGO:
        return set_int(o, name, value, &n);
    }
    FAIL(ERR_FAILED, "option '%s' has no kind", o->name);
}

/* ---- defaults ---- */

static int64_t at_least(int64_t v) { return v > 0 ? v : 1; }

static Err check_packed(const GemmCall *c)
{
    bool a = c->type[CALL_A] == TYPE_4XI8, b = c->type[CALL_B] == TYPE_4XI8;
    if (a != b || c->type[CALL_C] == TYPE_4XI8 || (c->ex && c->type[CALL_D] == TYPE_4XI8))
        FAIL(ERR_INPUT, "type i8x4_r is for A and B, both; C and D are of i32_r");
    if (c->flags & 1 && c->type[CALL_A] == TYPE_I8)
        FAIL(ERR_INPUT,
             "--flags: 1 packs i8_r: give i8x4_r instead, and k, lda of a transposed A, ldb of a B that is "
             "not, stride_a and stride_b divided by 4");
    return ERR_OK;
}

static Err check_limits(const GemmCall *c)
{
    const int64_t limit = INT64_C(1) << 31;
    bool above = c->m > limit || c->n > limit || c->k > limit || c->batch > limit;
    for (int i = 0; i < 4; i++) above |= c->ld[i] > limit;
    if (above) FAIL(ERR_INPUT, "a size or leading dimension is above 2^31");
    return ERR_OK;
}

Err call_finish(GemmCall *c)
{
    bool ta = c->op[0] != 'N', tb = c->op[1] != 'N';
    const int64_t rows[4] = {ta ? c->k : c->m, tb ? c->n : c->k, c->m, c->m};
    const int64_t columns[4] = {ta ? c->m : c->k, tb ? c->k : c->n, c->n, c->n};
    bool small = false;
    TRY(check_packed(c));
    for (int i = 0; i < 4; i++) {
        if (c->ld[i] == 0) c->ld[i] = i == CALL_D ? c->ld[CALL_C] : at_least(rows[i]);
        small |= c->ld[i] < rows[i];
    }
    if (small)
        FAIL(ERR_INPUT,
             "leading dimensions %" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64
             " are too small for A %" PRId64 ", B %" PRId64 ", C and D %" PRId64 " rows",
             c->ld[0], c->ld[1], c->ld[2], c->ld[3], rows[0], rows[1], c->m);
    if (!c->strided && !c->batched) c->batch = 1;
    TRY(check_limits(c));
    for (int i = 0; i < 4; i++)
        if (c->stride[i] == 0) c->stride[i] = c->ld[i] * at_least(columns[i]);
    if (c->strided && c->stride[CALL_C] < c->ld[CALL_C] * (c->n - 1) + c->m)
        FAIL(ERR_INPUT, "stride_c %" PRId64 " makes the matrices of the batch overlap", c->stride[CALL_C]);
    return ERR_OK;
}

Err call_problem_type(const GemmCall *c, ProblemType *pt)
{
    DataType a = c->type[CALL_A], b = c->type[CALL_B];
    if (a == TYPE_F8 && b == TYPE_B8) a = b = TYPE_F8B8;
    if (a == TYPE_B8 && b == TYPE_F8) a = b = TYPE_B8F8;
    if (a != b || c->type[CALL_C] != c->type[CALL_D])
        FAIL(ERR_INPUT, "no problem type has A of %s, B of %s, C of %s and D of %s",
             call_type_name(c->type[CALL_A]), call_type_name(c->type[CALL_B]),
             call_type_name(c->type[CALL_C]), call_type_name(c->type[CALL_D]));
    TRY(problem_type_gemm(pt, c->op[0] != 'N', c->op[1] != 'N', a, c->type[CALL_D], c->type[CALL_COMPUTE]));
    pt->ComplexConjugateA = c->op[0] == 'C' && type_info(a)->complex;
    pt->ComplexConjugateB = c->op[1] == 'C' && type_info(a)->complex;
    pt->StridedBatched = !c->batched;
    if (c->xf32 && a == TYPE_S) pt->F32XdlMathOp = TYPE_X;
    return problem_type_derive(pt);
}
