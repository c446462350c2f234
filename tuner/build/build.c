/* The compile pool. See build.h. */
#include "build/build.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/proc.h"
#include "base/vec.h"
#include "build/cache.h"
#include "build/pch.h"

enum {
    MAX_BATCH = 64,
    DEFAULT_BATCH = 16,
    PCH_KERNELS = 8,         /* fewer kernels do not pay for a precompiled header */
    BATCH_BYTES = 256 << 10, /* of source in one call; compiling longer kernels together saves nothing */
    MAX_JOBS = 512,
    OUTPUT_BYTES = 256 << 10 /* of a compiler's output that the log keeps */
};

typedef char Key[CONTENT_HEX + 1];

/* One call of the compiler. */
typedef struct {
    Proc proc;
    int output_fd;
    size_t job[MAX_BATCH], n;
    char source[4096 + 128], object[4096 + 128];
} Call;

struct Build {
    const BuildOptions *o;
    BuildOptions options; /* what o points to */
    Arena *arena;
    BuildJob *job;
    uint64_t start_ns;
    size_t n_jobs, n_done;
    Key *key;
    size_t *same;                  /* the first job with the same key, or the job itself */
    size_t *todo, todo_at, n_todo; /* jobs to compile */
    VEC(size_t) alone;             /* jobs of failed batches, which are compiled one by one */
    Call **call;
    size_t n_calls, max_calls, batch;
    uint64_t timeout_ns, memory_bytes;
    Cache cache;
    const char *log_dir;
    Pch pch;            /* where BuildOptions has none */
    const char *header; /* precompiled header in the work directory; NULL: none */
    BuildReport report;
};

static const char *const outcome_name[BUILD_OUTCOMES] = {
    [BUILD_NONE] = "",           [BUILD_OK] = "ok",         [BUILD_FAILED] = "failed",
    [BUILD_TIMEOUT] = "timeout", [BUILD_KILLED] = "killed", [BUILD_REFUSED] = "refused",
};

const char *build_outcome_name(BuildOutcome outcome) { return outcome_name[outcome]; }

bool build_outcome_find(Str name, BuildOutcome *out)
{
    for (int i = 0; i < BUILD_OUTCOMES; i++)
        if (str_eq_c(name, outcome_name[i])) {
            *out = (BuildOutcome)i;
            return true;
        }
    return false;
}

static Err job_done(Build *b, size_t i)
{
    BuildJob *j = &b->job[i];
    if (!j->status) j->outcome = BUILD_OK;
    j->finished = true;
    b->n_done++;
    if (j->status)
        b->report.n_failed++;
    else if (j->cached)
        b->report.n_cached++;
    else
        b->report.n_compiled++;
    return b->o->on_done ? b->o->on_done(b->o->user, j, b->n_done) : 0;
}

/* Computes the keys of all jobs, and finds objects in the cache and jobs with equal texts. */
static Err jobs_look_up(Build *b)
{
    Map first;
    Buf text;
    Err e = 0;
    map_init(&first);
    buf_init(&text);
    for (size_t i = 0; !e && i < b->n_jobs; i++) {
        BuildJob *j = &b->job[i];
        buf_reset(&text);
        buf_str(&text, b->o->toolchain->identity);
        buf_str(&text, j->source);
        e = buf_check(&text);
        if (e) break;
        content_hex(buf_view(&text), b->key[i]);
        bool added;
        int64_t *slot = map_put(&first, str_from(b->key[i]), &added);
        if (!slot) {
            e = err_set(ERR_FAILED, "out of memory for %zu kernels", b->n_jobs);
            break;
        }
        if (added) *slot = (int64_t)i;
        b->same[i] = (size_t)*slot;
        if (!added) continue;
        e = cache_find(&b->cache, b->arena, b->key[i], &j->object_path);
        j->cached = j->object_path.s != NULL;
        if (!j->cached) b->todo[b->n_todo++] = i;
    }
    map_fini(&first);
    buf_fini(&text);
    for (size_t i = 0; !e && i < b->n_jobs; i++)
        if (b->same[i] == i && b->job[i].cached) e = job_done(b, i);
    return e;
}

/* Jobs with the text of an earlier job share its result. */
static Err repeats_finish(Build *b)
{
    for (size_t i = 0; i < b->n_jobs; i++) {
        const BuildJob *from = &b->job[b->same[i]];
        BuildJob *j = &b->job[i];
        if (b->same[i] == i || !from->finished) continue;
        j->status = from->status;
        j->outcome = from->outcome;
        j->object_path = from->object_path;
        j->log_path = from->log_path;
        j->why = from->why;
        j->cached = true;
        TRY(job_done(b, i));
    }
    return 0;
}

/* The jobs of the next compiler call: one job of a failed batch, or a batch small enough that all compilers
 * get work. */
static void call_fill(Build *b, Call *c)
{
    c->n = 0;
    if (b->alone.n) {
        c->job[c->n++] = b->alone.v[--b->alone.n];
        return;
    }
    size_t left = b->n_todo - b->todo_at, fair = left / (2 * b->max_calls), bytes = 0;
    size_t most = fair < 1 ? 1 : fair < b->batch ? fair : b->batch;
    const char *const *marked = NULL;
    while (c->n < most && b->todo_at < b->n_todo) {
        size_t i = b->todo[b->todo_at];
        const char *const *mine = toolchain_marked(b->o->toolchain, b->job[i].source);
        if (c->n && mine != marked) break; /* one call has one list of arguments */
        marked = mine;
        bytes += b->job[i].source.n;
        if (c->n && bytes > BATCH_BYTES) break;
        c->job[c->n++] = i;
        b->todo_at++;
    }
}

static Err source_write(const Build *b, const Call *c)
{
    FILE *f = fopen(c->source, "we");
    if (!f) FAIL(ERR_FAILED, "cannot create '%s': %s", c->source, strerror(errno));
    bool ok = true;
    for (size_t k = 0; ok && k < c->n; k++) {
        Str s = b->job[c->job[k]].source;
        ok = (s.n == 0 || fwrite(s.s, 1, s.n, f) == s.n) && fputc('\n', f) != EOF;
    }
    int why = errno;
    if (fclose(f) && ok) ok = false, why = errno;
    if (!ok) FAIL(ERR_FAILED, "cannot write '%s': %s", c->source, strerror(why));
    return 0;
}

static const char *file_name(const char *path) { return path_base(str_from(path)).s; }

/* The compiler runs in the work directory and is given bare file names, so that objects do not depend on the
 * directory's path. */
static Err call_start(Build *b, Call *c)
{
    const Toolchain *t = b->o->toolchain;
    const char *key = b->key[c->job[0]];
    snprintf(c->source, sizeof c->source, "%s/%.16s%s", b->cache.work, key, t->source_suffix);
    snprintf(c->object, sizeof c->object, "%s/%.16s%s", b->cache.work, key, t->object_suffix);
    TRY(source_write(b, c));
    const char *argv[TOOLCHAIN_MAX_ARGS + 12] = {t->program};
    size_t n = 1;
    for (size_t i = 0; i < t->n_args; i++) argv[n++] = t->args[i];
    const char *const *marked = toolchain_marked(t, b->job[c->job[0]].source);
    for (size_t i = 0; marked && marked[i]; i++) argv[n++] = marked[i];
    if (b->header) argv[n++] = "-include";
    if (b->header) argv[n++] = b->header;
    argv[n++] = "-o";
    argv[n++] = file_name(c->object);
    argv[n++] = file_name(c->source);
    char tmpdir[4096 + 16];
    snprintf(tmpdir, sizeof tmpdir, "TMPDIR=%s", b->cache.work);
    const char *const env[] = {"LC_ALL=C", b->cache.work[0] == '/' ? tmpdir : NULL, NULL};
    c->output_fd = memfd_create("compiler", MFD_CLOEXEC);
    if (c->output_fd < 0) FAIL(ERR_FAILED, "cannot make a buffer for compiler output: %s", strerror(errno));
    ProcSpec spec = {.argv = argv,
                     .stdout_fd = c->output_fd,
                     .setenv = env,
                     .memory_bytes = b->memory_bytes,
                     .chdir_path = b->cache.work};
    Err e = proc_start(&c->proc, &spec, b->timeout_ns);
    if (e) close(c->output_fd);
    return e;
}

static void call_free(Call *c)
{
    close(c->output_fd);
    unlink(c->source);
    unlink(c->object);
    free(c);
}

static Str output_read(Arena *a, int fd)
{
    char *text = arena_alloc(a, OUTPUT_BYTES);
    ssize_t n = text ? pread(fd, text, OUTPUT_BYTES, 0) : 0;
    return (Str){text, n > 0 ? (size_t)n : 0};
}

static bool contains(Str text, const char *word)
{
    return text.n && memmem(text.s, text.n, word, strlen(word));
}

/* ptxas warnings C7506 to C7515: it ignored setmaxnreg, or serialised the wgmma instructions. Such a kernel
 * is many times slower and is not measured. */
static bool is_loss(Str line) { return contains(line, "(C75"); }

/* The first line of the output with 'error' or such a warning, else the first line. */
static Str error_line(Str output)
{
    Str rest = output, line = STR_NULL, first = STR_NULL;
    while (str_split(&rest, '\n', &line)) {
        if (is_loss(line)) return line;
        if (contains(line, "error") || contains(line, "Error")) return line;
        if (!first.n) first = line;
    }
    return first;
}

static void log_write(const Build *b, const BuildJob *j, Str how, Str output, Buf *log)
{
    const Toolchain *t = b->o->toolchain;
    buf_printf(log, "tuner-build-log 1\nkernel: %.*s\ncompiler: %s\ncommand: %s", STR_ARG(j->symbol),
               t->version, t->program);
    for (size_t i = 0; i < t->n_args; i++) buf_printf(log, " %s", t->args[i]);
    const char *const *marked = toolchain_marked(t, j->source);
    for (size_t i = 0; marked && marked[i]; i++) buf_printf(log, " %s", marked[i]);
    buf_printf(log, "\nresult: %.*s\n--- compiler output, %zu bytes\n", STR_ARG(how), output.n);
    buf_str(log, output);
    buf_printf(log, "\n--- source, %zu bytes\n", j->source.n);
    buf_str(log, j->source);
}

/* When a signal ends the compiler proper, gcc's driver reports it and exits with a status of its own. */
static BuildOutcome outcome_of(const ProcResult *r, Str output)
{
    if (r->end == PROC_TIMED_OUT) return BUILD_TIMEOUT;
    if (r->end == PROC_SIGNALLED || contains(output, "signal terminated program")) return BUILD_KILLED;
    return BUILD_FAILED;
}

/* Fills in why, outcome and log of a kernel that was compiled alone and failed. */
static Err job_fail(Build *b, size_t i, const ProcResult *r, Str output)
{
    BuildJob *j = &b->job[i];
    Buf how, log;
    buf_init(&how);
    buf_init(&log);
    proc_describe(r, &how);
    Str line = error_line(output);
    j->status = ERR_FAILED;
    j->outcome = outcome_of(r, output);
    j->compile_ns = r->wall_ns;
    j->why = line.n && r->end == PROC_EXITED
                 ? arena_printf(b->arena, "%.*s", (int)(line.n < 400 ? line.n : 400), line.s)
                 : arena_printf(b->arena, "compiler %s", buf_cstr(&how));
    j->log_path = arena_printf(b->arena, "%s/%s.log", b->log_dir, b->key[i]);
    log_write(b, j, buf_view(&how), output, &log);
    Err e = buf_check(&log);
    if (!e && (!j->why.s || !j->log_path.s)) e = err_set(ERR_FAILED, "out of memory for the log of a kernel");
    if (!e) e = dir_make(b->log_dir);
    if (!e) e = cache_put(&b->cache, j->log_path.s, buf_view(&log));
    buf_fini(&how);
    buf_fini(&log);
    return e ? e : job_done(b, i);
}

static Err call_succeeded(Build *b, Call *c, const ProcResult *r)
{
    const char(*keys[MAX_BATCH])[CONTENT_HEX + 1];
    char name[CONTENT_HEX + 1];
    Str path;
    for (size_t k = 0; k < c->n; k++) keys[k] = (const char(*)[CONTENT_HEX + 1]) & b->key[c->job[k]];
    Buf text;
    buf_init(&text);
    for (size_t k = 0; k < c->n; k++) buf_puts(&text, *keys[k]);
    content_hex(buf_view(&text), name);
    Err e = buf_check(&text);
    buf_fini(&text);
    if (!e) e = cache_add(&b->cache, b->arena, c->object, name, keys, c->n, &path);
    for (size_t k = 0; !e && k < c->n; k++) {
        BuildJob *j = &b->job[c->job[k]];
        j->object_path = path;
        j->compile_ns = r->wall_ns / c->n;
        e = job_done(b, c->job[k]);
    }
    return e;
}

/* A failed batch is compiled again kernel by kernel: one of them is bad, or together they exceeded a limit.
 */
static Err call_failed(Build *b, Call *c, const ProcResult *r)
{
    Arena scratch;
    arena_init(&scratch, 0);
    Str output = output_read(&scratch, c->output_fd);
    Err e = 0;
    if (contains(output, "No space left on device"))
        e = err_set(ERR_FAILED, "the compiler found no space left on the device of '%s'", b->cache.dir);
    else if (c->n == 1)
        e = job_fail(b, c->job[0], r, output);
    for (size_t k = c->n; !e && c->n > 1 && k-- > 0;)
        if (!VEC_PUSH(&b->alone, c->job[k]))
            e = err_set(ERR_FAILED, "out of memory for the queue of kernels");
    arena_fini(&scratch);
    return e;
}

static bool call_lost(const Call *c)
{
    Arena scratch;
    arena_init(&scratch, 0);
    bool lost = is_loss(output_read(&scratch, c->output_fd));
    arena_fini(&scratch);
    return lost;
}

/* Takes the results of calls that have ended; waits for one for wait_ns when none has. */
static Err calls_reap(Build *b, uint64_t wait_ns)
{
    bool any = false;
    for (size_t k = 0; k < b->n_calls;) {
        Call *c = b->call[k];
        ProcResult r;
        bool last = k + 1 == b->n_calls;
        TRY(proc_wait(&c->proc, last && !any ? wait_ns : 0, &r));
        if (r.end == PROC_RUNNING) {
            k++;
            continue;
        }
        any = true;
        b->call[k] = b->call[--b->n_calls];
        b->report.compiler_ns += r.wall_ns;
        bool ok = r.end == PROC_EXITED && r.code == 0 && file_exists(c->object) && !call_lost(c);
        Err e = ok ? call_succeeded(b, c, &r) : call_failed(b, c, &r);
        call_free(c);
        TRY(e);
    }
    return 0;
}

static bool has_work(const Build *b) { return b->todo_at < b->n_todo || b->alone.n; }

/* Starts compilers until as many run as may. */
static Err calls_start(Build *b)
{
    while (b->n_calls < b->max_calls && has_work(b)) {
        Call *c = malloc(sizeof *c);
        TRY_ALLOC(c);
        call_fill(b, c);
        Err e = call_start(b, c);
        if (e) free(c);
        TRY(e);
        b->call[b->n_calls++] = c;
        b->report.n_calls++;
    }
    return 0;
}

Err build_step(Build *b, uint64_t wait_ns, bool *done)
{
    *done = !has_work(b) && !b->n_calls;
    if (*done) return 0;
    if (interrupted()) FAIL(ERR_FAILED, "interrupted after %zu of %zu kernels", b->n_done, b->n_jobs);
    TRY(calls_start(b));
    TRY(calls_reap(b, wait_ns));
    TRY(calls_start(b));
    *done = !has_work(b) && !b->n_calls;
    return 0;
}

static size_t calls_at_once(const Build *b)
{
    size_t n = b->o->jobs > 0 ? (size_t)b->o->jobs : (size_t)cpu_count();
    uint64_t fit = memory_free_bytes() / b->memory_bytes;
    if (b->o->jobs <= 0 && n > fit) n = (size_t)fit;
    n = n > b->o->spare ? n - b->o->spare : 1;
    return n > MAX_JOBS ? MAX_JOBS : n;
}

static Err build_init(Build *b)
{
    const BuildOptions *o = b->o;
    b->timeout_ns = o->timeout_ns ? o->timeout_ns : 60000000000u;
    b->memory_bytes = o->memory_bytes ? o->memory_bytes : (uint64_t)3 << 29;
    b->batch = o->batch ? o->batch : DEFAULT_BATCH;
    if (b->batch > MAX_BATCH) b->batch = MAX_BATCH;
    b->max_calls = calls_at_once(b);
    b->log_dir = o->log_dir;
    if (!b->log_dir) b->log_dir = path_join(b->arena, o->cache_dir, "failed").s;
    TRY_ALLOC(b->log_dir);
    b->key = calloc(b->n_jobs + 1, sizeof *b->key);
    b->same = calloc(b->n_jobs + 1, sizeof *b->same);
    b->todo = calloc(b->n_jobs + 1, sizeof *b->todo);
    b->call = calloc(b->max_calls, sizeof(Call *));
    if (!b->key || !b->same || !b->todo || !b->call)
        FAIL(ERR_FAILED, "out of memory for %zu kernels", b->n_jobs);
    for (size_t i = 0; i < b->n_jobs; i++)
        b->job[i] = (BuildJob){.symbol = b->job[i].symbol, .source = b->job[i].source};
    return cache_init(&b->cache, o->cache_dir);
}

static void build_free(Build *b)
{
    while (b->n_calls) {
        Call *c = b->call[--b->n_calls];
        proc_kill(&c->proc);
        call_free(c);
    }
    cache_fini(&b->cache);
    pch_fini(&b->pch);
    VEC_FINI(&b->alone);
    free(b->key);
    free(b->same);
    free(b->todo);
    free(b->call);
    free(b);
}

/* A header that is there costs nothing. */
static void header_use(Build *b, Pch *pch)
{
    if (b->n_todo >= PCH_KERNELS) pch_begin(pch, b->o->toolchain, b->o->cache_dir);
    b->header = pch_use(pch, b->cache.work);
}

Err build_begin(Arena *a, const BuildOptions *o, BuildJob *job, size_t n, Build **out)
{
    Build *b = *out = malloc(sizeof *b);
    TRY_ALLOC(b);
    *b = (Build){.options = *o, .arena = a, .job = job, .n_jobs = n, .cache = {.lock_fd = -1}};
    b->o = &b->options;
    b->start_ns = clock_ns();
    Err e = build_init(b);
    if (!e) e = jobs_look_up(b);
    if (!e && b->n_todo) header_use(b, o->pch ? o->pch : &b->pch);
    if (!e) return 0;
    build_free(b);
    *out = NULL;
    return e;
}

static void report_finish(Build *b, BuildReport *r)
{
    b->report.wall_ns = clock_ns() - b->start_ns;
    if (r) *r = b->report;
}

Err build_end(Build *b, BuildReport *r)
{
    const bool done = !has_work(b) && !b->n_calls;
    Err e = done ? repeats_finish(b) : 0;
    report_finish(b, r);
    build_free(b);
    return e;
}

Err build_run(Arena *a, const BuildOptions *o, BuildJob *job, size_t n, BuildReport *r)
{
    enum { WAIT_NS = 2000000 };
    Build *b;
    bool done = false;
    TRY(build_begin(a, o, job, n, &b));
    Err e = 0;
    while (!e && !done) e = build_step(b, WAIT_NS, &done);
    if (!e) return build_end(b, r);
    report_finish(b, r);
    build_free(b);
    return e;
}
