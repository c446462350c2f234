/* Scouts: kernels that the performance model expects to be fast between the tuned sizes. The first round
 * measures them on tuned sizes, so that the library may keep them (search_range.c): a search that only follows the tuned
 * sizes may measure no kernel at all for sizes of another shape or alignment. See search_group.h. */
#include <math.h>

#include "base/proc.h"
#include "measure/predictor.h"
#include "measure/model_range.h"
#include "run/held_out.h"
#include "run/search_group.h"
#include "run/type_model.h"

/* SIZES that are drawn from the range of the tuned ones; POOL: candidates that are looked at, about. A class
 * of kernels whose best is within CLOSE of a size's best has a scout for it. */
enum { SIZES = 24, POOL = 1 << 15 };
static const double CLOSE = 1.25;
/* Share of the budget for compiling scouts. */
static const double SCOUT_SHARE = 0.05;

typedef struct {
    double seconds;
    int64_t permutation; /* -1: none */
    size_t at;           /* the tuned size on which it is measured */
} Scout;

typedef struct {
    SearchGroup *x;
    ProblemSize *size; /* the tuned ones, then those that are drawn */
    ModelSize *numbers; /* of these sizes */
    ModelPoint *point;
    size_t n_tuned, n;
    SearchModel model;
    Scout best[SIZES][MODEL_CLASSES];
} Scouting;

static size_t scouts_most(const Run *r)
{
    double budget = 0;
    time_parse(r->config->globals.TimeBudget, &budget);
    const double n = SCOUT_SHARE * budget * fmax(1, (double)cpu_count()) / SEARCH_COMPILE_S;
    return budget > 0 && n < SIZES ? (size_t)n : SIZES;
}

static Err sizes_make(Scouting *s, Arena *a, const SearchOptions *o)
{
    const size_t n = o->n_sizes;
    TRY_ALLOC(s->size = ARENA_ARRAY(a, n + SIZES, ProblemSize));
    TRY_ALLOC(s->numbers = ARENA_ARRAY(a, n + SIZES, ModelSize));
    TRY_ALLOC(s->point = ARENA_ARRAY(a, n + SIZES, ModelPoint));
    for (size_t z = 0; z < n; z++) s->size[z] = o->size[z];
    s->n_tuned = n;
    s->n = n + held_out_draw(o->pt, o->size, n, problem_type_hash(o->pt) + 2, SIZES, s->size + n);
    for (size_t z = 0; z < s->n; z++) {
        s->numbers[z] = model_size(o->pt, &s->size[z], false);
        s->point[z] = model_point(&s->numbers[z]);
    }
    return ERR_OK;
}

static bool aligned_no_better(const ModelSize *a, const ModelSize *b)
{
    return a->align_a <= b->align_a && a->align_b <= b->align_b && a->align_d <= b->align_d;
}

/* The nearest tuned size that the model's kernel takes, where it shows that it takes this one (model_runs_on);
 * a size on which it takes 2^n times as long counts as n octaves farther. SIZE_MAX: none. */
static size_t nearest(const Scouting *s, size_t z, double seconds)
{
    size_t best = SIZE_MAX;
    double least = (double)INFINITY;
    for (size_t t = 0; t < s->n_tuned; t++) {
        if (!aligned_no_better(&s->numbers[t], &s->numbers[z])) continue;
        const double there = s->model.seconds(s->model.ctx, t);
        if (!(there > 0)) continue;
        const double d =
            sqrt((double)model_distance(&s->point[z], &s->point[t])) + fmax(0, log2(there / seconds));
        if (d < least) best = t, least = d;
    }
    return best;
}

static void candidate_look(Scouting *s, int64_t permutation)
{
    Solution solution;
    Hash128 hash;
    if (!pool_get(&s->x->pool, permutation, &solution, &hash) || solution.custom ||
        !s->model.kernel(s->model.ctx, &solution))
        return;
    const int class = s->model.class(s->model.ctx);
    for (size_t z = s->n_tuned; z < s->n; z++) {
        Scout *best = &s->best[z - s->n_tuned][class];
        const double seconds = s->model.seconds(s->model.ctx, z);
        if (!(seconds > 0) || (best->permutation >= 0 && best->seconds <= seconds)) continue;
        const size_t at = nearest(s, z, seconds);
        if (at != SIZE_MAX) *best = (Scout){seconds, permutation, at};
    }
}

static bool is_there(const SearchFirst *first, size_t n, int64_t permutation)
{
    for (size_t i = 0; i < n; i++)
        if (first[i].permutation == permutation) return true;
    return false;
}

/* The best scout of each size first, then those of other classes. */
static void scouts_take(const Scouting *s, size_t most, SearchFirst *first, size_t *n)
{
    const size_t end = *n + most;
    for (int best = 1; best >= 0; best--)
        for (size_t z = 0; z < s->n - s->n_tuned; z++) {
            double least = (double)INFINITY;
            for (int c = 0; c < MODEL_CLASSES; c++)
                if (s->best[z][c].permutation >= 0) least = fmin(least, s->best[z][c].seconds);
            for (int c = 0; c < MODEL_CLASSES && *n < end; c++) {
                const Scout *x = &s->best[z][c];
                const bool is_best = x->seconds <= least;
                if (x->permutation < 0 || is_best != best || x->seconds > CLOSE * least) continue;
                if (is_there(first, *n, x->permutation)) continue;
                first[(*n)++] = (SearchFirst){x->permutation, (uint32_t)x->at};
            }
        }
}

static Err scouts_find(Scouting *s, Arena *a, const SearchOptions *o)
{
    const Pool *pool = &s->x->pool;
    TRY(sizes_make(s, a, o));
    TRY(search_group_model(s->x, s->size, s->n, &s->model));
    for (size_t i = 0; i < pool->n; i += pool->n / POOL + 1) {
        candidate_look(s, pool->item[i]);
        if ((i & 0xff) == 0) TRY(run_check());
    }
    return ERR_OK;
}

Err search_scouts(SearchGroup *x, SearchOptions *o)
{
    const Run *r = x->r;
    const size_t most = scouts_most(r), n_given = o->n_first;
    if (!r->config->has_logic || o->method != SEARCH_MODEL || o->n_sizes < TYPE_MODEL_SIZES ||
        !problem_is_gemm(o->pt) || !most)
        return ERR_OK;
    Arena a;
    arena_init(&a, 0);
    SearchFirst *first = ARENA_ARRAY(&x->r->arena, n_given + most + 1, SearchFirst);
    Scouting *s = ARENA_NEW(&a, Scouting);
    Err e = first && s ? ERR_OK : err_set(ERR_FAILED, "out of memory for %zu candidates", most);
    if (!e) {
        *s = (Scouting){.x = x};
        for (size_t i = 0; i < SIZES * MODEL_CLASSES; i++)
            s->best[i / MODEL_CLASSES][i % MODEL_CLASSES].permutation = -1;
        e = scouts_find(s, &a, o);
        predictor_fini(&s->model);
    }
    if (!e) {
        for (size_t i = 0; i < n_given; i++) first[i] = o->first[i];
        scouts_take(s, most, first, &o->n_first);
        o->first = first;
        verbose("%.*s: %zu kernels for sizes between the tuned ones come into the first round",
                STR_ARG(x->g->name), o->n_first - n_given);
    }
    arena_fini(&a);
    return e;
}
