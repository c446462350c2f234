/* Searches in the store: what was searched, how far, and why it stopped. A search is keyed by its content
 * (space, sizes, method, setting); its rounds record which candidates were chosen for which sizes, so that a
 * killed run repeats them exactly. Rows are appended, but for the seconds that were spent. A store of an
 * older version has no such tables: it has no searches then.
 */
#ifndef MEASURE_STORE_SEARCH_H
#define MEASURE_STORE_SEARCH_H

#include "measure/store.h"

enum { SEARCH_ROUNDS_MAX = 100000 };

typedef struct {
    int64_t id;
    Str key;           /* hash of the contents */
    Str group, method; /* "Cijk_Ailk_Bljk_SB_00", "model" */
    int64_t n_permutations, n_candidates, n_sizes;
    bool sampled; /* n_candidates are a sample of the space */
} SearchRecord;

/* Creates the tables where they are missing. */
Err store_search_tables(Store *s);
/* r->id becomes the id of the search with this key, which is added when absent. */
Err store_search(Store *s, SearchRecord *r);

/* pairs: "permutation:size,size,...;permutation:...", a size with '+' is measured again. */
typedef struct {
    Str pairs;
    double seconds; /* spent by the search when the round was chosen */
} SearchRound;
Err store_search_round_add(Store *s, int64_t search, int64_t round, const SearchRound *r);
/* In order. ERR_INPUT when rounds are missing. */
Err store_search_rounds(Store *s, Arena *a, int64_t search, SearchRound **out, size_t *n);
/* Seconds that the search has taken up to now in one start of the program (its row in table session), and in
 * all starts before it. */
Err store_search_spent_set(Store *s, int64_t search, int64_t session, double seconds);
Err store_search_spent_before(Store *s, int64_t search, int64_t session, double *seconds);

/* How a search ended in a session. */
typedef struct {
    Str reason;
    int64_t n_rounds, n_candidates, n_pairs, n_finalists;
    double hope;    /* expected gain that is left, a share of the time; NAN: not known */
    double seconds; /* of all sessions */
} SearchEnd;
Err store_search_end_add(Store *s, int64_t search, int64_t session, const SearchEnd *e);

/* The searches of the last session that had any, in order; end is valid where ended. */
typedef struct {
    SearchRecord search;
    int64_t n_rounds;
    bool ended;
    SearchEnd end;
} SearchView;
Err query_searches(Store *s, Arena *a, SearchView **out, size_t *n);

/* Pairs of a plan's candidates and sizes in one run that a search measured in its rounds only
 * (PlanView.n_left); 0 where the store has no such number. */
Err store_plan_left_add(Store *s, int64_t plan, int64_t pairs);
Err store_plan_left(Store *s, int64_t plan, int64_t *pairs);

#endif
