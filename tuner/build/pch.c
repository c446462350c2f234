/* Precompiled headers. See pch.h. */
#include "build/pch.h"

#include <stdio.h>
#include <unistd.h>

#include "base/fs.h"

static const char HEADER[] = "headers.h", MADE[] = "headers.h.gch";

typedef char FilePath[4096 + 32];

static void path_of(FilePath path, const char *dir, const char *name)
{
    snprintf(path, sizeof(FilePath), "%s/%s", dir, name);
}

static Err begin(Pch *p, const Toolchain *t, const char *cache_dir)
{
    static const char *const env[] = {"LC_ALL=C", NULL};
    const uint64_t timeout_ns = 60000000000u;
    const char *argv[TOOLCHAIN_MAX_ARGS + 8] = {t->program};
    size_t n = 1;
    for (size_t i = 0; i < t->n_args; i++) argv[n++] = t->args[i];
    argv[n++] = "-x";
    argv[n++] = "c-header";
    argv[n++] = HEADER;
    argv[n++] = "-o";
    argv[n++] = MADE;
    FilePath path;
    TRY(cache_init(&p->cache, cache_dir));
    path_of(path, p->cache.work, HEADER);
    TRY(file_write(path, str_from(t->headers)));
    const ProcSpec spec = {.argv = argv, .setenv = env, .chdir_path = p->cache.work};
    return proc_start(&p->proc, &spec, timeout_ns);
}

void pch_begin(Pch *p, const Toolchain *t, const char *cache_dir)
{
    if (p->state != PCH_NONE || !t->headers) return;
    const Err e = begin(p, t, cache_dir);
    p->state = e ? PCH_FAILED : PCH_RUNS;
    if (e) err_clear();
}

/* Ctrl-C ends the compiler at once. */
static bool wait_for(Pch *p)
{
    ProcResult r;
    do {
        if (interrupted()) proc_kill(&p->proc);
        if (interrupted() || proc_wait(&p->proc, 2000000, &r)) return false;
    } while (r.end == PROC_RUNNING);
    return r.end == PROC_EXITED && r.code == 0;
}

static bool link_to(const Pch *p, const char *dir, const char *name)
{
    FilePath from, to;
    path_of(from, p->cache.work, name);
    path_of(to, dir, name);
    return link(from, to) == 0;
}

const char *pch_use(Pch *p, const char *dir)
{
    if (p->state == PCH_RUNS) p->state = wait_for(p) ? PCH_READY : PCH_FAILED;
    err_clear();
    return p->state == PCH_READY && link_to(p, dir, HEADER) && link_to(p, dir, MADE) ? HEADER : NULL;
}

void pch_fini(Pch *p)
{
    if (p->state == PCH_RUNS) proc_kill(&p->proc);
    if (p->state != PCH_NONE) cache_fini(&p->cache);
    *p = (Pch){0};
}
