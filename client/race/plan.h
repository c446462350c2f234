/* The plan of a client run: which solutions run on which problems, in which order. It is the whole sweep, or
 * the lines of a plan file.
 *
 * A plan file that is a FIFO is read in parts, so that its writer can deal work to several clients as they
 * get done: the lines before an empty line are one part, and an event reports its end. The plan ends when
 * the writer closes the FIFO. */
#ifndef CLIENT_PLAN_H
#define CLIENT_PLAN_H

#include <stdio.h>

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

/* Whether the plan comes in parts. */
bool plan_is_stream(const Session *s);
/* Reads the next part; n == 0: there is none. ERR_PARTIAL when interrupted. */
Err plan_part(const Session *s, FILE *f, RunPlan *out);

/* ERR_INPUT: an index that does not exist ('file:line: '). Empty when the plan comes in parts. Freed with
 * plan_free. */
Err plan_make(Arena *a, const Session *s, RunPlan *out);
void plan_free(RunPlan *p);

#endif
