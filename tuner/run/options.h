/* Command line of `tuner`: the tables of its commands and options (base/cli.h). Options that Tensile has for
 * a global parameter become overrides of that parameter, which are applied after the config file.
 */
#ifndef TUNER_OPTIONS_H
#define TUNER_OPTIONS_H

#include <stdio.h>

#include "base/cli.h"

enum { MAX_OPERANDS = 64, MAX_OVERRIDES = 128, MAX_BASES = 16, MAX_LOGS = 64, MAX_GIVEN = 512 };

typedef struct {
    const char *key;   /* global parameter */
    const char *value; /* YAML text; of --global-parameters the part after '=' */
    size_t key_n;
} Override;

/* An option as the command line has it. */
typedef struct {
    const CliOption *row;
    const char *value; /* NULL: none */
} GivenOption;

typedef struct {
    GivenOption given[MAX_GIVEN]; /* in their order */
    int n_given;
    const char
        *operand[MAX_OPERANDS]; /* the config (of --alternate-format: and sizes), then the output directory */
    int n_operands;
    Override override[MAX_OVERRIDES];
    int n_overrides;
    const char *arch, *part, *device_kind, *dump_pass, *client_path;
    const char *cxx, *cc;
    const char *seed_from; /* of a search */
    const char *devices;   /* --devices: "cuda:all", "cuda:0,2" */
    int64_t jobs, device, suggest_sizes;
    bool has_device, help_params, help_markdown, help_globals, alternate, no_cache, compile_only,
        allow_spills, simulate, list_targets, list_devices;
    bool list_solutions, count, names, reasons, dump;
    const char *tile_run, *tile_emit; /* of the command tile */
    int64_t tile_seed;
    double tile_alpha, tile_beta;
    const char *sizes_config, *sizes_csv, *sizes_precision;    /* of the command sizes */
    const char *gridwise_perf, *gridwise_type, *gridwise_emit; /* of derive-gridwise */
    bool gridwise_matrix, gridwise_params;
    int sizes_as; /* 1: convolutions as themselves */
    const char *base[MAX_BASES];
    int n_bases;
    int64_t sizes_top;
    double sizes_share;
    bool json;
    /* of the command traffic */
    const char *traffic_tile, *traffic_type, *traffic_size, *traffic_order, *traffic_svg;
    int32_t traffic_dim;
    int64_t shards;         /* of the command shard */
    const char *gather_out; /* of the command gather; NULL: DIR/gathered */
    const char *report_html, *report_xlsx, *report_md, *report_json, *report_trace,
        *report_before; /* of the command report */
    const char *log[MAX_LOGS];
    int n_logs;
    bool follow;
    const char *metrics; /* of a run */
    double margin;       /* of the command diff */
} Options;

extern const CliProgram tuner_program;

/* Parses argv[1] and the following; line->command is one of tuner_program's. The texts live in argv. */
Err cli_options_parse(Options *o, int argc, char **argv, CliLine *line);

#endif
