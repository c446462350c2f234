/* Recorded launches. See record.h. */
#include "client/device/record.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

struct DeviceGraph {
    VEC(DeviceLaunch) launch; /* each owns its args */
};

Err record_begin(Recorder *r)
{
    if (r->open) FAIL(ERR_FAILED, "a graph is being recorded already");
    r->open = calloc(1, sizeof *r->open);
    if (!r->open) FAIL(ERR_FAILED, "out of memory for a graph (%zu bytes)", sizeof *r->open);
    r->failed = 0;
    return 0;
}

static Err keep(DeviceGraph *g, const DeviceLaunch *l)
{
    DeviceLaunch copy = *l;
    void *args = malloc(l->args_bytes + 1);
    if (!args) FAIL(ERR_FAILED, "out of memory for %zu bytes of arguments", l->args_bytes);
    if (l->args_bytes) memcpy(args, l->args, l->args_bytes);
    copy.args = args;
    copy.start = copy.stop = NULL;
    if (VEC_PUSH(&g->launch, copy)) return 0;
    free(args);
    FAIL(ERR_FAILED, "out of memory for %zu launches", g->launch.n);
}

Err record_launch(Recorder *r, const DeviceLaunch *l)
{
    Err e = keep(r->open, l);
    if (e) r->failed = e;
    return e;
}

Err record_end(Recorder *r, DeviceGraph **out)
{
    *out = NULL;
    if (!r->open) FAIL(ERR_FAILED, "no graph is being recorded");
    DeviceGraph *g = r->open;
    r->open = NULL;
    if (r->failed) {
        record_free(g);
        return r->failed;
    }
    *out = g;
    return 0;
}

Err record_run(Device *d, const DeviceGraph *g)
{
    for (size_t i = 0; i < g->launch.n; i++) TRY(d->api->launch(d, &g->launch.v[i]));
    return 0;
}

Err no_tensor_map(Device *d, const TensorMap *map, unsigned char out[TENSOR_MAP_BYTES])
{
    (void)map;
    (void)out;
    FAIL(ERR_INPUT, "device %s has no tensor maps", d->api->name);
}

void record_free(DeviceGraph *g)
{
    if (!g) return;
    union {
        const void *in;
        void *own;
    } args;
    for (size_t i = 0; i < g->launch.n; i++) {
        args.in = g->launch.v[i].args;
        free(args.own);
    }
    VEC_FINI(&g->launch);
    free(g);
}

Err plain_sync(Device *d) { return (void)d, ERR_OK; }
bool plain_lost(const Device *d) { return (void)d, false; }
Err plain_graph_begin(Device *d) { return record_begin(&((PlainDevice *)d)->recorder); }
Err plain_graph_end(Device *d, DeviceGraph **out) { return record_end(&((PlainDevice *)d)->recorder, out); }
Err plain_graph_launch(Device *d, DeviceGraph *g) { return record_run(d, g); }
void plain_graph_free(Device *d, DeviceGraph *g) { (void)d, record_free(g); }
void *plain_stream(Device *d) { return (void)d, NULL; }

Err plain_event_new(Device *d, DeviceEvent **out)
{
    (void)d;
    *out = calloc(1, sizeof **out);
    if (!*out) FAIL(ERR_FAILED, "out of memory for an event (%zu bytes)", sizeof **out);
    return 0;
}

void plain_event_free(Device *d, DeviceEvent *e) { (void)d, free(e); }

Err plain_event_elapsed(Device *d, const DeviceEvent *start, const DeviceEvent *stop, uint64_t *ns)
{
    (void)d;
    *ns = stop->ns - start->ns;
    return 0;
}
