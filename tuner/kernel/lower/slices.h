/* Slices of results: a warp group writes them to buffers of local memory, from which one of its threads
 * stores them by the copy engine; where C is read, that thread has loaded C's slice into the buffer before.
 * Or all threads read them from there. How many groups of stores a wait may leave under way, and how many
 * bytes the mbarriers of C expect, follow from the statements: the function that stores a tile is traced for
 * several tiles. */
#ifndef KERNEL_LOWER_SLICES_H
#define KERNEL_LOWER_SLICES_H

#include "kernel/lower/stmt.h"

/* The names that the text has for what the function works with. */
typedef struct {
    const char *function;       /* stores a tile */
    const char *thread, *group; /* its parameters: thread 0 loads and stores */
    const char *phases;         /* a bit for each buffer: the parity of its mbarrier's phase */
    int n_buffers, bytes;       /* of a buffer */
    bool reads;                 /* C is loaded */
    const char *memory; /* a parameter with the address of the only buffer, to which threads store, and
                                   * barriers are those of all threads; or NULL: */
    const char *where;  /* a parameter that is true where the buffer is used; NULL: it always is */
    bool once;          /* the function is called once, and nobody has read the buffer before */
    const char *buffer, *barrier; /* buffer(group, i): its address; barrier(group, i): the mbarrier of C */
    const char *write;            /* write(.., address, ..): all threads write a slice; not followed */
    const char *read; /* read(address): all threads read the slice and store it; NULL: the copy engine */
    const char *fence, *meet; /* the copy engine sees what this thread wrote; the warp group's threads meet */
    const char *store, *commit; /* store(map, address, ..): of a part of a buffer; the end of a group */
} Slices;

/* Sets the numbers of waits and bytes, then checks the function. ERR_FAILED: as slices_verify. */
Err slices_derive(Stmts *s, const Slices *of);

/* ERR_FAILED: a buffer is written, or C loaded into it, while stores or threads may still read it, or before
 * all threads can know that they do not; it is written before C is there, stored or read before all threads
 * have written it (and made that visible to the copy engine), or not stored; C is waited for by the wrong
 * parity, or is not all there; threads meet a different number of times. */
Err slices_verify(const Stmts *s, const Slices *of);

#endif
