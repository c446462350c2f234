/* libtuner: finds kernels by name in the code objects of the library's directory. They have the file names of
 * TensileCreateLibrary, with .so for the host and .cubin for NVIDIA: merged Kernels[N].so-000-<arch>.so,
 * <kernel>.so-000-<arch>.so, lazy <placeholder>[_<arch>].so, and AMD's .co and .hsaco. A code object is
 * opened when a kernel is first searched in it; the kernels of each solution are kept. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "client/runtime/tuner_priv.h"

const char *const *code_suffixes(const tuner_library *t)
{
    static const char *const host[] = {".so", NULL}, *const cuda[] = {".cubin", NULL},
                             *const hip[] = {".co", ".hsaco", NULL};
    return !t->gpu ? host : gpu_kind(t->gpu) == &gpu_cuda ? cuda : hip;
}

/* The file name without its suffix; s == NULL when it is no code object for this device. */
static Str stem_of(const tuner_library *t, const char *file)
{
    Str f = str_from(file);
    for (const char *const *suffix = code_suffixes(t); *suffix; suffix++)
        if (str_ends(f, *suffix)) return str_sub(f, 0, f.n - strlen(*suffix));
    return STR_NULL;
}

static Err embedded_objects_list(tuner_library *t)
{
    size_t n = 0;
    for (const EmbeddedFile *f = NULL; (f = embedded_next(t->dir, f));) n++;
    t->code_object = calloc(n + 1, sizeof *t->code_object);
    TRY_ALLOC(t->code_object);
    for (const EmbeddedFile *f = NULL; t->n_code_objects < n && (f = embedded_next(t->dir, f));)
        if (stem_of(t, f->file).s)
            t->code_object[t->n_code_objects++] = (CodeObject){.file = f->file, .embedded = f};
    return ERR_OK;
}

Err code_objects_list(tuner_library *t)
{
    if (is_embedded(t->dir)) return embedded_objects_list(t);
    Str *name;
    size_t n;
    TRY(dir_list(&t->arena, t->dir, "", false, &name, &n));
    t->code_object = calloc(n + 1, sizeof *t->code_object);
    TRY_ALLOC(t->code_object);
    for (size_t i = 0; i < n; i++)
        if (stem_of(t, name[i].s).s) t->code_object[t->n_code_objects++].file = name[i].s;
    if (t->n_code_objects > MODULES_MAX)
        FAIL(ERR_INPUT, "%s: %zu code objects, limit %d", t->dir, t->n_code_objects, MODULES_MAX);
    return ERR_OK;
}

void code_objects_close(tuner_library *t)
{
    void *saved;
    bool inside = t->gpu && !gpu_enter(t->gpu, &saved);
    for (size_t i = 0; i < t->n_code_objects; i++) {
        host_module_close(t->code_object[i].host);
        if (inside) gpu_module_unload(t->gpu, t->code_object[i].gpu);
    }
    if (inside) gpu_leave(t->gpu, saved);
    free(t->code_object);
}

/* Whether the stem ends with this architecture; code for one setting of xnack does not run with the other. */
static bool names_arch(const tuner_library *t, Str stem)
{
    const char *features = t->gpu_info.features;
    bool on = str_ends(stem, "-xnack+"), off = str_ends(stem, "-xnack-");
    if ((on && strstr(features, "xnack-")) || (off && strstr(features, "xnack+"))) return false;
    if (on || off) stem.n -= strlen("-xnack+");
    return stem.n >= t->hw.arch.n && str_eq(str_sub(stem, stem.n - t->hw.arch.n, stem.n), t->hw.arch);
}

/* Order in which files are searched for a kernel: 3 its own file, 2 a merged file for this architecture, 1
 * another file for it, 0 not searched. */
static int rank(const tuner_library *t, const char *file, const char *symbol, const char *placeholder)
{
    Str stem = stem_of(t, file);
    bool ours = names_arch(t, stem);
    if (placeholder && str_starts(stem, placeholder)) {
        Str rest = str_sub(stem, strlen(placeholder), stem.n);
        if (rest.n == 0 || (ours && rest.s[0] == '_')) return 3;
    }
    if (!ours) return 0;
    if (str_starts(stem, symbol)) return 3;
    return str_starts(stem, "Kernels") ? 2 : 1;
}

/* Opens the code object if needed. The caller has locked t->lock. */
static Err module_of(tuner_library *t, CodeObject *c)
{
    char path[4096];
    Str data = c->embedded ? c->embedded->data : STR_NULL;
    if (c->host || c->gpu) return ERR_OK;
    int n = snprintf(path, sizeof path, "%s/%s", t->dir, c->file);
    if (n < 0 || (size_t)n >= sizeof path) FAIL(ERR_INPUT, "path of code object '%s' is too long", c->file);
    Err e = t->gpu        ? library_gpu_module(t, path, data, &c->gpu)
            : c->embedded ? host_module_open_data(path, data, &c->host)
                          : host_module_open(path, &c->host);
    c->failed = e != ERR_OK;
    return e;
}

/* Looks for a kernel in one code object; symbol must live as long as the library. */
static Err kernel_in(tuner_library *t, const CodeObject *c, const char *symbol, AnyKernel *out, bool *found)
{
    if (t->gpu) return gpu_kernel_find(t->gpu, c->gpu, symbol, &out->gpu, found);
    *found = host_module_has(c->host, symbol);
    return *found ? host_module_kernel(c->host, symbol, &out->host) : ERR_OK;
}

static Err kernel_search(tuner_library *t, const LibSolution *s, const char *symbol, AnyKernel *out)
{
    const char *placeholder = library_code_object(t->library, s->code_object);
    Err open_error = ERR_OK;
    for (int want = 3; want >= 1; want--)
        for (size_t i = 0; i < t->n_code_objects; i++) {
            CodeObject *c = &t->code_object[i];
            if (c->failed || rank(t, c->file, symbol, placeholder) != want) continue;
            bool found;
            Err e = module_of(t, c);
            if (e) open_error = e;
            if (e) continue;
            TRY(kernel_in(t, c, symbol, out, &found));
            if (found) return ERR_OK;
        }
    if (open_error) return err_context(open_error, "kernel %s: ", symbol);
    FAIL(ERR_FAILED, "kernel %s is in none of the %zu code objects in '%s' for %.*s", symbol,
         t->n_code_objects, t->dir, STR_ARG(t->hw.arch));
}

static Err slot_of(tuner_library *t, uint32_t number, KernelSlot **out)
{
    if (number / KERNEL_PAGE >= KERNEL_PAGES)
        FAIL(ERR_INPUT, "solution %u, limit %d", number, KERNEL_PAGE * KERNEL_PAGES);
    KernelSlot *page = atomic_load_explicit(&t->page[number / KERNEL_PAGE], memory_order_acquire);
    if (!page) {
        pthread_mutex_lock(&t->lock);
        page = atomic_load(&t->page[number / KERNEL_PAGE]);
        if (!page && (page = calloc(KERNEL_PAGE, sizeof *page)))
            atomic_store(&t->page[number / KERNEL_PAGE], page);
        pthread_mutex_unlock(&t->lock);
    }
    TRY_ALLOC(page);
    *out = &page[number % KERNEL_PAGE];
    return ERR_OK;
}

static Err kernel_of_solution(tuner_library *t, const LibSolution *s, const AnyKernel **out)
{
    KernelSlot *slot;
    TRY(slot_of(t, s->number, &slot));
    *out = &slot->kernel;
    if (atomic_load_explicit(&slot->ready, memory_order_acquire)) return ERR_OK;
    pthread_mutex_lock(&t->lock);
    Err e = atomic_load(&slot->ready) ? ERR_OK : kernel_search(t, s, s->symbol, &slot->kernel);
    if (!e) atomic_store_explicit(&slot->ready, true, memory_order_release);
    pthread_mutex_unlock(&t->lock);
    return e;
}

static Err kernel_of_helper(tuner_library *t, const LibSolution *s, const char *symbol, const AnyKernel **out)
{
    uint32_t i = 0;
    Err e = ERR_OK;
    for (uint32_t n = atomic_load_explicit(&t->n_helpers, memory_order_acquire); i < n; i++)
        if (strcmp(t->helper[i].symbol, symbol) == 0) {
            *out = &t->helper[i].kernel;
            return ERR_OK;
        }
    pthread_mutex_lock(&t->lock);
    uint32_t n = atomic_load(&t->n_helpers);
    for (i = 0; i < n && strcmp(t->helper[i].symbol, symbol) != 0; i++) {
    }
    if (i == n && n == LOADED_HELPERS_MAX)
        e = err_set(ERR_FAILED, "more than %d helper kernels", LOADED_HELPERS_MAX);
    if (i == n && !e) {
        snprintf(t->helper[n].symbol, sizeof t->helper[n].symbol, "%s", symbol);
        e = kernel_search(t, s, t->helper[n].symbol, &t->helper[n].kernel);
        if (!e) atomic_store_explicit(&t->n_helpers, n + 1, memory_order_release);
    }
    *out = &t->helper[i].kernel;
    pthread_mutex_unlock(&t->lock);
    return e;
}

Err kernel_of_call(tuner_library *t, const LibSolution *s, const KernelCall *call, const AnyKernel **out)
{
    return call->role == CALL_MAIN ? kernel_of_solution(t, s, out)
                                   : kernel_of_helper(t, s, call->symbol, out);
}
