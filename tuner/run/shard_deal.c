/* Deals sizes to shards. See shard_deal.h. */
#include "run/shard_deal.h"

#include <math.h>
#include <stdlib.h>

/* STEPS_OF_OCTAVE: steps of the curve's grid within a factor of two. GRID_BITS: of each coordinate. */
enum { STEPS_OF_OCTAVE = 4, GRID_BITS = 8, BISECTIONS = 60 };

static uint64_t coordinate(int64_t v)
{
    const double x = log2(v < 1 ? 1 : (double)v) * STEPS_OF_OCTAVE;
    const uint64_t most = (1u << GRID_BITS) - 1;
    return x > (double)most ? most : (uint64_t)x;
}

/* Morton order: the interleaved bits of the three coordinates. */
static uint64_t place_of(const DealSize *s)
{
    const uint64_t v[3] = {coordinate(s->m), coordinate(s->n), coordinate(s->k)};
    uint64_t place = 0;
    for (int bit = GRID_BITS - 1; bit >= 0; bit--)
        for (int d = 0; d < 3; d++) place = place << 1 | (v[d] >> bit & 1);
    return place;
}

static int by_place(const void *a, const void *b)
{
    const DealSize *x = a, *y = b;
    if (x->group != y->group) return x->group < y->group ? -1 : 1;
    if (x->place != y->place) return x->place < y->place ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static int by_shard(const void *a, const void *b)
{
    const DealSize *x = a, *y = b;
    if (x->shard != y->shard) return x->shard < y->shard ? -1 : 1;
    if (x->group != y->group) return x->group < y->group ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* Within a group held-out sizes must not come first: they move after the first size that is not held out. */
static void held_out_follow(DealSize *size, size_t n)
{
    for (size_t from = 0, to; from < n; from = to) {
        size_t first = n;
        for (to = from; to < n && size[to].group == size[from].group; to++)
            if (first == n && !size[to].held_out) first = to;
        if (first == n || first == from) continue;
        const DealSize kept = size[first];
        for (size_t i = first; i > from; i--) size[i] = size[i - 1];
        size[from] = kept;
    }
}

/* A shard may begin with this size. */
static bool can_begin(const DealSize *size, size_t i) { return i == 0 || !size[i].held_out; }

/* Fills shards in order, none above the capacity, and begins a new one early enough that none is left empty.
 * False when more shards are needed. */
static bool fill(DealSize *size, size_t n, const double *setup, size_t n_shards, size_t n_begins,
                 double capacity)
{
    size_t shard = 0, begins_left = n_begins;
    double seconds = 0;
    for (size_t i = 0; i < n; i++) {
        const bool begins = can_begin(size, i);
        double more = size[i].seconds;
        if (i == 0 || size[i].group != size[i - 1].group) more += setup[size[i].group];
        const bool must = begins_left <= n_shards - 1 - shard; /* every further size begins a shard */
        if (i > 0 && begins && (must || seconds + more > capacity)) {
            if (shard + 1 < n_shards) {
                shard++;
                seconds = 0;
                more = size[i].seconds + setup[size[i].group];
            } else if (seconds + more > capacity) {
                return false;
            }
        }
        begins_left -= begins;
        seconds += more;
        size[i].shard = (int32_t)shard;
    }
    return shard + 1 == n_shards;
}

Err deal(DealSize *size, size_t n, const double *setup, size_t n_shards)
{
    double lo = 0, hi = 1;
    size_t n_begins = 0;
    for (size_t i = 0; i < n; i++) {
        size[i].place = place_of(&size[i]);
        n_begins += !size[i].held_out;
        hi += size[i].seconds + setup[size[i].group];
    }
    if (n_shards < 1 || n_begins < n_shards)
        FAIL(ERR_INPUT, "%zu shards: expected 1 to %zu, the number of sizes", n_shards, n_begins);
    qsort(size, n, sizeof *size, by_place);
    held_out_follow(size, n);
    for (int i = 0; i < BISECTIONS; i++) {
        const double mid = (lo + hi) / 2;
        if (fill(size, n, setup, n_shards, n_begins, mid))
            hi = mid;
        else
            lo = mid;
    }
    fill(size, n, setup, n_shards, n_begins, hi);
    qsort(size, n, sizeof *size, by_shard);
    return 0;
}

void deal_seconds(const DealSize *size, size_t n, const double *setup, double *seconds)
{
    for (size_t i = 0; i < n; i++) {
        const bool first = i == 0 || size[i].shard != size[i - 1].shard;
        if (first) seconds[size[i].shard] = 0;
        seconds[size[i].shard] += size[i].seconds;
        if (first || size[i].group != size[i - 1].group) seconds[size[i].shard] += setup[size[i].group];
    }
}
