/* FileMap: a regular file that is read through a private, read-only mapping.
 *
 * The mapping shows the file as it is in the page cache: processes share its memory, and nothing is copied.
 * A file that is replaced by rename stays as it was for those that have it open. A file that is written to or
 * truncated in place is unsafe: bytes may change under the reader, and reading beyond the new end raises
 * SIGBUS. filemap_check detects both, except for a change during the reading itself. Code that reads parts of
 * a mapping later must call it first and must validate what it reads again.
 */
#ifndef BASE_FILEMAP_H
#define BASE_FILEMAP_H

#include <sys/types.h>
#include <time.h>

#include "base/str.h"

typedef struct {
    Str data; /* the bytes; s NULL: not open, or an empty file */
    const char *path;
    dev_t device;
    ino_t inode;
    struct timespec changed;
} FileMap;

/* More than max_bytes, and anything but a regular file, is ERR_INPUT. path is kept, not copied. */
Err filemap_open(const char *path, size_t max_bytes, FileMap *out);
/* Does nothing when the file is not open. */
void filemap_close(FileMap *m);
/* Drops all pages from this process's memory; a page that is read again comes from the page cache. */
void filemap_release(const FileMap *m);
/* ERR_FAILED when the file was written to or truncated since it was opened. It is no error when the path is
 * gone or names another file by now: the mapping keeps the old one. */
Err filemap_check(const FileMap *m);

#endif
