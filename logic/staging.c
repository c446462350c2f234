/* Makes, locks and removes a staging directory, and recovers it after a kill. Its contents are removed before
 * its lock, so that a directory without a lock is empty or was not made by staging_open. */
#include "logic/staging.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/log.h"

static Err staging_paths(Arena *a, const char *output, Staging *s)
{
    char *real = realpath(output, NULL);
    size_t n = strlen(real ? real : output);
    while (n > 1 && (real ? real : output)[n - 1] == '/') n--;
    *s = (Staging){.a = a, .lock = -1};
    s->output = arena_dup(a, (Str){real ? real : output, n});
    free(real);
    TRY_ALLOC(s->output.s);
    s->path = arena_printf(a, "%s.merging", s->output.s);
    TRY_ALLOC(s->path.s);
    s->tree = path_join(a, s->path.s, "tree");
    s->old = path_join(a, s->path.s, "old");
    s->journal = path_join(a, s->path.s, "journal");
    TRY_ALLOC(s->tree.s && s->old.s ? s->journal.s : NULL);
    return ERR_OK;
}

static Err staging_lock(Staging *s)
{
    Str lock = path_join(s->a, s->path.s, "lock");
    TRY_ALLOC(lock.s);
    Err e = lock_take(lock.s, &s->lock);
    return e ? err_context(e, "another merge into '%s': ", s->output.s) : ERR_OK;
}

static Err staging_remove(Staging *s)
{
    Str lock = path_join(s->a, s->path.s, "lock");
    TRY_ALLOC(lock.s);
    TRY(dir_remove(s->tree.s));
    TRY(dir_remove(s->old.s));
    TRY(dir_remove(s->path.s)); /* the lock, and a temporary file of a killed write of the journal */
    lock_release(&s->lock);
    return ERR_OK;
}

/* *left: staging_open made the directory, and its process was killed. */
static Err is_left_over(const Staging *s, bool *left)
{
    Str *name;
    size_t n;
    TRY(dir_list(s->a, s->path.s, "", false, &name, &n));
    *left = n == 0;
    for (size_t i = 0; i < n; i++) *left |= str_eq_c(name[i], "lock");
    return ERR_OK;
}

Err staging_recover(Arena *a, const char *output)
{
    Staging s;
    bool left = false;
    TRY(staging_paths(a, output, &s));
    if (access(s.path.s, F_OK) != 0) return ERR_OK;
    if (dir_exists(s.path.s)) TRY(is_left_over(&s, &left));
    if (!left)
        FAIL(ERR_INPUT,
             "'%s' is in the way: a merge needs a directory of this name, and no merge made this one; move "
             "it away",
             s.path.s);
    TRY(staging_lock(&s));
    bool undo = file_exists(s.journal.s);
    Err e = undo ? staging_undo(&s) : ERR_OK;
    if (!e) e = staging_remove(&s);
    lock_release(&s.lock);
    if (e) return err_context(e, "'%s' was left by a merge that was killed: ", s.path.s);
    warning("'%s' was left by a merge that was killed: removed%s", s.path.s,
            undo ? ", and the files it had replaced are back" : "");
    return ERR_OK;
}

Err staging_open(Arena *a, const char *output, Staging *s)
{
    TRY(staging_paths(a, output, s));
    Str parent = arena_dup(a, path_dir(s->path));
    TRY_ALLOC(parent.s);
    TRY(dir_make(parent.s));
    if (mkdir(s->path.s, 0777))
        FAIL(ERR_FAILED, "cannot make directory '%s': %s", s->path.s, strerror(errno));
    Err e = staging_lock(s);
    if (!e) e = dir_make(s->tree.s);
    if (e) staging_close(s, e);
    return e;
}

void staging_close(Staging *s, Err e)
{
    Buf why; /* a second error would hide the first */
    if (s->must_stay) {
        lock_release(&s->lock);
        return;
    }
    buf_init(&why);
    buf_puts(&why, err_message());
    if (staging_remove(s)) warning("%s", err_message());
    if (e) err_set(e, "%s", buf_cstr(&why));
    buf_fini(&why);
}
