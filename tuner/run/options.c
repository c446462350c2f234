/* Command line of `tuner`. See options.h. */
#include "run/options.h"

#include <string.h>

typedef enum {
    OPT_FLAG,
    OPT_TEXT,
    OPT_INT,
    OPT_DEVICE,
    OPT_DUMP,
    OPT_GLOBAL,
    OPT_GLOBAL_FLAG,
    OPT_GLOBALS,
    OPT_NONE
} OptionKind;

typedef struct {
    const char *name;
    char letter;
    OptionKind kind;
    const char *arg;    /* name of the value in the help text; NULL: takes none */
    size_t offset;      /* of the field in Options */
    const char *global; /* OPT_GLOBAL: the parameter; OPT_GLOBAL_FLAG: "Name=value" */
    const char *help;
} OptionRow;

#define FIELD(f) offsetof(Options, f)

static const OptionRow options[] = {
    {"help", 'h', OPT_FLAG, NULL, FIELD(help), NULL, "this text"},
    {"version", 0, OPT_FLAG, NULL, FIELD(version), NULL, "version, and that of the Tensile formats"},
    {"help-params", 0, OPT_FLAG, NULL, FIELD(help_params), NULL,
     "solution parameters: values, defaults, meaning"},
    {"help-globals", 0, OPT_FLAG, NULL, FIELD(help_globals), NULL,
     "GlobalParameters: values, defaults, meaning"},
    {"list-targets", 0, OPT_FLAG, NULL, FIELD(list_targets), NULL, "architectures, and the parts of each"},
    {"arch", 0, OPT_TEXT, "NAME", FIELD(arch), NULL,
     "tune for this architecture: gfx90a, sm_90, x86-64-v4, host"},
    {"part", 0, OPT_TEXT, "NAME", FIELD(part), NULL,
     "its part: MI210, 'RX 7900 XT' (--list-targets); counts where no device is"},
    {"device", 'd', OPT_DEVICE, "KIND|N", 0, NULL, "host, cuda or hip, a number (Device), or both: cuda:1"},
    {"compile-only", 0, OPT_FLAG, NULL, FIELD(compile_only), NULL,
     "build the kernels of --arch without a device; pack what logic there is"},
    {"simulate", 0, OPT_FLAG, NULL, FIELD(simulate), NULL,
     "the whole run without a device, to try out a config: times are made up"},
    {"jobs", 'j', OPT_INT, "N", FIELD(jobs), NULL, "compilers at once (default: usable cores)"},
    {"list-solutions", 0, OPT_FLAG, NULL, FIELD(list_solutions), NULL,
     "fork and judge only; needs no OUTDIR"},
    {"count", 0, OPT_FLAG, NULL, FIELD(count), NULL,
     "with --list-solutions: 'permutations/valid/written' per size group"},
    {"names", 0, OPT_FLAG, NULL, FIELD(names), NULL, "with --list-solutions: full names"},
    {"reasons", 0, OPT_FLAG, NULL, FIELD(reasons), NULL,
     "with --list-solutions: why permutations were rejected, and valid ones not written"},
    {"dump-program", 0, OPT_DUMP, NULL, FIELD(dump_pass), NULL,
     "kernel programs as text, after pass [=PASS] (default: the last) or kernels (=text); needs no OUTDIR"},
    {"global-parameters", 0, OPT_GLOBALS, "K=V...", 0, NULL, "override GlobalParameters of the config"},
    {"alternate-format", 0, OPT_FLAG, NULL, FIELD(alternate), NULL,
     "configs are one settings file and, optionally, one list of sizes"},
    {"verbose", 'v', OPT_GLOBAL_FLAG, NULL, 0, "PrintLevel=2", "more words"},
    {"debug", 0, OPT_GLOBAL_FLAG, NULL, 0, "PrintLevel=3", "all words"},
    {"no-cache", 0, OPT_FLAG, NULL, FIELD(no_cache), NULL, "compile again what the object cache has"},
    {"allow-spills", 0, OPT_FLAG, NULL, FIELD(allow_spills), NULL,
     "also measure kernels that spill registers (default: left out, with the count)"},
    {"client-path", 0, OPT_TEXT, "FILE", FIELD(client_path), NULL,
     "tuner-client to run (default: beside tuner)"},
    {"prebuilt-client", 0, OPT_TEXT, "FILE", FIELD(client_path), NULL, "the same"},
    {"c-compiler", 0, OPT_TEXT, "FILE", FIELD(cc), NULL, "compiler of host kernels (default: cc)"},
    {"cxx-compiler", 0, OPT_TEXT, "FILE", FIELD(cxx), NULL,
     "compiler of GPU kernels: clang++-19, hipcc, nvcc, tuner-nvrtc (CxxCompiler)"},
    {"peer", 0, OPT_GLOBAL, "NAME", 0, "Peer", "time this library too: cublas or openblas (Peer)"},
    {"library-format", 0, OPT_GLOBAL, "FORMAT", 0, "LibraryFormat", "yaml or msgpack"},
    {"short-names", 0, OPT_GLOBAL_FLAG, NULL, 0, "ShortNames=True", "kernels are K0, K1, ..."},
    {"no-merge-files", 0, OPT_GLOBAL_FLAG, NULL, 0, "MergeFiles=False", "one code object per kernel"},
    {"platform", 'p', OPT_GLOBAL, "N", 0, "Platform", "OpenCL platform, kept for old command lines"},
    {"runtime-language", 0, OPT_GLOBAL, "LANG", 0, "RuntimeLanguage", "HIP or HSA"},
    {"code-object-version", 0, OPT_GLOBAL, "V", 0, "CodeObjectVersion", "default, V4 or V5; AMD only"},
    {"client-build-path", 0, OPT_GLOBAL, "DIR", 0, "ClientBuildPath", "name of the folder 0_Build"},
    {"assembler", 0, OPT_NONE, "FILE", 0, NULL, "meaningless: assembly goes through --cxx-compiler"},
    {"offload-bundler", 0, OPT_NONE, "FILE", 0, NULL, "meaningless: code objects are not bundled by a tool"},
    {"client-lock", 0, OPT_NONE, "FILE", 0, NULL, "meaningless: one client per OUTDIR, which is locked"},
    {"asm-cache", 0, OPT_NONE, "FILE", 0, NULL, "meaningless: assembler abilities are a table (targets.def)"},
};

enum { N_OPTIONS = sizeof options / sizeof *options };

static void *field(Options *o, const OptionRow *row) { return (char *)o + row->offset; }

static const OptionRow *option_find(Str name)
{
    for (int i = 0; i < N_OPTIONS; i++)
        if (str_eq_c(name, options[i].name)) return &options[i];
    return NULL;
}

static const OptionRow *option_letter(char c)
{
    for (int i = 0; i < N_OPTIONS; i++)
        if (options[i].letter == c) return &options[i];
    return NULL;
}

static Err unknown(Str name)
{
    const char *best = NULL;
    unsigned distance = 7;
    for (int i = 0; i < N_OPTIONS; i++) {
        unsigned d = str_distance(name, str_from(options[i].name));
        if (d < distance) best = options[i].name, distance = d;
    }
    if (best) FAIL(ERR_INPUT, "unknown option '--%.*s' (did you mean '--%s'?)", STR_ARG(name), best);
    FAIL(ERR_INPUT, "unknown option '--%.*s', see tuner --help", STR_ARG(name));
}

static Err override_add(Options *o, const char *text, const char *key, const char *value)
{
    const char *eq = key ? NULL : strchr(text, '=');
    if (!key && (!eq || eq == text)) FAIL(ERR_INPUT, "'%s' is not of the form NAME=VALUE", text);
    if (o->n_overrides >= MAX_OVERRIDES) FAIL(ERR_INPUT, "more than %d overrides", MAX_OVERRIDES);
    Override v = {.key = key ? key : text, .value = key ? value : eq + 1};
    v.key_n = key ? strlen(key) : (size_t)(eq - text);
    o->override[o->n_overrides++] = v;
    return 0;
}

static Err number(const OptionRow *row, const char *text, int64_t *out)
{
    if (!str_to_i64(str_from(text), out) || *out < 0 || *out > 65536)
        FAIL(ERR_INPUT, "--%s: expected a number from 0 to 65536, found '%s'", row->name, text);
    return 0;
}

/* "cuda", "1", "cuda:1" */
static Err device_option(Options *o, const OptionRow *row, const char *value)
{
    static const char *const kinds[] = {"host", "cuda", "hip", "sim"};
    const char *colon = strchr(value, ':');
    Str kind = str_sub(str_from(value), 0, colon ? (size_t)(colon - value) : strlen(value));
    for (size_t i = 0; !o->device_kind && i < sizeof kinds / sizeof *kinds; i++)
        if (str_eq_c(kind, kinds[i])) o->device_kind = kinds[i];
    if (o->device_kind && !colon) return 0;
    if (colon && !o->device_kind)
        FAIL(ERR_INPUT, "--device: expected host, cuda or hip before the colon, found '%s'", value);
    o->has_device = true;
    return number(row, colon ? colon + 1 : value, &o->device);
}

/* value: behind '=', or the next word, or NULL. */
static Err option_apply(Options *o, const OptionRow *row, const char *value)
{
    switch (row->kind) {
    case OPT_FLAG:
        *(bool *)field(o, row) = true;
        break;
    case OPT_TEXT:
        *(const char **)field(o, row) = value;
        break;
    case OPT_INT:
        return number(row, value, field(o, row));
    case OPT_DEVICE:
        return device_option(o, row, value);
    case OPT_DUMP:
        o->dump = true;
        o->dump_pass = value;
        break;
    case OPT_GLOBAL:
        return override_add(o, NULL, row->global, value);
    case OPT_GLOBAL_FLAG:
        return override_add(o, row->global, NULL, NULL);
    case OPT_GLOBALS:
        return override_add(o, value, NULL, NULL);
    case OPT_NONE:
        break;
    }
    return 0;
}

static Err operand_add(Options *o, const char *text)
{
    if (o->n_operands > MAX_CONFIGS) FAIL(ERR_INPUT, "more than %d config files", MAX_CONFIGS);
    o->operand[o->n_operands++] = text;
    return 0;
}

/* The row of a word like --arch=host or -d1, and what follows the name in the same word (or NULL). */
static Err option_of(const char *word, const OptionRow **row, const char **value)
{
    *value = NULL;
    if (word[1] == '-') {
        Str name = str_from(word + 2);
        size_t eq = str_find(name, '=', 0);
        if (eq < name.n) *value = name.s + eq + 1;
        name = str_sub(name, 0, eq);
        *row = option_find(name);
        return *row ? 0 : unknown(name);
    }
    *row = option_letter(word[1]);
    if (!*row) FAIL(ERR_INPUT, "unknown option '%s', see tuner --help", word);
    if (word[2]) *value = word + 2;
    return 0;
}

Err cli_options_parse(Options *o, int argc, char **argv)
{
    *o = (Options){0};
    bool only_operands = false;
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i], *value;
        const OptionRow *row;
        if (only_operands || word[0] != '-' || !word[1]) {
            TRY(operand_add(o, word));
            continue;
        }
        if (!strcmp(word, "--")) {
            only_operands = true;
            continue;
        }
        TRY(option_of(word, &row, &value));
        bool optional = row->kind == OPT_DUMP;
        if (value && !row->arg && !optional) FAIL(ERR_INPUT, "option '%s' takes no value", word);
        if (row->arg && !value) {
            if (++i >= argc) FAIL(ERR_INPUT, "option '%s' needs a value (%s)", word, row->arg);
            value = argv[i];
        }
        TRY(option_apply(o, row, value));
        while (row->kind == OPT_GLOBALS && i + 1 < argc && argv[i + 1][0] != '-' && strchr(argv[i + 1], '='))
            TRY(override_add(o, argv[++i], NULL, NULL));
    }
    return 0;
}

static void option_print(FILE *f, const OptionRow *row)
{
    char left[64];
    int n = row->letter ? snprintf(left, sizeof left, "-%c, --%s", row->letter, row->name)
                        : snprintf(left, sizeof left, "    --%s", row->name);
    if (row->arg) snprintf(left + n, sizeof left - (size_t)n, " %s", row->arg);
    if (row->kind == OPT_DUMP) snprintf(left + n, sizeof left - (size_t)n, "[=PASS]");
    fprintf(f, "  %-30s %s\n", left, row->help);
}

void cli_options_help(FILE *f)
{
    for (int i = 0; i < N_OPTIONS; i++) option_print(f, &options[i]);
}
