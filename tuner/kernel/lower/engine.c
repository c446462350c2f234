/* See engine.h. */
#include "kernel/lower/engine.h"

#include <inttypes.h>
#include <string.h>

typedef struct {
    const EngineFill *fill;
    int64_t bytes[ENGINE_TILES]; /* of the boxes of a tile, of all work-groups that send them */
    const Stmt *expect;          /* NULL: none yet */
    bool is_empty;               /* the stage has been waited for */
} Filling;

static bool is(const Value *x, const char *name)
{
    return x && x->kind == VALUE_NAME && !strcmp(x->name, name);
}

static Err box(Filling *f, const Stmt *s, int64_t times)
{
    const EngineFill *fill = f->fill;
    const Access *to = s->access;
    const int64_t end = (to->offset ? to->offset->hi : 0) + to->bytes;
    int i = 0;
    if (!f->is_empty) FAIL(ERR_FAILED, "a box is copied to a stage that may still be read");
    while (i < ENGINE_TILES && !is(to->base, fill->tile[i].name)) i++;
    if (i == ENGINE_TILES) FAIL(ERR_FAILED, "a box is copied to none of the stage's tiles");
    if (!is(s->x, fill->full)) FAIL(ERR_FAILED, "a box is not counted by '%s'", fill->full);
    if ((to->offset && to->offset->lo < 0) || end > fill->tile[i].bytes)
        FAIL(ERR_FAILED, "a box ends at byte %" PRId64 " of '%s', which has %" PRId64, end,
             fill->tile[i].name, fill->tile[i].bytes);
    f->bytes[i] += to->bytes * s->box->senders * times;
    return ERR_OK;
}

static int64_t all_bytes(const Filling *f)
{
    int64_t n = 0;
    for (int i = 0; i < ENGINE_TILES; i++) n += f->bytes[i];
    return n;
}

static Err phase(Filling *f, const Stmt *s)
{
    if (!is(s->to, f->fill->empty)) FAIL(ERR_FAILED, "a producer waits for '%s' alone", f->fill->empty);
    f->is_empty = true;
    return ERR_OK;
}

static Err expect(Filling *f, const Stmt *s, int64_t times)
{
    if (!f->is_empty) FAIL(ERR_FAILED, "'%s' is given its bytes before its stage is empty", f->fill->full);
    if (f->expect || times != 1) FAIL(ERR_FAILED, "'%s' is given its bytes twice", f->fill->full);
    if (!is(s->x, f->fill->full)) FAIL(ERR_FAILED, "'%s' is not given its bytes", f->fill->full);
    f->expect = s;
    return ERR_OK;
}

static bool acts(const Stmt *list)
{
    for (const Stmt *s = list; s; s = s->next)
        if (s->kind == STMT_BOX || s->kind == STMT_EXPECT || s->kind == STMT_PHASE || acts(s->body) ||
            acts(s->otherwise))
            return true;
    return false;
}

/* times: turns of the loops around the list. */
static Err statements(Filling *f, const Stmt *list, int64_t times)
{
    for (const Stmt *s = list; s; s = s->next) {
        if (s->kind == STMT_BOX) TRY(box(f, s, times));
        if (s->kind == STMT_PHASE) TRY(phase(f, s));
        if (s->kind == STMT_EXPECT) TRY(expect(f, s, times));
        if (!s->body || !acts(s->body)) continue;
        const Loop *l = s->kind == STMT_LOOP ? s->loop : NULL;
        const bool counted = l && l->start && l->limit && expr_is_const(l->start) &&
                             expr_is_const(l->limit) && l->step > 0 && !l->step_by;
        if (s->kind != STMT_BLOCK && !counted)
            FAIL(ERR_FAILED, "the copies to a stage depend on a condition");
        const int64_t turns = l ? (l->limit->lo - l->start->lo + l->step - 1) / l->step : 1;
        TRY(statements(f, s->body, times * turns));
    }
    return ERR_OK;
}

static Err filled(const Stmts *s, const EngineFill *fill, Filling *f)
{
    *f = (Filling){.fill = fill};
    TRY(stmts_check(s));
    for (const Stmt *at = s->first; at; at = at->next)
        if (at->kind == STMT_FUNCTION && !strcmp(at->function->name, fill->function))
            TRY(statements(f, at->body, 1));
    if (!f->expect) FAIL(ERR_FAILED, "'%s' is not given its bytes", fill->full);
    for (int i = 0; i < ENGINE_TILES; i++)
        if (f->bytes[i] != fill->tile[i].bytes)
            FAIL(ERR_FAILED, "boxes of %" PRId64 " bytes for '%s', which has %" PRId64, f->bytes[i],
                 fill->tile[i].name, fill->tile[i].bytes);
    return ERR_OK;
}

Err engine_verify(const Stmts *s, const EngineFill *fill)
{
    Filling f;
    TRY(filled(s, fill, &f));
    if (f.expect->number != all_bytes(&f))
        FAIL(ERR_FAILED, "'%s' expects %" PRId64 " bytes and gets %" PRId64, fill->full, f.expect->number,
             all_bytes(&f));
    return ERR_OK;
}

Err engine_derive(Stmts *s, const EngineFill *fill)
{
    Filling f;
    TRY(filled(s, fill, &f));
    ((Stmt *)f.expect)->number = all_bytes(&f); /* a node of *s, which may be changed */
    return ERR_OK;
}
