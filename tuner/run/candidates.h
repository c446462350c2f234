/* Candidates: the valid solutions that become kernels of a size-group. A solution becomes one when the kernel
 * writer of its target can write it and no earlier solution has the same kernel text, launch and predicates.
 * Without the second condition, solutions that differ in parameters without effect would all be measured. */
#ifndef TUNER_CANDIDATES_H
#define TUNER_CANDIDATES_H

#include "base/hash.h"
#include "base/map.h"
#include "problem/target.h"
#include "space/solution.h"

/* Reasons for which the kernel writer refused solutions; the last entry of a full list counts all further
 * ones. */
enum { UNWRITTEN_MAX = 16 };
typedef struct {
    Str why;
    uint64_t n;
} Unwritten;

typedef struct {
    const Target *target;
    Arena *arena; /* of the texts of reasons */
    Map seen;     /* identities */
    Buf text, entry;
    Unwritten unwritten[UNWRITTEN_MAX];
    size_t n_unwritten;
    uint64_t n_written, n_same; /* candidates; solutions with the kernel of an earlier one */
} Candidates;

typedef enum { CANDIDATE_NEW, CANDIDATE_SAME, CANDIDATE_UNWRITTEN } CandidateKind;

void candidates_init(Candidates *c, const Target *target, Arena *arena);
void candidates_fini(Candidates *c);
/* s: derived and valid. hash: identity of its kernel. It does not depend on the other solutions, so that an
 * edited config finds the measurements of all kernels that it has in common with the earlier one. */
Err candidates_add(Candidates *c, const Solution *s, CandidateKind *kind, char hash[CONTENT_HEX + 1]);

#endif
