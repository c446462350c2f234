/* What the parts of the supervisor share: the run's state, and what is said of one solution. Only supervise.c
 * and race.c include it. */
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
/* Reasons not to run at all: true, and the verdict in out. */
bool supervisor_skips(const Supervisor *v, const Problem *p, const LibSolution *sol, const Granularity *g,
                      Outcome *out);
bool supervisor_is_failure(RunStatus s);
/* Results so far to their files, every few seconds. */
Err supervisor_checkpoint(Supervisor *v);

/* The solutions of items, all of one problem, side by side; *failed: some failed. See race.c. */
Err race_problem(Supervisor *v, const PlanItem *items, size_t n, int64_t *n_failures);

#endif
