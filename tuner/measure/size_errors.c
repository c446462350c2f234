/* A Gaussian process for each size. See size_errors.h. */
#include "measure/size_errors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/err.h"

/* Standard deviations of the logarithm of a time (size_errors.h). CLASS: shared by a class on a size; BUILT:
 * shared by kernels with similar traits, falling with the distance FAR; OWN: of a pair alone; ORDER: the part
 * of OWN that is due to the order of work-groups and to noise of a race (H200: median 1 % with several rows
 * and columns of tiles, 0.6 % with one). The similarity of two sizes is at least EVERYWHERE and grows within
 * NEAR doublings of their extents. SCALE_MIN and SCALE_MAX bound the learned scale of the spread. */
static const double CLASS = 0.12, BUILT = 0.20, FAR = 3.5, OWN = 0.1, ORDER = 0.02, EVERYWHERE = 0.25,
                    NEAR = 2.5, SCALE_MIN = 0.15, SCALE_MAX = 2;
/* Bytes of the processes of all sizes. */
enum { BYTES_MAX = 64 << 20 };

Err size_errors_init(SizeErrors *e, size_t n_sizes, const double *place)
{
    const size_t n = n_sizes ? n_sizes : 1;
    *e = (SizeErrors){.n_sizes = n_sizes, .place = place, .n_max = SIZE_ERRORS_POINTS};
    while (e->n_max > 8 && n * e->n_max * e->n_max * sizeof(float) > BYTES_MAX) e->n_max /= 2;
    e->process = calloc(n, sizeof *e->process);
    e->numbers = malloc(n * e->n_max * (e->n_max + 2) * sizeof *e->numbers);
    e->numbers_at = malloc(n * e->n_max * sizeof *e->numbers_at);
    if (!e->process || !e->numbers || !e->numbers_at)
        FAIL(ERR_FAILED, "out of memory for the errors of %zu sizes", n_sizes);
    for (size_t z = 0; z < n_sizes; z++) {
        float *at = &e->numbers[z * e->n_max * (e->n_max + 2)];
        e->process[z] = (SizeProcess){.point = &e->numbers_at[z * e->n_max],
                                      .alike = at,
                                      .weight = at + e->n_max,
                                      .scale = 1,
                                      .lower = at + 2 * e->n_max};
    }
    return ERR_OK;
}

void size_errors_fini(SizeErrors *e)
{
    VEC_FINI(&e->points);
    free(e->process);
    free(e->numbers);
    free(e->numbers_at);
    *e = (SizeErrors){0};
}

void size_errors_reset(SizeErrors *e)
{
    e->points.n = 0;
    for (size_t z = 0; z < e->n_sizes; z++) e->process[z].n = 0, e->process[z].scale = 1;
}

Err size_errors_add(SizeErrors *e, const Traits *t, size_t size, double error, double log_seconds)
{
    ErrorPoint p = {*t, (uint32_t)size, (float)error, (float)log_seconds};
    if (!VEC_PUSH(&e->points, p)) FAIL(ERR_FAILED, "out of memory for %zu times", e->points.n);
    return ERR_OK;
}

/* Similarity of two sizes, 0 to 1: the correlation of errors on them. */
static double alike(const SizeErrors *e, size_t a, size_t b)
{
    double d = 0;
    if (a == b) return 1;
    for (int i = 0; i < SIZE_EXTENTS; i++)
        d += fabs(e->place[a * SIZE_EXTENTS + (size_t)i] - e->place[b * SIZE_EXTENTS + (size_t)i]);
    return EVERYWHERE + (1 - EVERYWHERE) * exp(-d / (NEAR * log(2)));
}

/* Covariance of the errors of two kernels on one size, without OWN. */
static float covariance(const Traits *a, const Traits *b)
{
    float d = 0;
    if (a->class != b->class) return 0;
    for (int i = 0; i < TRAITS; i++) d += fabsf(a->v[i] - b->v[i]);
    return (float)(CLASS * CLASS) + (float)(BUILT * BUILT) * expf(-d / (float)FAR);
}

/* Covariance that only kernels have that differ at most in the order of work-groups. */
static double own(const Traits *a, const Traits *b)
{
    return a->twins == b->twins ? OWN * OWN - ORDER * ORDER : 0;
}

/* ---- which points a size has ---- */

typedef struct {
    uint32_t point;
    int32_t rank; /* among those of its class on its size, by time */
    float alike, seconds;
    uint32_t size;
    int32_t class;
} Chosen;

static int by_time(const void *a, const void *b)
{
    const Chosen *x = a, *y = b;
    if (x->size != y->size) return x->size < y->size ? -1 : 1;
    if (x->class != y->class) return x->class < y->class ? -1 : 1;
    if (x->seconds != y->seconds) return x->seconds < y->seconds ? -1 : 1;
    return x->point < y->point ? -1 : x->point > y->point;
}

/* A size's own points first, then those of sizes that are more alike; the fastest of each class first. */
static int by_use(const void *a, const void *b)
{
    const Chosen *x = a, *y = b;
    const float p = x->alike * (x->alike < 1 ? 1 / (1 + 0.25F * (float)x->rank) : 1);
    const float q = y->alike * (y->alike < 1 ? 1 / (1 + 0.25F * (float)y->rank) : 1);
    if (p != q) return p > q ? -1 : 1;
    if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
    return x->point < y->point ? -1 : x->point > y->point;
}

static void points_rank(const SizeErrors *e, Chosen *list)
{
    const size_t n = e->points.n;
    for (size_t i = 0; i < n; i++) {
        const ErrorPoint *p = &e->points.v[i];
        list[i] =
            (Chosen){.point = (uint32_t)i, .seconds = p->seconds, .size = p->size, .class = p->traits.class};
    }
    qsort(list, n, sizeof *list, by_time);
    for (size_t i = 1; i < n; i++)
        if (list[i].size == list[i - 1].size && list[i].class == list[i - 1].class)
            list[i].rank = list[i - 1].rank + 1;
}

/* A quarter of the places is kept for points of other sizes, where there are any. */
static void points_choose(SizeErrors *e, size_t z, const Chosen *ranked, Chosen *list)
{
    const size_t n = e->points.n, others = e->n_max / 4;
    SizeProcess *p = &e->process[z];
    size_t own = 0;
    memcpy(list, ranked, n * sizeof *list);
    for (size_t i = 0; i < n; i++) list[i].alike = (float)alike(e, z, list[i].size), own += list[i].size == z;
    qsort(list, n, sizeof *list, by_use);
    p->n = 0;
    for (size_t i = 0; i < n && p->n < e->n_max; i++) {
        if (i < own && n > own && p->n >= e->n_max - others) continue;
        p->point[p->n] = list[i].point;
        p->alike[p->n++] = list[i].alike;
    }
}

/* ---- the processes ---- */

static const ErrorPoint *point_of(const SizeErrors *e, const SizeProcess *p, size_t i)
{
    return &e->points.v[p->point[i]];
}

/* Solves lower * x = b in place. */
static void solve_lower(const SizeProcess *p, float *x)
{
    for (size_t i = 0; i < p->n; i++) {
        const float *row = &p->lower[i * p->n];
        float sum = x[i];
        for (size_t k = 0; k < i; k++) sum -= row[k] * x[k];
        x[i] = sum / row[i];
    }
}

static void covariances_factor(const SizeErrors *e, SizeProcess *p)
{
    for (size_t i = 0; i < p->n; i++)
        for (size_t j = 0; j <= i; j++) {
            const ErrorPoint *a = point_of(e, p, i), *b = point_of(e, p, j);
            double sum = alike(e, a->size, b->size) * (double)covariance(&a->traits, &b->traits);
            if (a->size == b->size) sum += own(&a->traits, &b->traits);
            if (i == j) sum += ORDER * ORDER;
            for (size_t k = 0; k < j; k++)
                sum -= (double)p->lower[i * p->n + k] * (double)p->lower[j * p->n + k];
            p->lower[i * p->n + j] =
                i == j ? (float)sqrt(fmax(sum, 1e-6)) : (float)(sum / (double)p->lower[j * p->n + j]);
        }
}

/* Fills in the weights. Returns the sum of squared standardised errors. */
static double process_make(const SizeErrors *e, SizeProcess *p)
{
    float *w = p->weight;
    double sum = 0;
    covariances_factor(e, p);
    for (size_t i = 0; i < p->n; i++) w[i] = point_of(e, p, i)->error;
    solve_lower(p, w);
    for (size_t i = 0; i < p->n; i++) sum += (double)w[i] * (double)w[i];
    for (size_t i = p->n; i-- > 0;) {
        float x = w[i];
        for (size_t k = i + 1; k < p->n; k++) x -= p->lower[k * p->n + i] * w[k];
        w[i] = x / p->lower[i * p->n + i];
    }
    return sum;
}

/* Shrinks the scale of each size towards the common scale, as if PRIOR more of its points had that, and the
 * common scale towards 1. */
static void scales_make(SizeErrors *e, const double *sum)
{
    static const double PRIOR = 8;
    double all = PRIOR, n = PRIOR;
    for (size_t z = 0; z < e->n_sizes; z++) all += sum[z], n += (double)e->process[z].n;
    for (size_t z = 0; z < e->n_sizes; z++) {
        const double square = (sum[z] + PRIOR * all / n) / ((double)e->process[z].n + PRIOR);
        e->process[z].scale = fmin(fmax(sqrt(square), SCALE_MIN), SCALE_MAX);
    }
}

Err size_errors_fit(SizeErrors *e)
{
    const size_t n = e->points.n;
    Chosen *ranked = malloc((2 * n + 1) * sizeof *ranked);
    double *sum = calloc(e->n_sizes + 1, sizeof *sum);
    Err error = 0;
    if (!ranked || !sum) {
        error = err_set(ERR_FAILED, "out of memory for the errors of %zu sizes", e->n_sizes);
    } else {
        points_rank(e, ranked);
        for (size_t z = 0; z < e->n_sizes; z++) {
            points_choose(e, z, ranked, ranked + n);
            sum[z] = process_make(e, &e->process[z]);
        }
        scales_make(e, sum);
    }
    free(ranked);
    free(sum);
    return error;
}

double size_errors_sd_max(const SizeErrors *e, size_t size)
{
    return e->process[size].scale * sqrt(CLASS * CLASS + BUILT * BUILT + OWN * OWN);
}

double size_errors_predict(const SizeErrors *e, const Traits *t, size_t size, double *sd)
{
    const SizeProcess *p = &e->process[size];
    float k[SIZE_ERRORS_POINTS];
    double mean = 0, variance = CLASS * CLASS + BUILT * BUILT + OWN * OWN;
    for (size_t i = 0; i < p->n; i++) {
        const ErrorPoint *x = point_of(e, p, i);
        k[i] = p->alike[i] * covariance(t, &x->traits);
        if (x->size == size) k[i] += (float)own(t, &x->traits);
        mean += (double)k[i] * (double)p->weight[i];
    }
    solve_lower(p, k);
    for (size_t i = 0; i < p->n; i++) variance -= (double)k[i] * (double)k[i];
    *sd = p->scale * sqrt(fmax(variance, ORDER * ORDER));
    return mean;
}
