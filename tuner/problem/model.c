/* The performance model's arithmetic. See model.h. */
#include "problem/model.h"

#include "problem/lines.h"
#include "problem/stream_cut.h"
#include "problem/traffic.h"

#include <math.h>
#include <stddef.h>

static const struct {
    const char *name, *help;
} terms[] = {
#define MODEL_TERM_ROW(name, help) {#name, help},
    MODEL_TERMS(MODEL_TERM_ROW)
#undef MODEL_TERM_ROW
};
const char *model_term_name(ModelTerm t) { return terms[t].name; }
const char *model_term_help(ModelTerm t) { return terms[t].help; }

static const struct {
    const char *name;
    double value[MODEL_CLASSES];
} rates[] = {
#define MODEL_RATE_ROW(name, vector, matrix, engine, host, help) {#name, {vector, matrix, engine, host}},
    MODEL_RATES(MODEL_RATE_ROW)
#undef MODEL_RATE_ROW
};
const char *model_rate_name(int i) { return rates[i].name; }

ModelRates model_rates(ModelClass c)
{
    ModelRates r;
    int i = 0;
#define MODEL_RATE_VALUE(name, vector, matrix, engine, host, help) r.name = rates[i++].value[c];
    MODEL_RATES(MODEL_RATE_VALUE)
#undef MODEL_RATE_VALUE
    return r;
}

const char *model_class_name(ModelClass c)
{
    static const char *const names[] = {"vector", "matrix", "engine", "host"};
    return names[c];
}

/* Rounds up. Arguments are sizes and counts far below 2^63. The C library's ceil takes four times as long
 * when the program is compiled without the machine's rounding instruction. */
static double up(double x)
{
    const double whole = (double)(int64_t)x;
    return whole + (whole < x ? 1.0 : 0.0);
}

static double down(double x) { return (double)(int64_t)x; }

static double least(double a, double b) { return a < b ? a : b; }
static double most(double a, double b) { return a > b ? a : b; }
static double fourth(double x) { return x * x * (x * x); }
/* The time of costs that mostly overlap: close to the largest, and more where several are alike. */
static double overlap(double a, double b, double c, double d, double e)
{
    return sqrt(sqrt(fourth(a) + fourth(b) + fourth(c) + fourth(d) + fourth(e)));
}

/* ---- GPUs ---- */

static int level_of(int32_t align) { return __builtin_ctz((unsigned)align | MODEL_ALIGN_MAX); }

/* Numbers that are the same for all waves. */
typedef struct {
    const ModelKernel *k;
    const ModelDevice *d;
    const ModelRates *r;
    const ModelSize *z;
    double tiles_m, tiles_n, groups; /* tiles of a matrix of the batch; work-groups in all */
    double cus;                      /* compute units that clusters can use */
    double chunks;                   /* of a part of K */
    ModelReadyChunk of;              /* one chunk of one work-group */
    double dram_s, waits_s; /* seconds of DRAM for a byte; of a chunk's wait for others of a cluster */
    double fill_s, store_s; /* of a tile */
    double resident;        /* part of A and B that stays in the L2 cache */
    bool unshared;          /* stream-K: work-groups are at different places of K, and share no loads */
    double once_a, once_b;  /* as of the size, 1: all elements are distinct */
    double pixel_bytes;     /* that a tile loads before its main loop */
} Gpu;

/* z: as of model_l2_bytes. */
static ModelReadyChunk chunk_of(const ModelKernel *k, const ModelDevice *d, const ModelRates *r,
                                int32_t align_a, int32_t align_b, const ModelSize *z)
{
    const double s = 1 / d->clock_hz, l2 = 1 / r->l2, bytes = model_l2_bytes(k, align_a, align_b, z);
    const ModelChunk chunk = model_chunk(k, d, r, align_a, align_b);
    return (ModelReadyChunk){
        chunk.math * s,         chunk.local * s, chunk.latency * s, bytes, bytes * l2 * s * (1 / 64.0),
        bytes * l2 / d->l2_rate};
}

static void gpu_fixed(Gpu *g)
{
    const double s = 1 / g->d->clock_hz;
    g->cus = model_cus(g->k, g->d);
    g->waits_s = model_wait_clocks(g->k, g->r) * s;
    g->dram_s = 1 / (g->d->dram_rate * g->r->dram);
    g->fill_s = (g->r->group_clocks + g->r->load_clocks) * s;
}

/* Numbers that depend on the size by its alignments alone. */
static void gpu_ready(Gpu *g, const ModelReady *x)
{
    const int a = level_of(g->z->align_a), b = level_of(g->z->align_b);
    g->cus = x->cus, g->waits_s = x->waits_s, g->dram_s = x->dram_s, g->fill_s = x->fill_s;
    g->store_s = x->store_s[level_of(g->z->align_d)][g->z->reads_c];
    g->of = x->chunk[a][b];
}

static void gpu_chunk(Gpu *g, double wide)
{
    const double s = 1 / g->d->clock_hz, l2 = 1 / g->r->l2;
    g->of = chunk_of(g->k, g->d, g->r, g->z->align_a, g->z->align_b, g->z);
    g->of.l2_bytes /= wide, g->of.l2_s /= wide, g->of.l2_all_s /= wide;
    g->fill_s += g->pixel_bytes * l2 * most(s * (1 / 64.0), g->cus / g->d->l2_rate);
    g->store_s = model_store_clocks(g->k, g->d, g->r, g->z->align_d, g->z->reads_c) * s;
}

/* Bytes of the pixels that a tile keeps: those of all channels, or with groups those of its rows' groups. */
static double kept_bytes(const Gpu *g, bool groups)
{
    const ModelKernel *k = g->k;
    if (model_pixels(k) != MODEL_PIXELS_KEPT) return 0;
    const bool a_kept = model_is_kept(k->pack_a);
    const double pixels = a_kept ? k->tile_m * g->once_a : k->tile_n * g->once_b;
    return pixels * g->z->k * k->bytes_ab / (groups ? a_kept ? g->tiles_n : g->tiles_m : 1);
}

static double group_seconds(const Gpu *g) { return g->r->group_clocks / g->d->clock_hz; }
/* From the rows of pixels of a block of outputs to its first line, which nothing hides: the next block's rows
 * are on their way, but have a lane's addresses each (H200: 1.5 us of a tile, of 128 to 256 columns). */
static double block_seconds(const Gpu *g)
{
    return (g->r->group_clocks + g->r->load_clocks) / g->d->clock_hz;
}

/* Tiles along both sides of a matrix; clusters begin and end together. */
static void tiles_of(const ModelKernel *k, const ModelSize *z, double *tiles_m, double *tiles_n)
{
    *tiles_m = up(z->m / k->tile_m);
    *tiles_n = up(z->n / k->tile_n);
    if (k->cluster_m * k->cluster_n == 1) return;
    *tiles_m = up(*tiles_m / k->cluster_m) * k->cluster_m;
    *tiles_n = up(*tiles_n / k->cluster_n) * k->cluster_n;
}

static void gpu_init(Gpu *g, const ModelKernel *k, const ModelDevice *d, const ModelRates *r,
                     const ModelSize *z, double wide, bool groups, const ModelReady *ready)
{
    /* not all members at once: zeros for the others would take longer than some of their numbers */
    g->k = k, g->d = d, g->r = r, g->z = z;
    g->unshared = false;
    if (ready)
        gpu_ready(g, ready);
    else
        gpu_fixed(g);
    tiles_of(k, z, &g->tiles_m, &g->tiles_n);
    g->groups = g->tiles_m * g->tiles_n * z->batch * k->split;
    g->chunks = up(up(z->k / k->depth) / k->split);
    g->once_a = model_once(z->once_a), g->once_b = model_once(z->once_b);
    g->pixel_bytes = kept_bytes(g, groups);
    double once = (z->m * g->once_a + z->n * g->once_b) * z->k * z->batch * k->bytes_ab;
    g->resident = once > 0 ? least(1, MODEL_RESIDENT * d->l2_bytes / once) : 1;
    if (ready) return;
    gpu_chunk(g, wide);
    if (model_pixels(k) == MODEL_PIXELS_OF_CHUNKS)
        g->waits_s += block_seconds(g) * k->depth / line_block(k->depth);
}

/* Bytes from DRAM of a wave for one chunk of each of its work-groups. */
static double wave_dram_bytes(const Gpu *g, double groups)
{
    double matrix = g->tiles_m * g->tiles_n, parts = g->k->split;
    double in_part = parts > 1 ? most(groups / parts, 1) : groups, matrices = 1, rows, columns;
    if (in_part > matrix) matrices = in_part / matrix, in_part = matrix;
    if (in_part >= matrix)
        rows = g->tiles_m, columns = g->tiles_n;
    else
        traffic_of_wave(g->k->mapping, (int64_t)g->tiles_m, (int64_t)g->tiles_n, (int64_t)in_part, &rows,
                        &columns);
    double part = g->k->bytes_ab * (double)g->k->depth;
    double m = least(rows * g->k->tile_m, g->z->m), n = least(columns * g->k->tile_n, g->z->n);
    const double shared = (m * g->once_a + n * g->once_b) * part * matrices * least(parts, groups);
    if (!g->unshared) return shared;
    return shared + (groups * (g->k->tile_m + g->k->tile_n) * part - shared) * (1 - g->resident);
}

/* Sums over the waves. */
typedef struct {
    double seconds, math; /* math: of the multiply-adds */
    double term[MODEL_N_TERMS], l2_read, dram_read;
    bool detailed; /* fill in term, l2_read and dram_read too */
} Waves;

static void add_terms(Waves *w, const Gpu *g, const double x[5], double times)
{
    for (int i = 0; i < 5; i++) w->term[i] += times * x[i] * g->chunks;
    w->term[MODEL_TERM_latency] += times * g->waits_s * g->chunks;
}

/* Adds `times` waves of `groups` work-groups, `each` of them on a compute unit at once. first: the launch's
 * first. */
static void add_waves(Waves *w, const Gpu *g, double groups, double each, bool first, double times)
{
    const ModelKernel *k = g->k;
    const double comes = first ? 1 : 1 - g->resident; /* what the L2 cache does not hold */
    double busy = least(g->cus, groups), chunks = g->chunks,
           dram = comes > 0 || w->detailed ? wave_dram_bytes(g, groups) : 0;
    /* a compute unit takes 64 bytes in a clock from the L2 cache, and all of them what it can give */
    double x[5] = {each * g->of.math_s, each * g->of.local_s, each * most(g->of.l2_s, g->of.l2_all_s * busy),
                   dram * comes * g->dram_s, g->of.latency_s};
    double loop = (overlap(x[0], x[1], x[2], x[3], x[4]) + g->waits_s) * chunks;
    /* other work-groups of the compute unit compute while one fills or stores */
    double alone = k->persistent ? (first ? 1 : 0) : first || each <= 1 ? 1 : 1 / each;
    /* of a persistent work-group's later tiles the loads are on their way, but its threads begin together */
    double again = k->persistent == 1 && !first ? group_seconds(g) : 0;
    if (model_pixels(k) == MODEL_PIXELS_OF_TILE && !first) again = block_seconds(g);
    double fill = g->fill_s * alone + again,
           store = g->store_s * each * (k->persistent > 1 && !first ? 0.3 : 1);
    w->seconds += times * (loop + fill + store);
    w->math += times * x[0] * chunks;
    if (!w->detailed) return;
    add_terms(w, g, x, times);
    w->term[MODEL_TERM_fill] += times * fill;
    w->term[MODEL_TERM_store] += times * store;
    w->l2_read += times * (g->of.l2_bytes * chunks + g->pixel_bytes) * groups;
    w->dram_read += times * dram * chunks;
}

/* The launch that copies A or B. */
static double copy_seconds(const ModelKernel *k, const ModelDevice *d, const ModelRates *r,
                           const ModelSize *z)
{
    double elements = (model_is_copied(k->pack_a, z->align_a) ? z->m : 0) +
                      (model_is_copied(k->pack_b, z->align_b) ? z->n : 0);
    if (elements <= 0) return 0;
    return r->split_s + elements * z->k * z->batch * model_copy_seconds(k, d, r);
}

static double split_seconds(const ModelKernel *k, const ModelDevice *d, const ModelRates *r,
                            const ModelSize *z)
{
    const ModelSums sums = model_sums(k, d, r);
    const double bytes = z->m * z->n * z->batch * sums.element_bytes;
    return sums.launch_s + bytes / (bytes < MODEL_RESIDENT * d->l2_bytes ? sums.l2_rate : sums.dram_rate);
}

/* Seconds for which parts of a tile wait for parts that do not run yet, in all rounds. Parts of a tile are
 * one row of tiles apart in work-group order. */
static double part_waits(const Gpu *g)
{
    const ModelKernel *k = g->k;
    const double late_s = model_late_seconds(k);
    if (late_s <= 0) return 0;
    const double slots = g->cus * k->groups;
    const double late = least(1, (g->tiles_m * k->split - slots) / g->tiles_m);
    return late > 0 ? late * late_s * up(g->groups / slots) : 0;
}

static double bound(const ModelKernel *k, const ModelDevice *d, const ModelSize *z)
{
    double math = 2 * z->m * z->n * z->k * z->batch / (k->peak * d->n_cu * d->clock_hz);
    double ab = (z->m + z->n) * z->k * k->bytes_ab, c = z->m * z->n * k->bytes_d;
    double bytes = z->batch * (ab + c * (z->reads_c ? 2 : 1));
    return most(math, bytes / d->dram_rate);
}

static void finish(const ModelKernel *k, const ModelDevice *d, const ModelSize *z, const Waves *sum,
                   double seconds, ModelTime *out)
{
    out->seconds = seconds;
    out->bound_seconds = bound(k, d, z);
    if (!sum->detailed) return;
    out->binds = MODEL_TERM_math;
    for (int i = 0; i < MODEL_N_TERMS; i++) {
        out->term[i] = sum->term[i];
        if (out->term[i] > out->term[out->binds]) out->binds = (ModelTerm)i;
    }
    out->l2_read = sum->l2_read;
    out->dram_read = sum->dram_read;
}

/* Whole rounds of `groups` work-groups, and the rest of them. Returns the number of rounds. */
static double add_rounds(Waves *sum, const Gpu *g, double groups, double slots)
{
    double rest = groups, full = 0;
    if (groups > slots) {
        full = down(groups / slots);
        rest = groups - full * slots;
        add_waves(sum, g, slots, g->k->groups, true, 1);
        if (full > 1) add_waves(sum, g, slots, g->k->groups, false, full - 1);
    }
    if (rest > 0) add_waves(sum, g, rest, up(rest / g->cus), full == 0, 1);
    return full + (rest > 0);
}

/* Seconds of adding up the shares of cut tiles: the cost by which the kernel or launch chose the cut
 * (stream_part, stream_fix), else the time in which each work-group stores the sums of a tile and another one
 * reads them. */
static double shares_seconds(const Gpu *g, int64_t times)
{
    const ModelKernel *k = g->k;
    const double tile = (double)k->tile_m * k->tile_n;
    if (k->stream_part) /* in elements of K of a tile */
        return (double)(times * k->stream_part + k->stream_fix) / k->depth *
               overlap(g->of.math_s, g->of.local_s, g->of.latency_s, 0, 0);
    return (2 * tile * k->bytes_sum / (32 * g->r->store) + g->r->load_clocks) / g->d->clock_hz;
}

/* Stream-K kernels whose launches have one work-group for each part of each tile. */
static double add_even(Waves *sum, Gpu *g, double slots, const StreamKernel *kernel, double *split)
{
    const double chunks = g->chunks;
    const int64_t parts =
        stream_even_parts(kernel, (int64_t)g->groups, (int64_t)most(1, g->cus), (int64_t)g->z->k);
    g->chunks = up(chunks / (double)parts);
    const double rounds = add_rounds(sum, g, g->groups * (double)parts, slots);
    *split = parts > 1 ? shares_seconds(g, (int64_t)rounds) : 0;
    g->chunks = chunks;
    return rounds;
}

/* Stream-K: rounds of whole tiles, then the shares of the others. *split: seconds of adding the shares up. */
static double add_stream(Waves *sum, Gpu *g, double slots, double *split)
{
    const ModelKernel *k = g->k;
    const double cluster = (double)k->cluster_m * k->cluster_n;
    const StreamKernel kernel = {k->stream_k, k->depth, k->stream_part, k->stream_fix, k->stream_blocks};
    StreamCut cut;
    *split = 0;
    if (k->stream_blocks) return add_even(sum, g, slots, &kernel, split);
    if (!stream_cut(&kernel, (int64_t)(g->groups / cluster), (int64_t)most(1, down(slots / cluster)),
                    (int64_t)g->z->k, k->stream_part ? 1 : 0, &cut) ||
        cut.tiles == 0)
        return add_rounds(sum, g, g->groups, slots);
    const double whole = g->groups - (double)cut.tiles * cluster, chunks = g->chunks;
    const double shares =
        cut.parts ? (double)(cut.tiles * cut.parts) * cluster : least(slots, g->groups * chunks);
    const double rounds = whole > 0 ? add_rounds(sum, g, whole, slots) : 0;
    g->chunks = (double)cut.share + (cut.longer > 0);
    g->unshared = cut.parts == 0; /* shares begin at any place of K: on an H200 they took 1.9 times as long */
    const double each = up(shares / g->cus);
    add_waves(sum, g, shares, each, rounds == 0, 1);
    /* a share of more than a tile stores several */
    sum->seconds += down((double)cut.share / most(chunks, 1)) * (g->store_s * each + group_seconds(g));
    g->unshared = false;
    if (cut.parts > 1 || g->chunks < chunks) *split = shares_seconds(g, cut.parts);
    g->chunks = chunks;
    return rounds + 1;
}

/* The part of the last round of `slots` work-groups that is busy. */
static double last_fill(double groups, double slots)
{
    const double rest = groups - down(groups / slots) * slots;
    return rest > 0 ? rest / slots : 1;
}

static double edge_waste(const ModelKernel *k, const ModelSize *z, double tiles_m, double tiles_n)
{
    return 1 - z->m * z->n / (tiles_m * k->tile_m * tiles_n * k->tile_n);
}

static double gpu_time(const ModelKernel *k, const ModelDevice *d, const ModelRates *r, const ModelSize *z,
                       const ModelReady *ready, bool detailed, ModelTime *out)
{
    Gpu g;
    double wide = 1;
    bool groups = false;
    const ModelSize all = ready ? *z : model_sides(k, z, &wide, &groups);
    gpu_init(&g, k, d, r, &all, wide, groups, ready);
    const double slots = g.cus * k->groups;
    double shares = 0, rounds;
    Waves sum;
    sum.seconds = sum.math = 0;
    sum.detailed = detailed;
    if (detailed) sum = (Waves){.detailed = true};
    if (k->split_kind == MODEL_SPLIT_STREAM)
        rounds = add_stream(&sum, &g, slots, &shares);
    else
        rounds = add_rounds(&sum, &g, g.groups, slots);
    double busy = sum.seconds > 0 ? sum.math * r->math / sum.seconds : 0;
    double split = shares + split_seconds(k, d, r, z) + part_waits(&g);
    double copy = copy_seconds(k, d, r, z);
    double seconds = sum.seconds * (1 + r->power * least(busy, 1)) + copy + split + r->launch_s;
    if (!out) return seconds;
    if (detailed) {
        sum.term[MODEL_TERM_split] = split;
        sum.term[MODEL_TERM_copy] = copy;
        sum.term[MODEL_TERM_launch] = r->launch_s;
    }
    finish(k, d, z, &sum, seconds, out);
    out->tiles = g.groups;
    out->waves = rounds;
    out->last_fill = shares > 0 ? 1 : last_fill(g.groups, slots);
    out->edge_waste = edge_waste(k, &all, g.tiles_m, g.tiles_n);
    return seconds;
}

/* ---- CPUs ---- */

double model_host_step(int32_t load, int32_t bytes, int32_t unit)
{
    return least(unit, most(1, (double)load / bytes));
}

double model_host_rate(const ModelKernel *k, const ModelRates *r)
{
    return (double)k->rate * r->math * (k->rate < k->peak ? r->slow : 1);
}

/* Register tiles of a CPU kernel on a size of so many vectors and columns; those at the edges of D have what
 * is left of these. */
typedef struct {
    double n, n_edge; /* all of them; those at an edge, at two edges twice */
    double squares;   /* sum of the squares of their numbers of vectors */
} HostTiles;

static HostTiles host_tiles(double vectors, double columns, double tile_vectors, double tile_columns)
{
    const double m = up(vectors / tile_vectors), n = up(columns / tile_columns),
                 full_m = floor(vectors / tile_vectors), full_n = floor(columns / tile_columns),
                 edge_m = vectors - full_m * tile_vectors, edge_n = columns - full_n * tile_columns;
    return (HostTiles){.n = m * n,
                       .n_edge = (edge_m > 0 ? n : 0) + (edge_n > 0 ? m : 0),
                       .squares = (full_m * tile_vectors * tile_vectors + edge_m * edge_m) *
                                  (full_n * tile_columns * tile_columns + edge_n * edge_n)};
}

static double host_time(const ModelKernel *k, const ModelDevice *d, const ModelRates *r, const ModelSize *z,
                        ModelTime *out)
{
    double tiles = up(z->m / k->tile_m) * up(z->n / k->tile_n) * z->batch;
    if (k->split_kind == MODEL_SPLIT_WORKSPACE) tiles *= k->split;
    double threads = least(d->n_cu, tiles), rounds = up(tiles / threads) * threads / tiles;
    double per = z->batch * rounds / threads, hz = d->clock_hz;
    double micro_m = up(z->m / k->unit_m), micro_n = up(z->n / k->unit_n);
    double k_blocks = up(z->k / k->depth), ab = k->bytes_ab;
    double step_m = model_host_step(k->load_a, k->bytes_ab, k->unit_m),
           step_n = model_host_step(k->load_b, k->bytes_ab, k->unit_n);
    double vectors = up(z->m / step_m), columns = up(z->n / step_n), rows = vectors * step_m,
           elements = rows * columns * step_n;
    double tile_vectors = k->unit_m / step_m, tile_columns = k->unit_n / step_n;
    double loads = (vectors * micro_n + columns * micro_m) / (tile_vectors + tile_columns);
    Waves sum = {.detailed = true};
    double *t = sum.term;
    t[MODEL_TERM_math] = per * 2 * elements * z->k / model_host_rate(k, r) / hz;
    t[MODEL_TERM_local] = per * loads * z->k * k->local_bytes / (d->local_rate * r->local) / hz;
    /* A's block is read for each column of register tiles; it stays in the L1 cache only when it is small */
    double a_reads = rows * z->k * micro_n * ab;
    double block = least(z->m, k->block_m) * least(z->k, k->depth) * ab;
    double l2_rate = d->l2_rate * r->l2;
    sum.l2_read = block > 16384 ? z->batch * a_reads : 0;
    t[MODEL_TERM_l2] = rounds / threads * sum.l2_read / l2_rate;
    /* the end of a register tile hides less behind the products of the next one, the more vectors it has */
    const HostTiles micro = host_tiles(vectors, columns, tile_vectors, tile_columns);
    double calls =
        per * k_blocks / hz *
        (micro.n * r->chunk_clocks + micro.squares * r->step_clocks + micro.n_edge * r->load_clocks);
    double chain = per * micro_m * micro_n * z->k * k->steps / 4.0 / hz;
    t[MODEL_TERM_latency] = calls + chain;
    double a_pack = k->pack_a ? z->m * z->k * up(z->n / k->block_n) : 0;
    double b_pack = k->pack_b ? z->n * z->k * up(z->m / k->tile_m) : 0;
    double packed = (a_pack * (k->free_a ? 2 : 3) + b_pack * (k->free_b ? 2 : 3)) * ab;
    t[MODEL_TERM_fill] = per * packed / l2_rate + rounds * tiles / threads * r->group_clocks / hz;
    double d_bytes = z->m * z->n * k->bytes_d * (2 * k_blocks - (z->reads_c ? 0 : 1));
    t[MODEL_TERM_store] = per * d_bytes / (l2_rate * r->store);
    /* without packing a column of A is a line of memory of its own */
    double strided = k->pack_a ? 0 : a_reads * least(1, 64.0 / (k->unit_m * ab));
    sum.dram_read =
        z->batch * ((z->m + z->n) * z->k * ab + (block > d->l2_bytes / 2 ? a_reads : strided * 0.1));
    t[MODEL_TERM_dram] = (sum.dram_read + z->batch * d_bytes) / (d->dram_rate * r->dram);
    t[MODEL_TERM_split] =
        k->split > 1 ? z->m * z->n * z->batch * k->split * k->bytes_sum / l2_rate + r->split_s : 0;
    t[MODEL_TERM_launch] = r->launch_s * (threads > 1 ? 2 : 1);
    double loop =
        overlap(t[MODEL_TERM_math], t[MODEL_TERM_local], t[MODEL_TERM_l2], t[MODEL_TERM_dram], chain);
    double seconds =
        loop + calls + t[MODEL_TERM_fill] + t[MODEL_TERM_store] + t[MODEL_TERM_split] + t[MODEL_TERM_launch];
    if (!out) return seconds;
    finish(k, d, z, &sum, seconds, out);
    out->tiles = tiles;
    out->waves = up(tiles / threads);
    out->last_fill = 1 / rounds;
    out->edge_waste = 1 - z->m * z->n / elements;
    return seconds;
}

double model_time(const ModelKernel *k, const ModelDevice *d, const ModelRates *r, const ModelSize *z,
                  ModelTime *out)
{
    return k->class == MODEL_HOST ? host_time(k, d, r, z, out) : gpu_time(k, d, r, z, NULL, out != NULL, out);
}

/* ---- numbers made ready ---- */

void model_ready(const ModelKernel *k, const ModelDevice *d, const ModelRates *r, ModelReady *out)
{
    Gpu g = {.k = k, .d = d, .r = r};
    *out = (ModelReady){.usable = model_is_plain(k) && d->n_cu > 0};
    if (!out->usable) return;
    gpu_fixed(&g);
    out->cus = g.cus, out->waits_s = g.waits_s, out->dram_s = g.dram_s, out->fill_s = g.fill_s;
    for (int a = 0; a < MODEL_ALIGNS; a++)
        for (int b = 0; b < MODEL_ALIGNS; b++) out->chunk[a][b] = chunk_of(k, d, r, 1 << a, 1 << b, NULL);
    for (int i = 0; i < MODEL_ALIGNS; i++)
        for (int c = 0; c < 2; c++)
            out->store_s[i][c] = model_store_clocks(k, d, r, 1 << i, c) * (1 / d->clock_hz);
}

double model_time_ready(const ModelReady *ready, const ModelKernel *k, const ModelDevice *d,
                        const ModelRates *r, const ModelSize *z, ModelTime *out)
{
    return ready->usable ? gpu_time(k, d, r, z, ready, false, out) : model_time(k, d, r, z, out);
}
