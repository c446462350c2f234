/* The kind and value of plain scalars of YAML 1.1, as PyYAML resolves them. */
#ifndef FMT_SCALAR_H
#define FMT_SCALAR_H

#include "fmt/node.h"

/* Sets kind and value (not text, not line) of a plain scalar. An integer beyond 64 bits becomes a float. */
void scalar_resolve(Str text, Node *n);
/* True when a YAML 1.1 reader takes the plain text for something other than a string (also for a date): it
 * must be quoted. */
bool scalar_ambiguous(Str text);

#endif
