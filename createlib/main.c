/* tuner-createlib: the command line; the work is createlib.c. */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/proc.h"
#include "createlib/createlib.h"

typedef enum {
    OPT_TRUE,
    OPT_FALSE,
    OPT_TEXT,
    OPT_INT,
    OPT_FORMAT,
    OPT_VERSION,
    OPT_NONE,
    OPT_NONE_TEXT,
    OPT_HELP
} OptionKind;

typedef struct {
    const char *name;
    char letter;
    OptionKind kind;
    size_t offset; /* of the field in CreateOptions */
    const char *arg, *help;
} OptionRow;

#define FIELD(f) offsetof(CreateOptions, f)

static const OptionRow options[] = {
    {"architecture", 0, OPT_TEXT, FIELD(architecture), "LIST",
     "all (default), gfx000 (logic of no architecture), or names separated by ';' (AMD: also '_')"},
    {"library-format", 0, OPT_FORMAT, FIELD(format), "FORMAT", "msgpack (default) or yaml"},
    {"separate-architectures", 0, OPT_TRUE, FIELD(separate_architectures), NULL,
     "one library file per architecture"},
    {"lazy-library-loading", 0, OPT_TRUE, FIELD(lazy), NULL,
     "one file per problem type, loaded when it is needed"},
    {"merge-files", 0, OPT_TRUE, FIELD(merge_files), NULL, "kernels in one code object (default)"},
    {"no-merge-files", 0, OPT_FALSE, FIELD(merge_files), NULL, "one code object per kernel"},
    {"num-merged-files", 0, OPT_INT, FIELD(num_merged_files), "N", "kernels in this many code objects"},
    {"short-file-names", 0, OPT_TRUE, FIELD(short_file_names), NULL, "kernels are K0, K1, ..."},
    {"no-short-file-names", 0, OPT_FALSE, FIELD(short_file_names), NULL,
     "kernels have their names (default)"},
    {"embed-library", 0, OPT_TEXT, FIELD(embed_library), "NAME",
     "also write the files as one C source, NAME.c"},
    {"embed-library-key", 0, OPT_TEXT, FIELD(embed_key), "KEY", "key that the C source registers them under"},
    {"version", 0, OPT_TEXT, FIELD(version), "V", "version to write into the library"},
    {"metadata-only", 0, OPT_TRUE, FIELD(metadata_only), NULL, "no kernels; runs no compiler"},
    {"no-spills", 0, OPT_TRUE, FIELD(no_spills), NULL,
     "leave out solutions whose kernels spill registers (default: kept, with the count)"},
    {"strict", 0, OPT_TRUE, FIELD(strict), NULL,
     "fail when a solution cannot be built, instead of leaving it out or building an ordinary kernel"},
    {"generate-manifest-and-exit", 0, OPT_TRUE, FIELD(generate_manifest_and_exit), NULL,
     "only TensileManifest.txt"},
    {"generate-sources-and-exit", 0, OPT_TRUE, FIELD(generate_sources_and_exit), NULL,
     "only the kernels' texts"},
    {"verify-manifest", 0, OPT_TRUE, FIELD(verify_manifest), NULL,
     "check that all files of the manifest are there"},
    {"write-master-solution-index", 0, OPT_TRUE, FIELD(write_master_index), NULL,
     "TensileMasterSolutionIndex.csv"},
    {"library-print-debug", 0, OPT_TRUE, FIELD(print_debug), NULL,
     "applications print each launch of this library's kernels on stderr"},
    {"no-library-print-debug", 0, OPT_FALSE, FIELD(print_debug), NULL, "they do not (default)"},
    {"client-config", 0, OPT_TRUE, FIELD(client_config), NULL, "best-solution.ini for tuner-client"},
    {"c-compiler", 0, OPT_TEXT, FIELD(c_compiler), "FILE", "compiler of host kernels"},
    {"cxx-compiler", 0, OPT_TEXT, FIELD(cxx_compiler), "FILE", "compiler of GPU kernels"},
    {"code-object-version", 0, OPT_VERSION, FIELD(code_object_version), "V",
     "of AMD code objects: default (V4), V2 to V5; the nearest that the compiler makes"},
    {"cache", 0, OPT_TEXT, FIELD(cache_dir), "DIR", "object cache (default: <OutputPath>/build_cache)"},
    {"keep-build-tmp", 0, OPT_NONE, 0, NULL, "the object cache is always kept"},
    {"jobs", 'j', OPT_INT, FIELD(jobs), "N", "compilers at once (default: usable cores)"},
    {"verbose", 'v', OPT_INT, FIELD(verbose), "N", "0 to 3"},
    {"help", 'h', OPT_HELP, 0, NULL, "this text"},
    {"assembler", 0, OPT_NONE_TEXT, 0, "FILE", "assembly goes through --cxx-compiler"},
    {"offload-bundler", 0, OPT_NONE_TEXT, 0, "FILE", "code objects are not bundled by a tool"},
    {"cmake-cxx-compiler", 0, OPT_NONE_TEXT, 0, "FILE", "CMake is not used"},
    {"global-parameters", 0, OPT_NONE_TEXT, 0, "K=V", "gone from Tensile too"},
    {"build-client", 0, OPT_NONE, 0, NULL, "tuner-client needs no build of its own"},
    {"no-enumerate", 0, OPT_NONE, 0, NULL, "no device is asked"},
    {"ignore-asm-cap-cache", 0, OPT_NONE, 0, NULL, "assembler abilities are a table"},
    {"no-legacy-components", 0, OPT_NONE, 0, NULL, "gone from Tensile too"},
    {"package-library", 0, OPT_NONE, 0, NULL, "gone from Tensile too: see --separate-architectures"},
    {"new-client-only", 0, OPT_NONE, 0, NULL, "gone from Tensile too"},
};

enum { N_OPTIONS = sizeof options / sizeof *options };

static void help(void)
{
    puts("tuner-createlib: makes a library (code objects and metadata) from tuned logic files\n\n"
         "usage: tuner-createlib [options] LogicPath OutputPath {HIP,HSA,OCL,CUDA,HOST}\n\noptions:");
    for (int i = 0; i < N_OPTIONS; i++) {
        const OptionRow *row = &options[i];
        char left[64];
        if (row->kind == OPT_NONE || row->kind == OPT_NONE_TEXT) continue;
        snprintf(left, sizeof left, "--%s%s%s", row->name, row->arg ? " " : "", row->arg ? row->arg : "");
        printf("  %-32s %s\n", left, row->help);
    }
    puts("\naccepted, without meaning here:");
    for (int i = 0; i < N_OPTIONS; i++)
        if (options[i].kind == OPT_NONE || options[i].kind == OPT_NONE_TEXT)
            printf("  --%-30s %s\n", options[i].name, options[i].help);
    puts("\nexit codes: 0 ok, 1 failed, 2 usage or bad input, 3 some solutions are left out\n"
         "(library/TensileCreateLibrary.report.csv says which and why)");
}

static const OptionRow *find(Str name)
{
    for (int i = 0; i < N_OPTIONS; i++)
        if (str_eq_c(name, options[i].name)) return &options[i];
    return NULL;
}

static Err no_option(const char *arg, Str name)
{
    const OptionRow *best = NULL;
    unsigned least = 6;
    for (int i = 0; i < N_OPTIONS; i++) {
        unsigned d = str_distance(name, str_from(options[i].name));
        if (d < least) least = d, best = &options[i];
    }
    if (best) FAIL(ERR_INPUT, "unknown option '%s' (did you mean '--%s'?)", arg, best->name);
    FAIL(ERR_INPUT, "unknown option '%s' (see --help)", arg);
}

static Err set(CreateOptions *o, const OptionRow *row, const char *value)
{
    void *field = (char *)o + row->offset;
    int64_t v = 0;
    switch (row->kind) {
    case OPT_TRUE:
    case OPT_FALSE:
        *(bool *)field = row->kind == OPT_TRUE;
        break;
    case OPT_TEXT:
        *(const char **)field = value;
        break;
    case OPT_INT:
        if (!str_to_i64(str_from(value), &v) || v < -1 || v > 4096)
            FAIL(ERR_INPUT, "--%s '%s', expected a number", row->name, value);
        *(int *)field = v < 0 ? 0 : (int)v;
        break;
    case OPT_FORMAT:
        if (strcmp(value, "yaml") && strcmp(value, "msgpack"))
            FAIL(ERR_INPUT, "--%s '%s', expected msgpack or yaml", row->name, value);
        o->format = strcmp(value, "yaml") ? LIBRARY_MSGPACK : LIBRARY_YAML;
        break;
    case OPT_VERSION:
        if (strcmp(value, "default") && (value[0] != 'V' || !strchr("2345", value[1]) || strlen(value) != 2))
            FAIL(ERR_INPUT, "--%s '%s', expected default, V2, V3, V4 or V5", row->name, value);
        *(int *)field = value[0] == 'V' ? value[1] - '0' : 0;
        break;
    case OPT_NONE:
    case OPT_NONE_TEXT:
        notice("option '--%s' has no meaning here: %s", row->name, row->help);
        break;
    case OPT_HELP:
        break;
    }
    return ERR_OK;
}

/* --name, --name=value, --name value, -j8, -j 8. */
static Err take_option(CreateOptions *o, int argc, char **argv, int *at, bool *want_help)
{
    const char *arg = argv[*at], *value = NULL;
    const OptionRow *row = NULL;
    Str name = str_from(arg + 2);
    if (arg[1] != '-') {
        for (int i = 0; i < N_OPTIONS; i++)
            if (options[i].letter && options[i].letter == arg[1]) row = &options[i];
        if (row && arg[2]) value = arg + 2;
        name = str_from(arg + 1);
    } else {
        size_t eq = str_find(name, '=', 0);
        if (eq < name.n) value = arg + 2 + eq + 1;
        name = str_sub(name, 0, eq);
        row = find(name);
    }
    if (!row) return no_option(arg, name);
    if (row->kind == OPT_HELP) return *want_help = true, ERR_OK;
    if (row->arg && !value) {
        if (*at + 1 >= argc) FAIL(ERR_INPUT, "option '--%s' needs a value: %s", row->name, row->arg);
        value = argv[++*at];
    }
    if (!row->arg && value) FAIL(ERR_INPUT, "option '--%s' takes no value", row->name);
    return set(o, row, value);
}

static Err parse(CreateOptions *o, int argc, char **argv, bool *want_help)
{
    static const char *const runtimes[] = {"HIP", "HSA", "HOST", "CUDA"};
    static const char *const usage =
        "usage: tuner-createlib [options] LogicPath OutputPath {HIP,HSA,OCL,CUDA,HOST} (see --help)";
    const char *operand[3] = {NULL, NULL, NULL};
    int n = 0;
    createlib_options_init(o);
    for (int i = 1; i < argc && !*want_help; i++) {
        if (argv[i][0] == '-' && argv[i][1]) {
            TRY(take_option(o, argc, argv, &i, want_help));
        } else {
            if (n == 3) FAIL(ERR_INPUT, "unexpected '%s' (see --help)", argv[i]);
            operand[n++] = argv[i];
        }
    }
    if (*want_help) return ERR_OK;
    if (n < 3) FAIL(ERR_INPUT, "%s", usage);
    o->logic_path = operand[0];
    o->output_path = operand[1];
    if (!strcmp(operand[2], "OCL")) {
        notice("runtime OCL: kernels are those of HIP, in code objects that OpenCL's runtime does not load");
        operand[2] = "HIP";
    }
    for (int i = 0; i < 4; i++)
        if (!strcmp(operand[2], runtimes[i])) return o->runtime = (CreateRuntime)i, ERR_OK;
    FAIL(ERR_INPUT, "runtime '%s', expected HIP, HSA, OCL, CUDA or HOST", operand[2]);
}

int main(int argc, char **argv)
{
    CreateOptions o;
    CreateReport r;
    bool want_help = false;
    log_init("tuner-createlib", LOG_NORMAL);
    Err e = parse(&o, argc, argv, &want_help);
    if (e) return error_report(e);
    if (want_help) return help(), 0;
    log_set_level(o.verbose);
    interrupt_init();
    e = createlib_run(&o, &r);
    if (e && e != ERR_PARTIAL) return error_report(e);
    char stand_ins[64] = "";
    if (r.n_stand_ins) snprintf(stand_ins, sizeof stand_ins, ", %zu with stand-ins", r.n_stand_ins);
    if (!o.verify_manifest)
        notice(
            "%zu logic files, %zu solutions, %zu left out%s, %zu kernels and %zu helpers, %zu files written",
            r.n_logic, r.n_solutions, r.n_left_out, stand_ins, r.n_kernels, r.n_helpers, r.n_files);
    return e ? error_report(e) : 0;
}
