/* Library: the search in Matching tables, with the results of Tensile's MatchingLibrary.hpp.
 *
 * Tensile scans from lower_bound(key) to the right, then to the left, keeps the nearest entry whose solution
 * can run the problem, and stops a direction where element 0 alone is too far. For Euclidean and Manhattan
 * distances the result is the nearest entry if no other entry has the same distance and its solution can run:
 * every entry found before it is farther away, so neither direction stops before reaching it. near_find
 * (library_near.c) finds that entry. With ties, or if its solution cannot run, the table is scanned as
 * Tensile does (scan_in_order).
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "client/runtime/library_priv.h"

typedef struct {
    Library *lib;
    const Table *t;
    const Contraction *p;
    Err e;
    int64_t key[TABLE_DIMS_MAX];
    double real[TABLE_DIMS_MAX];
} Query;

static const int64_t *key_at(const Table *t, size_t i) { return t->key + i * (size_t)t->n_dims; }

static bool key_equal(const Query *q, size_t i)
{
    const int64_t *k = key_at(q->t, i);
    for (int d = 0; d < q->t->n_dims; d++)
        if (k[d] != q->key[d]) return false;
    return true;
}

/* First entry whose key is not below the query's. */
static size_t lower_bound(const Query *q)
{
    const Table *t = q->t;
    size_t lo = 0, hi = t->n;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        const int64_t *k = key_at(t, mid);
        int d = 0;
        while (d < t->n_dims - 1 && k[d] == q->key[d]) d++;
        if (k[d] < q->key[d])
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* ---- distances ---- */

static void jsd_norm(const double *p, const double *q, double np[3], double nq[3])
{
    double sp = 0, sq = 0;
    for (int i = 0; i < 3; i++) {
        sp += p[i];
        sq += q[i];
    }
    for (int i = 0; i < 3; i++) {
        np[i] = p[i] / sp;
        nq[i] = q[i] / sq;
    }
}

static double jsd(const double *p, const double *q)
{
    double np[3], nq[3], kp = 0, kq = 0;
    jsd_norm(p, q, np, nq);
    for (int i = 0; i < 3; i++) {
        double m = 0.5 * (np[i] + nq[i]);
        kp += np[i] * log(np[i] / m);
        kq += nq[i] * log(nq[i] / m);
    }
    return 0.5 * kp + 0.5 * kq;
}

static double jsd_term0(const double *p, const double *q)
{
    double np[3], nq[3];
    jsd_norm(p, q, np, nq);
    double m = 0.5 * (np[0] + nq[0]);
    return 0.5 * (np[0] * log(np[0] / m)) + 0.5 * (nq[0] * log(nq[0] / m));
}

static double grid(const double *p, const double *q)
{
    double sm = p[0] <= 32768 ? ceil(p[0] / q[0]) : 1, sn = p[1] <= 32768 ? ceil(p[1] / q[1]) : 1, d;
    if (p[0] <= 32768 && p[1] <= 32768)
        d = round(100 * sm * sn / pow((p[0] * p[1]) / (sm * q[0] * sn * q[1]), 2));
    else
        d = round(10000 * sm * sn * sqrt(pow(p[0] - q[0], 2) + pow(p[1] - q[1], 2)));
    return d + fabs(q[2] - p[2]) / (q[2] + p[2] * 8);
}

/* Tensile's Random distance may be any number; this one depends only on the problem and the entry, so that
 * selections are repeatable. */
static double random_distance(const Query *q, size_t i)
{
    uint64_t h = i;
    for (int d = 0; d < q->t->n_dims; d++) h = (h ^ (uint64_t)q->key[d]) * UINT64_C(0x9e3779b97f4a7c15);
    return (double)((h ^ h >> 29) >> 33);
}

static double distance_to(const Query *q, size_t i)
{
    const Table *t = q->t;
    double e[TABLE_DIMS_MAX], d = t->distance == DIST_RATIO ? 1 : 0;
    for (int k = 0; k < t->n_dims; k++) e[k] = (double)key_at(t, i)[k];
    switch (t->distance) {
    case DIST_MANHATTAN:
        for (int k = 0; k < t->n_dims; k++) d += fabs(q->real[k] - e[k]);
        return d;
    case DIST_RATIO:
        for (int k = 0; k < t->n_dims; k++) d += fabs(log(q->real[k] / e[k]));
        return d;
    case DIST_JSD:
        return jsd(q->real, e);
    case DIST_RANDOM:
        return random_distance(q, i);
    case DIST_GRID:
        return grid(q->real, e);
    case DIST_EUCLIDEAN:
    case DIST_EQUALITY:
        break;
    }
    for (int k = 0; k < t->n_dims; k++) d += (q->real[k] - e[k]) * (q->real[k] - e[k]);
    return d;
}

static bool improvement_possible(const Query *q, size_t i, double best)
{
    double e[3] = {(double)key_at(q->t, i)[0], 0, 0}, d0 = q->real[0] - e[0];
    switch (q->t->distance) {
    case DIST_EUCLIDEAN:
        return d0 * d0 < best || key_equal(q, i);
    case DIST_MANHATTAN:
        return fabs(d0) < best || key_equal(q, i);
    case DIST_JSD:
        e[1] = (double)key_at(q->t, i)[1];
        e[2] = (double)key_at(q->t, i)[2];
        return jsd_term0(q->real, e) < best || key_equal(q, i);
    default:
        return true;
    }
}

/* ---- the scan of Tensile ---- */

typedef struct {
    size_t at; /* SIZE_MAX: none */
    double distance, speed;
} Best;

static const Best none = {SIZE_MAX, DBL_MAX, 0};

/* Whether entry i's solution can run the problem. A solution that cannot be read is an error that ends the
 * search. */
static bool can_solve(Query *q, size_t i)
{
    const LibSolution *s;
    if (!q->e) q->e = solution_of(q->lib, q->t->chunk, q->t->solution[i], &s);
    return !q->e && solution_can_solve(s, q->p);
}

/* Compares one entry with the best; false: stop this direction. */
static bool consider(Query *q, size_t i, Best *best)
{
    if (best->at != SIZE_MAX && !improvement_possible(q, i, best->distance)) return false;
    double d = distance_to(q, i);
    if ((d < best->distance || (d == best->distance && q->t->speed[i] > best->speed)) && can_solve(q, i))
        *best = (Best){i, d, q->t->speed[i]};
    return !q->e;
}

static Best scan_in_order(Query *q, size_t start)
{
    Best best = none;
    for (size_t i = start; i < q->t->n && consider(q, i, &best); i++) {
    }
    for (size_t i = start; i-- > 0 && consider(q, i, &best);) {
    }
    return best;
}

/* ---- the search in the tree ---- */

static Best table_nearest(Query *q)
{
    const Table *t = q->t;
    size_t at;
    double distance;
    if ((t->distance == DIST_EUCLIDEAN || t->distance == DIST_MANHATTAN) &&
        near_find(t, q->real, &at, &distance) && can_solve(q, at))
        return (Best){at, distance, t->speed[at]};
    return scan_in_order(q, lower_bound(q));
}

/* ---- Equality and GridBased ---- */

static Best table_equal(Query *q)
{
    size_t i = lower_bound(q);
    if (i < q->t->n && key_equal(q, i) && can_solve(q, i)) return (Best){i, 0, q->t->speed[i]};
    return none;
}

/* The first entry of [from, to) whose element d is not below v; the range is sorted by element d. */
static size_t lower_in(const Table *t, size_t from, size_t to, int d, int64_t v)
{
    while (from < to) {
        size_t mid = from + (to - from) / 2;
        if (key_at(t, mid)[d] < v)
            from = mid + 1;
        else
            to = mid;
    }
    return from;
}

static int64_t least_of(int64_t a, int64_t b) { return a < b ? a : b; }

static Best table_grid(Query *q)
{
    const Table *t = q->t;
    Best best = none;
    size_t n_lo = 0, n_hi = 0;
    while (n_hi < t->n && best.at == SIZE_MAX) { /* groups of equal (M, N), upward */
        size_t m_lo = lower_in(t, n_hi, t->n, 0, least_of(q->key[0], key_at(t, t->n - 1)[0]));
        size_t m_hi = lower_in(t, m_lo, t->n, 0, key_at(t, m_lo)[0] + 1);
        n_lo = lower_in(t, m_lo, m_hi, 1, least_of(q->key[1], key_at(t, m_hi - 1)[1]));
        n_hi = lower_in(t, n_lo, m_hi, 1, key_at(t, n_lo)[1] + 1);
        for (size_t i = n_lo; i < n_hi; i++) {
            double d = distance_to(q, i);
            if (d < best.distance && can_solve(q, i)) best = (Best){i, d, t->speed[i]};
        }
    }
    for (size_t i = n_lo; best.at == SIZE_MAX && i-- > 0;)
        if (can_solve(q, i)) best = (Best){i, distance_to(q, i), t->speed[i]};
    return best;
}

/* Whether the size has a row whose solution can run the problem. */
static bool has_row(Query *q)
{
    size_t i = lower_bound(q);
    return i < q->t->n && key_equal(q, i) && can_solve(q, i);
}

Err table_find(Library *lib, const Table *t, const Contraction *p, Selection *out)
{
    Query q;
    out->solution = NULL;
    if (t->n == 0) return ERR_OK;
    q.lib = lib;
    q.t = t;
    q.p = p;
    q.e = ERR_OK;
    for (int d = 0; d < t->n_dims; d++) {
        q.key[d] = property_value(&t->prop[d], p);
        q.real[d] = (double)q.key[d];
    }
    if (t->model && !(has_row(&q) && table_model_measured(t->model, p))) {
        TRY(table_model_find(lib, t, p, out));
        if (out->solution) return ERR_OK;
    }
    Best best = t->distance == DIST_EQUALITY ? table_equal(&q)
                : t->distance == DIST_GRID   ? table_grid(&q)
                                             : table_nearest(&q);
    if (q.e || best.at == SIZE_MAX) return q.e;
    out->why = key_equal(&q, best.at) ? WHY_EXACT : WHY_NEAREST;
    out->distance = out->why == WHY_EXACT ? 0 : best.distance;
    out->speed = best.speed;
    out->n_key = (uint8_t)(t->n_dims < 4 ? t->n_dims : 4);
    for (int d = 0; d < 4; d++) out->key[d] = d < t->n_dims ? key_at(t, best.at)[d] : 0;
    return solution_of(lib, t->chunk, t->solution[best.at], &out->solution);
}
