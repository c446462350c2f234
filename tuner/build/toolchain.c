/* The search for a compiler. The table of toolchains is toolchain_rows.c. See toolchain.h. */
#include "build/toolchain_row.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/log.h"
#include "base/proc.h"

enum { PROBE_BYTES = 4096, MARKED_BYTES = 8192 };

/* Runs program with args; *output gets the first PROBE_BYTES of its output. */
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

static bool contains(Str s, const char *word) { return s.n && memmem(s.s, s.n, word, strlen(word)); }

/* The first line that contains the word, else the first line. */
static Str line_with(Str text, const char *word)
{
    Str rest = text, line, first = STR_NULL;
    while (str_split(&rest, '\n', &line)) {
        if (contains(line, word)) return str_trim(line);
        if (!first.s) first = str_trim(line);
    }
    return first;
}

/* The path must be absolute, because compilers run in another directory. Links are not resolved: ccache
 * decides by the name under which it is called. */
static Err program_set(Arena *a, Str path, Toolchain *out)
{
    char here[4096];
    if (path.s[0] != '/' && getcwd(here, sizeof here)) path = path_join(a, here, path.s);
    TRY_ALLOC(path.s);
    out->program = path.s;
    return 0;
}

/* The path of a row's program on this machine; s == NULL when it is not there. */
static Str program_path(Arena *a, const char *name)
{
    Str dir, path = str_from(name);
    if (name[0] == '%') {
        if (path_program_dir(a, &dir)) return err_clear(), STR_NULL;
        path = arena_printf(a, "%s%s", dir.s, name + 1);
    } else if (name[0] == '$') {
        size_t slash = str_find(path, '/', 0);
        Str variable = arena_dup(a, str_sub(path, 1, slash));
        const char *value = variable.s ? getenv(variable.s) : NULL;
        if (!value || !value[0]) return STR_NULL;
        path = arena_printf(a, "%s%s", value, name + slash);
    }
    return path.s ? proc_which(a, path.s) : STR_NULL;
}

static Err version_read(Arena *a, const ToolchainRow *row, Toolchain *t)
{
    static const char *const ask[] = {"--version", NULL};
    Str output;
    ProcResult r;
    TRY(probe(a, t->program, ask, &output, &r));
    if (r.end != PROC_EXITED || r.code || output.n == 0) {
        Str why = line_with(output, "error");
        FAIL(ERR_FAILED, "compiler '%s' does not print its version (--version failed%s%.*s)", t->program,
             why.n ? ": " : "", (int)(why.n < 300 ? why.n : 300), why.s ? why.s : "");
    }
    t->version = arena_dup(a, line_with(output, row->version_word ? row->version_word : "")).s;
    TRY_ALLOC(t->version);
    const char *unfit = row->unfit ? row->unfit(t->target, t->version) : NULL;
    if (unfit)
        FAIL(ERR_FAILED, "compiler '%s' (%s) is not used for %s: %s", t->program, t->version, t->target->name,
             unfit);
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

static bool is_output(const ToolchainRow *row, const char *arg)
{
    for (size_t i = 0; row->output[i]; i++)
        if (!strcmp(row->output[i], arg)) return true;
    return false;
}

/* Checks that the compiler knows the target: old ones do not know x86-64-v4. more: arguments to try, or
 * NULL. */
static Err flags_check(Arena *a, const ToolchainRow *row, const Toolchain *t, const char *const *more)
{
    const char *args[TOOLCHAIN_MAX_ARGS + TOOLCHAIN_MAX_FIXED + 1];
    size_t n = 0;
    for (size_t i = 0; t->args[i]; i++)
        if (!is_output(row, t->args[i])) args[n++] = t->args[i];
    for (size_t i = 0; more && more[i]; i++) args[n++] = more[i];
    for (size_t i = 0; row->probe[i]; i++) args[n++] = row->probe[i];
    args[n] = NULL;
    Str output;
    ProcResult r;
    TRY(probe(a, t->program, args, &output, &r));
    if (r.end == PROC_EXITED && r.code == 0) return 0;
    Str line = line_with(output, "error");
    FAIL(ERR_FAILED, "compiler '%s' (%s) cannot compile for %s: %.*s", t->program, t->version,
         t->target->name, (int)(line.n < 300 ? line.n : 300), line.n ? line.s : "no message");
}

/* The tool that the compiler itself would use, else the one in PATH; *path is NULL when there is none. */
static Err tool_find(Arena *a, const Toolchain *t, const char *name, const char **path)
{
    Str output, line, ask = arena_printf(a, "-print-prog-name=%s", name), found = STR_NULL;
    TRY_ALLOC(ask.s);
    const char *const args[] = {ask.s, NULL};
    ProcResult r;
    TRY(probe(a, t->program, args, &output, &r));
    while (!found.s && str_split(&output, '\n', &line))
        if (line.n && line.s[0] == '/') found = proc_which(a, arena_dup(a, str_trim(line)).s);
    if (!found.s) found = proc_which(a, name);
    *path = found.s;
    return 0;
}

static Err tools_find(Arena *a, const ToolchainRow *row, Toolchain *t)
{
    t->link_args = row->link;
    t->linker = row->link[0] ? t->program : NULL;
    if (row->disassembler) TRY(tool_find(a, t, row->disassembler, &t->disassembler));
    if (row->linker) TRY(tool_find(a, t, row->linker, &t->linker));
    if (row->linker && !t->linker)
        FAIL(ERR_FAILED, "compiler '%s' (%s) has no linker: no %s beside it or in PATH", t->program,
             t->version, row->linker);
    return 0;
}

static Err identity_make(Arena *a, Toolchain *t)
{
    Buf b;
    buf_init(&b);
    buf_printf(&b, "%s\n%s\n", t->name, t->version);
    for (size_t i = 0; i < t->n_args; i++) buf_printf(&b, "%s\n", t->args[i]);
    for (size_t i = 0; t->marked && t->marked[i]; i++) buf_printf(&b, "marked %s\n", t->marked[i]);
    t->identity = arena_dup(a, buf_view(&b));
    Err e = buf_check(&b);
    buf_fini(&b);
    if (!e) TRY_ALLOC(t->identity.s);
    return e;
}

/* Takes the arguments of marked sources where the compiler knows them. */
static void marked_take(Arena *a, const ToolchainRow *row, Toolchain *t)
{
    if (!row->marked_word) return;
    if (flags_check(a, row, t, row->marked)) {
        verbose("%s; kernels are compiled without", err_message());
        err_clear();
        return;
    }
    t->marked_word = row->marked_word;
    t->marked = row->marked;
}

const char *const *toolchain_marked(const Toolchain *t, Str source)
{
    const size_t n = source.n < MARKED_BYTES ? source.n : MARKED_BYTES;
    if (!t->marked_word || !n) return NULL;
    return memmem(source.s, n, t->marked_word, strlen(t->marked_word)) ? t->marked : NULL;
}

/* Checks that a program which is there can make code for the target. */
static Err candidate_take(Arena *a, const ToolchainRow *row, const Target *target, Str path,
                          const char *const *extra, Toolchain *out)
{
    *out = (Toolchain){.target = target,
                       .name = row->name,
                       .source_suffix = row->source_suffix,
                       .object_suffix = row->object_suffix,
                       .headers = row->headers};
    TRY(program_set(a, path, out));
    TRY(version_read(a, row, out));
    TRY(args_add(out, row->fixed));
    Str march = arena_printf(a, "%s%s", row->architecture_prefix, target->name);
    TRY_ALLOC(march.s);
    out->args[out->n_args++] = march.s;
    if (row->flags) row->flags(target, out->args, &out->n_args);
    TRY(args_add(out, extra));
    TRY(flags_check(a, row, out, NULL));
    marked_take(a, row, out);
    TRY(tools_find(a, row, out));
    return identity_make(a, out);
}

static bool row_is_forced(const ToolchainRow *row, const char *forced)
{
    return !row->forced_word || strstr(path_base(str_from(forced)).s, row->forced_word);
}

/* Looks for a bare name that is not in PATH at the row's other places. */
static Str forced_path(Arena *a, const ToolchainRow *row, const char *forced)
{
    Str path = proc_which(a, forced);
    for (size_t i = 0; !path.s && row->programs[i]; i++)
        if (str_eq_c(path_base(str_from(row->programs[i])), forced)) path = program_path(a, row->programs[i]);
    return path;
}

static Err forced_take(Arena *a, const Target *target, const char *forced, const char *const *extra,
                       Toolchain *out)
{
    const ToolchainRow *row = NULL;
    for (size_t i = 0; !row && toolchain_row_at(i); i++)
        if (!strcmp(toolchain_row_at(i)->name, target->toolchain) &&
            row_is_forced(toolchain_row_at(i), forced))
            row = toolchain_row_at(i);
    if (!row) FAIL(ERR_INPUT, "no toolchain '%s' for %s in this version", target->toolchain, target->name);
    Str path = forced_path(a, row, forced);
    if (!path.s)
        FAIL(ERR_FAILED, "no compiler for %s: '%s' is not a program or not in PATH", target->name, forced);
    return candidate_take(a, row, target, path, extra, out);
}

/* Tries the rows' programs in order. why gets what is wrong with those that are there, names what was
 * searched. */
static Err search(Arena *a, const Target *target, const char *const *extra, Toolchain *out, Buf *why,
                  Buf *names)
{
    const char *hint = NULL;
    for (size_t k = 0; toolchain_row_at(k); k++) {
        const ToolchainRow *row = toolchain_row_at(k);
        if (strcmp(row->name, target->toolchain)) continue;
        hint = row->install_hint;
        for (size_t i = 0; row->programs[i]; i++) {
            Str path = program_path(a, row->programs[i]);
            if (!strchr("%$/", row->programs[i][0]))
                buf_printf(names, "%s%s", names->n ? ", " : "", row->programs[i]);
            if (!path.s) continue;
            if (!candidate_take(a, row, target, path, extra, out)) {
                if (why->n) verbose("%s", buf_cstr(why));
                return err_clear(), ERR_OK;
            }
            if (interrupted()) FAIL(ERR_FAILED, "interrupted");
            buf_printf(why, "%s%s", why->n ? "; " : "", err_message());
        }
    }
    if (!hint) FAIL(ERR_INPUT, "no toolchain '%s' for %s in this version", target->toolchain, target->name);
    if (why->n) FAIL(ERR_FAILED, "%s", buf_cstr(why));
    FAIL(ERR_FAILED, "no compiler for %s: none of %s is in PATH (%s)", target->name, buf_cstr(names), hint);
}

Err toolchain_find(Arena *a, const Target *target, const char *forced, const char *const *extra,
                   Toolchain *out)
{
    if (forced) return forced_take(a, target, forced, extra, out);
    Buf why, names;
    buf_init(&why);
    buf_init(&names);
    Err e = search(a, target, extra, out, &why, &names);
    buf_fini(&why);
    buf_fini(&names);
    return e;
}
