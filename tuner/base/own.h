/* The project's own files in folders that others may also write to, or that were copied from elsewhere.
 *
 * Temporary files and directories have a reserved name, TEMPORARY_PREFIX and six letters or digits, so that
 * the leftovers of a killed process can be distinguished from a user's files. No function here follows a
 * symbolic link.
 */
#ifndef BASE_OWN_H
#define BASE_OWN_H

#include "base/arena.h"

#define TEMPORARY_PREFIX ".tuner-tmp-"

/* Whether this is the name of a temporary file. */
bool is_temporary(const char *name);
/* Makes a temporary directory in the directory of the file `beside`, for programs that write there what is to
 * be renamed to that file. It is locked until *lock is closed; the caller removes it with dir_remove. */
Err temporary_dir(const char *beside, char *path, size_t path_bytes, int *lock);
/* Removes what killed processes left in directory root/below ("" for root itself), and, when recursive is
 * set, in the directories under it: regular files and directories of this user that have the reserved name
 * and that no process has locked. Symbolic links are not followed. Nothing is removed when `below` is
 * absolute, or when a part of it is a link or "..". A missing directory is no error. */
Err temporaries_remove(const char *root, Str below, bool recursive);

/* ERR_INPUT when path is a symbolic link: writing to it would change another file. A missing path is no
 * error. */
Err path_no_link(const char *path);
/* path_no_link for every name in a directory that is a link to something other than a directory. A missing
 * directory is no error. */
Err dir_no_links(const char *path);

/* Whether root/below exists and is inside root, without a symbolic link among its parts. */
bool path_is_below(const char *root, Str below);

/* Moves the file from/name to the directory to (made when missing) under its own name, with ".1", ".2" ...
 * appended when that name exists. Both must be on one file system. */
Err file_set_aside(const char *from, const char *name, const char *to);

#endif
