/* Links objects into one code object. See build.h. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/map.h"
#include "base/own.h"
#include "base/proc.h"
#include "base/seal.h"
#include "build/build.h"

enum { OUTPUT_BYTES = 1024 };
static const size_t OBJECT_BYTES_MAX = (size_t)1 << 32;
static const uint64_t LINK_TIMEOUT_NS = 600000000000u;

/* Appends one argument in the syntax of response files. */
static void argument_add(Buf *b, Str arg)
{
    buf_putc(b, '"');
    for (size_t i = 0; i < arg.n; i++) {
        if (arg.s[i] == '"' || arg.s[i] == '\\') buf_putc(b, '\\');
        buf_putc(b, arg.s[i]);
    }
    buf_puts(b, "\"\n");
}

static Err response_make(const Toolchain *t, const Str *objects, size_t n, const char *out, Buf *b)
{
    Map seen;
    Err e = 0;
    map_init(&seen);
    buf_puts(b, "-o\n");
    argument_add(b, str_from(out));
    for (size_t i = 0; !e && i < n; i++) {
        bool added;
        if (!map_put(&seen, objects[i], &added)) e = err_set(ERR_FAILED, "out of memory for %zu objects", n);
        if (!e && added) argument_add(b, objects[i]);
    }
    for (size_t i = 0; t->link_args[i]; i++) argument_add(b, str_from(t->link_args[i]));
    map_fini(&seen);
    return e ? e : buf_check(b);
}

static bool is_symbol(Str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!isalnum((unsigned char)s.s[i]) && s.s[i] != '_') return false;
    return s.n > 0;
}

static Err name_add(Buf *b, const LinkName *n)
{
    if (str_eq(n->name, n->symbol)) return 0;
    if (!is_symbol(n->name) || !is_symbol(n->symbol))
        FAIL(ERR_INPUT, "'%.*s' cannot be the name of a kernel in a shared object", STR_ARG(n->name));
    buf_printf(b, "-Wl,--defsym=%.*s=%.*s\n", STR_ARG(n->name), STR_ARG(n->symbol));
    buf_printf(b, "-Wl,--defsym=%.*s_local_bytes=%.*s_local_bytes\n", STR_ARG(n->name), STR_ARG(n->symbol));
    return 0;
}

/* Error with the first line of the output that contains 'error', or else the first line. */
static Err link_failed(const char *out_path, int fd, const ProcResult *r)
{
    char text[OUTPUT_BYTES + 1];
    ssize_t got = pread(fd, text, OUTPUT_BYTES, 0);
    Str output = {text, got > 0 ? (size_t)got : 0}, line;
    str_split(&output, '\n', &line);
    Buf how;
    buf_init(&how);
    proc_describe(r, &how);
    Err e = err_set(ERR_FAILED, "cannot link '%s': %s: %.*s", out_path, buf_cstr(&how),
                    (int)(line.n < 400 ? line.n : 400), line.s ? line.s : "");
    buf_fini(&how);
    return e;
}

static Err linker_run(const Toolchain *t, const char *response, const char *out_path)
{
    Arena a;
    arena_init(&a, 0);
    Str at = arena_printf(&a, "@%s", response);
    const char *const argv[] = {t->linker, at.s, NULL};
    static const char *const env[] = {"LC_ALL=C", NULL};
    ProcResult r = {0};
    int fd = memfd_create("link", MFD_CLOEXEC);
    Err e = at.s && fd >= 0 ? 0 : err_set(ERR_FAILED, "cannot start the linker for '%s'", out_path);
    if (!e) e = proc_run(&(ProcSpec){.argv = argv, .stdout_fd = fd, .setenv = env}, LINK_TIMEOUT_NS, &r);
    if (!e && (r.end != PROC_EXITED || r.code)) e = link_failed(out_path, fd, &r);
    if (fd >= 0) close(fd);
    arena_fini(&a);
    return e;
}

static Err seal_add(const char *path)
{
    Arena a;
    Str data;
    char seal[SEAL_BYTES];
    arena_init(&a, 0);
    Err e = file_read(&a, path, OBJECT_BYTES_MAX, &data);
    if (!e) seal_make(data, seal);
    arena_fini(&a);
    TRY(e);
    int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : write(fd, seal, SEAL_BYTES);
    int why = n < 0 ? errno : ENOSPC;
    if (fd >= 0 && close(fd) && n == SEAL_BYTES) n = -1, why = errno;
    if (n != SEAL_BYTES) FAIL(ERR_FAILED, "cannot write '%s': %s", path, strerror(why));
    return 0;
}

/* The file is synced to disk before it gets its name. */
static Err sync_rename(const char *from, const char *to)
{
    int fd = open(from, O_RDONLY | O_CLOEXEC);
    bool ok = fd >= 0 && fsync(fd) == 0;
    int why = errno;
    if (fd >= 0) close(fd);
    if (!ok) FAIL(ERR_FAILED, "cannot write '%s': %s", to, strerror(why));
    if (rename(from, to)) FAIL(ERR_FAILED, "cannot rename to '%s': %s", to, strerror(errno));
    return 0;
}

/* Removes the directory of a link that ended with e; returns e, with its message. */
static Err work_remove(const char *work, int lock, Err e)
{
    char why[2048];
    snprintf(why, sizeof why, "%s", err_message());
    Err removed = dir_remove(work);
    close(lock);
    return e ? err_set(e, "%s", why) : removed;
}

Err build_link(const Toolchain *t, const Str *objects, size_t n, const LinkName *names, size_t n_names,
               const char *out_path)
{
    char work[PATH_MAX], linked[PATH_MAX + 8], response[PATH_MAX + 8];
    int lock;
    if (n == 0) FAIL(ERR_INPUT, "no objects to link into '%s'", out_path);
    if (!t->linker) FAIL(ERR_INPUT, "objects of %s are not linked", t->target->name);
    if (n_names && target_family(t->target)->is_gpu)
        FAIL(ERR_INPUT, "kernels cannot be renamed in code objects of %s", t->target->name);
    TRY(temporary_dir(out_path, work, sizeof work, &lock));
    snprintf(linked, sizeof linked, "%s/linked", work);
    snprintf(response, sizeof response, "%s/args", work);
    Buf b;
    buf_init(&b);
    Err e = response_make(t, objects, n, linked, &b);
    for (size_t i = 0; !e && i < n_names; i++) e = name_add(&b, &names[i]);
    if (!e) e = buf_check(&b);
    if (!e) e = file_write_unsynced(response, buf_view(&b));
    if (!e) e = linker_run(t, response, out_path);
    if (!e && !target_family(t->target)->is_gpu) e = seal_add(linked);
    if (!e) e = sync_rename(linked, out_path);
    buf_fini(&b);
    return work_remove(work, lock, e);
}
