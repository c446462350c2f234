/* Finding duplicate keys in a map: a small filter and pairwise comparison for the usual map, a hash table for
 * large ones. See keys.h. */
#include "fmt/keys.h"

#include <stdlib.h>

#include "base/hash.h"

enum { SMALL = 48 };

static bool key_equal(const Node *a, const Node *b) { return a->kind == b->kind && node_equal(a, b); }

static uint64_t key_hash(const Node *key)
{
    if (key->kind == NODE_STR) return hash64(key->text);
    if (key->kind == NODE_INT || key->kind == NODE_FLOAT)
        return hash64((Str){(const char *)&key->integer, 8});
    return key->kind;
}

static Err duplicate(const char *name, const Node *first, const Node *again)
{
    int n = (int)(again->text.n < 80 ? again->text.n : 80);
    if (again->line == 0)
        FAIL(ERR_INPUT, "%s: duplicate key '%.*s'", name, n, again->text.n ? again->text.s : "");
    FAIL(ERR_INPUT, "%s:%d: duplicate key '%.*s' (first at line %d)", name, again->line, n, again->text.s,
         first->line);
}

/* Open addressing: a slot holds the number of a pair plus 1. */
typedef struct {
    size_t *slot, n;
} Slots;

static Err slots_init(Slots *s, size_t n_keys, const char *name)
{
    *s = (Slots){.n = 128};
    while (s->n < 2 * n_keys) s->n *= 2;
    s->slot = calloc(s->n, sizeof *s->slot);
    if (!s->slot) FAIL(ERR_FAILED, "%s: out of memory for a map of %zu keys", name, n_keys);
    return 0;
}

/* The slot of the pair with this key, or the empty one where it belongs. */
static size_t *slots_find(const Slots *s, const Node *map, const Node *key)
{
    size_t at = key_hash(key) & (s->n - 1);
    while (s->slot[at] && !key_equal(&map->item[2 * (s->slot[at] - 1)], key)) at = (at + 1) & (s->n - 1);
    return &s->slot[at];
}

static Err keys_check_large(const Node *map, const char *name)
{
    Slots slots;
    TRY(slots_init(&slots, map->n, name));
    Err e = 0;
    for (size_t i = 0; !e && i < map->n; i++) {
        const Node *key = &map->item[2 * i];
        size_t *at = slots_find(&slots, map, key);
        if (*at)
            e = duplicate(name, &map->item[2 * (*at - 1)], key);
        else
            *at = i + 1;
    }
    free(slots.slot);
    return e;
}

Err keys_keep_last(Node *map, const char *name, const KeyReplaced *replaced)
{
    Slots slots;
    size_t kept = 0;
    TRY(slots_init(&slots, map->n, name));
    for (size_t i = 0; i < map->n; i++) {
        const Node key = map->item[2 * i], value = map->item[2 * i + 1];
        size_t *at = slots_find(&slots, map, &key);
        if (*at)
            replaced->note(replaced->ctx, name, &map->item[2 * (*at - 1)], &key);
        else
            *at = ++kept;
        map->item[2 * (*at - 1)] = key;
        map->item[2 * (*at - 1) + 1] = value;
    }
    map->n = kept;
    free(slots.slot);
    return 0;
}

/* A number below 256 that equal keys share. */
static unsigned key_class(const Node *key)
{
    if (key->kind != NODE_STR || key->text.n == 0) return key->kind;
    const unsigned char *s = (const unsigned char *)key->text.s;
    size_t n = key->text.n;
    return (s[0] + 7u * s[n / 2] + 31u * s[n - 1] + 61u * (unsigned)n) & 255;
}

Err keys_check(const Node *map, const char *name)
{
    if (map->n > SMALL) return keys_check_large(map, name);
    uint64_t seen[4] = {0};
    for (size_t i = 0; i < map->n; i++) {
        unsigned class = key_class(&map->item[2 * i]);
        uint64_t bit = (uint64_t)1 << (class & 63), *word = &seen[class / 64];
        for (size_t j = 0; (*word & bit) && j < i; j++)
            if (key_equal(&map->item[2 * j], &map->item[2 * i]))
                return duplicate(name, &map->item[2 * j], &map->item[2 * i]);
        *word |= bit;
    }
    return 0;
}
