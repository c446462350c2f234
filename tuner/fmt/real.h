/* Floating-point numbers as text: the shortest that reads back the same, in the form of Python's repr. */
#ifndef FMT_REAL_H
#define FMT_REAL_H

#include "base/str.h"

enum { REAL_TEXT = 32 };

/* 120.0, 0.1, 1e+20, 1e-05, inf, -inf, nan. Returns the length; out is NUL-terminated. */
size_t real_text(double v, char out[REAL_TEXT]);

#endif
