/* A search of all groups, and how it divides its time. step_search.c is the loop over rounds. */
#ifndef RUN_SEARCHING_H
#define RUN_SEARCHING_H

#include "measure/search_left.h"
#include "measure/search_quota.h"
#include "run/building.h"
#include "run/search_group.h"

/* The work of all groups together in one round. */
typedef struct {
    size_t n_pairs, n_kernels; /* n_pairs 0: there is no round */
    double expected_s;         /* of measuring, by search_cost.h */
    Building *building;        /* NULL: nothing to build */
} RoundWork;

typedef struct {
    Run *r;
    SearchGroup *group;
    size_t n;
    Globals as_given; /* GlobalParameters of the config; rounds have their own */
    double budget;    /* seconds; 0: none */
    double before;    /* seconds of earlier sessions */
    uint64_t started_ns;
    double compile_s, pair_s; /* of one, on average; wall time */
    double choose_s;          /* of choosing a round after the first */
    size_t n_compiled, n_pairs;
    double expected_s; /* of the rounds that were measured, by search_cost.h; device_s is what they took */
    SearchPace pace;
    size_t n_measured_rounds, n_rounds; /* n_rounds: that were chosen */
    double device_s;                    /* measuring */
    bool out_of_time;
    size_t n_sizes; /* of the config */
    bool overlaps;
    RoundWork now, next, after; /* as in SearchGroup */
} Searching;

/* The least seconds of the finalists' race on one size; the most are RACE_SECONDS. */
#define RACE_SECONDS_LEAST 0.05

/* Seconds of the budget so far, with those of earlier sessions. */
double searching_spent(const Searching *x);
/* Seconds of a compilation and of a pair, before anything was measured; the same of choosing a round, for
 * each group. */
void searching_guess(Searching *x);
void searching_guess_choice(Searching *x, const SearchGroup *s);
/* The factor of this device over the seconds of search_cost.h: about 1 on an H200. */
double searching_scale(const Searching *x);
/* Kernels that a library may have for sizes between the tuned ones: packing them compiles them once more, for
 * which there is a share of the budget. */
size_t searching_range_most(const Searching *x);
/* Seconds of TimeBudget that are kept for the final measurements. */
double searching_final_seconds(const Searching *x);
/* Seconds of TimeBudget that are kept for further sizes. */
double searching_fill_seconds(const Searching *x);
/* Seconds that are left for rounds after the next one. */
double searching_left(const Searching *x);
/* The quota of the next round. */
SearchQuota searching_quota(Searching *x);
/* Deals a round's quota to the groups that are not finished: kernels in proportion to the expected gain that
 * is left on all their sizes, seconds in proportion to the same times what a size takes. A group that
 * measures nothing keeps what it is owed. */
void searching_deal(Searching *x, const SearchQuota *q);
/* Whether a group lets this round pass, because what it is owed would mostly go into starting its client. */
bool searching_rests(const Searching *x, size_t i, const SearchQuota *q);
/* What a group is owed of a round's quota. */
SearchQuota searching_share(const Searching *x, size_t i, SearchQuota q);
/* The number of finalists of a group that there is time to validate on each of its sizes. */
size_t searching_finalists_most(const Searching *x, const SearchGroup *s);
/* Seconds of a finalists' race on one size: with TimeBudget an equal part of what is kept for races; 0: the
 * client's default. */
double searching_final_race(const Searching *x);
/* Notes the estimated seconds of the final measurement of each size, by which step_final keeps to the
 * budget. */
Err searching_final_costs(const Searching *x, const SearchGroup *s);

#endif
