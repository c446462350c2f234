/* Fork: derives, judges and de-duplicates the permutations of a space, one at a time. See space.h. */
#include <stdlib.h>
#include <string.h>

#include "space/space.h"

Err fork_init(Fork *f, const Space *sp, const Deriver *deriver)
{
    memset(f, 0, sizeof *f);
    f->deriver = deriver;
    arena_init(&f->arena, 0);
    f->n_slots = 1024;
    f->slot = calloc(f->n_slots, sizeof *f->slot);
    if (!f->slot) FAIL(ERR_FAILED, "out of memory for the fork");
    return space_walk_init(&f->walk, sp, &f->arena);
}

void fork_fini(Fork *f)
{
    free(f->slot);
    f->slot = NULL;
    arena_fini(&f->arena);
}

static Hash128 *find_slot(Hash128 *slot, size_t n_slots, Hash128 h)
{
    size_t i = (size_t)h.lo & (n_slots - 1);
    while ((slot[i].lo || slot[i].hi) && !(slot[i].lo == h.lo && slot[i].hi == h.hi))
        i = (i + 1) & (n_slots - 1);
    return &slot[i];
}

static Err grow(Fork *f)
{
    size_t n = f->n_slots * 2;
    Hash128 *slot = calloc(n, sizeof *slot);
    if (!slot) FAIL(ERR_FAILED, "out of memory for %llu solutions", (unsigned long long)f->n_hashed);
    for (size_t i = 0; i < f->n_slots; i++)
        if (f->slot[i].lo || f->slot[i].hi) *find_slot(slot, n, f->slot[i]) = f->slot[i];
    free(f->slot);
    f->slot = slot;
    f->n_slots = n;
    return ERR_OK;
}

/* *h: hash of the derived state of permutation p; false when it is not valid. */
static bool state_of(Fork *f, int64_t p, Hash128 *h)
{
    Verdict verdict;
    space_get(f->walk.space, p, &f->other);
    solution_derive(f->deriver, &f->other, &verdict);
    if (verdict.rule == RULE_NONE) *h = solution_hash(&f->other);
    return verdict.rule == RULE_NONE;
}

static bool same(Hash128 a, Hash128 b) { return a.lo == b.lo && a.hi == b.hi; }

/* *out: no earlier permutation has the current derived state. The canonical permutation of a state is the one
 * whose own values equal the state's (space_find), if there is one.
 *   canonical permutation is earlier and derives to the state   duplicate
 *   this is the canonical permutation                           new, unless an earlier one is in the table
 *   otherwise                                                   new, and added to the table, unless in it
 * The table therefore holds only states in which derivation changed a value that varies. */
static Err is_new(Fork *f, bool *out)
{
    Hash128 h = solution_hash(&f->solution), canonical_hash;
    int64_t canonical = space_find(f->walk.space, &f->solution);
    if (!h.lo && !h.hi) h.lo = 1; /* zero marks an empty slot */
    if (canonical >= 0 && canonical < f->p && state_of(f, canonical, &canonical_hash) &&
        same(h, canonical_hash)) {
        *out = false;
    } else {
        if (f->n_hashed * 4 >= f->n_slots * 3) TRY(grow(f));
        Hash128 *slot = find_slot(f->slot, f->n_slots, h);
        *out = !slot->lo && !slot->hi;
        if (*out && canonical != f->p) {
            *slot = h;
            f->n_hashed++;
        }
    }
    if (*out)
        f->n_unique++;
    else
        f->n_duplicates++;
    return ERR_OK;
}

Err fork_step(Fork *f, bool *more, bool *kept)
{
    *kept = false;
    *more = space_walk_next(&f->walk);
    if (!*more) return ERR_OK;
    f->p = f->walk.p;
    f->solution = f->walk.current;
    solution_derive(f->deriver, &f->solution, &f->verdict);
    f->counts.n[f->verdict.rule]++;
    return f->verdict.rule == RULE_NONE ? is_new(f, kept) : ERR_OK;
}

Err fork_next(Fork *f, bool *more)
{
    bool kept = false;
    do TRY(fork_step(f, more, &kept));
    while (*more && !kept);
    return ERR_OK;
}
