/* Files, directories, the clock and the processors. Paths are NUL-terminated; messages name the path and the
 * reason. */
#ifndef BASE_FS_H
#define BASE_FS_H

#include "base/arena.h"

/* Monotonic clock in nanoseconds. */
uint64_t clock_ns(void);
/* Processors that this process may use. */
int cpu_count(void);

/* Reads a whole regular file; more than max_bytes is ERR_INPUT. The text is NUL-terminated (not counted). */
Err file_read(Arena *a, const char *path, size_t max_bytes, Str *out);
/* Writes to a temporary file in the same directory, syncs, renames over path: whole or not at all. A link
 * stays a link: its target is replaced. Anything but a regular file (a device, a FIFO) is written in
 * place. */
Err file_write(const char *path, Str content);
/* The same without waiting for the disk, for files that can be made again. */
Err file_write_unsynced(const char *path, Str content);
/* Whether path exists and is neither a regular file nor a directory (links are followed). */
bool file_is_special(const char *path);
Err file_copy(const char *from, const char *to, size_t max_bytes);
bool file_exists(const char *path);
bool dir_exists(const char *path);
/* Makes all missing parents too. */
Err dir_make(const char *path);
/* Removes path and everything below it; a missing path is no error. Does not follow links. */
Err dir_remove(const char *path);
/* The same for a name in the directory that is open as dir. */
Err dir_remove_at(int dir, const char *name);
/* Names in path that end with suffix ("" for all), sorted; recursive gives relative paths of files below. */
Err dir_list(Arena *a, const char *path, const char *suffix, bool recursive, Str **names, size_t *n);
/* Joins with one '/'. */
Str path_join(Arena *a, const char *dir, const char *name);
Str path_base(Str path); /* behind the last '/' */
Str path_dir(Str path);  /* before it, "." when there is none */
Str path_stem(Str path); /* base without its last extension */
/* Directory of the running program. */
Err path_program_dir(Arena *a, Str *out);

/* Exclusive lock on a file, kept until lock_release or the end of the process. ERR_FAILED when another
 * process has the lock (the message names it); ERR_INPUT when path is a symbolic link or no regular file. */
Err lock_take(const char *path, int *fd);
void lock_release(int *fd);

/* Writes all of it to a descriptor; path is for the message. */
Err fd_write(int fd, Str content, const char *path);

#endif
