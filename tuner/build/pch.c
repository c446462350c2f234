/* Precompiled headers. See pch.h. */
#include "build/pch.h"

#include "base/fs.h"
#include "base/proc.h"

/* Like proc_run, but Ctrl-C ends the compiler at once. */
static Err run(const ProcSpec *spec, ProcResult *r)
{
    Proc p;
    TRY(proc_start(&p, spec, UINT64_C(60000000000)));
    do {
        TRY(proc_wait(&p, 2000000, r));
        if (r->end == PROC_RUNNING && interrupted()) {
            proc_kill(&p);
            FAIL(ERR_FAILED, "interrupted");
        }
    } while (r->end == PROC_RUNNING);
    return ERR_OK;
}

const char *pch_make(Arena *a, const Toolchain *t, const char *dir)
{
    static const char header[] = "headers.h";
    static const char *const env[] = {"LC_ALL=C", NULL};
    if (!t->headers) return NULL;
    const char *argv[TOOLCHAIN_MAX_ARGS + 8] = {t->program};
    size_t n = 1;
    for (size_t i = 0; i < t->n_args; i++) argv[n++] = t->args[i];
    argv[n++] = "-x";
    argv[n++] = "c-header";
    argv[n++] = header;
    argv[n++] = "-o";
    argv[n++] = "headers.h.gch";
    Str path = path_join(a, dir, header);
    ProcResult r;
    ProcSpec spec = {.argv = argv, .setenv = env, .chdir_path = dir};
    bool made = path.s && !file_write(path.s, str_from(t->headers)) && !run(&spec, &r) &&
                r.end == PROC_EXITED && r.code == 0;
    err_clear();
    return made ? header : NULL;
}
