/* Asynchronous copies into a ring of stages: how many groups a wait may leave under way, and whether every
 * read of a stage is covered by a wait. Both follow from the statements: a function is run on abstract
 * stages, of which only is known whether copies to them may be under way, whether they have been read, and
 * whether all threads have met since.
 *
 * Calls of functions in the same tree are followed. Where a stage's address is given to a function that is
 * not in the tree, or loaded from, the stage is read; where it is the base of a copy or a store, it is
 * filled. Both sides of a condition are taken unless it is known, loops until nothing changes. Loops over
 * all stages may go round the ring: stages are then counted from the first cursor. */
#ifndef KERNEL_LOWER_ASYNC_H
#define KERNEL_LOWER_ASYNC_H

#include "kernel/lower/stmt.h"

/* Sets the number of every wait (stmt_await) that the function reaches, then checks it. function NULL: the
 * statements that are in no function. ERR_FAILED: as async_verify. */
Err async_derive(Stmts *s, const char *function);

/* The same of two functions that take turns over the same ring: the second one waits for what the first one
 * copies, and the first one's next iteration fills the stages that the second one has read. */
Err async_derive_turns(Stmts *s, const char *first, const char *second);

/* ERR_FAILED: a stage is read that no wait or barrier covers or that was never filled; a stage is filled
 * that may still be read, or whose chunk was not read; copies are under way at the end; a wait has no
 * number. */
Err async_verify(const Stmts *s, const char *function);

#endif
