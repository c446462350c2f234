/* Parts of K that add up a tile through a workspace: each part writes its sums, counts in, and some of
 * them read the sums of others and store shares of the tile, or all of it. The function of a warp group is
 * traced for all parts of a tile in several orders of their accesses to the tile's counter and marks. */
#ifndef KERNEL_LOWER_SHARES_H
#define KERNEL_LOWER_SHARES_H

#include "kernel/lower/stmt.h"

enum { SHARES_PARTS = 4 };

/* The names that the text has for what the function works with. */
typedef struct {
    const char *function, *thread, *part; /* its thread's number; the part's */
    const char *tile;               /* tile(..): where sums and flags of the tile are, with these fields: */
    const char *count, *counter;    /* the number of parts; the address of the counter */
    const char *sums, *mark;        /* sums(tile, i), mark(tile, i): addresses of a part's */
    const char *put, *get;          /* put(address, ..): writes sums; get(address, ..): reads them */
    const char *fence, *meet;       /* orders a thread's accesses for all others; the group's threads meet */
    const char *any;                /* any(.., x): they meet; whether x is true in one of them */
    const char *count_in, *wait[2]; /* count_in(counter): adds 1; wait(counter, n): is it n, after a while? */
    const char *change, *look;      /* change(mark, from, to): was it from?; look(mark) */
    /* Of counters that reset themselves, instead of marks; else NULL. now(counter): its value; begin(counter,
     * now) makes it valid; leave(counter, mask): the part is through with it and leaves these shares to the
     * last one; reset(counter). Of what count_in and leave return: is_all(x, n): all parts were counted;
     * is_gone(x, n): all others had left; left(x, n): the mask of shares that are left to the last one. */
    const char *now, *begin, *leave, *reset, *is_all, *is_gone, *left;
    const char *store;              /* store(tile, share, ..): a share; NULL: one part stores the tile */
    const char *take, *acc;         /* take(acc, address): adds a part's sums to the registers */
} Shares;

/* Tries orders of the accesses of n parts: all there are with `all`, else one part after another.
 * ERR_FAILED: sums are written elsewhere than to the own part's place, counted before all threads have
 * written them, or read before all threads know that they are counted; a share is not stored once, or the
 * tile not by one part with the sums of all; another thread than the first one counts; threads meet a
 * different number of times, or parts wait for one another for ever. */
Err shares_verify(const Stmts *s, const Shares *of, int n, bool all);

#endif
