/* Fake GPU drivers: memory, streams, events, graphs, and what has not been given back. See fake.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test/fake/fake_priv.h"

/* ---- memory ---- */

static uint64_t memory_total(void) { return (uint64_t)fake_number("memory", 1 << 30); }

API int FN(cuMemGetInfo_v2, hipMemGetInfo)(size_t *there, size_t *total);
API int FN(cuMemGetInfo_v2, hipMemGetInfo)(size_t *there, size_t *total)
{
    READY;
    *total = memory_total();
    *there = *total - objects_bytes();
    return OK;
}

API int FN(cuMemAlloc_v2, hipMalloc)(uint64_t *address, size_t bytes);
API int FN(cuMemAlloc_v2, hipMalloc)(uint64_t *address, size_t bytes)
{
    READY;
    void *p;
    if (bytes == 0) return fake_wrong(BAD_VALUE, "alloc of 0 bytes");
    if (bytes > memory_total() - objects_bytes() || posix_memalign(&p, 256, bytes)) return NO_MEMORY;
    memset(p, 0xDB, bytes); /* what was there before */
    Object *o = object_new(BUFFER);
    o->memory = p;
    o->size = bytes;
    *address = (uint64_t)(uintptr_t)p;
    return OK;
}

API int FN(cuMemFree_v2, hipFree)(uint64_t address);
API int FN(cuMemFree_v2, hipFree)(uint64_t address)
{
    Object *o = buffer_at(address, 1);
    if (!o || (uint64_t)(uintptr_t)o->memory != address)
        return fake_wrong(BAD_VALUE, "free of what is no buffer");
    o->alive = false;
    free(o->memory);
    o->memory = NULL;
    return OK;
}

API int FN(cuMemHostAlloc, hipHostMalloc)(void **p, size_t bytes, unsigned flags);
API int FN(cuMemHostAlloc, hipHostMalloc)(void **p, size_t bytes, unsigned flags)
{
    READY;
    if (bytes == 0 || flags)
        return fake_wrong(BAD_VALUE, "pinned memory of %zu bytes, flags %u", bytes, flags);
    *p = malloc(bytes);
    return *p ? OK : NO_MEMORY;
}

API int FN(cuMemFreeHost, hipHostFree)(void *p);
API int FN(cuMemFreeHost, hipHostFree)(void *p)
{
    free(p);
    return OK;
}

static int check_range(const char *who, uint64_t address, size_t bytes, void *stream)
{
    READY;
    if (stream && !object_get(stream, STREAM)) return fake_wrong(BAD_HANDLE, "%s: no such stream", who);
    if (bytes == 0 || !buffer_at(address, bytes))
        return fake_wrong(BAD_VALUE, "%s: %zu bytes out of a buffer", who, bytes);
    return OK;
}

static char *at(uint64_t address) { return (char *)(uintptr_t)address; }

API int FN(cuMemcpyHtoDAsync_v2, hipMemcpyHtoDAsync)(uint64_t to, const void *from, size_t bytes,
                                                     void *stream);
API int FN(cuMemcpyHtoDAsync_v2, hipMemcpyHtoDAsync)(uint64_t to, const void *from, size_t bytes,
                                                     void *stream)
{
    int rc = check_range("copy to the device", to, bytes, stream);
    if (!rc) memcpy(at(to), from, bytes);
    return rc;
}

API int FN(cuMemcpyDtoHAsync_v2, hipMemcpyDtoHAsync)(void *to, uint64_t from, size_t bytes, void *stream);
API int FN(cuMemcpyDtoHAsync_v2, hipMemcpyDtoHAsync)(void *to, uint64_t from, size_t bytes, void *stream)
{
    int rc = check_range("copy from the device", from, bytes, stream);
    if (!rc) memcpy(to, at(from), bytes);
    return rc;
}

API int FN(cuMemcpyDtoDAsync_v2, hipMemcpyDtoDAsync)(uint64_t to, uint64_t from, size_t bytes, void *stream);
API int FN(cuMemcpyDtoDAsync_v2, hipMemcpyDtoDAsync)(uint64_t to, uint64_t from, size_t bytes, void *stream)
{
    int rc = check_range("copy on the device", to, bytes, stream);
    if (!rc) rc = check_range("copy on the device", from, bytes, stream);
    if (!rc) memmove(at(to), at(from), bytes);
    return rc;
}

API int FN(cuMemsetD8Async, hipMemsetD8Async)(uint64_t to, unsigned char byte, size_t n, void *stream);
API int FN(cuMemsetD8Async, hipMemsetD8Async)(uint64_t to, unsigned char byte, size_t n, void *stream)
{
    int rc = check_range("fill", to, n, stream);
    if (!rc) memset(at(to), byte, n);
    if (!rc) fake_log("fill of %zu bytes", n);
    return rc;
}

/* ---- streams and events ---- */

API int FN(cuStreamCreate, hipStreamCreateWithFlags)(void **stream, unsigned flags);
API int FN(cuStreamCreate, hipStreamCreateWithFlags)(void **stream, unsigned flags)
{
    READY;
    if (flags > 1) return fake_wrong(BAD_VALUE, "stream flags %u", flags);
    *stream = object_new(STREAM);
    return OK;
}

API int FN(cuStreamDestroy_v2, hipStreamDestroy)(void *stream);
API int FN(cuStreamDestroy_v2, hipStreamDestroy)(void *stream)
{
    VALID(s, stream, STREAM);
    s->alive = false;
    return OK;
}

API int FN(cuStreamSynchronize, hipStreamSynchronize)(void *stream);
API int FN(cuStreamSynchronize, hipStreamSynchronize)(void *stream)
{
    READY;
    Object *s = stream ? object_get(stream, STREAM) : fake_default_stream();
    if (!s) return fake_wrong(BAD_HANDLE, "sync: no such stream");
    return s->capturing ? fake_wrong(BAD_CAPTURE, "sync of a stream that is being captured") : OK;
}

API int FN(cuEventCreate, hipEventCreateWithFlags)(void **event, unsigned flags);
API int FN(cuEventCreate, hipEventCreateWithFlags)(void **event, unsigned flags)
{
    READY;
    if (flags) return fake_wrong(BAD_VALUE, "event flags %u", flags);
    *event = object_new(EVENT);
    return OK;
}

API int FN(cuEventDestroy_v2, hipEventDestroy)(void *event);
API int FN(cuEventDestroy_v2, hipEventDestroy)(void *event)
{
    VALID(e, event, EVENT);
    e->alive = false;
    return OK;
}

API int FN(cuEventRecord, hipEventRecord)(void *event, void *stream);
API int FN(cuEventRecord, hipEventRecord)(void *event, void *stream)
{
    READY;
    VALID(e, event, EVENT);
    if (stream && !object_get(stream, STREAM)) return fake_wrong(BAD_HANDLE, "event: no such stream");
    e->time_ns = fake_clock_ns;
    e->recorded = true;
    return OK;
}

#ifndef BROKEN
API int FN(cuEventElapsedTime, hipEventElapsedTime)(float *ms, void *start, void *stop);
API int FN(cuEventElapsedTime, hipEventElapsedTime)(float *ms, void *start, void *stop)
{
    READY;
    VALID(a, start, EVENT);
    VALID(b, stop, EVENT);
    if (!a->recorded || !b->recorded) return fake_wrong(BAD_HANDLE, "time of an event that was not recorded");
    *ms = (float)(b->time_ns - a->time_ns) / 1e6f;
    return OK;
}
#endif

/* ---- graphs ---- */

#ifndef OLD
API int FN(cuStreamBeginCapture_v2, hipStreamBeginCapture)(void *stream, int mode);
API int FN(cuStreamBeginCapture_v2, hipStreamBeginCapture)(void *stream, int mode)
{
    READY;
    VALID(s, stream, STREAM);
    if (s->capturing || mode < 0 || mode > 2)
        return fake_wrong(BAD_CAPTURE, "capture: twice or mode %d", mode);
    s->capturing = true;
    s->call = NULL;
    s->n_calls = 0;
    return OK;
}

API int FN(cuStreamEndCapture, hipStreamEndCapture)(void *stream, void **graph);
API int FN(cuStreamEndCapture, hipStreamEndCapture)(void *stream, void **graph)
{
    VALID(s, stream, STREAM);
    if (!s->capturing) return fake_wrong(BAD_CAPTURE, "end of no capture");
    Object *g = object_new(GRAPH);
    g->call = s->call;
    g->n_calls = s->n_calls;
    s->capturing = false;
    s->call = NULL;
    *graph = g;
    return OK;
}

API int FN(cuGraphInstantiateWithFlags, hipGraphInstantiateWithFlags)(void **exec, void *graph,
                                                                      unsigned long long flags);
API int FN(cuGraphInstantiateWithFlags, hipGraphInstantiateWithFlags)(void **exec, void *graph,
                                                                      unsigned long long flags)
{
    READY;
    VALID(g, graph, GRAPH);
    if (flags) return fake_wrong(BAD_VALUE, "graph flags %llu", flags);
    Object *e = object_new(EXEC);
    e->n_calls = g->n_calls;
    e->call = malloc((g->n_calls + 1) * sizeof *e->call);
    if (!e->call) abort();
    if (g->n_calls) memcpy(e->call, g->call, g->n_calls * sizeof *e->call);
    *exec = e;
    return OK;
}

API int FN(cuGraphLaunch, hipGraphLaunch)(void *exec, void *stream);
API int FN(cuGraphLaunch, hipGraphLaunch)(void *exec, void *stream)
{
    READY;
    VALID(e, exec, EXEC);
    if (stream && !object_get(stream, STREAM)) return fake_wrong(BAD_HANDLE, "graph: no such stream");
    fake_log("graph of %zu launches", e->n_calls);
    for (size_t i = 0; i < e->n_calls; i++) fake_play(&e->call[i]);
    return OK;
}

static int destroy(void *handle, ObjectKind kind)
{
    VALID(o, handle, kind);
    free(o->call);
    o->call = NULL;
    o->alive = false;
    return OK;
}

API int FN(cuGraphDestroy, hipGraphDestroy)(void *graph);
API int FN(cuGraphDestroy, hipGraphDestroy)(void *graph) { return destroy(graph, GRAPH); }

API int FN(cuGraphExecDestroy, hipGraphExecDestroy)(void *exec);
API int FN(cuGraphExecDestroy, hipGraphExecDestroy)(void *exec) { return destroy(exec, EXEC); }
#endif

/* For tests: "2 buffers, 1 stream", or "". */
API const char *fake_leaks(void);
API const char *fake_leaks(void)
{
    static const struct {
        ObjectKind kind;
        const char *name;
    } kinds[] = {{BUFFER, "buffer"}, {MODULE, "module"}, {STREAM, "stream"},
                 {EVENT, "event"},   {GRAPH, "graph"},   {EXEC, "exec"}};
    static char text[200];
    text[0] = 0;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t n = objects_alive(kinds[i].kind), end = strlen(text);
        if (n) snprintf(text + end, sizeof text - end, "%s%zu %s", end ? ", " : "", n, kinds[i].name);
    }
    return text;
}
