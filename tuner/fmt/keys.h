/* The check for duplicate keys that the YAML and msgpack readers share. Private to tuner/fmt. */
#ifndef FMT_KEYS_H
#define FMT_KEYS_H

#include "fmt/node.h"

/* ERR_INPUT 'name:line: duplicate key 'X' (first at line N)'; without lines when they are 0. */
Err keys_check(const Node *map, const char *name);

/* The limits with the defaults filled in; NULL: all defaults. */
NodeLimits node_limits(const NodeLimits *limits);

#endif
