/* Space: the permutations of a fork, in Tensile's order, one at a time and without memory for them.
 *
 * Single values are constants. Lists of several values are dimensions: FORK rows in table order, then EXTRA
 * rows in the order they were added, then groups (maps that set several parameters at once) in the order
 * given. The first dimension varies fastest. A space of 10^12 points is counted, and stepped through as far
 * as one likes. Not here: derivation and judging of a point (derive.h); that is Fork, below, which also drops
 * duplicates. Used by `--list-solutions` and the benchmark step.
 */
#ifndef MODEL_SPACE_H
#define MODEL_SPACE_H

#include "base/hash.h"
#include "base/map.h"
#include "base/vec.h"
#include "space/config.h"
#include "space/derive.h"
#include "space/naming.h"

enum { SPACE_VALUES_MAX = 1 << 20 }; /* candidate values of one space, in all */

/* One candidate value of a parameter, or one entry of a group: values of the rows in set, one behind the
 * other. */
typedef struct {
    const ParamId *set;
    size_t n_set;
    const char *bytes;
} Choice;

typedef struct {
    ParamId param; /* PARAM_COUNT: a group */
    VEC(Choice) choice;
    Map by_value; /* of a long list of values: bytes -> first choice with them */
} Dimension;

typedef struct {
    Arena arena;
    Solution base; /* constants */
    VEC(Dimension) dim;
    size_t n_values, n_groups;
} Space;

/* s is a struct of the caller's; pt must outlive it. */
Err space_init(Space *sp, const ProblemType *pt);
void space_fini(Space *sp);
/* Starts the list of p's values, in place of one that was there; space_value adds to it. No value: the
 * default. */
Err space_param(Space *sp, const Param *p);
Err space_value(Space *sp, const Solution *value);
/* Starts a group, to which entries are added: the rows set[0..n_set) of *values. */
Err space_group(Space *sp);
Err space_group_entry(Space *sp, const ParamId *set, size_t n_set, const Solution *values);
/* Makes constants of single values and puts the dimensions in order. Call it once, before the functions
 * below. */
Err space_seal(Space *sp);
/* All of a config's size group, sealed. The config must outlive it. */
Err space_of_size_group(Space *sp, const Config *c, const ProblemType *pt, const SizeGroup *group);
/* Number of permutations; ERR_INPUT when it does not fit 63 bits. */
Err space_size(const Space *sp, int64_t *out);
/* Permutation p of 0 .. size-1, without derivation. */
void space_get(const Space *sp, int64_t p, Solution *out);

/* The permutation whose values are those that s holds, the first of equal ones; -1 when there is none. */
int64_t space_home(const Space *sp, const Solution *s);

/* A walk. The solution handed out is the walker's own and is not derived. */
typedef struct {
    const Space *space;
    size_t *at; /* choice of each dimension */
    Solution current;
    int64_t p; /* of current; -1 before the first */
} SpaceWalk;
Err space_walk_init(SpaceWalk *w, const Space *sp, Arena *a);
/* False behind the last permutation. */
bool space_walk_next(SpaceWalk *w);

/* Fork: derives, judges and de-duplicates each permutation in turn. Memory: none for a permutation whose
 * varying values derivation leaves as they are; 16 to 43 bytes for the first of each state that no
 * permutation has as its own values. */
typedef struct {
    SpaceWalk walk;
    const Deriver *deriver;
    RuleCounts counts; /* [RULE_NONE]: valid, duplicates included */
    uint64_t n_duplicates, n_unique, n_kept_away;
    Arena arena;
    Hash128 *slot;
    size_t n_slots;
    int64_t p;       /* permutation of solution */
    Verdict verdict; /* why the last permutation was dropped */
    Solution solution, other;
} Fork;
Err fork_init(Fork *f, const Space *sp, const Deriver *deriver);
void fork_fini(Fork *f);
/* The next valid solution that was not there before is f->solution; *more is false when there is none. */
Err fork_next(Fork *f, bool *more);
/* One permutation: *kept tells whether it is a new valid solution, f->verdict why not (RULE_NONE: a
 * duplicate). */
Err fork_step(Fork *f, bool *more, bool *kept);

#endif
