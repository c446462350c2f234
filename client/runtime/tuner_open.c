/* libtuner: finds, opens and closes a library and returns its properties. The search for files follows
 * rocBLAS's tensile_host.cpp, but a wrong path is an error for the caller, while rocBLAS aborts. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/version.h"
#include "base/fs.h"
#include "client/runtime/tuner_priv.h"
#include "problem/target.h"

/* ---- finding the file ---- */

typedef struct {
    tuner_library *t;
    const char *base, *from; /* from: " (from TUNER_LIBPATH)" or "" */
    int64_t n_cu;            /* compute units of the options; 0: the device's */
} Search;

/* Opens a file; *found false when it does not exist. */
static Err open_file(const Search *s, const char *path, Library **lib, bool *found)
{
    *lib = NULL;
    if (is_embedded(s->base)) {
        const EmbeddedFile *f = embedded_find(s->base, path + strlen(s->base) + 1);
        const LibraryFiles files = {embedded_read, s->base};
        *found = f != NULL;
        return f ? library_parse_files(path, f->data, &files, &s->t->hw, lib) : ERR_OK;
    }
    *found = file_exists(path);
    return *found ? library_open(path, &s->t->hw, lib) : ERR_OK;
}

/* Opens path if it exists and, with must_name_arch, has rows for the architecture; *found: it was taken, or
 * its content is the error. */
static Err try_file(Search *s, const char *path, bool must_name_arch, bool *found)
{
    Library *lib = NULL;
    Err e = open_file(s, path, &lib, found);
    if (!*found) return ERR_OK;
    *found = false;
    if (!e && must_name_arch && !library_names_arch(lib)) {
        library_free(lib);
        return ERR_OK;
    }
    *found = true;
    if (e) return e;
    s->t->library = lib;
    s->t->path = arena_dup(&s->t->arena, str_from(path)).s;
    s->t->dir = arena_dup(&s->t->arena, path_dir(str_from(path))).s;
    if (!s->t->path || !s->t->dir) FAIL(ERR_FAILED, "out of memory");
    return ERR_OK;
}

static const char *const suffixes[] = {".dat", ".yaml"};

/* Tries all file names in one directory. must_name_arch is required only of the file without an architecture
 * in its name. */
static Err try_dir(Search *s, const char *dir, bool must_name_arch, bool *found)
{
    Arena *a = &s->t->arena;
    *found = false;
    if (!is_embedded(dir) && !dir_exists(dir)) return ERR_OK;
    for (size_t f = 0; f < 3; f++)
        for (size_t x = 0; x < 2; x++) {
            Str name = f < 2 ? arena_printf(a, "%s%.*s%s", f ? "TensileLibrary_" : "TensileLibrary_lazy_",
                                            STR_ARG(s->t->hw.arch), suffixes[x])
                             : arena_printf(a, "TensileLibrary%s", suffixes[x]);
            Str path = name.s ? path_join(a, dir, name.s) : STR_NULL;
            if (!path.s) FAIL(ERR_FAILED, "out of memory");
            TRY(try_file(s, path.s, must_name_arch && f == 2, found));
            if (*found) return ERR_OK;
        }
    return ERR_OK;
}

static Err try_arch(Search *s, Str arch, bool must_name_arch, bool *found)
{
    s->t->hw.arch = arch;
    *found = false;
    if (file_exists(s->base) && !dir_exists(s->base)) return try_file(s, s->base, must_name_arch, found);
    Str sub = arena_printf(&s->t->arena, "%s/%.*s", s->base, STR_ARG(arch));
    if (!sub.s) FAIL(ERR_FAILED, "out of memory");
    TRY(try_dir(s, sub.s, false, found));
    return *found ? ERR_OK : try_dir(s, s->base, must_name_arch, found);
}

/* Tries the CPU's x86-64 level, then every lower one. */
static Err try_host(Search *s, const Target *target, bool *found)
{
    *found = false;
    for (int level = target->isa[0]; level >= 2 && !*found; level--) {
        Str name = arena_printf(&s->t->arena, "x86-64-v%d", level);
        if (!name.s) FAIL(ERR_FAILED, "out of memory");
        TRY(try_arch(s, name, true, found));
    }
    return ERR_OK;
}

/* Tries the architecture of the open device; on NVIDIA code for exactly this part comes first ("sm_90a"). */
static Err try_gpu(Search *s, bool must_name_arch, bool *found)
{
    Arena *a = &s->t->arena;
    Str arch = arena_dup(a, str_from(s->t->gpu_info.architecture)),
        own = arena_printf(a, "%.*sa", STR_ARG(arch));
    if (!arch.s || !own.s) FAIL(ERR_FAILED, "out of memory");
    *found = false;
    s->t->hw.n_cu = s->n_cu ? s->n_cu : s->t->gpu_info.n_cu;
    s->t->hw.is_apu = s->t->gpu_info.integrated;
    if (gpu_kind(s->t->gpu) == &gpu_cuda && target_find(own)) TRY(try_arch(s, own, true, found));
    return *found ? ERR_OK : try_arch(s, arch, must_name_arch, found);
}

/* Without a library for this CPU, tries the GPUs of this machine. */
static Err try_gpus(Search *s, bool *found)
{
    static const GpuKind *const kinds[] = {&gpu_cuda, &gpu_hip};
    *found = false;
    for (size_t i = 0; i < 2; i++) {
        if (!library_gpu_try(s->t, kinds[i], NULL)) continue;
        Err e = try_gpu(s, true, found);
        if (*found || e) return e;
        library_gpu_close(s->t);
    }
    return ERR_OK;
}

static Err not_found(const Search *s, Str wanted)
{
    FAIL(ERR_INPUT,
         "no library for %.*s in '%s'%s: looked for TensileLibrary_lazy_%.*s, TensileLibrary_%.*s and "
         "TensileLibrary (.dat or .yaml), there and in its folder %.*s",
         STR_ARG(wanted), s->base, s->from, STR_ARG(wanted), STR_ARG(wanted), STR_ARG(wanted));
}

static Err locate(Search *s, const Target *target, bool any_device)
{
    bool found = false;
    tuner_library *t = s->t;
    Str wanted = str_from(t->gpu ? t->gpu_info.architecture : target->name);
    if (is_embedded(s->base) && !embedded_next(s->base, NULL))
        FAIL(ERR_INPUT, "'%s'%s: no such library is compiled into this program", s->base, s->from);
    if (!is_embedded(s->base) && !file_exists(s->base) && !dir_exists(s->base))
        FAIL(ERR_INPUT, "library path '%s'%s does not exist", s->base, s->from);
    if (t->gpu) {
        TRY(try_gpu(s, false, &found));
        return found ? ERR_OK : not_found(s, wanted);
    }
    int64_t n_cu = s->n_cu                          ? s->n_cu
                   : !target_family(target)->is_gpu ? host_pool_threads(t->pool)
                                                    : target->n_cu;
    t->hw.n_cu = n_cu;
    if (!target_family(target)->is_gpu) TRY(try_host(s, target, &found));
    if (!found && any_device) TRY(try_gpus(s, &found));
    if (found) return ERR_OK;
    t->hw.n_cu = n_cu;
    t->hw.is_apu = false;
    TRY(try_arch(s, wanted, false, &found));
    return found ? ERR_OK : not_found(s, wanted);
}

static bool holds_library(const char *dir)
{
    Arena a;
    Str *name;
    size_t n = 0;
    arena_init(&a, 0);
    bool some = !dir_list(&a, dir, "", false, &name, &n), found = false;
    for (size_t i = 0; some && i < n; i++) found |= str_starts(name[i], "TensileLibrary");
    arena_fini(&a);
    return found;
}

/* Replaces the output directory of `tuner` or tuner-createlib by the library directory below it. */
static Err step_down(Search *s)
{
    static const char *const below[] = {"4_LibraryClient/library", "library"};
    if (is_embedded(s->base)) return ERR_OK;
    for (size_t i = 0; i < 2; i++) {
        Str dir = path_join(&s->t->arena, s->base, below[i]);
        TRY_ALLOC(dir.s);
        if (!dir_exists(dir.s) || !holds_library(dir.s) || holds_library(s->base)) continue;
        s->base = dir.s;
        return ERR_OK;
    }
    return ERR_OK;
}

static Err base_path(Search *s, const char *path)
{
    static const char *const variables[] = {"TUNER_LIBPATH", "ROCBLAS_TENSILE_LIBPATH"};
    s->base = path;
    s->from = "";
    for (size_t i = 0; i < 2 && (!s->base || !*s->base); i++) {
        s->base = getenv(variables[i]);
        s->from = i ? " (from ROCBLAS_TENSILE_LIBPATH)" : " (from TUNER_LIBPATH)";
    }
    if (!s->base || !*s->base)
        FAIL(ERR_INPUT, "no library path given and neither TUNER_LIBPATH nor ROCBLAS_TENSILE_LIBPATH is set");
    s->base = arena_dup(&s->t->arena, str_from(s->base)).s; /* kept for embedded placeholders */
    TRY_ALLOC(s->base);
    return step_down(s);
}

/* Opens the device that the options determine, if any. */
static Err choose_device(tuner_library *t, const tuner_options *o, const Target *target)
{
    static const GpuKind *const apis[] = {
        [TARGET_AMDGCN] = &gpu_hip, [TARGET_NVPTX] = &gpu_cuda, [TARGET_HOST] = NULL};
    const char *name = o->device ? o->device : getenv("TUNER_DEVICE");
    if (o->select_only || (name && strcmp(name, "host") == 0)) return ERR_OK;
    if (name && *name) return library_gpu_open(t, name);
    /* only the architecture is given: open the first device of its kind if it has this architecture */
    if (o->arch && apis[target->family]) library_gpu_try(t, apis[target->family], o->arch);
    return ERR_OK;
}

Err library_locate(tuner_library *t, const char *path, const tuner_options *o)
{
    Search s = {.t = t, .n_cu = o->n_cu};
    const Target *host = target_host_level();
    const Target *target = o->arch ? target_find(str_from(o->arch)) : host;
    const char *device = o->device ? o->device : getenv("TUNER_DEVICE");
    if (!target) FAIL(ERR_INPUT, "architecture '%s' is unknown", o->arch ? o->arch : "host");
    TRY(base_path(&s, path));
    TRY(choose_device(t, o, target));
    TRY(locate(&s, target, !o->arch && !device && !o->select_only));
    t->can_run = t->gpu || target_runs(host, target);
    t->launch_hw.n_cu = t->hw.n_cu;
    t->launch_hw.grid_limit = t->gpu_info.grid_limit;
    return ERR_OK;
}

/* ---- life cycle ---- */

/* Like in Tensile: strtol, and any other value means none. */
static uint8_t experimental_selection(void)
{
    const char *text = getenv("TENSILE_EXPERIMENTAL_SELECTION");
    long option = text ? strtol(text, NULL, 0) : 0;
    return option == 1 ? METRIC_EXPERIMENTAL_GRID : option == 2 ? METRIC_EXPERIMENTAL_DTREE : METRIC_AUTO;
}

/* Like rocBLAS: a variable that is set determines the flag of all calls; 0 clears it, any other number sets
 * it. */
static void read_fp16_alt(tuner_library *t)
{
    static const char *const name[] = {"ROCBLAS_INTERNAL_FP16_ALT_IMPL",
                                       "ROCBLAS_INTERNAL_FP16_ALT_IMPL_RNZ"};
    for (unsigned i = 0; i < 2; i++) {
        const char *text = getenv(name[i]);
        if (!text) continue;
        t->fp16_alt_fixed |= 1u << i;
        if (strtol(text, NULL, 10)) t->fp16_alt |= 1u << i;
    }
}

/* Number of forks from the first process to this one; a global, as handlers of pthread_atfork have no
 * argument. */
static _Atomic unsigned forks;
static pthread_once_t count_forks = PTHREAD_ONCE_INIT;
static void in_child(void) { atomic_fetch_add_explicit(&forks, 1, memory_order_relaxed); }
static void start_counting(void) { pthread_atfork(NULL, NULL, in_child); }

unsigned process_forks(void) { return atomic_load_explicit(&forks, memory_order_relaxed); }

Err library_usable(const tuner_library *t, const char *call)
{
    if (!t) FAIL(ERR_INPUT, "%s: the library is a null pointer", call);
    if (t->forks != process_forks())
        FAIL(ERR_INPUT,
             "%s: the library '%s' was opened before fork, and its threads are in the other process: open it "
             "again in this one",
             call, t->path);
    return ERR_OK;
}

static Err open_into(tuner_library *t, const char *path, const tuner_options *o)
{
    if (o->n_cu < 0 || o->n_cu > INT32_MAX) FAIL(ERR_INPUT, "%" PRId64 " compute units", o->n_cu);
    t->deterministic = o->deterministic != 0;
    t->experimental = experimental_selection();
    read_fp16_alt(t);
    for (unsigned i = 0; i < 32; i++)
        t->operation[i] = operation_code_gemm(i & 1, i & 2, i & 4, i & 8, i & 16);
    TRY(log_open(&t->log));
    TRY(host_pool_new(o->n_threads, &t->pool));
    atomic_store(&t->stream, o->stream);
    TRY(library_locate(t, path, o));
    if (o->select_only) t->can_run = false;
    return t->can_run ? code_objects_list(t) : ERR_OK;
}

tuner_status tuner_open(tuner_library **lib, const char *path, const tuner_options *options)
{
    static const tuner_options none;
    if (!lib) return (tuner_status)err_set(ERR_INPUT, "tuner_open: no place for the library");
    *lib = NULL;
    tuner_library *t = calloc(1, sizeof *t);
    if (!t) return (tuner_status)err_set(ERR_FAILED, "out of memory");
    pthread_once(&count_forks, start_counting);
    t->forks = process_forks();
    arena_init(&t->arena, 0);
    pthread_mutex_init(&t->lock, NULL);
    pthread_mutex_init(&t->gpu_lock, NULL);
    for (int i = 0; i < LOG_LAYERS; i++) t->log.fd[i] = -1;
    pthread_mutex_init(&t->log.lock, NULL);
    Err e = open_into(t, path, options ? options : &none);
    if (e) {
        tuner_close(t);
        return (tuner_status)e;
    }
    *lib = t;
    return TUNER_OK;
}

void tuner_close(tuner_library *t)
{
    if (!t || t->forks != process_forks()) return; /* threads of the parent may have locked its locks */
    log_close(&t->log);
    host_pool_free(t->pool);
    code_objects_close(t);
    library_gpu_close(t);
    library_free(t->library);
    for (size_t i = 0; i < KERNEL_PAGES; i++) free(atomic_load(&t->page[i]));
    pthread_mutex_destroy(&t->lock);
    pthread_mutex_destroy(&t->gpu_lock);
    pthread_mutex_destroy(&t->log.lock);
    arena_fini(&t->arena);
    free(t);
}

const char *tuner_library_path(const tuner_library *t) { return t ? t->path : ""; }
const char *tuner_library_arch(const tuner_library *t) { return t ? t->hw.arch.s : ""; }
size_t tuner_library_solutions(const tuner_library *t)
{
    return library_usable(t, "tuner_library_solutions") ? 0 : library_n_solutions(t->library);
}
const char *tuner_error_message(void) { return err_message(); }
const char *tuner_version(void) { return TUNER_VERSION; }
