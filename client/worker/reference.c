/* Reference GEMM: a blocked product over panels converted to double, with tiles of 128 x 128, blocks of 256
 * along K, and an 8 x 8 register tile compiled for several x86-64 levels. The sum over one block has an error
 * of 256 units of f64 at most, usually about 16, which is far below every tolerance (number.c). See
 * reference.h. */
#include "client/worker/reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "client/worker/lines.h"
#include "client/worker/number.h"
#include "client/worker/parallel.h"

enum { TILE = 128, DEPTH = 256, REG = LANES, AHEAD = 8 };

typedef double Vec __attribute__((vector_size(REG * sizeof(double)), aligned(64), may_alias));

bool gemm_is_complex(const Gemm *g) { return type_info(g->out)->complex || type_info(g->a.type)->complex; }

static int64_t mapped_index(const Matrix *m, int64_t r, int64_t c, int64_t b)
{
    const MatrixMap *map = m->map;
    if (m->map_transposed) {
        const int64_t row = c;
        c = r, r = row;
    }
    for (int i = 0; i < map->n_pads; i++) {
        const int64_t x = map->pad[i].row[r] + map->pad[i].col[c];
        if (x < map->pad[i].start || x >= map->pad[i].edge) return -1;
    }
    return map->row[r] + map->col[c] + map->batch[b];
}

int64_t matrix_index(const Matrix *m, int64_t r, int64_t c, int64_t b)
{
    if (m->map) return mapped_index(m, r, c, b);
    return r * m->row + c * m->col + b * m->batch;
}

/* Values of packed elements. Rows across the packing are loaded with a stride of p values; rows along it in
 * runs of at most p, or in one run where the elements are contiguous too. */
static void packed_column(const Matrix *m, int64_t r, int64_t c, int64_t b, int64_t n, double *re, double *im)
{
    const DataType t = type_value(m->type);
    const int64_t p = type_info(m->type)->packing;
    if (!m->packed_rows) {
        numbers_load(t, m->data, matrix_index(m, r, c / p, b) * p + c % p, m->row * p, n, re, im);
        return;
    }
    for (int64_t done = 0, some; done < n; done += some) {
        int64_t at = r + done, left = m->row == 1 ? n : p - at % p;
        some = n - done < left ? n - done : left;
        numbers_load(t, m->data, matrix_index(m, at / p, c, b) * p + at % p, 1, some, re + done,
                     im ? im + done : NULL);
    }
}

/* Of n rows from r on that lie at equal distances, those outside of a pad's zeros: [*from, *to). */
static void inside_pad(int64_t first, int64_t step, int64_t start, int64_t edge, int64_t *from, int64_t *to)
{
    while (*from < *to && (first + *from * step < start || first + *from * step >= edge)) ++*from;
    while (*from < *to && (first + (*to - 1) * step < start || first + (*to - 1) * step >= edge)) --*to;
}

/* Run by run of rows at equal distances. */
static void mapped_column(const Matrix *m, int64_t r, int64_t c, int64_t b, int64_t n, double *re, double *im)
{
    const MatrixMap *map = m->map;
    const bool cols = m->map_transposed;
    const int64_t *at = (cols ? map->col : map->row) + r, *run = (cols ? map->col_run : map->row_run) + r;
    const int64_t base = (cols ? map->row : map->col)[c] + map->batch[b];
    for (int64_t i = 0, some; i < n; i += some) {
        some = run[i] < n - i ? run[i] : n - i;
        const int64_t step = some > 1 ? at[i + 1] - at[i] : 0;
        int64_t from = 0, to = some;
        for (int p = 0; p < map->n_pads; p++) {
            const int64_t *x = (cols ? map->pad[p].col : map->pad[p].row) + r + i;
            inside_pad(x[0] + (cols ? map->pad[p].row : map->pad[p].col)[c], some > 1 ? x[1] - x[0] : 0,
                       map->pad[p].start, map->pad[p].edge, &from, &to);
        }
        for (int64_t j = 0; j < some; j++)
            if (j < from || j >= to) {
                re[i + j] = 0;
                if (im) im[i + j] = 0;
            }
        if (from < to)
            numbers_load(m->type, m->data, base + at[i] + from * step, step, to - from, re + i + from,
                         im ? im + i + from : NULL);
    }
}

void matrix_column(const Matrix *m, int64_t r, int64_t c, int64_t b, int64_t n, double *re, double *im)
{
    if (m->map)
        mapped_column(m, r, c, b, n, re, im);
    else if (type_info(m->type)->packing > 1)
        packed_column(m, r, c, b, n, re, im);
    else
        numbers_load(m->type, m->data, matrix_index(m, r, c, b), m->row, n, re, im);
    if (m->conj && im)
        for (int64_t i = 0; i < n; i++) im[i] = -im[i];
}

Value matrix_at(const Matrix *m, int64_t r, int64_t c, int64_t b)
{
    Value v = {0, 0};
    matrix_column(m, r, c, b, 1, &v.re, &v.im);
    return v;
}

Matrix matrix_transposed(const Matrix *m)
{
    Matrix t = *m;
    t.row = m->col;
    t.col = m->row;
    t.packed_rows = !m->packed_rows;
    t.map_transposed = !m->map_transposed;
    return t;
}

static void matrix_row(const Matrix *m, int64_t r, int64_t c, int64_t b, int64_t n, double *re, double *im)
{
    Matrix t = matrix_transposed(m);
    matrix_column(&t, c, r, b, n, re, im);
}

static bool is_zero(const double v[2]) { return v[0] == 0 && v[1] == 0; }

static bool in_integers(const Gemm *g)
{
    return type_info(g->compute)->integral && type_info(g->out)->integral;
}

/* ---- fused operations ---- */

static double fused_value(const FusedVectors *f, FusedOperand o, int64_t i, int64_t j, int64_t b)
{
    const Along along = fused_along(&f->op, o);
    if (!fused_has(&f->op, o)) return o == FUSED_BIAS ? 0 : 1;
    return f->value[o][(along == ALONG_NONE                  ? 0
                        : (along == ALONG_M) != f->exchanged ? i
                                                             : j) +
                       (o == FUSED_BIAS ? b * f->bias_batch : 0)];
}

/* D of alpha * sum and beta * c. */
static double fused_result(const FusedVectors *f, double sum, double c, int64_t i, int64_t j, int64_t b)
{
    static const FusedOperand factor[] = {FUSED_SCALE_A, FUSED_SCALE_B, FUSED_SCALE_ALPHA};
    for (int s = 0; s < 3; s++) sum *= fused_value(f, factor[s], i, j, b);
    sum += fused_value(f, FUSED_SCALE_C, i, j, b) * c + fused_value(f, FUSED_BIAS, i, j, b);
    return fused_value(f, FUSED_SCALE_D, i, j, b) * activation_of(f->op.activation, sum, f->number);
}

/* alpha * sum + beta * c of integers, in int32 that wraps; sum is one, exactly. */
static double wrapped(const Gemm *g, int64_t sum, int64_t i, int64_t j, int64_t b)
{
    uint32_t x = (uint32_t)(int64_t)g->alpha[0] * (uint32_t)sum;
    if (!is_zero(g->beta))
        x += (uint32_t)(int64_t)g->beta[0] * (uint32_t)(int64_t)matrix_at(&g->c, i, j, b).re;
    return (double)(x < 0x80000000u ? (int64_t)x : (int64_t)x - 0x100000000);
}

Value reference_element(const Gemm *g, int64_t i, int64_t j, int64_t b)
{
    long double re = 0, im = 0;
    enum { STEP = 128 };
    double ar[STEP], ai[STEP], br[STEP], bi[STEP];
    if (!is_zero(g->alpha))
        for (int64_t l = 0; l < g->k; l += STEP) {
            int64_t n = g->k - l < STEP ? g->k - l : STEP;
            matrix_row(&g->a, i, l, b, n, ar, ai);
            matrix_column(&g->b, l, j, b, n, br, bi);
            for (int64_t x = 0; x < n; x++) {
                re += (long double)ar[x] * br[x] - (long double)ai[x] * bi[x];
                im += (long double)ar[x] * bi[x] + (long double)ai[x] * br[x];
            }
        }
    if (in_integers(g)) return (Value){wrapped(g, (int64_t)re, i, j, b), 0};
    long double sr = 0, si = 0;
    if (!is_zero(g->alpha)) {
        sr = g->alpha[0] * re - (g->alpha[1] == 0 ? 0 : g->alpha[1] * im);
        si = g->alpha[0] * im + (g->alpha[1] == 0 ? 0 : g->alpha[1] * re);
    }
    if (g->fused) {
        const double c = is_zero(g->beta) ? 0 : g->beta[0] * matrix_at(&g->c, i, j, b).re;
        return (Value){fused_result(g->fused, (double)sr, c, i, j, b), 0};
    }
    if (!is_zero(g->beta)) {
        Value c = matrix_at(&g->c, i, j, b);
        sr += (long double)g->beta[0] * c.re - (g->beta[1] == 0 ? 0 : (long double)g->beta[1] * c.im);
        si += (long double)g->beta[0] * c.im + (g->beta[1] == 0 ? 0 : (long double)g->beta[1] * c.re);
    }
    return (Value){(double)sr, (double)si};
}

static void add_column(double *acc, const double *s, double sign)
{
    for (int i = 0; i < REG; i++) acc[i] += sign * s[i];
}

/* acc (TILE x TILE, column-major) += a (DEPTH x TILE, row tile of 8 contiguous per depth) * b (same for
 * columns), of which only m rows and n columns are read. The eight sums have names because compilers keep
 * those in registers at -O2, unlike an array of vectors. */
CLONES static void tile_add(const double *a, const double *b, int64_t m, int64_t n, int64_t depth,
                            double sign, double *acc)
{
    for (int j0 = 0; j0 < n; j0 += REG)
        for (int i0 = 0; i0 < m; i0 += REG) {
            const double *ap = a + (int64_t)i0 * DEPTH, *bp = b + (int64_t)j0 * DEPTH;
            Vec s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0}, s4 = {0}, s5 = {0}, s6 = {0}, s7 = {0};
            for (int64_t l = 0; l < depth; l++, ap += REG, bp += REG) {
                Vec av = *(const Vec *)(const void *)ap;
                s0 += av * bp[0];
                s1 += av * bp[1];
                s2 += av * bp[2];
                s3 += av * bp[3];
                s4 += av * bp[4];
                s5 += av * bp[5];
                s6 += av * bp[6];
                s7 += av * bp[7];
            }
            const Vec all[REG] = {s0, s1, s2, s3, s4, s5, s6, s7};
            for (int j = 0; j < REG; j++)
                add_column(acc + (j0 + j) * TILE + i0, (const double *)(const void *)&all[j], sign);
        }
}

/* Packs one line along the depth into panels of REG rows (or columns); elements outside the matrix are
 * zero. */
static void pack_line(double *to, const double *line, int64_t index, int64_t depth)
{
    double *p = to + index / REG * REG * DEPTH + index % REG;
    for (int64_t l = 0; l < depth; l++) p[l * REG] = line[l];
}

/* Packs one line across the panels: n rows (or columns) at one depth. */
static void pack_across(double *to, const double *line, int64_t n, int64_t l)
{
    for (int64_t i = 0; i < n; i += REG, to += REG * DEPTH)
        if (i + REG <= n)
            memcpy(to + l * REG, line + i, REG * sizeof *to);
        else
            for (int64_t r = 0; i + r < n; r++) to[l * REG + r] = line[i + r];
}

typedef struct {
    const Gemm *g;
    int64_t b, nc; /* x: nc columns for each of the batches from b on; x NULL: all batches of g->b */
    const double *x_re, *x_im;
    int64_t x_batch; /* numbers from the columns of a batch to those of the next; 0: all have the same */
    double *out_re, *out_im;
    Pieces rows, batches; /* of D that are computed; b and the results are by position */
    RowFacts *facts;      /* may be NULL */
    int64_t tiles_of_piece, tiles_m, tiles_n;
    bool complex;
    atomic_bool failed;
} Product;

/* A tile of the result: positions p.. in the rows, rows i0.., columns j0.. of matrix b, position pb. */
typedef struct {
    int64_t p, i0, m, j0, n, b, pb;
} Tile;

typedef struct {
    _Alignas(64) double a[2][TILE * DEPTH], b[2][TILE * DEPTH], acc[2][TILE * TILE], line[2][DEPTH];
} Scratch;

/* Asks for a part of a column before it is needed. The parts of neighbouring columns are in different pages,
 * so the processor does not foresee them. */
static void prefetch_column(const Matrix *m, int64_t r, int64_t c, int64_t b, int64_t n)
{
    enum { LINE = 64 };
    const int64_t bytes = type_bytes(m->type), at = (r * m->row + c * m->col + b * m->batch) * bytes;
    for (int64_t x = 0; x < n * m->row * bytes; x += LINE) __builtin_prefetch((const char *)m->data + at + x);
}

/* Loads rows r0.. of a matrix whose columns are the depth, along the dimension with the smaller stride. */
static void load_matrix(Scratch *s, double to[2][TILE * DEPTH], const Matrix *m, bool complex, int64_t r0,
                        int64_t n, int64_t l, int64_t depth, int64_t b)
{
    double *re = s->line[0], *im = complex ? s->line[1] : NULL;
    if (m->row <= m->col) {
        for (int64_t d = 0; d < depth; d++) {
            if (m->row == 1 && d + AHEAD < depth) prefetch_column(m, r0, l + d + AHEAD, b, n);
            matrix_column(m, r0, l + d, b, n, re, im);
            pack_across(to[0], re, n, d);
            if (im) pack_across(to[1], im, n, d);
        }
        return;
    }
    for (int64_t i = 0; i < n; i++) {
        matrix_row(m, r0 + i, l, b, depth, re, im);
        pack_line(to[0], re, i, depth);
        if (im) pack_line(to[1], im, i, depth);
    }
}

/* Sets the last panel to zero where a matrix does not fill it. */
static void clear_rest(const Product *p, double to[2][TILE * DEPTH], int64_t n)
{
    if (n % REG == 0) return;
    for (int c = 0; c < (p->complex ? 2 : 1); c++)
        memset(to[c] + n / REG * REG * DEPTH, 0, REG * DEPTH * sizeof **to);
}

static void load_panels(const Product *p, Scratch *s, const Tile *t, int64_t l, int64_t depth)
{
    const Gemm *g = p->g;
    if (l == 0) {
        clear_rest(p, s->a, t->m);
        clear_rest(p, s->b, t->n);
    }
    load_matrix(s, s->a, &g->a, p->complex, t->i0, t->m, l, depth, t->b);
    if (!p->x_re) {
        const Matrix b = matrix_transposed(&g->b);
        load_matrix(s, s->b, &b, p->complex, t->j0, t->n, l, depth, t->b);
        return;
    }
    for (int64_t j = 0; j < t->n; j++) {
        const int64_t at = (t->pb - p->b) * p->x_batch + (t->j0 + j) * g->k + l;
        pack_line(s->b[0], p->x_re + at, j, depth);
        if (p->complex) pack_line(s->b[1], p->x_im + at, j, depth);
    }
}

/* Adds what the panels of A say of its rows. */
static void add_facts(const Product *p, const Scratch *s, const Tile *t, int64_t depth)
{
    RowFacts *f = p->facts;
    double *to = f->norm2 + t->p + pieces_total(&p->rows) * t->pb;
    for (int64_t i0 = 0; i0 < t->m; i0 += REG) {
        double norm2[REG] = {0};
        for (int c = 0; c < (p->complex ? 2 : 1); c++) {
            const double *panel = s->a[c] + i0 * DEPTH;
            line_add_lanes(norm2, panel, depth * REG);
            if (!atomic_load_explicit(&f->fractions, memory_order_relaxed) &&
                !line_is_integral(panel, depth * REG))
                atomic_store(&f->fractions, true);
        }
        for (int64_t i = i0; i < t->m && i < i0 + REG; i++) to[i] += norm2[i - i0];
    }
}

/* Value (i, j) of batch b from its sum in the tile. */
static Value tile_value(const Product *p, double re, double im, int64_t i, int64_t j, int64_t b)
{
    const Gemm *g = p->g;
    const double *al = g->alpha, *be = g->beta;
    if (!p->x_re && in_integers(g)) return (Value){wrapped(g, (int64_t)re, i, j, b), 0};
    Value v = {0, 0};
    if (!is_zero(al)) {
        v.re = al[0] * re - (al[1] == 0 ? 0 : al[1] * im);
        v.im = al[0] * im + (al[1] == 0 ? 0 : al[1] * re);
    }
    if (g->fused && !p->x_re) {
        const double c = is_zero(be) ? 0 : be[0] * matrix_at(&g->c, i, j, b).re;
        return (Value){fused_result(g->fused, v.re, c, i, j, b), 0};
    }
    if (!is_zero(be) && !p->x_re) {
        Value c = matrix_at(&g->c, i, j, b);
        v.re += be[0] * c.re - (be[1] == 0 ? 0 : be[1] * c.im);
        v.im += be[0] * c.im + (be[1] == 0 ? 0 : be[1] * c.re);
    }
    return v;
}

static void store_tile(const Product *p, Scratch *s, const Tile *t)
{
    const int64_t rows = pieces_total(&p->rows);
    for (int64_t j = 0; j < t->n; j++)
        for (int64_t i = 0; i < t->m; i++) {
            double re = s->acc[0][j * TILE + i], im = p->complex ? s->acc[1][j * TILE + i] : 0;
            Value v = tile_value(p, re, im, t->i0 + i, t->j0 + j, t->b);
            int64_t at = t->p + i + rows * (t->j0 + j + p->nc * (t->pb - p->b));
            p->out_re[at] = v.re;
            if (p->complex) p->out_im[at] = v.im;
        }
}

static Tile tile_of(const Product *p, int64_t task)
{
    const int64_t row = task % p->tiles_m, rest = task / p->tiles_m;
    const int64_t from = row % p->tiles_of_piece * TILE, left = p->rows.size - from;
    Tile t = {.p = row / p->tiles_of_piece * p->rows.size + from,
              .m = left < TILE ? left : TILE,
              .j0 = rest % p->tiles_n * TILE,
              .pb = p->b + rest / p->tiles_n};
    t.i0 = pieces_number(&p->rows, t.p);
    t.b = pieces_number(&p->batches, t.pb);
    t.n = p->nc - t.j0 < TILE ? p->nc - t.j0 : TILE;
    return t;
}

static void product_task(void *ctx, int64_t task)
{
    Product *p = ctx;
    const Gemm *g = p->g;
    const Tile t = tile_of(p, task);
    Scratch *s = aligned_alloc(64, (sizeof *s + 63) / 64 * 64);
    if (!s) {
        atomic_store(&p->failed, true);
        return;
    }
    for (int c = 0; c < (p->complex ? 2 : 1); c++)
        memset(s->acc[c], 0, (size_t)((t.n + REG - 1) / REG * REG * TILE) * sizeof *s->acc[c]);
    for (int64_t l = 0; l < g->k && !is_zero(g->alpha); l += DEPTH) {
        int64_t depth = g->k - l < DEPTH ? g->k - l : DEPTH;
        load_panels(p, s, &t, l, depth);
        if (p->facts && t.j0 == 0) add_facts(p, s, &t, depth);
        tile_add(s->a[0], s->b[0], t.m, t.n, depth, 1, s->acc[0]);
        if (p->complex) {
            tile_add(s->a[1], s->b[1], t.m, t.n, depth, -1, s->acc[0]);
            tile_add(s->a[0], s->b[1], t.m, t.n, depth, 1, s->acc[1]);
            tile_add(s->a[1], s->b[0], t.m, t.n, depth, 1, s->acc[1]);
        }
    }
    store_tile(p, s, &t);
    free(s);
}

static Err product_run(Product *p, int64_t n_batches, int n_threads)
{
    p->complex = gemm_is_complex(p->g);
    p->tiles_of_piece = (p->rows.size + TILE - 1) / TILE;
    p->tiles_m = p->rows.n * p->tiles_of_piece;
    p->tiles_n = (p->nc + TILE - 1) / TILE;
    atomic_init(&p->failed, false);
    parallel_for(p->tiles_m * p->tiles_n * n_batches, n_threads, product_task, p);
    if (atomic_load(&p->failed))
        FAIL(ERR_FAILED, "out of memory for the reference (%zu bytes)", sizeof(Scratch));
    return 0;
}

Err reference_product(const Gemm *g, const ColumnSet *x, int n_threads, RowFacts *facts, double *out_re,
                      double *out_im)
{
    Product p = {.g = g,
                 .b = x->b,
                 .nc = x->n,
                 .x_re = x->re,
                 .x_im = x->im,
                 .x_batch = x->batch,
                 .rows = x->rows,
                 .batches = x->batches,
                 .facts = facts,
                 .out_re = out_re,
                 .out_im = out_im};
    return product_run(&p, x->n_batches, n_threads);
}

Err reference_all(const Gemm *g, int n_threads, double *out_re, double *out_im)
{
    Product p = {.g = g,
                 .nc = g->n,
                 .rows = pieces_whole(g->m),
                 .batches = pieces_whole(g->batch),
                 .out_re = out_re,
                 .out_im = out_im};
    return product_run(&p, g->batch, n_threads);
}
