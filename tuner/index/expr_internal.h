/* Functions that expr.c and expr_eval.c share. */
#ifndef INDEX_EXPR_INTERNAL_H
#define INDEX_EXPR_INTERNAL_H

#include "index/expr.h"

/* *v = x op y; false when it divides by zero or leaves 64 bits. kind: ADD to EITHER. */
bool expr_apply(ExprKind kind, int64_t x, int64_t y, int64_t *v);

#endif
