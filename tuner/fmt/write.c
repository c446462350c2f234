/* Emit: dispatch to the YAML or msgpack writer and the check that events fit the announced sizes. See
 * write.h. */
#include "fmt/write.h"

#include <stdlib.h>

#include "fmt/emit.h"

Emit *emit_new(Buf *out, const EmitOps *ops)
{
    Emit *e = calloc(1, sizeof *e);
    if (!e) return NULL;
    e->ops = ops;
    e->out = out;
    e->line_start = out->n;
    e->indent = -1;
    e->whitespace = e->indention = true;
    return e;
}

void emit_free(Emit *e)
{
    if (!e) return;
    VEC_FINI(&e->frame);
    free(e);
}

EmitFrame *emit_top(Emit *e) { return e->frame.n ? &e->frame.v[e->frame.n - 1] : NULL; }

/* Counts one more node; false when it does not fit the announced size. */
static bool node_begin(Emit *e)
{
    if (!e || e->failed || e->bug) return false;
    EmitFrame *top = emit_top(e);
    if (top ? top->done == top->total : e->root_done) {
        e->bug = top ? "more items than announced" : "a second document";
        return false;
    }
    return true;
}

static void node_end(Emit *e)
{
    EmitFrame *top = emit_top(e);
    if (top)
        top->done++;
    else
        e->root_done = true;
}

static void collection_open(Emit *e, size_t n, bool map, bool flow)
{
    if (!node_begin(e)) return;
    EmitFrame f = {.total = map ? 2 * n : n, .map = map, .flow = flow};
    e->ops->open(e, &f, n);
    if (!VEC_PUSH(&e->frame, f)) e->failed = true;
}

void emit_map(Emit *e, size_t n_pairs, bool flow) { collection_open(e, n_pairs, true, flow); }

void emit_seq(Emit *e, size_t n_items, bool flow) { collection_open(e, n_items, false, flow); }

void emit_end(Emit *e)
{
    if (!e || e->failed || e->bug) return;
    EmitFrame *top = emit_top(e);
    if (!top || top->done != top->total) {
        e->bug = top ? "fewer items than announced" : "an end without a beginning";
        return;
    }
    EmitFrame f = *top;
    e->frame.n--;
    e->ops->close(e, &f);
    node_end(e);
}

void emit_str(Emit *e, Str s)
{
    if (!node_begin(e)) return;
    e->ops->str(e, s);
    node_end(e);
}

void emit_cstr(Emit *e, const char *s) { emit_str(e, str_from(s)); }

void emit_int(Emit *e, int64_t v)
{
    if (!node_begin(e)) return;
    e->ops->integer(e, v);
    node_end(e);
}

void emit_bool(Emit *e, bool v)
{
    if (!node_begin(e)) return;
    e->ops->boolean(e, v);
    node_end(e);
}

void emit_real(Emit *e, double v)
{
    if (!node_begin(e)) return;
    e->ops->real(e, v);
    node_end(e);
}

void emit_null(Emit *e)
{
    if (!node_begin(e)) return;
    e->ops->null(e);
    node_end(e);
}

Err emit_finish(Emit *e)
{
    if (!e || e->failed) FAIL(ERR_FAILED, "out of memory for a writer");
    if (!e->bug && (e->frame.n || !e->root_done)) e->bug = "an unfinished document";
    if (e->bug) FAIL(ERR_FAILED, "BUG: the writer was given %s, at depth %zu", e->bug, e->frame.n);
    e->ops->finish(e);
    return buf_check(e->out);
}
