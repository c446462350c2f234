/* Files of our own among others' files. See own.h. */
#include "base/own.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"

enum { LEVELS_MAX = 32, ASIDE_MAX = 10000 };

bool is_temporary(const char *name)
{
    size_t n = sizeof TEMPORARY_PREFIX - 1;
    if (strncmp(name, TEMPORARY_PREFIX, n) || strlen(name) != n + 6) return false;
    for (size_t i = n; name[i]; i++)
        if (!isalnum((unsigned char)name[i])) return false;
    return true;
}

Err temporary_dir(const char *beside, char *path, size_t path_bytes, int *lock)
{
    Str dir = path_dir(str_from(beside));
    int n = snprintf(path, path_bytes, "%.*s/" TEMPORARY_PREFIX "XXXXXX", STR_ARG(dir));
    if (n < 0 || (size_t)n >= path_bytes) FAIL(ERR_INPUT, "path is too long: '%.100s...'", beside);
    if (!mkdtemp(path)) FAIL(ERR_FAILED, "cannot make a directory beside '%s': %s", beside, strerror(errno));
    *lock = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (*lock >= 0 && flock(*lock, LOCK_EX | LOCK_NB) == 0) return 0;
    int why = errno;
    if (*lock >= 0) close(*lock);
    *lock = -1;
    rmdir(path);
    FAIL(ERR_FAILED, "cannot lock '%s': %s", path, strerror(why));
}

/* What can be locked has no writer any more: see temporary_dir(), and write_by_rename() in fs.c. */
static Err temporary_remove(int dir, const char *name)
{
    struct stat st;
    int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0) return 0;
    bool ours = fstat(fd, &st) == 0 && st.st_uid == geteuid() &&
                ((S_ISREG(st.st_mode) && st.st_nlink == 1) || S_ISDIR(st.st_mode));
    Err e = ours && flock(fd, LOCK_EX | LOCK_NB) == 0 ? dir_remove_at(dir, name) : 0;
    close(fd);
    return e;
}

static bool is_dir(int dir, const struct dirent *d)
{
    struct stat st;
    if (d->d_type != DT_UNKNOWN) return d->d_type == DT_DIR;
    return fstatat(dir, d->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);
}

static int dir_open(int parent, const char *name)
{
    return openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Closes fd. */
static Err sweep(int fd, int levels)
{
    DIR *dir = fdopendir(fd);
    if (!dir) {
        close(fd);
        return 0;
    }
    Err e = 0;
    for (struct dirent *d; !e && (d = readdir(dir));) {
        if (!strcmp(d->d_name, ".") || !strcmp(d->d_name, "..")) continue;
        if (is_temporary(d->d_name)) {
            e = temporary_remove(dirfd(dir), d->d_name);
        } else if (levels > 0 && is_dir(dirfd(dir), d)) {
            int below = dir_open(dirfd(dir), d->d_name);
            if (below >= 0) e = sweep(below, levels - 1);
        }
    }
    closedir(dir);
    return e;
}

/* Opens root/below part by part; -1 when it is not there, or not inside root. */
static int open_below(const char *root, Str below)
{
    Str part;
    if (below.n && below.s[0] == '/') return -1;
    int fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    while (fd >= 0 && str_split(&below, '/', &part)) {
        char name[NAME_MAX + 1];
        if (part.n == 0 || str_eq_c(part, ".")) continue;
        bool good = part.n <= NAME_MAX && !str_eq_c(part, "..");
        snprintf(name, sizeof name, "%.*s", (int)(good ? part.n : 0), part.s);
        int next = good ? dir_open(fd, name) : -1;
        close(fd);
        fd = next;
    }
    return fd;
}

Err temporaries_remove(const char *root, Str below, bool recursive)
{
    int fd = open_below(root, below);
    return fd < 0 ? 0 : sweep(fd, recursive ? LEVELS_MAX : 0);
}

bool path_is_below(const char *root, Str below)
{
    int fd = open_below(root, below);
    if (fd >= 0) close(fd);
    return fd >= 0;
}

Err path_no_link(const char *path)
{
    struct stat st;
    if (lstat(path, &st) || !S_ISLNK(st.st_mode)) return 0;
    FAIL(ERR_INPUT, "'%s' is a symbolic link, expected a file of this run: it is not written through links",
         path);
}

Err dir_no_links(const char *path)
{
    DIR *dir = opendir(path);
    if (!dir) return 0;
    Err e = 0;
    for (struct dirent *d; !e && (d = readdir(dir));) {
        struct stat st, to;
        if (fstatat(dirfd(dir), d->d_name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISLNK(st.st_mode)) continue;
        if (fstatat(dirfd(dir), d->d_name, &to, 0) == 0 && S_ISDIR(to.st_mode)) continue;
        e = err_set(
            ERR_INPUT,
            "'%s/%s' is a symbolic link, expected a file of this run: it is not written through links", path,
            d->d_name);
    }
    closedir(dir);
    return e;
}

Err file_set_aside(const char *from, const char *name, const char *to)
{
    char old[PATH_MAX], new[PATH_MAX];
    struct stat st;
    TRY(dir_make(to));
    int n = snprintf(old, sizeof old, "%s/%s", from, name);
    for (int i = 0; i < ASIDE_MAX; i++) {
        int m = i ? snprintf(new, sizeof new, "%s/%s.%d", to, name, i)
                  : snprintf(new, sizeof new, "%s/%s", to, name);
        if (n < 0 || m < 0 || (size_t)n >= sizeof old || (size_t)m >= sizeof new)
            FAIL(ERR_INPUT, "path is too long: '%.100s...'", name);
        if (lstat(new, &st) == 0) continue;
        if (rename(old, new) == 0) return 0;
        FAIL(ERR_FAILED, "cannot move '%s' to '%s': %s", old, new, strerror(errno));
    }
    FAIL(ERR_FAILED, "cannot move '%s' to '%s': there are %d of that name already", old, to, ASIDE_MAX);
}
