/* Running statements on small numbers, to see what they do to the stages of a ring: integers are computed,
 * calls of functions in the same tree are followed, loops are gone through iteration by iteration. What a
 * protocol consists of (stages, barriers, registers) are Things, which its rules make and understand: the
 * hooks of a TraceRules, called for what the tree does not say itself.
 *
 * A value that nothing says anything of is THING_NONE. A condition on it is refused where one side of it
 * `steers`: does something that the rules watch, so that every iteration of a loop matters.
 */
#ifndef KERNEL_LOWER_TRACE_H
#define KERNEL_LOWER_TRACE_H

#include <string.h>

#include "kernel/lower/stmt.h"

enum {
    TRACE_NAMES = 160,
    TRACE_FUNCTIONS = 128,
    TRACE_DEPTH = 8,
    TRACE_LISTS = 96,
    TRACE_RECORDS = 32,
    TRACE_FIELDS = 16,
    TRACE_TURNS = 4096 /* of a loop */
};

/* What a value is. Kinds behind THING_RECORD mean something to the rules alone. */
typedef enum {
    THING_NONE, /* anything else */
    THING_NUMBER,
    THING_RECORD,  /* number: of the run's record, a struct whose fields are known */
    THING_STAGE,   /* an address in a stage; of: which of its tiles */
    THING_BARRIER, /* the mbarrier of a stage; of: which one */
    THING_REGISTERS,
    THING_TILE,
    THING_STREAM
} ThingKind;
typedef struct {
    ThingKind kind;
    int of;
    int64_t number;
} Thing;

typedef struct {
    const char *name;
    Thing is;
} Named;

/* Whether a list of statements steers. */
typedef struct {
    const Stmt *list;
    bool steers;
} Steers;

typedef struct Trace Trace;
/* Hooks other than call, statement and steers may be NULL: nothing is known, watched or refused there. */
typedef struct {
    const char *what; /* whose statements: "a warp group" */
    /* A call; a field of x, which is called `of` (empty: it has no name). True where the rules know it. */
    bool (*call)(Trace *r, const Value *v, Thing *is);
    bool (*field)(Trace *r, Str of, Thing x, const char *field, Thing *is);
    /* A function of the tree that is not followed; NULL: none. */
    const char *(*not_followed)(const Trace *r);
    /* The call of a function that is neither known to the rules nor followed. */
    Thing (*outside)(Trace *r, const Value *v);
    /* A load, a place, a list, the address of a stage. */
    Thing (*memory)(Trace *r, const Value *v);
    /* A statement: true where it is one of the rules'. */
    bool (*statement)(Trace *r, const Stmt *s);
    /* The declaration of an array; an assignment of or to x; a block or function has ended, and its names are
     * forgotten. */
    bool (*array)(Trace *r, const Stmt *s, Thing *is);
    void (*use)(Trace *r, Thing x);
    void (*forget)(Trace *r);
    /* A condition, a loop that steers of which is not known whether or how often its body runs. NULL:
     * refused. */
    void (*branch)(Trace *r, const Stmt *s);
    void (*turns)(Trace *r, const Stmt *s);
    /* Whether a statement, or a call by that name, steers. */
    bool (*steers)(StmtKind kind);
    bool (*call_steers)(const Trace *r, const char *name);
} TraceRules;

struct Trace {
    const TraceRules *rules;
    const Stmts *s;
    const Stmt *function[TRACE_FUNCTIONS];
    Steers list[TRACE_LISTS];
    Named name[TRACE_NAMES];
    Thing record[TRACE_RECORDS][TRACE_FIELDS];
    const Stmt *record_of[TRACE_RECORDS];                      /* its STMT_STRUCT */
    Thing result;                                              /* of the function that returned last */
    int n_functions, n_lists, n_names, n_records, base, depth; /* base: first name of the current function */
    const Stmt *now; /* the current function; blocks: of it, that are open */
    int blocks;
    bool returned;
    Err e;
};

#define REFUSE(r, ...)                                                                                       \
    do {                                                                                                     \
        if (!(r)->e) (r)->e = err_set(ERR_FAILED, __VA_ARGS__);                                              \
    } while (0)

/* Most names differ in their first two characters. */
static inline bool same_name(const char *x, const char *y)
{
    return x == y || (x && y && x[0] == y[0] && x[1] == y[1] && !strcmp(x, y));
}
static inline Thing thing_number(int64_t n) { return (Thing){.kind = THING_NUMBER, .number = n}; }
static inline bool thing_is(Thing x, int64_t n) { return x.kind == THING_NUMBER && x.number == n; }
static inline bool is_named(const Value *v, const char *name)
{
    return v && (v->kind == VALUE_NAME || v->kind == VALUE_CALL) && same_name(v->name, name);
}

/* A state of `bytes` bytes, all zero, whose first member is a Trace, and the function of that name. Its e is
 * ERR_FAILED where there is none (function NULL: none is looked for), functions are too many, or memory
 * was missing when they were made. NULL: out of memory. trace_free returns its e, of NULL ERR_FAILED. */
void *trace_new(size_t bytes, const TraceRules *rules, const Stmts *s, const char *function, const Stmt **f);
Err trace_free(void *state);
/* Forgets all names. */
void trace_restart(Trace *r);
/* The function of that name; NULL: it is not in the tree. */
const Stmt *trace_function(const Trace *r, const char *name);
/* Runs the body of a function whose parameters are known; a block of the current one. */
void trace_body(Trace *r, const Stmt *function);
void trace_block(Trace *r, const Stmt *list);
void trace_know(Trace *r, const char *name, Thing is);
/* NULL: the current function does not know it. */
Thing *trace_known(Trace *r, const char *name);
Thing trace_value(Trace *r, const Value *v);
/* The value of an expression whose variables are known. False: they are not. */
bool trace_expr(Trace *r, const Expr *e, int64_t *n);
/* A new record of the struct of that name, whose fields are not known; NULL: there is none. */
Thing *trace_record(Trace *r, const char *type, Thing *is);
void trace_record_set(Trace *r, Thing record, const char *field, Thing x);
/* Whether statements, or functions that they call, steer. */
bool trace_steers(Trace *r, const Stmt *list);

#endif
