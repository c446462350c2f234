/* Winners of other groups. See search_share.h. */
#include "run/search_share.h"

#include <math.h>
#include <string.h>

static size_t choice_bytes(const Choice *c)
{
    size_t n = 0;
    for (size_t i = 0; i < c->n_set; i++) n += param_size(param_at(c->set[i]));
    return n;
}

static bool choice_equal(const Choice *a, const Choice *b)
{
    return a->n_set == b->n_set && memcmp(a->set, b->set, a->n_set * sizeof *a->set) == 0 &&
           memcmp(a->bytes, b->bytes, choice_bytes(a)) == 0;
}

static bool dimension_equal(const Dimension *a, const Dimension *b)
{
    if (a->param != b->param || a->choice.n != b->choice.n) return false;
    for (size_t i = 0; i < a->choice.n; i++)
        if (!choice_equal(&a->choice.v[i], &b->choice.v[i])) return false;
    return true;
}

/* Whether a permutation stands for the same values in both spaces. */
static bool same_values(const Space *a, const Space *b)
{
    const Hash128 x = solution_hash(&a->base), y = solution_hash(&b->base);
    if (x.lo != y.lo || x.hi != y.hi || a->dim.n != b->dim.n) return false;
    for (size_t i = 0; i < a->dim.n; i++)
        if (!dimension_equal(&a->dim.v[i], &b->dim.v[i])) return false;
    return true;
}

typedef struct {
    double distance;
    int64_t permutation; /* -1: none */
} Winner;

/* Takes the other group's winner of the size nearest to z, if that is nearer than *w. */
static void winner_near(const SearchGroup *other, double apart, const ProblemSize *z, Winner *w)
{
    const Search *s = &other->search;
    for (size_t i = 0; i < s->o.n_sizes; i++) {
        const double far = search_seed_distance(s->o.pt, z->v, s->o.size[i].v);
        if (s->best[i] == UINT32_MAX || far > log(SHARE_FAR) || !(apart + far < w->distance)) continue;
        *w = (Winner){apart + far, s->known.v[s->best[i]].permutation};
    }
}

/* Whether the group has measured the kernel on the size, or will in the round that is compiled now. */
static bool is_known(const SearchGroup *x, int64_t permutation, uint32_t z)
{
    const Search *s = &x->search;
    const SearchBatch *flight = &x->next.batch;
    for (uint32_t c = 0; c < s->known.n; c++) {
        if (s->known.v[c].permutation != permutation) continue;
        if (s->known.v[c].failed || search_value(s, c, z) != 0) return true;
        for (size_t i = 0; i < flight->n; i++)
            if (flight->v[i].candidate == c && flight->v[i].size == z) return true;
    }
    return false;
}

/* Takes the winners of another group for all sizes of x. */
static void winners_take(const SearchGroup *other, const SearchGroup *x, Winner *w)
{
    if (!other->search.n_pairs) return;
    const double apart = search_seed_apart(other->search.o.pt, x->search.o.pt);
    if (apart < 0 || !same_values(&other->space, &x->space)) return;
    for (size_t z = 0; z < x->n_own; z++) winner_near(other, apart, &x->search.o.size[z], &w[z]);
}

Err search_share(SearchGroup *group, size_t n, size_t i)
{
    SearchGroup *x = &group[i];
    Search *s = &x->search;
    if (x->finished || s->o.method != SEARCH_MODEL || !s->n_pairs) return ERR_OK;
    SearchFirst *first = ARENA_ARRAY(&x->r->arena, x->n_own + 1, SearchFirst);
    Winner *w = ARENA_ARRAY(&x->r->arena, x->n_own + 1, Winner);
    TRY_ALLOC(first);
    TRY_ALLOC(w);
    for (size_t z = 0; z < x->n_own; z++) w[z] = (Winner){INFINITY, -1};
    for (size_t k = 0; k < n; k++)
        if (k != i) winners_take(&group[k], x, w);
    s->o.n_first = 0;
    for (uint32_t z = 0; z < x->n_own; z++)
        if (w[z].permutation >= 0 && !is_known(x, w[z].permutation, z))
            first[s->o.n_first++] = (SearchFirst){w[z].permutation, z};
    s->o.first = first;
    return ERR_OK;
}
