/* What the statements of a consumer warp group are run on, and what they do to stages and registers. */
#ifndef KERNEL_LOWER_CONSUMER_RUN_H
#define KERNEL_LOWER_CONSUMER_RUN_H

#include "kernel/lower/consumer.h"
#include "kernel/lower/trace.h"

enum {
    CONSUMER_REGISTERS = 16,
    CONSUMER_OPERANDS = 16, /* registers that a call gets */
    CONSUMER_GROUPS = 8,
    CONSUMER_WAITS = 32,
    CONSUMER_EVENTS = 1024,
    CONSUMER_TILES = 6,
    CONSUMER_OPEN = -1, /* of `newer`: its group is not committed; its group is complete */
    CONSUMER_DONE = 1000,
};

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

/* Things: a STAGE and a full stage's BARRIER have its number, REGISTERS which ones, a TILE of the walk how
 * many chunks it has. */
typedef struct {
    Trace run; /* the first member */
    const Consumers *c;
    bool derives;
    const Stmt *wait[CONSUMER_WAITS];
    int n_waits;
    const ConsumerWalk *walk;
    ConsumerWalk walk_now;
    int meetings;          /* with the whole cluster */
    int group, tile, at;   /* of the walk: its next tile; the cursor's chunk */
    int acquired;          /* the newest chunk that was waited for; -1: none */
    int chunk[STAGES_MAX]; /* of a stage that is held */
    ConsumerStage stage[STAGES_MAX];
    Registers registers[CONSUMER_REGISTERS];
    int n_registers;
    Event event[CONSUMER_GROUPS][CONSUMER_EVENTS];
    int n_events[CONSUMER_GROUPS];
} Consumer;

static inline int consumer_stage(const Consumer *r, int chunk) { return chunk % r->c->ring->n_stages; }
static inline int consumer_parity(const Consumer *r, int chunk) { return chunk / r->c->ring->n_stages & 1; }

/* ---- consumer_stages.c ---- */

/* Sets the walk of that number; false: there is none. */
bool consumer_walk(Consumer *r, int i);
/* The beginning and the end of a warp group's function over the walk. */
void consumer_start(Consumer *r);
void consumer_end(Consumer *r);
/* Registers behind those are at the end of their block. */
void consumer_forget(Consumer *r, int n_registers);
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
#endif
