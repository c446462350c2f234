/* Candidates: which valid solutions become kernels of a size-group. A solution is one when its target's
 * kernel writer can write it and no solution before it has the same kernel text, launch and predicates:
 * parameters that change none of these would have one kernel measured several times. Does not fork, name or
 * build. */
#ifndef TUNER_CANDIDATES_H
#define TUNER_CANDIDATES_H

#include "base/hash.h"
#include "base/map.h"
#include "problem/target.h"
#include "space/solution.h"

/* Why kernels cannot be written; the last one of a full list stands for what else there is. */
enum { UNWRITTEN_MAX = 16 };
typedef struct {
    Str why;
    uint64_t n;
} Unwritten;

typedef struct {
    const Target *target;
    Arena *arena; /* of the reasons' texts */
    Map seen;     /* identities */
    Buf text, entry;
    Unwritten unwritten[UNWRITTEN_MAX];
    size_t n_unwritten;
    uint64_t n_written, n_same; /* candidates; solutions that are like an earlier one */
} Candidates;

typedef enum { CANDIDATE_NEW, CANDIDATE_SAME, CANDIDATE_UNWRITTEN } CandidateKind;

void candidates_init(Candidates *c, const Target *target, Arena *arena);
void candidates_fini(Candidates *c);
/* s: derived and valid. hash: identity of its kernel, which does not depend on what else is in the benchmark,
 * so that an edited config finds the measurements of all kernels that it still has. */
Err candidates_add(Candidates *c, const Solution *s, CandidateKind *kind, char hash[SHA256_HEX + 1]);

#endif
