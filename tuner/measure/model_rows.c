/* Nearest rows, measured and predicted. See model_rows.h. */
#include "measure/model_rows.h"

#include <math.h>
#include <string.h>

#include "base/spread.h"
#include "measure/model.h"
#include "problem/floats.h"
#include "problem/section.h"

/* Whether a kernel is the table's, and can run. seconds: of the size; NULL: it was not measured. */
typedef struct {
    const ModelTable *t;
    const double *seconds;
    const ModelSize *size;
} Ask;

static bool can_run(void *ctx, size_t k)
{
    const Ask *q = ctx;
    const ModelTable *t = q->t;
    return (!t->usable || t->usable[k]) && t->m->known[k] &&
           (q->seconds ? q->seconds[k] > 0 : model_runs_on(&t->runs, k, q->size));
}

/* Ratio takes logarithms, which are kept for the rows. */
static void logs_of(const ModelSize *z, double out[MODEL_ROW_DIMS])
{
    out[0] = log(z->m), out[1] = log(z->n), out[2] = log(z->k), out[MODEL_ROW_BATCH] = log(z->batch);
}

/* The size's section of the table. */
static int own_section(const ModelTable *t, const ModelSize *z)
{
    const int64_t size[] = {(int64_t)z->m, (int64_t)z->n, (int64_t)z->k};
    return t->pt ? section_of(t->pt, size, (int64_t)z->batch) : 0;
}

static bool has_size(const ModelTable *t, size_t z) { return !t->out || !t->out[z]; }

static Err keys_grow(Arena *a, ModelRowKeys *keys)
{
    const size_t room = 2 * keys->room + 64;
    ModelRowKey *more = ARENA_ARRAY(a, room, ModelRowKey);
    TRY_ALLOC(more);
    if (keys->n) memcpy(more, keys->v, keys->n * sizeof *more);
    for (int d = 0; d < MODEL_ROW_DIMS; d++) {
        float *log = ARENA_LINES(a, floats_padded(room), float);
        TRY_ALLOC(log);
        if (keys->n) memcpy(log, keys->log[d], keys->n * sizeof *log);
        keys->log[d] = log;
    }
    keys->v = more, keys->room = room;
    return ERR_OK;
}

static Err key_add(Arena *a, ModelTable *t, const ModelSize *z, size_t row)
{
    ModelRowKeys *keys = &t->keys[own_section(t, z)];
    if (keys->n == keys->room) TRY(keys_grow(a, keys));
    ModelRowKey *key = &keys->v[keys->n];
    logs_of(z, key->log);
    for (int d = 0; d < MODEL_ROW_DIMS; d++) keys->log[d][keys->n] = (float)key->log[d];
    key->row = (uint32_t)row;
    keys->n++;
    return ERR_OK;
}

Err model_table_make(Arena *a, ModelTable *t)
{
    const ModelMatrix *m = t->m;
    TRY_ALLOC(t->row = ARENA_ARRAY(a, m->n_sizes + 1, size_t));
    TRY(model_runs_make(a, m, t->out, &t->runs));
    TRY_ALLOC(t->keys = ARENA_ARRAY(a, SECTIONS, ModelRowKeys));
    t->n_more = 0;
    for (size_t z = 0; z < m->n_sizes; z++) {
        const double *s = &m->seconds[z * m->n_kernels];
        Ask q = {t, s, &m->size[z]};
        t->row[z] = SIZE_MAX;
        for (size_t k = 0; k < m->n_kernels && has_size(t, z); k++)
            if (can_run(&q, k) && (t->row[z] == SIZE_MAX || s[k] < s[t->row[z]])) t->row[z] = k;
        if (t->row[z] != SIZE_MAX) TRY(key_add(a, t, &m->size[z], z));
    }
    return ERR_OK;
}

/* The search for the nearest row. */
typedef struct {
    Ask ask;
    TableDistance distance;
    bool batch; /* keys have the batch count, too */
    double log[MODEL_ROW_DIMS];
    double least; /* distance of the nearest row so far */
    size_t kernel, row;
} Nearest;

static double distance_to(const Nearest *x, const ModelRowKey *key)
{
    const ModelTable *t = x->ask.t;
    const size_t n = t->m->n_sizes;
    if (x->distance == DISTANCE_RATIO) {
        double sum = 0;
        for (int d = 0; d < MODEL_ROW_BATCH + x->batch; d++) sum += fabs(x->log[d] - key->log[d]);
        return sum;
    }
    return table_distance(x->distance, x->ask.size,
                          key->row < n ? &t->m->size[key->row] : &t->more[key->row - n].size);
}

static void nearest_add(Nearest *x, const ModelRowKey *key)
{
    const ModelTable *t = x->ask.t;
    const size_t n = t->m->n_sizes, row = key->row;
    const double d = row < n + t->n_more ? distance_to(x, key) : (double)INFINITY;
    if (!(d < x->least)) return;
    const size_t k = row < n ? t->row[row] : t->more[row - n].kernel;
    if (can_run(&x->ask, k)) x->kernel = k, x->row = row, x->least = d;
}

FLOATS_INLINE Floats apart(const float *log, float x)
{
    return floats_max(floats_load(log) - x, x - floats_load(log));
}

/* By Ratio: most keys are farther than the nearest one so far, which single precision tells. */
FLOATS_CLONES
static void nearest_by_ratio(Nearest *x, const ModelRowKeys *keys, size_t from)
{
    static const float ROUNDED = 1e-4F; /* more than the logarithms of sizes are rounded by */
    const float m = (float)x->log[0], n = (float)x->log[1], k = (float)x->log[2],
                batch = (float)x->log[MODEL_ROW_BATCH];
    for (size_t i = from / FLOATS * FLOATS; i < keys->n; i += FLOATS) {
        Floats d = apart(&keys->log[0][i], m) + apart(&keys->log[1][i], n) + apart(&keys->log[2][i], k);
        if (x->batch) d += apart(&keys->log[MODEL_ROW_BATCH][i], batch);
        uint32_t near = floats_bits(d < (float)x->least + ROUNDED);
        for (; near; near &= near - 1) {
            const size_t at = i + (size_t)__builtin_ctz(near);
            if (at >= from && at < keys->n) nearest_add(x, &keys->v[at]);
        }
    }
}

/* Looks at keys from number `from` on. Of rows at the same distance the first counts. */
static void nearest_in(Nearest *x, const ModelRowKeys *keys, size_t from)
{
    if (x->distance == DISTANCE_RATIO)
        nearest_by_ratio(x, keys, from);
    else
        for (size_t i = from; i < keys->n; i++) nearest_add(x, &keys->v[i]);
}

static Nearest nearest_begin(const ModelTable *t, TableDistance distance, const ModelSize *z,
                             const double *seconds)
{
    Nearest x = {{t, seconds, z}, distance, false, {0}, (double)INFINITY, SIZE_MAX, SIZE_MAX};
    if (distance == DISTANCE_RATIO) logs_of(z, x.log);
    return x;
}

/* As a library's reader: the first section with rows whose conditions the size meets, else all rows. *is_own:
 * the nearest row is in the size's own section. */
static void nearest_find(Nearest *x, bool *is_own)
{
    const ModelTable *t = x->ask.t;
    const int own = own_section(t, x->ask.size);
    for (int i = 0; i < SECTIONS && t->sections && x->kernel == SIZE_MAX; i++) {
        const int section = section_at(i);
        if (!t->keys[section].n || !section_holds(section, own)) continue;
        x->batch = section & SECTION_BATCHED;
        nearest_in(x, &t->keys[section], 0);
        *is_own = section == own;
    }
    if (x->kernel != SIZE_MAX) return;
    x->batch = *is_own = false;
    for (int i = 0; i < SECTIONS; i++) nearest_in(x, &t->keys[i], 0);
}

size_t model_table_nearest(const ModelTable *t, TableDistance distance, const ModelSize *z,
                           const double *seconds)
{
    bool is_own;
    Nearest x = nearest_begin(t, distance, z, seconds);
    nearest_find(&x, &is_own);
    return x.kernel;
}

/* ---- predicted rows ---- */

/* PASSES: so often the range is gone through, because a row that is added can be the nearest of sizes that
 * were content before. CLOSE: kernels whose losses differ by less are alike, and that which wins most is
 * taken, for fewer rows. PART: sizes, or rows, that one thread looks at. */
enum { PASSES = 3, PART = 256 };
static const double CLOSE = 0.02;
/* Drawn sizes: DRAWS, of batches DRAWS_BATCHED, at most so many for each measured size, TURNS times, until
 * one of DRAWS_WORTH pays or fewer; and SETTLED others, at most SETTLED_OF_ROW for each row, by which the
 * kernels of all rows are chosen anew. */
enum {
    DRAWS = 60000,
    DRAWS_BATCHED = 20000,
    DRAWS_OF_SIZE = 300,
    DRAWS_WORTH = 1000,
    TURNS = 8,
    SETTLED = 200000,
    SETTLED_OF_ROW = 64,
    SETTLING = 1000
};

static const uint32_t NO_KERNEL = UINT32_MAX;

/* Of a size: the fastest kernel by prediction, and that of its row (NO_KERNEL: none can run); the distance of
 * the nearest row if it is in the size's own section, else infinity; and whether a row of its own would
 * pay. */
typedef struct {
    uint32_t best, kernel;
    double distance;
    bool pays;
} NearRow;

typedef struct {
    ModelTable *t;
    const ModelSelector *s;
    const RangeSize *at;
    size_t n;
    NearRow *of;             /* of each size */
    size_t *wins;            /* of each kernel */
    size_t before[SECTIONS]; /* rows of each section when the sizes were looked at */
} Rows;

typedef Err RowsFn(void *ctx, size_t part);

static Err parts_do(Rows *r, RowsFn *fn)
{
    const size_t n = (r->n + PART - 1) / PART;
    return spread_run(&(Spread){.n = n, .threads = true, .part = fn, .ctx = r});
}

static size_t part_end(const Rows *r, size_t part)
{
    return r->n < (part + 1) * PART ? r->n : (part + 1) * PART;
}

static double predicted(const Rows *r, size_t kernel, const ModelSize *z)
{
    ModelNear near;
    model_near(r->s, z, &near);
    return model_predict(r->s, &near, kernel, z);
}

static Err best_part(void *ctx, size_t part)
{
    Rows *r = ctx;
    double seconds;
    for (size_t i = part * PART; i < part_end(r, part); i++) {
        Ask q = {r->t, NULL, &r->at[i].size};
        const size_t k = model_choose(r->s, q.size, can_run, &q, &seconds);
        r->of[i].best = k == SIZE_MAX ? NO_KERNEL : (uint32_t)k;
    }
    return ERR_OK;
}

/* The sizes for which a row stands: its own, and those around it. */
enum { AROUND = 5 };
static int around_of(const ModelSize *z, ModelSize out[AROUND])
{
    static const double SIDES[] = {1 / 1.12, 1.12};
    int n = 0;
    out[n++] = *z;
    for (int i = 0; i < AROUND - 1; i++) {
        double *side = i < 2 ? &out[n].m : &out[n].n;
        out[n] = *z;
        *side = floor(*side * SIDES[i % 2] + 0.5);
        n += *side >= 1;
    }
    return n;
}

/* Kernels for a row, and what each loses on the sizes for which it stands, on average. */
typedef struct {
    size_t n, kernel[MODEL_KERNELS_MAX];
    double seconds[MODEL_KERNELS_MAX], loss[MODEL_KERNELS_MAX];
} Candidates;

/* Adds what the candidates lose on a size, one of n_at, on which they take `seconds`. */
static void losses_add(Candidates *c, int n_at)
{
    double least = (double)INFINITY;
    for (size_t i = 0; i < c->n; i++) least = fmin(least, c->seconds[i]);
    for (size_t i = 0; i < c->n; i++) c->loss[i] += (c->seconds[i] / least - 1) / n_at;
}

/* Those that take at most FAR times as long as the best one on the row's own size. */
static void candidates_find(const Rows *r, size_t best, const ModelSize *z, Candidates *c)
{
    static const double FAR = 1.3;
    ModelNear near;
    Ask q = {r->t, NULL, z};
    model_near(r->s, z, &near);
    const double far = model_predict(r->s, &near, best, z) * FAR;
    c->n = 0;
    for (size_t k = 0; k < r->s->n_kernels; k++) {
        if (!can_run(&q, k)) continue;
        const double seconds = model_predict(r->s, &near, k, z);
        if (seconds <= far) c->kernel[c->n] = k, c->seconds[c->n] = seconds, c->loss[c->n++] = 0;
    }
}

/* Candidates for a row of the first of n_at sizes, on which kernel `best` is the best one. */
static void candidates_judge(const Rows *r, size_t best, const ModelSize *at, int n_at, Candidates *c)
{
    candidates_find(r, best, &at[0], c);
    losses_add(c, n_at);
    for (int p = 1; p < n_at; p++) {
        ModelNear near;
        model_near(r->s, &at[p], &near);
        for (size_t k = 0; k < c->n; k++) c->seconds[k] = model_predict(r->s, &near, c->kernel[k], &at[p]);
        losses_add(c, n_at);
    }
}

/* The first of those that lose the least. */
static size_t least_of(const Candidates *c)
{
    size_t least = 0;
    for (size_t k = 1; k < c->n; k++)
        if (c->loss[k] < c->loss[least]) least = k;
    return least;
}

/* Of the kernels that lose about the least on the sizes for which the row stands, that which wins most. */
static void kernel_find(const Rows *r, size_t i)
{
    NearRow *x = &r->of[i];
    ModelSize at[AROUND];
    Candidates c;
    size_t liked = SIZE_MAX;
    x->kernel = x->best;
    if (x->best == NO_KERNEL) return;
    candidates_judge(r, x->best, at, around_of(&r->at[i].size, at), &c);
    const double least = c.n ? c.loss[least_of(&c)] : 0;
    for (size_t k = 0; k < c.n; k++)
        if (c.loss[k] <= least + CLOSE && (liked == SIZE_MAX || r->wins[c.kernel[k]] > r->wins[liked]))
            liked = c.kernel[k];
    if (liked != SIZE_MAX) x->kernel = (uint32_t)liked;
}

/* Whether the kernel of size i gains enough over that of the nearest row. */
static bool gains(const Rows *r, size_t i, size_t row)
{
    const ModelSize *z = &r->at[i].size;
    if (r->of[i].kernel == NO_KERNEL || r->of[i].kernel == row) return false;
    return row == SIZE_MAX || predicted(r, row, z) >= (1 + MODEL_ROW_GAIN) * predicted(r, r->of[i].kernel, z);
}

static void row_find(const Rows *r, size_t i)
{
    bool is_own;
    NearRow *x = &r->of[i];
    Nearest near = nearest_begin(r->t, DISTANCE_RATIO, &r->at[i].size, NULL);
    nearest_find(&near, &is_own);
    x->distance = is_own ? near.least : (double)INFINITY;
    x->pays = gains(r, i, near.kernel);
}

static Err kernel_part(void *ctx, size_t part)
{
    for (size_t i = part * PART; i < part_end(ctx, part); i++) kernel_find(ctx, i), row_find(ctx, i);
    return ERR_OK;
}

static Err row_part(void *ctx, size_t part)
{
    for (size_t i = part * PART; i < part_end(ctx, part); i++) row_find(ctx, i);
    return ERR_OK;
}

/* Whether a row pays beside those that were added since the sizes were looked at. */
static bool still_pays(const Rows *r, size_t i)
{
    const ModelTable *t = r->t;
    Nearest near = nearest_begin(t, DISTANCE_RATIO, &r->at[i].size, NULL);
    const int own = own_section(t, &r->at[i].size);
    if (!r->of[i].pays) return false;
    near.batch = own & SECTION_BATCHED;
    near.least = r->of[i].distance;
    nearest_in(&near, &t->keys[own], r->before[own]);
    return near.kernel == SIZE_MAX || gains(r, i, near.kernel);
}

static Err row_add(Arena *a, const Rows *r, size_t i)
{
    ModelTable *t = r->t;
    const RangeSize *at = &r->at[i];
    const size_t k = r->of[i].kernel;
    TRY(key_add(a, t, &at->size, t->m->n_sizes + t->n_more));
    t->more[t->n_more++] = (ModelRow){at->at, at->size, k, predicted(r, k, &at->size)};
    return ERR_OK;
}

/* Adds rows of the sizes that gain enough until the table has `most`. */
static Err rows_add(Arena *a, Rows *r, size_t most)
{
    ModelTable *t = r->t;
    bool more = true;
    for (int pass = 0; more && pass < PASSES; pass++) {
        more = false;
        if (pass > 0) TRY(parts_do(r, row_part));
        for (int i = 0; i < SECTIONS; i++) r->before[i] = t->keys[i].n;
        for (size_t i = 0; i < r->n && t->n_more < most; i++) {
            if (!still_pays(r, i)) continue;
            TRY(row_add(a, r, i));
            more = true;
        }
    }
    return ERR_OK;
}

static Err kernels_find(Arena *lists, Rows *r)
{
    TRY_ALLOC(r->wins = ARENA_ARRAY(lists, r->s->n_kernels + 1, size_t));
    TRY(parts_do(r, best_part));
    for (size_t i = 0; i < r->n; i++)
        if (r->of[i].best != NO_KERNEL) r->wins[r->of[i].best]++;
    return parts_do(r, kernel_part);
}

/* Adds rows of these sizes until the table has `most`. lists: what is not kept. */
static Err rows_predict(Arena *a, Arena *lists, Rows *r, size_t most)
{
    TRY_ALLOC(r->of = ARENA_ARRAY(lists, r->n + 1, NearRow));
    TRY(kernels_find(lists, r));
    return rows_add(a, r, most);
}

/* Draws n sizes to look at, or fewer where few were measured. batch: as of RangeDraws. */
static Err draws_make(Arena *lists, Rows *r, size_t n, int64_t batch, int turn)
{
    const ModelTable *t = r->t;
    const size_t of_sizes = DRAWS_OF_SIZE * t->m->n_sizes;
    const RangeDraws draws = {n < of_sizes ? n : of_sizes, batch, (uint64_t)turn};
    RangeSize *size;
    TRY(model_draws_make(lists, t->pt, t->m, t->out, &draws, &size, &r->n));
    r->at = size;
    return ERR_OK;
}

static Err draws_add(Arena *a, Arena *lists, Rows *r, size_t n, int64_t batch, int turn, size_t most)
{
    TRY(draws_make(lists, r, n, batch, turn));
    return rows_predict(a, lists, r, most);
}

/* ---- kernels of rows, when all rows are there ---- */

/* The predicted rows that are the nearest of the sizes that are looked at. */
typedef struct {
    const Rows *rows;
    uint32_t *near;         /* of each size: the row's number among predicted ones; NO_ROW: another */
    uint32_t *first, *next; /* of each row: a size; of each size: another one of the same row; NO_ROW: none */
} Settling;
static const uint32_t NO_ROW = UINT32_MAX;

static Err settling_parts(Settling *x, size_t n, RowsFn *fn)
{
    return spread_run(&(Spread){.n = (n + PART - 1) / PART, .threads = true, .part = fn, .ctx = x});
}

static Err near_part(void *ctx, size_t part)
{
    const Settling *x = ctx;
    const ModelTable *t = x->rows->t;
    for (size_t i = part * PART; i < part_end(x->rows, part); i++) {
        bool is_own;
        Nearest near = nearest_begin(t, DISTANCE_RATIO, &x->rows->at[i].size, NULL);
        nearest_find(&near, &is_own);
        const bool predicted = near.kernel != SIZE_MAX && near.row >= t->m->n_sizes;
        x->near[i] = predicted ? (uint32_t)(near.row - t->m->n_sizes) : NO_ROW;
    }
    return ERR_OK;
}

/* The kernel that loses least on the sizes around the row and on some of those that it is the nearest of. */
static void row_settle(const Settling *x, size_t i)
{
    enum { DRAWN = 8 };
    const Rows *r = x->rows;
    ModelRow *row = &r->t->more[i];
    ModelSize at[AROUND + DRAWN];
    Ask q = {r->t, NULL, &row->size};
    Candidates c;
    double seconds;
    const size_t best = model_choose(r->s, &row->size, can_run, &q, &seconds);
    int n = around_of(&row->size, at);
    if (best == SIZE_MAX) return;
    for (uint32_t z = x->first[i]; z != NO_ROW && n < AROUND + DRAWN; z = x->next[z]) at[n++] = r->at[z].size;
    candidates_judge(r, best, at, n, &c);
    if (!c.n) return;
    row->kernel = c.kernel[least_of(&c)];
    row->seconds = predicted(r, row->kernel, &row->size);
}

static Err settle_part(void *ctx, size_t part)
{
    const Settling *x = ctx;
    for (size_t i = part * PART; i < x->rows->t->n_more && i < (part + 1) * PART; i++)
        if (x->first[i] != NO_ROW) row_settle(x, i);
    return ERR_OK;
}

/* Chooses kernels of rows anew, by n drawn sizes. batch: as of RangeDraws. */
static Err rows_settle(Arena *lists, Rows *r, size_t n, int64_t batch)
{
    const size_t n_rows = r->t->n_more;
    Settling x = {.rows = r};
    arena_reset(lists);
    TRY(draws_make(lists, r, n < n_rows * SETTLED_OF_ROW ? n : n_rows * SETTLED_OF_ROW, batch, SETTLING));
    TRY_ALLOC(x.near = ARENA_ARRAY(lists, r->n + 1, uint32_t));
    TRY_ALLOC(x.next = ARENA_ARRAY(lists, r->n + 1, uint32_t));
    TRY_ALLOC(x.first = ARENA_ARRAY(lists, n_rows + 1, uint32_t));
    for (size_t i = 0; i < n_rows; i++) x.first[i] = NO_ROW;
    TRY(settling_parts(&x, r->n, near_part));
    for (size_t z = 0; z < r->n; z++)
        if (x.near[z] != NO_ROW) x.next[z] = x.first[x.near[z]], x.first[x.near[z]] = (uint32_t)z;
    return settling_parts(&x, n_rows, settle_part);
}

/* Rows of sizes that are drawn from the range, of lines, and of a grid over the range. */
static Err rows_all(Arena *a, Arena *lists, Rows *r, bool written)
{
    ModelTable *t = r->t;
    const bool batched = model_range_batch(t->m, t->out) > 1;
    RangeSize *size;
    if (batched) TRY(draws_add(a, lists, r, DRAWS_BATCHED, 0, 0, MODEL_ROWS_BATCHED));
    TRY(model_lines_make(lists, t->pt, t->m, t->out, &size, &r->n));
    r->at = size;
    TRY(rows_predict(a, lists, r, t->n_more + MODEL_ROWS_LINES));
    TRY(model_range_make(lists, t->pt, t->m, t->out, written ? MODEL_ROW_STEPS : 1, 1, &size, &r->n));
    r->at = size;
    TRY(rows_predict(a, lists, r, MODEL_ROWS_GRIDS));
    size_t n_added = SIZE_MAX;
    for (int turn = 1; written && turn <= TURNS && n_added > DRAWS / DRAWS_WORTH; turn++) {
        const size_t before = t->n_more;
        if (batched) TRY(draws_add(a, lists, r, DRAWS_BATCHED, 0, 2 * turn, MODEL_ROWS_MAX));
        TRY(draws_add(a, lists, r, DRAWS, 1, 2 * turn + 1, MODEL_ROWS_MAX));
        n_added = t->n_more - before;
        arena_reset(lists);
    }
    if (written && batched) TRY(rows_settle(lists, r, SETTLED / 4, 0));
    return written ? rows_settle(lists, r, SETTLED, 1) : ERR_OK;
}

Err model_table_predict(Arena *a, ModelTable *t, bool written, const ModelSelector *s)
{
    Arena lists;
    Rows r = {.t = t, .s = s};
    t->n_more = 0;
    t->sections = true;
    if (!t->more) TRY_ALLOC(t->more = ARENA_ARRAY(a, MODEL_ROWS_MAX, ModelRow));
    arena_init(&lists, 0);
    const Err e = rows_all(a, &lists, &r, written);
    arena_fini(&lists);
    TRY(e);
    t->sections = t->n_more > 0; /* createlib writes sections of tables with predicted rows alone */
    return ERR_OK;
}
