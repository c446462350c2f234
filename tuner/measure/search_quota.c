/* The quota of a round. See search_quota.h. */
#include "measure/search_quota.h"

#include <math.h>

/* New candidates of a size: of the first round, and of later ones. */
enum { FIRST_QUOTA = 12, LATER_QUOTA = 4 };
/* Shares of what is left that a round may take. Where compiling and measuring overlap, the first round is
 * short: nothing is measured while it is compiled. */
static const double FIRST_SHARE = 0.3, FIRST_OVERLAPPED = 0.08, ROUND_SHARE = 0.25, ORDER_SHARE = 0.6;
/* Without a budget: what compiling costs against measuring on a size, about (a wgmma kernel on 16 cores). */
static const double KERNEL_OVER_PAIR = 7;

double search_kernel_seconds(const SearchTime *t)
{
    const double measure_s = t->pair_s * SEARCH_SIZES_OF_KERNEL;
    return t->overlaps ? fmax(t->kernel_s, measure_s) : t->kernel_s + measure_s;
}

SearchQuota search_quota(const SearchTime *t)
{
    const bool first = t->n_rounds == 0;
    SearchQuota q = {SIZE_MAX, first ? FIRST_QUOTA : LATER_QUOTA, KERNEL_OVER_PAIR, 1};
    if (t->budget_s <= 0) return q;
    q.kernel_s = t->kernel_s, q.pair_s = t->pair_s;
    const double each = search_kernel_seconds(t);
    const double share = !t->learns ? ORDER_SHARE
                         : !first   ? ROUND_SHARE
                                    : (t->overlaps ? FIRST_OVERLAPPED : FIRST_SHARE);
    if (!first && t->left_s < each) return (SearchQuota){0};
    const double most = t->left_s * share / each;
    q.kernels = most < 1 ? 1 : (size_t)most;
    if (q.kernels < t->n_cores && t->left_s > each * (double)t->n_cores) q.kernels = t->n_cores;
    return q;
}
