/* Estimates how long a search will still take: the expected gain of unmeasured candidates falls from round to
 * round, until nothing is worth measuring. */
#ifndef MEASURE_SEARCH_LEFT_H
#define MEASURE_SEARCH_LEFT_H

#include <stddef.h>

typedef struct {
    size_t n_rounds;              /* with a known gain */
    double first_hope, last_hope; /* expected gain that was left at the first and the last of them */
    double compile_s, measure_s;  /* of a round, on average */
    double budget_s;              /* that is left for rounds; INFINITY: there is no budget */
} SearchPace;

/* Seconds of compiling and of measuring, at least and at most. */
typedef struct {
    double compile_lo, compile_hi, measure_lo, measure_hi;
} SearchLeft;

SearchLeft search_left(const SearchPace *p);

#endif
