/* Maps of GPU kernels: the planner's numbers are written into the tiles of the program, and read back from
 * them. See gpu.h. Rules about programs that were read from text are in verify.c. */
#include <string.h>

#include "index/ring_tile.h"
#include "kernel/gpu/loads.h"
#include "kernel/gpu/maps.h"
#include "kernel/passes.h"
#include "problem/matrix_inst.h"

enum { SIDE_MAX = 1 << 14, VIEW_NODES = 64 }; /* of a tile and its parts; for questions to a view */

/* ---- products and results ---- */

/* A warp of FMA kernels with a ring: lanes along M and N. */
enum { RING_LANES = 32 };

/* FMA kernels with a ring whose vectors of B lie along K: a thread has single columns. */
static bool single_columns(const GpuPlan *p) { return p->ring.used && p->op[1].k_major && !p->op[1].tlu; }

/* What a subgroup and a lane have of the work-group's tile of sums. */
typedef struct {
    TileMap wg, sg;
} Maps;

/* Neighbours along M (i 0) or N that a thread has without matrix instructions. */
static int neighbours(const GpuPlan *p, int i)
{
    return !p->direct ? p->vw : p->op[i].tlu ? p->op[i].width : 1;
}

static Maps sum_maps(const GpuPlan *p)
{
    Maps m = {0};
    const int lanes[] = {p->ring.lanes_m, p->ring.lanes_m ? RING_LANES / p->ring.lanes_m : 1};
    for (int i = 0; i < 2; i++) {
        if (p->matrix.used) {
            m.wg.layout[i] = p->matrix.waves[i], m.wg.data[i] = p->mt[i] / p->matrix.waves[i];
            m.sg.layout[i] = p->matrix.blocks[i], m.sg.data[i] = p->matrix.vec[i];
        } else if (p->ring.used) {
            m.wg.layout[i] = p->sg[i] / lanes[i], m.wg.data[i] = lanes[i] * p->tt[i];
            m.sg.layout[i] = lanes[i], m.sg.data[i] = i && single_columns(p) ? 1 : p->vw;
        } else {
            m.wg.layout[i] = p->sg[i], m.wg.data[i] = neighbours(p, i);
            m.sg.layout[i] = 1, m.sg.data[i] = neighbours(p, i);
        }
    }
    return m;
}

/* Elements of K of a subgroup's part, and of a lane in a step. Matrix instructions of a ring have parts that
 * are not interleaved. */
static int k_part(const GpuPlan *p)
{
    return p->ring.used && p->matrix.used ? p->depth_u / p->lsu : p->k_step;
}
static int k_lane(const GpuPlan *p, int i)
{
    if (p->direct) return p->op[i].tlu ? 1 : p->op[i].width; /* of a load */
    return p->matrix.used ? p->matrix.vk : p->k_step;
}

static void set_mma(const GpuPlan *p, Tile *t)
{
    const GpuMatrix *mi = &p->matrix;
    t->order.by_columns = true;
    if (!mi->used) return;
    t->mma[0] = mi->m, t->mma[1] = mi->n, t->mma[2] = mi->k, t->mma[3] = mi->b;
}

/* %reg_a, %reg_b: like the sums along M or N; their parts of K are LocalSplitU's. */
static void write_operand(const GpuPlan *p, Tile *t, int i, const Maps *sums)
{
    t->size[i] = p->mt[i], t->size[1 - i] = p->depth_u;
    t->wg_map.layout[i] = sums->wg.layout[i], t->wg_map.data[i] = sums->wg.data[i];
    t->sg_map.layout[i] = sums->sg.layout[i], t->sg_map.data[i] = sums->sg.data[i];
    t->wg_map.layout[1 - i] = p->lsu, t->wg_map.data[1 - i] = k_part(p);
    t->sg_map.layout[1 - i] = 1, t->sg_map.data[1 - i] = k_lane(p, i);
    t->n_buffers = p->direct               ? p->n_sets
                   : p->op[i].in_registers ? gpu_sets(p, &p->op[i])
                                           : 1 + p->prefetch_local;
    set_mma(p, t);
}

static void write_sums(Program *p)
{
    const GpuPlan *plan = p->gpu;
    const Maps m = sum_maps(plan);
    Tile *acc = &p->tile[program_tile(p, "acc")];
    write_operand(plan, &p->tile[program_tile(p, "reg_a")], 0, &m);
    write_operand(plan, &p->tile[program_tile(p, "reg_b")], 1, &m);
    acc->wg_map = m.wg, acc->sg_map = m.sg;
    acc->size[0] = plan->mt[0], acc->size[1] = plan->mt[1];
    acc->type = plan->acc.type;
    set_mma(plan, acc);
}

/* ---- loads ---- */

/* Dimension of an operand's tile that is contiguous in memory. */
static int along_of(const GpuOperand *x)
{
    const int free = x->name == 'b';
    return x->tlu ? free : 1 - free;
}

/* The loads of gpu_load_place. */
static void write_loads(const GpuOperand *x, Tile *t)
{
    const int along = along_of(x), across = 1 - along;
    t->wg_map.layout[along] = 1, t->wg_map.layout[across] = x->n_waves;
    t->wg_map.data[along] = x->nlc * x->lsc, t->wg_map.data[across] = x->nlp * x->lsp;
    t->sg_map.layout[along] = x->lvc, t->sg_map.layout[across] = x->lsp;
    t->sg_map.data[along] = x->width, t->sg_map.data[across] = 1;
    t->order.by_columns = (x->grouped ? along : across) == 0;
    t->order.share = x->groups > 1 ? x->groups : 0;
}

/* Those of amdgcn_buffer. */
static void write_runs(const GpuPlan *p, const GpuOperand *x, Tile *t)
{
    const int along = along_of(x), across = 1 - along, lines = x->tlu ? p->depth_u : x->tile;
    write_loads(x, t);
    t->wg_map.layout[across] = 1, t->wg_map.data[across] = lines;
    t->sg_map.layout[across] = lines / x->nlp, t->sg_map.data[across] = x->run;
    t->order.by_columns = along == 0;
    t->order.inner = x->lanes < x->lvc ? x->lanes : 0;
}

static int add_tile(Program *p, const char *name, int from, Space space)
{
    Tile t = p->tile[from];
    t.name = name;
    t.space = space;
    t.view = NULL;
    p->tile[p->n_tiles] = t;
    return p->n_tiles++;
}

static void add_loads(Program *p, int i)
{
    static const char *const name[][2] = {{"a", "b"}, {"local_a", "local_b"}, {"fetch_a", "fetch_b"}};
    const GpuPlan *plan = p->gpu;
    const GpuOperand *x = &plan->op[i];
    if (x->in_registers) return;
    const int from = program_tile(p, name[0][i]);
    Tile *t = &p->tile[add_tile(p, name[1][i], from, SPACE_LOCAL)];
    t->n_buffers = plan->n_stages;
    write_loads(x, t);
    if (x->to_local) return;
    t = &p->tile[add_tile(p, name[2][i], from, SPACE_REGISTER)];
    t->n_buffers = plan->n_sets;
    t->size[along_of(x)] = x->nlc * x->lsc;
    t->size[1 - along_of(x)] = x->nlp * x->lsp * x->n_waves;
    if (plan->copy->in_runs)
        write_runs(plan, x, t);
    else
        write_loads(x, t);
}

Err gpu_tiles(Program *p)
{
    if (p->n_tiles + 4 > PROGRAM_MAX_TILES) FAIL(ERR_FAILED, "a program of %d tiles", p->n_tiles);
    write_sums(p);
    for (int i = 0; i < 2 && !p->gpu->direct; i++) add_loads(p, i);
    return ERR_OK;
}

/* ---- reading ---- */

typedef struct {
    const Program *p;
    GpuPlan *plan;
    const char *name;
} Reader;

#define FAIL_TILE(r, t, ...) return gpu_tile_error((r)->name, t, err_set(ERR_INPUT, __VA_ARGS__))

Err gpu_tile_error(const char *name, const Tile *t, Err e)
{
    if (!e) return e;
    if (!name || !t->line) return err_context(e, "tile %%%s: ", t->name);
    return err_context(e, "%s:%d: tile %%%s: ", name, t->line, t->name);
}

static Err tile_of(const Reader *r, const char *name, const Tile **t)
{
    const int i = program_tile(r->p, name);
    *t = &r->p->tile[i < 0 ? 0 : i];
    if (i < 0) FAIL(ERR_INPUT, "%s: the program has no tile %%%s", r->name ? r->name : "program", name);
    return ERR_OK;
}

/* Checks that a tile has both maps, and that the products of their numbers fit. */
static Err mapped(const Reader *r, const Tile *t)
{
    for (int i = 0; i < 4; i++) {
        const TileMap *m = i < 2 ? &t->wg_map : &t->sg_map;
        const char *what = i < 2 ? "wg_map" : "sg_map";
        if (!m->layout[0]) FAIL_TILE(r, t, "it has no %s", what);
        if (m->layout[i % 2] > SIDE_MAX || m->data[i % 2] > SIDE_MAX)
            FAIL_TILE(r, t, "%s has numbers over %d", what, SIDE_MAX);
    }
    return ERR_OK;
}

/* Checks that the map covers a side completely, with the same number of parts for all coordinates. */
static Err shared_out(const Reader *r, const Tile *t, const char *what, const TileMap *m, int side,
                      int32_t size)
{
    static const char *const sides[] = {"rows", "columns"};
    const int64_t all = (int64_t)m->layout[side] * m->data[side];
    if (size % all)
        FAIL_TILE(r, t, "%s: %d %s are no multiple of layout * data = %d * %d = %lld", what, size,
                  sides[side], m->layout[side], m->data[side], (long long)all);
    return ERR_OK;
}

static Err read_matrix(const Reader *r, const Tile *acc, const Tile *a)
{
    GpuPlan *p = r->plan;
    GpuMatrix *mi = &p->matrix;
    mi->used = true;
    mi->m = acc->mma[0], mi->n = acc->mma[1], mi->k = acc->mma[2], mi->b = acc->mma[3];
    mi->vk = a->sg_map.data[1];
    for (int i = 0; i < 2; i++) {
        const int64_t one = (int64_t)(i ? mi->n : mi->m) * acc->sg_map.layout[i];
        mi->waves[i] = acc->wg_map.layout[i];
        mi->blocks[i] = acc->sg_map.layout[i], mi->vec[i] = acc->sg_map.data[i];
        if (acc->wg_map.data[i] % one)
            FAIL_TILE(r, acc, "%d %s of a wave are no multiple of %d blocks of %d", acc->wg_map.data[i],
                      i ? "columns" : "rows", mi->blocks[i], i ? mi->n : mi->m);
        mi->tiles[i] = (int)(acc->wg_map.data[i] / one);
        if (mi->tiles[i] % mi->vec[i] && !p->ring.used)
            FAIL_TILE(r, acc, "%d tiles of a wave cannot be interleaved by %d", mi->tiles[i], mi->vec[i]);
    }
    return ERR_OK;
}

static Err read_threads(const Reader *r, const Tile *acc)
{
    GpuPlan *p = r->plan;
    p->vw = acc->sg_map.data[0];
    for (int i = 0; i < 2; i++) {
        TRY(shared_out(r, acc, "sg_map", &acc->sg_map, i, acc->wg_map.data[i]));
        p->sg[i] = acc->wg_map.layout[i] * acc->sg_map.layout[i];
        p->tt[i] = p->mt[i] / p->sg[i];
    }
    p->ring.lanes_m = p->ring.used ? acc->sg_map.layout[0] : 0;
    if (p->ring.used && acc->sg_map.layout[0] * acc->sg_map.layout[1] != RING_LANES)
        FAIL_TILE(r, acc, "sg_map has %d x %d lanes, a warp has %d", acc->sg_map.layout[0],
                  acc->sg_map.layout[1], RING_LANES);
    return ERR_OK;
}

static Err read_steps(const Reader *r, const Tile *a)
{
    GpuPlan *p = r->plan;
    const Op *loop = op_lane_loop(r->p->body), *mma = loop ? op_find(loop->body, OP_TILE_MMA) : NULL;
    if (!mma)
        FAIL(ERR_INPUT, "%s: the program has no loop at lane with a tile_mma", r->name ? r->name : "program");
    p->lsu = a->wg_map.layout[1];
    p->k_step = loop->step;
    if ((int64_t)p->k_step * p->lsu > p->depth_u || p->depth_u % (p->k_step * p->lsu))
        FAIL_TILE(r, a, "%d elements of K are no multiple of %d parts of steps of %d", p->depth_u, p->lsu,
                  p->k_step);
    p->steps = p->depth_u / p->k_step / p->lsu;
    p->matrix.swap = p->matrix.used && mma->tile[1] == program_tile(r->p, "reg_b");
    return ERR_OK;
}

/* The work-group's tile. */
static Err read_sides(const Reader *r, const Tile *acc, const Tile *a)
{
    GpuPlan *p = r->plan;
    TRY(mapped(r, acc));
    TRY(mapped(r, a));
    p->mt[0] = acc->size[0], p->mt[1] = acc->size[1], p->depth_u = a->size[1];
    if (p->mt[0] > SIDE_MAX || p->mt[1] > SIDE_MAX || p->depth_u > SIDE_MAX)
        FAIL_TILE(r, acc, "a work-group's tile of %d x %d x %d, a side is at most %d", p->mt[0], p->mt[1],
                  p->depth_u, SIDE_MAX);
    for (int i = 0; i < 2; i++) TRY(shared_out(r, acc, "wg_map", &acc->wg_map, i, acc->size[i]));
    return shared_out(r, a, "wg_map", &a->wg_map, 1, a->size[1]);
}

static Err read_n_threads(const Reader *r, const Tile *acc)
{
    enum { THREADS_MAX = 1024, SUMS_MAX = 1 << 12 };
    GpuPlan *p = r->plan;
    const int64_t groups = (int64_t)acc->wg_map.layout[0] * acc->wg_map.layout[1] * p->lsu,
                  lanes = p->matrix.used || p->ring.used ? p->wave : 1;
    if (groups * lanes > THREADS_MAX || (int64_t)p->mt[0] * p->mt[1] / groups > lanes * SUMS_MAX)
        FAIL_TILE(r, acc,
                  "%lld subgroups of %lld lanes: a work-group has %d threads at most, a thread %d sums",
                  (long long)groups, (long long)lanes, THREADS_MAX, SUMS_MAX);
    p->n_threads = (int)(groups * lanes);
    return ERR_OK;
}

static Err read_sums(const Reader *r)
{
    const Tile *acc, *a;
    TRY(tile_of(r, "acc", &acc));
    TRY(tile_of(r, "reg_a", &a));
    TRY(read_sides(r, acc, a));
    TRY(acc->mma[0] ? read_matrix(r, acc, a) : read_threads(r, acc));
    TRY(read_steps(r, a));
    return read_n_threads(r, acc);
}

Err gpu_check_loads(const GpuPlan *p, GpuOperand *x, bool fractional)
{
    x->parts = 1;
    const int along = x->tlu ? x->tile : p->depth_u, across = x->tlu ? p->depth_u : x->tile;
    const int64_t threads = p->n_threads / x->n_waves, covers_along = (int64_t)x->lsc * x->nlc,
                  covers_across = (int64_t)x->lsp * x->nlp * x->n_waves, each = (int64_t)x->lvc * x->lsp;
    bool exact = covers_along == along && covers_across == across && each == threads;
    bool enough = covers_along >= along && covers_across >= across && each <= threads &&
                  along % (x->width > 0 ? x->width : 1) == 0;
    if (x->width < 1 || x->nlc < 1 || x->nlp < 1 || x->lsc < 1 || x->lsp < 1 || x->lsc % x->width ||
        !(fractional ? enough : exact))
        FAIL(ERR_INPUT, "loads of %c, %d x %d of %d x %d elements by %d threads, do not make up %d x %d",
             x->name - 'a' + 'A', x->nlc, x->nlp, x->lsc, x->lsp, (int)threads, along, across);
    x->fractional = !exact;
    if (x->to_local && !p->ring.used && x->width == 1 && each > 0 && threads % each == 0)
        x->parts = (int)(threads / each); /* the other loads of the tile are by `each` threads */
    return ERR_OK;
}

/* Registers of a thread's loads of an operand; lanes that share lines. */
static Err check_operand(const Reader *r, const Tile *t, const GpuOperand *x)
{
    enum { LOAD_BYTES = 64, LOADS_MAX = 1 << 10 };
    const GpuPlan *p = r->plan;
    const int bytes = gpu_type_bytes(&x->type), lines = x->tlu ? p->depth_u : x->tile;
    const bool ring = p->ring.used; /* all threads copy, and the last pass may be partial */
    if (ring && (x->n_waves != 1 || !x->grouped || x->lvc * x->lsp != p->n_threads ||
                 x->nlc * x->lsc != (x->tlu ? x->tile : p->depth_u) || (x->nlp - 1) * x->lsp >= lines))
        FAIL_TILE(r, t, "copies of %d x %d pieces, %d x %d times, are not those of %d threads", x->lvc,
                  x->lsp, x->nlc, x->nlp, p->n_threads);
    const int64_t one = (int64_t)x->width * bytes; /* bytes of a cp.async, which copies 4, 8 or 16 */
    if (ring && (one > 16 || (one & (one - 1))))
        FAIL_TILE(r, t, "copies of %lld bytes, there are copies of 4, 8 and 16", (long long)one);
    if (one > LOAD_BYTES || (int64_t)x->nlc * x->nlp > LOADS_MAX)
        FAIL_TILE(r, t, "%d loads of %d elements of %d bytes, at most %d of %d bytes", x->nlc * x->nlp,
                  x->width, bytes, LOADS_MAX, LOAD_BYTES);
    if (x->groups > 1 && (!p->dialect->separates_threads || !x->grouped || x->lvc % x->groups ||
                          p->wave % x->lvc || p->wave % x->groups))
        FAIL_TILE(r, t, "%d groups of a wave of %d lanes do not divide lines of %d", x->groups, p->wave,
                  x->lvc);
    return ERR_OK;
}

/* Whether the free dimension is contiguous in memory. */
static void read_view(const Reader *r, int i)
{
    const View *v = r->plan->view[i];
    const Expr *length;
    Expr node[VIEW_NODES];
    ExprPool pool;
    int top[VIEW_MAX_DIMS];
    expr_pool_fixed(&pool, node, VIEW_NODES);
    view_top(v, top);
    if (r->plan->indices) /* by the order of the indices: strides may be any */
        r->plan->op[i].tlu = indices_tile_first(r->plan->indices, i);
    else
        r->plan->op[i].tlu = view_contiguous(&pool, v, &length) == top[i];
    r->plan->op[i].tile = r->plan->mt[i];
}

static Err read_loads(const Reader *r, int i)
{
    GpuPlan *p = r->plan;
    GpuOperand *x = &p->op[i];
    const Tile *t, *held;
    read_view(r, i);
    TRY(tile_of(r, i ? "reg_b" : "reg_a", &held));
    x->type = gpu_type(held->type);
    x->in_registers = p->matrix.used && !p->ring.used && program_tile(r->p, i ? "local_b" : "local_a") < 0;
    if (x->in_registers) { /* loads are those of the matrix instruction's lanes */
        x->n_waves = x->groups = x->parts = x->run = 1;
        if (i == 0 || p->op[0].in_registers) p->n_stages = 1;
        return ERR_OK;
    }
    TRY(tile_of(r, i ? "local_b" : "local_a", &t));
    const int along = along_of(x), across = 1 - along;
    TRY(mapped(r, t));
    for (int side = 0; side < 2; side++)
        TRY(shared_out(r, t, "sg_map", &t->sg_map, side, t->wg_map.data[side]));
    x->n_waves = t->wg_map.layout[across];
    x->lvc = t->sg_map.layout[along], x->lsp = t->sg_map.layout[across];
    x->width = t->sg_map.data[along], x->lsc = x->lvc * x->width;
    x->nlc = t->wg_map.data[along] / x->lsc, x->nlp = t->wg_map.data[across] / x->lsp;
    x->grouped = (t->order.by_columns ? 0 : 1) == along;
    x->groups = t->order.share ? t->order.share : 1;
    x->to_local = program_tile(r->p, i ? "fetch_b" : "fetch_a") < 0;
    if (p->n_threads % x->n_waves)
        FAIL_TILE(r, t, "%d threads are no multiple of the %d of wg_map", p->n_threads, x->n_waves);
    TRY(gpu_tile_error(r->name, t, gpu_check_loads(p, x, true)));
    p->n_stages = t->n_buffers;
    return check_operand(r, t, x);
}

/* Reads the numbers that only loads through registers have. */
static Err read_fetch(const Reader *r, int i)
{
    GpuPlan *p = r->plan;
    GpuOperand *x = &p->op[i];
    const Tile *t;
    if (x->in_registers) return ERR_OK;
    if (x->to_local && (p->copy->async || p->copy->direct)) {
        x->lanes = x->lvc, x->run = 1;
        return ERR_OK;
    }
    TRY(tile_of(r, i ? "fetch_b" : "fetch_a", &t));
    p->n_sets = t->n_buffers;
    x->lanes = x->lvc, x->run = 1;
    if (!p->copy->in_runs || !x->tlu || !x->k_major) return ERR_OK;
    const int bytes = gpu_type_bytes(&x->type);
    x->run = t->sg_map.data[1 - along_of(x)];
    if (t->order.inner) x->lanes = t->order.inner;
    if (x->lvc % x->lanes || x->nlp % x->run || (x->run & (x->run - 1)) || (int64_t)x->run * bytes > 16)
        FAIL_TILE(r, t, "%d lanes side by side and runs of %d elements do not divide %d lanes and %d loads",
                  x->lanes, x->run, x->lvc, x->nlp);
    return ERR_OK;
}

/* What maps say. */
static void forget(GpuPlan *p)
{
    p->mt[0] = p->mt[1] = p->depth_u = p->lsu = p->vw = p->n_threads = 0;
    p->steps = p->k_step = p->n_acc = p->acc_run = p->n_stages = p->n_sets = p->ring.lanes_m = 0;
    p->matrix = (GpuMatrix){0};
    for (int i = 0; i < 2; i++) {
        GpuOperand *x = &p->op[i];
        p->sg[i] = p->tt[i] = 0;
        x->tile = x->width = x->nlc = x->nlp = x->lsc = x->lsp = x->lvc = x->n_waves = x->groups = 0;
        x->lanes = x->run = 0;
        x->tlu = x->grouped = x->fractional = x->to_local = x->in_registers = false;
    }
}

/* Sums by wgmma: a warp group's rows are 32 lanes of two, along M or with swap along N. */
static Err read_warp_groups(const Reader *r)
{
    GpuPlan *p = r->plan;
    GpuMatrix *mi = &p->matrix;
    const Tile *acc, *a;
    TRY(tile_of(r, "acc", &acc));
    TRY(tile_of(r, "a", &a));
    p->mt[0] = acc->size[0], p->mt[1] = acc->size[1], p->depth_u = a->size[1];
    const int rows = acc->sg_map.layout[0] < acc->sg_map.layout[1];
    if (acc->wg_map.data[0] < 1 || !acc->mma[0]) FAIL_TILE(r, acc, "it has no wg_map and mma");
    *mi = (GpuMatrix){.used = true,
                      .m = acc->mma[0],
                      .n = acc->mma[1],
                      .k = acc->mma[2],
                      .b = acc->mma[3],
                      .swap = rows == 1,
                      .vec = {1, 1}};
    mi->tiles[rows] = acc->wg_map.data[rows] / WGMMA_ROWS, mi->tiles[1 - rows] = 1;
    if (mi->tiles[rows] < 1) FAIL_TILE(r, acc, "a warp group has %d rows", acc->wg_map.data[rows]);
    p->lsu = 1;
    p->n_threads = (p->groups.consumers + (p->groups.line_pixels ? 2 : 1)) * WGMMA_LANES;
    for (int i = 0; i < 2; i++) {
        const Tile *t;
        TRY(tile_of(r, i ? "b" : "a", &t));
        read_view(r, i);
        p->op[i].type = gpu_type(t->type);
    }
    return ERR_OK;
}

/* Addresses of all four tensors. */
static Err read_views(const Reader *r)
{
    static const char *const names[] = {"a", "b", "c", "d"};
    for (int i = 0; i < 4; i++) {
        const Tile *t;
        TRY(tile_of(r, names[i], &t));
        if (!t->view || (!r->plan->indices && !view_is_matrix(t->view)))
            FAIL_TILE(r, t, "it has no view of a matrix");
        r->plan->view[i] = t->view;
    }
    return ERR_OK;
}

/* Kernels without local memory: a thread loads what it multiplies. */
static Err read_direct(const Reader *r)
{
    GpuPlan *p = r->plan;
    const Tile *acc, *held[2];
    TRY(tile_of(r, "acc", &acc));
    TRY(tile_of(r, "reg_a", &held[0]));
    TRY(tile_of(r, "reg_b", &held[1]));
    TRY(read_sides(r, acc, held[0]));
    p->lsu = held[0]->wg_map.layout[1], p->k_step = held[0]->wg_map.data[1];
    p->steps = p->depth_u / p->k_step / p->lsu;
    p->n_sets = held[0]->n_buffers, p->n_stages = 1;
    if (p->lsu & (p->lsu - 1)) FAIL_TILE(r, held[0], "%d parts of K are no power of two", p->lsu);
    for (int i = 0; i < 2; i++) {
        GpuOperand *x = &p->op[i];
        TRY(mapped(r, held[i]));
        read_view(r, i);
        x->type = gpu_type(held[i]->type);
        x->width = x->tlu ? acc->wg_map.data[i] : held[i]->sg_map.data[1 - i];
        p->sg[i] = acc->wg_map.layout[i], p->tt[i] = p->mt[i] / p->sg[i];
        if (p->k_step % (x->tlu ? 1 : x->width) || x->width * gpu_type_bytes(&x->type) > 16)
            FAIL_TILE(r, held[i], "loads of %d elements do not make up runs of %d", x->width, p->k_step);
    }
    p->vw = p->acc_run = acc->wg_map.data[0];
    p->n_acc = p->tt[0] * p->tt[1];
    return read_n_threads(r, acc);
}

static Err read_all(const Reader *r)
{
    GpuPlan *p = r->plan;
    TRY(read_views(r));
    if (p->direct) {
        TRY(read_direct(r));
        return gpu_plan_modules(p);
    }
    if (p->groups.used) {
        TRY(read_warp_groups(r));
        return gpu_plan_modules(p);
    }
    TRY(read_sums(r));
    for (int i = 0; i < 2; i++) TRY(read_loads(r, i));
    TRY(gpu_plan_modules(p));
    p->n_sets = 1;
    for (int i = 0; i < 2; i++) TRY(read_fetch(r, i));
    return p->compute->shape(p);
}

void gpu_mma_of_warp_groups(Program *p)
{
    Tile *acc = &p->tile[program_tile(p, "acc")];
    set_mma(p->gpu, acc);
    acc->order.by_columns = false;
}

Err gpu_maps_of_warp_groups(Program *p)
{
    gpu_mma_of_warp_groups(p);
    return gpu_maps_read(p, NULL);
}

Err gpu_maps_read(Program *p, const char *name)
{
    GpuPlan *plan = ARENA_NEW(p->arena, GpuPlan);
    TRY_ALLOC(plan);
    *plan = *p->gpu;
    forget(plan);
    p->gpu = plan;
    const Reader r = {p, plan, name};
    return read_all(&r);
}
