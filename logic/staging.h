/* A staging directory, OUTPUT.merging, in which the new contents of OUTPUT are made.
 *
 * staging_commit moves them to OUTPUT together. A new OUTPUT appears by one rename. For an existing one a
 * copy is made in which unchanged files are hard links, and the two directories are exchanged by one system
 * call. Where that is impossible (a mount point, no hard links, links to directories, the working directory),
 * files are renamed one after another with a journal: after an error the renames are undone, after a kill the
 * next call undoes them. So OUTPUT has either the old or the new contents, at once or after the next call.
 * This holds for kills, not for a loss of power. A second process that uses the same directory gets an error.
 */
#ifndef LOGIC_STAGING_H
#define LOGIC_STAGING_H

#include "base/arena.h"

typedef struct {
    Arena *a;
    Str output;     /* resolved if it exists */
    Str path;       /* OUTPUT.merging */
    Str tree;       /* path/tree: the new contents of OUTPUT */
    Str journal;    /* path/journal: exists while files are renamed */
    Str old;        /* path/old: the replaced files */
    int lock;       /* descriptor of the lock; -1: not locked */
    bool must_stay; /* undoing failed: path is kept, and the next call tries again */
} Staging;

/* Undoes and removes the staging directory of a killed process, with a warning; it is no error if there is
 * none. ERR_FAILED: another process uses it; ERR_INPUT: something else has its name. */
Err staging_recover(Arena *a, const char *output);
/* Makes path and tree. */
Err staging_open(Arena *a, const char *output, Staging *s);
/* Moves the n named files of tree to output; names are relative paths. */
Err staging_commit(Staging *s, const Str *name, size_t n);
/* Removes path. Keeps the message of an error e. */
void staging_close(Staging *s, Err e);

/* For staging.c: undoes the renames of the journal. It may be called repeatedly. */
Err staging_undo(Staging *s);

#endif
