/* Times of a search's rounds. See rounds.h. */
#include "measure/rounds.h"

#include <math.h>

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
