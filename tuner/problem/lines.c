/* See lines.h. */
#include "problem/lines.h"

const char *const line_arg_names[LINE_ARGS] = {
#define LINE_NAME(name) "line_" #name,
    LINE_NUMBERS(LINE_NAME)
#undef LINE_NAME
};
