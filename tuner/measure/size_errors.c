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

/* Rows of a factor are a multiple of this. */
enum { LANES = 8 };
typedef float Lanes __attribute__((vector_size(LANES * sizeof(float)), aligned(sizeof(float)), may_alias));

typedef int32_t Bits __attribute__((vector_size(LANES * sizeof(int32_t))));

static size_t rows_of(const SizeErrors *e) { return (e->n_max + LANES - 1) / LANES * LANES; }

Err size_errors_init(SizeErrors *e, size_t n_sizes, const double *place)
{
    const size_t n = n_sizes ? n_sizes : 1;
    *e = (SizeErrors){.n_sizes = n_sizes, .place = place, .n_max = SIZE_ERRORS_POINTS};
    while (e->n_max > 8 && n * e->n_max * e->n_max * sizeof(float) > BYTES_MAX) e->n_max /= 2;
    const size_t each = e->n_max * (rows_of(e) + 3);
    e->process = calloc(n, sizeof *e->process);
    e->numbers = calloc(n * each, sizeof *e->numbers);
    e->numbers_at = malloc(n * e->n_max * 2 * sizeof *e->numbers_at);
    if (!e->process || !e->numbers || !e->numbers_at)
        FAIL(ERR_FAILED, "out of memory for the errors of %zu sizes", n_sizes);
    for (size_t z = 0; z < n_sizes; z++) {
        float *at = &e->numbers[z * each];
        uint32_t *point = &e->numbers_at[z * e->n_max * 2];
        e->process[z] = (SizeProcess){.point = point,
                                      .kernel = point + e->n_max,
                                      .alike = at,
                                      .weight = at + e->n_max,
                                      .diagonal = at + 2 * e->n_max,
                                      .lower = at + 3 * e->n_max,
                                      .scale = 1};
    }
    return ERR_OK;
}

void size_errors_fini(SizeErrors *e)
{
    VEC_FINI(&e->kernels);
    VEC_FINI(&e->points);
    VEC_FINI(&e->used);
    free(e->traits);
    free(e->process);
    free(e->numbers);
    free(e->numbers_at);
    *e = (SizeErrors){0};
}

void size_errors_reset(SizeErrors *e)
{
    e->kernels.n = e->points.n = e->used.n = 0;
    for (size_t z = 0; z < e->n_sizes; z++) e->process[z].n = 0, e->process[z].scale = 1;
}

Err size_errors_add_kernel(SizeErrors *e, const Traits *t, uint32_t *kernel)
{
    *kernel = (uint32_t)e->kernels.n;
    if (!VEC_PUSH(&e->kernels, *t)) FAIL(ERR_FAILED, "out of memory for %zu kernels", e->kernels.n);
    return ERR_OK;
}

Err size_errors_add(SizeErrors *e, uint32_t kernel, size_t size, double error, double log_seconds)
{
    ErrorPoint p = {kernel, (uint32_t)size, (float)error, (float)log_seconds};
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

/* Covariance of the errors of two kernels of one class and a distance of traits on one size, without OWN. */
static float covariance_at(float distance)
{
    return (float)(CLASS * CLASS) + (float)(BUILT * BUILT) * expf(-distance / (float)FAR);
}

static float covariance(const Traits *a, const Traits *b)
{
    float d = 0;
    if (a->class != b->class) return 0;
    for (int i = 0; i < TRAITS; i++) d += fabsf(a->v[i] - b->v[i]);
    return covariance_at(d);
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
        list[i] = (Chosen){.point = (uint32_t)i,
                           .seconds = p->seconds,
                           .size = p->size,
                           .class = e->kernels.v[p->kernel].class};
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

/* Lists the kernels of all processes, with their traits. */
static Err used_make(SizeErrors *e)
{
    uint32_t *place = malloc((e->kernels.n + 1) * sizeof *place);
    TRY_ALLOC(place);
    memset(place, 0xff, (e->kernels.n + 1) * sizeof *place);
    bool ok = true;
    e->used.n = 0;
    for (size_t z = 0; z < e->n_sizes; z++)
        for (size_t i = 0; i < e->process[z].n; i++) {
            const uint32_t kernel = e->points.v[e->process[z].point[i]].kernel;
            if (place[kernel] == UINT32_MAX) {
                place[kernel] = (uint32_t)e->used.n;
                ok = ok && VEC_PUSH(&e->used, kernel);
            }
            e->process[z].kernel[i] = place[kernel];
        }
    free(place);
    free(e->traits);
    e->traits = calloc((e->used.n / LANES + 1) * TRAITS * LANES, sizeof *e->traits);
    if (!ok || !e->traits) FAIL(ERR_FAILED, "out of memory for %zu kernels", e->used.n);
    for (size_t i = 0; i < e->used.n; i++)
        for (size_t t = 0; t < TRAITS; t++)
            e->traits[(i / LANES * TRAITS + t) * LANES + i % LANES] = e->kernels.v[e->used.v[i]].v[t];
    return ERR_OK;
}

/* ---- the processes ---- */

static const ErrorPoint *point_of(const SizeErrors *e, const SizeProcess *p, size_t i)
{
    return &e->points.v[p->point[i]];
}

/* Solves lower * x = b in place; x has rows_of numbers. */
static void solve_lower(const SizeErrors *e, const SizeProcess *p, float *x)
{
    const size_t rows = rows_of(e);
    for (size_t k = 0; k < p->n; k++) {
        const float *column = &p->lower[k * rows], solved = x[k] /= p->diagonal[k];
        for (size_t i = (k + 1) / LANES * LANES; i < p->n; i += LANES)
            *(Lanes *)&x[i] -= *(const Lanes *)&column[i] * solved;
    }
}

static double covariance_of(const SizeErrors *e, const ErrorPoint *a, const ErrorPoint *b)
{
    const Traits *x = &e->kernels.v[a->kernel], *y = &e->kernels.v[b->kernel];
    const double sum = alike(e, a->size, b->size) * (double)covariance(x, y);
    return a->size == b->size ? sum + own(x, y) : sum;
}

static void covariances_factor(const SizeErrors *e, SizeProcess *p)
{
    float factor[SIZE_ERRORS_POINTS][SIZE_ERRORS_POINTS];
    const size_t rows = rows_of(e);
    memset(p->lower, 0, p->n * rows * sizeof *p->lower);
    for (size_t i = 0; i < p->n; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = covariance_of(e, point_of(e, p, i), point_of(e, p, j));
            if (i == j) sum += ORDER * ORDER;
            for (size_t k = 0; k < j; k++) sum -= (double)factor[i][k] * (double)factor[j][k];
            factor[i][j] = i == j ? (float)sqrt(fmax(sum, 1e-6)) : (float)(sum / (double)factor[j][j]);
            *(i == j ? &p->diagonal[i] : &p->lower[j * rows + i]) = factor[i][j];
        }
}

/* Fills in the weights. Returns the sum of squared standardised errors. */
static double process_make(const SizeErrors *e, SizeProcess *p)
{
    float w[SIZE_ERRORS_POINTS + LANES] = {0};
    const size_t rows = rows_of(e);
    double sum = 0;
    covariances_factor(e, p);
    for (size_t i = 0; i < p->n; i++) w[i] = point_of(e, p, i)->error;
    solve_lower(e, p, w);
    for (size_t i = 0; i < p->n; i++) sum += (double)w[i] * (double)w[i];
    for (size_t i = p->n; i-- > 0;) {
        float x = w[i];
        for (size_t k = i + 1; k < p->n; k++) x -= p->lower[i * rows + k] * w[k];
        p->weight[i] = w[i] = x / p->diagonal[i];
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
        error = used_make(e);
    }
    free(ranked);
    free(sum);
    return error;
}

double size_errors_sd_max(const SizeErrors *e, size_t size)
{
    return e->process[size].scale * sqrt(CLASS * CLASS + BUILT * BUILT + OWN * OWN);
}

Err error_kernel_init(const SizeErrors *e, ErrorKernel *k)
{
    k->built = malloc((e->used.n + 1) * 2 * sizeof *k->built);
    if (!k->built) FAIL(ERR_FAILED, "out of memory for %zu kernels", e->used.n);
    k->own = k->built + e->used.n;
    return ERR_OK;
}

void error_kernel_fini(ErrorKernel *k)
{
    free(k->built);
    *k = (ErrorKernel){0};
}

/* Distances of a kernel's traits from those of a block of kernels. */
static Lanes distances(const Traits *t, const float *block)
{
    Lanes sum = {0};
    for (int i = 0; i < TRAITS; i++) {
        const Lanes d = *(const Lanes *)&block[i * LANES] - t->v[i];
        sum += (Lanes)((Bits)d & INT32_MAX);
    }
    return sum;
}

void error_kernel_set(const SizeErrors *e, const Traits *t, ErrorKernel *k)
{
    for (size_t from = 0; from < e->used.n; from += LANES) {
        const Lanes d = distances(t, &e->traits[from * TRAITS]);
        for (size_t i = from; i < from + LANES && i < e->used.n; i++) {
            const Traits *other = &e->kernels.v[e->used.v[i]];
            k->built[i] = t->class == other->class ? covariance_at(d[i - from]) : 0;
            k->own[i] = (float)own(t, other);
        }
    }
}

/* Covariance of the kernel's error with that of point i. */
static float with_point(const SizeErrors *e, const SizeProcess *p, const ErrorKernel *k, size_t size,
                        size_t i)
{
    const float built = p->alike[i] * k->built[p->kernel[i]];
    return point_of(e, p, i)->size == size ? built + k->own[p->kernel[i]] : built;
}

double size_errors_mean(const SizeErrors *e, const ErrorKernel *k, size_t size)
{
    const SizeProcess *p = &e->process[size];
    double mean = 0;
    for (size_t i = 0; i < p->n; i++) mean += (double)with_point(e, p, k, size, i) * (double)p->weight[i];
    return mean;
}

double size_errors_sd(const SizeErrors *e, const ErrorKernel *k, size_t size)
{
    const SizeProcess *p = &e->process[size];
    float x[SIZE_ERRORS_POINTS + LANES] = {0};
    double variance = CLASS * CLASS + BUILT * BUILT + OWN * OWN;
    for (size_t i = 0; i < p->n; i++) x[i] = with_point(e, p, k, size, i);
    solve_lower(e, p, x);
    for (size_t i = 0; i < p->n; i++) variance -= (double)x[i] * (double)x[i];
    return p->scale * sqrt(fmax(variance, ORDER * ORDER));
}
