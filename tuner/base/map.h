/* Hash map from byte strings to int64 values (an index or a count). Keys are copied into the map.
 * Order of insertion is kept: entries are numbered 0..n-1 and map_key gives their keys. */
#ifndef BASE_MAP_H
#define BASE_MAP_H

#include "base/arena.h"

typedef struct {
    Str key;
    uint64_t hash;
    int64_t value;
} MapEntry;

typedef struct {
    Arena keys;
    MapEntry *entry;
    size_t n, cap;
    uint32_t *slot; /* entry number + 1, 0 empty; n_slots is a power of two */
    size_t n_slots;
} Map;

void map_init(Map *m);
void map_fini(Map *m);
/* NULL when absent. The pointer is valid until the next map_put. */
int64_t *map_get(const Map *m, Str key);
/* Finds or adds an entry; a new one has the value 0 and sets *added (may be NULL). NULL when out of
 * memory. */
int64_t *map_put(Map *m, Str key, bool *added);

#endif
