/* The object cache: files below one directory, found by the key of a kernel. Private to tuner/build.
 *
 * <dir>/ab/<key>.obj           one line: name, size and hash of the object that contains the kernel
 * <dir>/cd/<name>.o            an object; it may contain several kernels <dir>/.tuner-work-XXXXXX/    work
 * directory of a running build, which holds a lock in it; the build removes it
 *                              at its end, or else a later build does
 */
#ifndef BUILD_CACHE_H
#define BUILD_CACHE_H

#include "base/hash.h"
#include "base/map.h"

typedef struct {
    const char *dir;
    char work[4096]; /* directory of this build */
    int lock_fd;
    Arena scratch; /* objects while they are checked */
    Map checked;   /* object path: 1 whole, 2 damaged */
} Cache;

Err cache_init(Cache *c, const char *dir);
void cache_fini(Cache *c);
/* Path of an undamaged object that contains the kernel; s == NULL when there is none. */
Err cache_find(Cache *c, Arena *a, const char *key, Str *path);
/* Moves the object from `from` into the cache under a name, for the kernels with these keys. */
Err cache_add(Cache *c, Arena *a, const char *from, const char *name,
              const char (*const *keys)[CONTENT_HEX + 1], size_t n_keys, Str *path);
/* Writes by rename, without the fsync of file_write: damage by a crash of the machine is found by the hash.
 */
Err cache_put(const Cache *c, const char *path, Str content);

#endif
