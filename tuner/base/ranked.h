/* Things that are sorted by a number: the orders for qsort. Equal numbers are in the order of the indexes, so
 * that results do not depend on the sorting. */
#ifndef BASE_RANKED_H
#define BASE_RANKED_H

#include <stddef.h>

typedef struct {
    double value;
    size_t index; /* of the thing */
} Ranked;

static inline int ranked_by_index(const Ranked *x, const Ranked *y)
{
    return (x->index > y->index) - (x->index < y->index);
}

/* The least value first. */
static inline int ranked_rising(const void *a, const void *b)
{
    const Ranked *x = a, *y = b;
    return x->value != y->value ? (x->value < y->value ? -1 : 1) : ranked_by_index(x, y);
}

/* The largest value first. */
static inline int ranked_falling(const void *a, const void *b)
{
    const Ranked *x = a, *y = b;
    return x->value != y->value ? (x->value > y->value ? -1 : 1) : ranked_by_index(x, y);
}

#endif
