/* The space of a fork: order of dimensions, counting, enumeration. See space.h. */
#include "space/space.h"

#include <stdlib.h>
#include <string.h>

Err space_init(Space *sp, const ProblemType *pt)
{
    memset(sp, 0, sizeof *sp);
    arena_init(&sp->arena, 0);
    solution_init(&sp->base, pt);
    return ERR_OK;
}

static void remove_dimension(Space *sp, size_t i)
{
    VEC_FINI(&sp->dim.v[i].choice);
    map_fini(&sp->dim.v[i].by_value);
    memmove(&sp->dim.v[i], &sp->dim.v[i + 1], (sp->dim.n - i - 1) * sizeof *sp->dim.v);
    sp->dim.n--;
}

void space_fini(Space *sp)
{
    while (sp->dim.n) remove_dimension(sp, sp->dim.n - 1);
    VEC_FINI(&sp->dim);
    arena_fini(&sp->arena);
}

static Err add_choice(Space *sp, Dimension *d, const ParamId *set, size_t n_set, const Solution *values)
{
    size_t size = 0;
    if (++sp->n_values > SPACE_VALUES_MAX)
        FAIL(ERR_INPUT, "more than %d candidate values of parameters", SPACE_VALUES_MAX);
    for (size_t i = 0; i < n_set; i++) size += param_size(param_at(set[i]));
    char *bytes = arena_alloc(&sp->arena, size);
    TRY_ALLOC(bytes);
    size_t at = 0;
    for (size_t i = 0; i < n_set; i++) {
        const Param *p = param_at(set[i]);
        memcpy(bytes + at, solution_field_const(values, p), param_size(p));
        at += param_size(p);
    }
    Choice c = {set, n_set, bytes};
    if (!VEC_PUSH(&d->choice, c)) FAIL(ERR_FAILED, "out of memory for %zu candidate values", sp->n_values);
    return ERR_OK;
}

Err space_param(Space *sp, const Param *p)
{
    Dimension d = {.param = (ParamId)p->id};
    for (size_t i = 0; i < sp->dim.n; i++)
        if (sp->dim.v[i].param == d.param) {
            remove_dimension(sp, i);
            break;
        }
    if (!VEC_PUSH(&sp->dim, d)) FAIL(ERR_FAILED, "out of memory for '%s'", p->name);
    return ERR_OK;
}

Err space_value(Space *sp, const Solution *value)
{
    Dimension *d = &sp->dim.v[sp->dim.n - 1];
    ParamId *set = ARENA_NEW(&sp->arena, ParamId);
    TRY_ALLOC(set);
    *set = d->param;
    return add_choice(sp, d, set, 1, value);
}

Err space_group(Space *sp)
{
    Dimension d = {.param = PARAM_COUNT};
    if (!VEC_PUSH(&sp->dim, d)) FAIL(ERR_FAILED, "out of memory for group %zu", sp->n_groups);
    sp->n_groups++;
    return ERR_OK;
}

Err space_group_entry(Space *sp, const ParamId *set, size_t n_set, const Solution *values)
{
    ParamId *own = ARENA_ARRAY(&sp->arena, n_set, ParamId);
    TRY_ALLOC(own);
    memcpy(own, set, n_set * sizeof *set);
    return add_choice(sp, &sp->dim.v[sp->dim.n - 1], own, n_set, values);
}

static void apply(const Choice *c, Solution *s)
{
    const char *from = c->bytes;
    for (size_t i = 0; i < c->n_set; i++) {
        const Param *p = param_at(c->set[i]);
        memcpy(solution_field(s, p), from, param_size(p));
        from += param_size(p);
        solution_mark(s, c->set[i]);
    }
}

/* Order of dimensions: FORK rows in table order, then EXTRA rows and groups in the order in which they were
 * added. */
static int dimension_rank(const Dimension *d)
{
    if (d->param == PARAM_COUNT) return PARAM_COUNT + 1;
    return param_at(d->param)->group == GROUP_FORK ? (int)d->param : PARAM_COUNT;
}

static void dimensions_order(Space *sp)
{
    for (size_t i = sp->dim.n; i-- > 0;) {
        const Dimension *d = &sp->dim.v[i];
        if (d->param == PARAM_COUNT || d->choice.n > 1) continue;
        if (d->choice.n == 1) apply(&d->choice.v[0], &sp->base);
        remove_dimension(sp, i);
    }
    for (size_t i = 1; i < sp->dim.n; i++) {
        Dimension d = sp->dim.v[i];
        size_t j = i;
        for (; j > 0 && dimension_rank(&sp->dim.v[j - 1]) > dimension_rank(&d); j--)
            sp->dim.v[j] = sp->dim.v[j - 1];
        sp->dim.v[j] = d;
    }
}

/* Lists up to this length are searched linearly. */
enum { SEARCHED_VALUES = 8 };

static Err values_index(Dimension *d)
{
    size_t size = d->param == PARAM_COUNT ? 0 : param_size(param_at(d->param));
    map_init(&d->by_value);
    if (size == 0 || d->choice.n <= SEARCHED_VALUES) return ERR_OK;
    for (size_t k = 0; k < d->choice.n; k++) {
        bool added;
        int64_t *first = map_put(&d->by_value, (Str){d->choice.v[k].bytes, size}, &added);
        if (!first) FAIL(ERR_FAILED, "out of memory for %zu candidate values", d->choice.n);
        if (added) *first = (int64_t)k;
    }
    return ERR_OK;
}

Err space_seal(Space *sp)
{
    dimensions_order(sp);
    for (size_t i = 0; i < sp->dim.n; i++) TRY(values_index(&sp->dim.v[i]));
    return ERR_OK;
}

static Err set_param(Space *sp, const Config *c, const ForkParam *fp)
{
    TRY(space_param(sp, fp->param));
    for (size_t i = 0; i < fp->n; i++) {
        Solution value;
        solution_init(&value, sp->base.pt);
        Err e = param_parse_value(fp->param, fp->value[i], &value);
        if (e) return err_context(e, "%s:%d: ", c->path, fp->value[i]->line);
        TRY(space_value(sp, &value));
    }
    return ERR_OK;
}

static Err set_group(Space *sp, const Config *c, const ForkGroup *group)
{
    TRY(space_group(sp));
    for (size_t i = 0; i < group->n; i++) {
        const ForkEntry *entry = &group->entry[i];
        ParamId set[PARAM_COUNT];
        Solution values;
        size_t n = 0;
        solution_init(&values, sp->base.pt);
        for (size_t k = 0; k < entry->n && n < PARAM_COUNT; k++) {
            Err e = param_parse_value(entry->assign[k].param, entry->assign[k].value, &values);
            if (e) return err_context(e, "%s:%d: ", c->path, entry->line);
            set[n++] = (ParamId)entry->assign[k].param->id;
        }
        TRY(space_group_entry(sp, set, n, &values));
    }
    return ERR_OK;
}

Err space_of_size_group(Space *sp, const Config *c, const ProblemType *pt, const SizeGroup *group)
{
    TRY(space_init(sp, pt));
    Err e = ERR_OK;
    for (size_t i = 0; i < group->n_params && !e; i++) e = set_param(sp, c, &group->param[i]);
    for (size_t i = 0; i < group->n_groups && !e; i++) e = set_group(sp, c, &group->group[i]);
    if (e) return space_fini(sp), e;
    e = space_seal(sp);
    if (e) space_fini(sp);
    return e;
}

Err space_size(const Space *sp, int64_t *out)
{
    int64_t n = 1;
    for (size_t i = 0; i < sp->dim.n; i++)
        if (__builtin_mul_overflow(n, (int64_t)sp->dim.v[i].choice.n, &n))
            FAIL(ERR_INPUT, "the fork has more than 2^63 permutations (%zu parameters vary)", sp->dim.n);
    *out = n;
    return ERR_OK;
}

void space_get(const Space *sp, int64_t p, Solution *out)
{
    *out = sp->base;
    for (size_t i = 0; i < sp->dim.n; i++) {
        int64_t n = (int64_t)sp->dim.v[i].choice.n;
        apply(&sp->dim.v[i].choice.v[p % n], out);
        p /= n;
    }
}

size_t space_choice_equal(const Space *sp, size_t dimension, size_t choice, const Solution *s)
{
    const Choice *c = &sp->dim.v[dimension].choice.v[choice];
    const char *bytes = c->bytes;
    size_t n = 0;
    for (size_t i = 0; i < c->n_set; i++) {
        const Param *p = param_at(c->set[i]);
        n += !memcmp(solution_field_const(s, p), bytes, param_size(p));
        bytes += param_size(p);
    }
    return n;
}

int64_t space_choice(const Space *sp, size_t dimension, const Solution *s)
{
    const Dimension *d = &sp->dim.v[dimension];
    if (d->by_value.n) {
        const Param *p = param_at(d->param);
        const int64_t *k = map_get(&d->by_value, (Str){solution_field_const(s, p), param_size(p)});
        return k ? *k : -1;
    }
    for (size_t k = 0; k < d->choice.n; k++)
        if (space_choice_equal(sp, dimension, k, s) == d->choice.v[k].n_set) return (int64_t)k;
    return -1;
}

int64_t space_find(const Space *sp, const Solution *s)
{
    int64_t p = 0, step = 1;
    for (size_t i = 0; i < sp->dim.n; i++) {
        const int64_t k = space_choice(sp, i, s);
        if (k < 0) return -1;
        p += k * step;
        step *= (int64_t)sp->dim.v[i].choice.n;
    }
    return p;
}

Err space_walk_init(SpaceWalk *w, const Space *sp, Arena *a)
{
    *w = (SpaceWalk){.space = sp, .p = -1};
    w->at = ARENA_ARRAY(a, sp->dim.n, size_t);
    TRY_ALLOC(w->at);
    return ERR_OK;
}

bool space_walk_next(SpaceWalk *w)
{
    const Space *sp = w->space;
    bool groups = false;
    if (++w->p == 0) {
        for (size_t i = 0; i < sp->dim.n; i++)
            if (sp->dim.v[i].choice.n == 0) return false; /* a group without entries */
        space_get(sp, 0, &w->current);
        return true;
    }
    size_t i = 0;
    for (; i < sp->dim.n; i++) {
        const Dimension *d = &sp->dim.v[i];
        bool carry = ++w->at[i] == d->choice.n;
        if (carry) w->at[i] = 0;
        groups |= d->param == PARAM_COUNT;
        if (d->param != PARAM_COUNT) apply(&d->choice.v[w->at[i]], &w->current);
        if (!carry) break;
    }
    if (i == sp->dim.n) return false;
    /* Entries of a group may set different parameters, and groups override dimensions. With groups, the
     * solution is rebuilt from the constants when a group changes, and the groups are applied again when a
     * dimension changes. */
    if (groups)
        space_get(sp, w->p, &w->current);
    else
        for (i = sp->dim.n - sp->n_groups; i < sp->dim.n; i++)
            apply(&sp->dim.v[i].choice.v[w->at[i]], &w->current);
    return true;
}
