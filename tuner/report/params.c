/* Parameters in kernels' names, and what their values are worth. See params.h. */
#include "report/params.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "base/map.h"
#include "space/naming.h"

enum { PARAMS_MAX = 256 };

/* A parameter while names are read. */
typedef struct {
    Str letters; /* as in the names: "PGR" */
    Str name;
    Map values; /* text to number + 1 */
    int32_t *of;
} Reading;

typedef struct {
    Arena *a;
    Namer *namer;
    Reading param[PARAMS_MAX];
    size_t n, n_names;
} Reader;

static bool is_number(Str s)
{
    size_t i = s.n && s.s[0] == 'n';
    for (size_t k = i; k < s.n; k++)
        if (!isdigit((unsigned char)s.s[k]) && s.s[k] != 'x' && s.s[k] != '_') return false;
    return s.n > i;
}

static bool is_word(const NamePart *part, Str s)
{
    for (int i = 0; i < ENUM_NAMES_MAX; i++)
        if (part->word[i][0] && str_eq_c(s, part->word[i])) return true;
    return false;
}

/* Cuts a part of a name, such as "PGR2" or "ETSP", into the letters of its parameter and its value. The
 * parameter with the longest abbreviation that leaves a value counts. */
static void part_cut(const Namer *namer, Str part, Str *letters, Str *value, Str *name)
{
    size_t n = 0;
    while (n < part.n && !isdigit((unsigned char)part.s[n]) &&
           !(part.s[n] == 'n' && n + 1 < part.n && isdigit((unsigned char)part.s[n + 1])))
        n++;
    *letters = *name = str_sub(part, 0, n);
    *value = str_sub(part, n, part.n);
    size_t longest = 0;
    for (int i = 0; i < namer->n_parts; i++) {
        const NamePart *p = &namer->part[i];
        Str rest = str_sub(part, p->n_text, part.n);
        if (p->n_text <= longest || !str_starts(part, p->text)) continue;
        if (!is_word(p, rest) && !(is_number(rest) && p->n_text == n)) continue;
        longest = p->n_text;
        *letters = str_sub(part, 0, longest);
        *value = rest;
        *name = str_from(p->param->name);
    }
}

static Reading *reading_of(Reader *r, Str letters, Str name)
{
    for (size_t i = 0; i < r->n; i++)
        if (str_eq(r->param[i].name, name)) return &r->param[i];
    if (r->n == PARAMS_MAX) return NULL;
    Reading *p = &r->param[r->n];
    *p = (Reading){letters, name, .of = ARENA_ARRAY(r->a, r->n_names, int32_t)};
    if (!p->of) return NULL;
    map_init(&p->values);
    r->n++;
    return p;
}

/* Notes a value; parameters beyond the first PARAMS_MAX different ones are ignored. */
static Err value_note(Reader *r, size_t at, Str letters, Str name, Str value)
{
    Reading *p = reading_of(r, letters, name);
    bool added;
    if (!p) return 0;
    int64_t *number = map_put(&p->values, value, &added);
    TRY_ALLOC(number);
    if (added) *number = (int64_t)p->values.n;
    p->of[at] = (int32_t)*number;
    return 0;
}

/* "MT64x32x16" has the tile and DepthU. */
static Err tile_note(Reader *r, size_t at, Str value)
{
    size_t x = str_find(value, 'x', str_find(value, 'x', 0) + 1);
    TRY(value_note(r, at, STR("MT"), STR("MacroTile"), str_sub(value, 0, x)));
    return x < value.n ? value_note(r, at, STR("MT"), STR("DepthU"), str_sub(value, x + 1, value.n)) : 0;
}

static Err part_note(Reader *r, size_t at, Str part)
{
    Str letters, value, name;
    if (str_eq_c(part, "K1") || !part.n) return 0; /* marks kernels */
    part_cut(r->namer, part, &letters, &value, &name);
    if (str_eq_c(letters, "MT")) return tile_note(r, at, value);
    return value_note(r, at, letters, name, value.n ? value : STR("yes"));
}

/* A part begins after '_' with a capital letter; the numbers after it belong to it ("TT8_4"). */
static Err name_note(Reader *r, size_t at, Str type, Str name)
{
    size_t from = name.n > type.n && memcmp(name.s, type.s, type.n) == 0 ? type.n : 0;
    while (from < name.n) {
        if (name.s[from] == '_') from++;
        size_t to = from;
        while (to < name.n &&
               !(name.s[to] == '_' && to + 1 < name.n && !isdigit((unsigned char)name.s[to + 1])))
            to++;
        TRY(part_note(r, at, str_sub(name, from, to)));
        from = to > from ? to : from + 1;
    }
    return 0;
}

static Err param_finish(Arena *a, const Reading *p, size_t n_names, ReportParam *out)
{
    bool absent = false;
    size_t n = p->values.n;
    *out = (ReportParam){.name = arena_dup(a, p->name), .of = p->of};
    out->value = ARENA_ARRAY(a, n + 1, ReportValue);
    TRY_ALLOC(out->name.s);
    TRY_ALLOC(out->value);
    for (size_t i = 0; i < n; i++) TRY_ALLOC((out->value[i].text = arena_dup(a, p->values.entry[i].key)).s);
    for (size_t i = 0; i < n_names; i++) {
        absent |= !p->of[i];
        p->of[i] = p->of[i] ? p->of[i] - 1 : (int32_t)n;
        out->value[p->of[i]].n_kernels++;
    }
    out->value[n].text = STR("-");
    out->n_values = n + absent;
    return 0;
}

static Err names_read(Reader *r, Str type, const Str *name, ReportParam **out, size_t *n_out)
{
    for (size_t i = 0; i < r->n_names; i++) TRY(name_note(r, i, type, name[i]));
    *out = ARENA_ARRAY(r->a, r->n, ReportParam);
    TRY_ALLOC(*out);
    for (size_t i = 0; i < r->n; i++) {
        TRY(param_finish(r->a, &r->param[i], r->n_names, &(*out)[*n_out]));
        *n_out += (*out)[*n_out].n_values > 1;
    }
    return 0;
}

Err params_of_names(Arena *a, Str type, const Str *name, size_t n, ReportParam **out, size_t *n_out)
{
    ProblemType pt;
    Arena scratch;
    *out = NULL;
    *n_out = 0;
    arena_init(&scratch, 0);
    Reader *r = ARENA_NEW(&scratch, Reader);
    Namer *namer = ARENA_NEW(&scratch, Namer);
    Err e = r && namer ? 0 : err_set(ERR_FAILED, "out of memory for names");
    if (!e) *r = (Reader){.a = a, .namer = namer, .n_names = n};
    if (!e) e = problem_type_gemm(&pt, false, false, TYPE_S, TYPE_S, TYPE_S);
    if (!e) e = namer_init(namer, &pt); /* abbreviations are those of all problem types */
    if (!e) e = names_read(r, type, name, out, n_out);
    for (size_t i = 0; r && i < r->n; i++) map_fini(&r->param[i].values);
    arena_fini(&scratch);
    return e;
}

/* ---- worth ---- */

/* The best speed of each value on one size, and how many values were measured. */
static void size_judge(ReportParam *p, size_t n_kernels, const int32_t *speed, int32_t *best, double *logs)
{
    size_t n_measured = 0;
    int32_t most = 0;
    memset(best, 0, p->n_values * sizeof *best);
    for (size_t k = 0; k < n_kernels; k++) {
        int32_t *b = &best[p->of[k]];
        if (speed[k] <= 0) continue;
        n_measured += *b == 0;
        if (speed[k] > *b) *b = speed[k];
        if (speed[k] > most) most = speed[k];
    }
    if (n_measured < 2) return;
    for (size_t v = 0; v < p->n_values; v++) {
        ReportValue *x = &p->value[v];
        if (!best[v]) continue;
        double share = (double)best[v] / most;
        logs[v] += log(share);
        if (x->n_sizes++ == 0 || share < x->worst_speed) x->worst_speed = share;
    }
}

Err params_effects(Arena *a, ReportParam *p, size_t n_params, size_t n_kernels, size_t n_sizes,
                   SpeedsOfSize *speed, WinnerOfSize *winner, const void *ctx)
{
    for (size_t i = 0; i < n_params; i++) {
        int32_t *best = ARENA_ARRAY(a, p[i].n_values, int32_t);
        double *logs = ARENA_ARRAY(a, p[i].n_values, double);
        TRY_ALLOC(best);
        TRY_ALLOC(logs);
        for (size_t z = 0; z < n_sizes; z++) {
            const int32_t *of_size = speed(ctx, z);
            const size_t best_of_size = winner(ctx, z);
            if (best_of_size < n_kernels) p[i].value[p[i].of[best_of_size]].n_wins++;
            if (of_size) size_judge(&p[i], n_kernels, of_size, best, logs);
        }
        for (size_t v = 0; v < p[i].n_values; v++) {
            ReportValue *x = &p[i].value[v];
            x->mean_speed = x->n_sizes ? exp(logs[v] / (double)x->n_sizes) : (double)NAN;
            if (!x->n_sizes) x->worst_speed = (double)NAN;
        }
    }
    return 0;
}
