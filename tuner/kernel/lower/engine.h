/* Functions that fill one stage by the copy engine: how many bytes the stage's mbarrier is to expect, and
 * whether the stage may be filled. Both follow from the statements. */
#ifndef KERNEL_LOWER_ENGINE_H
#define KERNEL_LOWER_ENGINE_H

#include "kernel/lower/stmt.h"

/* A function that fills the tiles of a stage. Names of registers: the address of each tile, the mbarrier that
 * counts all bytes of the stage and the one at which consumers arrive when they have read it. */
enum { ENGINE_TILES = 2 };
typedef struct {
    const char *function, *full, *empty;
    struct {
        const char *name;
        int64_t bytes;
    } tile[ENGINE_TILES];
} EngineFill;

/* Sets the number of the function's stmt_expect, then checks it. ERR_FAILED: as engine_verify. */
Err engine_derive(Stmts *s, const EngineFill *f);

/* ERR_FAILED: a box is copied before the wait for the empty stage, outside of its tile or for another
 * mbarrier; the mbarrier expects other bytes than the boxes have, is not given them, or is given them twice;
 * what is copied depends on a condition, or does not fill its tile. */
Err engine_verify(const Stmts *s, const EngineFill *f);

#endif
