/* Drawing held-out sizes. See held_out.h. */
#include "run/held_out.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TRIES = 200, LISTED_MAX = 10000 };

typedef struct {
    double lo[3], hi[3]; /* log2 of M, N, K */
    double flops, bytes; /* of the largest */
} Range3;

static double uniform(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(*state >> 11) / 9007199254740992.0;
}

static void size_of(const ProblemType *pt, const ProblemSize *s, double v[3])
{
    v[0] = (double)size_m(pt, s), v[1] = (double)size_n(pt, s), v[2] = (double)size_k(pt, s);
}

static double flops_of(const double v[3], double batch) { return v[0] * v[1] * v[2] * batch; }
static double bytes_of(const double v[3], double batch)
{
    return (v[0] * v[1] + v[1] * v[2] + v[0] * v[2]) * batch;
}

static Range3 range_of(const ProblemType *pt, const ProblemSize *given, size_t n)
{
    Range3 r = {{64, 64, 64}, {0, 0, 0}, 0, 0};
    for (size_t i = 0; i < n; i++) {
        double v[3], batch = (double)size_batch(pt, &given[i]);
        size_of(pt, &given[i], v);
        for (int d = 0; d < 3; d++) {
            r.lo[d] = fmin(r.lo[d], log2(v[d]));
            r.hi[d] = fmax(r.hi[d], log2(v[d]));
        }
        r.flops = fmax(r.flops, flops_of(v, batch));
        r.bytes = fmax(r.bytes, bytes_of(v, batch));
    }
    return r;
}

static bool is_in(const ProblemSize *s, const ProblemSize *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (problem_size_equal(s, &list[i])) return true;
    return false;
}

static int64_t rounded(double v, bool aligned, double hi)
{
    double step = !aligned ? 1 : hi >= 256 ? 32 : 8;
    double r = round(v / step) * step;
    return (int64_t)fmax(step, r);
}

/* The unbatched type has no batch index: [M, N, K]. */
static bool make_size(const ProblemType *pt, const int64_t v[3], int64_t batch, ProblemSize *out)
{
    const int64_t batched[] = {v[0], v[1], batch, v[2]}, plain[] = {v[0], v[1], v[2]};
    bool ok = pt->TotalIndices == 4   ? !problem_size_from_ints(pt, batched, 4, out)
              : pt->TotalIndices == 3 ? !problem_size_from_ints(pt, plain, 3, out)
                                      : false;
    if (!ok) err_clear();
    return ok;
}

bool held_out_is_aligned(const ProblemType *pt, const ProblemSize *s)
{
    return ((size_m(pt, s) | size_n(pt, s) | size_k(pt, s)) & 7) == 0;
}

/* Any of n. */
static size_t among(uint64_t *state, size_t n) { return (size_t)(uniform(state) * (double)n); }

/* Accepts a size unless it is larger than the largest one, or there already. */
static bool accept(const ProblemType *pt, const Range3 *r, const int64_t v[3], int64_t batch,
                   const ProblemSize *given, size_t n_given, ProblemSize *out, size_t made, bool *is_size)
{
    const double real[3] = {(double)v[0], (double)v[1], (double)v[2]};
    *is_size = true;
    if (flops_of(real, (double)batch) > r->flops || bytes_of(real, (double)batch) > r->bytes) return false;
    *is_size = make_size(pt, v, batch, &out[made]);
    return *is_size && !is_in(&out[made], given, n_given) && !is_in(&out[made], out, made);
}

/* M, N, K and the batch count of the next size to try. */
typedef int64_t Propose(const ProblemType *pt, const Range3 *r, const ProblemSize *given, size_t n_given,
                        bool aligned, uint64_t *state, int64_t v[3]);

static int64_t anywhere(const ProblemType *pt, const Range3 *r, const ProblemSize *given, size_t n_given,
                        bool aligned, uint64_t *state, int64_t v[3])
{
    const int64_t batch = size_batch(pt, &given[among(state, n_given)]);
    for (int d = 0; d < 3; d++)
        v[d] = rounded(exp2(r->lo[d] + (r->hi[d] - r->lo[d]) * uniform(state)), aligned, exp2(r->hi[d]));
    return batch;
}

static int64_t mixed(const ProblemType *pt, const Range3 *r, const ProblemSize *given, size_t n_given,
                     bool aligned, uint64_t *state, int64_t v[3])
{
    const ProblemSize *from[4];
    (void)r, (void)aligned;
    for (int d = 0; d < 4; d++) from[d] = &given[among(state, n_given)];
    v[0] = size_m(pt, from[0]), v[1] = size_n(pt, from[1]), v[2] = size_k(pt, from[2]);
    return size_batch(pt, from[3]);
}

/* of: the first of every so many sizes is aligned, the others are not; 0: as it comes. */
static size_t draw(const ProblemType *pt, const ProblemSize *given, size_t n_given, uint64_t seed, size_t n,
                   Propose *propose, size_t of, ProblemSize *out)
{
    const Range3 r = range_of(pt, given, n_given);
    size_t made = 0;
    bool is_size = true;
    uint64_t state = seed;
    for (size_t try = 0; n_given && is_size && made < n && try < n * TRIES; try++) {
        const bool aligned = of && made % of == 0;
        int64_t v[3];
        const int64_t batch = propose(pt, &r, given, n_given, aligned, &state, v);
        if (accept(pt, &r, v, batch, given, n_given, out, made, &is_size))
            made += !of || held_out_is_aligned(pt, &out[made]) == aligned;
    }
    return made;
}

size_t held_out_draw(const ProblemType *pt, const ProblemSize *given, size_t n_given, uint64_t seed, size_t n,
                     size_t of, ProblemSize *out)
{
    return draw(pt, given, n_given, seed, n, anywhere, of, out);
}

size_t held_out_mix(const ProblemType *pt, const ProblemSize *given, size_t n_given, uint64_t seed, size_t n,
                    ProblemSize *out)
{
    return draw(pt, given, n_given, seed, n, mixed, 0, out);
}

/* ---- groups ---- */

static bool is_of_type(const Group *g, const ProblemType *pt)
{
    return !g->skip && !g->given_up && g->n_sizes && problem_type_equal(&g->problem->pt, pt);
}

static size_t number_of(const Run *r, size_t n_given)
{
    int64_t n = r->config->globals.HeldOutSizes;
    if (n != HELD_OUT_AUTO) return (size_t)n;
    if (n_given < HELD_OUT_SIZES) return 0;
    return n_given / 10 > HELD_OUT_LEAST ? n_given / 10 : HELD_OUT_LEAST;
}

static Err group_append(Run *r, Group *g, const ProblemSize *more, size_t n)
{
    ProblemSize *all = ARENA_ARRAY(&r->arena, g->n_sizes + n, ProblemSize);
    TRY_ALLOC(all);
    memcpy(all, g->size, g->n_sizes * sizeof *all);
    memcpy(all + g->n_sizes, more, n * sizeof *all);
    g->size = all;
    g->n_sizes += n;
    g->n_held_out = n;
    return ERR_OK;
}

/* The sizes that all groups of a problem type have. */
typedef struct {
    ProblemSize *given; /* by the config, to be tuned */
    ProblemSize *out;   /* held out */
    size_t n_given, n_out;
} TypeSizes;

static Err given_collect(Run *r, size_t first, TypeSizes *t)
{
    const ProblemType *pt = &r->group[first].problem->pt;
    size_t n = 0;
    for (size_t i = first; i < r->n_groups; i++) n += is_of_type(&r->group[i], pt) ? r->group[i].n_sizes : 0;
    TRY_ALLOC(t->given = ARENA_ARRAY(&r->arena, n + 1, ProblemSize));
    for (size_t i = first; i < r->n_groups; i++) {
        const Group *g = &r->group[i];
        if (!is_of_type(g, pt)) continue;
        memcpy(t->given + t->n_given, g->size, g->n_sizes * sizeof *t->given);
        t->n_given += g->n_sizes;
    }
    return ERR_OK;
}

/* The sizes of a list of the config, but those that are tuned. */
static Err list_take(Run *r, const SizeGroup *c, TypeSizes *t)
{
    ProblemSize *list, *all;
    size_t n, n_tuned = 0, example = 0;
    TRY(problem_sizes_list(&r->arena, &c->held_out, LISTED_MAX, &list, &n));
    TRY_ALLOC(all = ARENA_ARRAY(&r->arena, t->n_out + n + 1, ProblemSize));
    if (t->n_out) memcpy(all, t->out, t->n_out * sizeof *all);
    t->out = all;
    for (size_t i = 0; i < n; i++) {
        const bool tuned = is_in(&list[i], t->given, t->n_given);
        if (tuned && !n_tuned++) example = i;
        if (!tuned && !is_in(&list[i], t->out, t->n_out)) t->out[t->n_out++] = list[i];
    }
    if (!n_tuned) return ERR_OK;
    Buf text;
    buf_init(&text);
    problem_size_print(&list[example], &text);
    warning("%s:%d: HeldOutSizes: %zu of %zu sizes are tuned too, as %s: they are not held out",
            r->config->path, c->held_out_line, n_tuned, n, buf_cstr(&text));
    buf_fini(&text);
    return ERR_OK;
}

static Err lists_take(Run *r, size_t first, TypeSizes *t, bool *any)
{
    const ProblemType *pt = &r->group[first].problem->pt;
    *any = false;
    for (size_t i = first; i < r->n_groups; i++) {
        if (!is_of_type(&r->group[i], pt) || !r->group[i].config->held_out_line) continue;
        *any = true;
        TRY(list_take(r, r->group[i].config, t));
    }
    return ERR_OK;
}

static Err sizes_draw(Run *r, size_t first, TypeSizes *t)
{
    const ProblemType *pt = &r->group[first].problem->pt;
    const size_t wanted = number_of(r, t->n_given);
    TRY_ALLOC(t->out = ARENA_ARRAY(&r->arena, wanted + 1, ProblemSize));
    t->n_out = held_out_draw(pt, t->given, t->n_given, problem_type_hash(pt), wanted, 2, t->out);
    if (t->n_out < wanted)
        warning("%s:%d: HeldOutSizes %zu, but the range of the sizes has only %zu others", r->config->path,
                r->group[first].config->line, wanted, t->n_out);
    return ERR_OK;
}

static Err type_add(Run *r, size_t first)
{
    const ProblemType *pt = &r->group[first].problem->pt;
    TypeSizes t = {0};
    bool listed;
    TRY(given_collect(r, first, &t));
    TRY(lists_take(r, first, &t, &listed));
    if (!listed) TRY(sizes_draw(r, first, &t));
    const size_t made = t.n_out;
    for (size_t i = first; made && i < r->n_groups; i++)
        if (is_of_type(&r->group[i], pt)) TRY(group_append(r, &r->group[i], t.out, made));
    return ERR_OK;
}

void held_out_deal(const uint32_t *order, size_t n_own, size_t n_held, uint32_t *out)
{
    size_t n = 0, own = 0, held = 0;
    for (size_t i = 0; i < n_own + n_held; i++) {
        const uint32_t z = order ? order[i] : (uint32_t)i;
        if (z >= n_own) continue;
        out[n++] = z;
        own++;
        for (; held < n_held && (held + 1) * n_own <= own * n_held; held++)
            out[n++] = (uint32_t)(n_own + held);
    }
}

Err held_out_add(Run *r)
{
    for (size_t i = 0; i < r->n_groups; i++) {
        const ProblemType *pt = &r->group[i].problem->pt;
        bool first = is_of_type(&r->group[i], pt) && problem_is_gemm(pt);
        for (size_t k = 0; first && k < i; k++) first = !is_of_type(&r->group[k], pt);
        if (first) TRY(type_add(r, i));
    }
    return ERR_OK;
}
