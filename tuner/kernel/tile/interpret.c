/* Interpreter of programs written by hand. See interpret.h. Elements are double; conversions round as the
 * type does. */
#include "kernel/tile/interpret.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"

typedef struct {
    double *at;
    int64_t n, ld;
} Matrix;

/* A tile in global memory: where it is, and what it is a part of. */
typedef struct {
    int64_t offset[2], shape[2], stride;
} Position;

typedef struct {
    const Program *p;
    const char *name;
    const Op *o;
    Arena arena;
    int64_t value[HAND_SLOTS];
    Matrix matrix[4]; /* A B C D */
    Position position[PROGRAM_MAX_TILES];
    double *element[PROGRAM_MAX_TILES];
    double alpha, beta;
    int64_t steps;
} Machine;

#define FAIL_OP(m, ...)                                                                                      \
    return err_context(err_set(ERR_INPUT, __VA_ARGS__), "%s:%d: ", (m)->name, (m)->o->hand->line)

/* ---- numbers ---- */

/* Bits of the mantissa; 0: whole numbers. */
static int precision(DataType t)
{
    switch (t) {
    case TYPE_S:
    case TYPE_X:
        return 24;
    case TYPE_D:
        return 53;
    case TYPE_H:
        return 11;
    case TYPE_B:
        return 8;
    case TYPE_F8:
        return 4;
    case TYPE_B8:
        return 3;
    default:
        return 0;
    }
}

static double rounded(DataType t, double v)
{
    int e, bits = precision(t);
    if (!bits || bits == 53 || !isfinite(v)) return v;
    double f = frexp(v, &e);
    return ldexp(rint(ldexp(f, bits)), e - bits);
}

static Err matrix(Machine *m, int i, int64_t rows, int64_t cols, DataType type, uint64_t *state)
{
    Matrix *x = &m->matrix[i];
    x->ld = rows + 3; /* so that a wrong leading dimension shows */
    x->n = cols ? x->ld * (cols - 1) + rows : 0;
    TRY_ALLOC(x->at = ARENA_ARRAY(&m->arena, (size_t)x->n + 1, double));
    for (int64_t j = 0; j < x->n; j++) {
        int64_t r = (int64_t)(random_next(state) % 17) - 8;
        x->at[j] = i == 3 ? NAN : precision(type) ? rounded(type, (double)r / 8) : (double)r;
    }
    return ERR_OK;
}

static Err evaluate(Machine *m, const HandNumber *n, int64_t *to)
{
    if (!expr_eval(n->e, m->value, to)) FAIL_OP(m, "'%.*s' cannot be computed here", STR_ARG(n->text));
    return ERR_OK;
}

static Err spend(Machine *m, int64_t steps)
{
    m->steps -= steps;
    if (m->steps < 0) FAIL_OP(m, "the program takes too many operations; smaller sizes may do");
    return ERR_OK;
}

/* ---- ops ---- */

static int64_t tile_size(const Tile *t) { return (int64_t)t->size[0] * t->size[1]; }

static Err init_tile(Machine *m)
{
    Position *at = &m->position[m->o->tile[0]];
    const HandNumber *n = m->o->hand->n;
    for (int i = 0; i < 2; i++) {
        TRY(evaluate(m, &n[i], &at->offset[i]));
        TRY(evaluate(m, &n[2 + i], &at->shape[i]));
    }
    return evaluate(m, &n[4], &at->stride);
}

/* Element (row, column) of a tile in global memory; *to is NULL outside of the base. */
static Err place(Machine *m, int tile, int32_t row, int32_t col, double **to)
{
    const Tile *t = &m->p->tile[tile];
    const Position *at = &m->position[tile];
    const Matrix *x = &m->matrix[strchr("ABCD", t->operand) - "ABCD"];
    int64_t r = at->offset[0] + row, c = at->offset[1] + col;
    *to = NULL;
    if (r < 0 || r >= at->shape[0] || c < 0 || c >= at->shape[1]) return ERR_OK;
    int64_t i = r * at->stride + c;
    if (i < 0 || i >= x->n)
        FAIL_OP(m, "%%%s: row %lld, column %lld is element %lld of %c, which has %lld", t->name, (long long)r,
                (long long)c, (long long)i, t->operand, (long long)x->n);
    *to = &x->at[i];
    return ERR_OK;
}

static Err move_tile(Machine *m, int global, int other, bool transpose, bool stores)
{
    const Tile *g = &m->p->tile[global], *t = &m->p->tile[other];
    for (int32_t r = 0; r < g->size[0]; r++)
        for (int32_t c = 0; c < g->size[1]; c++) {
            double *memory, *e = &m->element[other][transpose ? c * t->size[1] + r : r * t->size[1] + c];
            TRY(place(m, global, r, c, &memory));
            if (!stores)
                *e = memory ? *memory : m->o->hand->padding;
            else if (memory)
                *memory = rounded(t->type, *e);
        }
    return ERR_OK;
}

static Err tile_mma(Machine *m)
{
    const int *tile = m->o->tile;
    const Tile *x = &m->p->tile[tile[1]], *y = &m->p->tile[tile[2]];
    const int32_t rows = x->size[0], depth = x->size[1], cols = y->size[1];
    double *d = m->element[tile[0]];
    TRY(spend(m, (int64_t)rows * depth * cols));
    if (!m->o->set) memset(d, 0, (size_t)rows * (size_t)cols * sizeof *d);
    for (int32_t r = 0; r < rows; r++)
        for (int32_t l = 0; l < depth; l++) {
            const double v = m->element[tile[1]][r * depth + l];
            for (int32_t c = 0; c < cols; c++) d[r * cols + c] += v * m->element[tile[2]][l * cols + c];
        }
    return ERR_OK;
}

static double scalar(const Machine *m)
{
    const HandArgs *h = m->o->hand;
    return h->scalar == HAND_ALPHA ? m->alpha : h->scalar == HAND_BETA ? m->beta : h->padding;
}

static Err elements(Machine *m)
{
    const Tile *t = &m->p->tile[m->o->tile[0]];
    double *d = m->element[m->o->tile[0]], by = scalar(m);
    const double *x = m->o->tile[1] < 0 ? d : m->element[m->o->tile[1]];
    const double *y = m->o->tile[2] < 0 ? d : m->element[m->o->tile[2]];
    int64_t shift = 0;
    if (m->o->kind == OP_SHIFT_TILE) {
        if (m->o->hand->n[0].e) TRY(evaluate(m, &m->o->hand->n[0], &shift));
        by = m->o->hand->n[0].e ? (double)shift : by;
    }
    for (int64_t i = 0; i < tile_size(t); i++) switch (m->o->kind) {
        case OP_FILL_TILE:
            d[i] = by;
            break;
        case OP_SCALE_TILE:
            d[i] *= by;
            break;
        case OP_SHIFT_TILE:
            d[i] += by;
            break;
        case OP_ADD_TILE:
            d[i] = x[i] + y[i];
            break;
        case OP_MULTIPLY_TILE:
            d[i] = x[i] * y[i];
            break;
        default:
            d[i] = rounded(t->type, x[i]);
        }
    return ERR_OK;
}

static Err run(Machine *m, const Op *list);

static Err loop(Machine *m)
{
    const Op *o = m->o;
    int64_t i, to;
    TRY(evaluate(m, &o->hand->n[0], &i));
    TRY(evaluate(m, &o->hand->n[1], &to));
    for (; i < to; i += o->step) {
        m->value[o->hand->slot] = i;
        TRY(run(m, o->body));
        m->o = o;
        TRY(spend(m, 1));
    }
    return ERR_OK;
}

static Err branch(Machine *m)
{
    const Op *o = m->o;
    int64_t v = 0;
    if (o->hand->n[0].e) TRY(evaluate(m, &o->hand->n[0], &v));
    return v != 0 || (!o->hand->n[0].e && scalar(m) != 0) ? run(m, o->body) : ERR_OK;
}

static Err update(Machine *m)
{
    for (int i = 0; i < 2; i++) {
        int64_t by = 0;
        if (m->o->hand->n[i].e) TRY(evaluate(m, &m->o->hand->n[i], &by));
        m->position[m->o->tile[0]].offset[i] += by;
    }
    return ERR_OK;
}

static Err one(Machine *m)
{
    const int *tile = m->o->tile;
    if (tile[0] >= 0) TRY(spend(m, tile_size(&m->p->tile[tile[0]])));
    switch (m->o->kind) {
    case OP_INIT_TILE:
        return init_tile(m);
    case OP_UPDATE_TILE_OFFSET:
        return update(m);
    case OP_LOAD_TILE:
        return move_tile(m, tile[1], tile[0], m->o->hand->transpose, false);
    case OP_STORE_TILE:
        return move_tile(m, tile[0], tile[1], false, true);
    case OP_TILE_MMA:
        return tile_mma(m);
    case OP_LOOP:
        return loop(m);
    case OP_IF:
        return branch(m);
    case OP_LET:
    case OP_BARRIER:
    case OP_PREFETCH_TILE:
        return ERR_OK;
    default:
        return elements(m);
    }
}

static Err run(Machine *m, const Op *list)
{
    for (const Op *o = list; o; o = o->next) {
        m->o = o;
        TRY(spend(m, 1));
        TRY(one(m));
    }
    return ERR_OK;
}

/* ---- the whole grid ---- */

static Err prepare(Machine *m, const InterpretRun *r)
{
    const ProblemType *pt = &m->p->hand->type;
    uint64_t state = r->seed;
    const DataType ab = (DataType)pt->DataType, cd = (DataType)pt->DestDataType;
    TRY(matrix(m, 0, pt->TransposeA ? r->k : r->m, pt->TransposeA ? r->m : r->k, ab, &state));
    TRY(matrix(m, 1, pt->TransposeB ? r->n : r->k, pt->TransposeB ? r->k : r->n, ab, &state));
    TRY(matrix(m, 2, r->m, r->n, cd, &state));
    TRY(matrix(m, 3, r->m, r->n, cd, &state));
    m->value[HAND_M] = r->m, m->value[HAND_N] = r->n, m->value[HAND_K] = r->alpha != 0 ? r->k : 0;
    for (int i = 0; i < 4; i++) m->value[HAND_LDA + i] = m->matrix[i].ld;
    for (int i = 0; i < m->p->n_tiles; i++) {
        if (m->p->tile[i].space == SPACE_GLOBAL) continue;
        TRY_ALLOC(m->element[i] = ARENA_ARRAY(&m->arena, (size_t)tile_size(&m->p->tile[i]), double));
    }
    return ERR_OK;
}

static void compare(const Machine *m, const InterpretRun *r, InterpretResult *out)
{
    const ProblemType *pt = &m->p->hand->type;
    const Matrix *a = &m->matrix[0], *b = &m->matrix[1], *c = &m->matrix[2], *d = &m->matrix[3];
    int bits = precision((DataType)pt->DestDataType);
    for (int64_t j = 0; j < r->n; j++)
        for (int64_t i = 0; i < r->m; i++) {
            double sum = 0, size = 0;
            for (int64_t l = 0; l < r->k && r->alpha != 0; l++) {
                double x = a->at[pt->TransposeA ? l + i * a->ld : i + l * a->ld] *
                           b->at[pt->TransposeB ? j + l * b->ld : l + j * b->ld];
                sum += x, size += fabs(x);
            }
            double old = pt->UseBeta && r->beta != 0 ? r->beta * c->at[i + j * c->ld] : 0;
            sum = r->alpha * sum + old;
            size = fabs(r->alpha) * size + fabs(old);
            double got = d->at[i + j * d->ld];
            double unit = bits ? ldexp(size > 0 ? size : 1, -bits) : 1;
            double error = fabs(got - sum) / unit;
            if (!(error <= out->error)) out->error = isnan(error) ? INFINITY : error;
            if (error < (bits ? 4 : 0.5)) continue;
            if (out->wrong++ == 0) out->row = i, out->col = j, out->got = got, out->expected = sum;
        }
}

Err tile_interpret(const Program *p, const TilePlan *plan, const char *name, const InterpretRun *r,
                   InterpretResult *out)
{
    *out = (InterpretResult){0};
    (void)plan;
    const int64_t sides[] = {r->m, r->n, r->k};
    for (int i = 0; i < 3; i++)
        if (sides[i] < 0 || sides[i] > INTERPRET_MAX_SIDE)
            FAIL(ERR_INPUT, "%s: a size of %lld, expected 0 to %d", name, (long long)sides[i],
                 INTERPRET_MAX_SIDE);
    Machine *m = calloc(1, sizeof *m);
    TRY_ALLOC(m);
    *m = (Machine){.p = p, .name = name, .alpha = r->alpha, .beta = r->beta};
    m->steps = r->steps ? r->steps : INTERPRET_STEPS;
    int64_t steps = m->steps;
    arena_init(&m->arena, (size_t)1 << 30);
    Err e = prepare(m, r);
    const int64_t tiles_m = (r->m + p->hand->tile_m - 1) / p->hand->tile_m;
    const int64_t tiles_n = (r->n + p->hand->tile_n - 1) / p->hand->tile_n;
    for (int64_t i = 0; i < tiles_m * tiles_n && !e; i++) {
        m->value[HAND_WG0] = i % tiles_m, m->value[HAND_WG1] = i / tiles_m;
        e = run(m, p->body);
    }
    if (!e) compare(m, r, out);
    out->steps = steps - m->steps;
    arena_fini(&m->arena);
    free(m);
    return e;
}
