/* Encoded tensor maps of the last launches: a call of the same matrices does not ask the driver again. A
 * map's bytes depend on its description alone, so that entries stay right when memory is freed and
 * allocated again.
 */
#ifndef CLIENT_RUNTIME_MAP_CACHE_H
#define CLIENT_RUNTIME_MAP_CACHE_H

#include "client/runtime/tensor_map.h"

#include <stdatomic.h>

/* 256 maps, of 64 to 128 launches, in 72 KiB. */
enum { MAP_CACHE_SETS = 64, MAP_CACHE_WAYS = 4 };

typedef struct {
    atomic_bool taken; /* by a thread that reads or writes the set */
    uint8_t n, next;   /* entries in use; the one that is replaced next */
    TensorMap key[MAP_CACHE_WAYS];
    unsigned char map[MAP_CACHE_WAYS][TENSOR_MAP_BYTES];
} MapCacheSet;

/* All bytes zero: empty. Any number of threads may use one. */
typedef struct {
    MapCacheSet set[MAP_CACHE_SETS];
} MapCache;

/* The encoded map, from the cache or of the encoder, whose errors are returned and not kept. A thread that
 * finds its set in use encodes without waiting. */
Err map_cache_encode(MapCache *c, const TensorMapEncoder *encoder, const TensorMap *m,
                     unsigned char out[TENSOR_MAP_BYTES]);

#endif
