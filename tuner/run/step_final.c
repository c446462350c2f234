/* Step: the final measurements. Where a search has a time budget, they stop before the size that would exceed
 * it. A size that is left out keeps the results of the search's rounds, and a held-out size has none. Sizes
 * that no round measured are measured even beyond the budget, so that every size has a winner. See run.h. */
#include "run/run.h"

#include "run/search_group.h"

static bool was_searched(const Group *g, size_t z)
{
    const double *ns = &g->searched.ns[z * g->searched.n_variants];
    for (size_t i = 0; i < g->searched.n_variants; i++)
        if (ns[i] > 0) return true;
    return false;
}

/* Sizes that are not measured any more. */
typedef struct {
    size_t n_tuned, n_held_out;
} Cut;

static Err group_cut(Run *r, Group *g, Cut *c)
{
    if (g->skip || !g->searched.ns) return 0;
    TRY_ALLOC(g->searched.cut = ARENA_ARRAY(&r->arena, g->n_sizes + 1, bool));
    for (size_t z = 0; z < g->n_sizes; z++) {
        const bool is_held_out = z + g->n_held_out >= g->n_sizes;
        bool measured;
        TRY(search_final_measured(r, g, z, g->setting, &measured));
        g->searched.cut[z] = !measured && (is_held_out || was_searched(g, z));
        *(is_held_out ? &c->n_held_out : &c->n_tuned) += g->searched.cut[z];
    }
    return 0;
}

static Err cut(Run *r)
{
    Cut c = {0};
    for (size_t i = 0; i < r->n_groups; i++) TRY(group_cut(r, &r->group[i], &c));
    if (c.n_tuned + c.n_held_out)
        warning("TimeBudget is spent: %zu sizes have the times of the search's rounds, %zu that are held out "
                "have none; with more time the same command measures them",
                c.n_tuned, c.n_held_out);
    TRY(step_measure(r));
    return final_fill(r);
}

Err final_fill(Run *r)
{
    bool any = false;
    for (size_t i = 0; i < r->n_groups; i++) {
        Group *g = &r->group[i];
        if (g->skip || !g->searched.ns || g->round) continue;
        any = true;
        TRY(search_results_keep(r, g));
    }
    return any ? step_plan(r) : 0;
}

/* The store of a shard keeps the setting under which its results are gathered: nothing is cut there. */
Err step_final(Run *r)
{
    if (r->shard) r->deadline_ns = 0;
    Err e = step_measure(r);
    r->deadline_ns = 0;
    return e || !r->late ? e : cut(r);
}
