/* The quota of a round. See search_quota.h. */
#include "measure/search_quota.h"

#include <math.h>

/* New candidates of a size: of the first round, and of later ones. */
enum { FIRST_QUOTA = 12, LATER_QUOTA = 4 };
/* Shares of what is left that a round may take. Where compiling and measuring overlap, the first round is
 * short: nothing is measured while it is compiled. */
static const double FIRST_SHARE = 0.3, FIRST_OVERLAPPED = 0.08, ROUND_SHARE = 0.25, ORDER_SHARE = 0.6;
/* Seconds of a round. FIRST_ROUND_SHARE: of the time that is left. FIRST_OVER_SIZES, ROUND_OF_SIZES: at least
 * these multiples of the time that all sizes take without kernels; the first round measures on all sizes,
 * later ones on those that search_gain.h selects. A last round that would be shorter than LAST_OF_SIZES is
 * joined to the one before. HIDDEN: the part of a compilation that counts where it overlaps with measuring.
 * SERIAL_SHARE: where it does not overlap, the least part of a round for compiling; it gets more where
 * measuring a kernel on all sizes takes less than compiling it. There choosing does not overlap either: a
 * round takes at least as long as choosing the next one, and FIRST_CHOICE is the time of choosing the first
 * one, which knows no results, over that of later ones. MOST_OF_SIZE: candidates of a size. */
static const double FIRST_ROUND_SHARE = 0.08, FIRST_OVER_SIZES = 1.2, ROUND_OF_SIZES = 1, LAST_OF_SIZES = 0.5,
                    HIDDEN = 0.3, SERIAL_SHARE = 0.5, FIRST_CHOICE = 0.5;
enum { MOST_OF_SIZE = 32 };
/* Without a budget: the assumed ratio of compiling a kernel to measuring it on a size (a wgmma kernel on 16
 * cores). */
static const double KERNEL_OVER_PAIR = 7;

double search_kernel_seconds(const SearchTime *t)
{
    const double measure_s = t->pair_s * SEARCH_SIZES_OF_KERNEL;
    return t->overlaps ? fmax(t->kernel_s, measure_s) : t->kernel_s + measure_s;
}

/* Seconds of a round of s for compiling; the rest is for measuring. */
static double serial_compile(const SearchTime *t, double s)
{
    const double measure_s = t->pair_s * (double)t->n_sizes;
    return fmax(s * SERIAL_SHARE, (s - t->sizes_s) * t->kernel_s / (t->kernel_s + measure_s));
}

/* The quota of a search that learns, where the operands of sizes take long. The last round takes all time
 * left. */
static SearchQuota by_seconds(const SearchTime *t)
{
    const bool first = t->n_rounds == 0;
    const double share = first ? FIRST_ROUND_SHARE : ROUND_SHARE, choose_s = t->overlaps ? 0 : t->choose_s;
    const double left = t->left_s - choose_s * (first ? FIRST_CHOICE : 1);
    double s = fmax(left * share, t->sizes_s * (first ? FIRST_OVER_SIZES : ROUND_OF_SIZES));
    s = fmax(s, choose_s);
    const bool is_last = s > left - 2 * choose_s - t->sizes_s * LAST_OF_SIZES;
    if (is_last) s = left;
    if (first) s = fmax(s, t->sizes_s);
    if (!first && s < t->kernel_s + t->pair_s) return (SearchQuota){0};
    const double compile_s = !t->overlaps ? serial_compile(t, s)
                             : first      ? fmax(left, 0) * FIRST_OVERLAPPED
                                          : s;
    SearchQuota q = {.per_size = MOST_OF_SIZE,
                     .kernels = (size_t)(compile_s / t->kernel_s) + 1,
                     .kernel_s = t->overlaps ? t->kernel_s * HIDDEN : t->kernel_s,
                     .pair_s = t->pair_s,
                     .seconds = t->overlaps || first ? s : s - compile_s,
                     .scale = t->scale,
                     .is_last = is_last};
    if (q.kernels < t->n_cores) q.kernels = t->n_cores;
    return q;
}

SearchQuota search_quota(const SearchTime *t)
{
    const bool first = t->n_rounds == 0;
    if (t->budget_s > 0 && t->learns && t->sizes_s > 0) return by_seconds(t);
    SearchQuota q = {.kernels = SIZE_MAX,
                     .per_size = first ? FIRST_QUOTA : LATER_QUOTA,
                     .kernel_s = KERNEL_OVER_PAIR,
                     .pair_s = 1,
                     .scale = 1};
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
