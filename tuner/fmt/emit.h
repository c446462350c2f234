/* The functions that the YAML and the msgpack writer of Emit fill in, and their shared stack. Private to
 * tuner/fmt. */
#ifndef FMT_EMIT_H
#define FMT_EMIT_H

#include "base/vec.h"
#include "fmt/write.h"

typedef struct {
    size_t total, done; /* nodes: items of a seq, keys and values of a map */
    bool map, flow;
    bool simple_key; /* YAML: the key before the value to come stands before ': ' on the same line */
    int indent;      /* YAML: of what surrounds it, -1 at the top */
} EmitFrame;

typedef struct {
    void (*open)(Emit *e, EmitFrame *f, size_t n);
    void (*close)(Emit *e, const EmitFrame *f);
    void (*str)(Emit *e, Str s);
    void (*integer)(Emit *e, int64_t v);
    void (*boolean)(Emit *e, bool v);
    void (*real)(Emit *e, double v);
    void (*null)(Emit *e);
    void (*finish)(Emit *e);
} EmitOps;

struct Emit {
    const EmitOps *ops;
    Buf *out;
    VEC(EmitFrame) frame;
    const char *bug; /* first misuse */
    bool failed;     /* out of memory for frames */
    bool root_done;
    /* YAML */
    size_t line_start; /* in out */
    int indent;        /* -1: none yet */
    unsigned flow_level;
    bool whitespace; /* the last character is a space or a line break */
    bool indention;  /* the line holds only indentation so far */
};

Emit *emit_new(Buf *out, const EmitOps *ops);
/* The innermost open collection, NULL at the top. */
EmitFrame *emit_top(Emit *e);

#endif
