/* Command line of `tuner`. See options.h. */
#include "run/options.h"

#include <string.h>

static Err override_add(Options *o, Str key, const char *value)
{
    if (o->n_overrides >= MAX_OVERRIDES) FAIL(ERR_INPUT, "more than %d overrides", MAX_OVERRIDES);
    o->override[o->n_overrides++] = (Override){.key = key.s, .key_n = key.n, .value = value};
    return ERR_OK;
}

/* Takes "Name=value" of --global-parameters. */
static Err take_assignment(void *target, const CliOption *row, const char *value)
{
    const char *eq = strchr(value, '=');
    if (!eq || eq == value) FAIL(ERR_INPUT, "--%s: expected NAME=VALUE, found '%s'", row->name, value);
    return override_add(target, (Str){value, (size_t)(eq - value)}, eq + 1);
}

/* Takes an option for the global parameter row->data; if the option has no argument, data is "Name=value". */
static Err take_global(void *target, const CliOption *row, const char *value)
{
    char name[64];
    int index;
    if (!row->arg) return take_assignment(target, row, row->data);
    snprintf(name, sizeof name, "--%s", row->name);
    if (row->words) TRY(cli_word(name, str_from(value), row->words, &index));
    return override_add(target, str_from(row->data), value);
}

/* Takes "cuda", "1" or "cuda:1". */
static Err take_device(void *target, const CliOption *row, const char *value)
{
    static const char *const kinds[] = {"host", "cuda", "hip", "sim"};
    static const char expected[] = "a kind (host, cuda, hip), a number from 0 to 65536, or both (cuda:1)";
    Options *o = target;
    const char *colon = strchr(value, ':'), *number = colon ? colon + 1 : value;
    Str kind = str_sub(str_from(value), 0, colon ? (size_t)(colon - value) : strlen(value));
    const char *found = NULL;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (str_eq_c(kind, kinds[i])) found = kinds[i];
    if (found) o->device_kind = found;
    if (found && !colon) return ERR_OK;
    int64_t n;
    if ((colon && !found) || !str_to_i64(str_from(number), &n) || n < 0 || n > 65536)
        FAIL(ERR_INPUT, "--%s: expected %s, found '%s'", row->name, expected, value);
    o->has_device = true;
    o->device = n;
    return ERR_OK;
}

static Err take_dump(void *target, const CliOption *row, const char *value)
{
    Options *o = target;
    (void)row;
    o->dump = true;
    o->dump_pass = value;
    return ERR_OK;
}

/* Records each option besides storing its value, because a run records the command with which it was
 * started. */
static Err take_option(void *target, const CliOption *row, const char *value)
{
    Options *o = target;
    if (o->n_given == MAX_GIVEN) FAIL(ERR_INPUT, "more than %d options", MAX_GIVEN);
    o->given[o->n_given++] = (GivenOption){row, value};
    return cli_value(target, row, value);
}

static Err take_base(void *target, const CliOption *row, const char *value)
{
    Options *o = target;
    if (o->n_bases == MAX_BASES) FAIL(ERR_INPUT, "--%s: more than %d", row->name, MAX_BASES);
    o->base[o->n_bases++] = value;
    return ERR_OK;
}

static Err take_log(void *target, const CliOption *row, const char *value)
{
    Options *o = target;
    if (o->n_logs == MAX_LOGS) FAIL(ERR_INPUT, "--%s: more than %d", row->name, MAX_LOGS);
    o->log[o->n_logs++] = value;
    return ERR_OK;
}

static Err take_help_params(void *target, const CliOption *row, const char *value)
{
    Options *o = target;
    int format = 0;
    if (value) TRY(cli_word("--help-params", str_from(value), row->words, &format));
    o->help_params = true;
    o->help_markdown = value != NULL;
    return ERR_OK;
}

#define FIELD(f) .offset = offsetof(Options, f)
#define FLAG(nam, f, hlp) CLI_ROW(nam, CLI_FLAG, f, hlp)
#define TEXT(nam, val, f, hlp) CLI_VALUE(nam, CLI_TEXT, val, f, hlp)
#define GLOBAL(nam, val, parameter, wrds, hlp)                                                               \
    {                                                                                                        \
        .name = nam, .kind = CLI_CALL, .set = take_global, .arg = val, .data = parameter, .words = wrds,     \
        .help = hlp                                                                                          \
    }
/* Options of several commands. */
#define JOBS                                                                                                 \
    {                                                                                                        \
        .name = "jobs", .letter = 'j', .kind = CLI_INT, .max = 65536, .arg = "N", FIELD(jobs),               \
        .help = "compilers at once (default: usable cores)"                                                  \
    }
#define DEVICE                                                                                               \
    {                                                                                                        \
        .name = "device", .letter = 'd', .kind = CLI_CALL, .set = take_device, .arg = "KIND|N",              \
        .words = "host cuda hip", .help = "host, cuda or hip, a number (Device), or both: cuda:1"            \
    }
#define IGNORED(nam, hlp)                                                                                    \
    {                                                                                                        \
        .name = nam, .kind = CLI_IGNORED, .arg = "FILE", .help = hlp                                         \
    }

/* Of all commands. */
static const CliOption options[] = {
    {.name = "help-params",
     .kind = CLI_CALL,
     .set = take_help_params,
     .takes = CLI_BEHIND_EQUALS,
     .arg = "md",
     .words = "md",
     .help = "solution parameters: values, defaults, meaning, and what each family of targets does with "
             "them; =md: as a Markdown page"},
    FLAG("help-globals", help_globals, "GlobalParameters: values, defaults, meaning"),
    FLAG("list-targets", list_targets, "architectures, and the parts of each"),
    FLAG("list-devices", list_devices, "devices of this machine, and why others are absent"),
};

static const CliOption run_options[] = {
    TEXT("arch", "NAME", arch, "tune for this architecture: gfx90a, sm_90, x86-64-v4, host"),
    TEXT("part", "NAME", part, "its part: MI210, 'RX 7900 XT' (--list-targets); counts where no device is"),
    DEVICE,
    TEXT("devices", "KIND:LIST", devices,
         "measure on several devices of one model at once: cuda:all, hip:all, cuda:0,2"),
    FLAG("compile-only", compile_only,
         "build the kernels of --arch without a device; pack what logic there is"),
    FLAG("simulate", simulate, "the whole run without a device, to try out a config: times are made up"),
    JOBS,
    CLI_NUMBER("suggest-sizes", CLI_INT, "N", 0, 10000, suggest_sizes,
               "print N sizes whose tuning lowers the loss on other sizes most"),
    FLAG("list-solutions", list_solutions, "fork and judge only; needs no OUTDIR"),
    FLAG("count", count, "with --list-solutions: 'permutations/valid/written' per size group"),
    FLAG("names", names, "with --list-solutions: full names"),
    FLAG("reasons", reasons,
         "with --list-solutions: why permutations were rejected, and valid ones not written"),
    FLAG("json", json, "with --list-solutions: print JSON"),
    {.name = "dump-program",
     .kind = CLI_CALL,
     .set = take_dump,
     .takes = CLI_BEHIND_EQUALS,
     .arg = "PASS",
     .help = "kernel programs as text, after pass [=PASS] (default: the last) or kernels (=text); needs no "
             "OUTDIR"},
    {.name = "global-parameters",
     .kind = CLI_CALL,
     .set = take_assignment,
     .takes = CLI_ASSIGNMENTS,
     .arg = "K=V",
     .help = "override GlobalParameters of the config"},
    FLAG("alternate-format", alternate, "configs are one settings file and, optionally, one list of sizes"),
    {.name = "verbose",
     .letter = 'v',
     .kind = CLI_CALL,
     .set = take_global,
     .data = "PrintLevel=2",
     .help = "print more"},
    GLOBAL("debug", NULL, "PrintLevel=3", NULL, "print everything"),
    FLAG("no-cache", no_cache, "compile again what the object cache has"),
    FLAG("allow-spills", allow_spills,
         "also measure kernels that spill registers (default: left out, with the count)"),
    {.name = "client-path",
     .kind = CLI_TEXT,
     .arg = "FILE",
     FIELD(client_path),
     .alias = "prebuilt-client",
     .help = "tuner-client to run (default: beside tuner); also --prebuilt-client"},
    TEXT("c-compiler", "FILE", cc, "compiler of host kernels (default: cc)"),
    TEXT("cxx-compiler", "FILE", cxx,
         "compiler of GPU kernels: clang++-19, hipcc, nvcc, tuner-nvrtc (CxxCompiler)"),
    GLOBAL("search", "METHOD", "SearchMethod", "exhaustive model random",
           "which kernels are measured (SearchMethod): exhaustive, model or random"),
    GLOBAL("budget", "TIME", "TimeBudget", NULL, "time for the search: 600, 90s, 10m, 2h (TimeBudget)"),
    TEXT("seed-from", "OUTDIR|LOGIC", seed_from,
         "a search begins with the winners and the fitted model of that run, or of logic files"),
    GLOBAL("peer", "NAME", "Peer", "cublas openblas", "time this library too: cublas or openblas (Peer)"),
    TEXT("metrics", "FILE", metrics,
         "write the run's progress there in the OpenMetrics text format, every few seconds"),
    GLOBAL("library-format", "FORMAT", "LibraryFormat", "yaml msgpack", "yaml or msgpack"),
    GLOBAL("short-names", NULL, "ShortNames=True", NULL, "kernels are K0, K1, ..."),
    GLOBAL("no-merge-files", NULL, "MergeFiles=False", NULL, "one code object per kernel"),
    {.name = "platform",
     .letter = 'p',
     .kind = CLI_CALL,
     .set = take_global,
     .arg = "N",
     .data = "Platform",
     .help = "OpenCL platform, kept for old command lines"},
    GLOBAL("runtime-language", "LANG", "RuntimeLanguage", NULL, "HIP or HSA"),
    GLOBAL("code-object-version", "V", "CodeObjectVersion", NULL, "default, V4 or V5; AMD only"),
    GLOBAL("client-build-path", "DIR", "ClientBuildPath", NULL, "name of the folder 0_Build"),
    IGNORED("assembler", "assembly goes through --cxx-compiler"),
    IGNORED("offload-bundler", "code objects are not bundled by a tool"),
    IGNORED("client-lock", "one client per OUTDIR, which is locked"),
    IGNORED("asm-cache", "assembler abilities are a table (targets.def)"),
};

static const CliOption json_options[] = {FLAG("json", json, "print JSON (tuner/README.md has its keys)")};

static const CliCommand run = {.name = "run",
                               .operands = "CONFIG.yaml OUTDIR",
                               .help = "tune, and write everything below OUTDIR",
                               .max = MAX_OPERANDS,
                               CLI_OPTIONS(run_options)};
static const CliCommand status = {.name = "status",
                                  .operands = "OUTDIR",
                                  .help = "what is done, what failed and why, what remains",
                                  .min = 1,
                                  .max = 1,
                                  CLI_OPTIONS(json_options)};
static const CliCommand explain = {
    .name = "explain",
    .operands = "OUTDIR [M,N,BATCH,K]",
    .help = "why a size has its winner; without a size: all sizes and their winners",
    .min = 1,
    .max = 2,
    CLI_OPTIONS(json_options)};
static const CliCommand log_ = {.name = "log",
                                .operands = "OUTDIR KERNEL",
                                .help = "compiler output and faults of kernels with that in their name",
                                .min = 2,
                                .max = 2,
                                CLI_OPTIONS(json_options)};
static const CliOption diff_options[] = {
    CLI_NUMBER("margin", CLI_REAL, "X", 0, 1, margin,
               "differences within this share of the time are none (0.01)"),
};
static const CliCommand diff = {
    .name = "diff",
    .operands = "RUN1 RUN2",
    .help = "sizes that got faster or slower from one OUTDIR to another, by their samples; exit code 1: some "
            "are slower",
    .min = 2,
    .max = 2,
    CLI_OPTIONS(diff_options)};
static const CliOption tile_options[] = {
    TEXT("run", "M,N,K", tile_run,
         "run the program on random matrices of that size, and compare D with a product in double precision"),
    CLI_NUMBER("seed", CLI_INT, "N", 0, INT32_MAX, tile_seed, "of --run (0)"),
    CLI_NUMBER("alpha", CLI_REAL, "X", -1000, 1000, tile_alpha, "of --run (1)"),
    CLI_NUMBER("beta", CLI_REAL, "X", -1000, 1000, tile_beta, "of --run (0.5 where the problem has UseBeta)"),
    TEXT("emit", "ARCH", tile_emit, "print the kernel for that architecture"),
};
static const CliCommand tile = {
    .name = "tile",
    .operands = "FILE",
    .help = "check a program over tiles that is written by hand, and print it again",
    .min = 1,
    .max = 1,
    CLI_OPTIONS(tile_options),
    .notes = "ops of the programs that 'tuner tile' reads (tuner/kernel/README.md, configs/tile):\n"
             "  let %x = EXPR, loop %k from EXPR to EXPR step N {, if beta {, barrier\n"
             "  init_tile %t[ROW, COL] shape [ROWS, COLS] strides [LD, 1]\n"
             "  update_tile_offset %t k + EXPR, prefetch_tile %t\n"
             "  load_tile %v <- %t {transpose = [1, 0], padding = 1.0}, store_tile %t <- %v\n"
             "  tile_mma %d <- %a, %b[, %d] {mma = [16, 16, 16]}\n"
             "  fill_tile %v by 0, scale_tile %v by alpha, shift_tile %v by EXPR\n"
             "  add_tile, multiply_tile %d <- %x, %y, convert_tile %d <- %x",
};
static const CliOption sizes_options[] = {
    TEXT("arch", "NAME", arch, "architecture for whose rates and configs (default: the first device's)"),
    TEXT("part", "NAME", part, "its part: MI210, 'RX 7900 XT' (--list-targets)"),
    TEXT("client-path", "FILE", client_path, "tuner-client to ask for devices (default: beside tuner)"),
    {.name = "output",
     .letter = 'o',
     .kind = CLI_TEXT,
     .arg = "FILE",
     FIELD(sizes_config),
     .help = "write a config for these sizes, with the search ranges of --base"},
    {.name = "base",
     .kind = CLI_CALL,
     .set = take_base,
     .arg = "FILE",
     .help = "config with the search ranges; may be given again (default: those for the device that come "
             "with tuner)"},
    TEXT("csv", "FILE", sizes_csv, "write all sizes, calls and times as CSV, which this command reads too"),
    FLAG("json", json, "print JSON instead of a table"),
    CLI_NUMBER("share", CLI_REAL, "X", 0, 1, sizes_share,
               "keep the most expensive sizes until they have this share of the time (1)"),
    CLI_NUMBER("top", CLI_INT, "N", 0, 1000000, sizes_top, "keep at most N sizes"),
    TEXT("precision", "TYPE", sizes_precision, "type of calls that name none (f32_r)"),
    {.name = "as",
     .kind = CLI_WORD,
     .arg = "FORM",
     .words = "gemm convolution",
     FIELD(sizes_as),
     .help = "MIOpenDriver's lines: as matrix products of packed operands (gemm), or as convolutions (gemm)"},
};
static const CliCommand sizes = {
    .name = "sizes",
    .operands = "LOG...",
    .help = "the sizes of an application from its logs: rocBLAS layers 2 and 4, hipblaslt-bench lines, "
            "TunableOp files, MIOpenDriver lines, CSV; '-' is standard input",
    .min = 1,
    .max = MAX_OPERANDS,
    CLI_OPTIONS(sizes_options),
};
static const CliOption traffic_options[] = {
    TEXT("part", "NAME", part, "GPU: MI300X, H200 (--list-targets)"),
    TEXT("tile", "MxNxK", traffic_tile, "macro tile and DepthU (128x256x64)"),
    TEXT("type", "TYPE", traffic_type, "type of A and B, as DataType in a config (h)"),
    TEXT("size", "M,N,K", traffic_size, "problem size"),
    TEXT("order", "Z|W[,XCC[,GROUP[,CHUNK]]]", traffic_order,
         "print and draw this order beside the chosen one"),
    CLI_NUMBER("dim", CLI_INT32, "D", 0, 1, traffic_dim,
               "WorkGroupMappingDim of --order: bands along M (0) or N (1) (0)"),
    TEXT("svg", "FILE", traffic_svg, "draw the grid of tiles by die: default, chosen and --order"),
};
static const CliCommand traffic = {
    .name = "traffic",
    .operands = "",
    .help = "what each work-group order makes the dies and the last-level cache read",
    CLI_OPTIONS(traffic_options),
};
/* Options that decide what is measured; the others are a machine's own (run-shard). */
static const CliOption shard_options[] = {
    {.name = "shards",
     .letter = 'n',
     .kind = CLI_INT,
     .min = 1,
     .max = 100000,
     .arg = "N",
     FIELD(shards),
     .help = "the number of parts"},
    TEXT("arch", "NAME", arch, "architecture (default: the config's, else that of this machine's device)"),
    TEXT("part", "NAME", part, "its part: MI210, 'RX 7900 XT' (--list-targets)"),
    FLAG("simulate", simulate, "shards are measured on a simulated device: times are made up"),
    {.name = "global-parameters",
     .kind = CLI_CALL,
     .set = take_assignment,
     .takes = CLI_ASSIGNMENTS,
     .arg = "K=V",
     .help = "override GlobalParameters of the config"},
    GLOBAL("search", "METHOD", "SearchMethod", "exhaustive model random",
           "which kernels are measured (SearchMethod)"),
    GLOBAL("budget", "TIME", "TimeBudget", NULL, "time for the search of each shard (TimeBudget)"),
    GLOBAL("peer", "NAME", "Peer", "cublas openblas", "time this library too (Peer)"),
    FLAG("alternate-format", alternate, "configs are one settings file and, optionally, one list of sizes"),
    FLAG("allow-spills", allow_spills, "also measure kernels that spill registers"),
    TEXT("client-path", "FILE", client_path, "tuner-client to ask for devices (default: beside tuner)"),
    TEXT("c-compiler", "FILE", cc, "compiler of host kernels (default: cc)"),
    TEXT("cxx-compiler", "FILE", cxx, "compiler of GPU kernels (CxxCompiler)"),
};
static const CliCommand shard = {.name = "shard",
                                 .operands = "CONFIG.yaml DIR --shards N",
                                 .help = "cut a run into N parts for several machines; DIR gets the plan",
                                 .min = 2,
                                 .max = 3,
                                 CLI_OPTIONS(shard_options)};
static const CliOption machine_options[] = {
    DEVICE,
    TEXT("devices", "KIND:LIST", devices,
         "measure on several devices of one model at once: cuda:all, hip:all, cuda:0,2"),
    JOBS,
    TEXT("client-path", "FILE", client_path, "tuner-client to run (default: beside tuner)"),
    FLAG("no-cache", no_cache, "compile again what the object cache has"),
    GLOBAL("verbose", NULL, "PrintLevel=2", NULL, "print more"),
};
static const CliCommand run_shard = {
    .name = "run-shard",
    .operands = "DIR I",
    .help = "measure shard I, 0 to N-1, in a folder of its own below DIR; again: continue it",
    .min = 2,
    .max = 2,
    CLI_OPTIONS(machine_options)};
static const CliOption gather_options[] = {
    {.name = "output",
     .letter = 'o',
     .kind = CLI_TEXT,
     .arg = "DIR",
     FIELD(gather_out),
     .help = "run directory to make (default: DIR/gathered)"},
    JOBS,
    TEXT("client-path", "FILE", client_path, "tuner-client to name in scripts (default: beside tuner)"),
    GLOBAL("verbose", NULL, "PrintLevel=2", NULL, "print more"),
};
static const CliCommand gather = {
    .name = "gather",
    .operands = "DIR",
    .help = "put finished shards together into one run directory with its library; exit code 3: some are "
            "missing",
    .min = 1,
    .max = 1,
    CLI_OPTIONS(gather_options)};
static const CliOption report_options[] = {
    TEXT("html", "FILE", report_html,
         "write one page with everything in it, for a browser; it needs no network"),
    TEXT("xlsx", "FILE", report_xlsx, "write a spreadsheet"),
    TEXT("md", "FILE", report_md, "write a summary in Markdown (default: to standard output)"),
    TEXT("json", "FILE", report_json, "write the data of the page as JSON; '-': to standard output"),
    TEXT("trace", "FILE", report_trace,
         "write when compilers, clients and measurements of a run worked, for ui.perfetto.dev and "
         "chrome://tracing"),
    TEXT("before", "OUTDIR|CSV", report_before, "compare with these earlier results, size by size"),
    {.name = "log",
     .kind = CLI_CALL,
     .set = take_log,
     .arg = "FILE",
     .help =
         "calls of an application, as 'tuner sizes' reads them: weights of the sizes; may be given again"},
    TEXT("part", "NAME", part, "device of CSV files that name none: MI210, 'RX 7900 XT' (--list-targets)"),
    FLAG("follow", follow, "write again while a run is at work; the page reloads itself"),
};
static const CliCommand report = {.name = "report",
                                  .operands = "OUTDIR|CSV...",
                                  .help = "results of runs, results CSV files and output of rocblas-bench as "
                                          "a page, a spreadsheet or a summary",
                                  .min = 1,
                                  .max = MAX_OPERANDS,
                                  CLI_OPTIONS(report_options)};
static const CliOption gridwise_options[] = {
    FLAG("matrix", gridwise_matrix, "kernels with matrix instructions (XDLOPS)"),
    TEXT("perf-config", "NUMBERS", gridwise_perf,
         "only this tuning, as MIOpen writes it: 64,32,32,4,2,2 or 128,128,8,64,64,4,1,1"),
    TEXT("type", "TYPE", gridwise_type, "type of M,N,K, as DataType in a config (s)"),
    TEXT("emit-conv", "DIR", gridwise_emit,
         "write each convolution there as C++: sizes, products, launches (NAME_solver.cpp), its kernel "
         "(NAME.hpp, NAME_wrapper.cpp) and a config for it (NAME.yaml)"),
    TEXT("arch", "NAME", arch, "architecture of the kernels of --emit-conv: gfx90a, gfx942, sm_90"),
    FLAG("params", gridwise_params, "list all parameters of the tuning, or of the first possible one"),
};
static const CliCommand derive_gridwise = {
    .name = "derive-gridwise",
    .operands = "M,N,K|'conv -n N -c C ..'...",
    .help =
        "matrix products and coordinate transforms of convolutions (lines of MIOpenDriver), and what follows "
        "from the tuned parameters of gridwise kernels",
    .min = 1,
    .max = MAX_OPERANDS,
    CLI_OPTIONS(gridwise_options)};
static const CliCommand *const commands[] = {&run,       &status, &explain,        &log_,   &diff,
                                             &tile,      &sizes,  &traffic,        &report, &shard,
                                             &run_shard, &gather, &derive_gridwise};

const CliProgram tuner_program = {
    .name = "tuner",
    .summary = "tunes GEMM kernels for a device and makes a library of the winners",
    .command = commands,
    .n_commands = sizeof commands / sizeof *commands,
    .first_is_default = true,
    CLI_OPTIONS(options),
    .given = take_option,
    .notes = "exit codes: 0 ok, 1 failed or interrupted (run the same command again to continue), 2 usage or "
             "bad input, 3 partial result, 4 no such device\n",
};

Err cli_options_parse(Options *o, int argc, char **argv, CliLine *line)
{
    *o = (Options){.tile_alpha = 1, .tile_beta = 0.5, .sizes_share = 1, .margin = 0.01};
    TRY(cli_parse(&tuner_program, o, argc, argv, line));
    for (; o->n_operands < line->n_operands; o->n_operands++)
        o->operand[o->n_operands] = line->operand[o->n_operands];
    return ERR_OK;
}
