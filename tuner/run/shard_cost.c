/* Estimates the seconds that sizes and groups take in a shard, before any kernel is compiled. Only their
 * ratios matter: they balance shards against each other. See shard_plan.h. */
#include <math.h>

#include "base/fs.h"
#include "kernel/custom.h"
#include "measure/pool.h"
#include "run/forecast.h"
#include "run/shard_plan.h"

/* Permutations of a group that are derived to estimate how many are valid. */
enum { LOOKS = 1000 };
/* The cores of the machine of a shard, which is not known here: a guess. */
static const double CORES = 8;
/* Kernels that a search compiles for each size, about; half of them are measured on that size alone. */
static const double SEARCHED = 28;
/* Launches of a kernel in a race before it drops out. */
static const double RACE_LAUNCHES = 6;

static Err valid_share(Run *r, const Group *g, const Space *space, int64_t n, double *share)
{
    CustomFolder folder;
    Deriver deriver;
    DeriveLimits limits = run_derive_limits(r);
    Solution s;
    Verdict v;
    const int64_t looks = n < LOOKS ? n : LOOKS;
    int64_t n_valid = 0;
    custom_folder_init(&folder, &r->arena, r->target, path_dir(str_from(r->config->path)));
    limits.custom = &folder.kernels;
    TRY(deriver_init(&deriver, &g->problem->pt, r->target, &limits));
    for (int64_t i = 0; i < looks; i++) {
        space_get(space, pool_shuffle(i, n, 1), &s);
        solution_derive(&deriver, &s, &v);
        n_valid += v.rule == RULE_NONE;
    }
    *share = looks ? (double)n_valid / (double)looks : 0;
    return custom_folder_check(&folder);
}

Err group_cost(Run *r, const Group *g, GroupCost *out)
{
    Space space = {0};
    int64_t n;
    double share = 0;
    *out = (GroupCost){0};
    if (run_searches(r)) {
        *out = (GroupCost){SEARCHED, SEARCHED * COMPILE_GUESS_SECONDS / CORES};
        return 0;
    }
    TRY(size_group_check(r->config, g->config));
    TRY(space_of_size_group(&space, r->config, &g->problem->pt, g->config));
    Err e = space_size(&space, &n);
    if (!e && n) e = valid_share(r, g, &space, n, &share);
    space_fini(&space);
    if (e) return e;
    out->n_kernels = fmax(1, share * (double)n);
    out->setup = out->n_kernels * COMPILE_GUESS_SECONDS / CORES;
    return 0;
}

double size_cost(const Run *r, const Group *g, const GroupCost *c, const ProblemSize *s)
{
    const Globals *o = &r->config->globals;
    const ProblemType *pt = &g->problem->pt;
    const PartRates *rates = part_rates(r->part, r->target);
    const int64_t n_cu = r->part ? r->part->n_cu : r->target->n_cu;
    const double launch = part_least_seconds(rates, n_cu, pt, (double)size_m(pt, s), (double)size_n(pt, s),
                                             (double)size_k(pt, s), (double)size_batch(pt, s));
    double launches = (double)o->NumWarmups + (double)o->EnqueuesPerSync * (double)o->SyncsPerBenchmark;
    double fixed = 0;
    if (run_races(r)) launches = RACE_LAUNCHES, fixed = RACE_SECONDS;
    if (run_searches(r)) fixed += 0.5 * SEARCHED * COMPILE_GUESS_SECONDS / CORES;
    return fixed + c->n_kernels * (PAIR_GUESS_SECONDS + launches * launch);
}
