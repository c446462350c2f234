/* What the parts of a race share: its runners and their samples. race.c runs it, race_tell.c says what came
 * out. Only these two include it. */
#ifndef CLIENT_RACE_H
#define CLIENT_RACE_H

#include "client/race/supervisor.h"
#include "measure/stats.h"

enum { ROUNDS_MAX = 1000, RECENT = 5, CLOCKS = 8 }; /* rounds of a race; samples that are the usual */

typedef struct {
    int64_t n;
    uint64_t ns;
    SampleState state;
} RaceSample;

typedef struct {
    const PlanItem *item; /* NULL: the peer */
    const LibSolution *solution;
    Granularity gran;
    bool ran, in, checked; /* asked for; still in the race; a verdict is in valid */
    Outcome end;
    WorkMessage valid;
    VEC(RaceSample) samples;
    double launch_ns;       /* median so far */
    DeviceReading readings; /* the last */
} Runner;

typedef struct {
    Supervisor *v;
    const Problem *problem;
    int64_t p;
    Runner *runner; /* of the items, then the peer's */
    size_t n, n_items;
    Runner *now;
    size_t n_before; /* its samples before the request that it is asked */
    bool was_checked;
    int64_t round;
    int64_t base; /* added to rounds that are told: those of another race are not taken for side by side */
    bool final, has_rested; /* in the last stage; the device was let to cool before it */
    double clock[CLOCKS];   /* of the last samples */
    size_t n_clocks;
    bool cool; /* some sample was taken without a throttle that counts */
    size_t n_repeats, repeats_max;
    double level, best_final; /* see find_level */
    uint64_t waited_ns;       /* for a throttled device */
    double *scratch;          /* room for the samples of any runner, twice */
    size_t n_scratch;
} Race;

/* Time of one launch. */
double race_sample_ns(const RaceSample *s);
/* Of the samples that count: the last stage's, where there are some. */
Err race_summary(Race *c, const Runner *r, Summary *out);
/* Time of a over that of b, from the rounds that both have. */
Err race_compare(Race *c, const Runner *a, const Runner *b, Comparison *out);
/* The fastest that is left; NULL none. */
Runner *race_leader(const Race *c);
/* Events, rows, the peer, ties. */
Err race_tell(Race *c, int64_t *n_failures);

#endif
