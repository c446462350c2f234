/* Times of a search's rounds. See rounds.h. */
#include "measure/rounds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "measure/rows.h"

Err round_results(Store *s, Arena *a, const RoundSize *x, Result **out)
{
    SizeRow size = {.problem = x->problem};
    PlanView p = {.setting = x->setting, .n_runs = 1, .n_candidates = x->n, .size = &size, .n_sizes = 1};
    Result *r = *out = ARENA_ARRAY(a, x->n + 1, Result);
    TRY_ALLOC(r);
    TRY_ALLOC(p.candidate = ARENA_ARRAY(a, x->n + 1, Candidate));
    for (size_t i = 0; i < x->n; i++) p.candidate[i].kernel = x->kernel[i];
    for (size_t i = 0; i < x->n; i++)
        if (!x->wanted || x->wanted[i]) TRY(result_get(s, a, &p, i, 0, 0, &r[i]));
    return results_level(a, r, x->n);
}

void round_times(const Result *r, size_t n, size_t again, double before, double *ns)
{
    const double scale = again < n && r[again].good ? before / r[again].ns.median : 1;
    for (size_t i = 0; i < n; i++) {
        const double own = r[i].good ? r[i].ns.median * scale : 0;
        ns[i] = own > 0 || !r[i].found ? own : (double)INFINITY;
    }
}

/* The ratio of final times to times of the rounds on a size, by the kernels that have both, which shows the
 * change of clocks (1 where there are none), and in *best the least of the final times (0 where there are
 * none). */
static double level_of(const double *final, const double *ns, size_t n, double *best)
{
    double logs = 0;
    size_t n_both = 0;
    *best = 0;
    for (size_t k = 0; k < n; k++) {
        if (final[k] > 0 && (*best <= 0 || final[k] < *best)) *best = final[k];
        if (final[k] > 0 && ns[k] > 0) logs += log(final[k] / (ns[k] * 1e-9)), n_both++;
    }
    return n_both ? exp(logs / (double)n_both) : 1;
}

/* No time becomes less than the best final one, because a kernel that was really faster would be a
 * finalist. */
void rounds_add(ModelMatrix *own, const double *ns, size_t n_sizes, size_t n_kernels)
{
    const size_t n = n_kernels < own->n_kernels ? n_kernels : own->n_kernels;
    for (size_t z = 0; z < n_sizes && z < own->n_sizes; z++) {
        double *seconds = &own->seconds[z * own->n_kernels], best;
        const double *of_size = &ns[z * n_kernels];
        const double level = level_of(seconds, of_size, n, &best);
        for (size_t k = 0; k < n; k++)
            if (seconds[k] <= 0 && of_size[k] > 0) seconds[k] = fmax(of_size[k] * 1e-9 * level, best);
    }
}

/* ---- the rounds of a store ---- */

typedef struct {
    int64_t id;
    Str key;
} Setting;

typedef struct {
    int64_t problem, kernel;
} Pair;

/* What a round measured, sorted by problems and kernels. */
typedef struct {
    int64_t setting;
    Pair *pair;
    size_t n;
} Round;

static void setting_fill(Rows *to, const DbRow *row, void *out)
{
    *(Setting *)out = (Setting){row_int(row, 0), rows_text(to, row, 1)};
}

static void pair_fill(Rows *to, const DbRow *row, void *out)
{
    (void)to;
    *(Pair *)out = (Pair){row_int(row, 0), row_int(row, 1)};
}

static void size_fill(Rows *to, const DbRow *row, void *out)
{
    *(SizeRow *)out = (SizeRow){row_int(row, 0), rows_text(to, row, 1), row_real(row, 2), STR_NULL};
}

/* Device and compiler of a setting, and the number of its round; 0: it is none. */
static Str environment_of(Str key, int64_t *round)
{
    Str rest = key, line;
    *round = 0;
    while (str_split(&rest, '\n', &line)) {
        const bool is_round = str_starts(line, "search=");
        if (is_round && !str_to_i64(str_sub(line, strlen("search="), line.n), round)) *round = 0;
        if (is_round || str_starts(line, "device-idx=")) return (Str){key.s, (size_t)(line.s - key.s)};
    }
    return key;
}

/* What the keys of a plan's problems begin with. */
static Str type_of(const PlanView *p)
{
    const Str key = p->n_sizes ? p->size[0].key : STR(" ");
    return str_sub(key, 0, str_find(key, ' ', 0) + 1);
}

static Err round_read(Store *s, Arena *a, const PlanView *p, Round *out)
{
    Rows r = {pair_fill, sizeof(Pair), a, 0, {0}, 0};
    Err e = db_each(s->db, rows_take, &r,
                    "SELECT m.problem, m.kernel FROM measurement m JOIN problem q ON q.id=m.problem"
                    " WHERE m.setting=? AND m.run=0 AND instr(q.key, ?)=1 AND m.kernel NOT IN"
                    " (SELECT id FROM kernel WHERE instr(hash, '" PEER_HASH "')=1) ORDER BY 1, 2",
                    "is", out->setting, type_of(p));
    return rows_end(&r, e, &out->pair, &out->n);
}

/* The settings of rounds are made in the order of these. */
static Err rounds_read(Store *s, Arena *a, const PlanView *p, Round **out, size_t *n)
{
    Rows r = {setting_fill, sizeof(Setting), a, 0, {0}, 0};
    Setting *setting;
    size_t n_settings;
    int64_t round;
    Str own = STR_NULL;
    Err e = db_each(s->db, rows_take, &r, "SELECT id, key FROM setting ORDER BY id", "");
    TRY(rows_end(&r, e, &setting, &n_settings));
    TRY_ALLOC(*out = ARENA_ARRAY(a, n_settings + 1, Round));
    *n = 0;
    for (size_t i = 0; i < n_settings; i++)
        if (setting[i].id == p->setting) own = environment_of(setting[i].key, &round);
    for (size_t i = 0; i < n_settings; i++) {
        const Str environment = environment_of(setting[i].key, &round);
        if (!round || round == ROUND_ALL || !str_eq(environment, own)) continue;
        (*out)[*n].setting = setting[i].id;
        TRY(round_read(s, a, p, &(*out)[(*n)++]));
    }
    return ERR_OK;
}

static Err sizes_read(Store *s, Arena *a, const PlanView *p, RoundTimes *out)
{
    Rows r = {size_fill, sizeof(SizeRow), a, 0, {0}, 0};
    SizeRow *other;
    size_t n;
    Err e = db_each(s->db, rows_take, &r,
                    "SELECT id, key, flops FROM problem WHERE instr(key, ?)=1 AND id NOT IN"
                    " (SELECT problem FROM size WHERE plan=?) ORDER BY id",
                    "si", type_of(p), p->id);
    TRY(rows_end(&r, e, &other, &n));
    TRY_ALLOC(out->size = ARENA_ARRAY(a, p->n_sizes + n + 1, SizeRow));
    for (size_t z = 0; z < p->n_sizes; z++) out->size[out->n_sizes++] = p->size[z];
    for (size_t z = 0; z < n; z++) out->size[out->n_sizes++] = other[z];
    return ERR_OK;
}

static int by_id(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static Err kernels_list(Arena *a, const Round *round, size_t n, RoundTimes *out)
{
    size_t most = 1, n_all = 0;
    for (size_t i = 0; i < n; i++) most += round[i].n;
    TRY_ALLOC(out->kernel = ARENA_ARRAY(a, most, int64_t));
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < round[i].n; k++) out->kernel[n_all++] = round[i].pair[k].kernel;
    qsort(out->kernel, n_all, sizeof *out->kernel, by_id);
    for (size_t k = 0; k < n_all; k++)
        if (!k || out->kernel[k] != out->kernel[k - 1]) out->kernel[out->n_kernels++] = out->kernel[k];
    return ERR_OK;
}

size_t rounds_kernel(const RoundTimes *t, int64_t kernel)
{
    const int64_t *at = bsearch(&kernel, t->kernel, t->n_kernels, sizeof kernel, by_id);
    return at ? (size_t)(at - t->kernel) : SIZE_MAX;
}

/* Takes a round's times of a size, which is row z. */
static Err size_take(Store *s, Arena *a, RoundSize *x, const Pair *pair, size_t z, RoundTimes *out)
{
    double *row = &out->ns[z * out->n_kernels], *ns = ARENA_ARRAY(a, x->n + 1, double), before = 0;
    int64_t *kernel = ARENA_ARRAY(a, x->n + 1, int64_t);
    Result *r;
    size_t again = SIZE_MAX;
    TRY_ALLOC(ns);
    TRY_ALLOC(kernel);
    for (size_t i = 0; i < x->n; i++) {
        const double known = row[rounds_kernel(out, kernel[i] = pair[i].kernel)];
        if (known > 0) again = i, before = known;
    }
    x->kernel = kernel;
    TRY(round_results(s, a, x, &r));
    round_times(r, x->n, again, before, ns);
    for (size_t i = 0; i < x->n; i++) {
        double *own = &row[rounds_kernel(out, kernel[i])];
        if (*own <= 0 && !isinf(ns[i])) *own = ns[i];
    }
    return ERR_OK;
}

static Err round_take(Store *s, Arena *scratch, const Round *round, RoundTimes *out)
{
    for (size_t i = 0, end; i < round->n; i = end) {
        const int64_t problem = round->pair[i].problem;
        size_t z = 0;
        for (end = i + 1; end < round->n && round->pair[end].problem == problem;) end++;
        while (z < out->n_sizes && out->size[z].problem != problem) z++;
        RoundSize x = {.setting = round->setting, .problem = problem, .n = end - i};
        arena_reset(scratch);
        if (z < out->n_sizes) TRY(size_take(s, scratch, &x, &round->pair[i], z, out));
    }
    return ERR_OK;
}

Err rounds_load(Store *s, Arena *a, const PlanView *p, RoundTimes *out)
{
    Round *round;
    size_t n = 0;
    Arena scratch;
    *out = (RoundTimes){0};
    TRY(rounds_read(s, a, p, &round, &n));
    TRY(sizes_read(s, a, p, out));
    TRY(kernels_list(a, round, n, out));
    TRY_ALLOC(out->ns = ARENA_ARRAY(a, out->n_sizes * out->n_kernels + 1, double));
    arena_init(&scratch, 0);
    Err e = ERR_OK;
    for (size_t i = 0; !e && i < n; i++) e = round_take(s, &scratch, &round[i], out);
    arena_fini(&scratch);
    return e;
}
