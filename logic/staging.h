/* A directory beside another one in which the other's next contents are made: OUTPUT.merging for OUTPUT.
 *
 * staging_commit brings them there all at once. A directory that is not there yet appears in one rename; one
 * that is gets a twin in which what stays is linked, and changes places with it in one system call. Where
 * that cannot be (a mount point, no hard links, links to directories, the working directory) files are
 * renamed one after the other, with a journal: what fails is undone, what is killed is undone by the next
 * call. So whenever a process dies, OUTPUT is as before or as it shall be, at once or with the next call.
 * That holds for kills, not for a loss of power. Processes that want the same directory refuse each other.
 * Used by merge_dirs.
 */
#ifndef LOGIC_STAGING_H
#define LOGIC_STAGING_H

#include "base/arena.h"

typedef struct {
    Arena *a;
    Str output;     /* resolved when it is there */
    Str path;       /* OUTPUT.merging */
    Str tree;       /* path/tree: what shall be in OUTPUT; its own parts have other names below path */
    Str journal;    /* path/journal: is there while files are being renamed */
    Str old;        /* path/old: what was before */
    int lock;       /* -1: not held */
    bool must_stay; /* could not be undone: the next call tries again */
} Staging;

/* Undoes and removes what a killed process left for output, with a warning; nothing to do is no error.
 * ERR_FAILED when another process is at work there, ERR_INPUT when something else has the name. */
Err staging_recover(Arena *a, const char *output);
/* Makes path and tree. */
Err staging_open(Arena *a, const char *output, Staging *s);
/* The n files of tree that are named, with '/', take their places in output. */
Err staging_commit(Staging *s, const Str *name, size_t n);
/* Removes path. Keeps the message of an error e. */
void staging_close(Staging *s, Err e);

/* For staging.c: takes back what the journal says was to be renamed. Any number of times. */
Err staging_undo(Staging *s);

#endif
