/* Dimensions of a fork, for tests that make spaces by hand. */
#ifndef TEST_SPACE_SETUP_H
#define TEST_SPACE_SETUP_H

#include "space/space.h"
#include "test/support.h"

static inline void set_ints(Space *space, const ProblemType *pt, ParamId id, const int32_t *v, size_t n)
{
    Solution value;
    solution_init(&value, pt);
    assert_ok(space_param(space, param_at(id)));
    for (size_t i = 0; i < n; i++) {
        *(int32_t *)solution_field(&value, param_at(id)) = v[i];
        assert_ok(space_value(space, &value));
    }
}

static inline void set_lists(Space *space, const ProblemType *pt, ParamId id, const IntList *v, size_t n)
{
    Solution value;
    solution_init(&value, pt);
    assert_ok(space_param(space, param_at(id)));
    for (size_t i = 0; i < n; i++) {
        *(IntList *)solution_field(&value, param_at(id)) = v[i];
        assert_ok(space_value(space, &value));
    }
}

/* s: a structure with the members pt and space. */
#define INTS(s, id, ...)                                                                                     \
    set_ints(&(s)->space, &(s)->pt, PARAM_##id, (const int32_t[]){__VA_ARGS__},                              \
             sizeof((const int32_t[]){__VA_ARGS__}) / sizeof(int32_t))
#define LISTS(s, id, v, n) set_lists(&(s)->space, &(s)->pt, PARAM_##id, v, n)

#endif
