/* Command line of `tuner`: one table of options gives the parser, the help text and the list of what is
 * accepted but means nothing here. Options that Tensile has for a global parameter become overrides of that
 * parameter, which are applied behind the config file. Does not open files. Called by main.c.
 */
#ifndef TUNER_OPTIONS_H
#define TUNER_OPTIONS_H

#include <stdio.h>

#include "base/str.h"

enum { MAX_CONFIGS = 64, MAX_OVERRIDES = 128 };

typedef struct {
    const char *key;   /* global parameter */
    const char *value; /* YAML text; behind '=' where it came from --global-parameters */
    size_t key_n;
} Override;

typedef struct {
    const char *operand[MAX_CONFIGS + 1]; /* configs, then the output directory */
    int n_operands;
    Override override[MAX_OVERRIDES];
    int n_overrides;
    const char *arch, *part, *device_kind, *dump_pass, *client_path;
    const char *cxx, *cc;
    int64_t jobs, device;
    bool has_device, help, version, help_params, help_globals, alternate, no_cache, compile_only,
        allow_spills, simulate, list_targets;
    bool list_solutions, count, names, reasons, dump;
} Options;

/* argv[0] is not looked at. Unknown options name the nearest one. */
Err cli_options_parse(Options *o, int argc, char **argv);
void cli_options_help(FILE *f);

#endif
