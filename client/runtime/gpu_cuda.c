/* GPU: the parts for CUDA: contexts, dynamic shared memory, compute capabilities, tensor maps. See
 * gpu_priv.h. */
#include <stdio.h>
#include <string.h>

#include "client/runtime/gpu_priv.h"
#include "problem/datatype.h"

static const GpuSymbol symbols[] = {
#define GPU_FN(field, needed, cuda, hip, params) {#cuda, offsetof(GpuDriver, field), needed},
#define CUDA_FN(field, needed, cuda, params) {#cuda, offsetof(GpuDriver, field), needed},
#define HIP_FN(field, needed, hip, params)
#include "client/runtime/gpu_symbols.def"
#undef GPU_FN
#undef CUDA_FN
#undef HIP_FN
    {NULL, 0, false},
};

static void cuda_error(const GpuDriver *d, GpuErr code, const char **name, const char **text)
{
    if (d->error_name(code, name)) *name = NULL;
    if (d->error_text(code, text)) *text = NULL;
}

static Err cuda_context_open(Gpu *g)
{
    GPU_TRY(g, context_take(&g->context, g->device), "context of cuda device %d", g->index);
    return ERR_OK;
}

static void cuda_context_close(Gpu *g) { g->driver->context_give(g->device); }

static Err cuda_architecture(Gpu *g, char *out, size_t bytes)
{
    enum { MAJOR = 75, MINOR = 76 };
    int major = 0, minor = 0;
    GPU_TRY(g, device_attribute(&major, MAJOR, g->device), "compute capability of device %d", g->index);
    GPU_TRY(g, device_attribute(&minor, MINOR, g->device), "compute capability of device %d", g->index);
    snprintf(out, bytes, "sm_%d%d", major, minor);
    return ERR_OK;
}

static void cuda_version(int number, char *out, size_t bytes)
{
    snprintf(out, bytes, "CUDA %d.%d", number / 1000, number % 1000 / 10);
}

/* Reads the bytes of the parameter list and the tensor maps in it, if the driver can (CUDA 12.4 and
 * later). */
static void read_parameters(const GpuDriver *d, GpuKernel *k)
{
    size_t at = 0, bytes = 0, end = 0;
    if (!d->function_param) return;
    for (size_t i = 0; i < 256 && !d->function_param(k->function, i, &at, &bytes); i++) {
        if (at + bytes > end) end = at + bytes;
        if (bytes != TENSOR_MAP_BYTES) continue;
        if (k->n_maps++ == 0) k->maps_at = (uint32_t)at;
    }
    k->arg_bytes = (uint32_t)end;
}

/* How many work-groups of a kernel with clusters run at once. A cluster runs inside one GPC, and GPCs of a
 * device differ in their multiprocessors: of 132, an H200 uses 120 with clusters of 4. */
static uint32_t most_in_clusters(const GpuDriver *d, const GpuKernel *k)
{
    enum { MOST_THREADS = 0, CLUSTER_WIDTH = 11 }; /* CUfunction_attribute */
    int threads = 0, width = 0, n = 0;
    if (!d->function_get || !d->active_clusters) return 0;
    if (d->function_get(&width, CLUSTER_WIDTH, k->function) || width < 2 || width > 16) return 0;
    if (d->function_get(&threads, MOST_THREADS, k->function) || threads < 1) return 0;
    const GpuLaunchConfig config = {
        .grid = {(unsigned)width, 1, 1}, .group = {(unsigned)threads, 1, 1}, .lds_bytes = k->dynamic_bytes};
    if (d->active_clusters(&n, k->function, &config) || n < 1) return 0;
    return (uint32_t)n * (uint32_t)width;
}

/* More than 48 KiB of shared memory must be dynamic and must be requested; the kernel's module has the number
 * of bytes in an unsigned. */
static Err ask_for_shared(Gpu *g, const GpuModule *m, GpuKernel *k)
{
    char name[512];
    GpuPtr at;
    size_t bytes = 0;
    uint32_t wanted = 0;
    int n = snprintf(name, sizeof name, "%s_dynamic_lds", k->symbol);
    if (n < 0 || (size_t)n >= sizeof name) FAIL(ERR_INPUT, "kernel name of %zu bytes", strlen(k->symbol));
    GpuErr rc = g->driver->module_global(&at, &bytes, m->handle, name);
    if (rc == CUDA_NOT_FOUND) return ERR_OK;
    if (rc) return gpu_error(g, rc, "%s of %s", name, m->name);
    if (bytes != sizeof wanted) FAIL(ERR_INPUT, "%s of %s has %zu bytes, expected 4", name, m->name, bytes);
    TRY(gpu_copy_from(g, &wanted, at, sizeof wanted, NULL));
    if (wanted > 1 << 20) FAIL(ERR_INPUT, "%s of %s is %u bytes", name, m->name, wanted);
    k->dynamic_bytes = wanted;
    if (wanted)
        GPU_TRY(g, function_set(k->function, CUDA_DYNAMIC_BYTES, (int)wanted),
                "kernel %s wants %u bytes of shared memory", k->symbol, wanted);
    return ERR_OK;
}

static Err cuda_kernel_ready(Gpu *g, const GpuModule *m, GpuKernel *k)
{
    read_parameters(g->driver, k);
    TRY(ask_for_shared(g, m, k));
    k->most_groups = most_in_clusters(g->driver, k);
    return ERR_OK;
}

/* A launch that may begin before the one in front of it on the stream has ended. */
static GpuErr launch_dependent(Gpu *g, const GpuLaunch *l, uint32_t groups, void **extra)
{
    GpuLaunchAttribute allowed = {.id = CUDA_LAUNCH_DEPENDENT, .value.number = 1};
    const GpuLaunchConfig config = {.grid = {groups, l->grid[1], l->grid[2]},
                                    .group = {l->group[0], l->group[1], l->group[2]},
                                    .lds_bytes = l->kernel->dynamic_bytes + l->lds_bytes,
                                    .stream = l->stream,
                                    .attribute = &allowed,
                                    .n_attributes = 1};
    return g->driver->launch_with(&config, l->kernel->function, NULL, extra);
}

static Err cuda_launch(Gpu *g, const GpuLaunch *l, void **extra)
{
    const GpuKernel *k = l->kernel;
    const uint32_t groups = k->most_groups && l->grid[0] > k->most_groups ? k->most_groups : l->grid[0];
    if (l->start) TRY(gpu_event_record(g, l->start, l->stream));
    if (l->dependent && g->driver->launch_with) {
        GpuErr rc = launch_dependent(g, l, groups, extra);
        if (rc) return gpu_error(g, rc, "launch of %s", k->symbol);
    } else {
        GPU_TRY(g,
                launch(k->function, groups, l->grid[1], l->grid[2], l->group[0], l->group[1], l->group[2],
                       k->dynamic_bytes + l->lds_bytes, l->stream, NULL, extra),
                "launch of %s", k->symbol);
    }
    return l->stop ? gpu_event_record(g, l->stop, l->stream) : ERR_OK;
}

/* CUtensorMapDataType; -1: none. */
static int map_type(int type)
{
    switch (type) {
    case TYPE_I8:
    case TYPE_F8:
    case TYPE_B8:
        return 0; /* bytes */
    case TYPE_I:
        return 3;
    case TYPE_H:
        return 6;
    case TYPE_S:
        return 7;
    case TYPE_D:
        return 8;
    case TYPE_B:
        return 9;
    case TYPE_X: /* the copy rounds f32 to tf32 */
        return 11;
    default:
        return -1;
    }
}

/* The corners are given along W first, as CUTLASS does. */
static GpuErr encode_as(const Gpu *g, const TensorMap *m, int type, int swizzle, int l2, void *map)
{
    static const uint32_t ones[MAP_DIMS] = {1, 1, 1, 1};
    const uint32_t step[MAP_DIMS] = {1, m->step[0], m->step[1], 1};
    void *address = (void *)(uintptr_t)m->address;
    const unsigned rank = (unsigned)m->rank;
    if (m->pixels)
        return g->driver->map_encode_pixels(map, type, rank, address, m->size, m->stride, m->lower, m->upper,
                                            m->box[0], m->box[1], step, 0, swizzle, l2, 0);
    return g->driver->map_encode(map, type, rank, address, m->size, m->stride, m->box, ones, 0, swizzle, l2,
                                 0);
}

static Err encode(void *ctx, const TensorMap *m, unsigned char out[TENSOR_MAP_BYTES])
{
    Gpu *g = ctx;
    const int swizzle = m->swizzle == 128 ? 3 : (int)m->swizzle / 32, l2 = m->l2 == 256 ? 3 : (int)m->l2 / 64;
    _Alignas(128) unsigned char map[TENSOR_MAP_BYTES];
    int type = map_type(m->type);
    if (!g->driver->map_encode || (m->pixels && !g->driver->map_encode_pixels))
        FAIL(ERR_INPUT, "the %s driver has no tensor maps", g->driver->kind->label);
    if (type < 0) FAIL(ERR_INPUT, "data type %s has no tensor map", type_letter((DataType)m->type));
    GpuErr rc = encode_as(g, m, type, swizzle, l2, map);
    if (rc)
        FAIL(
            ERR_INPUT,
            "address 0x%llx (16 aligned), sizes %llu %llu %llu %llu, strides %llu %llu %llu bytes (multiples "
            "of 16), box %u %u elements, swizzle %u%s: refused with error %d",
            (unsigned long long)m->address, (unsigned long long)m->size[0], (unsigned long long)m->size[1],
            (unsigned long long)m->size[2], (unsigned long long)m->size[3], (unsigned long long)m->stride[0],
            (unsigned long long)m->stride[1], (unsigned long long)m->stride[2], m->box[0], m->box[1],
            m->swizzle, m->pixels ? ", pixels" : "", rc);
    memcpy(out, map, sizeof map);
    return ERR_OK;
}

Err gpu_tensor_map(void *ctx, const TensorMap *m, unsigned char out[TENSOR_MAP_BYTES])
{
    Gpu *g = ctx;
    const TensorMapEncoder driver = {encode, g};
    return map_cache_encode(&g->maps, &driver, m, out);
}

static Err cuda_enter(Gpu *g, void **saved)
{
    GPU_TRY(g, context_get(saved), "the thread's context");
    if (*saved != g->context) GPU_TRY(g, context_set(g->context), "context of cuda device %d", g->index);
    return ERR_OK;
}

static void cuda_leave(Gpu *g, void *saved)
{
    if (saved != g->context) g->driver->context_set(saved);
}

static const char *const libraries[] = {"libcuda.so.1", "libcuda.so", NULL};

const GpuKind gpu_cuda = {
    .name = "cuda",
    .label = "CUDA",
    .libraries = libraries,
    .symbols = symbols,
    .attribute = {CUDA_ATTR_CUS, CUDA_ATTR_WAVE, CUDA_ATTR_LDS, CUDA_ATTR_L2, CUDA_ATTR_CLOCK,
                  CUDA_ATTR_MEMORY_CLOCK, CUDA_ATTR_INTEGRATED},
    .n_simd_per_cu = 1,
    .grid_limit = 65535,
    .param_end = CUDA_PARAM_END,
    .error = cuda_error,
    .context_open = cuda_context_open,
    .context_close = cuda_context_close,
    .enter = cuda_enter,
    .leave = cuda_leave,
    .architecture = cuda_architecture,
    .version = cuda_version,
    .kernel_ready = cuda_kernel_ready,
    .launch = cuda_launch,
};
