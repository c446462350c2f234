/* Files, directories, the clock and the processors over POSIX. See fs.h. */
#include "base/fs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/own.h"
#include "base/vec.h"

uint64_t clock_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

int cpu_count(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (int)n : 1;
}

static Err fd_read_all(int fd, char *to, size_t n, const char *path, size_t *got)
{
    *got = 0;
    while (*got < n) {
        ssize_t r = read(fd, to + *got, n - *got);
        if (r < 0 && errno == EINTR) continue;
        if (r < 0) FAIL(ERR_FAILED, "cannot read '%s': %s", path, strerror(errno));
        if (r == 0) break;
        *got += (size_t)r;
    }
    return 0;
}

Err fd_write(int fd, Str content, const char *path)
{
    while (content.n) {
        ssize_t w = write(fd, content.s, content.n);
        if (w < 0 && errno == EINTR) continue;
        if (w < 0) FAIL(ERR_FAILED, "cannot write '%s': %s", path, strerror(errno));
        content = str_sub(content, (size_t)w, content.n);
    }
    return 0;
}

static Err open_regular(const char *path, size_t max_bytes, int *fd, size_t *size)
{
    struct stat st;
    *fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK); /* a FIFO must not wait for a writer */
    if (*fd < 0)
        FAIL(errno == ENOENT ? ERR_INPUT : ERR_FAILED, "cannot open '%s': %s", path, strerror(errno));
    Err e = 0;
    if (fstat(*fd, &st))
        e = err_set(ERR_FAILED, "cannot stat '%s': %s", path, strerror(errno));
    else if (!S_ISREG(st.st_mode))
        e = err_set(ERR_INPUT, "'%s' is not a regular file", path);
    else if ((uint64_t)st.st_size > max_bytes)
        e = err_set(ERR_INPUT, "'%s' has %lld bytes, more than the limit of %zu", path, (long long)st.st_size,
                    max_bytes);
    *size = (size_t)st.st_size;
    if (e) close(*fd);
    return e;
}

Err file_read(Arena *a, const char *path, size_t max_bytes, Str *out)
{
    int fd;
    size_t size = 0, got = 0;
    TRY(open_regular(path, max_bytes, &fd, &size));
    char *text = arena_alloc(a, size + 1);
    Err e = text ? fd_read_all(fd, text, size, path, &got)
                 : err_set(ERR_FAILED, "out of memory for the %zu bytes of '%s'", size, path);
    close(fd);
    if (e) return e;
    text[got] = 0;
    *out = (Str){text, got};
    return 0;
}

/* Writes a temporary file beside path and renames it. The lock on the temporary file tells
 * temporaries_remove() that its writer is alive. */
static Err write_by_rename(const char *path, Str content, bool sync)
{
    char temporary[PATH_MAX];
    Str dir = path_dir(str_from(path));
    int n = snprintf(temporary, sizeof temporary, "%.*s/" TEMPORARY_PREFIX "XXXXXX", STR_ARG(dir));
    if (n < 0 || (size_t)n >= sizeof temporary) FAIL(ERR_INPUT, "path is too long: '%.100s...'", path);
    int fd = mkostemp(temporary, O_CLOEXEC);
    if (fd < 0) FAIL(ERR_FAILED, "cannot create '%s': %s", path, strerror(errno));
    flock(fd, LOCK_EX | LOCK_NB);
    Err e = fd_write(fd, content, path);
    mode_t mask = umask(0);
    umask(mask);
    if (!e && fchmod(fd, 0666 & ~mask))
        e = err_set(ERR_FAILED, "cannot chmod '%s': %s", path, strerror(errno));
    if (!e && sync && fsync(fd)) e = err_set(ERR_FAILED, "cannot write '%s': %s", path, strerror(errno));
    if (!e && rename(temporary, path))
        e = err_set(ERR_FAILED, "cannot rename to '%s': %s", path, strerror(errno));
    if (e) unlink(temporary);
    if (close(fd) && !e) e = err_set(ERR_FAILED, "cannot write '%s': %s", path, strerror(errno));
    return e;
}

/* For devices, FIFOs, socket names and links to missing files: the name is not replaced. */
static Err write_in_place(const char *path, Str content)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0666);
    if (fd < 0) FAIL(ERR_FAILED, "cannot write '%s': %s", path, strerror(errno));
    Err e = fd_write(fd, content, path);
    if (close(fd) && !e) e = err_set(ERR_FAILED, "cannot write '%s': %s", path, strerror(errno));
    return e;
}

bool file_is_special(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

Err file_write(const char *path, Str content)
{
    struct stat st;
    char target[PATH_MAX];
    if (lstat(path, &st)) return write_by_rename(path, content, true);
    if (S_ISREG(st.st_mode)) return write_by_rename(path, content, true);
    if (!S_ISLNK(st.st_mode)) return write_in_place(path, content);
    bool whole = stat(path, &st) == 0 && S_ISREG(st.st_mode) && realpath(path, target);
    return whole ? write_by_rename(target, content, true) : write_in_place(path, content);
}

Err file_write_unsynced(const char *path, Str content)
{
    struct stat st;
    if (lstat(path, &st) == 0 && !S_ISREG(st.st_mode)) return file_write(path, content);
    return write_by_rename(path, content, false);
}

Err file_copy(const char *from, const char *to, size_t max_bytes)
{
    Arena a;
    Str content;
    arena_init(&a, 0);
    Err e = file_read(&a, from, max_bytes, &content);
    if (!e) e = file_write(to, content);
    arena_fini(&a);
    return e;
}

bool file_exists(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

bool dir_exists(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

Err dir_make(const char *path)
{
    char part[4096];
    size_t n = strlen(path);
    if (n == 0 || n >= sizeof part) FAIL(ERR_INPUT, "bad directory name '%.100s'", path);
    for (size_t i = 1; i <= n; i++) {
        if (path[i] != '/' && path[i] != 0) continue;
        memcpy(part, path, i);
        part[i] = 0;
        if (mkdir(part, 0777) && errno != EEXIST)
            FAIL(ERR_FAILED, "cannot make directory '%s': %s", part, strerror(errno));
    }
    if (!dir_exists(path)) FAIL(ERR_INPUT, "'%s' is not a directory", path);
    return 0;
}

static Err remove_below(int parent, const char *name, int depth)
{
    if (unlinkat(parent, name, 0) == 0 || errno == ENOENT) return 0;
    if (errno != EISDIR && errno != EPERM) FAIL(ERR_FAILED, "cannot remove '%s': %s", name, strerror(errno));
    if (depth > 64) FAIL(ERR_FAILED, "cannot remove '%s': more than 64 levels deep", name);
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (!dir) {
        if (fd >= 0) close(fd);
        FAIL(ERR_FAILED, "cannot open directory '%s': %s", name, strerror(errno));
    }
    Err e = 0;
    for (struct dirent *d; !e && (d = readdir(dir));)
        if (strcmp(d->d_name, ".") && strcmp(d->d_name, ".."))
            e = remove_below(dirfd(dir), d->d_name, depth + 1);
    closedir(dir);
    if (!e && unlinkat(parent, name, AT_REMOVEDIR))
        e = err_set(ERR_FAILED, "cannot remove directory '%s': %s", name, strerror(errno));
    return e;
}

Err dir_remove(const char *path) { return remove_below(AT_FDCWD, path, 0); }
Err dir_remove_at(int dir, const char *name) { return remove_below(dir, name, 0); }

typedef VEC(Str) Names;

static int name_order(const void *a, const void *b) { return str_cmp(*(const Str *)a, *(const Str *)b); }

enum { MAX_NAMES = 1000000, MAX_DEPTH = 32 };

static Err names_add(Arena *a, Names *names, const char *root, Str below, const char *suffix, int levels)
{
    Str path = below.n ? path_join(a, root, below.s) : arena_dup(a, str_from(root));
    DIR *dir = path.s ? opendir(path.s) : NULL;
    if (!dir) FAIL(ERR_INPUT, "cannot open directory '%s': %s", path.s ? path.s : root, strerror(errno));
    Err e = 0;
    for (struct dirent *d; !e && (d = readdir(dir));) {
        if (d->d_name[0] == '.' && (!d->d_name[1] || !strcmp(d->d_name, ".."))) continue;
        Str name = below.n ? path_join(a, below.s, d->d_name) : arena_dup(a, str_from(d->d_name));
        Str full = name.s ? path_join(a, root, name.s) : STR_NULL;
        if (!full.s)
            e = err_set(ERR_FAILED, "out of memory listing '%s'", root);
        else if (levels > 0 && dir_exists(full.s))
            e = names_add(a, names, root, name, suffix, levels - 1);
        else if (str_ends(name, suffix) && (names->n >= MAX_NAMES || !VEC_PUSH(names, name)))
            e = err_set(ERR_FAILED, "more than %d files in '%s'", MAX_NAMES, root);
    }
    closedir(dir);
    return e;
}

Err dir_list(Arena *a, const char *path, const char *suffix, bool recursive, Str **names, size_t *n)
{
    Names list = {0};
    Err e = names_add(a, &list, path, STR_NULL, suffix, recursive ? MAX_DEPTH : 0);
    *n = 0;
    *names = e ? NULL : ARENA_ARRAY(a, list.n, Str);
    if (!e && !*names) e = err_set(ERR_FAILED, "out of memory listing '%s'", path);
    if (!e && list.n) {
        qsort(list.v, list.n, sizeof *list.v, name_order);
        memcpy(*names, list.v, list.n * sizeof *list.v);
        *n = list.n;
    }
    VEC_FINI(&list);
    return e;
}

Str path_join(Arena *a, const char *dir, const char *name)
{
    size_t n = strlen(dir);
    if (n == 0) return arena_dup(a, str_from(name));
    return arena_printf(a, "%s%s%s", dir, dir[n - 1] == '/' ? "" : "/", name);
}

Str path_base(Str path)
{
    size_t at = path.n;
    while (at && path.s[at - 1] != '/') at--;
    return str_sub(path, at, path.n);
}

Str path_dir(Str path)
{
    size_t at = path.n;
    while (at && path.s[at - 1] != '/') at--;
    if (at == 0) return STR(".");
    return str_sub(path, 0, at > 1 ? at - 1 : 1);
}

Str path_stem(Str path)
{
    Str base = path_base(path);
    for (size_t i = base.n; i > 1; i--)
        if (base.s[i - 1] == '.') return str_sub(base, 0, i - 1);
    return base;
}

Err path_program_dir(Arena *a, Str *out)
{
    char path[4096];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    if (n <= 0) FAIL(ERR_FAILED, "cannot read /proc/self/exe: %s", strerror(errno));
    *out = arena_dup(a, path_dir((Str){path, (size_t)n}));
    TRY_ALLOC(out->s);
    return 0;
}

Err lock_take(const char *path, int *fd)
{
    struct stat st;
    char owner[64] = "";
    TRY(path_no_link(path));
    *fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0666);
    if (*fd < 0) FAIL(ERR_FAILED, "cannot open lock '%s': %s", path, strerror(errno));
    if (fstat(*fd, &st) || !S_ISREG(st.st_mode)) {
        lock_release(fd);
        FAIL(ERR_INPUT, "lock '%s' is not a regular file", path);
    }
    if (flock(*fd, LOCK_EX | LOCK_NB)) {
        ssize_t n = read(*fd, owner, sizeof owner - 1);
        owner[n > 0 ? n : 0] = 0;
        close(*fd);
        *fd = -1;
        FAIL(ERR_FAILED, "'%s' is held by another process (pid %s)", path, owner[0] ? owner : "unknown");
    }
    int n = snprintf(owner, sizeof owner, "%ld", (long)getpid());
    if (ftruncate(*fd, 0) || pwrite(*fd, owner, (size_t)n, 0) != n) {
        lock_release(fd);
        FAIL(ERR_FAILED, "cannot write lock '%s': %s", path, strerror(errno));
    }
    return 0;
}

void lock_release(int *fd)
{
    if (*fd >= 0) close(*fd);
    *fd = -1;
}
