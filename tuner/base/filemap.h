/* FileMap: a regular file that is read through a private, read-only mapping.
 *
 * The mapping shows the file as it is in the page cache: processes share its memory, and nothing is copied.
 * A file that is replaced by rename stays as it was for those that have it open. A file that is written to or
 * cut in place is another matter: bytes may change under the reader, and reading behind the new end raises
 * SIGBUS. filemap_check finds both before they are read (a change during the reading itself it cannot find),
 * so whoever reads parts of a mapping later asks it first, and checks again what it reads.
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
/* Not open is fine. */
void filemap_close(FileMap *m);
/* Takes all pages out of this process's memory; what is touched again comes back from the page cache. */
void filemap_release(const FileMap *m);
/* ERR_FAILED when the file was written to or cut since it was opened. A path that is gone or names another
 * file by now is fine: the mapping keeps the old one. */
Err filemap_check(const FileMap *m);

#endif
