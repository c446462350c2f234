/* Parts of a GPU launch's predicted time that depend on the kernel, the device and alignments alone. See
 * model.h. */
#include "problem/model.h"

static double least(double a, double b) { return a < b ? a : b; }
static double most(double a, double b) { return a > b ? a : b; }

/* Clocks of accesses that are narrower than 16 bytes for each lane: the address units accept 8 lanes in a
 * clock (H200, A100 and MI300 agree within a factor of two). */
static double access_clocks(double bytes, int32_t width) { return bytes / (width * 8.0); }

static int32_t width_of(int32_t width, int32_t align)
{
    return align > 0 && align < width ? align : width > 0 ? width : 1;
}

/* Results of wgmma that the copy engine does not store, by EngineStore or by their alignment: the threads of
 * a consumer store their elements one after the other. ELEMENT_CLOCKS of each: measured on an H200, where 64
 * and 128 elements of a thread take about 2 and 4 us. */
static double element_clocks(const ModelKernel *k, bool aligned)
{
    static const double ELEMENT_CLOCKS = 60, WARP_GROUP = 128;
    const bool sums = k->split_kind == MODEL_SPLIT_WORKSPACE || k->split_kind == MODEL_SPLIT_JOINED;
    const bool lines = k->store > k->bytes_d && aligned;
    if (sums || lines || k->split_kind == MODEL_SPLIT_CLUSTER) return 0;
    const double consumers = k->persistent == 2 ? 1 : most(k->threads / WARP_GROUP - 1, 1);
    return ELEMENT_CLOCKS * k->tile_m * k->tile_n / (WARP_GROUP * consumers);
}

double model_store_clocks(const ModelKernel *k, const ModelDevice *d, const ModelRates *r, int32_t align_d,
                          bool reads_c)
{
    bool sums = k->split_kind == MODEL_SPLIT_WORKSPACE || k->split_kind == MODEL_SPLIT_JOINED;
    double element = sums ? k->bytes_sum : k->bytes_d * ((k->flags & MODEL_READS_C) && reads_c ? 2.0 : 1.0);
    double bytes = (double)k->tile_m * k->tile_n * element, clocks = bytes / (32 * r->store);
    /* sums of a cluster are written to local memory once, and read once */
    if (k->split_kind == MODEL_SPLIT_CLUSTER)
        clocks = clocks / k->split + 2.0 * k->tile_m * k->tile_n * k->bytes_sum / (d->local_rate * r->local);
    if (k->class == MODEL_ENGINE) return clocks + element_clocks(k, align_d >= MODEL_ENGINE_ALIGN);
    return clocks + access_clocks(bytes, width_of(k->store, sums ? 16 : align_d));
}

bool model_is_copied(int32_t pack, int32_t align)
{
    const int32_t when = pack & MODEL_PACK_MASK;
    return when == MODEL_PACK_ALWAYS || (when == MODEL_PACK_UNALIGNED && align < MODEL_ENGINE_ALIGN);
}

/* Bytes that the L2 cache gives for one that is used. The copy engine asks for a box's row, a line or
 * less, line by line: a row that does not begin with a line lies in two of them, of which the cache reads
 * the sectors that it needs (H200, f16: a chunk of 128x128x64 takes 640 clocks with such rows, which fits
 * TWO_LINES). Of other loads the cache gives SECTOR bytes at least, and a
 * tile has fewer in a row where its side lies along contiguous memory (H200: 1 to 4 halves of a column,
 * 4096x1x4096). Where a tile has the whole side, rows follow each other in a sector.
 * side, all: elements of the tile and of the operand along its side. */
static const double SECTOR = 32;
static bool is_narrow(const ModelKernel *k, bool contiguous, int32_t side)
{
    return k->class != MODEL_ENGINE && contiguous && (double)side * k->bytes_ab < SECTOR;
}

bool model_is_plain(const ModelKernel *k)
{
    return k->class != MODEL_HOST && !model_has_other_sides(k) && !model_pixels(k) &&
           !is_narrow(k, k->free_a, k->tile_m) && !is_narrow(k, k->free_b, k->tile_n);
}

static double l2_waste(const ModelKernel *k, bool contiguous, int32_t side, double all, int32_t align)
{
    static const double TWO_LINES = 0.7;
    const double row = (double)(contiguous ? side : k->depth) * k->bytes_ab;
    if (k->class == MODEL_ENGINE)
        return 1 + TWO_LINES * most(least(row, MODEL_ALIGN_MAX) - align, 0) / MODEL_ALIGN_MAX;
    return is_narrow(k, contiguous, side) && side < all ? SECTOR / row : 1;
}

/* The part of an operand's elements of a chunk of K that are loaded for it. once: as of a ModelSize. */
static double loaded_of(int32_t pack, double once)
{
    const int32_t how = pack & MODEL_PACK_MASK;
    return how == MODEL_PIXELS_KEPT ? 0 : how > MODEL_PIXELS_KEPT ? once : 1.0 / model_taps(pack);
}

double model_l2_bytes(const ModelKernel *k, int32_t align_a, int32_t align_b, const ModelSize *z)
{
    const double part = k->bytes_ab * (double)k->depth, a = k->tile_m * part / k->cluster_n,
                 b = k->tile_n * part / k->cluster_m;
    const int32_t of_a = model_is_copied(k->pack_a, align_a) ? MODEL_ALIGN_MAX : align_a,
                  of_b = model_is_copied(k->pack_b, align_b) ? MODEL_ALIGN_MAX : align_b;
    return a * loaded_of(k->pack_a, z ? model_once(z->once_a) : 0) *
               l2_waste(k, k->free_a, k->tile_m, z ? z->m : 0, of_a) +
           b * loaded_of(k->pack_b, z ? model_once(z->once_b) : 0) *
               l2_waste(k, k->free_b, k->tile_n, z ? z->n : 0, of_b);
}

ModelChunk model_chunk(const ModelKernel *k, const ModelDevice *d, const ModelRates *r, int32_t align_a,
                       int32_t align_b)
{
    const double part = k->bytes_ab * (double)k->depth, a = model_is_kept(k->pack_a) ? 0 : k->tile_m * part,
                 b = model_is_kept(k->pack_b) ? 0 : k->tile_n * part;
    const double math = 2.0 * k->tile_m * k->tile_n * k->depth / ((double)k->rate * r->math);
    double local = (double)k->local_bytes * k->depth / (d->local_rate * r->local), wait = r->load_clocks;
    const int32_t width_a = width_of(k->load_a, align_a), width_b = width_of(k->load_b, align_b);
    const bool slow = k->class != MODEL_ENGINE && (width_a < k->load_a || width_b < k->load_b);
    if (k->class != MODEL_ENGINE) local += access_clocks(a, width_a) + access_clocks(b, width_b);
    if (slow) /* element by element, without loads ahead */
        wait += math + local + (a + b) / (2.0 * k->threads) * 8 * r->slow;
    else
        wait = k->stages > 1 ? wait / (k->stages - 1) : wait + math + local;
    return (ModelChunk){math, local, most(r->chunk_clocks + k->steps * r->step_clocks, wait)};
}

double model_wait_clocks(const ModelKernel *k, const ModelRates *r)
{
    const int32_t cluster = k->cluster_m * k->cluster_n;
    return cluster > 1 ? r->cluster_clocks * (cluster > 4 ? 3 : cluster / 2.0) : 0;
}

double model_copy_seconds(const ModelKernel *k, const ModelDevice *d, const ModelRates *r)
{
    return 2.0 * k->bytes_ab / (d->dram_rate * r->dram);
}

ModelSums model_sums(const ModelKernel *k, const ModelDevice *d, const ModelRates *r)
{
    const double l2_rate = d->l2_rate * r->l2, bytes = k->split * (double)k->bytes_sum + k->bytes_d;
    if (k->split_kind == MODEL_SPLIT_NONE || k->split_kind == MODEL_SPLIT_STREAM)
        return (ModelSums){0, 0, l2_rate, l2_rate};
    /* no launch, but its parts begin together and wait for each other (H200: 0.4 to 1.4 us) */
    if (k->split_kind == MODEL_SPLIT_CLUSTER) return (ModelSums){0.3 * r->split_s, 0, l2_rate, l2_rate};
    if (k->split_kind == MODEL_SPLIT_ATOMIC)
        return (ModelSums){r->split_s, k->bytes_d * (double)k->split, 0.25 * l2_rate, 0.25 * l2_rate};
    return (ModelSums){(k->split_kind == MODEL_SPLIT_JOINED ? 0.3 : 1) * r->split_s, bytes, 0.5 * l2_rate,
                       d->dram_rate * r->dram};
}

/* Wgmma kernels with MultipleBufferSingleKernel, in which each part stores a share of the tile. Where not all
 * parts of a row of tiles run at once, a round of work-groups waits in vain: on an H200, tiles of 128x64 in 4
 * and 8 parts took 14 to 20 us longer in each round. */
double model_late_seconds(const ModelKernel *k)
{
    return k->split_kind == MODEL_SPLIT_JOINED && k->class == MODEL_ENGINE ? 17e-6 : 0;
}
