/* The object cache. See cache.h. */
#include "build/cache.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/own.h"
#include "build/build.h"

enum { MAX_OBJECT = 256 << 20, STALE_SECONDS = 60 };
#define WORK_PREFIX ".tuner-work-"

/* True for a directory (not a link) with the reserved name of a build's work directory. */
static bool is_work(const char *name, const char *path)
{
    struct stat st;
    size_t n = sizeof WORK_PREFIX - 1;
    return !strncmp(name, WORK_PREFIX, n) && strlen(name) == n + 6 && lstat(path, &st) == 0 &&
           S_ISDIR(st.st_mode) && st.st_mtime <= time(NULL) - STALE_SECONDS;
}

/* Removes work directories of killed builds: those without a lock that are old enough that a living owner
 * would have taken it. */
static void stale_remove(const char *dir)
{
    Arena a;
    Str *names;
    size_t n = 0;
    arena_init(&a, 0);
    Err e = dir_list(&a, dir, "", false, &names, &n);
    for (size_t i = 0; !e && i < n; i++) {
        int fd;
        Str path = path_join(&a, dir, names[i].s), lock = path.s ? path_join(&a, path.s, "lock") : STR_NULL;
        if (!lock.s || !is_work(names[i].s, path.s) || lock_take(lock.s, &fd)) continue;
        dir_remove(path.s);
        lock_release(&fd);
    }
    arena_fini(&a);
    err_clear();
}

static bool is_hex(Str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!strchr("0123456789abcdef", s.s[i])) return false;
    return true;
}

/* True for the hexadecimal digits of a key and ".o" or ".obj". Keys of earlier versions had 64 digits. */
static bool is_entry(Str name)
{
    const size_t n = str_find(name, '.', 0);
    return (n == CONTENT_HEX || n == SHA256_HEX) && is_hex(str_sub(name, 0, n)) &&
           (str_eq_c(str_sub(name, n, name.n), ".o") || str_eq_c(str_sub(name, n, name.n), ".obj"));
}

Err build_cache_clear(const char *dir)
{
    Arena a;
    Str *shard, *name;
    size_t n = 0, n_names;
    if (!dir_exists(dir)) return 0;
    arena_init(&a, 0);
    Err e = dir_list(&a, dir, "", false, &shard, &n);
    for (size_t i = 0; !e && i < n; i++) {
        Str below = path_join(&a, dir, shard[i].s);
        if (!below.s || shard[i].n != 2 || !is_hex(shard[i]) || !path_is_below(dir, shard[i])) continue;
        e = dir_list(&a, below.s, "", false, &name, &n_names);
        for (size_t k = 0; !e && k < n_names; k++) {
            Str path = path_join(&a, below.s, name[k].s);
            if (!path.s || !is_entry(name[k])) continue;
            if (unlink(path.s) && errno != ENOENT)
                e = err_set(ERR_FAILED, "cannot remove '%s': %s", path.s, strerror(errno));
        }
    }
    arena_fini(&a);
    return e;
}

Err cache_init(Cache *c, const char *dir)
{
    *c = (Cache){.dir = dir, .lock_fd = -1};
    TRY(dir_make(dir));
    stale_remove(dir);
    char lock[sizeof c->work + 8];
    int n = snprintf(c->work, sizeof c->work, "%s/" WORK_PREFIX "XXXXXX", dir);
    if (n < 0 || (size_t)n >= sizeof c->work) FAIL(ERR_INPUT, "path is too long: '%.100s...'", dir);
    if (!mkdtemp(c->work)) FAIL(ERR_FAILED, "cannot make a directory in '%s': %s", dir, strerror(errno));
    snprintf(lock, sizeof lock, "%s/lock", c->work);
    arena_init(&c->scratch, 0);
    map_init(&c->checked);
    return lock_take(lock, &c->lock_fd);
}

void cache_fini(Cache *c)
{
    if (c->work[0] && c->lock_fd >= 0) dir_remove(c->work);
    lock_release(&c->lock_fd);
    map_fini(&c->checked);
    arena_fini(&c->scratch);
}

/* <dir>/<first two characters of name>/<name><suffix>; make: creates the directory. */
static Err entry_path(const Cache *c, Arena *a, const char *name, const char *suffix, bool make, Str *path)
{
    Str dir = arena_printf(a, "%s/%.2s", c->dir, name);
    TRY_ALLOC(dir.s);
    if (make) TRY(dir_make(dir.s));
    *path = arena_printf(a, "%s/%s%s", dir.s, name, suffix);
    TRY_ALLOC(path->s);
    return 0;
}

Err cache_put(const Cache *c, const char *path, Str content)
{
    char temporary[sizeof c->work + 16];
    snprintf(temporary, sizeof temporary, "%s/put", c->work);
    FILE *f = fopen(temporary, "we");
    if (!f) FAIL(ERR_FAILED, "cannot create '%s': %s", temporary, strerror(errno));
    bool ok = content.n == 0 || fwrite(content.s, 1, content.n, f) == content.n;
    int why = errno;
    if (fclose(f) && ok) ok = false, why = errno;
    if (!ok) FAIL(ERR_FAILED, "cannot write '%s': %s", path, strerror(why));
    if (rename(temporary, path)) FAIL(ERR_FAILED, "cannot rename to '%s': %s", path, strerror(errno));
    return 0;
}

typedef struct {
    char name[CONTENT_HEX + 1];
    uint64_t bytes;
    Hash128 hash;
} Entry;

static bool entry_parse(const char *text, Entry *e)
{
    int end = 0;
    return sscanf(text, "tuner-object 2 %32[0-9a-f] %" SCNu64 " %16" SCNx64 "%16" SCNx64 "%n", e->name,
                  &e->bytes, &e->hash.hi, &e->hash.lo, &end) == 4 &&
           text[end] == '\n' && strlen(e->name) == CONTENT_HEX;
}

/* Checks size and hash. Each object is read once per build. */
static bool object_whole(Cache *c, const Entry *e, Str path)
{
    const int64_t *known = map_get(&c->checked, path);
    if (known) return *known == 1;
    Str content;
    arena_reset(&c->scratch);
    bool whole = !file_read(&c->scratch, path.s, MAX_OBJECT, &content) && content.n == e->bytes;
    if (whole) {
        Hash128 hash = hash128(content);
        whole = hash.lo == e->hash.lo && hash.hi == e->hash.hi;
    }
    int64_t *slot = map_put(&c->checked, path, NULL);
    if (slot) *slot = whole ? 1 : 2;
    return whole;
}

Err cache_find(Cache *c, Arena *a, const char *key, Str *path)
{
    Str entry, text;
    Entry e;
    *path = STR_NULL;
    arena_reset(&c->scratch);
    TRY(entry_path(c, &c->scratch, key, ".obj", false, &entry));
    if (access(entry.s, R_OK) || file_read(&c->scratch, entry.s, 256, &text)) return 0;
    if (!entry_parse(text.s, &e)) return 0;
    Str object;
    TRY(entry_path(c, a, e.name, ".o", false, &object));
    if (object_whole(c, &e, object)) *path = object;
    return 0;
}

Err cache_add(Cache *c, Arena *a, const char *from, const char *name,
              const char (*const *keys)[CONTENT_HEX + 1], size_t n_keys, Str *path)
{
    Str content, entry;
    TRY(entry_path(c, a, name, ".o", true, path));
    arena_reset(&c->scratch);
    TRY(file_read(&c->scratch, from, MAX_OBJECT, &content));
    Hash128 hash = hash128(content);
    Str line = arena_printf(&c->scratch, "tuner-object 2 %s %zu %016" PRIx64 "%016" PRIx64 "\n", name,
                            content.n, hash.hi, hash.lo);
    TRY_ALLOC(line.s);
    if (rename(from, path->s)) FAIL(ERR_FAILED, "cannot rename to '%s': %s", path->s, strerror(errno));
    int64_t *slot = map_put(&c->checked, *path, NULL);
    TRY_ALLOC(slot);
    *slot = 1;
    for (size_t i = 0; i < n_keys; i++) {
        TRY(entry_path(c, &c->scratch, *keys[i], ".obj", true, &entry));
        TRY(cache_put(c, entry.s, line));
    }
    return 0;
}
