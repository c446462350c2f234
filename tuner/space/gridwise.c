/* Derived parameters of gridwise GEMMs. See gridwise.h. */
#include "space/gridwise.h"

#include <inttypes.h>
#include <string.h>

#include "base/integer.h"
#include "index/conv_view.h"

enum {
    PIPELINE = 2, /* parts of a thread along M and along N */
    LEVEL0 = 4,   /* threads of the inner cluster along M and along N */
    WAVE = 64,
    VECTOR_BYTES = 16, /* of the largest load and store */
    LOCAL_BYTES = 65536,
    STAGES = 2,
    BLOCK_LEAST = 64, /* threads */
    BLOCK_MOST = 256
};

/* ---- tables ---- */

/* Source: rocMLIR's GridwiseGemmParams.cpp and MIOpen's HeuristicInit of the vector kernels. */
static const GridwiseTuning quick[] = {
#define V(block, m, n, k, mt, nt)                                                                            \
    {                                                                                                        \
        false, block, m, n, k, mt, nt, 1, 0, 0, 0                                                            \
    }
    V(256, 128, 128, 16, 4, 4), V(256, 128, 128, 8, 4, 4), V(256, 128, 128, 4, 4, 4),
    V(128, 128, 64, 16, 4, 4),  V(128, 128, 64, 8, 4, 4),  V(128, 128, 64, 4, 4, 4),
    V(128, 64, 128, 16, 4, 4),  V(128, 64, 128, 8, 4, 4),  V(128, 64, 128, 4, 4, 4),
    V(64, 64, 64, 16, 4, 4),    V(64, 64, 64, 8, 4, 4),    V(64, 64, 64, 4, 4, 4),
    V(64, 64, 32, 16, 4, 2),    V(64, 64, 32, 8, 4, 2),    V(64, 64, 32, 4, 4, 2),
    V(64, 32, 64, 16, 2, 4),    V(64, 32, 64, 8, 2, 4),    V(64, 32, 64, 4, 2, 4),
    V(64, 32, 32, 16, 2, 2),    V(64, 32, 32, 8, 2, 2),    V(64, 32, 32, 4, 2, 2),
#undef V
};
enum { N_QUICK = sizeof quick / sizeof *quick };

/* Source: GridwiseGemmParams.cpp, the list for f32. */
static const GridwiseTuning quick_matrix[] = {
#define X(m, n, k, mw, nw, pack)                                                                             \
    {                                                                                                        \
        true, 0, m, n, k, mw, nw, pack, 1, 1, 0                                                              \
    }
    X(128, 128, 4, 64, 64, 4),  X(32, 64, 4, 32, 64, 4),  X(128, 128, 8, 64, 64, 1),
    X(128, 128, 16, 64, 64, 1), X(8, 64, 8, 8, 64, 1),    X(4, 64, 16, 4, 64, 1),
    X(32, 64, 4, 32, 64, 1),    X(16, 16, 16, 16, 16, 1), X(16, 16, 4, 16, 16, 1),
#undef X
};
enum { N_QUICK_MATRIX = sizeof quick_matrix / sizeof *quick_matrix };

/* Tiles of a wave and the multiple of K that their instructions need (isValidBlockwiseGemmXDLOPS). */
static const struct {
    int m, n, k;
} wave_tiles[] = {{128, 128, 1}, {128, 64, 1}, {64, 128, 1}, {64, 64, 1}, {64, 32, 1}, {64, 16, 1},
                  {32, 64, 1},   {32, 32, 2},  {16, 64, 1},  {16, 16, 4}, {8, 64, 1},  {4, 64, 1}};

const GridwiseTuning *gridwise_quick(bool matrix, size_t i)
{
    if (matrix) return i < N_QUICK_MATRIX ? &quick_matrix[i] : NULL;
    return i < N_QUICK ? &quick[i] : NULL;
}

/* ---- numbers ---- */

static int64_t lcm(int64_t a, int64_t b) { return a / int_gcd(a, b) * b; }
static bool is_power(int64_t v, int64_t least, int64_t most)
{
    return v >= least && v <= most && (v & (v - 1)) == 0;
}

/* ---- runs of contiguous elements ---- */

/* One of the tensor's dimensions that are merged to a side of the product. */
typedef struct {
    int64_t count; /* in the product */
    int64_t step;  /* elements in memory from one to the next */
    bool whole;    /* no pads and no gaps between its elements */
} Letter;

static int spatial_of(const char *names, char letter)
{
    const char *at = strchr(names, letter);
    return at ? (int)(at - names) : -1;
}

/* Letters of the product are K, C, N, filter elements X Y Z and positions W H D; stride: of the tensor in
 * conv_tensor's order. */
static Letter letter_of(const ConvDesc *c, ConvTensor t, char letter, const int64_t stride[CONV_DIMS])
{
    const ConvSize *s = &c->size;
    const bool data = c->op == OP_CONV_BACKWARD_DATA, filter = t == CONV_FILTER, input = t == CONV_INPUT;
    const int tap = spatial_of(conv_names_filter, letter), at = spatial_of(conv_names_out, letter);
    if (letter == 'N') return (Letter){s->n, stride[0], true};
    if (letter == 'K') return (Letter){s->k / s->groups, stride[filter ? 0 : 1], true};
    if (letter == 'C') return (Letter){s->c / s->groups, stride[1], true};
    const int d = tap >= 0 ? tap : at;
    const int64_t memory = stride[CONV_DIMS - 1 - d];
    ConvSlices v;
    conv_slices(s, d, &v);
    const bool all =
        s->stride[d] == 1 && v.left == s->pad[d] && v.size == s->in[d]; /* of the slice of data */
    const bool whole = filter || conv_is_pointwise(c) || (data ? input && all : !input);
    if (tap >= 0) {
        const int64_t count = data ? conv_phase_taps(s, d, 0) : s->filter[d];
        const int64_t by = filter ? (data ? v.phases : 1) : data ? -1 : s->dilation[d];
        return (Letter){count, by * memory, whole};
    }
    return (Letter){data ? v.size : conv_out(s, d), (input ? s->stride[d] : 1) * memory, whole};
}

/* Positions of a padded row that are inside or outside together, for every filter element (MIOpen's rule). */
static int64_t positions_together(const ConvSize *s, int64_t count)
{
    return int_gcd(count, int_gcd(int_gcd(s->pad[0], s->pad_end[0]), int_gcd(s->in[0], s->dilation[0])));
}

/* How many consecutive elements along a side of the product are contiguous in memory. */
static int64_t run_along(const ConvDesc *c, ConvTensor t, char side)
{
    int64_t size[CONV_DIMS], stride[CONV_DIMS], run = 1;
    char letters[CONV_DIMS];
    int i = conv_side(c, side, letters);
    conv_tensor(c, t, size, stride);
    while (i-- > 0) {
        const Letter l = letter_of(c, t, letters[i], stride);
        if (l.count == 1) continue;
        if (l.step != run) break;
        if (!l.whole) return letters[i] == 'W' ? positions_together(&c->size, l.count) : run;
        run *= l.count;
    }
    return run;
}

void gridwise_of_conv(const ConvDesc *c, int64_t i, GridwiseProblem *out)
{
    ConvGemm g;
    conv_gemm(c, i, &g);
    *out = (GridwiseProblem){.m = g.m,
                             .n = g.n,
                             .k = g.k,
                             .groups = c->size.groups,
                             .bytes = type_bytes((DataType)c->type[conv_right(c)]),
                             .run_a = {run_along(c, conv_left(c), 'K'), run_along(c, conv_left(c), 'M')},
                             .run_b = {run_along(c, conv_right(c), 'K'), run_along(c, conv_right(c), 'N')},
                             .run_d = run_along(c, conv_result(c), 'N')};
}

void gridwise_of_gemm(int64_t m, int64_t n, int64_t k, int32_t bytes, GridwiseProblem *out)
{
    *out = (GridwiseProblem){
        .m = m, .n = n, .k = k, .groups = 1, .bytes = bytes, .run_a = {1, 1}, .run_b = {1, 1}, .run_d = 1};
}

/* ---- rules ---- */

#define REFUSE(...)                                                                                          \
    do {                                                                                                     \
        buf_reset(why);                                                                                      \
        buf_printf(why, __VA_ARGS__);                                                                        \
        return false;                                                                                        \
    } while (0)

static bool in_range(const char *name, int64_t v, int64_t least, int64_t most, Buf *why)
{
    if (!is_power(v, least, most))
        REFUSE("%s %" PRId64 ", expected a power of two from %" PRId64 " to %" PRId64, name, v, least, most);
    return true;
}

static bool ranges(const GridwiseTuning *t, Buf *why)
{
    enum { TILE_VECTOR = 32, TILE_MOST = 128, K_LEAST = 4, K_MOST = 16, PART_LEAST = 2, PART_MOST = 4 };
    enum { TILE_MATRIX = 4, TILE_MATRIX_MOST = 256, K_MATRIX_MOST = 32, PACK_MOST = 8 };
    if (!t->matrix)
        return (!t->block_size || in_range("BLOCK_SIZE", t->block_size, BLOCK_LEAST, BLOCK_MOST, why)) &&
               in_range("M_PER_BLOCK", t->m_per_block, TILE_VECTOR, TILE_MOST, why) &&
               in_range("N_PER_BLOCK", t->n_per_block, TILE_VECTOR, TILE_MOST, why) &&
               in_range("K_PER_BLOCK", t->k_per_block, K_LEAST, K_MOST, why) &&
               in_range("M_PER_THREAD", t->m_per_part, PART_LEAST, PART_MOST, why) &&
               in_range("N_PER_THREAD", t->n_per_part, PART_LEAST, PART_MOST, why);
    return in_range("M_PER_BLOCK", t->m_per_block, TILE_MATRIX, TILE_MATRIX_MOST, why) &&
           in_range("N_PER_BLOCK", t->n_per_block, TILE_MATRIX, TILE_MATRIX_MOST, why) &&
           in_range("K_PER_BLOCK", t->k_per_block, 1, K_MATRIX_MOST, why) &&
           in_range("M_PER_WAVE", t->m_per_part, TILE_MATRIX, TILE_MOST, why) &&
           in_range("N_PER_WAVE", t->n_per_part, TILE_MATRIX, TILE_MOST, why) &&
           in_range("K_PACK", t->k_pack, 1, PACK_MOST, why);
}

static bool vector_block(const GridwiseTuning *t, GridwiseDerived *d, Buf *why)
{
    const int64_t tile[2] = {t->m_per_block, t->n_per_block}, part[2] = {t->m_per_part, t->n_per_part};
    d->block_size = 1;
    for (int i = 0; i < 2; i++) {
        const int64_t unit = part[i] * LEVEL0 * PIPELINE;
        d->level0[i] = LEVEL0;
        d->level1[i] = tile[i] / unit;
        if (tile[i] % unit || d->level1[i] == 0)
            REFUSE("%c_PER_BLOCK %" PRId64 " is no multiple of %c_PER_THREAD %" PRId64
                   " * LEVEL0_CLUSTER %d * pipeline %d",
                   "MN"[i], tile[i], "MN"[i], part[i], LEVEL0, PIPELINE);
        d->block_size *= d->level0[i] * d->level1[i];
    }
    if (t->block_size && t->block_size != d->block_size)
        REFUSE("BLOCK_SIZE %" PRId64 ", but the clusters have %" PRId64
               " threads: with another number a thread would not have 2 x 2 parts",
               t->block_size, d->block_size);
    return true;
}

static bool matrix_block(const GridwiseTuning *t, GridwiseDerived *d, Buf *why)
{
    const size_t n = sizeof wave_tiles / sizeof *wave_tiles;
    size_t i = 0;
    while (i < n && (wave_tiles[i].m != t->m_per_part || wave_tiles[i].n != t->n_per_part)) i++;
    if (i == n)
        REFUSE("no matrix instructions for a wave's tile of %" PRId64 " x %" PRId64, t->m_per_part,
               t->n_per_part);
    if (t->k_per_block * t->k_pack % wave_tiles[i].k)
        REFUSE("K_PER_BLOCK %" PRId64 " is no multiple of the instruction's %d", t->k_per_block,
               wave_tiles[i].k);
    if (t->m_per_block % t->m_per_part || t->n_per_block % t->n_per_part)
        REFUSE("%" PRId64 " x %" PRId64 " per block are no multiple of %" PRId64 " x %" PRId64 " per wave",
               t->m_per_block, t->n_per_block, t->m_per_part, t->n_per_part);
    d->waves[0] = t->m_per_block / t->m_per_part, d->waves[1] = t->n_per_block / t->n_per_part;
    d->block_size = d->waves[0] * d->waves[1] * WAVE;
    return true;
}

/* Copies elements[K][free] with all threads. */
static bool copy_of(const char *name, int64_t k, int64_t free_size, int64_t pack, const int64_t run[2],
                    int64_t threads, int64_t vector, GridwiseCopy *out, Buf *why)
{
    const int64_t per_thread = k * free_size * pack / threads, tile[2] = {k * pack, free_size};
    int64_t length[2];
    if (k * free_size * pack % threads || per_thread == 0)
        REFUSE("%s of %" PRId64 " x %" PRId64 " elements cannot be dealt to %" PRId64 " threads", name,
               k * pack, free_size, threads);
    out->read = 1, out->read_side = SIDE_FREE;
    for (int side = 0; side < 2; side++) {
        const int64_t read = int_gcd(int_gcd(vector, tile[side]), int_gcd(per_thread, run[side]));
        if (read > out->read) out->read = read, out->read_side = side;
    }
    const int other = 1 - out->read_side;
    length[out->read_side] = out->read;
    length[other] = int_gcd(tile[other], per_thread / out->read);
    length[out->read_side] = per_thread / length[other];
    out->cluster[SIDE_K] = tile[SIDE_K] / length[SIDE_K];
    out->cluster[SIDE_FREE] = tile[SIDE_FREE] / length[SIDE_FREE];
    /* local memory has M (N) contiguous, or the elements of K that are packed */
    out->write = int_gcd(vector, pack > 1 ? int_gcd(pack, length[SIDE_K]) : length[SIDE_FREE]);
    return true;
}

static int64_t local_bytes(const GridwiseTuning *t, const GridwiseProblem *p, const GridwiseDerived *d)
{
    int64_t align = lcm(d->a.write, d->b.write);
    if (!t->matrix) align = lcm(align, lcm(t->m_per_part, t->n_per_part));
    if (t->k_pack > 1) align = 1;
    const int64_t rows = int_round_up(t->m_per_block, align) + int_round_up(t->n_per_block, align);
    return STAGES * t->k_per_block * t->k_pack * rows * p->bytes;
}

bool gridwise_derive(const GridwiseTuning *t, const GridwiseProblem *p, GridwiseDerived *d, Buf *why)
{
    const int64_t vector = VECTOR_BYTES / p->bytes, k_block = t->k_per_block * t->k_pack;
    memset(d, 0, sizeof *d);
    if (!ranges(t, why) || !(t->matrix ? matrix_block(t, d, why) : vector_block(t, d, why))) return false;
    if (d->block_size < BLOCK_LEAST || d->block_size > BLOCK_MOST)
        REFUSE("BLOCK_SIZE %" PRId64 " is not in %d..%d", d->block_size, BLOCK_LEAST, BLOCK_MOST);
    if (!copy_of("A", t->k_per_block, t->m_per_block, t->k_pack, p->run_a, d->block_size, vector, &d->a,
                 why) ||
        !copy_of("B", t->k_per_block, t->n_per_block, t->k_pack, p->run_b, d->block_size, vector, &d->b, why))
        return false;
    d->d_write = t->matrix ? 1 : int_gcd(int_gcd(vector, t->n_per_part), p->run_d);
    d->local_bytes = local_bytes(t, p, d);
    if (d->local_bytes > LOCAL_BYTES)
        REFUSE("two stages of A and B have %" PRId64 " bytes, local memory %d", d->local_bytes, LOCAL_BYTES);
    d->padded_m = int_round_up(p->m, t->m_per_block);
    d->padded_n = int_round_up(p->n, t->n_per_block);
    d->padded_k = int_round_up(p->k, k_block);
    d->grid = d->padded_m / t->m_per_block * (d->padded_n / t->n_per_block) * p->groups;
    return true;
}

double gridwise_padding(const GridwiseProblem *p, const GridwiseDerived *d)
{
    return (double)d->padded_m * (double)d->padded_n * (double)d->padded_k /
               ((double)p->m * (double)p->n * (double)p->k) -
           1;
}

const GridwiseTuning *gridwise_first(bool matrix, const GridwiseProblem *p, GridwiseDerived *out)
{
    const GridwiseTuning *best = NULL, *t;
    GridwiseDerived d;
    Buf why;
    buf_init(&why);
    for (size_t i = 0; (t = gridwise_quick(matrix, i)); i++) {
        if (!gridwise_derive(t, p, &d, &why)) continue;
        if (best && gridwise_padding(p, &d) >= gridwise_padding(p, out)) continue;
        best = t, *out = d;
    }
    buf_fini(&why);
    return best;
}
