/* The groups of a gathered run: kernels and sizes that the shards had. See gather.h. */
#include "run/gather_groups.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "kernel/custom.h"
#include "space/space.h"

/* Shards with the same kernels of a size-group. */
typedef struct {
    const ShardGroup *kernels; /* of the first of them */
    size_t first;              /* its number */
    bool *has;                 /* [size] of the size-group's whole list */
    size_t n_sizes;
} Class;

static bool same_kernels(const ShardGroup *a, const ShardGroup *b)
{
    if (a->n_kernels != b->n_kernels || a->n_permutations != b->n_permutations) return false;
    for (size_t i = 0; i < a->n_kernels; i++)
        if (a->kernel[i].permutation != b->kernel[i].permutation ||
            !str_eq(a->kernel[i].name, b->kernel[i].name) ||
            !str_eq(a->kernel[i].kernel_name, b->kernel[i].kernel_name))
            return false;
    return true;
}

static const ShardGroup *group_of(const ShardResult *r, size_t group)
{
    for (size_t i = 0; i < r->n_groups; i++)
        if (r->group[i].group == (int64_t)group) return &r->group[i];
    return NULL;
}

static Err class_take(Arena *a, Class *class, size_t *n, const ShardGroup *g, const Shard *s, size_t number,
                      size_t n_sizes)
{
    size_t c = 0;
    while (c < *n && !same_kernels(class[c].kernels, g)) c++;
    if (c == *n) {
        class[c] = (Class){g, number, ARENA_ARRAY(a, n_sizes, bool), 0};
        TRY_ALLOC(class[c].has);
        ++*n;
    }
    for (size_t i = 0; i < s->n_ranges; i++) {
        if (s->range[i].group != g->group) continue;
        for (int64_t z = s->range[i].first; z <= s->range[i].last; z++) {
            class[c].n_sizes += !class[c].has[z];
            class[c].has[z] = true;
        }
    }
    return 0;
}

static Err sizes_take(Run *r, const Group *whole, const Class *c, Group *g)
{
    const size_t n_given = whole->n_sizes - whole->n_held_out;
    TRY_ALLOC(g->size = ARENA_ARRAY(&r->arena, c->n_sizes, ProblemSize));
    g->n_sizes = g->n_held_out = 0;
    for (size_t z = 0; z < whole->n_sizes; z++) {
        if (!c->has[z]) continue;
        g->size[g->n_sizes++] = whole->size[z];
        g->n_held_out += z >= n_given;
    }
    return 0;
}

typedef struct {
    CustomFolder folder;
    Deriver deriver;
    Space space;
    Candidates candidates;
} Maker;

static Err kernel_make(Run *r, const Group *g, Maker *m, const ShardKernel *k, Variant *v)
{
    Verdict verdict;
    CandidateKind kind = CANDIDATE_UNWRITTEN;
    char hash[CONTENT_HEX + 1];
    *v = (Variant){.name = arena_dup(&r->arena, k->name),
                   .kernel_name = arena_dup(&r->arena, k->kernel_name),
                   .permutation = k->permutation};
    TRY_ALLOC(v->name.s);
    TRY_ALLOC(v->kernel_name.s);
    space_get(&m->space, k->permutation, &v->s);
    solution_derive(&m->deriver, &v->s, &verdict);
    if (verdict.rule == RULE_NONE) TRY(candidates_add(&m->candidates, &v->s, &kind, hash));
    if (kind != CANDIDATE_NEW)
        FAIL(ERR_INPUT, "its permutation %" PRId64 " of %.*s is %s", k->permutation, STR_ARG(g->name),
             verdict.rule != RULE_NONE     ? "not valid"
             : kind == CANDIDATE_UNWRITTEN ? "not written for this target"
                                           : "the same kernel as another one");
    v->hash = arena_dup(&r->arena, (Str){hash, CONTENT_HEX});
    TRY_ALLOC(v->hash.s);
    return 0;
}

static Err kernels_make(Run *r, Group *g, Maker *m, const ShardGroup *from)
{
    int64_t n;
    DeriveLimits limits = run_derive_limits(r);
    limits.custom = &m->folder.kernels;
    TRY(deriver_init(&m->deriver, &g->problem->pt, r->target, &limits));
    TRY(space_of_size_group(&m->space, r->config, &g->problem->pt, g->config));
    TRY(space_size(&m->space, &n));
    if (from->n_permutations != n)
        FAIL(ERR_INPUT, "it has %" PRId64 " permutations of %.*s, expected %" PRId64, from->n_permutations,
             STR_ARG(g->name), n);
    TRY_ALLOC(g->variant = ARENA_ARRAY(&r->arena, from->n_kernels, Variant));
    for (g->n_variants = 0; g->n_variants < from->n_kernels; g->n_variants++) {
        TRY(kernel_make(r, g, m, &from->kernel[g->n_variants], &g->variant[g->n_variants]));
        if ((g->n_variants & 63) == 0) TRY(run_check());
    }
    g->n_permutations = (uint64_t)from->n_permutations;
    g->rules.n[RULE_NONE] = (uint64_t)from->n_valid;
    g->n_duplicates = (uint64_t)from->n_duplicates;
    return custom_folder_check(&m->folder);
}

static Err variants_take(Run *r, Group *g, const ShardGroup *from)
{
    Maker m = {.space = {.n_values = 0}};
    if (!from->n_kernels) {
        g->skip = g->given_up = true;
        r->n_given_up++;
        return 0;
    }
    custom_folder_init(&m.folder, &r->arena, r->target, path_dir(str_from(r->config->path)));
    candidates_init(&m.candidates, r->target, &r->arena);
    Err e = kernels_make(r, g, &m, from);
    candidates_fini(&m.candidates);
    space_fini(&m.space);
    return e;
}

/* A group of its own for each class; with one class the names are those of a single run. */
static Err group_make(Run *r, const Group *whole, const Class *c, bool alone, Group *g)
{
    const Globals *o = &r->config->globals;
    *g = *whole;
    if (!alone) {
        g->name = arena_printf(&r->arena, "%.*s_s%04zu", STR_ARG(whole->name), c->first);
        TRY_ALLOC(g->name.s);
        TRY(run_path(r, &g->dir, "%.*s/%.*s/00_Final", STR_ARG(o->BenchmarkProblemsPath), STR_ARG(g->name)));
        TRY(run_path(r, &g->data, "%.*s/%.*s%s", STR_ARG(o->BenchmarkDataPath), STR_ARG(g->name),
                     o->CSVExportWinner ? "_CSVWinner" : ""));
    }
    TRY(sizes_take(r, whole, c, g));
    return variants_take(r, g, c->kernels);
}

static Err plan_fits(const Run *r, const ShardPlan *p)
{
    bool fits = p->n_groups == r->n_groups;
    for (size_t i = 0; fits && i < p->n_groups; i++)
        fits = str_eq(p->group[i], r->group[i].name) && (size_t)p->group_sizes[i] == r->group[i].n_sizes;
    if (!fits) FAIL(ERR_INPUT, "the size-groups of %s are not those of the shards", r->config->path);
    return 0;
}

Err gather_groups(Run *r)
{
    Gathering *x = r->gather;
    TRY(groups_make(r));
    TRY(groups_sizes(r));
    TRY(plan_fits(r, &x->plan));
    const Group *whole = r->group;
    const size_t n_whole = r->n_groups;
    Class *class = ARENA_ARRAY(&r->arena, x->n, Class);
    TRY_ALLOC(r->group = ARENA_ARRAY(&r->arena, n_whole * x->n, Group));
    TRY_ALLOC(class);
    TRY_ALLOC(x->of_group = ARENA_ARRAY(&r->arena, n_whole * x->n, size_t));
    r->n_groups = 0;
    for (size_t i = 0; i < n_whole; i++) {
        size_t n = 0;
        for (size_t k = 0; k < x->n; k++) {
            const ShardGroup *g = group_of(&x->shard[k].result, i);
            const size_t number = x->shard[k].i;
            if (g) TRY(class_take(&r->arena, class, &n, g, &x->plan.shard[number], number, whole[i].n_sizes));
        }
        for (size_t c = 0; c < n; c++) {
            Err e = group_make(r, &whole[i], &class[c], n == 1, &r->group[r->n_groups]);
            if (e && e != ERR_INPUT) return e;
            x->of_group[r->n_groups] = i;
            r->n_groups += e == 0;
            if (!e) continue;
            warning("%.*s of shard %zu is left out: %s", STR_ARG(whole[i].name), class[c].first,
                    err_message());
            x->n_refused++;
        }
    }
    if (r->n_given_up >= r->n_groups) FAIL(ERR_FAILED, "no size-group of the shards has kernels");
    return 0;
}
