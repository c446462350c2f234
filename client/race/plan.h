/* The plan of a client run: which solutions run on which problems, in which order. It is the whole sweep, or
 * the lines of a plan file. */
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
} RunPlan;

/* ERR_INPUT: an index that does not exist ('file:line: '). Freed with plan_free. */
Err plan_make(Arena *a, const Session *s, RunPlan *out);
void plan_free(RunPlan *p);

#endif
