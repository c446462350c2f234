/* tuner-createlib: the command line; the work is createlib.c. */
#include <stddef.h>
#include <stdio.h>

#include "base/cli.h"
#include "base/log.h"
#include "base/proc.h"
#include "createlib/createlib.h"

static Err take_format(void *target, const CliOption *row, const char *value)
{
    CreateOptions *o = target;
    int index = 0;
    TRY(cli_word("--library-format", str_from(value), row->words, &index));
    o->format = index == 0 ? LIBRARY_MSGPACK : LIBRARY_YAML;
    return ERR_OK;
}

static Err take_code_object_version(void *target, const CliOption *row, const char *value)
{
    static const int versions[] = {0, 2, 3, 4, 5};
    CreateOptions *o = target;
    int index = 0;
    TRY(cli_word("--code-object-version", str_from(value), row->words, &index));
    o->code_object_version = versions[index];
    return ERR_OK;
}

/* -1 means all cores in Tensile. */
static Err take_jobs(void *target, const CliOption *row, const char *value)
{
    CreateOptions *o = target;
    int64_t n;
    if (!str_to_i64(str_from(value), &n) || n < -1 || n > 4096)
        FAIL(ERR_INPUT, "--%s: expected an integer from -1 to 4096, found '%s'", row->name, value);
    o->jobs = n < 0 ? 0 : (int)n;
    return ERR_OK;
}

static Err ignore(void *target, const CliOption *row, const char *value)
{
    (void)target, (void)value;
    notice("option '--%s' has no meaning here: %s", row->name, row->help);
    return ERR_OK;
}

#define FIELD(f) .offset = offsetof(CreateOptions, f)
#define FLAG(nam, f, hlp) CLI_ROW(nam, CLI_FLAG, f, hlp)
#define CLEAR(nam, f, hlp) CLI_ROW(nam, CLI_CLEAR, f, hlp)
#define TEXT(nam, val, f, hlp) CLI_VALUE(nam, CLI_TEXT, val, f, hlp)
#define IGNORED(nam, value, hlp)                                                                             \
    {                                                                                                        \
        .name = nam, .kind = CLI_IGNORED, .set = ignore, .arg = value, .help = hlp                           \
    }

static const CliOption options[] = {
    TEXT("architecture", "LIST", architecture,
         "all (default), gfx000 (logic of no architecture), or names separated by ';' (AMD: also '_')"),
    {.name = "library-format",
     .kind = CLI_CALL,
     .set = take_format,
     .arg = "FORMAT",
     .words = "msgpack yaml",
     .help = "msgpack (default) or yaml"},
    FLAG("separate-architectures", separate_architectures, "one library file per architecture"),
    FLAG("lazy-library-loading", lazy, "one file per problem type, loaded when it is needed"),
    FLAG("merge-files", merge_files, "kernels in one code object (default)"),
    CLEAR("no-merge-files", merge_files, "one code object per kernel"),
    CLI_NUMBER("num-merged-files", CLI_INT32, "N", 1, 1000, num_merged_files,
               "kernels in this many code objects"),
    FLAG("short-file-names", short_file_names, "kernels are named K0, K1, ..."),
    CLEAR("no-short-file-names", short_file_names, "kernels have their full names (default)"),
    TEXT("embed-library", "NAME", embed_library, "also write the files as one C source, NAME.c"),
    TEXT("embed-library-key", "KEY", embed_key, "key that the C source registers them under"),
    TEXT("version", "V", version, "version to write into the library; alone: the version of this program"),
    FLAG("metadata-only", metadata_only, "no kernels; runs no compiler"),
    FLAG("no-spills", no_spills,
         "leave out solutions whose kernels spill registers (default: kept, with the count)"),
    FLAG("strict", strict,
         "fail when a solution cannot be built, instead of leaving it out or building an ordinary kernel"),
    FLAG("generate-manifest-and-exit", generate_manifest_and_exit, "only TensileManifest.txt"),
    FLAG("generate-sources-and-exit", generate_sources_and_exit, "only the kernels' texts"),
    FLAG("verify-manifest", verify_manifest, "check that all files of the manifest are there"),
    FLAG("write-master-solution-index", write_master_index, "TensileMasterSolutionIndex.csv"),
    FLAG("library-print-debug", print_debug,
         "applications print each launch of this library's kernels on stderr"),
    CLEAR("no-library-print-debug", print_debug, "they do not (default)"),
    FLAG("client-config", client_config, "best-solution.ini for tuner-client"),
    TEXT("c-compiler", "FILE", c_compiler, "compiler of host kernels"),
    TEXT("cxx-compiler", "FILE", cxx_compiler, "compiler of GPU kernels"),
    {.name = "code-object-version",
     .kind = CLI_CALL,
     .set = take_code_object_version,
     .arg = "V",
     .words = "default V2 V3 V4 V5",
     .help = "of AMD code objects: default (V4), V2 to V5; the nearest that the compiler makes"},
    TEXT("cache", "DIR", cache_dir, "object cache (default: <OutputPath>/build_cache)"),
    {.name = "jobs",
     .letter = 'j',
     .kind = CLI_CALL,
     .set = take_jobs,
     .arg = "N",
     .help = "compilers at once (default: usable cores)"},
    {.name = "verbose",
     .letter = 'v',
     .kind = CLI_INT32,
     .arg = "N",
     .max = 4096,
     FIELD(verbose),
     .help = "0 to 3"},
    IGNORED("keep-build-tmp", NULL, "the object cache is always kept"),
    IGNORED("assembler", "FILE", "assembly goes through --cxx-compiler"),
    IGNORED("offload-bundler", "FILE", "code objects are not bundled by a tool"),
    IGNORED("cmake-cxx-compiler", "FILE", "CMake is not used"),
    IGNORED("global-parameters", "K=V", "gone from Tensile too"),
    IGNORED("build-client", NULL, "tuner-client needs no build of its own"),
    IGNORED("no-enumerate", NULL, "devices are never enumerated"),
    IGNORED("ignore-asm-cap-cache", NULL, "assembler abilities are a table"),
    IGNORED("no-legacy-components", NULL, "gone from Tensile too"),
    IGNORED("package-library", NULL, "gone from Tensile too: see --separate-architectures"),
    IGNORED("new-client-only", NULL, "gone from Tensile too"),
};

static const CliCommand command = {
    .operands = "LogicPath OutputPath {HIP,HSA,OCL,CUDA,HOST}", .min = 3, .max = 3};
static const CliCommand *const commands[] = {&command};

static const CliProgram program = {
    .name = "tuner-createlib",
    .summary = "makes a library (code objects and metadata) from tuned logic files",
    .command = commands,
    .n_commands = 1,
    CLI_OPTIONS(options),
    .notes = "exit codes: 0 ok, 1 failed, 2 usage or bad input, 3 some solutions are left out "
             "(library/TensileCreateLibrary.report.csv says which and why)\n",
};

static Err parse(CreateOptions *o, int argc, char **argv, bool *done)
{
    CliLine line;
    int runtime = 0;
    createlib_options_init(o);
    TRY(cli_parse(&program, o, argc, argv, &line));
    *done = line.done;
    if (line.done) return ERR_OK;
    o->logic_path = line.operand[0];
    o->output_path = line.operand[1];
    TRY(cli_word("runtime", str_from(line.operand[2]), "HIP HSA HOST CUDA OCL", &runtime));
    if (runtime == 4)
        notice("runtime OCL: kernels are those of HIP, in code objects that OpenCL's runtime does not load");
    o->runtime = runtime == 4 ? CREATE_HIP : (CreateRuntime)runtime;
    return ERR_OK;
}

int main(int argc, char **argv)
{
    CreateOptions o;
    CreateReport r;
    bool done = false;
    log_init("tuner-createlib", LOG_NORMAL);
    Err e = parse(&o, argc, argv, &done);
    if (e) return error_report(e);
    if (done) return ERR_OK;
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
