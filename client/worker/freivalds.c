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
#include <string.h>

#include "base/random.h"
#include "client/worker/lines.h"
#include "client/worker/number.h"
#include "client/worker/parallel.h"

static const double SURE = 7;
/* LEAST: of rows and of columns in a part of D. */
enum { BLOCKS = 64, STEP = 512, LEAST = 16 };

struct Freivalds {
    Gemm g;
    int n_threads;
    bool complex, finite, integers, exact;
    int input_bits;
    Pieces rows, batches; /* of D that are checked; the arrays below have them by position */
    Pieces columns;       /* likewise, where some are left out: the blocks */
    int64_t n_blocks, width;
    bool b_shared;       /* all batch matrices have the same B, and the same signs */
    double *y_re, *y_im; /* rows x n_blocks x batches: expected sums */
    double *z_re, *z_im; /* k x n_blocks x n_at_once: B * X, while preparing */
    int64_t n_at_once;   /* batch matrices that are prepared together */
    double *a_norm;      /* rows x batches */
    double *b_norm;      /* n_blocks x batches: Frobenius norm of the block */
    double a_max, b_max; /* largest norm of a row of A, of a column of B */
    double c_max;        /* largest |c| */
    int64_t pb;          /* position of the first batch matrix of those that are being prepared */
    pthread_mutex_t lock;
};

/* The sign of column j is a bit of a hash, so it needs no memory. */
static double sign_of(const Freivalds *f, int64_t j, int64_t batch)
{
    const int64_t b = f->b_shared ? 0 : batch;
    return random_at((uint64_t)b * 0xd1342543de82ef95u, (uint64_t)j) & 1 ? 1 : -1;
}

/* What is known of the numbers of a task. norm2: their sum of squares; one that overflows counts as infinite,
 * as such inputs make infinite sums of products too. */
typedef struct {
    bool integers;
    double norm2, largest2;
} Facts;

static void facts_add_integers(Facts *f, const double *re, const double *im, int64_t n)
{
    if (f->integers) f->integers = line_is_integral(re, n) && (!im || line_is_integral(im, n));
}

static void facts_merge(Freivalds *f, const Facts *x, double *largest)
{
    const double value = sqrt(x->largest2);
    pthread_mutex_lock(&f->lock);
    f->finite &= isfinite(x->norm2) != 0;
    f->integers &= x->integers;
    if (value > *largest) *largest = value;
    pthread_mutex_unlock(&f->lock);
}

static int64_t block_start(const Freivalds *f, int64_t q)
{
    return f->columns.n ? piece_start(&f->columns, q) : q * f->width;
}

static int64_t block_end(const Freivalds *f, int64_t q)
{
    int64_t end = block_start(f, q) + f->width;
    return end < f->g.n ? end : f->g.n;
}

/* z of a block of a batch matrix: B times the signs of the columns j0..j1-1. */
typedef struct {
    int64_t j0, j1, b;
    double *re, *im; /* im NULL when nothing is complex */
} Block;

static void block_by_columns(const Freivalds *f, const Block *z, Facts *facts)
{
    double re[STEP], im_room[STEP], *im = z->im ? im_room : NULL;
    for (int64_t j = z->j0; j < z->j1; j++) {
        double norm2 = 0;
        const double sign = sign_of(f, j, z->b);
        for (int64_t l = 0; l < f->g.k; l += STEP) {
            const int64_t n = f->g.k - l < STEP ? f->g.k - l : STEP;
            matrix_column(&f->g.b, l, j, z->b, n, re, im);
            facts_add_integers(facts, re, im, n);
            norm2 += line_dot(re, re, n);
            line_add(z->re + l, sign, re, n);
            if (!im) continue;
            norm2 += line_dot(im, im, n);
            line_add(z->im + l, sign, im, n);
        }
        facts->norm2 += norm2;
        facts->largest2 = fmax(facts->largest2, norm2);
    }
}

static void block_by_rows(const Freivalds *f, const Block *z, Facts *facts)
{
    double re[STEP], im_room[STEP], *im = z->im ? im_room : NULL, sign[STEP];
    const Matrix t = matrix_transposed(&f->g.b);
    for (int64_t j = z->j0; j < z->j1; j += STEP) {
        double norm2[STEP] = {0};
        const int64_t n = z->j1 - j < STEP ? z->j1 - j : STEP;
        for (int64_t x = 0; x < n; x++) sign[x] = sign_of(f, j + x, z->b);
        for (int64_t l = 0; l < f->g.k; l++) {
            matrix_column(&t, j, l, z->b, n, re, im);
            facts_add_integers(facts, re, im, n);
            line_add_squares(norm2, re, n);
            z->re[l] += line_dot(re, sign, n);
            if (!im) continue;
            line_add_squares(norm2, im, n);
            z->im[l] += line_dot(im, sign, n);
        }
        for (int64_t x = 0; x < n; x++) facts->norm2 += norm2[x];
        facts->largest2 = fmax(facts->largest2, line_max(norm2, n));
    }
}

/* z = B * X for a block of a batch matrix, and the facts about B in its columns. B is read in the order in
 * which it is stored. */
static void block_task(void *ctx, int64_t task)
{
    Freivalds *f = ctx;
    const Gemm *g = &f->g;
    const int64_t q = task % f->n_blocks, pb = f->pb + task / f->n_blocks;
    Facts facts = {.integers = true};
    const Block z = {.j0 = block_start(f, q),
                     .j1 = block_end(f, q),
                     .b = pieces_number(&f->batches, pb),
                     .re = f->z_re + task * g->k,
                     .im = f->complex ? f->z_im + task * g->k : NULL};
    memset(z.re, 0, (size_t)g->k * sizeof *z.re);
    if (z.im) memset(z.im, 0, (size_t)g->k * sizeof *z.im);
    if (!g->b.map && llabs(g->b.row) > llabs(g->b.col))
        block_by_rows(f, &z, &facts);
    else
        block_by_columns(f, &z, &facts);
    f->b_norm[q + f->n_blocks * pb] = sqrt(facts.norm2);
    facts_merge(f, &facts, &f->b_max);
}

/* y += beta * C * X for a block of a batch matrix. */
static void c_task(void *ctx, int64_t task)
{
    Freivalds *f = ctx;
    const Gemm *g = &f->g;
    const int64_t q = task % f->n_blocks, b = pieces_number(&f->batches, task / f->n_blocks),
                  rows = pieces_total(&f->rows);
    Facts x = {.integers = true};
    double re[STEP], im_room[STEP], *im = f->complex ? im_room : NULL;
    double *yr = f->y_re + rows * task, *yi = f->complex ? f->y_im + rows * task : NULL;
    for (int64_t j = block_start(f, q); j < block_end(f, q); j++) {
        double s = sign_of(f, j, b), sr = s * g->beta[0], si = s * g->beta[1];
        for (int64_t p = 0, n; p < rows; p += n) {
            double size2[STEP] = {0};
            n = pieces_run(&f->rows, p, STEP);
            matrix_column(&g->c, pieces_number(&f->rows, p), j, b, n, re, im);
            facts_add_integers(&x, re, im, n);
            line_add_squares(size2, re, n);
            line_add(yr + p, sr, re, n);
            if (im) {
                line_add_squares(size2, im, n);
                line_add(yr + p, -si, im, n);
                line_add(yi + p, sr, im, n);
                line_add(yi + p, si, re, n);
            }
            x.norm2 += line_dot(re, re, n) + (im ? line_dot(im, im, n) : 0);
            x.largest2 = fmax(x.largest2, line_max(size2, n));
        }
    }
    facts_merge(f, &x, &f->c_max);
}

static bool integer_pair(const double v[2]) { return v[0] == nearbyint(v[0]) && v[1] == nearbyint(v[1]); }

static double size_of(const double v[2]) { return hypot(v[0], v[1]); }

/* Largest magnitude that any partial sum of an element can have. */
static double element_bound(const Freivalds *f)
{
    return size_of(f->g.alpha) * f->a_max * f->b_max + size_of(f->g.beta) * f->c_max;
}

/* Takes what the product found out about A. */
static void rows_conclude(Freivalds *f, const RowFacts *facts)
{
    const int64_t n = pieces_total(&f->rows) * pieces_total(&f->batches);
    Facts x = {.integers = !atomic_load(&facts->fractions)};
    for (int64_t i = 0; i < n; i++) {
        if (!isfinite(f->a_norm[i])) x.norm2 = INFINITY;
        x.largest2 = fmax(x.largest2, f->a_norm[i]);
        f->a_norm[i] = sqrt(f->a_norm[i]);
    }
    facts_merge(f, &x, &f->a_max);
}

/* y = A * B * X, some batch matrices at a time. Where they share B, z is made once. */
static Err products_prepare(Freivalds *f)
{
    const Gemm *g = &f->g;
    const int64_t rows = pieces_total(&f->rows), batch = pieces_total(&f->batches);
    RowFacts facts = {.norm2 = f->a_norm};
    atomic_init(&facts.fractions, false);
    for (f->pb = 0; f->pb < batch; f->pb += f->n_at_once) {
        const int64_t n = batch - f->pb < f->n_at_once ? batch - f->pb : f->n_at_once,
                      at = rows * f->n_blocks * f->pb;
        const ColumnSet x = {.re = f->z_re,
                             .im = f->z_im,
                             .n = f->n_blocks,
                             .b = f->pb,
                             .n_batches = n,
                             .batch = f->b_shared ? 0 : g->k * f->n_blocks,
                             .rows = f->rows,
                             .batches = f->batches};
        parallel_for(f->n_blocks * (f->b_shared ? 1 : n), f->n_threads, block_task, f);
        TRY(reference_product(g, &x, f->n_threads, &facts, f->y_re + at, f->y_im ? f->y_im + at : NULL));
    }
    for (int64_t i = f->n_blocks; f->b_shared && i < f->n_blocks * batch; i++)
        f->b_norm[i] = f->b_norm[i % f->n_blocks];
    rows_conclude(f, &facts);
    return ERR_OK;
}

static Err prepare(Freivalds *f)
{
    const Gemm *g = &f->g;
    bool alpha = size_of(g->alpha) != 0, beta = size_of(g->beta) != 0;
    if (alpha) TRY(products_prepare(f));
    if (beta) parallel_for(freivalds_n_blocks(f), f->n_threads, c_task, f);
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

static int64_t at_least(int64_t x, int64_t least) { return x < least ? least : x; }

/* Rows and batch matrices of which A has about `most` elements; all where it has no more. At least LEAST rows
 * of each matrix are taken, so where there are many matrices some are left out. */
static void rows_choose(Freivalds *f, int64_t most)
{
    const Gemm *g = &f->g;
    const int64_t longer = g->m > g->n ? g->m : g->n, least = longer < LEAST ? longer : LEAST;
    f->rows = pieces_whole(g->m);
    f->batches = pieces_whole(g->batch);
    if (most == 0 || g->k == 0 || longer == 0 || g->batch == 0) return;
    if (g->batch > most / (least * g->k))
        f->batches = (Pieces){g->batch, at_least(most / (least * g->k), 2), 1};
    if (pieces_total(&f->batches) >= g->batch) f->batches = pieces_whole(g->batch);
    const int64_t rows = at_least(most / (g->k * pieces_total(&f->batches)), LEAST);
    if (rows >= g->m) return;
    const int64_t size = rows / 2 < STEP ? rows / 2 : STEP;
    f->rows = (Pieces){g->m, rows / size, size};
}

/* The number of columns of which B, and C where it is read, have about `most` elements. */
static int64_t columns_choose(const Freivalds *f, int64_t most)
{
    const Gemm *g = &f->g;
    const int64_t batch = pieces_total(&f->batches), of_b = g->k * (f->b_shared ? 1 : batch),
                  of_c = size_of(g->beta) != 0 ? pieces_total(&f->rows) * batch : 0,
                  line = of_b > of_c ? of_b : of_c;
    const int64_t n = most == 0 || line == 0 ? g->n : at_least(most / line, LEAST);
    return n < g->n ? n : g->n;
}

/* About BLOCKS blocks of all batch matrices together, so that a check of some of them sees a like part of D
 * whatever its shape; FEWEST where more would take too many multiply-adds. */
static void blocks_choose(Freivalds *f, int64_t most_elements)
{
    enum { FEWEST = 8 };
    static const double WORK = 0x1p31, BRIEF_WORK = 0x1p27, Z_NUMBERS = 0x1p23;
    const Gemm *g = &f->g;
    f->b_shared = is_shared(g);
    rows_choose(f, most_elements);
    const int64_t n = columns_choose(f, most_elements), batch = pieces_total(&f->batches),
                  lines = pieces_total(&f->rows) * batch;
    const double of_block = (double)lines * (double)g->k, work = most_elements ? BRIEF_WORK : WORK;
    int64_t most = BLOCKS;
    while (most > FEWEST && (double)most * of_block > work) most /= 2;
    while (most > 1 && (most * batch > BLOCKS || most > (INT64_C(1) << 25) / lines)) most /= 2;
    if (n < g->n) { /* the first and the last columns are in different blocks */
        most = at_least(most < n / 2 ? most : n / 2, 2);
        f->columns = (Pieces){g->n, most, n / most};
        f->width = n / most;
        f->n_blocks = most;
    } else {
        f->width = (g->n + most - 1) / most;
        f->n_blocks = (g->n + f->width - 1) / f->width;
    }
    const double at_once = f->b_shared ? (double)batch : Z_NUMBERS / ((double)g->k * (double)f->n_blocks);
    f->n_at_once = at_once < 1 ? 1 : at_once < (double)batch ? (int64_t)at_once : batch;
}

Err freivalds_new(const Gemm *g, int n_threads, int input_bits, int64_t most, Freivalds **out)
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
    blocks_choose(f, most);
    const int64_t lines = pieces_total(&f->rows) * pieces_total(&f->batches);
    size_t sums = (size_t)(lines * f->n_blocks),
           z = (size_t)(g->k * f->n_blocks * (f->b_shared ? 1 : f->n_at_once)) + 1;
    f->y_re = calloc(sums, sizeof(double));
    f->z_re = calloc(z, sizeof(double));
    f->y_im = f->complex ? calloc(sums, sizeof(double)) : NULL;
    f->z_im = f->complex ? calloc(z, sizeof(double)) : NULL;
    f->a_norm = calloc((size_t)lines, sizeof(double));
    f->b_norm = calloc((size_t)freivalds_n_blocks(f), sizeof(double));
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

bool freivalds_covers(const Freivalds *f)
{
    return pieces_are_whole(&f->rows) && pieces_are_whole(&f->batches) && f->columns.n == 0;
}

typedef struct {
    const Freivalds *f;
    const Matrix *d;
    Suspect *list;
    int64_t n_blocks, n_parts, max, n; /* n_parts: tasks of a block */
    pthread_mutex_t lock;
} Search;

/* p, pb: positions of the row and of the batch matrix. */
static double tolerance(const Freivalds *f, int64_t p, int64_t q, int64_t pb, double d_norm)
{
    if (f->exact) return 0;
    const Gemm *g = &f->g;
    /* The unit of f32 stands for the double of the reference too, which is far smaller except for f64
     * kernels. */
    double u = number_unit(g->compute) + 0x1p-53, step = SURE * sqrt((double)g->k + 2) * u;
    if (f->input_bits) step += SURE * ldexp(1, -f->input_bits);
    double product =
        size_of(g->alpha) * f->a_norm[p + pieces_total(&f->rows) * pb] * f->b_norm[q + f->n_blocks * pb];
    double c = size_of(g->beta) * f->c_max * sqrt((double)f->width);
    return SURE * (step * product + 4 * u * c + (number_unit(g->out) + u) * d_norm) + 1e-300;
}

/* Checks the sums of n rows, from position p on, over a block. */
static void search_rows(Search *s, int64_t block, int64_t p, int64_t n)
{
    const Freivalds *f = s->f;
    const int64_t q = block % f->n_blocks, pb = block / f->n_blocks, b = pieces_number(&f->batches, pb),
                  i0 = pieces_number(&f->rows, p), at = p + pieces_total(&f->rows) * block;
    double re[STEP], im_room[STEP], *im = f->complex ? im_room : NULL, sr[STEP] = {0}, si[STEP] = {0},
                                    norm2[STEP] = {0};
    for (int64_t j = block_start(f, q); j < block_end(f, q); j++) {
        const double x = sign_of(f, j, b);
        matrix_column(s->d, i0, j, b, n, re, im);
        line_add(sr, x, re, n);
        line_add_squares(norm2, re, n);
        if (!im) continue;
        line_add(si, x, im, n);
        line_add_squares(norm2, im, n);
    }
    for (int64_t i = 0; i < n; i++) {
        double dr = sr[i] - f->y_re[at + i], di = f->complex ? si[i] - f->y_im[at + i] : 0;
        double off = fabs(dr) > fabs(di) ? fabs(dr) : fabs(di);
        if (!isnan(dr) && !isnan(di) && off <= tolerance(f, p + i, q, pb, sqrt(norm2[i]))) continue;
        pthread_mutex_lock(&s->lock);
        if (s->n < s->max) s->list[s->n] = (Suspect){i0 + i, block_start(f, q), block_end(f, q), b};
        s->n++;
        pthread_mutex_unlock(&s->lock);
    }
}

int64_t freivalds_n_blocks(const Freivalds *f) { return f->n_blocks * pieces_total(&f->batches); }

void freivalds_block(const Freivalds *f, int64_t block, int64_t *j0, int64_t *j1, int64_t *b)
{
    int64_t q = block % f->n_blocks;
    *b = pieces_number(&f->batches, block / f->n_blocks);
    *j0 = block_start(f, q);
    *j1 = block_end(f, q);
}

int64_t freivalds_pick(const Freivalds *f, int64_t i, int64_t n)
{
    int64_t all = freivalds_n_blocks(f);
    return n == 0 || n >= all ? i : n == 1 ? all - 1 : i * (all - 1) / (n - 1);
}

/* Rows of a task: many, as neighbours are read one after the other, but a block has several tasks. */
enum { PART = 4 * STEP };

static void search_task(void *ctx, int64_t task)
{
    Search *s = ctx;
    const Freivalds *f = s->f;
    const int64_t block = freivalds_pick(f, task / s->n_parts, s->n_blocks), rows = pieces_total(&f->rows),
                  from = task % s->n_parts * PART, to = rows - from < PART ? rows : from + PART;
    for (int64_t p = from, n; p < to; p += n) {
        n = pieces_run(&f->rows, p, to - p < STEP ? to - p : STEP);
        search_rows(s, block, p, n);
    }
}

Err freivalds_check(const Freivalds *f, const Matrix *d, int64_t n_blocks, Suspect *list, int64_t max,
                    int64_t *n_suspects)
{
    Search s = {.f = f,
                .d = d,
                .n_blocks = n_blocks,
                .n_parts = (pieces_total(&f->rows) + PART - 1) / PART,
                .list = list,
                .max = max};
    int64_t all = freivalds_n_blocks(f);
    pthread_mutex_init(&s.lock, NULL);
    parallel_for((n_blocks == 0 || n_blocks > all ? all : n_blocks) * s.n_parts, f->n_threads, search_task,
                 &s);
    pthread_mutex_destroy(&s.lock);
    *n_suspects = s.n;
    return 0;
}
