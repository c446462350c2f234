/* The table of toolchains and the search for a compiler. See toolchain.h. */
#include "build/toolchain.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/proc.h"

enum { MAX_PROGRAMS = 4, MAX_FIXED = 12, PROBE_BYTES = 4096 };

typedef struct {
    const char *name;
    const char *programs[MAX_PROGRAMS + 1]; /* best first */
    const char *install_hint;
    const char *source_suffix, *object_suffix;
    const char *headers;
    const char *fixed[MAX_FIXED + 1]; /* arguments of every compilation */
    const char *link[MAX_FIXED + 1];
    const char *probe[MAX_FIXED + 1]; /* checks arguments without making anything */
    const char *architecture_prefix;  /* "-march=", before the target's name */
    void (*flags)(const Target *t, const char **args,
                  size_t *n); /* more that depend on the target; may be NULL */
} Row;

/* Compilers prefer 256-bit vectors for AVX-512 by default. Vectors wider than the level has are split by the
 * compiler; that the calling convention for them differs between levels does not matter inside one file. */
static void host_flags(const Target *t, const char **args, size_t *n)
{
    if (t->vector_bits == 512) args[(*n)++] = "-mprefer-vector-width=512";
}

static const Row rows[] = {
    {.name = "cc",
     .programs = {"cc", "gcc", "clang"},
     .install_hint = "install gcc or clang",
     .source_suffix = ".c",
     .object_suffix = ".o",
     .headers = "#include <immintrin.h>\n#include <stddef.h>\n#include <stdint.h>\n#include <string.h>\n",
     .fixed = {"-std=gnu11", "-O2", "-fPIC", "-pipe", "-fno-math-errno", "-fno-asynchronous-unwind-tables",
               "-Wno-psabi", "-c"},
     .link = {"-shared", "-Wl,-z,noexecstack", "-Wl,--build-id=none", "-lm"},
     .probe = {"-fsyntax-only", "-x", "c", "/dev/null"},
     .architecture_prefix = "-march=",
     .flags = host_flags},
};

static const Row *row_find(const char *name)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].name, name) == 0) return &rows[i];
    return NULL;
}

/* Runs program with args and gives the first PROBE_BYTES of what it printed. */
static Err probe(Arena *a, const char *program, const char *const *args, Str *output, ProcResult *r)
{
    const char *argv[2 * TOOLCHAIN_MAX_ARGS] = {program};
    for (size_t i = 0; args[i]; i++) argv[i + 1] = args[i];
    char *text = arena_alloc(a, PROBE_BYTES + 1);
    TRY_ALLOC(text);
    int fd = memfd_create("probe", MFD_CLOEXEC);
    if (fd < 0) FAIL(ERR_FAILED, "cannot make a buffer for the output of '%s'", program);
    static const char *const env[] = {"LC_ALL=C", NULL};
    Err e = proc_run(&(ProcSpec){.argv = argv, .stdout_fd = fd, .setenv = env}, 20000000000u, r);
    ssize_t n = e ? 0 : pread(fd, text, PROBE_BYTES, 0);
    close(fd);
    *output = str_trim((Str){text, n > 0 ? (size_t)n : 0});
    return e;
}

/* Compilers run in another directory, so the path must be absolute; links stay as they are (ccache goes by
 * its name). */
static Err program_set(Arena *a, Str path, Toolchain *out)
{
    char here[4096];
    if (path.s[0] != '/' && getcwd(here, sizeof here)) path = path_join(a, here, path.s);
    TRY_ALLOC(path.s);
    out->program = path.s;
    return 0;
}

static Err program_find(Arena *a, const Row *row, const Target *target, const char *forced, Toolchain *out)
{
    const char *const forced_list[] = {forced, NULL};
    const char *const *names = forced ? forced_list : row->programs;
    for (size_t i = 0; names[i]; i++) {
        Str path = proc_which(a, names[i]);
        if (!path.s) continue;
        return program_set(a, path, out);
    }
    if (forced)
        FAIL(ERR_FAILED, "no compiler for %s: '%s' is not a program or not in PATH", target->name, forced);
    Buf list;
    buf_init(&list);
    for (size_t i = 0; names[i]; i++) buf_printf(&list, "%s%s", i ? ", " : "", names[i]);
    Err e = err_set(ERR_FAILED, "no compiler for %s: none of %s is in PATH (%s)", target->name,
                    buf_cstr(&list), row->install_hint);
    buf_fini(&list);
    return e;
}

static Err version_read(Arena *a, Toolchain *t)
{
    static const char *const ask[] = {"--version", NULL};
    Str output, line;
    ProcResult r;
    TRY(probe(a, t->program, ask, &output, &r));
    if (r.end != PROC_EXITED || r.code || output.n == 0)
        FAIL(ERR_FAILED, "compiler '%s' does not tell its version (--version failed)", t->program);
    str_split(&output, '\n', &line);
    t->version = arena_dup(a, str_trim(line)).s;
    TRY_ALLOC(t->version);
    return 0;
}

static Err args_add(Toolchain *t, const char *const *args)
{
    for (size_t i = 0; args && args[i]; i++) {
        if (t->n_args + 4 >= TOOLCHAIN_MAX_ARGS)
            FAIL(ERR_INPUT, "more than %d compiler arguments", TOOLCHAIN_MAX_ARGS - 4);
        t->args[t->n_args++] = args[i];
    }
    return 0;
}

/* The compiler must know the target: old ones do not know x86-64-v4. */
static Err flags_check(Arena *a, const Row *row, const Toolchain *t)
{
    const char *args[TOOLCHAIN_MAX_ARGS + MAX_FIXED + 1];
    size_t n = 0;
    for (size_t i = 0; t->args[i]; i++)
        if (strcmp(t->args[i], "-c")) args[n++] = t->args[i];
    for (size_t i = 0; row->probe[i]; i++) args[n++] = row->probe[i];
    args[n] = NULL;
    Str output, line = STR_NULL;
    ProcResult r;
    TRY(probe(a, t->program, args, &output, &r));
    if (r.end == PROC_EXITED && r.code == 0) return 0;
    while (str_split(&output, '\n', &line) && !strstr(arena_dup(a, line).s, "error")) {
    }
    FAIL(ERR_FAILED, "compiler '%s' (%s) cannot compile for %s: %.*s", t->program, t->version,
         t->target->name, (int)(line.n < 300 ? line.n : 300), line.s ? line.s : "no message");
}

static Err identity_make(Arena *a, Toolchain *t)
{
    Buf b;
    buf_init(&b);
    buf_printf(&b, "%s\n%s\n", t->name, t->version);
    for (size_t i = 0; i < t->n_args; i++) buf_printf(&b, "%s\n", t->args[i]);
    t->identity = arena_dup(a, buf_view(&b));
    Err e = buf_check(&b);
    buf_fini(&b);
    if (!e) TRY_ALLOC(t->identity.s);
    return e;
}

Err toolchain_find(Arena *a, const Target *target, const char *forced, const char *const *extra,
                   Toolchain *out)
{
    const Row *row = row_find(target->toolchain);
    if (!row) FAIL(ERR_INPUT, "no toolchain '%s' for %s in this version", target->toolchain, target->name);
    *out = (Toolchain){.target = target,
                       .name = row->name,
                       .source_suffix = row->source_suffix,
                       .object_suffix = row->object_suffix,
                       .headers = row->headers,
                       .link_args = row->link};
    TRY(program_find(a, row, target, forced, out));
    TRY(version_read(a, out));
    TRY(args_add(out, row->fixed));
    Str march = arena_printf(a, "%s%s", row->architecture_prefix, target->name);
    TRY_ALLOC(march.s);
    out->args[out->n_args++] = march.s;
    if (row->flags) row->flags(target, out->args, &out->n_args);
    TRY(args_add(out, extra));
    TRY(flags_check(a, row, out));
    return identity_make(a, out);
}
