/* What the fuzz targets of YAML and msgpack share: a tree to events. */
#ifndef FUZZ_EMIT_NODE_H
#define FUZZ_EMIT_NODE_H

#include "fmt/node.h"
#include "fmt/write.h"

static inline bool scalars_only(const Node *n)
{
    for (size_t i = 0; i < (n->kind == NODE_MAP ? 2 * n->n : n->n); i++)
        if (n->item[i].kind == NODE_SEQ || n->item[i].kind == NODE_MAP) return false;
    return true;
}

static inline void node_emit(const Node *n, Emit *e)
{
    switch (n->kind) {
    case NODE_NULL:
        emit_null(e);
        return;
    case NODE_BOOL:
        emit_bool(e, n->boolean);
        return;
    case NODE_INT:
        emit_int(e, n->integer);
        return;
    case NODE_FLOAT:
        emit_real(e, n->real);
        return;
    case NODE_STR:
        emit_str(e, n->text);
        return;
    case NODE_SEQ:
        emit_seq(e, n->n, scalars_only(n));
        break;
    case NODE_MAP:
        emit_map(e, n->n, scalars_only(n));
        break;
    }
    for (size_t i = 0; i < (n->kind == NODE_MAP ? 2 * n->n : n->n); i++) node_emit(&n->item[i], e);
    emit_end(e);
}

/* The tree as text of one format. */
static inline void node_write(const Node *n, Emit *(*make)(Buf *), Buf *out)
{
    Emit *e = make(out);
    node_emit(n, e);
    if (emit_finish(e)) __builtin_trap();
    emit_free(e);
}

#endif
