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

Err epilogue_tiles(Program *p, const Epilogue *e)
{
    const int c = program_tile(p, "c"), d = program_tile(p, "d"), acc = program_tile(p, "acc");
    if (c < 0 || d < 0 || acc < 0) FAIL(ERR_INPUT, "the program has no tiles %%c, %%d and %%acc");
    p->tile[d].type = e->written;
    if (e->sums) TRY(add_tile(p, "sums", "acc", SPACE_LOCAL, p->tile[acc].type));
    if (e->reads_c && !e->staged) TRY(add_tile(p, "reg_c", "c", SPACE_REGISTER, p->tile[c].type));
    if (!e->adds) TRY(add_tile(p, "reg_d", "d", SPACE_REGISTER, e->written));
    return e->staged ? add_tile(p, "local_d", "d", SPACE_LOCAL, e->written) : ERR_OK;
}

typedef struct {
    Program *p;
    const Epilogue *e;
    Op *op[OPS_MAX];
    int n;
    bool failed;
} List;

static Op *push(List *l, OpKind kind, const char *to, const char *from, const char *with)
{
    static Op none;
    const char *const name[] = {to, from, with};
    int tile[3];
    for (int i = 0; i < 3; i++) tile[i] = name[i] ? program_tile(l->p, name[i]) : -1;
    Op *o = l->n < OPS_MAX ? pass_tile_op(l->p, kind, tile[0], tile[1], tile[2]) : NULL;
    if (!o) {
        l->failed = true;
        return &none;
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

static void push_c(List *l, const char *x)
{
    const char *c = l->e->staged ? "local_d" : "reg_c";
    push(l, OP_LOAD_TILE, c, "c", NULL);
    push(l, OP_ADD_TILE, x, x, c)->scalar = SCALAR_BETA;
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
    const char *x = push_sums(&l);
    if (e->scales) push(&l, OP_SCALE_TILE, x, NULL, NULL)->scalar = SCALAR_ALPHA;
    if (e->reads_c) push_c(&l, x);
    if (e->adds)
        push(&l, OP_ATOMIC_ADD_TILE, "d", x, NULL);
    else
        push_stores(&l, x);
    return l.failed ? NULL : pass_list(l.op, l.n);
}

/* ---- reading ---- */

static bool is_tile(const Program *p, int tile, const char *name)
{
    return tile >= 0 && !strcmp(p->tile[tile].name, name);
}

static void note(const Program *p, const Op *o, Epilogue *e)
{
    const bool sums = is_tile(p, o->tile[0], "sums"), to_d = is_tile(p, o->tile[0], "d");
    if (o->across) e->across = o->across;
    if (o->kind == OP_SCALE_TILE) e->scales = true;
    if (o->kind == OP_LOAD_TILE) e->reads_c = true, e->staged = e->staged || !is_tile(p, o->tile[0], "reg_c");
    if (o->kind == OP_ATOMIC_ADD_TILE) e->adds = true;
    if (o->kind == OP_STORE_TILE && to_d) e->parts = o->parts;
    if (o->kind == OP_STORE_TILE && sums) e->sums = SUMS_STORED;
    if (o->kind == OP_STORE_TILE && !sums && !to_d) e->staged = true;
    if (o->kind == OP_ADD_TILE && sums && !o->scalar) e->sums = SUMS_ADDED;
    e->role = o->role;
}

static bool same(const Op *x, const Op *y)
{
    for (int i = 0; i < 3; i++)
        if (x->tile[i] != y->tile[i]) return false;
    return x->kind == y->kind && x->scalar == y->scalar && x->across == y->across && x->last == y->last &&
           x->parts == y->parts && x->role == y->role;
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
    const Op *o = ops, *want = epilogue_ops(&expected, e);
    TRY_ALLOC(want);
    int line = 0;
    for (; o && want; o = o->next, want = want->next) {
        if (!same(o, want)) return unexpected(p, o, want, name, line);
        line = o->line;
    }
    return o || want ? unexpected(p, o, want, name, line) : ERR_OK;
}
