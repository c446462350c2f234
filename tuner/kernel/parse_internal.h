/* State of the reader of programs, shared by parse.c (lines, tiles, generated programs) and parse_hand.c
 * (programs written by hand). */
#ifndef KERNEL_PARSE_INTERNAL_H
#define KERNEL_PARSE_INTERNAL_H

#include "kernel/hand.h"
#include "kernel/parse.h"

enum { MAX_WORDS = 96 };

/* A name that expressions of a program written by hand may use. */
typedef struct {
    Str name;
    const Expr *e;
    int depth; /* of the block that it belongs to */
} ParseName;

typedef struct {
    Program *p;
    const char *name;
    int line;
    Str text; /* of the line */
    Str word[MAX_WORDS];
    int n, at; /* words of the line; the next one */
    bool has_target;
    GpuPlan *gpu;
    HostPlan *host;
    int n_ops;
    Op **tail[PARSE_MAX_DEPTH];
    int depth;
    ParseName known[HAND_MAX_NAMES];
    int n_known;
} Parser;

#define FAIL_AT(r, ...) return err_context(err_set(ERR_INPUT, __VA_ARGS__), "%s:%d: ", (r)->name, (r)->line)

Err parse_append(Parser *r, Op *o, bool body);

/* `problem`, `grid`, `param`. */
bool parse_is_hand_clause(Str first);
Err parse_hand_clause(Parser *r, Str first);
/* Reads the rest of an op's line; o->kind is set. */
Err parse_hand_op(Parser *r, Op *o);
/* Ends a block at '}' and forgets the names that were defined in it. */
void parse_close(Parser *r);

#endif
