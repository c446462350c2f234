/* Sizes between those that were measured. See model_range.h. */
#include "measure/model_range.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "base/spread.h"
#include "measure/model.h"

/* ---- alignments ---- */

enum { LEVELS = 5 }; /* 1, 2, 4, 8 and 16 bytes */

static int level_of(int32_t align)
{
    int level = 0;
    while (level < LEVELS - 1 && align > 1) align >>= 1, level++;
    return level;
}

static void bit_set(uint64_t of[2], int a, int b, int d)
{
    const int bit = (a * LEVELS + b) * LEVELS + d;
    of[bit / 64] |= UINT64_C(1) << bit % 64;
}

static void runs_add(uint64_t of[2], const ModelSize *z)
{
    for (int a = level_of(z->align_a); a < LEVELS; a++)
        for (int b = level_of(z->align_b); b < LEVELS; b++)
            for (int d = level_of(z->align_d); d < LEVELS; d++) bit_set(of, a, b, d);
}

Err model_runs_make(Arena *a, const ModelMatrix *m, const bool *out, ModelRuns *runs)
{
    runs->n_kernels = m->n_kernels;
    TRY_ALLOC(runs->of = arena_alloc(a, (m->n_kernels + 1) * sizeof *runs->of));
    for (size_t k = 0; k < m->n_kernels; k++) runs->of[k][0] = runs->of[k][1] = 0;
    for (size_t z = 0; z < m->n_sizes; z++)
        for (size_t k = 0; k < m->n_kernels && !(out && out[z]); k++)
            if (m->seconds[z * m->n_kernels + k] > 0) runs_add(runs->of[k], &m->size[z]);
    return ERR_OK;
}

bool model_runs_on(const ModelRuns *runs, size_t kernel, const ModelSize *z)
{
    const int bit = (level_of(z->align_a) * LEVELS + level_of(z->align_b)) * LEVELS + level_of(z->align_d);
    return runs->of[kernel][bit / 64] >> bit % 64 & 1;
}

/* ---- the grid ---- */

enum { AXIS_MAX = 200 };

typedef struct {
    int64_t v[3][AXIS_MAX]; /* M, N, K */
    int n[3];
    double operations, elements; /* of the largest size */
} Grid;

static double elements_of(double m, double n, double k) { return m * n + n * k + m * k; }

static void axis_make(Grid *g, int d, double lo, double hi, int steps)
{
    for (int i = (int)lround(lo) * steps; i <= (int)lround(hi) * steps && g->n[d] < AXIS_MAX; i++) {
        const int64_t x =
            i % steps ? (int64_t)lround(exp2((double)i / steps) / 16) * 16 : INT64_C(1) << i / steps;
        if (x > 0 && (g->n[d] == 0 || x > g->v[d][g->n[d] - 1])) g->v[d][g->n[d]++] = x;
    }
}

/* lo, hi: the least and largest logarithms of M, N and K. */
static void limits_find(const ModelMatrix *m, const bool *out, Grid *g, double lo[3], double hi[3])
{
    *g = (Grid){0};
    for (int d = 0; d < 3; d++) lo[d] = 40, hi[d] = 0;
    for (size_t z = 0; z < m->n_sizes; z++) {
        const ModelSize *s = &m->size[z];
        const double v[3] = {s->m, s->n, s->k};
        if (out && out[z]) continue;
        for (int d = 0; d < 3; d++) lo[d] = fmin(lo[d], log2(v[d])), hi[d] = fmax(hi[d], log2(v[d]));
        g->operations = fmax(g->operations, s->m * s->n * s->k * s->batch);
        g->elements = fmax(g->elements, elements_of(s->m, s->n, s->k) * s->batch);
    }
}

static void grid_make(const ModelMatrix *m, const bool *out, int steps, Grid *g)
{
    double lo[3], hi[3];
    limits_find(m, out, g, lo, hi);
    for (int d = 0; d < 3; d++) axis_make(g, d, d < 2 ? 0 : fmin(lo[d], 5), hi[d] + 1, d < 2 ? steps : 1);
}

static bool in_grid(const Grid *g, const int64_t v[3], double batch)
{
    const double m = (double)v[0], n = (double)v[1], k = (double)v[2];
    return m * n * k * batch <= 1.01 * g->operations && elements_of(m, n, k) * batch <= 1.01 * g->elements;
}

static bool size_make(const ProblemType *pt, const int64_t v[3], int64_t batch, ProblemSize *out)
{
    const int64_t batched[] = {v[0], v[1], batch, v[2]};
    bool gemm = pt->TotalIndices == 4 || (pt->TotalIndices == 3 && batch == 1);
    bool ok = gemm && (pt->TotalIndices == 4 ? !problem_size_from_ints(pt, batched, 4, out)
                                             : !problem_size_from_ints(pt, v, 3, out));
    if (!ok) err_clear();
    return ok;
}

/* Sizes at a point of the grid: aligned, and one element below in some of M, N and K, where that changes the
 * alignment of an operand. */
enum { LESS = 8, LESS_LEAST = 16 };

static bool point_of(const Grid *g, size_t i, int64_t v[3])
{
    const size_t at = i / LESS, less = i % LESS;
    v[0] = g->v[0][at / (size_t)g->n[2] / (size_t)g->n[1]];
    v[1] = g->v[1][at / (size_t)g->n[2] % (size_t)g->n[1]];
    v[2] = g->v[2][at % (size_t)g->n[2]];
    for (int d = 0; d < 3; d++) {
        if (!(less >> d & 1)) continue;
        if (v[d] < LESS_LEAST) return false;
        v[d]--;
    }
    return true;
}

static bool aligned_alike(const ModelSize *x, const ModelSize *y)
{
    return x->align_a == y->align_a && x->align_b == y->align_b && x->align_d == y->align_d;
}

/* Whether a size would be aligned alike if one of the dimensions that are one less were not. */
static bool is_needless(const ProblemType *pt, const int64_t v[3], size_t less, int64_t batch,
                        const ModelSize *z)
{
    for (int d = 0; d < 3; d++) {
        int64_t w[3] = {v[0], v[1], v[2]};
        ProblemSize at;
        if (!(less >> d & 1)) continue;
        w[d]++;
        if (!size_make(pt, w, batch, &at)) continue;
        const ModelSize other = model_size(pt, &at, false);
        if (aligned_alike(&other, z)) return true;
    }
    return false;
}

Err model_range_make(Arena *a, const ProblemType *pt, const ModelMatrix *m, const bool *out, int steps,
                     int64_t batch, RangeSize **size, size_t *n)
{
    Grid g;
    grid_make(m, out, steps, &g);
    const size_t most = LESS * (size_t)g.n[0] * (size_t)g.n[1] * (size_t)g.n[2];
    *n = 0;
    TRY_ALLOC(*size = ARENA_ARRAY(a, most + 1, RangeSize));
    for (size_t i = 0; i < most; i++) {
        int64_t v[3];
        RangeSize *s = &(*size)[*n];
        if (!point_of(&g, i, v) || !in_grid(&g, v, (double)batch) || !size_make(pt, v, batch, &s->at))
            continue;
        s->size = model_size(pt, &s->at, false);
        *n += !is_needless(pt, v, i % LESS, batch, &s->size);
    }
    return ERR_OK;
}

/* ---- lines ---- */

/* A number of the line through x. */
static int64_t on_line(double x, int step)
{
    enum { TILE = 16 };
    const double v = x * exp2((double)step / LINE_STEPS);
    return v < TILE ? llround(v) : llround(v / TILE) * TILE;
}

static void line_add(const ProblemType *pt, const Grid *g, const ModelSize *of, int d, int64_t x,
                     RangeSize *out, size_t *n)
{
    for (int less = 0; less < 2 && x > less; less++) {
        int64_t v[3] = {(int64_t)of->m, (int64_t)of->n, (int64_t)of->k};
        RangeSize *s = &out[*n];
        v[d] = x - less;
        if (!in_grid(g, v, 1) || !size_make(pt, v, 1, &s->at)) continue;
        s->size = model_size(pt, &s->at, false);
        *n += !less || !is_needless(pt, v, (size_t)1 << d, 1, &s->size);
    }
}

Err model_lines_make(Arena *a, const ProblemType *pt, const ModelMatrix *m, const bool *out, RangeSize **size,
                     size_t *n)
{
    enum { STEPS = LINE_OCTAVES * LINE_STEPS, OF_SIZE = 3 * 2 * (2 * STEPS + 1) };
    Grid g;
    grid_make(m, out, 1, &g);
    *n = 0;
    TRY_ALLOC(*size = ARENA_ARRAY(a, (m->n_sizes < LINE_SIZES ? m->n_sizes : LINE_SIZES) * OF_SIZE + 1,
                                  RangeSize));
    for (size_t z = 0, used = 0; z < m->n_sizes && used < LINE_SIZES; z++) {
        const ModelSize *of = &m->size[z];
        const double v[3] = {of->m, of->n, of->k};
        if ((out && out[z]) || of->batch > 1) continue;
        used++;
        for (int d = 0; d < 3; d++)
            for (int i = -STEPS; i <= STEPS; i++)
                if (i) line_add(pt, &g, of, d, on_line(v[d], i), *size, n);
    }
    return ERR_OK;
}

/* ---- draws ---- */

/* A number of a size that is aligned, or of any other. */
static int64_t drawn(double log_lo, double log_hi, bool aligned, uint64_t bits)
{
    enum { ALIGNED = 32 };
    const double x = exp2(log_lo + (log_hi - log_lo) * random_unit(bits));
    const int64_t v = aligned ? llround(x / ALIGNED) * ALIGNED : llround(x);
    return v > 0 ? v : aligned ? ALIGNED : 1;
}

/* lo, hi: the least and largest logarithms of the batch counts of batched sizes. */
static void batches_find(const ModelMatrix *m, const bool *out, double *lo, double *hi)
{
    *lo = 40, *hi = 1;
    for (size_t z = 0; z < m->n_sizes; z++) {
        if ((out && out[z]) || m->size[z].batch <= 1) continue;
        *lo = fmin(*lo, log2(m->size[z].batch)), *hi = fmax(*hi, log2(m->size[z].batch));
    }
    *lo = fmin(*lo, *hi);
}

Err model_draws_make(Arena *a, const ProblemType *pt, const ModelMatrix *m, const bool *out,
                     const RangeDraws *draws, RangeSize **size, size_t *n)
{
    enum { TRIES = 50 };
    Grid g;
    double lo[3], hi[3], lo_batch, hi_batch;
    uint64_t state = draws->seed;
    limits_find(m, out, &g, lo, hi);
    batches_find(m, out, &lo_batch, &hi_batch);
    *n = 0;
    TRY_ALLOC(*size = ARENA_ARRAY(a, draws->n + 1, RangeSize));
    for (size_t try = 0; try < TRIES * draws->n && *n < draws->n; try++) {
        int64_t v[3];
        RangeSize *s = &(*size)[*n];
        for (int d = 0; d < 3; d++) v[d] = drawn(lo[d], hi[d], *n % 2 == 0, random_next(&state));
        const int64_t batch =
            draws->batch ? draws->batch : drawn(lo_batch, hi_batch, false, random_next(&state));
        if (!in_grid(&g, v, (double)batch) || !size_make(pt, v, batch, &s->at)) continue;
        s->size = model_size(pt, &s->at, false);
        ++*n;
    }
    return ERR_OK;
}

int64_t model_range_batch(const ModelMatrix *m, const bool *out)
{
    double logs = 0, n = 0;
    for (size_t z = 0; z < m->n_sizes; z++)
        if (!(out && out[z]) && m->size[z].batch > 1) logs += log(m->size[z].batch), n++;
    return n > 0 ? llround(exp(logs / n)) : 1;
}

/* ---- kernels ---- */

typedef struct {
    const ModelMatrix *m;
    const ModelRuns *runs;
    const ModelSize *size;
} Ask;

static bool can_run(void *ctx, size_t k)
{
    const Ask *q = ctx;
    return q->m->known[k] && model_runs_on(q->runs, k, q->size);
}

/* What is found of each size of the range. */
typedef struct {
    double seconds; /* of the kernel that wins by prediction */
    uint32_t best;  /* that kernel; NO_KERNEL: none runs */
    float left;     /* the least loss of the kernels that are kept; 0: no kernel runs */
} AtSize;
static const uint32_t NO_KERNEL = UINT32_MAX;

/* The kernels that win a size of the range, and what each of them loses on which size. */
typedef struct {
    const ModelMatrix *m;
    const ModelRuns *runs;
    const ModelSelector *s;
    const RangeSize *size;
    size_t n_sizes, *candidate, n_candidates;
    AtSize *at;  /* of each size */
    float *loss; /* [size][candidate] against the best by prediction; MODEL_RANGE_NONE: it does not run */
} Keeping;

/* Sizes that one thread looks at. */
enum { PART = 128 };

static size_t part_end(const Keeping *x, size_t part)
{
    return x->n_sizes < (part + 1) * PART ? x->n_sizes : (part + 1) * PART;
}

static Err parts_do(Keeping *x, Err (*fn)(void *ctx, size_t part))
{
    const size_t n = (x->n_sizes + PART - 1) / PART;
    return spread_run(&(Spread){.n = n, .threads = true, .part = fn, .ctx = x});
}

static Err best_part(void *ctx, size_t part)
{
    Keeping *x = ctx;
    for (size_t z = part * PART; z < part_end(x, part); z++) {
        Ask q = {x->m, x->runs, &x->size[z].size};
        double seconds = 0;
        const size_t k = model_choose(x->s, q.size, can_run, &q, &seconds);
        x->at[z] = (AtSize){seconds, k == SIZE_MAX ? NO_KERNEL : (uint32_t)k,
                            k == SIZE_MAX ? 0 : (float)MODEL_RANGE_NONE};
    }
    return ERR_OK;
}

static Err candidates_find(Arena *a, const bool *keep, Keeping *x)
{
    const size_t n = x->m->n_kernels;
    bool *is = ARENA_ARRAY(a, n + 1, bool);
    TRY_ALLOC(is);
    TRY_ALLOC(x->candidate = ARENA_ARRAY(a, n + 1, size_t));
    TRY(parts_do(x, best_part));
    for (size_t z = 0; z < x->n_sizes; z++)
        if (x->at[z].best != NO_KERNEL) is[x->at[z].best] = true;
    for (size_t k = 0; k < n; k++)
        if (x->m->known[k] && (is[k] || keep[k])) x->candidate[x->n_candidates++] = k;
    return ERR_OK;
}

static void take(Keeping *x, size_t c)
{
    for (size_t z = 0; z < x->n_sizes; z++)
        x->at[z].left = fminf(x->at[z].left, x->loss[z * x->n_candidates + c]);
}

/* By how much a kernel lowers the losses that are too large. */
static double gain_of(const Keeping *x, size_t c)
{
    double sum = 0;
    for (size_t z = 0; z < x->n_sizes; z++) {
        const float loss = fmaxf(x->loss[z * x->n_candidates + c], (float)MODEL_RANGE_LOSS);
        if (x->at[z].left > loss) sum += (double)(x->at[z].left - loss);
    }
    return sum;
}

static Err losses_part(void *ctx, size_t part)
{
    Keeping *x = ctx;
    for (size_t z = part * PART; z < part_end(x, part); z++) {
        const ModelSize *size = &x->size[z].size;
        ModelNear near;
        if (x->at[z].best == NO_KERNEL) continue;
        model_near(x->s, size, &near);
        for (size_t c = 0; c < x->n_candidates; c++) {
            const size_t k = x->candidate[c];
            float *loss = &x->loss[z * x->n_candidates + c];
            *loss = (float)MODEL_RANGE_NONE;
            if (!model_runs_on(x->runs, k, size)) continue;
            const double seconds = model_predict(x->s, &near, k, size);
            *loss = fminf(*loss, (float)(seconds / x->at[z].seconds - 1));
        }
    }
    return ERR_OK;
}

/* The grids of one batch and of several behind each other. */
static Err grids_make(Arena *a, const ProblemType *pt, const ModelMatrix *m, const bool *out, Keeping *x)
{
    const int64_t batch = model_range_batch(m, out);
    RangeSize *one, *several = NULL;
    size_t n, n_several = 0;
    TRY(model_range_make(a, pt, m, out, 1, 1, &one, &n));
    if (batch > 1) TRY(model_range_make(a, pt, m, out, 1, batch, &several, &n_several));
    RangeSize *all = ARENA_ARRAY(a, n + n_several + 1, RangeSize);
    TRY_ALLOC(all);
    memcpy(all, one, n * sizeof *all);
    if (n_several) memcpy(&all[n], several, n_several * sizeof *all);
    x->size = all, x->n_sizes = n + n_several;
    return ERR_OK;
}

/* Adds the kernel that lowers losses most until there are `most`, or nothing is gained. */
static void kernels_keep(Keeping *x, size_t most, bool *keep)
{
    for (size_t c = 0; c < x->n_candidates; c++)
        if (keep[x->candidate[c]]) take(x, c);
    for (size_t added = 0; added < most; added++) {
        double largest = 0;
        size_t at = 0;
        for (size_t c = 0; c < x->n_candidates; c++) {
            const double gain = keep[x->candidate[c]] ? 0 : gain_of(x, c);
            if (gain > largest) largest = gain, at = c;
        }
        if (largest <= 0) break;
        keep[x->candidate[at]] = true;
        take(x, at);
    }
}

static Err losses_keep(Keeping *x, size_t most, bool *keep)
{
    TRY_ALLOC(x->loss = calloc(x->n_sizes * x->n_candidates + 1, sizeof *x->loss));
    const Err e = parts_do(x, losses_part);
    if (!e) kernels_keep(x, most, keep);
    free(x->loss);
    return e;
}

Err model_range_keep(Arena *a, const ProblemType *pt, const ModelMatrix *m, const bool *out,
                     const ModelSelector *of, size_t most, bool *keep)
{
    ModelRuns runs;
    /* of thousands of kernels on thousands of sizes, trees would take minutes */
    ModelSelector rough = *of;
    Keeping x = {.m = m, .runs = &runs, .s = &rough};
    rough.forest = NULL;
    TRY(model_runs_make(a, m, out, &runs));
    TRY(grids_make(a, pt, m, out, &x));
    TRY_ALLOC(x.at = ARENA_ARRAY(a, x.n_sizes + 1, AtSize));
    TRY(candidates_find(a, keep, &x));
    return losses_keep(&x, most, keep);
}
