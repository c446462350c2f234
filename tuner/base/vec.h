/* Growing arrays: VEC(T) declares one, VEC_PUSH appends. A zeroed VEC is empty; vec_fini frees it.
 * VEC_PUSH returns false when memory is exhausted and leaves the array as it was. */
#ifndef BASE_VEC_H
#define BASE_VEC_H

#include <stdbool.h>
#include <stddef.h>

#define VEC(T)                                                                                               \
    struct {                                                                                                 \
        T *v;                                                                                                \
        size_t n, cap;                                                                                       \
    }

/* Makes room for one more element of size bytes; the array may move. */
bool vec_grow(void **v, size_t n, size_t *cap, size_t size);

#define VEC_ROOM(a) ((a)->n < (a)->cap || vec_grow((void **)&(a)->v, (a)->n, &(a)->cap, sizeof *(a)->v))
#define VEC_PUSH(a, x) (VEC_ROOM(a) ? ((a)->v[(a)->n++] = (x), true) : false)
#define VEC_FINI(a) (free((a)->v), (a)->v = NULL, (a)->n = (a)->cap = 0)

#endif
