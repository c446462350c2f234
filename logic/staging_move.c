/* From a finished staging tree to the output directory: in one exchange, or file after file with a journal.
 * The journal is a line with name and version, then the names of the files, each after '=' (a file was
 * replaced and is in old) or '+' (the file is new) and followed by a NUL. Removing the journal makes the
 * renames final. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "logic/logic.h"
#include "logic/staging.h"

#define JOURNAL_HEAD "tuner-logic merge journal 1\n"

/* ---- file after file ---- */

/* Renames, replacing an existing file; across file systems it copies and removes. */
static Err move_file(const char *from, const char *to)
{
    if (rename(from, to) == 0) return ERR_OK;
    if (errno != EXDEV) FAIL(ERR_FAILED, "cannot rename to '%s': %s", to, strerror(errno));
    TRY(file_copy(from, to, LOGIC_MAX_BYTES));
    if (unlink(from)) FAIL(ERR_FAILED, "cannot remove '%s': %s", from, strerror(errno));
    return ERR_OK;
}

/* Keeps the current file in old. */
static Err keep_old(Staging *s, Str name, Buf *journal)
{
    Str target = path_join(s->a, s->output.s, name.s), old = path_join(s->a, s->old.s, name.s);
    TRY_ALLOC(target.s ? old.s : NULL);
    if (dir_exists(target.s)) FAIL(ERR_INPUT, "'%s' is a directory, expected a file", target.s);
    TRY(dir_make(arena_dup(s->a, path_dir(target)).s));
    TRY(dir_make(arena_dup(s->a, path_dir(old)).s));
    bool had = link(target.s, old.s) == 0;
    if (!had && errno != ENOENT) { /* a file system without links, or another one */
        TRY(file_copy(target.s, old.s, LOGIC_MAX_BYTES));
        had = true;
    }
    buf_puts(journal, had ? "=" : "+");
    buf_str(journal, (Str){name.s, name.n + 1});
    return ERR_OK;
}

static Err undo_file(Staging *s, bool had, Str name)
{
    Str target = path_join(s->a, s->output.s, name.s), old = path_join(s->a, s->old.s, name.s);
    TRY_ALLOC(target.s ? old.s : NULL);
    if (!had) {
        if (unlink(target.s) && errno != ENOENT)
            FAIL(ERR_FAILED, "cannot remove '%s': %s", target.s, strerror(errno));
        return ERR_OK;
    }
    return access(old.s, F_OK) == 0 ? move_file(old.s, target.s) : ERR_OK; /* undone before */
}

Err staging_undo(Staging *s)
{
    Str text, head = STR(JOURNAL_HEAD);
    TRY(file_read(s->a, s->journal.s, LOGIC_MAX_BYTES, &text));
    if (!str_starts(text, JOURNAL_HEAD)) FAIL(ERR_INPUT, "%s: no journal of version 1", s->journal.s);
    for (size_t at = head.n; at < text.n;) {
        Str name = str_from(text.s + at + 1); /* file_read puts a NUL after the text */
        TRY(undo_file(s, text.s[at] == '=', name));
        at += name.n + 2;
    }
    if (unlink(s->journal.s)) FAIL(ERR_FAILED, "cannot remove '%s': %s", s->journal.s, strerror(errno));
    return ERR_OK;
}

static Err write_journal(Staging *s, const Str *name, size_t n)
{
    Buf journal;
    buf_init(&journal);
    buf_puts(&journal, JOURNAL_HEAD);
    Err e = ERR_OK;
    for (size_t i = 0; !e && i < n; i++) e = keep_old(s, name[i], &journal);
    if (!e) e = buf_check(&journal);
    if (!e) e = file_write(s->journal.s, buf_view(&journal));
    buf_fini(&journal);
    return e;
}

static Err take_place(Staging *s, Str name)
{
    Str from = path_join(s->a, s->tree.s, name.s), to = path_join(s->a, s->output.s, name.s);
    TRY_ALLOC(from.s ? to.s : NULL);
    return move_file(from.s, to.s);
}

static Err move_files(Staging *s, const Str *name, size_t n)
{
    TRY(write_journal(s, name, n));
    Err e = ERR_OK;
    for (size_t i = 0; !e && i < n; i++) e = take_place(s, name[i]);
    if (!e) {
        if (unlink(s->journal.s) == 0) return ERR_OK;
        e = err_set(ERR_FAILED, "cannot remove '%s': %s", s->journal.s, strerror(errno));
    }
    Buf why; /* undoing may fail too */
    buf_init(&why);
    buf_puts(&why, err_message());
    s->must_stay = staging_undo(s) != ERR_OK;
    if (s->must_stay)
        err_context(e, "%s; '%s' stays changed until the next merge: ", buf_cstr(&why), s->output.s);
    else
        err_set(e, "%s", buf_cstr(&why));
    buf_fini(&why);
    return e;
}

/* ---- all at once ---- */

static bool same_place(Arena *a, const char *from, const char *to, dev_t device, int levels);

static bool same_mode(const struct stat *want, const char *path)
{
    struct stat st;
    if (lstat(path, &st) || !S_ISDIR(st.st_mode)) return false;
    bool owner = st.st_uid == want->st_uid && st.st_gid == want->st_gid;
    if (!owner && chown(path, want->st_uid, want->st_gid)) return false;
    return st.st_mode == want->st_mode || chmod(path, want->st_mode & 07777) == 0;
}

static bool same_entry(Arena *a, const char *from, const char *to, dev_t device, int levels)
{
    struct stat st, there;
    if (lstat(from, &st)) return errno == ENOENT;
    if (!S_ISDIR(st.st_mode))
        return link(from, to) == 0 || (errno == EEXIST && lstat(to, &there) == 0 && !S_ISDIR(there.st_mode));
    if (st.st_dev != device || levels == 0) return false;
    if (mkdir(to, 0777) && errno != EEXIST) return false;
    return same_mode(&st, to) && same_place(a, from, to, device, levels - 1);
}

/* Links the files of `from` that `to` lacks into `to`. False: `to` cannot replace `from`. */
static bool same_place(Arena *a, const char *from, const char *to, dev_t device, int levels)
{
    DIR *dir = opendir(from);
    bool ok = dir != NULL;
    for (struct dirent *d; ok && (d = readdir(dir));) {
        if (!strcmp(d->d_name, ".") || !strcmp(d->d_name, "..")) continue;
        Str x = path_join(a, from, d->d_name), y = path_join(a, to, d->d_name);
        ok = x.s && y.s && same_entry(a, x.s, y.s, device, levels);
    }
    if (dir) closedir(dir);
    return ok;
}

/* Whether path is the working directory: a shell there would stay in the old directory after an exchange. */
static bool is_working_directory(const char *path)
{
    char *here = realpath(".", NULL);
    size_t n = strlen(path);
    bool is = !here || (strncmp(here, path, n) == 0 && (here[n] == 0 || here[n] == '/' || n == 1));
    free(here);
    return is;
}

static bool exchange(Staging *s)
{
    enum { LEVELS = 64 };
    struct stat st;
    if (is_working_directory(s->output.s) || stat(s->output.s, &st)) return false;
    if (!same_mode(&st, s->tree.s) || !same_place(s->a, s->output.s, s->tree.s, st.st_dev, LEVELS))
        return false;
    if (renameat2(AT_FDCWD, s->tree.s, AT_FDCWD, s->output.s, RENAME_EXCHANGE)) return false;
    /* keeps files that another process has made meanwhile, if possible */
    (void)same_place(s->a, s->tree.s, s->output.s, st.st_dev, LEVELS);
    return true;
}

Err staging_commit(Staging *s, const Str *name, size_t n)
{
    if (access(s->output.s, F_OK) != 0) {
        if (rename(s->tree.s, s->output.s) == 0) return ERR_OK;
        FAIL(ERR_FAILED, "cannot rename to '%s': %s", s->output.s, strerror(errno));
    }
    return exchange(s) ? ERR_OK : move_files(s, name, n);
}
