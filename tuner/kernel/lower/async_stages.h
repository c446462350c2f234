/* The abstract stages that async.c runs statements on, and what copies, reads, groups, waits and barriers do
 * to them. */
#ifndef KERNEL_LOWER_ASYNC_STAGES_H
#define KERNEL_LOWER_ASYNC_STAGES_H

#include "kernel/lower/async.h"
#include "kernel/lower/trace.h"

enum {
    CURSORS_MAX = 4,
    ROUNDS_MAX = 4096, /* until a loop's state stays the same: each round makes a stage worse */
    OPEN = -1,         /* of Stage.newer: its group is not committed; all groups have arrived */
    ARRIVED = 1000,
    NO_STAGE = -1,
    UNKNOWN = -1, /* the number of a stage */
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

typedef struct {
    const char *name;
    int at;
} Cursor;

typedef struct {
    Stage stage[STAGES_MAX];
    Cursor cursor[CURSORS_MAX];
    int n_cursors;
} State;

/* The names that a function knows: addresses of stages, counters. */
typedef struct {
    Named name[TRACE_NAMES];
    int n;
} Names;

/* What a function does to the stages whose addresses are its parameters, a bit each. Those that wait, commit
 * or move cursors are followed instead, call by call. */
enum { FUNCTIONS_MAX = 64, PARAMS_MAX = 32 };
typedef struct {
    const Stmt *of;
    bool steers;
    unsigned fills, reads;
} Effect;

/* Things: a STAGE has its number, or UNKNOWN. */
enum { WAITS_MAX = 64 };
typedef struct {
    Trace trace; /* the first member */
    State now;
    const StageRing *ring;
    bool derives;
    Effect *effect; /* of the function that is looked at for itself; NULL: none */
    Effect of[FUNCTIONS_MAX];
    int n_of;
    const Stmt *wait[WAITS_MAX]; /* that were reached */
    int n_waits;
} Run;

static inline int n_stages(const Run *r) { return r->ring ? r->ring->n_stages : 0; }

void stage_fill(Run *r, int at);
void stage_read(Run *r, int at);
void stages_commit(Run *r);
void stages_barrier(Run *r);
/* Behind loops that may stop at any stage, each stage may be in the state of any other one. No chunk waits
 * to be read: such loops multiply all chunks that there are; what was filled last was filled with none. */
void stages_mix(Run *r);
void stages_await(Run *r, const Stmt *at);
/* The names that are known now, and what they are then again. */
void names_keep(const Run *r, Names *to);
void names_set(Run *r, const Names *from);
/* Adds what may be the case in `other`. Returns whether that was news. */
bool states_join(Run *r, State *to, const State *other);
bool names_join(Names *to, const Names *other);
/* Counts stages from another one on: stage `by` becomes stage 0. */
void state_rotate(const Run *r, State *x, Names *names, int by);
Cursor *state_cursor(Run *r, const char *name);

#endif
