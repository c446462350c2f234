/* What the statements of a consumer warp group are run on, and what they do to stages and registers. */
#ifndef KERNEL_LOWER_CONSUMER_RUN_H
#define KERNEL_LOWER_CONSUMER_RUN_H

#include <string.h>

#include "kernel/lower/consumer.h"

enum {
    CONSUMER_NAMES = 128,
    CONSUMER_REGISTERS = 16,
    CONSUMER_OPERANDS = 16, /* registers that a call gets */
    CONSUMER_FUNCTIONS = 128,
    CONSUMER_DEPTH = 8,
    CONSUMER_GROUPS = 8,
    CONSUMER_WAITS = 32,
    CONSUMER_LISTS = 64,
    CONSUMER_EVENTS = 1024,
    CONSUMER_TILES = 6,
    CONSUMER_OPEN = -1, /* of `newer`: its group is not committed; its group is complete */
    CONSUMER_DONE = 1000,
};

/* What a value is. */
typedef enum {
    THING_NONE, /* anything else */
    THING_NUMBER,
    THING_STAGE,     /* an address in a stage */
    THING_BARRIER,   /* the mbarrier of a full stage */
    THING_REGISTERS, /* number: which ones */
    THING_TILE       /* of the walk; number: of its chunks */
} ThingKind;
typedef struct {
    ThingKind kind;
    int64_t number;
} Thing;

typedef struct {
    const char *name;
    Thing is;
} Named;

/* One stage, as a warp group sees it. */
typedef struct {
    int newer;    /* groups of products committed behind the newest one that reads it; OPEN, DONE */
    bool is_held; /* waited for, not released */
    bool is_read;
} ConsumerStage;

/* An array of registers. */
typedef struct {
    const char *name;
    int newer;     /* groups of products behind the newest one that uses them */
    bool used;     /* otherwise, with no fence behind it */
    uint64_t from; /* stages that were loaded into them and that no product has taken yet, a bit each */
} Registers;

/* What a warp group does that others notice. Chunks are counted through all tiles of the walk. */
typedef enum { EVENT_ACQUIRE, EVENT_RELEASE, EVENT_TURN_WAIT, EVENT_TURN_GIVE } EventKind;
typedef struct {
    EventKind kind;
    int at; /* chunk; warp group */
} Event;

/* A walk: chunks of its tiles. */
typedef struct {
    int n, chunks[CONSUMER_TILES];
} ConsumerWalk;

/* Whether a list of statements steers. */
typedef struct {
    const Stmt *list;
    bool steers;
} Steers;

typedef struct {
    const Consumers *c;
    bool derives;
    const Stmt *function[CONSUMER_FUNCTIONS], *wait[CONSUMER_WAITS];
    Steers list[CONSUMER_LISTS];
    int n_functions, n_waits, n_lists;
    const ConsumerWalk *walk;
    ConsumerWalk walk_now;
    int group, tile, at;   /* of the walk: its next tile; the cursor's chunk */
    int acquired;          /* the newest chunk that was waited for; -1: none */
    int chunk[STAGES_MAX]; /* of a stage that is held */
    ConsumerStage stage[STAGES_MAX];
    Registers registers[CONSUMER_REGISTERS];
    Named name[CONSUMER_NAMES];
    int n_registers, n_names, base, depth; /* base: first name that the current function sees */
    Event event[CONSUMER_GROUPS][CONSUMER_EVENTS];
    int n_events[CONSUMER_GROUPS];
    Err e;
} Consumer;

#define REFUSE(r, ...)                                                                                       \
    do {                                                                                                     \
        if (!(r)->e) (r)->e = err_set(ERR_FAILED, __VA_ARGS__);                                              \
    } while (0)

/* Most names differ in their first two characters. */
static inline bool same_name(const char *x, const char *y)
{
    return x == y || (x && y && x[0] == y[0] && x[1] == y[1] && !strcmp(x, y));
}
static inline int consumer_stage(const Consumer *r, int chunk) { return chunk % r->c->ring->n_stages; }
static inline int consumer_parity(const Consumer *r, int chunk) { return chunk / r->c->ring->n_stages & 1; }
static inline bool consumer_is(Thing x, int64_t n) { return x.kind == THING_NUMBER && x.number == n; }

/* ---- consumer_stages.c ---- */

/* Sets the walk of that number; false: there is none. */
bool consumer_walk(Consumer *r, int i);
/* The beginning and the end of a warp group's function over the walk. */
void consumer_start(Consumer *r);
void consumer_end(Consumer *r);
/* Names and registers behind those are at the end of their block. */
void consumer_forget(Consumer *r, int n_names, int n_registers);
void consumer_event(Consumer *r, EventKind kind, int at);
void consumer_acquire(Consumer *r, Thing barrier, Thing parity);
void consumer_advance(Consumer *r);
void consumer_skip(Consumer *r, int64_t chunks);
/* A stage is read, registers are used, by other instructions than products. */
void consumer_read(Consumer *r, int stage);
void consumer_use(Consumer *r, int registers);
void consumer_product(Consumer *r, Thing acc, Thing x, Thing y);
void consumer_commit(Consumer *r);
/* newer: of what is waited for. */
void consumer_await(Consumer *r, const Stmt *at, int newer);
void consumer_release(Consumer *r, int stage);
/* All warp groups' events in an order that they allow, with the producer's. */
void consumer_together(Consumer *r, int *releases);
/* Every wait for products in the tree was reached, and has a number. */
void consumer_waits(Consumer *r, const Stmt *list);
/* Whether statements, or functions that they call, do something to stages or groups of products, so that
 * every turn of a loop matters. */
bool consumer_steers(Consumer *r, const Stmt *list);

#endif
