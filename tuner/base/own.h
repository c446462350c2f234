/* Files of our own in folders that others may also write to, or that came from elsewhere.
 *
 * Temporary files have a reserved name, TEMPORARY_PREFIX and six letters or digits, so that what a killed
 * process left behind can be told from a user's files. Nothing here goes through a symbolic link.
 */
#ifndef BASE_OWN_H
#define BASE_OWN_H

#include "base/arena.h"

#define TEMPORARY_PREFIX ".tuner-tmp-"

/* Is this the name of a temporary file? */
bool is_temporary(const char *name);
/* Removes the temporary files that killed processes left in directory root/below ("" for root itself), and,
 * when recursive is set, in the directories under it: regular files of this user that have the reserved
 * name and that no process holds locked. Links, also to directories, are left alone, and so is below when a
 * part of it is a link, or "..", or when it is absolute. A missing directory is fine. */
Err temporaries_remove(const char *root, Str below, bool recursive);

/* ERR_INPUT when the name itself is a symbolic link: what is written there would change another file. A
 * missing one is fine. */
Err path_no_link(const char *path);
/* path_no_link for every name in a directory that is a link to something other than a directory. A missing
 * directory is fine. */
Err dir_no_links(const char *path);

/* Is root/below, named by a setting, inside root without a link on the way? False when it is not there. */
bool path_is_below(const char *root, Str below);

/* Moves the file from/name to the directory to (made when missing) under its own name, or with ".1", ".2" ...
 * behind it when that is taken. Both must be on one file system. */
Err file_set_aside(const char *from, const char *name, const char *to);

#endif
