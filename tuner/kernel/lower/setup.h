/* The beginning of a kernel with roles: one thread sets up the mbarriers, all threads of the cluster meet,
 * and each role calls its function. The kernel function is traced for a thread of each role. */
#ifndef KERNEL_LOWER_SETUP_H
#define KERNEL_LOWER_SETUP_H

#include "kernel/lower/stmt.h"

/* Mbarriers: barrier(i) or, with `groups`, barrier(group, i); each expects `arrivals` of them. */
typedef struct {
    const char *barrier;
    int groups, n, arrivals; /* groups 0: none */
} SetupBarriers;

enum { SETUP_BARRIERS = 5, SETUP_ROLES = 2 };

/* The names that the text has for what the function works with. */
typedef struct {
    const char *function, *thread; /* the thread's number in the work-group */
    const char *group;             /* group(..): its role's number */
    int group_threads;
    SetupBarriers barriers[SETUP_BARRIERS];
    const char *init;              /* init(barrier, arrivals) */
    const char *fence[2], *meet;   /* what was set up is seen by others; all threads meet */
    const char *launches;          /* waits for the launches in front; NULL: they have ended */
    const char *role[SETUP_ROLES]; /* functions of the roles: of group 0, of the others */
    bool meets_at_end;             /* others may still arrive at mbarriers of this work-group */
} Setup;

/* ERR_FAILED: an mbarrier is not set up once by thread 0, or for other arrivals; others may use it before it
 * is; a role's function is not called once, by another role, or while launches in front may write; threads
 * meet a different number of times; others may arrive at mbarriers of a work-group that has ended. */
Err setup_verify(const Stmts *s, const Setup *of);

#endif
