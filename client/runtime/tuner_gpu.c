/* libtuner: libraries whose kernels run on a GPU: opens the device, keeps a workspace for each stream, and
 * launches the kernels of one GEMM. All work is queued on the library's stream; only growing a workspace and
 * reading arrays of pointers wait for kernels. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "client/runtime/tuner_priv.h"

enum { CODE_MAX = 1 << 30 };

/* ---- the device ---- */

static Err open_device(tuner_library *t, const GpuKind *kind, int index)
{
    Gpu *g;
    void *saved;
    TRY(gpu_open(kind, index, &g, &saved));
    Err e = gpu_info(g, &t->gpu_info);
    gpu_leave(g, saved);
    if (e)
        gpu_close(g);
    else
        t->gpu = g;
    snprintf(t->device, sizeof t->device, "%s:%d", gpu_kind_name(kind), index);
    return e;
}

Err library_gpu_open(tuner_library *t, const char *name)
{
    static const GpuKind *const kinds[] = {&gpu_cuda, &gpu_hip};
    Str rest = str_from(name), kind;
    int64_t index = 0;
    str_split(&rest, ':', &kind);
    bool numbered = kind.n < strlen(name);
    for (size_t i = 0; i < 2; i++) {
        if (!str_eq_c(kind, gpu_kind_name(kinds[i]))) continue;
        if (numbered && (!str_to_i64(rest, &index) || index < 0 || index > 1 << 16)) break;
        return open_device(t, kinds[i], (int)index);
    }
    FAIL(ERR_INPUT, "device '%s' is not host, cuda, hip or one of these with a number (cuda:1)", name);
}

bool library_gpu_try(tuner_library *t, const GpuKind *kind, const char *arch)
{
    if (open_device(t, kind, 0)) return false;
    Str have = str_from(t->gpu_info.architecture);
    /* "sm_90a" runs on sm_90; features after a colon are ignored */
    if (!arch ||
        (str_starts(str_from(arch), t->gpu_info.architecture) &&
         (strlen(arch) == have.n || arch[have.n] == ':' || (arch[have.n] == 'a' && !arch[have.n + 1]))))
        return true;
    library_gpu_close(t);
    return false;
}

void library_gpu_close(tuner_library *t)
{
    void *saved;
    if (!t->gpu) return;
    if (!gpu_enter(t->gpu, &saved)) {
        for (size_t i = 0; i < t->n_workspaces; i++) gpu_free(t->gpu, t->workspace[i].address);
        gpu_leave(t->gpu, saved);
    }
    gpu_close(t->gpu);
    t->gpu = NULL;
    t->gpu_info = (GpuInfo){0};
}

Err library_gpu_module(tuner_library *t, const char *path, Str data, GpuModule **out)
{
    Arena a;
    arena_init(&a, 0);
    Err e = data.s ? ERR_OK : file_read(&a, path, CODE_MAX, &data);
    if (!e) e = gpu_module_load(t->gpu, path, data, out);
    arena_fini(&a);
    return e;
}

/* ---- workspaces ---- */

/* The workspace of a stream, which its calls share because they run in order. The caller has locked
 * gpu_lock. */
static Err workspace_of(tuner_library *t, void *stream, uint64_t bytes, uint64_t *address)
{
    size_t i = 0;
    *address = 0;
    if (bytes == 0) return ERR_OK;
    while (i < t->n_workspaces && t->workspace[i].stream != stream) i++;
    if (i == t->n_workspaces) {
        if (i == STREAMS_MAX)
            i = 0; /* replace the oldest one */
        else
            t->n_workspaces++;
    }
    StreamWorkspace *w = &t->workspace[i];
    if (w->stream != stream || w->bytes < bytes) {
        gpu_free(t->gpu, w->address); /* waits for the kernels that use it */
        *w = (StreamWorkspace){.stream = stream};
        TRY(gpu_alloc(t->gpu, bytes, &w->address));
        w->bytes = bytes;
    }
    *address = w->address;
    return ERR_OK;
}

/* ---- launches ---- */

static Err launch_call(tuner_library *t, void *stream, const LibSolution *s, const KernelCall *call)
{
    const AnyKernel *kernel;
    TRY(kernel_of_call(t, s, call, &kernel));
    if (library_print_debug(t->library)) log_launch(t, call);
    const GpuLaunch l = {.kernel = &kernel->gpu,
                         .group = call->work_group,
                         .grid = call->num_work_groups,
                         .args = call->args,
                         .args_bytes = call->n_arg_bytes,
                         .dependent = call->dependent,
                         .stream = stream};
    return gpu_launch(t->gpu, &l);
}

static Err queue(tuner_library *t, LaunchInputs *in, const Contraction *p, const LibSolution *s,
                 uint64_t bytes)
{
    LaunchList list;
    LaunchPart part;
    uint64_t workspace;
    const TensorMapEncoder maps = {gpu_tensor_map, t->gpu};
    void *stream = atomic_load_explicit(&t->stream, memory_order_relaxed);
    TRY(workspace_of(t, stream, bytes, &workspace));
    in->workspace = (void *)(uintptr_t)workspace;
    in->maps = &maps;
    for (uint64_t k = 0; launch_part(p, s, in, &t->launch_hw, k, &part); k++) {
        TRY(launch_build(&part.problem, s, &part.in, &t->launch_hw, &list));
        for (uint32_t i = 0; i < list.n; i++) TRY(launch_call(t, stream, s, &list.call[i]));
    }
    return ERR_OK;
}

Err gemm_on_gpu(tuner_library *t, const LaunchInputs *in, const Contraction *p, const LibSolution *s)
{
    LaunchInputs here = *in;
    uint64_t bytes = launch_workspace_bytes(p, s, &t->launch_hw);
    /* no kernel of another call may run between the kernels of this one */
    bool several = bytes > 0 || s->map.global_split_u > 1 || s->map.stream_k;
    void *saved;
    TRY(gpu_enter(t->gpu, &saved));
    if (several) pthread_mutex_lock(&t->gpu_lock);
    Err e = queue(t, &here, p, s, bytes);
    if (several) pthread_mutex_unlock(&t->gpu_lock);
    gpu_leave(t->gpu, saved);
    return e;
}

Err gemm_pointers(tuner_library *t, const tuner_gemm_desc *g, int64_t batch, tuner_gemm_desc *host,
                  void **block)
{
    size_t n = (size_t)batch;
    void **p = calloc(4 * n + 1, sizeof *p), *saved;
    TRY_ALLOC(p);
    const void *const from[4] = {g->a, g->b, g->c, g->d};
    *host = *g;
    Err e = gpu_enter(t->gpu, &saved);
    bool entered = !e;
    for (size_t i = 0; i < 4 && !e; i++)
        if (from[i])
            e = gpu_copy_from(t->gpu, p + i * n, (uint64_t)(uintptr_t)from[i], n * sizeof *p,
                              atomic_load(&t->stream));
    if (entered) gpu_leave(t->gpu, saved);
    if (e) {
        free(p);
        return e;
    }
    *block = p;
    host->a = from[0] ? p : NULL;
    host->b = from[1] ? p + n : NULL;
    host->c = from[2] ? p + 2 * n : NULL;
    host->d = from[3] ? p + 3 * n : NULL;
    return ERR_OK;
}

/* ---- public ---- */

tuner_status tuner_set_stream(tuner_library *t, void *stream)
{
    Err e = library_usable(t, "tuner_set_stream");
    if (!e) atomic_store(&t->stream, stream);
    return (tuner_status)e;
}

static Err synchronize(tuner_library *t)
{
    void *saved;
    TRY(library_usable(t, "tuner_synchronize"));
    if (!t->gpu) return ERR_OK;
    TRY(gpu_enter(t->gpu, &saved));
    Err e = gpu_stream_sync(t->gpu, atomic_load(&t->stream));
    gpu_leave(t->gpu, saved);
    return e;
}

tuner_status tuner_synchronize(tuner_library *t) { return (tuner_status)synchronize(t); }

const char *tuner_library_device(const tuner_library *t) { return !t ? "" : t->gpu ? t->device : "host"; }
