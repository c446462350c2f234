/* File mappings. See filemap.h. */
#include "base/filemap.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static Err map(int fd, const char *path, size_t max_bytes, FileMap *out)
{
    struct stat st;
    if (fstat(fd, &st)) FAIL(ERR_FAILED, "cannot read '%s': %s", path, strerror(errno));
    if (!S_ISREG(st.st_mode)) FAIL(ERR_INPUT, "'%s' is not a regular file", path);
    if ((uint64_t)st.st_size > max_bytes)
        FAIL(ERR_INPUT, "'%s' has %lld bytes, more than the limit of %zu", path, (long long)st.st_size,
             max_bytes);
    *out = (FileMap){.path = path, .device = st.st_dev, .inode = st.st_ino, .changed = st.st_mtim};
    if (st.st_size == 0) return ERR_OK;
    void *p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
    if (p == MAP_FAILED) FAIL(ERR_FAILED, "cannot map '%s': %s", path, strerror(errno));
    out->data = (Str){p, (size_t)st.st_size};
    return ERR_OK;
}

Err filemap_open(const char *path, size_t max_bytes, FileMap *out)
{
    *out = (FileMap){.data = STR_NULL};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a FIFO must not block */
    if (fd < 0) FAIL(errno == ENOENT ? ERR_INPUT : ERR_FAILED, "cannot open '%s': %s", path, strerror(errno));
    Err e = map(fd, path, max_bytes, out);
    close(fd);
    return e;
}

void filemap_close(FileMap *m)
{
    union {
        const char *c;
        void *v;
    } p = {.c = m->data.s};
    if (p.v) munmap(p.v, m->data.n);
    *m = (FileMap){.data = STR_NULL};
}

void filemap_release(const FileMap *m)
{
    union {
        const char *c;
        void *v;
    } p = {.c = m->data.s};
    if (p.v) madvise(p.v, m->data.n, MADV_DONTNEED); /* a hint: failing costs memory alone */
}

Err filemap_check(const FileMap *m)
{
    struct stat st;
    if (!m->data.s || stat(m->path, &st) || st.st_dev != m->device || st.st_ino != m->inode) return ERR_OK;
    if ((uint64_t)st.st_size == m->data.n && st.st_mtim.tv_sec == m->changed.tv_sec &&
        st.st_mtim.tv_nsec == m->changed.tv_nsec)
        return ERR_OK;
    FAIL(ERR_FAILED, "'%s' has changed since it was opened (%zu bytes then, %lld now): open it again",
         m->path, m->data.n, (long long)st.st_size);
}
