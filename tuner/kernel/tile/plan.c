/* Maps, local memory and registers of a program written by hand, for one target. See plan.h; rules about ops
 * are in verify.c. */
#include "kernel/tile/plan.h"

#include "kernel/tile/verify.h"

#define FAIL_TILE(name, p, i, ...)                                                                           \
    return err_context(err_set(ERR_INPUT, __VA_ARGS__), "%s:%d: tile %%%s: ", name, (p)->hand->tile_line[i], \
                       (p)->tile[i].name)

enum { LOCAL_ALIGN = 64, HOST_LOCAL_BYTES = 1 << 28 };

/* ---- elements of work-items ---- */

const Expr *tile_element(ExprPool *pool, const TilePlace *x, const int32_t size[2], int side,
                         const Expr *subgroup, const Expr *lane, const Expr *i)
{
    const int32_t data = x->wg.data[side], block = x->sg.data[side];
    const Expr *at = expr_mod_i(pool, i, block), *turn = expr_div_i(pool, i, block);
    const Expr *round = expr_div_i(pool, turn, x->turns[side]);
    turn = expr_mod_i(pool, turn, x->turns[side]);
    const Expr *tile =
        distribute_subtile(pool, distribute_subtiles(size[side], data), x->wg.layout[side], subgroup, round);
    const Expr *part =
        distribute_subtile(pool, distribute_subtiles(data, block), x->sg.layout[side], lane, turn);
    const Expr *in = expr_add(pool, expr_mul_i(pool, part, block), at);
    return expr_add(pool, expr_mul_i(pool, tile, data), in);
}

const Expr *tile_writes(ExprPool *pool, const TilePlace *x, const int32_t size[2],
                        const Expr *const subgroup[2])
{
    const Expr *both[2];
    for (int i = 0; i < 2; i++)
        both[i] = distribute_writes(pool, distribute_subtiles(size[i], x->wg.data[i]), x->wg.layout[i],
                                    subgroup[i]);
    return expr_op(pool, EXPR_BOTH, both[0], both[1]);
}

const Expr *tile_local(ExprPool *pool, const TilePlace *x, const Expr *row, const Expr *col)
{
    const Expr *line = x->columns_first ? col : row, *in = x->columns_first ? row : col;
    return expr_add(pool, expr_mul_i(pool, line, x->line), in);
}

/* ---- maps ---- */

/* Lanes along columns first: what a row of the subtile has, then rows. */
static Err default_lanes(const Program *p, int i, const char *name, int32_t lanes, TilePlace *x)
{
    int32_t along = 1;
    while (along * 2 <= lanes && x->wg.data[1] % (along * 2) == 0) along *= 2;
    int32_t across = lanes / along;
    if (across * along != lanes || x->wg.data[0] % across)
        FAIL_TILE(name, p, i, "%d lanes do not share a subtile of %d x %d evenly, and there is no sg_map",
                  lanes, x->wg.data[0], x->wg.data[1]);
    x->sg = (TileMap){{across, along}, {1, 1}};
    return ERR_OK;
}

static Err one_map(const Program *p, int i, const char *name, int32_t lanes, TilePlace *x)
{
    const Tile *t = &p->tile[i];
    x->wg = t->wg_map, x->sg = t->sg_map;
    x->mapped = true;
    if (!x->sg.layout[0]) TRY(default_lanes(p, i, name, lanes, x));
    for (int side = 0; side < 2; side++) {
        Err e = distribute_check("wg_map", side, t->size[side], x->wg.layout[side], x->wg.data[side]);
        int64_t all = (int64_t)x->sg.layout[side] * x->sg.data[side];
        if (!e && x->wg.data[side] % all)
            e = err_set(ERR_INPUT,
                        "sg_map: a subtile of %d %s is no multiple of wi_layout * wi_data = %d * %d = %lld",
                        x->wg.data[side], side ? "columns" : "rows", x->sg.layout[side], x->sg.data[side],
                        (long long)all);
        if (e) return err_context(e, "%s:%d: tile %%%s: ", name, p->hand->tile_line[i], t->name);
        int32_t n = distribute_subtiles(t->size[side], x->wg.data[side]);
        x->rounds[side] = distribute_rounds(n, x->wg.layout[side]);
        x->turns[side] = x->wg.data[side] / (int32_t)all;
        x->per[side] = x->rounds[side] * x->turns[side] * x->sg.data[side];
    }
    return ERR_OK;
}

/* Work-items of a map's layout; all maps of a program have equally many. */
static Err layouts(const Program *p, const char *name, TilePlan *plan)
{
    for (int i = 0; i < p->n_tiles; i++) {
        const Tile *t = &p->tile[i];
        const TileMap *const maps[] = {&t->wg_map, &t->sg_map};
        int32_t *const all[] = {&plan->n_subgroups, &plan->n_lanes};
        if (!t->wg_map.layout[0] && t->sg_map.layout[0]) FAIL_TILE(name, p, i, "sg_map without a wg_map");
        for (int m = 0; m < 2; m++) {
            int64_t n = (int64_t)maps[m]->layout[0] * maps[m]->layout[1];
            if (!maps[m]->layout[0]) continue;
            if (n > HAND_MAX_THREADS)
                FAIL_TILE(name, p, i, "a layout of %lld, at most %d", (long long)n, HAND_MAX_THREADS);
            if (*all[m] && *all[m] != n) {
                if (m)
                    FAIL_TILE(name, p, i, "sg_map has %lld work-items, another has %d", (long long)n,
                              *all[m]);
                FAIL_TILE(name, p, i, "wg_map has %lld subgroups, another has %d", (long long)n, *all[m]);
            }
            *all[m] = (int32_t)n;
        }
    }
    const Target *t = plan->target;
    if (!plan->n_lanes) plan->n_lanes = t && t->wave_size > 1 ? t->wave_size : 32;
    if (!plan->n_subgroups) plan->n_subgroups = 1;
    plan->n_threads = plan->n_subgroups * plan->n_lanes;
    if (plan->n_threads > HAND_MAX_THREADS)
        FAIL(ERR_INPUT, "%s: a work-group of %d subgroups of %d work-items = %d, at most %d", name,
             plan->n_subgroups, plan->n_lanes, plan->n_threads, HAND_MAX_THREADS);
    return ERR_OK;
}

/* ---- memory ---- */

static Err local_memory(const Program *p, const char *name, TilePlan *plan)
{
    int64_t at = 0;
    for (int i = 0; i < p->n_tiles; i++) {
        const Tile *t = &p->tile[i];
        TilePlace *x = &plan->tile[i];
        if (t->space != SPACE_LOCAL) continue;
        x->line = x->columns_first ? t->size[0] : t->size[1];
        int64_t lines = x->columns_first ? t->size[1] : t->size[0];
        x->offset = at;
        at += (lines * x->line * type_bytes(t->type) + LOCAL_ALIGN - 1) / LOCAL_ALIGN * LOCAL_ALIGN;
    }
    plan->local_bytes = at;
    const Target *t = plan->target;
    int64_t most = t && t->lds_bytes ? t->lds_bytes : HOST_LOCAL_BYTES;
    if (at > most)
        FAIL(ERR_INPUT, "%s: the local tiles need %lld bytes, %s has %lld", name, (long long)at,
             t ? t->name : "any target", (long long)most);
    return ERR_OK;
}

static Err registers(const Program *p, const char *name, TilePlan *plan)
{
    int64_t bytes = 0;
    int last = 0;
    for (int i = 0; i < p->n_tiles; i++) {
        const TilePlace *x = &plan->tile[i];
        if (p->tile[i].space != SPACE_REGISTER) continue;
        int64_t one = type_bytes(p->tile[i].type) < 4 ? 4 : type_bytes(p->tile[i].type);
        bytes += (int64_t)x->per[0] * x->per[1] * one;
        last = i;
    }
    const Target *t = plan->target;
    if (t && t->lds_bytes && bytes / 4 > t->n_vector_regs)
        FAIL_TILE(name, p, last, "with it a work-item needs %lld registers for tiles, %s has %d",
                  (long long)(bytes / 4), t->name, t->n_vector_regs);
    plan->registers = (int32_t)(bytes / 4 < INT32_MAX ? bytes / 4 : INT32_MAX);
    return ERR_OK;
}

static Err tiles(const Program *p, const char *name, TilePlan *plan)
{
    for (int i = 0; i < p->n_tiles; i++) {
        const Tile *t = &p->tile[i];
        if (t->n_buffers != 1) FAIL_TILE(name, p, i, "buffers %d: give each buffer a tile", t->n_buffers);
        if (type_info(t->type)->complex || type_info(t->type)->packing != 1)
            FAIL_TILE(name, p, i, "no tiles of data type '%s' in programs written by hand",
                      type_letter(t->type));
        for (int side = 0; side < 2; side++)
            if (t->size[side] > HAND_MAX_SIDE)
                FAIL_TILE(name, p, i, "a side of %d, at most %d", t->size[side], HAND_MAX_SIDE);
        if ((int64_t)t->size[0] * t->size[1] > HAND_MAX_ELEMENTS)
            FAIL_TILE(name, p, i, "%d x %d elements, at most %d", t->size[0], t->size[1], HAND_MAX_ELEMENTS);
        bool cd = t->operand == 'C' || t->operand == 'D';
        DataType type = (DataType)(cd ? p->hand->type.DestDataType : p->hand->type.DataType);
        if (t->space == SPACE_GLOBAL && (t->operand == 'P' || t->type != type))
            FAIL_TILE(name, p, i, "a tile of %c in memory has type '%s', expected '%s' of A, B, C or D",
                      t->operand, type_letter(t->type), type_letter(type));
        DataType sum = hand_sum_type(p->hand), dest = (DataType)p->hand->type.DestDataType;
        if (t->space == SPACE_REGISTER && t->type != sum && t->type != dest)
            FAIL_TILE(name, p, i, "a tile in registers has type '%s', expected '%s' of sums or '%s' of D",
                      type_letter(t->type), type_letter(sum), type_letter(dest));
        if (t->space == SPACE_LOCAL && t->type != (DataType)p->hand->type.DataType)
            FAIL_TILE(name, p, i, "a tile in local memory has type '%s', expected '%s' of A and B",
                      type_letter(t->type), type_letter((DataType)p->hand->type.DataType));
        if (t->space == SPACE_REGISTER && !t->wg_map.layout[0])
            FAIL_TILE(name, p, i, "a tile in registers needs a wg_map");
        if (t->wg_map.layout[0]) TRY(one_map(p, i, name, plan->n_lanes, &plan->tile[i]));
    }
    return ERR_OK;
}

Err tile_plan(const Program *p, const Target *t, const char *name, TilePlan *out)
{
    *out = (TilePlan){.target = t};
    if (!p->hand)
        FAIL(ERR_INPUT, "%s: a generated program; this is for programs with a 'problem' line", name);
    if (p->target && t && p->target != t)
        FAIL(ERR_INPUT, "%s: a program for %s, not for %s", name, p->target->name, t->name);
    const ProblemType *pt = &p->hand->type;
    if (pt->OperationType != OP_GEMM) FAIL(ERR_INPUT, "%s: the problem is no GEMM", name);
    if (!p->hand->tile_m || !p->hand->tile_n)
        FAIL(ERR_INPUT, "%s: no 'grid tile_m N tile_n N', the tile of D of a work-group", name);
    TRY(layouts(p, name, out));
    TRY(tiles(p, name, out));
    TRY(verify_ops(p, t, name, out));
    TRY(local_memory(p, name, out));
    return registers(p, name, out);
}
