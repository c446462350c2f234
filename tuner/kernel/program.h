/* Program: a kernel as a small program over tiles, before any target's text. The words are those of the
 * XeTile proposal.
 *
 * A Tile is a rectangle (or a stripe, when a side is a runtime size) of an operand in global memory, in local
 * memory (LDS, shared memory, packed buffer) or in registers. wg_map says how many subgroups share it and
 * what each has, sg_map the same for lanes; on the host a subgroup is a register tile and a lane an element
 * of a vector register. An Op works on tiles; loops nest. plan.c makes the work-group's view; each
 * pass refines it for the target; a lowering walks the result. Everything lives in the arena given to
 * program_build.
 */
#ifndef KERNEL_PROGRAM_H
#define KERNEL_PROGRAM_H

#include "index/distribute.h"
#include "index/walk.h"
#include "index/view.h"
#include "problem/datatype.h"
#include "problem/fused.h"
#include "problem/indices.h"
#include "problem/target.h"

typedef struct GpuPlan GpuPlan;
typedef struct HostPlan HostPlan;
typedef struct Hand Hand;
typedef struct HandArgs HandArgs;

typedef enum { SPACE_GLOBAL, SPACE_LOCAL, SPACE_REGISTER } Space;
typedef enum { DIM_M, DIM_N, DIM_K } Dim;
typedef enum { LEVEL_GROUP, LEVEL_BLOCK, LEVEL_SUBGROUP, LEVEL_LANE } Level;

typedef enum {
    OP_INIT_TILE,
    OP_LOAD_TILE,
    OP_STORE_TILE,
    OP_PREFETCH_TILE,
    OP_UPDATE_TILE_OFFSET,
    OP_TILE_MMA,
    OP_BARRIER,
    OP_WAIT, /* until asynchronous loads into local memory have arrived */
    OP_LOOP,
    /* of the epilogue (epilogue.h) */
    OP_REDUCE_TILE, /* adds up the sums of several parts of K */
    OP_SCALE_TILE,
    OP_ADD_TILE,
    OP_ACTIVATE_TILE,
    OP_CONVERT_TILE,
    OP_ATOMIC_ADD_TILE,
    OP_CARRY_TILE, /* later chunks of K add to what has been stored */
    /* of programs written by hand alone (hand.h) */
    OP_LET,
    OP_IF,
    OP_FILL_TILE,
    OP_SHIFT_TILE, /* adds an integer to all elements */
    OP_MULTIPLY_TILE
} OpKind;

/* The iterations of a pipelined loop over K at LEVEL_GROUP on a GPU. PHASE_MAIN loads ahead, PHASE_DRAIN
 * consumes the stages that are still full, PHASE_REST does the rest of K after the last whole DepthU; the
 * prologue that fills the ring is not a loop. PHASE_ALL: the loop is not pipelined. */
typedef enum { PHASE_ALL, PHASE_MAIN, PHASE_DRAIN, PHASE_REST } Phase;

/* Which threads do an op of a pipelined loop. Where no threads are specialised (as the producer warp of TMA
 * copies is), all threads have both roles, and one barrier signals both a full and an empty stage. */
typedef enum { ROLE_ALL, ROLE_PRODUCER, ROLE_CONSUMER } Role;

/* The scalar argument that scales a tile (scale_tile), or what is added to it (add_tile). */
typedef enum { SCALAR_NONE, SCALAR_ALPHA, SCALAR_BETA } Scalar;

/* Who has the parts of K whose sums reduce_tile adds up: waves of one work-group (LocalSplitU), work-groups
 * of a cluster (ClusterK), or any work-groups, whose partial sums are in the workspace (GlobalSplitU in one
 * kernel, StreamK). */
typedef enum { ACROSS_NONE, ACROSS_GROUP, ACROSS_CLUSTER, ACROSS_GRID } Across;

typedef struct {
    const char *name; /* "a", "local_a", "reg_a", "acc" */
    char operand;     /* 'A' 'B' 'C' 'D', 'P' for the accumulators, 'E' for vectors of fused operations */
    Space space;
    DataType type;
    Dim dim[2];        /* the problem's dimensions along rows and columns */
    int32_t size[2];   /* elements */
    int32_t n_buffers; /* local: 2 when double buffered */
    TileMap wg_map, sg_map;
    TileOrder order;  /* of the numbers that the maps' coordinates are taken from */
    int32_t mma[4];   /* lanes are those of the matrix instruction M, N, K, blocks; [0] is 0: of none */
    const View *view; /* global tiles; else NULL */
    int line;         /* of the program's text; 0: it was not read */
} Tile;

typedef struct Op Op;
struct Op {
    OpKind kind;
    int tile[3];      /* destination, sources; -1 none */
    Level level;      /* of a loop */
    Dim dim;          /* loop, update: which coordinate */
    int32_t step;     /* loop: elements an iteration covers; update: elements to move */
    int32_t unroll;   /* loop: iterations written out */
    int32_t split;    /* loop over K: independent accumulators (LocalSplitU) */
    int32_t distance; /* prefetch: iterations ahead */
    Phase phase;      /* loop over K */
    int32_t ahead;    /* done only if at least that many iterations follow */
    int32_t set;      /* of the registers that hold fetched tiles: 0 the oldest, 1 the next */
    Role role;
    int32_t slot;    /* stage of the ring, counted from the one that is consumed */
    int32_t pending; /* wait: number of newest loads that may still be in flight */
    unsigned guards; /* bit per Dim: elements beyond that edge must not be accessed */
    Scalar scalar;   /* scale, add: of a generated program */
    Across across;   /* reduce */
    Activation activation;
    bool last;      /* done in the last iteration of the loop over chunks of K only */
    bool parts;     /* store: each part of K has a matrix of its own in the workspace */
    int line;       /* of the program's text; 0: it was not read */
    HandArgs *hand; /* of programs written by hand; else NULL */
    Op *body, *next;
};

enum { PROGRAM_MAX_TILES = 24 };

typedef struct {
    Arena *arena;
    const Target *target; /* NULL: any target (programs written by hand) */
    Str title;            /* the solution's full name */
    const GpuPlan *gpu;   /* generated programs have one of the two, by the target's family */
    const HostPlan *host;
    Hand *hand;             /* of programs written by hand */
    const Indices *indices; /* of a contraction (contract.h); NULL: a GEMM */
    Walk walk;
    Tile tile[PROGRAM_MAX_TILES];
    int n_tiles;
    Op *body;
    View view[4]; /* A B C D */
} Program;

typedef struct {
    const char *name;
    Err (*run)(Program *p);
} Pass;
/* Returns the i-th pass in order of execution; NULL after the last. */
const Pass *pass_at(size_t i);

/* Prints deterministic text, one op per line, indented by loop. */
void program_dump(const Program *p, Buf *out);

/* The line of one tile, and of one op of a generated program. */
void program_dump_tile(const Tile *t, Buf *out);
void program_dump_op(const Program *p, const Op *o, Buf *out);

/* Sets *v to the view of operand i (A, B, C, D) of a GEMM. */
void program_view(View *v, int i, bool trans);

/* Returns the index of the tile with that name; -1: there is none. */
int program_tile(const Program *p, const char *name);
/* Returns the ops behind the last loop of a list: the epilogue, where the loops are those over K. */
Op *op_behind_loops(Op *list);
/* Returns the first op of that kind in the list itself, not in bodies of its ops; NULL: there is none. */
Op *op_find(Op *list, OpKind kind);
/* Finds the innermost loop over k, which multiplies register tiles; NULL: there is none. */
const Op *op_lane_loop(const Op *list);

#endif
