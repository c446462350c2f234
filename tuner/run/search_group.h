/* The search of one size-group: its space and candidates, the rounds that the store has of it, and the pairs
 * of kernel and size of the current round. step_search.c is the loop over rounds. */
#ifndef TUNER_SEARCH_GROUP_H
#define TUNER_SEARCH_GROUP_H

#include "kernel/custom.h"
#include "measure/search.h"
#include "measure/store_search.h"
#include "run/run.h"
#include "run/search_seed.h"
#include "space/naming.h"
#include "space/space.h"

/* One round of the search (now, next and after, below): its pairs, and the group with the variants and wanted
 * pairs of the round. */
typedef struct {
    SearchBatch batch;
    Group *g;
    uint32_t *of_variant; /* candidate of each of the group's variants */
    size_t n_before;      /* candidates that were known before */
    bool known;           /* all of its results are in the store */
} SearchTurn;

typedef struct {
    Run *r;
    Group *g; /* of the run; like now.g while that is measured */
    CustomFolder folder;
    Deriver deriver;
    Space space;
    Pool pool;
    Search search;
    size_t n_own; /* of the search's sizes, the first ones: the config's; others are between them */
    SearchSeed seed;
    Namer namer;
    Candidates candidates;
    Map names;
    SearchRecord record;
    SearchRound *recorded; /* rounds of earlier runs */
    size_t n_recorded, n_rounds;
    VEC(Variant) made;                 /* of each known candidate; hash.s == NULL: not made yet */
    SearchTurn now;                    /* the round that is measured */
    SearchTurn next;                   /* the round whose kernels are compiled */
    SearchTurn after;                  /* the round that was chosen last */
    VEC(int64_t) setting;              /* of each round, in the store */
    bool finished;                     /* there is no next batch */
    double owed_kernels, owed_seconds; /* of rounds' quotas, that the group has not used (searching.h) */
    int peer;                          /* the config's Peer: it is timed in the first round */
} SearchGroup;

/* The peer that a round of the group times: the config's in the first round, else 0 for none. round: the
 * group of that round. */
static inline int search_group_peer(const SearchGroup *x, const Group *round)
{
    return round->round == 1 ? x->peer : 0;
}

/* The group's sizes are known. A group without valid solutions is given up: g->skip. */
Err search_group_init(SearchGroup *x, Run *r, Group *g);
void search_group_fini(SearchGroup *x);
/* Chooses the pairs of the next round, or of the one after it where the next one is already chosen, and
 * records them; a round that the store has is repeated instead. The choice depends only on the results of all
 * rounds up to the one that was measured last and on the predictions for the next one, so that it does not
 * depend on how long anything takes. q->per_size 0: only repeats rounds of the store. *n: pairs. */
Err search_group_choose(SearchGroup *x, const SearchQuota *q, double seconds, size_t *n);
/* Chooses nothing for a round that other groups measure. */
void search_group_rest(SearchGroup *x);
/* Makes the variants and wanted pairs of the round that was chosen last, with their ids in the store. */
Err search_group_prepare(SearchGroup *x);
/* Kernels of that round that no round before had. */
size_t search_group_new_kernels(const SearchGroup *x);
/* The round that was chosen becomes the next one, where there is none. */
void search_group_queue(SearchGroup *x);
/* The next round, whose kernels are built, becomes the one that is measured: the run's group gets its
 * variants. g->skip: there is nothing to measure. The round after it becomes the next one. */
void search_group_advance(SearchGroup *x);
/* Takes the results of the round from the store. */
Err search_group_results(SearchGroup *x);
/* Makes the variant of a candidate, with the first text that is made of it. A candidate that cannot be
 * written, or has the kernel of another, is marked as failed. */
Err search_group_make(SearchGroup *x, uint32_t candidate);
/* Gives a group these candidates, which were made, as variants. */
Err search_group_variants(SearchGroup *x, Group *g, const uint32_t *candidate, size_t n);
/* The candidate that a variant was made of; UINT32_MAX: it is none of this search. */
uint32_t search_group_candidate(const SearchGroup *x, const Variant *v);
/* Makes the finalists the group's variants: the kernels that are measured once more, side by side, on all
 * sizes. most: as many as there is time for; more only where a size would otherwise be a few percent slower
 * than its best. */
Err search_group_finalists(SearchGroup *x, size_t most);
/* Appends up to `most` kernels to the finalists, of all that gave right results in a round: those without
 * which sizes between the tuned ones would lose most, by prediction (measure/model_range.h). Also fills in
 * Group.searched, the results of the rounds. */
Err search_group_range(SearchGroup *x, size_t most);
/* Fills in Group.searched.raced: `most` finalists for each size, by expected time. Held-out sizes are dealt
 * among the others. */
Err search_group_races(SearchGroup *x, size_t most);
/* *any: whether a size has a final result of any variant, under the setting of the final measurements. */
Err search_final_measured(Run *r, const Group *g, size_t z, int64_t setting, bool *any);
/* Sets GlobalParameters as rounds need them: timed without the peer, once, by races where the run races. */
void search_globals_of_rounds(Run *r);
/* After final measurements that were interrupted or cut short: pairs without a final result get that of the
 * last round that has one. All results of the group are copied to a setting of their own, so that a run that
 * continues still measures the missing pairs. */
Err search_results_keep(Run *r, Group *g);

#endif
