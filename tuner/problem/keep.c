/* See keep.h. */
#include "problem/keep.h"

const char *const keep_arg_names[KEEP_ARGS] = {
#define KEEP_NAME(name) "keep_" #name,
    KEEP_NUMBERS(KEEP_NAME)
#undef KEEP_NAME
};
