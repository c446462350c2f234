/* The check for duplicate keys that the YAML and msgpack readers share. Private to tuner/fmt. */
#ifndef FMT_KEYS_H
#define FMT_KEYS_H

#include "fmt/node.h"

/* ERR_INPUT 'name:line: duplicate key 'X' (first at line N)'; without lines when they are 0. */
Err keys_check(const Node *map, const char *name);

/* Of equal keys the last one, with its value, takes the place of the first; replaced->note is called each
 * time. ERR_FAILED when out of memory. */
Err keys_keep_last(Node *map, const char *name, const KeyReplaced *replaced);

/* The limits with the defaults filled in; NULL: all defaults. */
NodeLimits node_limits(const NodeLimits *limits);

#endif
