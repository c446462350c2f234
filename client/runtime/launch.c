/* Launch: grids and argument bytes of the main kernel, and the list of calls. Helper kernels are in
 * launch_helper.c. Source: Tensile's ContractionSolution.cpp. */
#include "client/runtime/launch.h"

#include <string.h>

#include "client/runtime/launch_priv.h"
#include "index/walk.h"
#include "problem/datatype.h"

/* ---- numbers ---- */

void magic_division(int alg, uint32_t divisor, uint32_t *number, uint32_t *shift)
{
    uint64_t d = divisor;
    *number = *shift = 0;
    if (d == 0) return;
    if (alg == 1) {
        *shift = 33;
        uint64_t m = (UINT64_C(1) << 33) / d + 1;
        if (m >> 32) {
            *shift = 31;
            m = (UINT64_C(1) << 31) / d + 1;
        }
        *number = (uint32_t)m;
        return;
    }
    /* Warren, Hacker's Delight, unsigned division by constants: the least p >= 32 with 2^p > nc * (d-1 -
     * (2^p-1) % d) */
    uint64_t nc = UINT64_C(0xffffffff) - (UINT64_C(1) << 32) % d;
    for (unsigned p = 32; p <= 64; p++) {
        unsigned __int128 power = (unsigned __int128)1 << p;
        uint64_t delta = d - 1 - (uint64_t)((power - 1) % d);
        if (power <= (unsigned __int128)nc * delta && p < 64) continue;
        unsigned __int128 m = (power + delta) / d; /* 33 bits: the 33rd is the "add" flag */
        *number = (uint32_t)m;
        *shift = (p - 32) | (m >> 32 ? UINT32_C(1) << 31 : 0);
        return;
    }
}

uint32_t launch_stagger_iter(const Contraction *p, const LibSolution *s)
{
    const SizeMapping *m = &s->map;
    uint64_t stagger = (uint64_t)m->stagger_u;
    uint64_t loops = (uint64_t)p->k / (uint64_t)m->depth_u / (uint64_t)m->global_split_u;
    while (stagger > 1 && loops < stagger << m->stagger_stride_shift) stagger /= 2;
    return (uint32_t)(stagger ? stagger - 1 : 0);
}

/* ---- geometry ---- */

static uint64_t cluster_of(const SizeMapping *m, int dim)
{
    return m->cluster[dim] > 0 ? (uint64_t)m->cluster[dim] : 1;
}

/* Rows, columns and matrices of D as the kernel has them. */
static void sides_of(const Contraction *p, const LibSolution *s, uint64_t side[3])
{
    const bool rows_of_b = p->dims && indices_rows_of_b(&p->dims->indices);
    const uint64_t batch = (uint64_t)p->batch;
    const int32_t pack = s->map.pack_batch_dims;
    if (window_sides(s, p, side)) return;
    side[rows_of_b] = (uint64_t)p->m * (pack & 1 ? batch : 1);
    side[!rows_of_b] = (uint64_t)p->n * (pack & 2 ? batch : 1);
    side[2] = pack ? 1 : batch;
    if (s->map.keep_window) side[0] *= side[2], side[2] = 1; /* rows of all groups */
}

void geometry_init(Geometry *g, const Contraction *p, const LibSolution *s, const LaunchHardware *hw)
{
    const SizeMapping *m = &s->map;
    uint64_t side[3];
    sides_of(p, s, side);
    g->cu = hw && hw->n_cu > 0 ? (uint64_t)hw->n_cu : 1;
    g->tiles0 = ceil_div(side[0], (uint64_t)m->macro_tile[0]);
    g->tiles1 = ceil_div(side[1], (uint64_t)m->macro_tile[1]);
    g->tiles2 = side[2];
    g->tiles = g->tiles0 * g->tiles1 * g->tiles2;
    g->grid[0] = g->tiles0;
    g->grid[1] = g->tiles1 * (uint64_t)m->global_split_u;
    g->grid[2] = g->tiles2;
    g->sk_grid = 0;
    g->padded_tiles = ceil_div(g->tiles0, cluster_of(m, 0)) * cluster_of(m, 0);
    g->padded_tiles *= ceil_div(g->tiles1, cluster_of(m, 1)) * cluster_of(m, 1) * g->tiles2;
    if (m->stream_k_blocks) {
        const uint64_t parts = stream_even(p, s, g);
        g->sk_grid = g->tiles * parts;
        g->grid[0] *= parts;
    } else if (m->stream_k) {
        g->sk_grid = stream_grid(p, s, hw, g);
        uint64_t cluster = cluster_of(m, 0) * cluster_of(m, 1);
        if (g->sk_grid > cluster) g->sk_grid = g->sk_grid / cluster * cluster;
        if (g->sk_grid < cluster) g->sk_grid = cluster;
        g->grid[0] = g->sk_grid;
        g->grid[1] = 1;
        g->grid[2] = 1;
    }
    if (m->persistent_kernel) {
        uint64_t c0 = cluster_of(m, 0), c1 = cluster_of(m, 1), parts = cluster_of(m, 2);
        uint64_t cluster = c0 * c1 * parts, pk;
        /* in clusters beyond the edge, work-groups without a tile run too */
        uint64_t groups = ceil_div(g->grid[0], c0) * c0;
        groups *= ceil_div(g->tiles1, c1) * c1 * (uint64_t)m->global_split_u * parts;
        if (m->persistent_along_batch) {
            groups *= g->grid[2];
            g->grid[2] = 1;
        }
        pk = m->persistent_kernel > 0 ? (uint64_t)m->persistent_kernel : 5 * (groups / g->cu) / 8;
        if (pk < 1) pk = 1;
        g->grid[0] = g->cu * pk < groups ? g->cu * pk / cluster * cluster : groups;
        if (g->grid[0] < cluster) g->grid[0] = cluster;
        g->grid[1] = 1;
    }
}

/* Sums of parts of tiles lie in front of the flags that count them. Kernels in the Source form have 8 flags
 * for each part: counters and marks of up to 4 warp groups. Stream-K kernels in the Assembly form use a flag
 * for each group; Tensile's host clears as many for each matrix of the batch. */
WorkspaceParts workspace_parts(const LibSolution *s, const Geometry *g)
{
    uint64_t tile = (uint64_t)s->map.macro_tile[0] * (uint64_t)s->map.macro_tile[1] *
                    (uint64_t)s->map.workspace_bytes_per_c;
    uint64_t groups = s->map.stream_k ? g->sk_grid : g->padded_tiles;
    uint64_t slots = groups * (s->map.stream_k ? 2 : (uint64_t)s->map.global_split_u);
    WorkspaceParts parts = {.n_flags = s->map.source_kernel ? slots * WALK_SLOT_FLAGS
                                       : s->map.stream_k    ? groups * g->tiles2
                                                            : slots};
    if (__builtin_mul_overflow(tile, groups, &parts.sum_bytes))
        parts.sum_bytes = UINT64_MAX - parts.n_flags * 4;
    return parts;
}

/* Whether tiles may have parts. */
static bool has_parts(const Contraction *p, const LibSolution *s, const Geometry *g)
{
    if (s->map.stream_k) return !s->map.stream_k_atomic && stream_has_parts(p, s, g);
    return s->map.global_accumulation == GLOBAL_ACC_PARTIALS && s->map.global_split_u > 1;
}

uint64_t launch_results_bytes(const Contraction *p, const LibSolution *s, const LaunchHardware *hw)
{
    if (s->map.workspace_bytes_per_c == 0) return 0;
    if (s->map.stream_k || s->map.global_accumulation == GLOBAL_ACC_PARTIALS) {
        Geometry g;
        geometry_init(&g, p, s, hw);
        WorkspaceParts parts = workspace_parts(s, &g);
        if (s->map.stream_k_part && !has_parts(p, s, &g)) return 0;
        return parts.sum_bytes + (has_parts(p, s, &g) ? parts.n_flags * 4 : 0);
    }
    uint64_t bytes = (uint64_t)s->map.workspace_bytes_per_c;
    if (__builtin_mul_overflow(bytes, (uint64_t)p->m, &bytes) ||
        __builtin_mul_overflow(bytes, (uint64_t)p->n, &bytes) ||
        __builtin_mul_overflow(bytes, (uint64_t)p->batch, &bytes))
        return UINT64_MAX;
    return bytes;
}

/* The window that the kernel reads in copies of the problem's operands; false: it has none. */
static bool copies_window(const Contraction *p, const LibSolution *s, WindowCopy *copy)
{
    return copies_windows(s) && s->map.n_tensor_maps && is_window(p) && window_copy(s, p, copy);
}

uint64_t launch_workspace_bytes(const Contraction *p, const LibSolution *s, const LaunchHardware *hw)
{
    WindowCopy copy;
    if (copies_window(p, s, &copy))
        return launch_results_bytes(&copy.problem, s, hw) + window_copy_bytes(&copy);
    uint64_t bytes = launch_results_bytes(p, s, hw);
    if (s->map.pack_operands && __builtin_add_overflow(bytes, launch_pack_bytes(p, s), &bytes))
        return UINT64_MAX;
    return bytes;
}

/* ---- the main kernel's arguments ---- */

typedef struct {
    const Contraction *p;
    const LibSolution *s;
    const LaunchInputs *in;
    const Geometry *g;
    Args *args;
} Main;

/* 1 + sum of stride * (size - 1) over the dimensions that are not batch, or all; wraps for sizes of 0, as
 * Tensile's. */
static uint64_t elements(const Main *m, const int64_t stride[3], int64_t size0, int64_t size1,
                         bool with_batch)
{
    uint64_t n =
        1 + (uint64_t)stride[0] * ((uint64_t)size0 - 1) + (uint64_t)stride[1] * ((uint64_t)size1 - 1);
    return with_batch ? n + (uint64_t)stride[2] * ((uint64_t)m->p->batch - 1) : n;
}

static void put_tensor_sizes(const Main *m)
{
    const Contraction *p = m->p;
    int32_t pack = m->s->map.pack_batch_dims;
    if (p->dims) {
        for (int t = 0; t < 2; t++) put_u64(m->args, dim_elements(p->dims, t, pack & (t ? 2 : 1)));
        return;
    }
    put_u64(m->args, elements(m, p->a, p->trans_a ? p->k : p->m, p->trans_a ? p->m : p->k, pack & 1));
    put_u64(m->args, elements(m, p->b, p->trans_b ? p->n : p->k, p->trans_b ? p->k : p->n, pack & 2));
}

static void put_cd(const Main *m)
{
    const LaunchInputs *in = m->in;
    int32_t acc = m->s->map.global_accumulation;
    if (acc == GLOBAL_ACC_SINGLE || acc == GLOBAL_ACC_MULTIPLE) {
        put_ptr(m->args, in->workspace);
        put_ptr(m->args, in->workspace);
    } else {
        put_tensor(m->args, m->s, in->d, in->offset_d, tensor_type(m->p, 3));
        put_tensor(m->args, m->s, in->c, in->offset_c, tensor_type(m->p, 2));
    }
}

static void put_ab(const Main *m)
{
    put_tensor(m->args, m->s, m->in->a, m->in->offset_a, tensor_type(m->p, 0));
    put_tensor(m->args, m->s, m->in->b, m->in->offset_b, tensor_type(m->p, 1));
}

/* Half kernels in assembly take the scalar twice, as both halves of a register. */
static void put_main_scalar(const Main *m, const void *value)
{
    put_scalar(m->args, m->p, value);
    if (m->p->compute_type == TYPE_H && !m->s->map.source_kernel) put_scalar(m->args, m->p, value);
}

static void put_strides_cd(const Main *m)
{
    int first = m->s->use_initial_strides_cd ? 0 : 1;
    int32_t acc = m->s->map.global_accumulation;
    if (acc == GLOBAL_ACC_SINGLE || acc == GLOBAL_ACC_MULTIPLE) {
        const int64_t packed[3] = {1, m->p->m, m->p->m * m->p->n};
        for (int i = 0; i < 2; i++)
            if (m->p->dims)
                put_workspace_strides(m->args, m->p->dims, first);
            else
                put_strides(m->args, m->p, packed, first);
    } else if (m->p->dims) {
        put_dim_strides(m->args, m->p->dims, 3, first);
        put_dim_strides(m->args, m->p->dims, 2, first);
    } else {
        put_strides(m->args, m->p, m->p->d, first);
        put_strides(m->args, m->p, m->p->c, first);
    }
}

static void put_strides_ab(const Main *m)
{
    int first = m->s->use_initial_strides_ab ? 0 : 1;
    if (m->p->dims) {
        for (int t = 0; t < 2; t++) put_dim_strides(m->args, m->p->dims, t, first);
        return;
    }
    put_strides(m->args, m->p, m->p->a, first);
    put_strides(m->args, m->p, m->p->b, first);
}

/* To unpack a packed index the kernel divides by the sizes of all packed dimensions but the last: M and N. */
static void put_packed(const Main *m)
{
    uint32_t number, shift;
    if (m->p->dims) {
        put_dim_numbers(m->args, m->p->dims, &m->s->map);
        return;
    }
    for (int bit = 0; bit < 2; bit++) {
        if (!(m->s->map.pack_batch_dims & 1 << bit)) continue;
        magic_division(m->s->map.magic_div_alg, (uint32_t)(bit ? m->p->n : m->p->m), &number, &shift);
        put_u32(m->args, number);
        put_u32(m->args, shift);
    }
}

/* The numbers of WorkGroupMapping's bands, by the expressions that kernels print (index/walk.h). */
static void put_mapping(const Main *m)
{
    int32_t wgm = m->s->map.work_group_mapping;
    if ((wgm >= -1 && wgm <= 1) || m->s->map.mapping_dim >= 0) return;
    Expr nodes[32];
    ExprPool pool;
    expr_pool_fixed(&pool, nodes, 32);
    const Expr *tiles = expr_const(&pool, (int64_t)(wgm > 0 ? m->g->tiles1 : m->g->tiles0));
    WalkBandWords words = walk_band_words(&pool, wgm, tiles);
    const Expr *const word[] = {words.full, words.last, words.magic};
    for (int i = 0; i < 3; i++) {
        int64_t value = 0;
        m->args->overflow |= pool.failed || !expr_eval(word[i], NULL, &value) || value > UINT32_MAX;
        put_u32(m->args, (uint32_t)value);
    }
}

TrafficGrid launch_traffic(const LibSolution *s, const Contraction *p)
{
    const SizeMapping *m = &s->map;
    const uint64_t rows = (uint64_t)m->macro_tile[0] * cluster_of(m, 0),
                   columns = (uint64_t)m->macro_tile[1] * cluster_of(m, 1);
    const double k = (double)p->k;
    return (TrafficGrid){.tiles_m = p->m > 0 ? (int64_t)ceil_div((uint64_t)p->m, rows) : 1,
                         .tiles_n = p->n > 0 ? (int64_t)ceil_div((uint64_t)p->n, columns) : 1,
                         .dim = m->mapping_dim > 0,
                         .bytes_m = (double)rows * k * type_bytes((DataType)(p->types & 0xff)),
                         .bytes_n = (double)columns * k * type_bytes((DataType)(p->types >> 8 & 0xff)),
                         .bytes_tile =
                             (double)rows * (double)columns * type_bytes((DataType)(p->types >> 24))};
}

MappingSource launch_mapping(const LibSolution *s, const Contraction *p, Mapping *out)
{
    *out = s->mapping;
    if (s->map.mapping_dim < 0) return MAPPING_FIXED;
    if (out->wgm > 0) return MAPPING_TUNED;
    const TrafficGrid grid = launch_traffic(s, p);
    const Mapping chosen = traffic_choose(s->device, &grid);
    out->wgm = chosen.wgm;
    if (s->map.mapping_xcc == 1) *out = chosen; /* dies, unless the file gives them */
    return MAPPING_MODEL;
}

/* The words of the work-group order, after Tensile's arguments (problem/mapping.h). */
static void put_order(const Main *m)
{
    Mapping order = m->in->mapping;
    if (m->s->map.mapping_dim < 0) return;
    if (!order.wgm) launch_mapping(m->s, m->p, &order);
    put_u32(m->args, mapping_word(&order));
    put_u32(m->args, mapping_chunk_word(&order));
}

/* The arguments after the sizes. */
static void put_tail(const Main *m, const LaunchHardware *hw)
{
    const SizeMapping *map = &m->s->map;
    const Geometry *g = m->g;
    bool assembly = !map->source_kernel;
    put_packed(m);
    if (map->stagger_u) put_u32(m->args, launch_stagger_iter(m->p, m->s));
    put_u32(m->args, (uint32_t)g->tiles0);
    put_u32(m->args, (uint32_t)g->tiles1);
    if (assembly) {
        if (map->persistent_kernel || map->stream_k) put_magic(m->args, MAGIC_OF_WALKS, g->tiles0);
        if (map->persistent_kernel) put_u32(m->args, (uint32_t)g->grid[0]);
        if (map->persistent_kernel && map->persistent_along_batch) {
            put_u32(m->args, (uint32_t)g->tiles2);
            put_magic(m->args, MAGIC_OF_WALKS, g->tiles0 * g->tiles1);
        }
        if (map->stream_k) put_streamk(m->p, m->s, hw, g, m->args);
        put_mapping(m);
    }
    if (m->s->stochastic_rounding) put_u32(m->args, m->in->rnd_seed);
    if (assembly) put_u32(m->args, 0);
    put_order(m);
}

static void put_offsets(const Main *m)
{
    if (m->s->strided_batched) return;
    put_u64(m->args, (uint64_t)m->in->offset_d);
    put_u64(m->args, (uint64_t)m->in->offset_c);
    put_u64(m->args, (uint64_t)m->in->offset_a);
    put_u64(m->args, (uint64_t)m->in->offset_b);
}

/* The addresses of the partial sums of tiles and of the flags after them; null if no tile is cut. */
static void put_parts(const Main *m)
{
    const uint64_t at = (uint64_t)(uintptr_t)m->in->workspace;
    if (m->s->map.global_accumulation != GLOBAL_ACC_PARTIALS) return;
    const bool cut = !m->s->map.stream_k_part || has_parts(m->p, m->s, m->g);
    put_u64(m->args, cut ? at : 0);
    put_u64(m->args, cut ? at + workspace_parts(m->s, m->g).sum_bytes : 0);
}

void put_fused(const Helper *h, Args *a)
{
    const Fused *f = &h->s->fused;
    const size_t bytes = (size_t)type_bytes((DataType)h->p->compute_type);
    for (int o = 0; o < FUSED_OPERANDS; o++)
        if (fused_has(f, (FusedOperand)o)) put_ptr(a, h->in->fused[o]);
    if (f->bias && h->p->batched) put_size(a, h->in->bias_batch);
    for (size_t i = 0; i < (size_t)activation_numbers(f->activation); i++)
        put_scalar(a, h->p, (const char *)h->in->activation + i * bytes);
}

/* with_k: the last size too. Kernels of windows find by their sizes a chunk behind all that the copy engine
 * reads, where alpha is 0, so that they get the sizes of the tensors even then. */
static void put_sizes(const Main *m, bool with_k)
{
    if (m->p->dims) {
        const bool by_windows = m->s->map.n_tensor_maps && is_window(m->p);
        put_dim_sizes(m->args, m->p->dims, m->p->dims->indices.n - !with_k, m->p->k == 0 && !by_windows);
        return;
    }
    put_size(m->args, m->p->m);
    put_size(m->args, m->p->n);
    if (m->p->batched) put_size(m->args, m->p->batch);
    if (with_k) put_size(m->args, m->p->k);
}

static void main_args(const Main *m, const LaunchHardware *hw)
{
    if (!m->s->map.source_kernel) put_tensor_sizes(m);
    put_cd(m);
    put_ab(m);
    put_parts(m);
    put_offsets(m);
    put_main_scalar(m, m->in->alpha);
    if (m->s->use_beta) put_main_scalar(m, m->in->beta);
    put_strides_cd(m);
    put_strides_ab(m);
    put_sizes(m, true);
    put_tail(m, hw);
}

/* Arguments that the hardware preloads into registers come first. */
static void main_args_preload(const Main *m, const LaunchHardware *hw)
{
    put_tensor_sizes(m);
    put_ab(m);
    put_main_scalar(m, m->in->alpha);
    put_strides_ab(m);
    put_size(m->args, m->p->k);
    put_cd(m);
    put_parts(m);
    put_offsets(m);
    if (m->s->use_beta) put_main_scalar(m, m->in->beta);
    put_strides_cd(m);
    put_sizes(m, false);
    put_tail(m, hw);
}

/* ---- the list ---- */

Err call_add(LaunchList *out, CallRole role, const char *symbol, const uint64_t grid[3], uint32_t work_group,
             Args *args)
{
    *args = (Args){0};
    for (int i = 0; i < 3; i++)
        if (grid[i] > INT32_MAX)
            FAIL(ERR_INPUT, "kernel %s: a grid of %llu work-groups is too large", symbol,
                 (unsigned long long)grid[i]);
    KernelCall *call = &out->call[out->n++];
    call->symbol = symbol;
    call->role = role;
    call->dependent = false;
    for (int i = 0; i < 3; i++) {
        call->work_group[i] = i ? 1 : work_group;
        call->num_work_groups[i] = (uint32_t)grid[i];
    }
    args->at = call->args;
    return ERR_OK;
}

Err call_done(LaunchList *out, const Args *args)
{
    KernelCall *call = &out->call[out->n - 1];
    if (args->overflow)
        FAIL(ERR_INPUT, "kernel %s: a size or stride of the problem does not fit 32 bits", call->symbol);
    call->n_arg_bytes = args->n;
    return ERR_OK;
}

static Err main_call(const Main *m, const Helper *h, const LaunchHardware *hw, LaunchList *out)
{
    const int32_t *wg = m->s->map.work_group;
    Args args;
    Main here = *m;
    here.args = &args;
    TRY(call_add(out, CALL_MAIN, m->s->symbol, m->g->grid, (uint32_t)(wg[0] * wg[1] * wg[2]), &args));
    if (m->s->map.preload_kernargs && !m->s->map.source_kernel)
        main_args_preload(&here, hw);
    else
        main_args(&here, hw);
    /* the post-GSU kernel, which adds parts up, does the fused operations */
    if (m->s->map.global_accumulation != GLOBAL_ACC_MULTIPLE) put_fused(h, &args);
    if (m->s->map.keep_window) TRY(put_keep(m->s, m->p, &args));
    TRY(put_tensor_maps(h, &args));
    out->call[out->n - 1].dependent = m->s->map.dependent_launch;
    return call_done(out, &args);
}

/* Appends the calls of a problem that the kernel reads as it is. copy: NULL, or what it is the copy of. */
static Err build(const Contraction *p, const LibSolution *s, const LaunchInputs *in, const LaunchHardware *hw,
                 const WindowCopy *copy, LaunchList *out)
{
    Geometry g;
    geometry_init(&g, p, s, hw);
    uint64_t groups = g.tiles, split = (uint64_t)(s->map.global_split_u > 1 ? s->map.global_split_u : 1);
    if (__builtin_mul_overflow(groups, split, &groups) || groups > UINT32_MAX)
        FAIL(ERR_INPUT, "kernel %s: %llu tiles times GlobalSplitU %llu are more than 32 bits count", s->name,
             (unsigned long long)g.tiles, (unsigned long long)split);
    if (s->map.stream_k && !s->map.stream_k_blocks && g.sk_grid > STREAM_GROUPS_MAX)
        FAIL(ERR_INPUT, "kernel %s: %llu work-groups share tiles, at most %d can", s->name,
             (unsigned long long)g.sk_grid, STREAM_GROUPS_MAX);
    const uint64_t copies = (uint64_t)(uintptr_t)in->workspace + launch_results_bytes(p, s, hw);
    Helper h = {p,
                s,
                in,
                &g,
                copies,
                copy && copy->place.rows ? &copy->place : NULL,
                copy && copy->has_lines ? &copy->lines : NULL,
                copy ? copy->outs_w : 0};
    Main m = {p, s, in, &g, NULL};
    if (s->map.pack_operands && !is_window(p)) TRY(pack_call(&h, out));
    if (has_parts(p, s, &g) && !s->map.self_reset) TRY(streamk_init_call(&h, out));
    if ((s->map.global_split_u > 1 && s->map.global_accumulation != GLOBAL_ACC_MULTIPLE &&
         s->map.global_accumulation != GLOBAL_ACC_PARTIALS) ||
        (s->map.stream_k && s->map.stream_k_atomic))
        TRY(beta_only_call(&h, out));
    TRY(main_call(&m, &h, hw, out));
    if (s->map.global_accumulation == GLOBAL_ACC_SINGLE || s->map.global_accumulation == GLOBAL_ACC_MULTIPLE)
        TRY(post_gsu_call(&h, out));
    return ERR_OK;
}

Err launch_build(const Contraction *p, const LibSolution *s, const LaunchInputs *in, const LaunchHardware *hw,
                 LaunchList *out)
{
    WindowCopy copy;
    out->n = 0;
    if (!copies_window(p, s, &copy)) {
        if (copies_windows(s) && is_window(p))
            FAIL(ERR_INPUT, "kernel %s: the convolution is none of PackOperands %d, WindowTaps %d", s->name,
                 (int)s->map.pack_operands, (int)s->map.window_taps);
        return build(p, s, in, hw, NULL, out);
    }
    LaunchInputs copied = *in;
    const uint64_t results = launch_results_bytes(&copy.problem, s, hw);
    const Helper h = {.p = p, .s = s, .in = in, .copies = (uint64_t)(uintptr_t)in->workspace + results};
    TRY(window_copy_call(&copy, &h, &copied, out));
    return build(&copy.problem, s, &copied, hw, &copy, out);
}
