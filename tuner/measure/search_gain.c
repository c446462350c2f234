/* Lazy greedy choice by sampled gains. See search_gain.h. */
#include "measure/search_gain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "problem/model.h"

/* SAMPLES of the errors; NORMALS: of the table that they are drawn from. */
enum { SAMPLES = 32, NORMALS = 4096, PART = NORMALS / SAMPLES };
/* Shares of the variance of an error: of a family, of a kernel, of a pair of kernel and size. */
static const double OF_FAMILY = 0.45, OF_KERNEL = 0.35, OF_PAIR = 0.2;
/* Factor on a gain in the tails for each pair of the size that the batch already has. */
static const double LESS = 0.6;
/* Assumed number of a batch's pairs that share the operands of a size. */
static const double SHARED_BY = 8;

/* A kernel that is not compiled, or a pair of one that is (size < n_sizes). */
typedef struct {
    uint32_t candidate, size;
    double density; /* gain in a second; it only falls while the batch grows */
} Item;

/* A kernel on a size. */
typedef struct {
    double gain, seconds;
} SizeGain;

typedef struct {
    const GainTable *t;
    double *normal; /* [NORMALS] */
    double *low;    /* [size][sample] logarithm of the least time so far */
    size_t *n_of;   /* of each size: pairs of the batch and in flight */
    size_t *n_new;  /* of each size: pairs of the batch */
    SizeGain *gain; /* of the item in hand */
    bool *selected; /* of each size: this batch measures it */
    bool *paid;     /* of each size: its operands are part of the batch's seconds */
    bool *compiled; /* of each candidate, those of the batch included */
    bool *taken;    /* [candidate][size] pairs of the batch */
    Item *heap;
    size_t n, n_kernels;
    double seconds; /* of measuring the batch */
} Choosing;

/* The error `of` in a sample. The samples of one error are a Latin hypercube: each lies in a different one of
 * SAMPLES parts of equal probability, in an order that differs between errors, so that few samples have the
 * right mean. */
static double normal_of(const Choosing *c, uint64_t of, uint64_t sample)
{
    const uint64_t h = random_mix(of),
                   part = ((sample * (h | 1) ^ h >> 8) * (h >> 16 | 1) ^ h >> 24) % SAMPLES;
    return c->normal[part * PART + random_mix(h + sample) % PART];
}

/* Quantiles of the normal distribution, by bisection of erfc. */
static void normals_make(double *out)
{
    for (int i = 0; i < NORMALS; i++) {
        const double want = (i + 0.5) / NORMALS;
        double lo = -5, hi = 5;
        for (int k = 0; k < 40; k++) {
            const double x = 0.5 * (lo + hi);
            if (0.5 * erfc(-x * 0.7071067811865476) < want)
                lo = x;
            else
                hi = x;
        }
        out[i] = lo;
    }
}

static double time_at(const Choosing *c, uint32_t k, size_t z, uint64_t sample)
{
    const GainTable *t = c->t;
    const size_t at = k * t->n_sizes + z;
    const double error = sqrt(OF_FAMILY) * normal_of(c, t->family[k], sample) +
                         sqrt(OF_KERNEL) * normal_of(c, ~t->kernel[k], sample) +
                         sqrt(OF_PAIR) * normal_of(c, t->kernel[k] + (z + 1) * RANDOM_STEP, sample);
    return (double)t->mean[at] + (double)t->sd[at] * error;
}

/* Expected gain of a candidate on a size; 0 where it is not to be measured. Small gains lie in the tails of
 * the distribution, which the samples do not reach: there the analytic gain over the best so far is used,
 * reduced by LESS for each pair of the size that the batch already has. */
static double gain_at(const Choosing *c, uint32_t k, size_t z)
{
    const size_t at = k * c->t->n_sizes + z;
    double sum = 0;
    if (!c->selected[z] || isnan(c->t->mean[at]) || c->n_new[z] >= c->t->quota.per_size) return 0;
    const double alone = expected_gain((double)c->t->mean[at] - c->t->best[z], (double)c->t->sd[at]);
    if (alone < c->t->worth[k]) return 0;
    for (uint64_t s = 0; c->n_of[z] && s < SAMPLES; s++) {
        const double less = c->low[z * SAMPLES + s] - time_at(c, k, z, s);
        if (less > 0) sum += less;
    }
    return c->t->weight[z] * fmax(sum / SAMPLES, alone * pow(LESS, (double)c->n_of[z]));
}

static int descending(const void *a, const void *b)
{
    const SizeGain *p = a, *q = b;
    const double x = p->gain / p->seconds, y = q->gain / q->seconds;
    return (x < y) - (x > y);
}

/* Seconds for the operands of a size; 0 where the batch already has the size. */
static double operands_at(const Choosing *c, size_t z) { return c->paid[z] ? 0 : c->t->size_s[z]; }

/* Seconds of a pair, with a part of its size's operands where the batch does not have the size yet. */
static double cost_at(const Choosing *c, size_t z)
{
    const SearchQuota *q = &c->t->quota;
    if (q->seconds <= 0) return q->pair_s;
    return q->scale * (c->t->pair_s[z] + operands_at(c, z) / SHARED_BY);
}

/* Whether the batch may have a pair of the size, by the seconds that this adds. */
static bool has_time(const Choosing *c, size_t z)
{
    const SearchQuota *q = &c->t->quota;
    if (q->seconds <= 0) return true;
    return c->seconds + q->scale * (c->t->pair_s[z] + operands_at(c, z)) <= q->seconds;
}

static void size_pay(Choosing *c, size_t z)
{
    c->seconds += c->t->quota.scale * operands_at(c, z);
    c->paid[z] = true;
}

/* The gain per second of a kernel that has to be compiled, measured on those sizes that raise this density.
 * *least: sizes with a lower gain per second do not raise it. */
static double kernel_density(const Choosing *c, uint32_t k, double *least)
{
    double sum = 0, seconds = c->t->quota.kernel_s, density = 0;
    size_t n = 0;
    *least = (double)INFINITY;
    for (size_t z = 0; z < c->t->n_sizes; z++) {
        const double gain = gain_at(c, k, z);
        if (gain > 0 && has_time(c, z)) c->gain[n++] = (SizeGain){gain, cost_at(c, z)};
    }
    qsort(c->gain, n, sizeof *c->gain, descending);
    for (size_t i = 0; i < n; i++) {
        const double more = (sum + c->gain[i].gain) / (seconds + c->gain[i].seconds);
        if (more <= density) break;
        sum += c->gain[i].gain, seconds += c->gain[i].seconds, density = more;
        *least = c->gain[i].gain / c->gain[i].seconds;
    }
    return density;
}

static double density_of(const Choosing *c, const Item *x)
{
    double least;
    const size_t z = x->size;
    if (z < c->t->n_sizes) return has_time(c, z) ? gain_at(c, x->candidate, z) / cost_at(c, z) : 0;
    if (c->n_kernels >= c->t->quota.kernels) return 0;
    return kernel_density(c, x->candidate, &least);
}

/* ---- a heap, the largest density first; equal ones by number ---- */

static bool before(const Item *a, const Item *b)
{
    if (a->density != b->density) return a->density > b->density;
    return a->candidate != b->candidate ? a->candidate < b->candidate : a->size < b->size;
}

static void sift_down(Item *h, size_t n, size_t i)
{
    for (;;) {
        size_t first = i, left = 2 * i + 1;
        if (left < n && before(&h[left], &h[first])) first = left;
        if (left + 1 < n && before(&h[left + 1], &h[first])) first = left + 1;
        if (first == i) return;
        const Item t = h[i];
        h[i] = h[first], h[first] = t, i = first;
    }
}

static void heap_add(Choosing *c, Item x)
{
    size_t i = c->n++;
    for (; i > 0 && before(&x, &c->heap[(i - 1) / 2]); i = (i - 1) / 2) c->heap[i] = c->heap[(i - 1) / 2];
    c->heap[i] = x;
}

static Item heap_take(Choosing *c)
{
    const Item x = c->heap[0];
    c->heap[0] = c->heap[--c->n];
    sift_down(c->heap, c->n, 0);
    return x;
}

/* ---- choice ---- */

/* Lowers the least times of the samples by a pair. */
static void pair_note(Choosing *c, uint32_t k, size_t z)
{
    for (uint64_t s = 0; s < SAMPLES; s++) {
        double *low = &c->low[z * SAMPLES + s];
        *low = fmin(*low, time_at(c, k, z, s));
    }
    c->n_of[z]++;
    c->taken[k * c->t->n_sizes + z] = true;
}

static Err pair_take(Choosing *c, uint32_t k, size_t z, GainPairs *out)
{
    GainPair pair = {k, (uint32_t)z};
    c->t->promise[z] += gain_at(c, k, z);
    pair_note(c, k, z);
    size_pay(c, z);
    c->seconds += c->t->quota.scale * c->t->pair_s[z];
    c->n_new[z]++;
    if (!VEC_PUSH(out, pair)) FAIL(ERR_FAILED, "out of memory for %zu pairs", out->n);
    return ERR_OK;
}

/* Takes a kernel with the sizes that raise its density; the others become pairs of their own. */
static Err kernel_take(Choosing *c, uint32_t k, GainPairs *out)
{
    double least;
    kernel_density(c, k, &least);
    for (size_t z = 0; z < c->t->n_sizes; z++) {
        const double gain = gain_at(c, k, z);
        if (gain <= 0 || !has_time(c, z)) continue;
        if (gain / cost_at(c, z) >= least)
            TRY(pair_take(c, k, z, out));
        else
            heap_add(c, (Item){k, (uint32_t)z, gain / cost_at(c, z)});
    }
    c->n_kernels++;
    c->compiled[k] = true;
    return ERR_OK;
}

static void flight_note(Choosing *c)
{
    const GainTable *t = c->t;
    for (size_t i = 0; i < t->n_flight; i++) {
        const GainPair x = t->flight[i];
        c->compiled[x.candidate] = true;
        if (!isnan(t->mean[x.candidate * t->n_sizes + x.size])) pair_note(c, x.candidate, x.size);
    }
}

/* Takes the pairs that were there before, within the quota. */
static Err given_take(Choosing *c, GainPairs *out)
{
    const size_t n = out->n;
    out->n = 0;
    for (size_t i = 0; i < n; i++) {
        const GainPair x = out->v[i];
        bool *compiled = &c->compiled[x.candidate];
        if (!*compiled && c->n_kernels >= c->t->quota.kernels) continue;
        if (isnan(c->t->mean[x.candidate * c->t->n_sizes + x.size])) continue;
        c->n_kernels += !*compiled;
        *compiled = true;
        TRY(pair_take(c, x.candidate, x.size, out));
    }
    return ERR_OK;
}

/* The expected gain per second of a size's best pairs, each of which leaves less to the next, operands
 * included. It is multiplied by the square of the number of batches since the size was last measured, so that
 * large sizes are selected too. */
typedef struct {
    double density, seconds;
    uint32_t size;
} SizeDensity;

static int by_density(const void *a, const void *b)
{
    const SizeDensity *x = a, *y = b;
    if (x->density != y->density) return x->density > y->density ? -1 : 1;
    return x->size < y->size ? -1 : x->size > y->size;
}

static SizeDensity size_density(const Choosing *c, size_t z)
{
    enum { PAIRS = 6 };
    const GainTable *t = c->t;
    double best[PAIRS] = {0}, sum = 0;
    for (uint32_t k = 0; k < t->n; k++) {
        double gain = c->taken[k * t->n_sizes + z] ? 0 : gain_at(c, k, z);
        for (int i = 0; i < PAIRS && gain > 0; i++)
            if (gain > best[i]) {
                const double less = best[i];
                best[i] = gain, gain = less;
            }
    }
    for (int i = 0; i < PAIRS; i++) sum += best[i] * pow(LESS, i);
    const double seconds = t->quota.scale * (t->size_s[z] + PAIRS * t->pair_s[z]);
    const double wait = (double)(1 + t->waited[z]) * (double)(1 + t->waited[z]);
    return (SizeDensity){seconds > 0 ? wait * sum / seconds : 0, seconds, (uint32_t)z};
}

/* Selects the sizes of the batch: those with the largest gain per second. The others follow in later batches,
 * when these gain less. SHARE: the part of a batch's seconds that the best pairs of the selected sizes may
 * take. */
static Err sizes_select(Choosing *c)
{
    static const double SHARE = 0.7;
    const GainTable *t = c->t;
    double sum = 0;
    for (size_t z = 0; z < t->n_sizes; z++) c->selected[z] = true;
    if (t->quota.seconds <= 0) return ERR_OK;
    SizeDensity *list = malloc((t->n_sizes + 1) * sizeof *list);
    if (!list) FAIL(ERR_FAILED, "out of memory for %zu sizes", t->n_sizes);
    for (size_t z = 0; z < t->n_sizes; z++) list[z] = size_density(c, z);
    qsort(list, t->n_sizes, sizeof *list, by_density);
    for (size_t i = 0; i < t->n_sizes; i++) {
        const uint32_t z = list[i].size;
        const bool fits = i == 0 || sum + list[i].seconds <= SHARE * t->quota.seconds;
        c->selected[z] = fits || (t->has_none[z] && c->n_of[z] == 0);
        if (!c->selected[z]) continue;
        sum += list[i].seconds;
        size_pay(c, z);
    }
    free(list);
    return ERR_OK;
}

static Err choose(Choosing *c, GainPairs *out)
{
    const GainTable *t = c->t;
    for (size_t z = 0; z < t->n_sizes; z++) c->selected[z] = true;
    flight_note(c);
    TRY(given_take(c, out));
    TRY(sizes_select(c));
    for (uint32_t k = 0; k < t->n; k++)
        for (size_t z = c->compiled[k] ? 0 : t->n_sizes; z <= t->n_sizes - c->compiled[k]; z++) {
            Item x = {k, (uint32_t)z, 0};
            x.density = z < t->n_sizes && c->taken[k * t->n_sizes + z] ? 0 : density_of(c, &x);
            if (x.density > 0) heap_add(c, x);
        }
    while (c->n) {
        Item x = heap_take(c);
        const double had = x.density;
        x.density = density_of(c, &x);
        if (x.density <= 0) continue;
        if (x.density < had && c->n && before(&c->heap[0], &x))
            heap_add(c, x);
        else
            TRY(x.size < t->n_sizes ? pair_take(c, x.candidate, x.size, out)
                                    : kernel_take(c, x.candidate, out));
    }
    return ERR_OK;
}

/* Among the candidates that the batch does not have on a size, the one with the least expected time; class:
 * of that class, or of all (ANY); compiled: only those that are compiled or in the batch. UINT32_MAX:
 * none. */
enum { ANY = -1 };
static uint32_t best_left(const Choosing *c, size_t z, int class, bool compiled)
{
    uint32_t best = UINT32_MAX;
    const GainTable *t = c->t;
    for (uint32_t k = 0; k < t->n; k++) {
        const size_t at = k * t->n_sizes + z;
        if (isnan(t->mean[at]) || c->taken[at] || (compiled && !c->compiled[k])) continue;
        if (class != ANY && t->class[k] != class) continue;
        if (best == UINT32_MAX || t->mean[at] < t->mean[best * t->n_sizes + z]) best = k;
    }
    return best;
}

static size_t pairs_of_class(const Choosing *c, size_t z, int class)
{
    size_t n = 0;
    for (uint32_t k = 0; k < c->t->n; k++) n += c->taken[k * c->t->n_sizes + z] && c->t->class[k] == class;
    return n;
}

/* Adds pairs of a class, or of any (ANY), to a size regardless of their cost, until it has `least` of them.
 * Kernels of the batch are preferred where their expected time is at most FAR times that of the best
 * candidate. */
static Err size_fill(Choosing *c, size_t z, int class, size_t least, GainPairs *out)
{
    static const double FAR = 2;
    const GainTable *t = c->t;
    size_t n = class == ANY ? c->n_of[z] : pairs_of_class(c, z, class);
    for (; n < least; n++) {
        const uint32_t any = best_left(c, z, class, false);
        uint32_t k = best_left(c, z, class, true);
        if (any == UINT32_MAX) break;
        if (k == UINT32_MAX ||
            (double)t->mean[k * t->n_sizes + z] > (double)t->mean[any * t->n_sizes + z] + log(FAR))
            k = any;
        c->compiled[k] = true;
        TRY(pair_take(c, k, z, out));
    }
    return ERR_OK;
}

/* Adds the pairs that sizes without results lack: some of every class that the model predicts within CLOSE of
 * the best, since it ranks kernels of one class better than it compares classes. */
static Err sizes_cover(Choosing *c, GainPairs *out)
{
    static const double CLOSE = 1.6;
    const GainTable *t = c->t;
    for (size_t z = 0; z < t->n_sizes; z++) {
        if (!t->has_none[z]) continue;
        double least = (double)INFINITY;
        for (uint32_t k = 0; k < t->n; k++) least = fmin(least, (double)t->mean[k * t->n_sizes + z]);
        for (int class = 0; class < MODEL_CLASSES; class ++) {
            const uint32_t k = best_left(c, z, class, false);
            if (k == UINT32_MAX || (double)t->mean[k * t->n_sizes + z] > least + log(CLOSE)) continue;
            TRY(size_fill(c, z, class, t->least_of_class, out));
        }
        TRY(size_fill(c, z, ANY, t->least_of_size, out));
    }
    return ERR_OK;
}

Err gain_choose(const GainTable *t, GainPairs *out)
{
    const size_t n_items = t->n * (t->n_sizes + 1);
    Choosing c = {.t = t,
                  .normal = malloc(NORMALS * sizeof *c.normal),
                  .low = malloc((t->n_sizes + 1) * SAMPLES * sizeof *c.low),
                  .n_of = calloc(t->n_sizes + 1, sizeof *c.n_of),
                  .n_new = calloc(t->n_sizes + 1, sizeof *c.n_new),
                  .gain = malloc((t->n_sizes + 1) * sizeof *c.gain),
                  .selected = calloc(t->n_sizes + 1, sizeof *c.selected),
                  .paid = calloc(t->n_sizes + 1, sizeof *c.paid),
                  .seconds = t->quota.scale * t->round_s,
                  .compiled = calloc(t->n + 1, sizeof *c.compiled),
                  .taken = calloc(n_items + 1, sizeof *c.taken),
                  .heap = malloc((n_items + 1) * sizeof *c.heap)};
    Err e = 0;
    if (!c.normal || !c.low || !c.n_of || !c.n_new || !c.gain || !c.selected || !c.paid || !c.compiled ||
        !c.taken || !c.heap) {
        e = err_set(ERR_FAILED, "out of memory for %zu candidates of a search", t->n);
    } else {
        memcpy(c.compiled, t->compiled, t->n * sizeof *c.compiled);
        normals_make(c.normal);
        for (size_t i = 0; i < t->n_sizes * SAMPLES; i++) c.low[i] = t->best[i / SAMPLES];
        e = choose(&c, out);
        if (!e) e = sizes_cover(&c, out);
    }
    free(c.normal);
    free(c.low);
    free(c.n_of);
    free(c.n_new);
    free(c.gain);
    free(c.selected);
    free(c.paid);
    free(c.compiled);
    free(c.taken);
    free(c.heap);
    return e;
}
