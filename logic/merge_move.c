/* From a finished staging directory to the output directory: all files or none. A directory that is not there
 * yet appears in one rename; into one that is, file after file is renamed, and what was there before is put
 * back when one fails. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "logic/merge.h"

typedef struct {
    Str staged, target, backup;
    bool had, moved;
} Move;

static Err move_prepare(Arena *a, const char *staging, const char *output, Str name, Move *m)
{
    m->staged = path_join(a, staging, name.s);
    m->target = path_join(a, output, name.s);
    m->backup = arena_printf(a, "%.*s.before", STR_ARG(m->staged));
    TRY_ALLOC(m->staged.s && m->target.s ? m->backup.s : NULL);
    if (dir_exists(m->target.s)) FAIL(ERR_INPUT, "'%s' is a directory, expected a file", m->target.s);
    TRY(dir_make(arena_dup(a, path_dir(m->target)).s));
    m->had = link(m->target.s, m->backup.s) == 0;
    if (!m->had && errno != ENOENT) { /* a file system without links */
        TRY(file_copy(m->target.s, m->backup.s, LOGIC_MAX_BYTES));
        m->had = true;
    }
    return ERR_OK;
}

static Err move_file(const Str from, const Str to)
{
    if (rename(from.s, to.s) == 0) return ERR_OK;
    if (errno != EXDEV) FAIL(ERR_FAILED, "cannot rename to '%s': %s", to.s, strerror(errno));
    return file_copy(from.s, to.s, LOGIC_MAX_BYTES);
}

/* Keeps the message of the error. */
static void move_back(const Move *m, size_t n)
{
    for (size_t i = n; i-- > 0;) {
        if (!m[i].moved) continue;
        if (!m[i].had)
            (void)unlink(m[i].target.s);
        else if (rename(m[i].backup.s, m[i].target.s))
            err_context(ERR_FAILED, "'%s' stays changed (%s): ", m[i].target.s, strerror(errno));
    }
}

static Err move_all(Arena *a, const char *staging, const char *output, const Str *name, size_t n)
{
    Err e = ERR_OK;
    Move *m = ARENA_ARRAY(a, n, Move);
    TRY_ALLOC(m);
    for (size_t i = 0; i < n; i++) TRY(move_prepare(a, staging, output, name[i], &m[i]));
    for (size_t i = 0; !e && i < n; i++) {
        e = move_file(m[i].staged, m[i].target);
        m[i].moved = !e;
    }
    if (e) move_back(m, n);
    return e;
}

static Err move_dir(const char *staging, const char *output)
{
    mode_t mask = umask(0);
    umask(mask);
    if (chmod(staging, 0777 & ~mask) || rename(staging, output))
        FAIL(ERR_FAILED, "cannot rename to '%s': %s", output, strerror(errno));
    return ERR_OK;
}

Err merge_move(const char *staging, const char *output_dir, const Str *name, size_t n)
{
    Arena a;
    if (access(output_dir, F_OK) != 0) return move_dir(staging, output_dir);
    arena_init(&a, 0);
    Err e = move_all(&a, staging, output_dir, name, n);
    arena_fini(&a);
    return e;
}
