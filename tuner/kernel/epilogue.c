/* Makes and reads the ops of an epilogue; see epilogue.h. */
#include "kernel/epilogue.h"

#include <string.h>

#include "kernel/passes.h"

enum { OPS_MAX = 16, STAGE_BUFFERS = 2 };

/* ---- making ---- */

static Err add_tile(Program *p, const char *name, const char *like, Space space, DataType type)
{
    const int from = program_tile(p, like);
    if (program_tile(p, name) >= 0) return ERR_OK;
    if (from < 0) FAIL(ERR_INPUT, "the program has no tile %%%s", like);
    if (p->n_tiles == PROGRAM_MAX_TILES) FAIL(ERR_INPUT, "more than %d tiles", PROGRAM_MAX_TILES);
    Tile t = p->tile[from];
    p->tile[p->n_tiles++] = (Tile){.name = name,
                                   .operand = t.operand,
                                   .space = space,
                                   .type = type,
                                   .dim = {t.dim[0], t.dim[1]},
                                   .size = {t.size[0], t.size[1]},
                                   .n_buffers = space == SPACE_LOCAL && t.operand == 'D' ? STAGE_BUFFERS : 1};
    return ERR_OK;
}

/* The vector or number of a fused operation. */
static Err add_vector(Program *p, const Epilogue *e, FusedOperand o)
{
    const char *name = fused_name(o);
    const Tile acc = p->tile[program_tile(p, "acc")];
    const Tile d = p->tile[program_tile(p, "d")];
    if (program_tile(p, name) >= 0) return ERR_OK;
    if (p->n_tiles == PROGRAM_MAX_TILES) FAIL(ERR_INPUT, "more than %d tiles", PROGRAM_MAX_TILES);
    Tile *t = &p->tile[p->n_tiles++];
    const Along along = fused_along(&e->fused, o);
    *t = (Tile){.name = name, .operand = 'E', .space = SPACE_GLOBAL, .type = acc.type, .n_buffers = 1};
    if (o == FUSED_BIAS) t->type = e->fused.bias_type;
    t->dim[0] = t->dim[1] = DIM_K, t->size[0] = t->size[1] = 1;
    if (along == ALONG_M) t->dim[0] = DIM_M, t->size[0] = d.size[0];
    if (along == ALONG_N) t->dim[1] = DIM_N, t->size[1] = d.size[1];
    return ERR_OK;
}

Err epilogue_tiles(Program *p, const Epilogue *e)
{
    const int c = program_tile(p, "c"), d = program_tile(p, "d"), acc = program_tile(p, "acc");
    if (c < 0 || d < 0 || acc < 0) FAIL(ERR_INPUT, "the program has no tiles %%c, %%d and %%acc");
    p->tile[d].type = e->written;
    if (e->sums) TRY(add_tile(p, "sums", "acc", SPACE_LOCAL, p->tile[acc].type));
    if (e->reads_c && !e->staged) TRY(add_tile(p, "reg_c", "c", SPACE_REGISTER, p->tile[c].type));
    for (int o = 0; o < FUSED_OPERANDS; o++)
        if (fused_has(&e->fused, (FusedOperand)o)) TRY(add_vector(p, e, (FusedOperand)o));
    if (!e->adds) TRY(add_tile(p, "reg_d", "d", SPACE_REGISTER, e->written));
    return e->staged ? add_tile(p, "local_d", "d", SPACE_LOCAL, e->written) : ERR_OK;
}

typedef struct {
    Program *p;
    const Epilogue *e;
    Op *op[OPS_MAX];
    int n;
    Op none; /* returned where there is no memory */
    bool failed;
} List;

static Op *push(List *l, OpKind kind, const char *to, const char *from, const char *with)
{
    const char *const name[] = {to, from, with};
    int tile[3];
    for (int i = 0; i < 3; i++) tile[i] = name[i] ? program_tile(l->p, name[i]) : -1;
    Op *o = l->n < OPS_MAX ? pass_tile_op(l->p, kind, tile[0], tile[1], tile[2]) : NULL;
    if (!o) {
        l->failed = true;
        return &l->none;
    }
    o->role = l->e->role, o->last = l->e->sums == SUMS_ADDED;
    return l->op[l->n++] = o;
}

/* The sums of this chunk of K to local memory. Returns the tile that the ops behind work on. */
static const char *push_sums(List *l)
{
    if (l->e->sums == SUMS_IN_REGISTERS) return "acc";
    if (l->e->sums == SUMS_ADDED)
        push(l, OP_ADD_TILE, "sums", "sums", "acc")->last = false;
    else
        push(l, OP_STORE_TILE, "sums", "acc", NULL);
    return "sums";
}

/* x times the vector or number of a fused operation, if there is one. */
static void push_scale(List *l, const char *x, FusedOperand o)
{
    if (fused_has(&l->e->fused, o)) push(l, OP_SCALE_TILE, x, fused_name(o), NULL);
}

static void push_c(List *l, const char *x)
{
    const char *c = l->e->staged ? "local_d" : "reg_c";
    push(l, OP_LOAD_TILE, c, "c", NULL);
    push_scale(l, c, FUSED_SCALE_C);
    push(l, OP_ADD_TILE, x, x, c)->scalar = SCALAR_BETA;
}

static void push_fused(List *l, const char *x)
{
    const Fused *f = &l->e->fused;
    if (f->bias) push(l, OP_ADD_TILE, x, x, fused_name(FUSED_BIAS));
    if (f->activation) push(l, OP_ACTIVATE_TILE, x, NULL, NULL)->activation = f->activation;
    push_scale(l, x, FUSED_SCALE_D);
}

static void push_stores(List *l, const char *x)
{
    push(l, OP_CONVERT_TILE, "reg_d", x, NULL);
    if (l->e->staged) push(l, OP_STORE_TILE, "local_d", "reg_d", NULL);
    push(l, OP_STORE_TILE, "d", l->e->staged ? "local_d" : "reg_d", NULL)->parts = l->e->parts;
}

Op *epilogue_ops(Program *p, const Epilogue *e)
{
    List l = {.p = p, .e = e};
    if (e->across) push(&l, OP_REDUCE_TILE, "acc", NULL, NULL)->across = e->across;
    if (e->grid) push(&l, OP_REDUCE_TILE, "acc", NULL, NULL)->across = ACROSS_GRID;
    const char *x = push_sums(&l);
    if (e->scales) push(&l, OP_SCALE_TILE, x, NULL, NULL)->scalar = SCALAR_ALPHA;
    push_scale(&l, x, FUSED_SCALE_A);
    push_scale(&l, x, FUSED_SCALE_B);
    push_scale(&l, x, FUSED_SCALE_ALPHA);
    if (e->reads_c) push_c(&l, x);
    push_fused(&l, x);
    if (e->adds)
        push(&l, OP_ATOMIC_ADD_TILE, "d", x, NULL);
    else
        push_stores(&l, x);
    return l.failed ? NULL : pass_list(l.op, l.n);
}

const Op *epilogue_of_sums(Program *p, Arena *a, DataType sum, DataType dest, const Fused *fused)
{
    static const struct {
        const char *name;
        char operand;
        Space space;
    } tiles[] = {{"c", 'C', SPACE_GLOBAL}, {"d", 'D', SPACE_GLOBAL}, {"acc", 'P', SPACE_REGISTER}};
    const Epilogue e = {.scales = true, .reads_c = true, .fused = *fused, .written = dest};
    *p = (Program){.arena = a, .n_tiles = 3};
    for (int i = 0; i < p->n_tiles; i++)
        p->tile[i] = (Tile){.name = tiles[i].name,
                            .operand = tiles[i].operand,
                            .space = tiles[i].space,
                            .type = i == 2 ? sum : dest,
                            .dim = {DIM_M, DIM_N},
                            .size = {1, 1},
                            .n_buffers = 1};
    return epilogue_tiles(p, &e) ? NULL : epilogue_ops(p, &e);
}

/* ---- reading ---- */

static bool is_tile(const Program *p, int tile, const char *name)
{
    return tile >= 0 && !strcmp(p->tile[tile].name, name);
}

static Along along_of(const Tile *t)
{
    return t->dim[0] == DIM_M ? ALONG_M : t->dim[1] == DIM_N ? ALONG_N : ALONG_NONE;
}

/* Notes a fused operation; t: its vector or number. */
static void note_fused(const Tile *t, Fused *f)
{
    const Along along = along_of(t);
    if (!strcmp(t->name, fused_name(FUSED_BIAS))) f->bias = along, f->bias_type = t->type;
    if (!strcmp(t->name, fused_name(FUSED_SCALE_ALPHA))) f->scale_alpha = along;
    if (!strcmp(t->name, fused_name(FUSED_SCALE_A))) f->scale_ab = along ? SCALE_AB_VECTOR : SCALE_AB_SCALAR;
    if (!strcmp(t->name, fused_name(FUSED_SCALE_D))) f->scale_cd = true;
}

static void note(const Program *p, const Op *o, Epilogue *e)
{
    for (int i = 1; i < 3; i++)
        if (o->tile[i] >= 0 && p->tile[o->tile[i]].operand == 'E')
            note_fused(&p->tile[o->tile[i]], &e->fused);
    if (o->activation) e->fused.activation = o->activation;
    const bool sums = is_tile(p, o->tile[0], "sums"), to_d = is_tile(p, o->tile[0], "d");
    if (o->across == ACROSS_GRID) e->grid = true;
    if (o->across && o->across != ACROSS_GRID) e->across = o->across;
    if (o->kind == OP_SCALE_TILE && o->scalar) e->scales = true;
    if (o->kind == OP_LOAD_TILE) e->reads_c = true, e->staged = e->staged || !is_tile(p, o->tile[0], "reg_c");
    if (o->kind == OP_ATOMIC_ADD_TILE) e->adds = true;
    if (o->kind == OP_STORE_TILE && to_d) e->parts = o->parts;
    if (o->kind == OP_STORE_TILE && sums) e->sums = SUMS_STORED;
    if (o->kind == OP_STORE_TILE && !sums && !to_d) e->staged = true;
    if (o->kind == OP_ADD_TILE && sums && is_tile(p, o->tile[2], "acc")) e->sums = SUMS_ADDED;
    e->role = o->role;
}

static bool same(const Op *x, const Op *y)
{
    for (int i = 0; i < 3; i++)
        if (x->tile[i] != y->tile[i]) return false;
    return x->kind == y->kind && x->scalar == y->scalar && x->across == y->across &&
           x->activation == y->activation && x->last == y->last && x->parts == y->parts && x->role == y->role;
}

static Err unexpected(const Program *p, const Op *is, const Op *expected, const char *name, int line)
{
    Buf text;
    buf_init(&text);
    if (expected) program_dump_op(p, expected, &text);
    Err e = buf_check(&text);
    if (!e)
        e = err_set(ERR_INPUT, "%s of the epilogue, expected %s%s%s", is ? "this op" : "end",
                    expected ? "'" : "", expected ? buf_cstr(&text) : "none", expected ? "'" : "");
    buf_fini(&text);
    return name ? err_context(e, "%s:%d: ", name, is ? is->line : line) : e;
}

/* The tiles of fused operations are those that go with the work-group's tile. */
static Err same_vectors(const Program *p, const Epilogue *e, const char *name)
{
    Program other = *p;
    for (int o = 0; o < FUSED_OPERANDS; o++) {
        const int at = program_tile(p, fused_name((FusedOperand)o));
        if (at < 0) continue;
        other.n_tiles = at; /* without it; those in front of it are known */
        if (program_tile(&other, "d") < 0 || program_tile(&other, "acc") < 0)
            FAIL(ERR_INPUT, "%s%stile %%%s stands before %%d or %%acc", name ? name : "", name ? ": " : "",
                 fused_name((FusedOperand)o));
        TRY(add_vector(&other, e, (FusedOperand)o));
        const Tile *is = &p->tile[at], *want = &other.tile[at];
        bool same = is->operand == want->operand && is->space == want->space && is->type == want->type &&
                    !is->view && fused_has(&e->fused, (FusedOperand)o);
        for (int i = 0; i < 2; i++) same = same && is->dim[i] == want->dim[i] && is->size[i] == want->size[i];
        if (!same)
            FAIL(ERR_INPUT, "%s%stile %%%s does not go with the epilogue and the work-group's tile",
                 name ? name : "", name ? ": " : "", fused_name((FusedOperand)o));
    }
    return ERR_OK;
}

/* Fused operations are for whole sums of products; a bias has the type of the sums or of C and D. */
static Err check_fused(const Program *p, const Epilogue *e, const char *name)
{
    const char *const of = name ? name : "", *const colon = name ? ": " : "";
    if (!fused_any(&e->fused)) return ERR_OK;
    const bool split = p->walk.split > 1 || p->walk.stream_k,
               adds_up = e->grid || e->across == ACROSS_CLUSTER;
    if (e->adds || e->parts || (split && !adds_up))
        FAIL(ERR_INPUT, "%s%swalk split %d, stream_k %d: fused operations need whole sums", of, colon,
             p->walk.split, p->walk.stream_k);
    const DataType sum = p->tile[program_tile(p, "acc")].type, c = p->tile[program_tile(p, "c")].type;
    if (e->fused.bias && e->fused.bias_type != sum && e->fused.bias_type != c)
        FAIL(ERR_INPUT, "%s%stile %%%s has type %s, expected %s or %s", of, colon, fused_name(FUSED_BIAS),
             type_letter(e->fused.bias_type), type_letter(sum), type_letter(c));
    return ERR_OK;
}

Err epilogue_read(const Program *p, const Op *ops, const char *name, Epilogue *e)
{
    Program expected = *p; /* with the tiles that the ops need; they must be those of p */
    const int d = program_tile(p, "d");
    *e = (Epilogue){.written = d < 0 ? TYPE_S : p->tile[d].type};
    for (const Op *o = ops; o; o = o->next) note(p, o, e);
    TRY(epilogue_tiles(&expected, e));
    if (expected.n_tiles > p->n_tiles)
        FAIL(ERR_INPUT, "%s%sthe epilogue needs a tile %%%s", name ? name : "", name ? ": " : "",
             expected.tile[p->n_tiles].name);
    TRY(same_vectors(p, e, name));
    TRY(check_fused(p, e, name));
    const Op *o = ops, *want = epilogue_ops(&expected, e);
    TRY_ALLOC(want);
    int line = 0;
    for (; o && want; o = o->next, want = want->next) {
        if (!same(o, want)) return unexpected(p, o, want, name, line);
        line = o->line;
    }
    return o || want ? unexpected(p, o, want, name, line) : ERR_OK;
}
