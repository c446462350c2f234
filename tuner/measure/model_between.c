/* Sizes that are worth measuring between the tuned ones. See model_between.h. */
#include "measure/model_between.h"

#include <math.h>
#include "problem/vec4.h"

/* Errors of predictions are taken as normal and independent: at a size that is far from all others as large
 * as the model's on kernels of the class (SPREAD_LEAST at least), near measured ones NOISE. DRAWS of them say
 * what measuring gains. CONTENDERS: kernels that are looked at on a size. GAIN_LEAST: of the time; less is
 * not worth a measurement. */
static const double SPREAD_LEAST = 0.1, NOISE = 0.02, GAIN_LEAST = 0.001;
enum { DRAWS = 64, CONTENDERS = 16 };

typedef struct {
    const ModelMatrix *m;
    const ModelSelector *s;
    ModelRuns runs;
    double spread[MODEL_CLASSES];
    float draw[DRAWS][CONTENDERS]; /* normal numbers */
} Between;

typedef struct {
    uint32_t kernel;
    double log, spread; /* of its time, by prediction */
} Contender;

static double normal(uint64_t *state)
{
    double sum = -6;
    for (int i = 0; i < 12; i++) {
        *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        sum += (double)(*state >> 11) * 0x1p-53;
    }
    return sum;
}

/* What the fitted model misses of kernels that are near the best on measured sizes, by class. */
static void spreads_find(Between *x)
{
    const ModelSelector *s = x->s;
    const size_t row = vec4_padded(s->n_kernels);
    double sum[MODEL_CLASSES] = {0}, n[MODEL_CLASSES] = {0};
    for (size_t p = 0; p < s->n_points; p++)
        for (size_t k = 0; k < s->n_kernels; k++) {
            const double w = (double)s->weight[p * row + k], e = (double)s->residual[p * s->n_kernels + k];
            const int c = s->entry[k].kernel.class;
            if (w > 0.5) sum[c] += w * e * e, n[c] += w;
        }
    for (int c = 0; c < MODEL_CLASSES; c++)
        x->spread[c] = fmax(SPREAD_LEAST, n[c] > 0 ? sqrt(sum[c] / n[c]) : 0);
}

/* The kernels that may be the best on a size, the most promising first: by the time that one time in six they
 * stay below. */
static size_t contenders_find(const Between *x, const ModelSize *z, Contender *out)
{
    ModelNear near;
    size_t n = 0;
    model_near(x->s, z, &near);
    for (size_t k = 0; k < x->s->n_kernels; k++) {
        if (!x->m->known[k] || !model_runs_on(&x->runs, k, z)) continue;
        const double unknown = model_unknown(x->s, &near, k), all = x->spread[x->s->entry[k].kernel.class];
        const Contender c = {(uint32_t)k, log(model_predict(x->s, &near, k, z)),
                             sqrt(NOISE * NOISE + unknown * all * all)};
        size_t at = n < CONTENDERS ? n++ : CONTENDERS;
        for (; at > 0 && out[at - 1].log - out[at - 1].spread > c.log - c.spread; at--)
            if (at < CONTENDERS) out[at] = out[at - 1];
        if (at < CONTENDERS) out[at] = c;
    }
    return n;
}

/* The expected loss of the choice among the contenders, against the best of the first n of them and it. */
static double loss_of(const Between *x, const Contender *c, size_t n, size_t chosen)
{
    double sum = 0;
    for (int d = 0; d < DRAWS; d++) {
        const double of = c[chosen].log + c[chosen].spread * (double)x->draw[d][chosen];
        double least = of;
        for (size_t i = 0; i < n; i++)
            least = fmin(least, c[i].log + c[i].spread * (double)x->draw[d][i]);
        sum += of - least;
    }
    return sum / DRAWS;
}

static void size_judge(const Between *x, BetweenSize *z)
{
    Contender c[CONTENDERS];
    const size_t n = contenders_find(x, &z->size, c);
    size_t chosen = 0;
    z->taken = false, z->gain = 0, z->n_kernels = 0;
    for (size_t i = 1; i < n; i++)
        if (c[i].log < c[chosen].log) chosen = i;
    if (chosen >= BETWEEN_KERNELS) { /* it is always measured */
        const Contender t = c[chosen];
        c[chosen] = c[BETWEEN_KERNELS - 1], c[BETWEEN_KERNELS - 1] = t;
        chosen = BETWEEN_KERNELS - 1;
    }
    for (size_t i = 0; i < n && i < BETWEEN_KERNELS; i++) z->kernel[z->n_kernels++] = c[i].kernel;
    if (n > 1) z->gain = loss_of(x, c, (size_t)z->n_kernels, chosen);
}

static double seconds_of(const BetweenSize *z) { return z->seconds + z->n_kernels * z->kernel_seconds; }

/* Sizes near one that is measured lose less. */
static void size_take(BetweenSize *pool, size_t n, size_t at, BetweenChoice *choice)
{
    const ModelPoint x = model_point(&pool[at].size);
    pool[at].taken = true;
    choice->n++;
    choice->n_pairs += (size_t)pool[at].n_kernels;
    choice->seconds += seconds_of(&pool[at]);
    for (size_t i = 0; i < n; i++) {
        const ModelPoint y = model_point(&pool[i].size);
        pool[i].gain *= model_unknown_near(model_distance(&x, &y));
    }
}

static double mean_gain(const BetweenSize *pool, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += pool[i].gain;
    return n ? sum / (double)n : 0;
}

Err model_between_choose(Arena *a, const ModelMatrix *m, const bool *out, const ModelSelector *s,
                         BetweenSize *pool, size_t n, double seconds, BetweenChoice *choice)
{
    Between *x = ARENA_NEW(a, Between);
    uint64_t state = 1;
    TRY_ALLOC(x);
    *x = (Between){.m = m, .s = s};
    TRY(model_runs_make(a, m, out, &x->runs));
    for (int d = 0; d < DRAWS; d++)
        for (int i = 0; i < CONTENDERS; i++) x->draw[d][i] = (float)normal(&state);
    spreads_find(x);
    for (size_t i = 0; i < n; i++) size_judge(x, &pool[i]);
    *choice = (BetweenChoice){.before = mean_gain(pool, n)};
    while (true) {
        size_t at = n;
        for (size_t i = 0; i < n; i++) {
            const bool can = !pool[i].taken && pool[i].gain >= GAIN_LEAST &&
                             choice->seconds + seconds_of(&pool[i]) <= seconds;
            if (can && (at == n || pool[i].gain / seconds_of(&pool[i]) >
                                       pool[at].gain / seconds_of(&pool[at])))
                at = i;
        }
        if (at == n) break;
        size_take(pool, n, at, choice);
    }
    choice->after = mean_gain(pool, n);
    return ERR_OK;
}
