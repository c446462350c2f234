/* Which solutions run on which problems, in which order: the whole sweep, or the lines of a plan file. */
#ifndef CLIENT_PLAN_H
#define CLIENT_PLAN_H

#include "client/worker/session.h"

typedef struct {
    int64_t p, s; /* s: solution's number; -1: the library's choice */
    int64_t benchmark;
    bool validate;
    int64_t s_position, s_last; /* for the progress columns */
} PlanItem;

typedef struct {
    PlanItem *v;
    size_t n, cap;
} Plan;

/* ERR_INPUT: an index that does not exist ('file:line: '). Freed with plan_free. */
Err plan_make(Arena *a, const Session *s, Plan *out);
void plan_free(Plan *p);

#endif
