/* A set-associative cache of encoded tensor maps. See map_cache.h. */
#include "client/runtime/map_cache.h"

#include <stdbool.h>
#include <string.h>

#include "base/random.h"

/* Field by field: structures have bytes between fields. */
static bool same(const TensorMap *x, const TensorMap *y)
{
    return x->address == y->address && x->type == y->type && x->rank == y->rank &&
           !memcmp(x->size, y->size, sizeof x->size) && !memcmp(x->stride, y->stride, sizeof x->stride) &&
           !memcmp(x->box, y->box, sizeof x->box) && x->swizzle == y->swizzle && x->l2 == y->l2 &&
           x->pixels == y->pixels && !memcmp(x->lower, y->lower, sizeof x->lower) &&
           !memcmp(x->upper, y->upper, sizeof x->upper) && !memcmp(x->step, y->step, sizeof x->step);
}

/* Multiplication by 2^64 over the golden ratio spreads addresses, which are multiples of large powers of two
 * (Knuth, The Art of Computer Programming 3, 6.4). */
static unsigned set_of(const TensorMap *m)
{
    uint64_t h = m->address ^ m->size[0] << 7 ^ m->size[1] << 21 ^ m->stride[0] << 33 ^ m->stride[1] << 3 ^
                 (uint64_t)m->box[1] << 50;
    return (unsigned)(h * RANDOM_STEP >> 32) % MAP_CACHE_SETS;
}

static bool take(MapCacheSet *s) { return !atomic_exchange_explicit(&s->taken, true, memory_order_acquire); }

static void give(MapCacheSet *s) { atomic_store_explicit(&s->taken, false, memory_order_release); }

static bool find(MapCacheSet *s, const TensorMap *m, unsigned char out[TENSOR_MAP_BYTES])
{
    for (int i = 0; i < s->n; i++)
        if (same(&s->key[i], m)) {
            memcpy(out, s->map[i], TENSOR_MAP_BYTES);
            return true;
        }
    return false;
}

static void keep(MapCacheSet *s, const TensorMap *m, const unsigned char map[TENSOR_MAP_BYTES])
{
    const int at = s->next;
    s->key[at] = *m;
    memcpy(s->map[at], map, TENSOR_MAP_BYTES);
    s->next = (uint8_t)((at + 1) % MAP_CACHE_WAYS);
    if (s->n < MAP_CACHE_WAYS) s->n++;
}

Err map_cache_encode(MapCache *c, const TensorMapEncoder *encoder, const TensorMap *m,
                     unsigned char out[TENSOR_MAP_BYTES])
{
    MapCacheSet *s = &c->set[set_of(m)];
    if (!take(s)) return encoder->encode(encoder->ctx, m, out);
    Err e = ERR_OK;
    if (!find(s, m, out)) {
        e = encoder->encode(encoder->ctx, m, out);
        if (!e) keep(s, m, out);
    }
    give(s);
    return e;
}
