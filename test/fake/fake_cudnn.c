/* A fake cuDNN 9 for tests, of the backend functions that the peer calls: checks every call, computes
 * convolutions of f32 on the fake driver's memory and lets it play a launch, so that time passes. The
 * heuristics have four engines: 1 takes two launches, 2 rounds f32 (a note says so) and takes one, 3 cannot
 * be made a plan, 4 takes one. TUNER_FAKE: cudnn_wrong=1: one element of its results is wrong. */
#include "test/fake/fake.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define API __attribute__((visibility("default")))
enum { SUCCESS = 0, BAD_PARAM = 2000, NOT_SUPPORTED = 3000, EXECUTION_FAILED = 5000 };
enum {
    CONVOLUTION = 1,
    ENGINE = 2,
    ENGINECFG = 3,
    HEURISTIC = 4,
    PLAN = 5,
    FORWARD = 10,
    FILTER = 11,
    DATA = 12,
    OP_GRAPH = 15,
    PACK = 16,
    TENSOR = 17
};
enum { ATTRIBUTES = 12, ATTRIBUTE_BYTES = 64, DIMS = 5, ROUNDS_F32 = 2, NO_PLAN = 3, TWO_LAUNCHES = 1 };

typedef struct {
    int name, type;
    int64_t n;
    unsigned char data[ATTRIBUTE_BYTES];
} Attribute;

typedef struct Desc {
    int type, n, index; /* index: of an engine, its configuration and plan */
    bool done;
    Attribute a[ATTRIBUTES];
    struct Desc *graph;
} Desc;

typedef struct {
    void *stream;
} Handle;

static size_t type_bytes(int type) { return type == 1 || type == 4 || (type >= 7 && type <= 11) ? 4 : 8; }

static const Attribute *find(const Desc *d, int name)
{
    for (int i = 0; i < d->n; i++)
        if (d->a[i].name == name) return &d->a[i];
    return NULL;
}

static const void *value(const Desc *d, int name)
{
    const Attribute *a = d ? find(d, name) : NULL;
    if (!a) abort();
    return a->data;
}

static Desc *pointer(const Desc *d, int name)
{
    Desc *to;
    memcpy(&to, value(d, name), sizeof to);
    return to;
}

/* ---- functions ---- */

API size_t cudnnGetVersion(void);
API size_t cudnnGetVersion(void) { return 91400; }

API const char *cudnnGetErrorString(int status);
API const char *cudnnGetErrorString(int status)
{
    return status == NOT_SUPPORTED ? "CUDNN_STATUS_NOT_SUPPORTED" : "CUDNN_STATUS_OTHER";
}

API int cudnnCreate(Handle **handle);
API int cudnnCreate(Handle **handle)
{
    *handle = calloc(1, sizeof **handle);
    return *handle ? SUCCESS : EXECUTION_FAILED;
}

API int cudnnDestroy(Handle *handle);
API int cudnnDestroy(Handle *handle)
{
    free(handle);
    return SUCCESS;
}

API int cudnnSetStream(Handle *handle, void *stream);
API int cudnnSetStream(Handle *handle, void *stream)
{
    handle->stream = stream;
    return stream ? SUCCESS : fake_wrong(BAD_PARAM, "cudnnSetStream: no stream");
}

API int cudnnBackendCreateDescriptor(int type, Desc **out);
API int cudnnBackendCreateDescriptor(int type, Desc **out)
{
    *out = calloc(1, sizeof **out);
    if (*out) (*out)->type = type;
    return *out ? SUCCESS : EXECUTION_FAILED;
}

API int cudnnBackendDestroyDescriptor(Desc *d);
API int cudnnBackendDestroyDescriptor(Desc *d)
{
    free(d);
    return SUCCESS;
}

API int cudnnBackendSetAttribute(Desc *d, int name, int type, int64_t n, const void *elements);
API int cudnnBackendSetAttribute(Desc *d, int name, int type, int64_t n, const void *elements)
{
    const size_t bytes = (size_t)n * type_bytes(type);
    if (d->done || n < 1 || bytes > ATTRIBUTE_BYTES || d->n == ATTRIBUTES || find(d, name))
        return fake_wrong(BAD_PARAM, "cudnnBackendSetAttribute: %d of descriptor %d", name, d->type);
    d->a[d->n] = (Attribute){.name = name, .type = type, .n = n};
    memcpy(d->a[d->n++].data, elements, bytes);
    return SUCCESS;
}

API int cudnnBackendFinalize(Desc *d);
API int cudnnBackendFinalize(Desc *d)
{
    static const int needs[][2] = {{TENSOR, 5},   {CONVOLUTION, 7}, {FORWARD, 6}, {DATA, 6}, {FILTER, 6},
                                   {OP_GRAPH, 2}, {HEURISTIC, 2},   {PLAN, 2},    {PACK, 3}};
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++)
        if (needs[i][0] == d->type && d->n != needs[i][1])
            return fake_wrong(BAD_PARAM, "cudnnBackendFinalize: descriptor %d has %d attributes", d->type,
                              d->n);
    if (d->type == PLAN) {
        const Desc *config = pointer(d, 401);
        d->index = config->index, d->graph = config->graph;
        if (d->index == NO_PLAN) return NOT_SUPPORTED;
    }
    d->done = true;
    return SUCCESS;
}

API int cudnnBackendGetAttribute(Desc *d, int name, int type, int64_t wanted, int64_t *n, void *elements);
API int cudnnBackendGetAttribute(Desc *d, int name, int type, int64_t wanted, int64_t *n, void *elements)
{
    const int note = 0; /* tensor core */
    Desc **results = elements;
    (void)type;
    *n = 0;
    if (d->type == HEURISTIC) {
        int mode;
        memcpy(&mode, value(d, 200), sizeof mode);
        for (int i = 0; i < 2 && i < wanted; i++, ++*n) {
            results[i]->index = i + (mode == 3 ? 1 : 3);
            results[i]->graph = pointer(d, 201);
        }
    } else if (d->type == ENGINECFG && name == 300) {
        results[0]->index = d->index;
        *n = 1;
    } else if (d->type == ENGINE && d->index == ROUNDS_F32) {
        memcpy(elements, &note, sizeof note);
        *n = 1;
    } else if (d->type == PLAN) {
        const int64_t bytes = d->index * 256;
        memcpy(elements, &bytes, sizeof bytes);
        *n = 1;
    }
    return SUCCESS;
}

/* ---- a convolution ---- */

typedef struct {
    int64_t n, size[DIMS], stride[DIMS];
    float *at;
} Operand;

static Operand operand(const Desc *operation, int name, const Desc *pack)
{
    const Desc *t = pointer(operation, name);
    Operand o = {.n = find(t, 902)->n};
    int64_t id, ids[3];
    void *at[3];
    memcpy(o.size, value(t, 902), (size_t)o.n * sizeof *o.size);
    memcpy(o.stride, value(t, 903), (size_t)o.n * sizeof *o.stride);
    memcpy(&id, value(t, 906), sizeof id);
    memcpy(ids, value(pack, 1000), sizeof ids);
    memcpy(at, value(pack, 1001), sizeof at);
    for (int i = 0; i < 3; i++)
        if (ids[i] == id) o.at = at[i];
    return o;
}

/* The offset of (i, j, positions); false: outside. */
static bool offset(const Operand *o, int64_t i, int64_t j, const int64_t *p, int64_t *at)
{
    *at = i * o->stride[0] + j * o->stride[1];
    for (int64_t d = 2; d < o->n; d++) {
        if (p[d - 2] < 0 || p[d - 2] >= o->size[d]) return false;
        *at += p[d - 2] * o->stride[d];
    }
    return true;
}

static int64_t positions(const Operand *o)
{
    int64_t all = 1;
    for (int64_t d = 2; d < o->n; d++) all *= o->size[d];
    return all;
}

static void split(const Operand *o, int64_t index, int64_t *p)
{
    for (int64_t d = o->n - 1; d >= 2; d--) {
        p[d - 2] = index % o->size[d];
        index /= o->size[d];
    }
}

static void clear(const Operand *o)
{
    int64_t p[DIMS], at;
    for (int64_t i = 0; i < o->size[0]; i++)
        for (int64_t j = 0; j < o->size[1]; j++)
            for (int64_t k = 0; k < positions(o); k++) {
                split(o, k, p);
                if (offset(o, i, j, p, &at)) o->at[at] = 0;
            }
}

/* One image and output channel. */
static void add_all(int type, const Desc *conv, const Operand *w, const Operand *x, const Operand *y,
                    int64_t n, int64_t k)
{
    const int64_t *dilation = value(conv, 102), *stride = value(conv, 103), *pad = value(conv, 105);
    const int64_t first = k / (y->size[1] / (x->size[1] / w->size[1])) * w->size[1];
    int64_t po[DIMS], pw[DIMS], px[DIMS], ax, aw, ay;
    for (int64_t c = 0; c < w->size[1]; c++)
        for (int64_t o = 0; o < positions(y); o++)
            for (int64_t t = 0; t < positions(w); t++) {
                split(y, o, po), split(w, t, pw);
                for (int64_t d = 0; d + 2 < x->n; d++)
                    px[d] = po[d] * stride[d] + pw[d] * dilation[d] - pad[d];
                if (!offset(x, n, first + c, px, &ax) || !offset(w, k, c, pw, &aw) ||
                    !offset(y, n, k, po, &ay))
                    continue;
                if (type == FORWARD)
                    y->at[ay] += x->at[ax] * w->at[aw];
                else if (type == DATA)
                    x->at[ax] += y->at[ay] * w->at[aw];
                else
                    w->at[aw] += y->at[ay] * x->at[ax];
            }
}

/* A launch of the fake driver on the stream. */
static int play(void *stream)
{
    int (*load)(void **, const void *), (*get)(void **, void *, const char *);
    int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *,
                  void **, void **);
    static const char *const names[] = {"cuModuleLoadData", "cuModuleGetFunction", "cuLaunchKernel"};
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD), *at[3], *module = NULL, *function = NULL;
    for (int i = 0; i < 3; i++)
        if (!library || !(at[i] = dlsym(library, names[i]))) abort();
    memcpy(&load, &at[0], sizeof load), memcpy(&get, &at[1], sizeof get),
        memcpy(&launch, &at[2], sizeof launch);
    size_t n = 0;
    void *extra[] = {(void *)1, &n, (void *)2, &n, NULL};
    return load(&module, "FAKE sm_90\nfake_conv 0 0\n") || get(&function, module, "fake_conv") ||
           launch(function, 1, 1, 1, 32, 1, 1, 0, stream, NULL, extra);
}

API int cudnnBackendExecute(Handle *handle, Desc *plan, Desc *pack);
API int cudnnBackendExecute(Handle *handle, Desc *plan, Desc *pack)
{
    if (!plan->done || !pack->done) return fake_wrong(BAD_PARAM, "cudnnBackendExecute: not finalised");
    const Desc *op = pointer(plan->graph, 801);
    const int base = op->type == FORWARD ? 700 : op->type == DATA ? 706 : 712;
    const Operand w = operand(op, base + 3, pack), x = operand(op, base + 4, pack),
                  y = operand(op, base + 5, pack);
    const Operand *result = op->type == FORWARD ? &y : op->type == DATA ? &x : &w;
    int type;
    memcpy(&type, value(pointer(op, base + 3), 901), sizeof type);
    if (type) return NOT_SUPPORTED; /* f32 alone */
    clear(result);
    for (int64_t n = 0; n < y.size[0]; n++)
        for (int64_t k = 0; k < y.size[1]; k++) add_all(op->type, pointer(op, base + 2), &w, &x, &y, n, k);
    if (fake_number("cudnn_wrong", 0)) result->at[0] += 1000;
    for (int i = 0; i < (plan->index == TWO_LAUNCHES ? 2 : 1); i++)
        if (play(handle->stream)) return EXECUTION_FAILED;
    return SUCCESS;
}
