/* Build: compiles texts of kernels to object files, several at once, through a cache; links objects into a
 * code object.
 *
 * Invariants: an object's key is the 128-bit hash of the toolchain's identity and the source; an object of
 * the cache is used if its size and hash are right, and compiled again otherwise. Symbols are made from a
 * hash of their text or are the solution's name, so that an object found by another source's key could not
 * be launched in its place. Files get their final names by rename, so that a killed build leaves no
 * incomplete object. A bad kernel fails its own job and no other.
 * Several small kernels are compiled in one file (texts of kernels may be concatenated, kernel.h), so that
 * jobs may share an object; when such a file fails, its kernels are compiled one by one. Nothing is loaded or
 * timed here.
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
    bool finished;        /* false: an interrupt came first */
    Err status;           /* 0: object_path is there */
    BuildOutcome outcome; /* BUILD_OK when status is 0 */
    Str object_path;      /* may be shared with other jobs */
    Str log_path;         /* of a failed job: reason, command, compiler output, source */
    Str why;              /* of a failed job: the reason in one line */
    uint64_t compile_ns;  /* wall time of the compiler call, divided by its kernels; 0 when cached */
    bool cached;
} BuildJob;

typedef struct {
    const Toolchain *toolchain;
    const char *cache_dir; /* created when missing; several processes may share it */
    const char *log_dir;   /* NULL: cache_dir/failed */
    int jobs;              /* compilers at once; 0: as many as cores and free memory allow */
    size_t spare;          /* cores left to others: jobs is less by this, but at least 1 */
    size_t batch;          /* most kernels in one compiler call; 0: 16; 1: every kernel gets its own object */
    uint64_t timeout_ns;   /* of one compiler call; 0: 60 s */
    uint64_t memory_bytes; /* limit of one compiler, also used to choose jobs; 0: 1.5 GiB */
    struct Pch *pch; /* of the program (pch.h), so that builds share a header; NULL: each makes its own */
    /* Called after every job, in the order in which jobs end, in the calling thread. An error stops the run.
     * May be NULL. */
    Err (*on_done)(void *user, BuildJob *job, size_t n_done);
    void *user;
} BuildOptions;

typedef struct {
    size_t n_compiled, n_cached, n_failed, n_calls; /* n_calls: of the compiler */
    uint64_t wall_ns, compiler_ns;                  /* compiler_ns: wall time of all calls added up */
} BuildReport;

/* Builds n jobs; strings of their results live in the arena. A kernel that fails is no error. ERR_FAILED when
 * the run was interrupted (Ctrl-C) or cannot continue (disk full, compiler missing). r may be NULL. */
Err build_run(Arena *a, const BuildOptions *o, BuildJob *job, size_t n, BuildReport *r);

/* The same, step by step, while the caller does something else. What the options and jobs point to, and the
 * arena, must live until the end. A step starts compilers, waits at most wait_ns for one to end when none
 * has, and takes the results of those that have ended. build_end also ends a build that is not done, or that
 * failed: compilers that still run are killed, and their jobs are not finished. */
typedef struct Build Build;
Err build_begin(Arena *a, const BuildOptions *o, BuildJob *job, size_t n, Build **out);
Err build_step(Build *b, uint64_t wait_ns, bool *done);
Err build_end(Build *b, BuildReport *r);

/* A further name of a kernel in an object: the linked file also exports name and name_local_bytes. Only for
 * the host, because GPU kernels are compiled under their final names. */
typedef struct {
    Str name, symbol;
} LinkName;

/* Links objects (repeated paths count once) into one code object, which gets its name out_path by rename: on
 * the host a shared object with a seal appended (base/seal.h), on AMD an ELF file. ERR_INPUT for NVIDIA,
 * whose objects are not linked: kernels of one file are compiled as one text. */
Err build_link(const Toolchain *t, const Str *objects, size_t n, const LinkName *names, size_t n_names,
               const char *out_path);

/* Removes the objects of a cache and no other files. A missing cache is no error. */
Err build_cache_clear(const char *cache_dir);

#endif
