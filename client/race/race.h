/* The state of a race: its runners and their samples. race.c runs it, race_results.c reports the results. */
#ifndef CLIENT_RACE_H
#define CLIENT_RACE_H

#include "client/race/supervisor.h"
#include "measure/stats.h"

enum {
    ROUNDS_MAX = 1000, /* rounds of a race */
    RECENT = 5,        /* a runner's samples that an outlier is compared with */
    CLOCKS = 8         /* samples of all runners whose clocks a low clock is compared with */
};

typedef struct {
    int64_t n;
    uint64_t ns;
    bool in_graph; /* the launches were queued as a graph, without gaps of the host */
    SampleState state;
} RaceSample;

typedef struct {
    const PlanItem *item; /* NULL: the peer */
    const LibSolution *solution;
    Granularity gran;
    bool ran, racing, checked; /* it was requested; it is still in the race; valid has a verdict */
    Outcome end;
    WorkMessage valid;
    VEC(RaceSample) samples;
    double launch_ns;       /* median so far */
    double level;           /* factor of its time in the results: see find_levels */
    DeviceReading readings; /* the last */
} Runner;

typedef struct {
    Supervisor *v;
    const Problem *problem;
    int64_t p;
    Runner *runner; /* of the items, then the peer's */
    size_t n, n_items;
    Runner *now;     /* the runner of the current request */
    size_t n_before; /* its samples before this request */
    bool was_checked;
    int64_t round;
    int64_t base;           /* added to the rounds of events, so that rounds of different races differ */
    bool final, has_rested; /* in the last stage; the device has rested before it */
    bool all;               /* the first stage has RUNNERS_ALL runners: race-all-from */
    double clock[CLOCKS];   /* of the last samples whose clock is known, MHz; a ring */
    size_t n_clocks;        /* such samples so far */
    bool cool;              /* at least one sample was taken without throttling */
    size_t n_repeats, repeats_max;
    uint64_t waited_ns; /* total wait for a throttled device */
    double *scratch;    /* twice the number of samples of any runner */
    size_t n_scratch;
} Race;

/* Time of one launch. */
double race_sample_ns(const RaceSample *s);
/* Summary of the samples that count: those of the last stage if there are any. */
Err race_summary(Race *c, const Runner *r, Summary *out);
/* Ratio of the time of a to the time of b, from pairs of samples of the same round. */
Err race_compare(Race *c, const Runner *a, const Runner *b, Comparison *out);
/* The fastest remaining solution; NULL: none. */
Runner *race_leader(const Race *c);
/* Writes the events and log rows of all runners, the ratio to the peer, and the ties with the winner. */
Err race_results(Race *c, int64_t *n_failures);

#endif
