/* Short forms for files that build statements. c points to the structure that a file's functions are given,
 * which has a member `s`, the statements: those structures differ, so these are macros. */
#ifndef KERNEL_LOWER_BUILD_H
#define KERNEL_LOWER_BUILD_H

#include "kernel/lower/stmt.h"

#define reg(c, name) value_reg((c)->s, name)
/* A field of the structure in a register. */
#define field_of(c, of, name) value_field((c)->s, reg(c, of), name)
#define number(c, n) value_int((c)->s, n)
#define op(c, which, x, y) value_op((c)->s, which, x, y)
#define sum(c, x, y) value_sum((c)->s, x, y)
#define product(c, x, y) value_product((c)->s, x, y)
/* The product of x and an integer. */
#define times(c, x, n) value_times((c)->s, x, n)
/* x + e; e: an integer expression. */
#define offset_by(c, x, e) value_offset((c)->s, x, e)
#define both(c, x, y) value_both((c)->s, x, y)
#define set(c, name, x) stmt_set_reg((c)->s, name, x)

#endif
