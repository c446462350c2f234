/* The supervisor's state, and functions that its loop (supervise.c) and its race (race.c) share. */
#ifndef CLIENT_SUPERVISOR_H
#define CLIENT_SUPERVISOR_H

#include "base/vec.h"
#include "client/race/plan.h"
#include "client/race/report.h"
#include "client/race/requests.h"

typedef struct {
    Session *s;
    Report *report;
    Requests q;
    double *best_ns; /* per problem: shortest known launch, 0 none */
    int64_t n_failures;
    uint64_t written_ns;
    VEC(double) samples; /* loop: per enqueue, of the current solution */
    double total_ns, n_launches;
} Supervisor;

Err supervisor_emit(const Supervisor *v, const Event *e);
void supervisor_granularity(const Supervisor *v, const Problem *p, const LibSolution *s, Granularity *out);
/* Whether the solution must not run on this problem; the status and reason are then in out. */
bool supervisor_skips(const Supervisor *v, const Problem *p, const LibSolution *sol, const Granularity *g,
                      Outcome *out);
bool supervisor_is_failure(RunStatus s);
/* Writes the results so far to their files, at most every few seconds. */
Err supervisor_checkpoint(Supervisor *v);

/* Races the solutions of n items, all of one problem; adds the failed ones to *n_failures. See race.c. */
Err race_problem(Supervisor *v, const PlanItem *items, size_t n, int64_t *n_failures);

#endif
