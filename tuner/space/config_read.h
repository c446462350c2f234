/* Shared by the files that read configs: config.c and config_fork.c. */
#ifndef MODEL_CONFIG_READ_H
#define MODEL_CONFIG_READ_H

#include "space/config.h"

typedef struct {
    Arena *arena;
    const char *file;
    Notices *notices;
    Globals *globals;
    uint64_t noted[PARAM_WORDS]; /* parameters for which a notice about truth values was added */
} ConfigReader;

/* The parameters of a size-group: Common, then Fork, whose lists replace those of Common of the same
 * name. Both may be NULL. Fills in out->param and out->group. */
Err config_read_fork(ConfigReader *r, const Node *common, const Node *fork, SizeGroup *out);

#endif
