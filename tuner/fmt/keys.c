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

static Err keys_check_large(const Node *map, const char *name)
{
    size_t n_slots = 128;
    while (n_slots < 2 * map->n) n_slots *= 2;
    size_t *slot = calloc(n_slots, sizeof *slot);
    if (!slot) FAIL(ERR_FAILED, "%s: out of memory for a map of %zu keys", name, map->n);
    Err e = 0;
    for (size_t i = 0; !e && i < map->n; i++) {
        const Node *key = &map->item[2 * i];
        size_t at = key_hash(key) & (n_slots - 1);
        while (slot[at] && !key_equal(&map->item[2 * (slot[at] - 1)], key)) at = (at + 1) & (n_slots - 1);
        if (slot[at])
            e = duplicate(name, &map->item[2 * (slot[at] - 1)], key);
        else
            slot[at] = i + 1;
    }
    free(slot);
    return e;
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
