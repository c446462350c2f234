/* The values that a user may give a parameter: the column `legal` of params.def. Whether a solution with them
 * is valid is decided by rules (rules.h). */
#include <math.h>

#include "problem/matrix_inst.h"
#include "space/solution.h"

/* Reads a number of the column, which may have two decimals, as hundredths. */
static bool word_number(Str w, int64_t *out)
{
    double v = 0;
    if (!str_to_f64(w, &v)) return false;
    *out = (int64_t)round(v * 100);
    return true;
}

/* True when the word `a`, `a..b`, `a..b/step` or `a..b*factor` contains v. All are hundredths. */
static bool word_has(Str w, int64_t v)
{
    size_t dots = 0;
    while (dots + 1 < w.n && !(w.s[dots] == '.' && w.s[dots + 1] == '.')) dots++;
    int64_t a = 0, b = 0, step = 0;
    if (dots + 1 >= w.n) return word_number(w, &a) && a == v;
    size_t end = dots + 2;
    while (end < w.n && w.s[end] != '/' && w.s[end] != '*') end++;
    if (!word_number(str_sub(w, 0, dots), &a) || !word_number(str_sub(w, dots + 2, end), &b)) return false;
    if (v < a || v > b) return false;
    if (end == w.n) return (v - a) % 100 == 0;
    if (!word_number(str_sub(w, end + 1, w.n), &step) || step <= 0) return false;
    if (w.s[end] == '/') return (v - a) % step == 0;
    for (; a < v && step > 100; a = a * step / 100)
        ;
    return a == v;
}

static bool number_legal(const char *legal, int64_t hundredths)
{
    Str rest = str_from(legal), word;
    while (str_split(&rest, ' ', &word))
        if (word_has(word, hundredths)) return true;
    return false;
}

static bool workgroup_legal(const IntList *w)
{
    if (w->n != 3) return false;
    for (int i = 0; i < 3; i++)
        if (w->v[i] < 1 || w->v[i] > 1024) return false;
    int64_t threads = (int64_t)w->v[0] * w->v[1] * w->v[2];
    return threads % 32 == 0 && threads <= 1024 && number_legal("1..64*2 96 128 256", 100 * (int64_t)w->v[2]);
}

static bool sides_legal(const IntList *t, const char *legal)
{
    return t->n == 2 && number_legal(legal, 100 * (int64_t)t->v[0]) &&
           number_legal(legal, 100 * (int64_t)t->v[1]);
}

static bool mi_legal(const IntList *m)
{
    if (m->n == 0 || (m->n == 1 && m->v[0] == -1)) return true;
    if (m->n != 4 && m->n != 9) return false;
    const MatrixInst *in = matrix_shape(MATRIX_UNIT_NONE, TYPE_ALL, m->v);
    if (!in || m->n == 4) return in != NULL;
    const int32_t *v = m->v + 4; /* BM, thread tile, waves */
    const char *waves = matrix_unit(in) == MATRIX_UNIT_WGMMA ? "1..4" : "1 2 4";
    return number_legal("1..16*2", 100 * (int64_t)v[0]) && v[0] <= m->v[3] && v[1] >= 1 && v[1] <= 64 &&
           v[2] >= 1 && v[2] <= 64 && number_legal(waves, 100 * (int64_t)v[3]) &&
           number_legal(waves, 100 * (int64_t)v[4]);
}

/* False for names that only files have: the empty name and those marked in the table. */
static bool enum_legal(const Param *p, int32_t value)
{
    Str rest = str_from(p->legal), word;
    for (int32_t i = 0; str_split(&rest, ' ', &word); i++)
        if (i == value) return word.s[0] != '-' && word.s[0] != '~';
    return false;
}

static bool value_legal(const Param *p, const Solution *s)
{
    const void *f = solution_field_const(s, p);
    Str legal = str_from(p->legal);
    if (str_eq_c(legal, "any")) return true;
    if (str_eq_c(legal, "workgroup")) return workgroup_legal(f);
    if (str_eq_c(legal, "threadtile")) return sides_legal(f, "1..16 20..252/4");
    if (str_eq_c(legal, "macrotile")) return sides_legal(f, "1..1024*2 6..768*2");
    if (str_eq_c(legal, "mi")) return mi_legal(f);
    switch ((ParamKind)p->kind) {
    case KIND_BOOL:
        return legal.n == 0 || number_legal(p->legal, 100 * (int64_t) * (const int32_t *)f);
    case KIND_INT:
        return number_legal(p->legal, 100 * (int64_t) * (const int32_t *)f);
    case KIND_FLOAT:
        return number_legal(p->legal, *(const int32_t *)f);
    case KIND_ENUM:
        return enum_legal(p, *(const int32_t *)f);
    default:
        return true;
    }
}

void param_legal_print(const Param *p, Buf *out)
{
    static const struct {
        const char *rule, *text;
    } texts[] = {
        {"workgroup",
         "[x, y, u] with x*y*u a multiple of 32 up to 1024 and u 1, 2, 4, .. 64, 96, 128 or 256"},
        {"threadtile", "[x, y], each 1..16 or 20, 24, .. 252"},
        {"macrotile", "[x, y], each 1, 2, 4, .. 1024 or 6, 12, .. 768"},
        {"mi", "[], [M, N, K, B] of a known instruction, or that followed by BM, tt0, tt1, w0, w1"},
    };
    Str rest = str_from(p->legal), word;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (str_eq_c(rest, texts[i].rule)) {
            buf_puts(out, texts[i].text);
            return;
        }
    if (p->kind == KIND_BOOL && !rest.n) rest = STR("true false");
    for (bool first = true; str_split(&rest, ' ', &word);) {
        if (p->kind == KIND_ENUM && (word.s[0] == '-' || word.s[0] == '~')) continue;
        if (!first) buf_putc(out, ' ');
        buf_str(out, word);
        first = false;
    }
}

Err param_legal(const Param *p, const Solution *s)
{
    if (value_legal(p, s)) return ERR_OK;
    Buf value, legal;
    buf_init(&value);
    buf_init(&legal);
    param_print(p, s, &value);
    param_legal_print(p, &legal);
    err_set(ERR_INPUT, "'%s' cannot be '%s'; legal: %s", p->name, buf_cstr(&value), buf_cstr(&legal));
    buf_fini(&value);
    buf_fini(&legal);
    return ERR_INPUT;
}
