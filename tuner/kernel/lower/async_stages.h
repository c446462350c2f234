/* The abstract stages that async.c runs statements on, and what copies, reads, groups, waits and barriers do
 * to them. */
#ifndef KERNEL_LOWER_ASYNC_STAGES_H
#define KERNEL_LOWER_ASYNC_STAGES_H

#include "kernel/lower/async.h"

enum {
    CURSORS_MAX = 4,
    NAMES_MAX = 64,
    DEPTH_MAX = 16,    /* calls inside of calls */
    ROUNDS_MAX = 4096, /* until a loop's state stays the same: each round makes a stage worse */
    OPEN = -1,         /* of Stage.newer: its group is not committed; all groups have arrived */
    ARRIVED = 1000,
    NO_STAGE = -1,
    UNKNOWN = -1, /* of Known.value */
    TURNS = 3     /* of functions that take turns: the second one begins with what the first one has left */
};

/* What may be the case with one stage. */
typedef struct {
    int newer;    /* groups that this thread has committed behind the newest that fills it; OPEN, ARRIVED */
    bool filled;  /* something has been copied to it */
    bool unseen;  /* threads have not met since copies to it have arrived */
    bool unread;  /* it was filled and, on every way, has not been read since */
    bool reading; /* other threads may still read it */
} Stage;

/* A register with the address of a stage, or a counter with a number. */
typedef struct {
    const char *name;
    int value;
    bool is_stage;
} Known;

typedef struct {
    const char *name;
    int at;
} Cursor;

typedef struct {
    Stage stage[STAGES_MAX];
    Cursor cursor[CURSORS_MAX];
    Known known[NAMES_MAX];
    int n_cursors, n_known;
} State;

/* What a function does to the stages whose addresses are its parameters, a bit each. Those that wait, commit
 * or move cursors are followed instead, call by call. */
enum { FUNCTIONS_MAX = 64, PARAMS_MAX = 32 };
typedef struct {
    const Stmt *of;
    bool steers;
    unsigned fills, reads;
} Effect;

/* Whether a loop's body waits, commits or moves cursors. */
enum { LOOPS_MAX = 64, WAITS_MAX = 64 };
typedef struct {
    const Stmt *of;
    bool steers;
} Loops;

typedef struct {
    const Stmts *s;
    State now;
    const StageRing *ring;
    bool derives;
    int depth, base; /* calls; first of now.known that the current function sees */
    Effect *effect;  /* of the function that is looked at for itself; NULL: none */
    Effect of[FUNCTIONS_MAX];
    Loops loops[LOOPS_MAX];
    int n_of, n_loops;
    const Stmt *wait[WAITS_MAX]; /* that were reached */
    int n_waits;
    Err e;
} Run;

#define REFUSE(r, ...)                                                                                       \
    do {                                                                                                     \
        if (!(r)->e) (r)->e = err_set(ERR_FAILED, __VA_ARGS__);                                              \
    } while (0)

static inline int n_stages(const Run *r) { return r->ring ? r->ring->n_stages : 0; }

void stage_fill(Run *r, int at);
void stage_read(Run *r, int at);
void stages_commit(Run *r);
void stages_barrier(Run *r);
/* Behind loops that may stop at any stage, each stage may be in the state of any other one. No chunk waits
 * to be read: such loops multiply all chunks that there are; what was filled last was filled with none. */
void stages_mix(Run *r);
void stages_await(Run *r, const Stmt *at);
/* Adds what may be the case in `other`. Returns whether that was news. */
bool states_join(Run *r, State *to, const State *other);
/* Counts stages from another one on: stage `by` becomes stage 0. */
void state_rotate(const Run *r, State *x, int by);
Cursor *state_cursor(Run *r, const char *name);

#endif
