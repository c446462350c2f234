/* Counting of the rows and columns of tiles that work-groups share. See traffic.h. */
#include "problem/traffic.h"

#include "base/integer.h"

/* ---- sets of tiles along one dimension ---- */

/* Spans from .. to - 1. A full set is merged; spans for which there is no room after that are counted as if
 * they overlapped no other. */
enum { SPANS_MAX = 512 };
typedef struct {
    int64_t from, to;
} Span;
typedef struct {
    int n;
    int64_t overflow;
    Span span[SPANS_MAX];
} SpanSet;

/* Sorts the spans and joins those that touch. */
static void span_merge(SpanSet *s)
{
    for (int i = 1; i < s->n; i++) {
        const Span x = s->span[i];
        int at = i;
        for (; at > 0 && s->span[at - 1].from > x.from; at--) s->span[at] = s->span[at - 1];
        s->span[at] = x;
    }
    int n = 0;
    for (int i = 0; i < s->n; i++) {
        Span *last = &s->span[n - 1];
        if (n && s->span[i].from <= last->to)
            last->to = s->span[i].to > last->to ? s->span[i].to : last->to;
        else
            s->span[n++] = s->span[i];
    }
    s->n = n;
}

static void span_add(SpanSet *s, int64_t from, int64_t to)
{
    if (s->n && s->span[s->n - 1].from <= from && from <= s->span[s->n - 1].to) { /* the usual case */
        if (to > s->span[s->n - 1].to) s->span[s->n - 1].to = to;
        return;
    }
    if (s->n == SPANS_MAX) span_merge(s);
    if (s->n == SPANS_MAX)
        s->overflow += to - from;
    else
        s->span[s->n++] = (Span){from, to};
}

static int64_t span_count(SpanSet *s)
{
    int64_t sum = s->overflow;
    if (s->n > 1) span_merge(s);
    for (int i = 0; i < s->n; i++) sum += s->span[i].to - s->span[i].from;
    return sum;
}

/* ---- runs of mapped ids ---- */

/* Division of numbers below 2^52 by an invariant divisor: a product with its inverse, corrected by one. */
typedef struct {
    int64_t by;
    double inverse;
} Divisor;

static Divisor divisor(int64_t by) { return (Divisor){by, 1.0 / (double)by}; }

static inline int64_t divide(int64_t x, Divisor d)
{
    const int64_t q = (int64_t)((double)x * d.inverse), rest = x - q * d.by;
    return rest < 0 ? q - 1 : rest >= d.by ? q + 1 : q;
}

/* An order on a grid. */
typedef struct {
    const TrafficGrid *g;
    const Mapping *m;
    int64_t n, tiles, across_tiles;   /* along the dimension of the bands, and across */
    int64_t last_first;               /* first tile of the band that is narrower; tiles: there is none */
    Divisor width, last, band;        /* tiles along of a band, of the narrower one; ids of a band */
    double along_bytes, across_bytes; /* of a row or column of tiles */
    int64_t size, moved;              /* ids that are regrouped together; ids from `moved` on stay */
} Order;

typedef struct {
    const Order *o;
    int64_t id, n; /* a run of step 1 that is not in the sets yet */
    SpanSet along, across;
} Counter;

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

static void order_init(Order *o, const TrafficGrid *g, const Mapping *m)
{
    const int64_t round = (int64_t)m->dies * m->chunk; /* ids in which each die gets one chunk */
    o->g = g, o->m = m;
    o->tiles = g->dim ? g->tiles_n : g->tiles_m;
    o->across_tiles = g->dim ? g->tiles_m : g->tiles_n;
    o->along_bytes = g->dim ? g->bytes_n : g->bytes_m;
    o->across_bytes = g->dim ? g->bytes_m : g->bytes_n;
    o->n = o->tiles * o->across_tiles;
    o->width = divisor(least(m->wgm, o->tiles));
    o->band = divisor(o->width.by * o->across_tiles);
    o->last_first = divide(o->tiles, o->width) * o->width.by;
    o->last = divisor(o->last_first < o->tiles ? o->tiles - o->last_first : o->width.by);
    o->size = round ? round : m->group ? m->group : o->n;
    o->moved = round ? o->n / round * round : o->n / m->dies * m->dies;
}

static inline const Divisor *width_at(const Order *o, int64_t first)
{
    return first < o->last_first ? &o->width : &o->last;
}

/* Rows and columns as they lie along and across the bands. */
typedef struct {
    int64_t along, across;
} BandSet;

/* The set of ids id to id + n - 1 alone: they lie within one band, in two consecutive ones, or in more. */
static BandSet run_alone(const Order *o, int64_t id, int64_t n)
{
    const int64_t end = id + n - 1, band = divide(id, o->band), band_end = divide(end, o->band);
    const int64_t serial = id - band * o->band.by, serial_end = end - band_end * o->band.by;
    const Divisor *wide = width_at(o, band * o->width.by), *wide_end = width_at(o, band_end * o->width.by);
    const int64_t from = divide(serial, *wide), to = divide(serial_end, *wide_end) + 1;
    int64_t along, across;
    if (band == band_end) {
        along = least(n, wide->by), across = to - from;
    } else {
        const int64_t left = wide->by * o->across_tiles - serial;
        along =
            least(left, wide->by) + (band_end - band - 1) * o->width.by + least(serial_end + 1, wide_end->by);
        across = band_end > band + 1 || from <= to ? o->across_tiles : o->across_tiles - from + to;
    }
    return (BandSet){along, across};
}

/* Ids serial, serial + step, .. of a band that is `wide` tiles wide and begins at tile `first`: n of them. */
static void band_run(Counter *c, int64_t first, int64_t wide, int64_t serial, int64_t step, int64_t n)
{
    const int64_t last = serial + (n - 1) * step, a = serial / wide, b = last / wide;
    if (step <= wide)
        span_add(&c->across, a, b + 1);
    else
        for (int64_t k = 0; k < n; k++) {
            const int64_t at = (serial + k * step) / wide;
            span_add(&c->across, at, at + 1);
        }
    if (step == 1 && n < wide) {
        const int64_t from = first + serial - a * wide, to = first + last - b * wide + 1;
        if (a == b) {
            span_add(&c->along, from, to);
        } else {
            span_add(&c->along, from, first + wide);
            span_add(&c->along, first, to);
        }
    } else if (step == 1 || wide == 1) {
        span_add(&c->along, first, first + wide);
    } else {
        const int64_t different = least(n, wide / int_gcd(step, wide));
        for (int64_t k = 0; k < different; k++) {
            const int64_t at = first + (serial + k * step) % wide;
            span_add(&c->along, at, at + 1);
        }
    }
}

static void add_run(Counter *c, int64_t id, int64_t step, int64_t n)
{
    const Order *o = c->o;
    while (n > 0) {
        const int64_t band = divide(id, o->band), first = band * o->width.by;
        const int64_t wide = width_at(o, first)->by, serial = id - band * o->band.by;
        const int64_t in_band = least(n, (wide * o->across_tiles - serial + step - 1) / step);
        band_run(c, first, wide, serial, step, in_band);
        id += in_band * step;
        n -= in_band;
    }
}

/* Mapped ids id, id + step, ..: n of them. The first run waits, as it may be the only one. */
static void run(Counter *c, int64_t id, int64_t step, int64_t n)
{
    if (n <= 0) return;
    if (c->n < 0 && step == 1) {
        c->id = id, c->n = n;
        return;
    }
    if (c->n > 0) add_run(c, c->id, 1, c->n);
    c->n = 0;
    add_run(c, id, step, n);
}

/* How many of u, u + step, .. are below `to`; u < to. */
static inline int64_t steps_to(int64_t u, int64_t to, int64_t step)
{
    return step == 1 ? to - u : (to - u + step - 1) / step;
}

/* Ids u, u + step, .. below `to`, where step is a multiple of the dies of the order: all of one die of it. */
static void die_run(Counter *c, int64_t u, int64_t to, int64_t step)
{
    const Order *o = c->o;
    const int64_t x = o->m->dies, die = u % x;
    if (!o->m->chunk && !o->m->group) {
        const int64_t rest = o->n - o->moved, base = die * (o->moved / x) + least(die, rest);
        if (u < to) run(c, base + u / x, step / x, steps_to(u, to, step));
        return;
    }
    while (u < to && u < o->moved) {
        const int64_t from = u / o->size * o->size, end = least(least(from + o->size, o->moved), to);
        const int64_t share = o->m->chunk ? o->m->chunk : least(o->n - from, o->size) / x;
        const int64_t n = steps_to(u, end, step);
        run(c, from + (u - from) / x + die * share, step / x, n);
        u += n * step;
    }
    if (u < to) run(c, u, step, steps_to(u, to, step));
}

/* As traffic_set. */
static BandSet order_set(const Order *o, int64_t from, int64_t to, int32_t dies, int32_t die)
{
    Counter c;
    c.o = o, c.n = -1;
    c.along.n = c.across.n = 0;
    c.along.overflow = c.across.overflow = 0;
    to = least(to, o->n);
    const int64_t stride = die < 0 ? 1 : dies, x = o->m->dies;
    int64_t u = from;
    if (die >= 0) u += (die - from % dies + dies) % dies;
    if (x == 1) {
        if (u < to) run(&c, u, stride, steps_to(u, to, stride));
    } else {
        const int64_t step = stride == x ? x : stride / int_gcd(stride, x) * x;
        for (int64_t k = u; k < u + step && k < to; k += stride) die_run(&c, k, to, step);
    }
    if (c.n > 0) return run_alone(o, c.id, c.n);
    return (BandSet){span_count(&c.along), span_count(&c.across)};
}

static TrafficSet rows_and_columns(const Order *o, BandSet s)
{
    return o->g->dim ? (TrafficSet){s.across, s.along} : (TrafficSet){s.along, s.across};
}

TrafficSet traffic_set(const TrafficGrid *g, const Mapping *m, int64_t from, int64_t to, int32_t dies,
                       int32_t die)
{
    Order o;
    order_init(&o, g, m);
    return rows_and_columns(&o, order_set(&o, from, to, dies, die));
}

/* ---- sums ---- */

static void add_set(const Order *o, double sum[2], BandSet set, double times)
{
    const TrafficSet s = rows_and_columns(o, set);
    sum[0] += times * (double)s.rows;
    sum[1] += times * (double)s.columns;
}

static double set_bytes(const Order *o, BandSet s)
{
    return (double)s.along * o->along_bytes + (double)s.across * o->across_bytes;
}

/* Lines of the cache that n distinct rows or columns take, which `ids` work-groups read: each half of the
 * cache has a copy of what work-groups beside it read, besides the half that a line belongs to. Of r readers
 * that is 2 - 2^-r lines for each, and nearly this. */
static double copies(double n, double ids) { return n * (2 - n * n / (n * n + ids * ids)); }

/* What is in the cache after n ids, which read `set`: with copies, and the tiles of D. */
static double footprint(const Order *o, BandSet set, int64_t n)
{
    const double ids = (double)n;
    return copies((double)set.along, ids) * o->along_bytes +
           copies((double)set.across, ids) * o->across_bytes + ids * o->g->bytes_tile;
}

/* The part of what was read before `bytes` others that the cache still holds. */
static double held_part(const TrafficDevice *d, double bytes)
{
    const double part = (d->gone_bytes - bytes) / (d->gone_bytes - d->held_bytes);
    return part < 0 ? 0 : part > 1 ? 1 : part;
}

/* The bytes of `set`, which the wave of n ids from `from` on reads, that the cache holds of earlier waves. */
static double held_of(const TrafficDevice *d, const Order *o, int64_t from, int64_t n, BandSet set)
{
    enum { WAVES = 16 };
    const double bytes = set_bytes(o, set);
    double held = 0, shared = 0; /* with the waves from `first` on */
    int64_t first = from;
    for (int i = 0; i < WAVES && first >= d->cus && shared < bytes; i++) {
        first -= d->cus;
        if ((double)(from - first) * o->g->bytes_tile >= d->gone_bytes) break;
        const BandSet before = order_set(o, first, from, 1, -1);
        const double part = held_part(d, footprint(o, before, from - first));
        if (part <= 0) break;
        const double now = bytes + set_bytes(o, before) - set_bytes(o, order_set(o, first, from + n, 1, -1));
        held += part * (now - shared);
        shared = now;
    }
    return held;
}

/* The part that is read again of what two work-groups share whose ids differ by `distance`, in a wave that
 * reads `bytes`. Work-groups FAR ids apart are as much out of step as any. */
static double read_again_part(const TrafficDevice *d, double distance, double bytes)
{
    static const double FAR = 32;
    const double part = d->apart_rate * (bytes - d->apart_bytes) * (distance < FAR ? distance / FAR : 1);
    return part < 0 ? 0 : part > 1 ? 1 : part;
}

/* Bytes that the wave of n ids, which has `set`, reads again because its work-groups are not in step. In a
 * band `width` neighbours share what lies across it, and each `width`-th id what lies along it; bands share
 * what lies across them. */
static double read_again(const TrafficDevice *d, const Order *o, BandSet set, int64_t n)
{
    const double bytes = set_bytes(o, set), width = (double)o->width.by, ids = (double)n;
    double columns = ids / width; /* of all bands */
    if (columns < (double)set.across) columns = (double)set.across;
    return ((ids - (double)set.along) * read_again_part(d, width, bytes)) * o->along_bytes +
           ((ids - columns) * read_again_part(d, 1, bytes) +
            (columns - (double)set.across) * read_again_part(d, (double)o->band.by, bytes)) *
               o->across_bytes;
}

/* Bytes that a GPU with one die reads from memory in the wave of n ids from `from` on, which has `set`. */
static double wave_reads(const TrafficDevice *d, const Order *o, int64_t from, int64_t n, BandSet set)
{
    return set_bytes(o, set) - held_of(d, o, from, n, set) + read_again(d, o, set, n);
}

typedef struct {
    double l2[2], llc[2], reads;
} Sums;

/* Adds ids from .. from + cus - 1. one_die: it stands for the others. */
static void add_wave(const TrafficDevice *d, const Order *o, int64_t from, bool one_die, Sums *sum)
{
    const int64_t to = least(from + d->cus, o->n);
    if (d->dies <= 1) {
        const BandSet set = order_set(o, from, to, 1, -1);
        add_set(o, sum->llc, set, 1);
        if (d->held_bytes > 0) sum->reads += wave_reads(d, o, from, to - from, set);
        return;
    }
    if (o->m->group ==
        d->cus) { /* regrouping keeps ids within the wave, so that all dies read the same set */
        Mapping stays = *o->m;
        Order alike = *o;
        stays.dies = 1, stays.group = 0;
        alike.m = &stays;
        add_set(o, sum->llc, order_set(&alike, from, to, 1, -1), 1);
    } else {
        add_set(o, sum->llc, order_set(o, from, to, 1, -1), 1);
    }
    for (int32_t die = one_die ? d->dies - 1 : 0; die < d->dies; die++)
        add_set(o, sum->l2, order_set(o, from, to, d->dies, die), one_die ? d->dies : 1);
}

Traffic traffic_count(const TrafficDevice *d, const TrafficGrid *g, const Mapping *m, int64_t most_waves)
{
    Order o;
    order_init(&o, g, m);
    const int64_t waves = (o.n + d->cus - 1) / d->cus,
                  count = least(most_waves > 0 ? most_waves : TRAFFIC_WAVES_MAX, waves);
    Sums sum = {{0, 0}, {0, 0}, 0};
    for (int64_t i = 0; i < count; i++) {
        const int64_t wave =
            count == waves ? i : (2 * i + 1) * waves / (2 * count); /* the middle of its share */
        add_wave(d, &o, wave * d->cus, most_waves > 0, &sum);
    }
    const double weight = (double)waves / (double)count, *own = d->dies > 1 ? sum.l2 : sum.llc;
    Traffic t = {.waves = waves,
                 .l2_rows = own[0] * weight,
                 .l2_columns = own[1] * weight,
                 .llc_rows = sum.llc[0] * weight,
                 .llc_columns = sum.llc[1] * weight};
    t.l2_bytes = t.l2_rows * g->bytes_m + t.l2_columns * g->bytes_n;
    t.llc_bytes = t.llc_rows * g->bytes_m + t.llc_columns * g->bytes_n;
    t.read_bytes = d->dies <= 1 && d->held_bytes > 0 ? sum.reads * weight : t.llc_bytes;
    return t;
}

void traffic_of_wave(int32_t mapping, int64_t tiles_m, int64_t tiles_n, int64_t wave, double *rows,
                     double *columns)
{
    const TrafficGrid g = {.tiles_m = tiles_m, .tiles_n = tiles_n, .dim = mapping >= 0};
    const Mapping m = {.wgm = mapping < 0 ? -mapping : mapping > 1 ? mapping : 1, .dies = 1};
    Order o;
    order_init(&o, &g, &m);
    const int64_t n = wave < 1 ? 1 : least(wave, o.n);
    const TrafficSet s = rows_and_columns(&o, run_alone(&o, o.n / n / 2 * n, n));
    *rows = (double)s.rows;
    *columns = (double)s.columns;
}

double traffic_seconds(const TrafficDevice *d, const Traffic *t)
{
    const double l2 = t->l2_bytes / d->l2_rate, llc = t->read_bytes / d->llc_rate;
    return d->dies > 1 && l2 > llc ? l2 : llc;
}

/* ---- the choice ---- */

/* Waves that traffic_choose counts: all of small problems. With 5 its choice is within 5% of the best order's
 * time on nine sizes in ten (test_traffic). */
enum { CHOICE_WAVES = 5 };

/* Widths in ascending order; returns how many there are, TRAFFIC_ORDERS_MAX / 4 at most. */
static int widths(const TrafficDevice *d, const TrafficGrid *g, int32_t out[TRAFFIC_ORDERS_MAX / 4])
{
    static const int32_t always[] = {1, 2, 3, 4, 6, 8};
    const int64_t tiles = g->dim ? g->tiles_n : g->tiles_m, of_die = d->cus / d->dies;
    const int64_t most = least(least(tiles, of_die > 1 ? of_die : 1), MAPPING_WGM_MAX);
    int n = 0;
    for (size_t i = 0; i < sizeof always / sizeof *always; i++)
        if (always[i] == 1 || always[i] <= tiles) out[n++] = always[i];
    for (int32_t w = always[n - 1] + 1; w <= most && n < TRAFFIC_ORDERS_MAX / 4; w++)
        if (most % w == 0) out[n++] = w;
    return n;
}

/* Whether ids can be regrouped by die within a wave. */
static bool regroups_waves(const TrafficDevice *d)
{
    return d->dies > 1 && d->dies <= MAPPING_XCC_MAX && d->cus <= MAPPING_GROUP_MAX && d->cus % d->dies == 0;
}

static Mapping order_of(const TrafficDevice *d, int32_t width, int kind)
{
    return (Mapping){.wgm = width, .dies = kind ? d->dies : 1, .group = kind == 2 ? d->cus : 0, .chunk = 0};
}

bool traffic_order(const TrafficDevice *d, const TrafficGrid *g, int i, Mapping *out)
{
    int32_t width[TRAFFIC_ORDERS_MAX / 4];
    const int n = widths(d, g, width), kinds = d->dies <= 1 ? 1 : regroups_waves(d) ? 3 : 2;
    if (i < 0 || i >= n * kinds) return false;
    *out = order_of(d, width[i % n], i / n);
    return true;
}

static Mapping best(const TrafficDevice *d, const TrafficGrid *g, int kind, int n, const int32_t *width,
                    int64_t most_waves, double *seconds)
{
    Mapping found = order_of(d, 1, kind);
    *seconds = -1;
    for (int i = 0; i < n; i++) {
        const Mapping m = order_of(d, width[i], kind);
        const Traffic t = traffic_count(d, g, &m, most_waves);
        const double s = traffic_seconds(d, &t);
        if (*seconds < 0 || s < *seconds) found = m, *seconds = s;
    }
    return found;
}

Mapping traffic_best(const TrafficDevice *d, const TrafficGrid *g)
{
    int32_t width[TRAFFIC_ORDERS_MAX / 4];
    const int n = widths(d, g, width), kinds = d->dies <= 1 ? 1 : regroups_waves(d) ? 3 : 2;
    double least_seconds, seconds;
    Mapping found = best(d, g, 0, n, width, 0, &least_seconds);
    for (int kind = 1; kind < kinds; kind++) {
        const Mapping m = best(d, g, kind, n, width, 0, &seconds);
        if (seconds < least_seconds) found = m, least_seconds = seconds;
    }
    return found;
}

/* An approximate lower bound of the seconds of an order with bands of that width: a run of ids covers as many
 * tiles along as a band is wide, and the others across, but no more than the grid has. Where the cache keeps
 * a whole wave, A and B are read once. */
static double least_seconds(const TrafficDevice *d, const TrafficGrid *g, int32_t width)
{
    static const double LEAST_COPIES = 1.5; /* of what one work-group reads */
    const double n = (double)(g->tiles_m * g->tiles_n), side = (double)(g->dim ? g->tiles_m : g->tiles_n);
    const double tiles = (double)(g->dim ? g->tiles_n : g->tiles_m), wide = width < tiles ? width : tiles;
    const double along_bytes = g->dim ? g->bytes_n : g->bytes_m,
                 across_bytes = g->dim ? g->bytes_m : g->bytes_n;
    const double waves = n > d->cus ? n / d->cus : 1;
    double ids = n > d->cus ? d->cus : n, seconds = 0;
    for (int i = 0; i < 2; i++) { /* all dies together, then a die */
        const double across = ids / wide > side ? side : ids / wide > 1 ? ids / wide : 1;
        double bytes = waves * (ids / across * along_bytes + across * across_bytes);
        if (LEAST_COPIES * bytes / waves + ids * g->bytes_tile < d->held_bytes)
            bytes = (double)g->tiles_m * g->bytes_m + (double)g->tiles_n * g->bytes_n;
        const double s = i ? bytes * d->dies / d->l2_rate : bytes / d->llc_rate;
        if (s > seconds) seconds = s;
        ids /= d->dies;
    }
    return seconds;
}

/* Bytes that a GPU with one die reads where its cache holds what a wave reads and writes: what lies along the
 * bands once, and what lies across them once in all, or where a band does not fit the cache once for each
 * band (or wave, where that is longer). < 0: the cache does not hold a wave. */
static double held_reads(const TrafficDevice *d, const Order *o)
{
    const int64_t n = least(d->cus, o->n), first = o->n / n / 2 * n;
    const BandSet wave = order_set(o, first, first + n, 1, -1);
    if (footprint(o, wave, n) > d->held_bytes) return -1;
    const double span = o->band.by > n ? (double)o->band.by : (double)n, side = (double)o->across_tiles;
    const double once = side * o->across_bytes, ids = (double)o->n;
    const double whole = (double)((o->band.by + n - 1) / n * n); /* in whole waves, as traffic_count has it */
    const bool fits = 2 * (whole / side * o->along_bytes + once) + whole * o->g->bytes_tile < d->held_bytes;
    const double times = fits || span > ids ? 1 : (double)(int64_t)(ids / span + 0.999999);
    return (double)o->tiles * o->along_bytes + times * once + ids / (double)n * read_again(d, o, wave, n);
}

/* Seconds of an order, from few waves. */
static double few_seconds(const TrafficDevice *d, const TrafficGrid *g, const Mapping *m)
{
    if (d->dies <= 1 && d->held_bytes > 0 && m->dies == 1) {
        Order o;
        order_init(&o, g, m);
        const double bytes = held_reads(d, &o);
        if (bytes >= 0) return bytes / d->llc_rate;
    }
    const Traffic t = traffic_count(d, g, m, CHOICE_WAVES);
    return traffic_seconds(d, &t);
}

/* The width with the least bound is tried first; most others are skipped because their bound is above its
 * time. */
Mapping traffic_choose(const TrafficDevice *d, const TrafficGrid *g)
{
    int32_t width[TRAFFIC_ORDERS_MAX / 4];
    double bound[TRAFFIC_ORDERS_MAX / 4], seconds = -1;
    const int n = widths(d, g, width), kind = d->dies <= 1 ? 0 : regroups_waves(d) ? 2 : 1;
    int first = 0;
    for (int i = 0; i < n; i++) {
        bound[i] = least_seconds(d, g, width[i]);
        if (bound[i] < bound[first]) first = i;
    }
    Mapping found = order_of(d, width[first], kind);
    for (int i = 0; i < n; i++) {
        const int at = i == 0 ? first : i - (i <= first);
        if (seconds >= 0 && 0.97 * bound[at] >= seconds) continue;
        const Mapping m = order_of(d, width[at], kind);
        const double s = few_seconds(d, g, &m);
        if (seconds < 0 || s < seconds) found = m, seconds = s;
    }
    return found;
}
