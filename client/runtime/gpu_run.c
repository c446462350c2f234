/* GPU: code objects, launches, memory, streams, events, graphs. Numbers are named after CUDA where the two
 * libraries have the same. See gpu.h. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "client/runtime/gpu_priv.h"

/* ---- code ---- */

Err gpu_module_load(Gpu *g, const char *name, Str data, GpuModule **out)
{
    *out = NULL;
    if (data.n < 16) FAIL(ERR_INPUT, "code object %s: truncated: %zu bytes", name, data.n);
    GpuModule *m = calloc(1, sizeof *m);
    char *copy = strdup(name);
    if (!m || !copy) {
        free(m);
        free(copy);
        FAIL(ERR_FAILED, "out of memory for code object %s", name);
    }
    m->name = copy;
    GpuErr rc = g->driver->module_load(&m->handle, data.s);
    if (!rc) {
        *out = m;
        return ERR_OK;
    }
    char arch[64] = "this device";
    bool wrong = rc == CUDA_NO_BINARY || rc == CUDA_BAD_IMAGE;
    if (wrong && g->driver->kind->architecture(g, arch, sizeof arch)) memcpy(arch, "?", 2);
    Err e = wrong ? gpu_error(g, rc, "code object %s has no code for %s", name, arch)
                  : gpu_error(g, rc, "code object %s cannot be loaded", name);
    free(m->name);
    free(m);
    return e;
}

void gpu_module_unload(Gpu *g, GpuModule *m)
{
    if (!m) return;
    g->driver->module_unload(m->handle);
    free(m->name);
    free(m);
}

Err gpu_kernel_find(Gpu *g, GpuModule *m, const char *symbol, GpuKernel *out, bool *found)
{
    *out = (GpuKernel){.symbol = symbol};
    *found = false;
    GpuErr rc = g->driver->module_function(&out->function, m->handle, symbol);
    if (rc == CUDA_NOT_FOUND) return ERR_OK;
    if (rc) return gpu_error(g, rc, "kernel %s of %s", symbol, m->name);
    *found = true;
    return g->driver->kind->kernel_ready ? g->driver->kind->kernel_ready(g, m, out) : ERR_OK;
}

enum { ARGS_MAX = 1024 };

/* Tensor maps are aligned to 64 bytes in the memory that the driver copies arguments to, not in the argument
 * list (with ptxas of CUDA 13 the list begins at offset 528): they are moved to the kernel's offset. */
static Err move_maps(const GpuLaunch *l, unsigned char moved[ARGS_MAX], size_t *bytes)
{
    const GpuKernel *k = l->kernel;
    size_t maps = (size_t)k->n_maps * TENSOR_MAP_BYTES, from = *bytes - maps, end = k->maps_at + maps;
    if (*bytes < maps || end != k->arg_bytes || end > ARGS_MAX || from + TENSOR_MAP_ALIGN <= k->maps_at ||
        k->maps_at + TENSOR_MAP_ALIGN <= from)
        FAIL(ERR_FAILED,
             "kernel %s takes %u bytes of arguments, with %u tensor maps from %u on; the launch has %zu",
             k->symbol, k->arg_bytes, k->n_maps, k->maps_at, *bytes);
    memset(moved, 0, end);
    memcpy(moved, l->args, from < k->maps_at ? from : k->maps_at);
    memcpy(moved + k->maps_at, (const unsigned char *)l->args + from, maps);
    *bytes = end;
    return ERR_OK;
}

Err gpu_launch(Gpu *g, const GpuLaunch *l)
{
    size_t bytes = l->args_bytes;
    _Alignas(16) unsigned char moved[ARGS_MAX];
    union {
        const void *in;
        void *out;
    } args = {.in = l->args}; /* the libraries' prototypes lack the const */
    void *extra[] = {(void *)CUDA_PARAM_POINTER, args.out, (void *)CUDA_PARAM_SIZE, &bytes,
                     (void *)g->driver->kind->param_end};
    const uint32_t takes = l->kernel->arg_bytes;
    if (takes && l->kernel->n_maps) {
        TRY(move_maps(l, moved, &bytes));
        args.in = moved, extra[1] = args.out;
    }
    if (takes && (bytes < takes || bytes >= takes + 8))
        FAIL(ERR_FAILED, "kernel %s takes %u bytes of arguments, the launch has %zu", l->kernel->symbol,
             takes, bytes);
    if (takes) bytes = takes; /* the driver would refuse a C structure's trailing padding */
    for (int i = 0; i < 3; i++)
        if (l->grid[i] == 0 || l->group[i] == 0) return ERR_OK;
    return g->driver->kind->launch(g, l, extra);
}

/* ---- memory ---- */

Err gpu_alloc(Gpu *g, uint64_t bytes, uint64_t *address)
{
    size_t there = 0, total = 0;
    *address = 0;
    GpuErr rc = g->driver->alloc(address, bytes ? bytes : 256);
    if (!rc) return ERR_OK;
    *address = 0;
    if (rc != CUDA_NO_MEMORY || g->driver->memory_info(&there, &total))
        return gpu_error(g, rc, "cannot allocate %" PRIu64 " bytes", bytes);
    return gpu_error(g, rc, "out of device memory: %" PRIu64 " bytes wanted, %zu of %zu free", bytes, there,
                     total);
}

void gpu_free(Gpu *g, uint64_t address)
{
    if (address) g->driver->free(address);
}

void *gpu_pinned_alloc(Gpu *g, uint64_t bytes)
{
    void *p = NULL;
    const bool can = g->driver->pinned_alloc && g->driver->pinned_free;
    return can && !g->driver->pinned_alloc(&p, bytes, 0) ? p : NULL;
}

void gpu_pinned_free(Gpu *g, void *p)
{
    if (p) g->driver->pinned_free(p);
}

Err gpu_stream_sync(Gpu *g, void *stream)
{
    GPU_TRY(g, stream_sync(stream), "waiting for the device");
    return ERR_OK;
}

Err gpu_copy_to(Gpu *g, uint64_t to, const void *from, uint64_t bytes, void *stream)
{
    if (bytes == 0) return ERR_OK;
    GPU_TRY(g, copy_to(to, from, bytes, stream), "copying %" PRIu64 " bytes to the device", bytes);
    return gpu_stream_sync(g, stream);
}

Err gpu_copy_from(Gpu *g, void *to, uint64_t from, uint64_t bytes, void *stream)
{
    if (bytes == 0) return ERR_OK;
    GPU_TRY(g, copy_from(to, from, bytes, stream), "copying %" PRIu64 " bytes from the device", bytes);
    return gpu_stream_sync(g, stream);
}

Err gpu_copy(Gpu *g, uint64_t to, uint64_t from, uint64_t bytes, void *stream)
{
    if (bytes == 0) return ERR_OK;
    GPU_TRY(g, copy(to, from, bytes, stream), "copying %" PRIu64 " bytes on the device", bytes);
    return ERR_OK;
}

Err gpu_fill(Gpu *g, uint64_t to, unsigned char byte, uint64_t bytes, void *stream)
{
    if (bytes == 0) return ERR_OK;
    GPU_TRY(g, fill(to, byte, bytes, stream), "filling %" PRIu64 " bytes on the device", bytes);
    return ERR_OK;
}

/* ---- streams and events ---- */

Err gpu_stream_new(Gpu *g, void **out)
{
    GPU_TRY(g, stream_new(out, CUDA_STREAM_NON_BLOCKING), "a stream");
    return ERR_OK;
}

void gpu_stream_free(Gpu *g, void *stream)
{
    if (stream) g->driver->stream_free(stream);
}

Err gpu_event_new(Gpu *g, GpuEvent *out)
{
    GPU_TRY(g, event_new(out, 0), "an event");
    return ERR_OK;
}

void gpu_event_free(Gpu *g, GpuEvent e)
{
    if (e) g->driver->event_free(e);
}

Err gpu_event_record(Gpu *g, GpuEvent e, void *stream)
{
    GPU_TRY(g, event_record(e, stream), "recording an event");
    return ERR_OK;
}

Err gpu_event_elapsed(Gpu *g, GpuEvent start, GpuEvent stop, uint64_t *ns)
{
    float ms = 0;
    GPU_TRY(g, event_elapsed(&ms, start, stop), "time between two events");
    *ns = ms > 0 ? (uint64_t)((double)ms * 1e6 + 0.5) : 0;
    return ERR_OK;
}

/* ---- graphs ---- */

struct GpuGraph {
    GpuExec exec;
};

Err gpu_graph_begin(Gpu *g, void *stream)
{
    const GpuDriver *d = g->driver;
    if (!d->capture_begin || !d->capture_end || !d->graph_make || !d->graph_launch || !d->graph_free ||
        !d->exec_free)
        FAIL(ERR_FAILED, "the %s driver has no graphs", d->kind->label);
    GPU_TRY(g, capture_begin(stream, CUDA_CAPTURE_RELAXED), "beginning a graph");
    return ERR_OK;
}

Err gpu_graph_end(Gpu *g, void *stream, GpuGraph **out)
{
    GpuGraphHandle graph = NULL;
    GpuExec exec = NULL;
    *out = NULL;
    GPU_TRY(g, capture_end(stream, &graph), "ending a graph");
    GpuErr rc = g->driver->graph_make(&exec, graph, 0);
    g->driver->graph_free(graph);
    if (rc) return gpu_error(g, rc, "making a graph");
    GpuGraph *own = malloc(sizeof *own);
    if (!own) {
        g->driver->exec_free(exec);
        FAIL(ERR_FAILED, "out of memory for a graph (%zu bytes)", sizeof *own);
    }
    own->exec = exec;
    *out = own;
    return ERR_OK;
}

Err gpu_graph_launch(Gpu *g, GpuGraph *graph, void *stream)
{
    GPU_TRY(g, graph_launch(graph->exec, stream), "launching a graph");
    return ERR_OK;
}

void gpu_graph_free(Gpu *g, GpuGraph *graph)
{
    if (!graph) return;
    g->driver->exec_free(graph->exec);
    free(graph);
}
