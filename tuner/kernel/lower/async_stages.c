/* See async_stages.h. */
#include "kernel/lower/async_stages.h"

#include <string.h>

Cursor *state_cursor(Run *r, const char *name)
{
    for (int i = 0; i < r->now.n_cursors; i++)
        if (!strcmp(r->now.cursor[i].name, name)) return &r->now.cursor[i];
    return NULL;
}

/* ---- what happens to stages ---- */

void stage_fill(Run *r, int at)
{
    if (r->trace.e || at == NO_STAGE) return;
    if (r->effect) {
        r->effect->fills |= 1u << at;
        return;
    }
    Stage *s = &r->now.stage[at];
    if (s->reading) REFUSE(&r->trace, "stage %d is filled while threads may still read it", at);
    if (s->unread && !r->ring->may_skip)
        REFUSE(&r->trace, "stage %d is filled again, but its chunk has not been read", at);
    s->filled = true;
    s->newer = OPEN;
}

void stage_read(Run *r, int at)
{
    if (r->trace.e || at == NO_STAGE) return;
    if (r->effect) {
        r->effect->reads |= 1u << at;
        return;
    }
    Stage *s = &r->now.stage[at];
    if (!s->filled) REFUSE(&r->trace, "stage %d is read, but nothing was copied to it", at);
    if (s->newer != ARRIVED) REFUSE(&r->trace, "stage %d is read, but no wait covers its copies", at);
    if (s->unseen) REFUSE(&r->trace, "stage %d is read with no barrier behind the wait for its copies", at);
    s->reading = true, s->unread = false;
}

void stages_commit(Run *r)
{
    for (int i = 0; i < n_stages(r); i++) {
        Stage *s = &r->now.stage[i];
        if (s->newer == ARRIVED) continue;
        if (s->newer == OPEN) s->unread = true;
        if (s->newer < STAGES_MAX) s->newer++;
    }
}

void stages_barrier(Run *r)
{
    for (int i = 0; i < n_stages(r); i++) r->now.stage[i].unseen = r->now.stage[i].reading = false;
}

void stages_mix(Run *r)
{
    Stage *s = r->now.stage, any = s[0];
    for (int i = 1; i < n_stages(r); i++) {
        if (s[i].newer < any.newer) any.newer = s[i].newer;
        any.filled = any.filled || s[i].filled, any.unseen = any.unseen || s[i].unseen;
        any.reading = any.reading || s[i].reading;
    }
    any.unread = false;
    for (int i = 0; i < n_stages(r); i++) s[i] = any;
}

/* The groups that may be under way behind a wait for that stage, or for all of them. */
static int pending_of(Run *r, int stage)
{
    int least = ARRIVED;
    for (int i = 0; i < n_stages(r); i++)
        if ((stage == NO_STAGE || i == stage) && r->now.stage[i].newer < least) least = r->now.stage[i].newer;
    if (least == OPEN) REFUSE(&r->trace, "a wait for copies of stage %d that are no group yet", stage);
    return least;
}

static void remember(Run *r, const Stmt *at)
{
    for (int i = 0; i < r->n_waits; i++)
        if (r->wait[i] == at) return;
    if (r->n_waits == WAITS_MAX)
        REFUSE(&r->trace, "more than %d waits", WAITS_MAX);
    else
        r->wait[r->n_waits++] = at;
}

void stages_await(Run *r, const Stmt *at)
{
    const Cursor *c = at->to ? state_cursor(r, at->to->name) : NULL;
    const int stage = c ? (c->at + at->dims[0]) % at->ring->n_stages : NO_STAGE;
    int pending = (int)at->number;
    if (at->to && !c) REFUSE(&r->trace, "there is no cursor '%s'", at->to->name);
    if (r->trace.e) return;
    if (r->derives) {
        pending = pending_of(r, stage);
        if (!at->to && pending == ARRIVED) pending = 0;
        /* the tree is that of *r->trace.s, which async_derive may change */
        if (pending != ARRIVED && (at->number == UNDERIVED || at->number > pending))
            ((Stmt *)at)->number = pending;
        remember(r, at);
    }
    if (pending == UNDERIVED) REFUSE(&r->trace, "a wait whose number of groups was not derived");
    for (int i = 0; i < n_stages(r); i++) {
        Stage *s = &r->now.stage[i];
        if (s->newer == ARRIVED || s->newer < pending) continue;
        s->newer = ARRIVED, s->unseen = true;
    }
}

/* ---- states of two ways to the same place ---- */

static bool either(bool *x, bool y)
{
    const bool changes = y && !*x;
    *x = *x || y;
    return changes;
}

bool states_join(Run *r, State *to, const State *other)
{
    bool news = false;
    for (int i = 0; i < n_stages(r); i++) {
        Stage *x = &to->stage[i];
        const Stage *y = &other->stage[i];
        if (y->newer < x->newer) x->newer = y->newer, news = true;
        news = either(&x->filled, y->filled) || news;
        news = either(&x->unseen, y->unseen) || news;
        news = news || (x->unread && !y->unread);
        x->unread = x->unread && y->unread;
        news = either(&x->reading, y->reading) || news;
    }
    if (to->n_cursors != other->n_cursors) REFUSE(&r->trace, "a cursor is declared on one of two ways");
    for (int i = 0; i < to->n_cursors && !r->trace.e; i++)
        if (to->cursor[i].at != other->cursor[i].at)
            REFUSE(&r->trace, "cursor '%s' is at stage %d or %d", to->cursor[i].name, to->cursor[i].at,
                   other->cursor[i].at);
    return news;
}

void names_keep(const Run *r, Names *to)
{
    to->n = r->trace.n_names;
    memcpy(to->name, r->trace.name, (size_t)to->n * sizeof *to->name);
}

void names_set(Run *r, const Names *from)
{
    r->trace.n_names = from->n;
    memcpy(r->trace.name, from->name, (size_t)from->n * sizeof *from->name);
}

bool names_join(Names *to, const Names *other)
{
    bool news = false;
    for (int i = 0; i < to->n; i++) {
        Thing *x = &to->name[i].is;
        const Thing y = other->name[i].is;
        if (x->kind == y.kind && x->number == y.number) continue;
        const bool is_stage = x->kind == THING_STAGE || y.kind == THING_STAGE;
        const Thing both = {.kind = is_stage ? THING_STAGE : THING_NONE, .number = is_stage ? UNKNOWN : 0};
        news = news || x->kind != both.kind || x->number != both.number;
        *x = both;
    }
    return news;
}

void state_rotate(const Run *r, State *x, Names *names, int by)
{
    const int n = n_stages(r);
    const State was = *x;
    if (!by) return;
    for (int i = 0; i < n; i++) x->stage[i] = was.stage[(i + by) % n];
    for (int i = 0; i < x->n_cursors; i++) x->cursor[i].at = (x->cursor[i].at - by + n) % n;
    for (int i = 0; i < names->n; i++) {
        Thing *is = &names->name[i].is;
        if (is->kind == THING_STAGE && is->number != UNKNOWN) is->number = (is->number - by + n) % n;
    }
}
