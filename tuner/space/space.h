/* Space: the permutations of a fork, in Tensile's order, one at a time and without memory for them.
 *
 * Single values are constants. Lists of several values are dimensions: FORK rows in table order, then EXTRA
 * rows in the order they were added, then groups (maps that set several parameters at once) in the order
 * given. The first dimension varies fastest. A space may have 10^12 permutations. Fork, below, derives them
 * one by one and drops invalid ones and duplicates.
 */
#ifndef MODEL_SPACE_H
#define MODEL_SPACE_H

#include "base/hash.h"
#include "base/map.h"
#include "base/vec.h"
#include "space/config.h"
#include "space/derive.h"
#include "space/naming.h"

enum { SPACE_VALUES_MAX = 1 << 20 }; /* values of all parameters of a space */

/* One value of a parameter, or one entry of a group. bytes has the values of the parameters in set, packed
 * one after the other in that order. */
typedef struct {
    const ParamId *set;
    size_t n_set;
    const char *bytes;
} Choice;

typedef struct {
    ParamId param; /* PARAM_COUNT: a group */
    VEC(Choice) choice;
    Map by_value; /* index of a long list of values: bytes -> the first choice that has them */
} Dimension;

typedef struct {
    Arena arena;
    Solution base; /* constants */
    VEC(Dimension) dim;
    size_t n_values, n_groups;
} Space;

/* pt must outlive the space. */
Err space_init(Space *sp, const ProblemType *pt);
void space_fini(Space *sp);
/* Starts the list of p's values, which replaces an earlier one; space_value adds values. An empty list means
 * the default. */
Err space_param(Space *sp, const Param *p);
Err space_value(Space *sp, const Solution *value);
/* Starts a group; space_entry adds an entry with the rows set[0..n_set) of *values. */
Err space_group(Space *sp);
Err space_group_entry(Space *sp, const ParamId *set, size_t n_set, const Solution *values);
/* Turns single values into constants and orders the dimensions. Call it once, before the functions below. */
Err space_seal(Space *sp);
/* The sealed space of a config's size-group. The config must outlive it. */
Err space_of_size_group(Space *sp, const Config *c, const ProblemType *pt, const SizeGroup *group);
/* Number of permutations; ERR_INPUT when it does not fit 63 bits. */
Err space_size(const Space *sp, int64_t *out);
/* Permutation p of 0 .. size-1, without derivation. */
void space_get(const Space *sp, int64_t p, Solution *out);

/* How many of a choice's values equal those of s. */
size_t space_choice_equal(const Space *sp, size_t dimension, size_t choice, const Solution *s);
/* The first choice of a dimension whose values equal those of s; -1 when there is none. */
int64_t space_choice(const Space *sp, size_t dimension, const Solution *s);
/* The first permutation whose values equal those of s in all dimensions; -1 when there is none. */
int64_t space_find(const Space *sp, const Solution *s);

/* Enumerates a space. current belongs to the walk; its derived fields are not set. */
typedef struct {
    const Space *space;
    size_t *at; /* choice of each dimension */
    Solution current;
    int64_t p; /* number of current's permutation; -1 before the first */
} SpaceWalk;
Err space_walk_init(SpaceWalk *w, const Space *sp, Arena *a);
/* False after the last permutation. */
bool space_walk_next(SpaceWalk *w);

/* Fork: derives each permutation and drops invalid ones and duplicates, which are permutations whose derived
 * state equals an earlier one's. A state whose values equal those of some permutation needs no memory; the
 * hash table has each other state, in 16 to 43 bytes. */
typedef struct {
    SpaceWalk walk;
    const Deriver *deriver;
    RuleCounts counts;                         /* [RULE_NONE]: valid ones, including duplicates */
    uint64_t n_duplicates, n_unique, n_hashed; /* n_hashed: states in the table */
    Arena arena;
    Hash128 *slot; /* hash table with open addressing; zero marks an empty slot */
    size_t n_slots;
    int64_t p;       /* number of the permutation from which solution is derived */
    Verdict verdict; /* why the last permutation was dropped */
    Solution solution, other;
} Fork;
Err fork_init(Fork *f, const Space *sp, const Deriver *deriver);
void fork_fini(Fork *f);
/* f->solution becomes the next valid solution that is no duplicate; *more is false when there is none.
 * ERR_FAILED: out of memory. */
Err fork_next(Fork *f, bool *more);
/* Derives one permutation into f->solution. *kept: it is valid and no duplicate; otherwise f->verdict has the
 * reason (RULE_NONE: a duplicate). *more is false, and nothing else is set, after the last permutation. */
Err fork_step(Fork *f, bool *more, bool *kept);

#endif
