/* The size that a user asks for: "1024,1024,1,1024", also in brackets, or the first numbers of it; of a
 * convolution "n=64,c=3", some of its numbers. */
#ifndef REPORT_WANTED_H
#define REPORT_WANTED_H

#include "measure/result.h"

enum { WANTED_MAX = 16 };

typedef struct {
    int64_t v[WANTED_MAX];
    size_t n;
    Str conv; /* instead of v; s NULL: none */
} Wanted;

/* ERR_INPUT: the text is no size. */
Err wanted_parse(const char *text, Wanted *w);
/* Whether the numbers of the row's key begin with these, or its convolution has them. */
bool wanted_is(const SizeRow *row, const Wanted *w);
/* A config may list a size twice; both rows are the same problem. */
bool size_seen_before(const PlanView *p, size_t size);

#endif
