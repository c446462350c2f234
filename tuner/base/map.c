/* Hash map with kept order, and array growth. See map.h and vec.h. */
#include "base/map.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/vec.h"

bool vec_grow(void **v, size_t n, size_t *cap, size_t size)
{
    size_t want = n < 8 ? 8 : n + n / 2 + 1;
    if (want < n || want > SIZE_MAX / 2 / size) return false;
    void *p = realloc(*v, want * size);
    if (!p) return false;
    *v = p;
    *cap = want;
    return true;
}

void map_init(Map *m) { *m = (Map){0}; }

void map_fini(Map *m)
{
    arena_fini(&m->keys);
    free(m->entry);
    free(m->slot);
    *m = (Map){0};
}

/* The slot that holds key, or the empty one where it belongs. */
static uint32_t *slot_find(const Map *m, Str key, uint64_t hash)
{
    for (size_t i = hash & (m->n_slots - 1);; i = (i + 1) & (m->n_slots - 1)) {
        uint32_t *slot = &m->slot[i];
        if (*slot == 0) return slot;
        const MapEntry *e = &m->entry[*slot - 1];
        if (e->hash == hash && str_eq(e->key, key)) return slot;
    }
}

int64_t *map_get(const Map *m, Str key)
{
    if (m->n == 0) return NULL;
    uint32_t slot = *slot_find(m, key, hash64(key));
    return slot ? &m->entry[slot - 1].value : NULL;
}

static bool slots_grow(Map *m)
{
    size_t n_slots = m->n_slots ? 2 * m->n_slots : 16;
    uint32_t *slot = calloc(n_slots, sizeof *slot);
    if (!slot) return false;
    for (size_t e = 0; e < m->n; e++) {
        size_t i = m->entry[e].hash & (n_slots - 1);
        while (slot[i]) i = (i + 1) & (n_slots - 1);
        slot[i] = (uint32_t)e + 1;
    }
    free(m->slot);
    m->slot = slot;
    m->n_slots = n_slots;
    return true;
}

int64_t *map_put(Map *m, Str key, bool *added)
{
    if (added) *added = false;
    if (m->n >= UINT32_MAX - 1) return NULL;
    if (2 * (m->n + 1) > m->n_slots && !slots_grow(m)) return NULL;
    uint64_t hash = hash64(key);
    uint32_t *slot = slot_find(m, key, hash);
    if (*slot) return &m->entry[*slot - 1].value;
    if (m->n == m->cap && !vec_grow((void **)&m->entry, m->n, &m->cap, sizeof *m->entry)) return NULL;
    Str copy = arena_dup(&m->keys, key);
    if (!copy.s) return NULL;
    m->entry[m->n] = (MapEntry){.key = copy, .hash = hash};
    *slot = (uint32_t)++m->n;
    if (added) *added = true;
    return &m->entry[m->n - 1].value;
}
