/* Freivalds' check with column blocks. See freivalds.h and validate.h.
 *
 * Tolerance of one sum over a block q of columns (x_j = +-1): every element has an error of at most
 * e_ij = L g |alpha| |a_i| |b_j| (Cauchy-Schwarz for the sum of |products|; g = sqrt(k) u for independent
 * roundings), and |sum x_j e_ij| > L sqrt(sum e_ij^2) has a probability of 2 exp(-L^2/2) at most, since the
 * signs are random and independent of the errors. L = 7: 5e-11.
 */
#include "client/worker/freivalds.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/random.h"
#include "client/worker/number.h"
#include "client/worker/parallel.h"

static const double SURE = 7;
enum { BLOCKS = 64 };

struct Freivalds {
    Gemm g;
    int n_threads;
    bool complex, finite, integers, exact;
    int input_bits;
    int64_t n_blocks, width;
    bool b_shared;       /* all batch matrices have the same B, and the same signs */
    double *y_re, *y_im; /* m x n_blocks x batch: expected sums */
    double *z_re, *z_im; /* k x n_blocks x n_at_once: B * X, while preparing */
    int64_t n_at_once;   /* batch matrices that are prepared together */
    double *a_norm;      /* m x batch */
    double *b_norm;      /* n_blocks x batch: Frobenius norm of the block */
    double a_max, b_max; /* largest norm of a row of A, of a column of B */
    double c_max;        /* largest |c| */
    int64_t b;           /* the first batch matrix of those that are being prepared */
    pthread_mutex_t lock;
};

/* The sign of column j is a bit of a hash, so it needs no memory. */
static double sign_of(const Freivalds *f, int64_t j, int64_t batch)
{
    const int64_t b = f->b_shared ? 0 : batch;
    return random_at((uint64_t)b * 0xd1342543de82ef95u, (uint64_t)j) & 1 ? 1 : -1;
}

typedef struct {
    bool finite, integers;
    double norm2, max;
} Facts;

/* Numbers of WHOLE and more are integers; adding it rounds smaller ones. */
static bool is_integer(double x)
{
    static const double WHOLE = 0x1p52;
    const double size = fabs(x);
    return size >= WHOLE || (size + WHOLE) - WHOLE == size;
}

/* Adds n numbers: the square of each to norm2, and all to the facts. A sum of squares that overflows counts
 * as infinite, as such inputs make infinite sums of products too. */
static void facts_add(Facts *f, const double *re, const double *im, int64_t n, double *norm2)
{
    double sum = 0, max = f->max;
    for (int64_t i = 0; f->integers && i < n; i++)
        f->integers = is_integer(re[i]) && (!im || is_integer(im[i]));
    for (int64_t i = 0; i < n; i++) {
        const double size2 = re[i] * re[i] + (im ? im[i] * im[i] : 0);
        norm2[i] += size2;
        sum += size2;
        max = size2 > max ? size2 : max;
    }
    if (!isfinite(sum)) f->finite = false;
    f->norm2 += sum, f->max = max;
}

static void facts_merge(Freivalds *f, const Facts *x, double *largest, double value)
{
    pthread_mutex_lock(&f->lock);
    f->finite &= x->finite;
    f->integers &= x->integers;
    if (value > *largest) *largest = value;
    pthread_mutex_unlock(&f->lock);
}

enum { STEP = 512 };

/* Norms of STEP rows of A. Its elements are read in the order in which they are stored. */
static void row_task(void *ctx, int64_t task)
{
    Freivalds *f = ctx;
    const int64_t m = f->g.m, n_tasks = (m + STEP - 1) / STEP, i0 = task % n_tasks * STEP, b = task / n_tasks;
    const int64_t n = m - i0 < STEP ? m - i0 : STEP;
    const bool along_rows = f->g.a.map || llabs(f->g.a.row) > llabs(f->g.a.col);
    Facts x = {.finite = true, .integers = true};
    Matrix t = matrix_transposed(&f->g.a);
    double re[STEP], im_room[STEP], *im = f->complex ? im_room : NULL;
    double norm2[STEP] = {0}, each[STEP] = {0}, largest = 0;
    for (int64_t l = 0; l < f->g.k && !along_rows; l++) {
        matrix_column(&f->g.a, i0, l, b, n, re, im);
        facts_add(&x, re, im, n, norm2);
    }
    for (int64_t i = 0; i < n && along_rows; i++) {
        x.norm2 = 0;
        for (int64_t l = 0; l < f->g.k; l += STEP) {
            const int64_t n_l = f->g.k - l < STEP ? f->g.k - l : STEP;
            matrix_column(&t, l, i0 + i, b, n_l, re, im);
            facts_add(&x, re, im, n_l, each);
        }
        norm2[i] = x.norm2;
    }
    for (int64_t i = 0; i < n; i++) {
        f->a_norm[i0 + i + m * b] = sqrt(norm2[i]);
        largest = fmax(largest, norm2[i]);
    }
    facts_merge(f, &x, &f->a_max, sqrt(largest));
}

static int64_t block_end(const Freivalds *f, int64_t q)
{
    int64_t end = (q + 1) * f->width;
    return end < f->g.n ? end : f->g.n;
}

/* z = B * X for a block of a batch matrix, and the facts about B in its columns. */
static void block_task(void *ctx, int64_t task)
{
    Freivalds *f = ctx;
    const Gemm *g = &f->g;
    const int64_t q = task % f->n_blocks, b = f->b + task / f->n_blocks;
    Facts all = {.finite = true, .integers = true};
    double largest = 0, re[STEP], im_room[STEP], *im = f->complex ? im_room : NULL, each[STEP] = {0};
    double *zr = f->z_re + task * g->k, *zi = f->complex ? f->z_im + task * g->k : NULL;
    for (int64_t l = 0; l < g->k; l++) zr[l] = 0;
    for (int64_t l = 0; zi && l < g->k; l++) zi[l] = 0;
    for (int64_t j = q * f->width; j < block_end(f, q); j++) {
        double s = sign_of(f, j, b), before = all.norm2;
        for (int64_t l = 0; l < g->k; l += STEP) {
            int64_t n = g->k - l < STEP ? g->k - l : STEP;
            matrix_column(&g->b, l, j, b, n, re, im);
            facts_add(&all, re, im, n, each);
            for (int64_t x = 0; x < n; x++) zr[l + x] += s * re[x];
            for (int64_t x = 0; zi && x < n; x++) zi[l + x] += s * im[x];
        }
        if (all.norm2 - before > largest) largest = all.norm2 - before;
    }
    f->b_norm[q + f->n_blocks * b] = sqrt(all.norm2);
    facts_merge(f, &all, &f->b_max, sqrt(largest));
}

/* y += beta * C * X for a block of a batch matrix. */
static void c_task(void *ctx, int64_t task)
{
    Freivalds *f = ctx;
    const Gemm *g = &f->g;
    const int64_t q = task % f->n_blocks, b = task / f->n_blocks;
    Facts x = {.finite = true, .integers = true};
    double re[STEP], im_room[STEP], *im = f->complex ? im_room : NULL, each[STEP] = {0};
    double *yr = f->y_re + g->m * task;
    double *yi = f->complex ? f->y_im + g->m * task : NULL;
    for (int64_t j = q * f->width; j < block_end(f, q); j++) {
        double s = sign_of(f, j, b), sr = s * g->beta[0], si = s * g->beta[1];
        for (int64_t i = 0; i < g->m; i += STEP) {
            int64_t n = g->m - i < STEP ? g->m - i : STEP;
            matrix_column(&g->c, i, j, b, n, re, im);
            facts_add(&x, re, im, n, each);
            for (int64_t r = 0; r < n; r++) {
                yr[i + r] += sr * re[r] - (im ? si * im[r] : 0);
                if (im) yi[i + r] += sr * im[r] + si * re[r];
            }
        }
    }
    facts_merge(f, &x, &f->c_max, sqrt(x.max));
}

static bool integer_pair(const double v[2]) { return v[0] == nearbyint(v[0]) && v[1] == nearbyint(v[1]); }

static double size_of(const double v[2]) { return hypot(v[0], v[1]); }

/* Largest magnitude that any partial sum of an element can have. */
static double element_bound(const Freivalds *f)
{
    return size_of(f->g.alpha) * f->a_max * f->b_max + size_of(f->g.beta) * f->c_max;
}

/* y = A * B * X, some batch matrices at a time. Where they share B, z is made once. */
static Err products_prepare(Freivalds *f)
{
    const Gemm *g = &f->g;
    parallel_for((g->m + STEP - 1) / STEP * g->batch, f->n_threads, row_task, f);
    for (f->b = 0; f->b < g->batch; f->b += f->n_at_once) {
        const int64_t n = g->batch - f->b < f->n_at_once ? g->batch - f->b : f->n_at_once,
                      at = g->m * f->n_blocks * f->b;
        const ColumnSet x = {.re = f->z_re,
                             .im = f->z_im,
                             .n = f->n_blocks,
                             .b = f->b,
                             .n_batches = n,
                             .batch = f->b_shared ? 0 : g->k * f->n_blocks};
        parallel_for(f->n_blocks * (f->b_shared ? 1 : n), f->n_threads, block_task, f);
        TRY(reference_product(g, &x, f->n_threads, f->y_re + at, f->y_im ? f->y_im + at : NULL));
    }
    for (int64_t i = f->n_blocks; f->b_shared && i < f->n_blocks * g->batch; i++)
        f->b_norm[i] = f->b_norm[i % f->n_blocks];
    return ERR_OK;
}

static Err prepare(Freivalds *f)
{
    const Gemm *g = &f->g;
    bool alpha = size_of(g->alpha) != 0, beta = size_of(g->beta) != 0;
    if (alpha) TRY(products_prepare(f));
    if (beta) parallel_for(f->n_blocks * g->batch, f->n_threads, c_task, f);
    double limit = number_exact_limit(g->compute), bound = element_bound(f);
    if (number_exact_limit(g->out) < limit) limit = number_exact_limit(g->out);
    if (f->input_bits) limit = fmin(limit, ldexp(1, f->input_bits));
    f->exact = f->integers && integer_pair(g->alpha) && integer_pair(g->beta) && bound < limit &&
               bound * (double)f->width < 0x1p53;
    /* Integers that may wrap cannot be judged by sums of doubles. */
    if (type_info(g->out)->integral && !f->exact) f->finite = false;
    return 0;
}

/* Whether all batch matrices have the same B: the filter of images, for instance. */
static bool is_shared(const Gemm *g)
{
    bool same = g->batch > 1;
    if (!g->b.map) return same && g->b.batch == 0;
    for (int64_t b = 1; same && b < g->batch; b++) same = g->b.map->batch[b] == g->b.map->batch[0];
    return same;
}

/* About BLOCKS blocks of all batch matrices together, so that a check of some of them sees a like part of D
 * whatever its shape; LEAST where more would take WORK multiply-adds. */
static void blocks_choose(Freivalds *f)
{
    enum { LEAST = 8 };
    static const double WORK = 0x1p31, Z_NUMBERS = 0x1p23;
    const Gemm *g = &f->g;
    const double of_block = (double)g->m * (double)g->batch * (double)g->k;
    int64_t most = BLOCKS;
    while (most > LEAST && (double)most * of_block > WORK) most /= 2;
    while (most > 1 && (most * g->batch > BLOCKS || most > (INT64_C(1) << 25) / (g->m * g->batch))) most /= 2;
    f->width = (g->n + most - 1) / most;
    f->n_blocks = (g->n + f->width - 1) / f->width;
    f->b_shared = is_shared(g);
    const double at_once = f->b_shared ? (double)g->batch : Z_NUMBERS / ((double)g->k * (double)f->n_blocks);
    f->n_at_once = at_once < 1 ? 1 : at_once < (double)g->batch ? (int64_t)at_once : g->batch;
}

Err freivalds_new(const Gemm *g, int n_threads, int input_bits, Freivalds **out)
{
    Freivalds *f = calloc(1, sizeof *f);
    *out = NULL;
    if (!f) FAIL(ERR_FAILED, "out of memory for the product check (%zu bytes)", sizeof *f);
    f->g = *g;
    f->n_threads = n_threads;
    f->complex = gemm_is_complex(g);
    f->finite = f->integers = true;
    f->input_bits = input_bits;
    pthread_mutex_init(&f->lock, NULL);
    blocks_choose(f);
    size_t sums = (size_t)(g->m * f->n_blocks * g->batch),
           z = (size_t)(g->k * f->n_blocks * (f->b_shared ? 1 : f->n_at_once)) + 1;
    f->y_re = calloc(sums, sizeof(double));
    f->z_re = calloc(z, sizeof(double));
    f->y_im = f->complex ? calloc(sums, sizeof(double)) : NULL;
    f->z_im = f->complex ? calloc(z, sizeof(double)) : NULL;
    f->a_norm = calloc((size_t)(g->m * g->batch), sizeof(double));
    f->b_norm = calloc((size_t)(f->n_blocks * g->batch), sizeof(double));
    Err e = 0;
    if (!f->y_re || !f->z_re || !f->a_norm || !f->b_norm || (f->complex && (!f->y_im || !f->z_im)))
        e = err_set(ERR_FAILED, "out of memory for the product check (%zu sums)", sums);
    if (!e) e = prepare(f);
    free(f->z_re);
    free(f->z_im);
    f->z_re = f->z_im = NULL;
    if (e)
        freivalds_free(f);
    else
        *out = f;
    return e;
}

void freivalds_free(Freivalds *f)
{
    if (!f) return;
    pthread_mutex_destroy(&f->lock);
    free(f->y_re);
    free(f->y_im);
    free(f->z_re);
    free(f->z_im);
    free(f->a_norm);
    free(f->b_norm);
    free(f);
}

bool freivalds_usable(const Freivalds *f) { return f->finite; }
bool freivalds_exact(const Freivalds *f) { return f->exact; }

typedef struct {
    const Freivalds *f;
    const Matrix *d;
    Suspect *list;
    int64_t n_blocks, max, n;
    pthread_mutex_t lock;
} Search;

static double tolerance(const Freivalds *f, int64_t i, int64_t q, int64_t b, double d_norm)
{
    if (f->exact) return 0;
    const Gemm *g = &f->g;
    /* The unit of f32 stands for the double of the reference too, which is far smaller except for f64
     * kernels. */
    double u = number_unit(g->compute) + 0x1p-53, step = SURE * sqrt((double)g->k + 2) * u;
    if (f->input_bits) step += SURE * ldexp(1, -f->input_bits);
    double product = size_of(g->alpha) * f->a_norm[i + g->m * b] * f->b_norm[q + f->n_blocks * b];
    double c = size_of(g->beta) * f->c_max * sqrt((double)f->width);
    return SURE * (step * product + 4 * u * c + (number_unit(g->out) + u) * d_norm) + 1e-300;
}

static void search_block(void *ctx, int64_t task)
{
    Search *s = ctx;
    const Freivalds *f = s->f;
    const Gemm *g = &f->g;
    int64_t q = task % f->n_blocks, b = task / f->n_blocks;
    double re[STEP], im_room[STEP], *im = f->complex ? im_room : NULL, sr[STEP], si[STEP], norm[STEP];
    for (int64_t i0 = 0; i0 < g->m; i0 += STEP) {
        int64_t n = g->m - i0 < STEP ? g->m - i0 : STEP;
        for (int64_t i = 0; i < n; i++) sr[i] = si[i] = norm[i] = 0;
        for (int64_t j = q * f->width; j < block_end(f, q); j++) {
            double x = sign_of(f, j, b);
            matrix_column(s->d, i0, j, b, n, re, im);
            for (int64_t i = 0; i < n; i++) {
                sr[i] += x * re[i];
                norm[i] += re[i] * re[i];
            }
            for (int64_t i = 0; im && i < n; i++) {
                si[i] += x * im[i];
                norm[i] += im[i] * im[i];
            }
        }
        for (int64_t i = 0; i < n; i++) {
            int64_t at = i0 + i + g->m * (q + f->n_blocks * b);
            double dr = sr[i] - f->y_re[at], di = f->complex ? si[i] - f->y_im[at] : 0;
            double off = fabs(dr) > fabs(di) ? fabs(dr) : fabs(di);
            if (!isnan(dr) && !isnan(di) && off <= tolerance(f, i0 + i, q, b, sqrt(norm[i]))) continue;
            pthread_mutex_lock(&s->lock);
            if (s->n < s->max) s->list[s->n] = (Suspect){i0 + i, q * f->width, block_end(f, q), b};
            s->n++;
            pthread_mutex_unlock(&s->lock);
        }
    }
}

int64_t freivalds_n_blocks(const Freivalds *f) { return f->n_blocks * f->g.batch; }

void freivalds_block(const Freivalds *f, int64_t block, int64_t *j0, int64_t *j1, int64_t *b)
{
    int64_t q = block % f->n_blocks;
    *b = block / f->n_blocks;
    *j0 = q * f->width;
    *j1 = block_end(f, q);
}

int64_t freivalds_pick(const Freivalds *f, int64_t i, int64_t n)
{
    int64_t all = freivalds_n_blocks(f);
    return n == 0 || n >= all ? i : n == 1 ? all - 1 : i * (all - 1) / (n - 1);
}

static void search_task(void *ctx, int64_t i)
{
    const Search *s = ctx;
    search_block(ctx, freivalds_pick(s->f, i, s->n_blocks));
}

Err freivalds_check(const Freivalds *f, const Matrix *d, int64_t n_blocks, Suspect *list, int64_t max,
                    int64_t *n_suspects)
{
    Search s = {.f = f, .d = d, .n_blocks = n_blocks, .list = list, .max = max};
    int64_t all = freivalds_n_blocks(f);
    pthread_mutex_init(&s.lock, NULL);
    parallel_for(n_blocks == 0 || n_blocks > all ? all : n_blocks, f->n_threads, search_task, &s);
    pthread_mutex_destroy(&s.lock);
    *n_suspects = s.n;
    return 0;
}
