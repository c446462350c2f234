/* Build: kernels' text to object files, several compilers at once, through a cache; objects to one code
 * object.
 *
 * Invariants: an object's key is the SHA-256 of the toolchain's identity and the source; an object that is in
 * the cache whole (size and hash are checked) is not compiled again, a damaged one is. Everything gets its
 * name by rename, so a kill at any moment leaves no half object. One bad kernel fails its own job and no
 * other. Small kernels are compiled several to a file (text of several kernels may be concatenated,
 * kernel.h), so that jobs may share an object; when such a file fails, its kernels are compiled one by one.
 * Used by the pipeline and createlib. Does not load or time anything.
 */
#ifndef BUILD_BUILD_H
#define BUILD_BUILD_H

#include "build/toolchain.h"

/* How the compilation of a kernel ended. */
typedef enum {
    BUILD_NONE, /* it was not compiled yet */
    BUILD_OK,
    BUILD_FAILED,  /* the compiler's error */
    BUILD_TIMEOUT, /* the compiler took longer than BuildOptions.timeout_ns */
    BUILD_KILLED,  /* a signal ended the compiler: nothing is known about the kernel, it may be tried again */
    BUILD_REFUSED, /* compiled, but the object does not meet the caller's conditions (spills, registers) */
    BUILD_OUTCOMES
} BuildOutcome;

/* "ok", "failed", "timeout", "killed", "refused"; "" for BUILD_NONE. */
const char *build_outcome_name(BuildOutcome outcome);
/* The outcome of that name; false when there is none. */
bool build_outcome_find(Str name, BuildOutcome *out);

typedef struct {
    /* in; must outlive the run */
    Str symbol, source;
    /* out */
    bool finished;        /* false: not reached before an interrupt */
    Err status;           /* 0: object_path is there */
    BuildOutcome outcome; /* BUILD_OK when status is 0 */
    Str object_path;      /* may be shared with other jobs */
    Str log_path;         /* of a failed one: reason, command, compiler output, source */
    Str why;              /* of a failed one: one line */
    uint64_t compile_ns;  /* its share of the compiler's wall time; 0 when cached */
    bool cached;
} BuildJob;

typedef struct {
    const Toolchain *toolchain;
    const char *cache_dir; /* made when missing; may be shared by processes */
    const char *log_dir;   /* NULL: cache_dir/failed */
    int jobs;              /* compilers at once; 0: as many as cores and free memory allow */
    size_t batch;          /* most kernels in one compiler call; 0: 16, 1 for objects that share nothing */
    uint64_t timeout_ns;   /* of one compiler call; 0: 60 s */
    uint64_t memory_bytes; /* of one compiler, also assumed when jobs is 0; 0: 1.5 GiB */
    /* After every job, in the order in which they end, in the calling thread. An error stops the run. May be
     * NULL. */
    Err (*on_done)(void *user, BuildJob *job, size_t n_done);
    void *user;
} BuildOptions;

typedef struct {
    size_t n_compiled, n_cached, n_failed, n_calls; /* n_calls: of the compiler */
    uint64_t wall_ns, compiler_ns;                  /* compiler_ns: wall time of all calls added up */
} BuildReport;

/* Strings of the jobs' results live in the arena. Failed kernels are no error of the run; ERR_FAILED when it
 * was interrupted (Ctrl-C) or cannot go on (disk full, compiler gone). r may be NULL. */
Err build_run(Arena *a, const BuildOptions *o, BuildJob *job, size_t n, BuildReport *r);

/* Host only, as GPU kernels are compiled under their own names: a further name of a kernel in an object; the
 * linked file exports name and name_local_bytes too. */
typedef struct {
    Str name, symbol;
} LinkName;

/* Links objects (repeated paths count once) into one code object at out_path, by rename: a shared object with
 * a seal behind it on the host, plain ELF on AMD. NVIDIA's are not linked: kernels of one file are compiled
 * as one text. */
Err build_link(const Toolchain *t, const Str *objects, size_t n, const LinkName *names, size_t n_names,
               const char *out_path);

/* Removes the objects of a cache, and nothing else that may lie there. A missing one is fine. */
Err build_cache_clear(const char *cache_dir);

#endif
