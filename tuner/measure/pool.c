/* The candidates of a space. See pool.h. */
#include "measure/pool.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/random.h"
#include "base/spread.h"

/* Spaces with fewer permutations are enumerated by this process alone, with Fork, which needs no table of all
 * candidates. */
enum { SMALL = 1 << 15 };

/* A Feistel network of four rounds over the next even number of bits; values beyond size are mapped again
 * until they fall inside (cycle walking, Black and Rogaway 2002). */
int64_t pool_shuffle(int64_t i, int64_t size, uint64_t seed)
{
    unsigned half = 1;
    while (half < 31 && (INT64_C(1) << (2 * half)) < size) half++;
    const uint64_t mask = (UINT64_C(1) << half) - 1;
    uint64_t x = (uint64_t)i;
    do {
        uint64_t left = x >> half, right = x & mask;
        for (uint64_t round = 0; round < 4; round++) {
            uint64_t next = left ^ (random_at(right ^ seed ^ (round << 56), 0) & mask);
            left = right;
            right = next;
        }
        x = left << half | right;
    } while (x >= (uint64_t)size);
    return (int64_t)x;
}

bool pool_is_whole(const Pool *p) { return !p->drawn && p->keep_below == UINT64_MAX; }

bool pool_get(const Pool *p, int64_t permutation, Solution *out, Hash128 *hash)
{
    Verdict v;
    space_get(p->space, permutation, out);
    if (!solution_derive(p->deriver, out, &v)) return false;
    *hash = solution_hash(out);
    return true;
}

static bool derives_to(const Pool *p, int64_t permutation, Hash128 hash)
{
    Solution s;
    Hash128 of;
    return pool_get(p, permutation, &s, &of) && of.lo == hash.lo && of.hi == hash.hi;
}

/* Lists the choices of a dimension that pool_find looks at, the likeliest first. */
static size_t likely(const Space *sp, size_t d, const Solution *s, int64_t *out)
{
    const size_t all = sp->dim.v[d].choice.n;
    const int64_t held = space_choice(sp, d, s);
    size_t n = 0, most = 0;
    if (sp->dim.v[d].param != PARAM_COUNT) {
        for (size_t k = 0; k < all; k++) out[n++] = (int64_t)((k + (size_t)(held > 0 ? held : 0)) % all);
        return n;
    }
    for (size_t k = 0; k < all; k++) {
        const size_t equal = space_choice_equal(sp, d, k, s);
        if (equal > most) most = equal, n = 0;
        if (equal == most) out[n++] = (int64_t)k;
    }
    return n;
}

static int64_t find_among(const Pool *p, const int64_t *list, const size_t *n, size_t all, Hash128 hash)
{
    for (size_t i = 0; i < all; i++) {
        int64_t permutation = 0, step = 1;
        size_t rest = i, from = 0;
        for (size_t d = 0; d < p->space->dim.n; d++) {
            permutation += list[from + rest % n[d]] * step;
            rest /= n[d];
            from += n[d];
            step *= (int64_t)p->space->dim.v[d].choice.n;
        }
        if (derives_to(p, permutation, hash)) return permutation;
    }
    return -1;
}

int64_t pool_find(const Pool *p, const Solution *s, Hash128 hash)
{
    const Space *sp = p->space;
    const int64_t same = space_find(sp, s);
    size_t choices = 0, all = 1, at = 0;
    if (same >= 0 && derives_to(p, same, hash)) return same;
    for (size_t d = 0; d < sp->dim.n; d++) choices += sp->dim.v[d].choice.n;
    int64_t *list = malloc((choices + 1) * sizeof *list), found = -1;
    size_t *n = malloc((sp->dim.n + 1) * sizeof *n);
    for (size_t d = 0; list && n && d < sp->dim.n; d++) {
        n[d] = likely(sp, d, s, &list[at]);
        at += n[d];
        all = n[d] && all <= POOL_FINDS / n[d] ? all * n[d] : POOL_FINDS + 1;
    }
    if (list && n && all <= POOL_FINDS) found = find_among(p, list, n, all, hash);
    free(list);
    free(n);
    return found;
}

void pool_choices(const Pool *p, int64_t permutation, uint32_t *choice)
{
    for (size_t d = 0; d < p->space->dim.n; d++) {
        const int64_t n = (int64_t)p->space->dim.v[d].choice.n;
        choice[d] = (uint32_t)(permutation % n);
        permutation /= n;
    }
}

/* The largest step along the list of a dimension to a neighbour. */
static size_t reach(const Dimension *d)
{
    enum { SHORT = 4, NUMBERS = 2 };
    if (d->choice.n <= SHORT) return SHORT;
    if (d->param == PARAM_COUNT) return POOL_STEPS / 2;
    const uint8_t kind = param_at(d->param)->kind;
    return kind == KIND_INT || kind == KIND_FLOAT ? NUMBERS : POOL_STEPS / 2;
}

size_t pool_neighbours_max(const Pool *p) { return p->space->dim.n * POOL_STEPS; }

size_t pool_neighbours(const Pool *p, int64_t permutation, int64_t *out, size_t max)
{
    size_t n = 0;
    int64_t step = 1, rest = permutation;
    for (size_t d = 0; d < p->space->dim.n; d++) {
        const Dimension *dim = &p->space->dim.v[d];
        const int64_t values = (int64_t)dim->choice.n, at = rest % values, far = (int64_t)reach(dim);
        for (int64_t c = at > far ? at - far : 0; c < values && c <= at + far && n < max; c++)
            if (c != at) out[n++] = permutation + (c - at) * step;
        rest /= values;
        step *= values;
    }
    return n;
}

/* Removes the items above the halved threshold: each item stays with the same probability. */
static void thin(Pool *p)
{
    size_t kept = 0;
    p->keep_below /= 2;
    for (size_t i = 0; i < p->n; i++)
        if (random_at((uint64_t)p->item[i], 0) < p->keep_below) p->item[kept++] = p->item[i];
    p->n = kept;
}

static Err item_add(Pool *p, int64_t permutation)
{
    if (p->keep_below != UINT64_MAX && random_at((uint64_t)permutation, 0) >= p->keep_below) return 0;
    if (p->n == p->cap) {
        size_t cap = p->cap ? p->cap * 2 : 1024;
        int64_t *more = realloc(p->item, cap * sizeof *more);
        if (!more) FAIL(ERR_FAILED, "out of memory for %zu candidates", cap);
        p->item = more;
        p->cap = cap;
    }
    p->item[p->n++] = permutation;
    if (p->n == POOL_ITEMS) thin(p);
    return 0;
}

static void rejection_note(Pool *p, const Verdict *v)
{
    if (p->example[v->rule].rule == RULE_NONE) p->example[v->rule] = *v;
}

static Err enumerate(Pool *p, PoolCheckFn *check)
{
    Fork fork;
    bool more = true, kept;
    Err e = fork_init(&fork, p->space, p->deriver);
    while (!e && !(e = fork_step(&fork, &more, &kept)) && more) {
        if (kept)
            e = item_add(p, fork.p);
        else if (fork.verdict.rule != RULE_NONE)
            rejection_note(p, &fork.verdict);
        if (!e && check && (++p->n_looks & 0xfff) == 0) e = check();
    }
    p->n_looks = (uint64_t)p->size;
    p->rules = fork.counts;
    p->n_duplicates = fork.n_duplicates;
    fork_fini(&fork);
    return e;
}

/* ---- large spaces: all processors derive parts of the permutations ---- */

enum { PART_LOOKS = 1 << 14 };

typedef struct {
    int64_t permutation;
    Hash128 hash;
} Looked;

typedef struct {
    RuleCounts rules;
    Verdict example[RULE_COUNT];
    size_t n;
    Looked valid[PART_LOOKS];
} LookPart;

typedef struct {
    const Pool *p;
    uint64_t n_looks;
    LookPart *part;
} Looks;

/* The i-th permutation that is derived. */
static int64_t look_at(const Pool *p, uint64_t i)
{
    return p->drawn ? pool_shuffle((int64_t)i, p->size, 1) : (int64_t)i;
}

static Err look_part(void *ctx, size_t part)
{
    const Looks *x = ctx;
    LookPart *out = &x->part[part];
    Solution s;
    Verdict v;
    out->n = 0;
    out->rules = (RuleCounts){0};
    memset(out->example, 0, sizeof out->example);
    uint64_t i = (uint64_t)part * PART_LOOKS, end = i + PART_LOOKS;
    for (; i < end && i < x->n_looks; i++) {
        const int64_t permutation = look_at(x->p, i);
        space_get(x->p->space, permutation, &s);
        solution_derive(x->p->deriver, &s, &v);
        out->rules.n[v.rule]++;
        if (v.rule == RULE_NONE)
            out->valid[out->n++] = (Looked){permutation, solution_hash(&s)};
        else if (out->example[v.rule].rule == RULE_NONE)
            out->example[v.rule] = v;
    }
    return ERR_OK;
}

static Err part_take(Pool *p, const LookPart *part, Map *seen)
{
    for (int r = 0; r < RULE_COUNT; r++) {
        p->rules.n[r] += part->rules.n[r];
        if (part->example[r].rule != RULE_NONE) rejection_note(p, &part->example[r]);
    }
    for (size_t i = 0; i < part->n; i++) {
        const Looked *x = &part->valid[i];
        bool added;
        if (!map_put(seen, (Str){(const char *)&x->hash, sizeof x->hash}, &added))
            FAIL(ERR_FAILED, "out of memory for %zu candidates", seen->n);
        if (!added)
            p->n_duplicates++;
        else
            TRY(item_add(p, x->permutation));
    }
    return ERR_OK;
}

static Err parts_take(Pool *p, const Looks *x, size_t n_parts, PoolCheckFn *check)
{
    Map seen;
    Err e = 0;
    map_init(&seen);
    for (size_t i = 0; !e && i < n_parts; i++) {
        e = part_take(p, &x->part[i], &seen);
        if (!e && check) e = check();
    }
    map_fini(&seen);
    return e;
}

static Err idle_check(void *check)
{
    PoolCheckFn *const *fn = check;
    return *fn ? (*fn)() : ERR_OK;
}

/* Derives all permutations, or POOL_DRAWN drawn ones. Equal candidates have equal hashes. */
static Err look(Pool *p, uint64_t most, PoolCheckFn *check)
{
    p->drawn = p->size > POOL_LOOKS || (uint64_t)p->size > most;
    Looks x = {.p = p, .n_looks = !p->drawn ? (uint64_t)p->size : most < POOL_DRAWN ? most : POOL_DRAWN};
    const size_t n_parts = (size_t)((x.n_looks + PART_LOOKS - 1) / PART_LOOKS);
    const size_t bytes = n_parts * sizeof *x.part;
    p->n_looks = x.n_looks;
    x.part = spread_alloc(bytes);
    if (!x.part) FAIL(ERR_FAILED, "out of memory for %zu permutations", (size_t)x.n_looks);
    const Spread s = {.n = n_parts, .part = look_part, .ctx = &x, .idle = idle_check, .idle_ctx = &check};
    Err e = spread_run(&s);
    if (!e) e = parts_take(p, &x, n_parts, check);
    spread_free(x.part, bytes);
    return e;
}

Err pool_init(Pool *p, const Space *space, const Deriver *deriver, PoolCheckFn *check)
{
    return pool_init_some(p, space, deriver, UINT64_MAX, check);
}

Err pool_init_some(Pool *p, const Space *space, const Deriver *deriver, uint64_t most, PoolCheckFn *check)
{
    *p = (Pool){.space = space, .deriver = deriver, .keep_below = UINT64_MAX};
    TRY(space_size(space, &p->size));
    if (p->size == 0) return 0;
    return p->size < SMALL ? enumerate(p, check) : look(p, most, check);
}

void pool_fini(Pool *p)
{
    free(p->item);
    p->item = NULL;
    p->n = p->cap = 0;
}

void pool_identity(const Space *space, Buf *out)
{
    solution_name_full(&space->base, out);
    buf_putc(out, '\n');
    for (size_t d = 0; d < space->dim.n; d++) {
        const Dimension *dim = &space->dim.v[d];
        buf_printf(out, "dimension %d:", (int)dim->param);
        for (size_t c = 0; c < dim->choice.n; c++) {
            const Choice *choice = &dim->choice.v[c];
            const char *from = choice->bytes;
            Solution s = space->base;
            for (size_t i = 0; i < choice->n_set; i++) {
                const Param *p = param_at(choice->set[i]);
                memcpy(solution_field(&s, p), from, param_size(p));
                from += param_size(p);
                buf_printf(out, "%s%s=", i ? "," : " ", p->name);
                param_print(p, &s, out);
            }
        }
        buf_putc(out, '\n');
    }
}
