/* oneDNN as a peer of convolutions on the host. See peer.h.
 *
 * Algorithms: the tensors as they lie, and ("blocked") the formats that oneDNN prefers, with the reorders to
 * them and back in the time. Versions 2 and 3 of its C interface are supported: in version 2 an operation has
 * a descriptor of its own, and memory descriptors are structures; in version 3 both are made by functions.
 * Numbers are those of dnnl_types.h, which are the same in both; the library is found by the dynamic
 * linker. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/peer/peer.h"

enum {
    DNNL_OK = 0,
    DNNL_INVALID = 2,
    DNNL_UNIMPLEMENTED = 3,
    ENGINE_CPU = 1,
    STREAM_DEFAULT = 1,
    FORMAT_ANY = 1
};
enum { PROP_FORWARD = 96, PROP_DATA = 160, PROP_WEIGHTS = 192, ALGORITHM_DIRECT = 1 };
enum { QUERY_SRC = 129, QUERY_DIFF_SRC, QUERY_WEIGHTS, QUERY_DIFF_WEIGHTS, QUERY_DST, QUERY_DIFF_DST };
enum {
    ARG_SRC = 1,
    ARG_DST = 17,
    ARG_WEIGHTS = 33,
    ARG_DIFF_SRC = 129,
    ARG_DIFF_DST = 145,
    ARG_DIFF_WEIGHTS = 161
};
enum { DIMS = 12, DESCRIPTOR_BYTES = 16384, ALGO_PLAIN = 0, ALGO_BLOCKED, ALGOS };

typedef struct {
    int argument;
    void *memory;
} Arg;

typedef struct {
    int major, minor, patch;
} Version;

/* md: a memory descriptor: a structure of version 2, a handle of version 3. */
typedef struct {
    const Version *(*version)(void);
    int (*engine_create)(void **engine, int kind, size_t index);
    int (*engine_destroy)(void *engine);
    int (*stream_create)(void **stream, void *engine, unsigned flags);
    int (*stream_wait)(void *stream);
    int (*stream_destroy)(void *stream);
    int (*memory_create)(void **memory, const void *md, void *engine, void *data);
    int (*memory_set)(void *memory, void *data);
    int (*memory_destroy)(void *memory);
    int (*primitive_create)(void **primitive, const void *pd);
    int (*execute)(const void *primitive, void *stream, int n, const Arg *args);
    int (*primitive_destroy)(void *primitive);
    const void *(*query_md)(const void *pd, int what, int index);
    int (*pd_destroy)(void *pd);
    int (*md_equal)(const void *a, const void *b);
    int (*reorder)(void **pd, const void *from, void *from_engine, const void *to, void *to_engine,
                   const void *attr);
} Dnnl;

typedef struct {
    int (*md_strides)(void *md, int n, const int64_t *dims, int type, const int64_t *strides);
    int (*md_tag)(void *md, int n, const int64_t *dims, int type, int tag);
    int (*pd_create)(void **pd, const void *op, const void *attr, void *engine, const void *hint);
    int (*forward)(void *op, int prop, int algorithm, const void *src, const void *weights, const void *bias,
                   const void *dst, const int64_t *strides, const int64_t *dilates, const int64_t *left,
                   const int64_t *right);
    int (*data)(void *op, int algorithm, const void *src, const void *weights, const void *dst,
                const int64_t *strides, const int64_t *dilates, const int64_t *left, const int64_t *right);
    int (*weights)(void *op, int algorithm, const void *src, const void *weights, const void *bias,
                   const void *dst, const int64_t *strides, const int64_t *dilates, const int64_t *left,
                   const int64_t *right);
} Dnnl2;

typedef struct {
    int (*md_strides)(void **md, int n, const int64_t *dims, int type, const int64_t *strides);
    int (*md_tag)(void **md, int n, const int64_t *dims, int type, int tag);
    int (*md_destroy)(void *md);
    int (*forward)(void **pd, void *engine, int prop, int algorithm, const void *src, const void *weights,
                   const void *bias, const void *dst, const int64_t *strides, const int64_t *dilates,
                   const int64_t *left, const int64_t *right, const void *attr);
    int (*data)(void **pd, void *engine, int algorithm, const void *src, const void *weights, const void *dst,
                const int64_t *strides, const int64_t *dilates, const int64_t *left, const int64_t *right,
                const void *hint, const void *attr);
    int (*weights)(void **pd, void *engine, int algorithm, const void *src, const void *weights,
                   const void *bias, const void *dst, const int64_t *strides, const int64_t *dilates,
                   const int64_t *left, const int64_t *right, const void *hint, const void *attr);
} Dnnl3;

/* One algorithm. memory: what the primitive works on; plain: the caller's tensors, where they differ. */
typedef struct {
    void *pd, *primitive, *memory[CONV_TENSORS], *plain[CONV_TENSORS];
    void *reorder[CONV_TENSORS]; /* of an operand before the convolution, of the result after it */
} Algo;

typedef struct {
    Peer base;
    PeerLibrary library;
    Dnnl f;
    Dnnl2 f2;
    Dnnl3 f3;
    bool v3;
    void *engine, *stream;
    Algo algo[ALGOS];
    int n_algos;
} OneDnn;

/* ---- loading ---- */

static const PeerSymbol symbols[] = {
    {"dnnl_version", offsetof(Dnnl, version)},
    {"dnnl_engine_create", offsetof(Dnnl, engine_create)},
    {"dnnl_engine_destroy", offsetof(Dnnl, engine_destroy)},
    {"dnnl_stream_create", offsetof(Dnnl, stream_create)},
    {"dnnl_stream_wait", offsetof(Dnnl, stream_wait)},
    {"dnnl_stream_destroy", offsetof(Dnnl, stream_destroy)},
    {"dnnl_memory_create", offsetof(Dnnl, memory_create)},
    {"dnnl_memory_set_data_handle", offsetof(Dnnl, memory_set)},
    {"dnnl_memory_destroy", offsetof(Dnnl, memory_destroy)},
    {"dnnl_primitive_create", offsetof(Dnnl, primitive_create)},
    {"dnnl_primitive_execute", offsetof(Dnnl, execute)},
    {"dnnl_primitive_destroy", offsetof(Dnnl, primitive_destroy)},
    {"dnnl_primitive_desc_query_md", offsetof(Dnnl, query_md)},
    {"dnnl_primitive_desc_destroy", offsetof(Dnnl, pd_destroy)},
    {"dnnl_memory_desc_equal", offsetof(Dnnl, md_equal)},
    {"dnnl_reorder_primitive_desc_create", offsetof(Dnnl, reorder)},
};
static const PeerSymbol symbols2[] = {
    {"dnnl_memory_desc_init_by_strides", offsetof(Dnnl2, md_strides)},
    {"dnnl_memory_desc_init_by_tag", offsetof(Dnnl2, md_tag)},
    {"dnnl_primitive_desc_create", offsetof(Dnnl2, pd_create)},
    {"dnnl_dilated_convolution_forward_desc_init", offsetof(Dnnl2, forward)},
    {"dnnl_dilated_convolution_backward_data_desc_init", offsetof(Dnnl2, data)},
    {"dnnl_dilated_convolution_backward_weights_desc_init", offsetof(Dnnl2, weights)},
};
static const PeerSymbol symbols3[] = {
    {"dnnl_memory_desc_create_with_strides", offsetof(Dnnl3, md_strides)},
    {"dnnl_memory_desc_create_with_tag", offsetof(Dnnl3, md_tag)},
    {"dnnl_memory_desc_destroy", offsetof(Dnnl3, md_destroy)},
    {"dnnl_convolution_forward_primitive_desc_create", offsetof(Dnnl3, forward)},
    {"dnnl_convolution_backward_data_primitive_desc_create", offsetof(Dnnl3, data)},
    {"dnnl_convolution_backward_weights_primitive_desc_create", offsetof(Dnnl3, weights)},
};

static Err status(int code, const char *doing)
{
    /* the names that oneDNN has for its statuses */
    static const char *const names[] = {"",         "out of memory", "invalid arguments", "not implemented",
                                        "last one", "runtime error", "not required"};
    if (code == DNNL_OK) return 0;
    const bool refused = code == DNNL_UNIMPLEMENTED || code == DNNL_INVALID; /* types that it does not mix */
    FAIL(refused ? ERR_INPUT : ERR_FAILED, "peer onednn: %s: %s (%d)", doing,
         code > 0 && code < (int)(sizeof names / sizeof *names) ? names[code] : "unknown status", code);
}

/* oneDNN of Debian runs on OpenMP's threads. */
static void threads_set(void *library, int n)
{
    void (*set)(int) = NULL;
    void *at = dlsym(library, "omp_set_num_threads");
    if (!at || n < 1) return;
    memcpy(&set, &at, sizeof at);
    set(n);
}

static Err onednn_open(Peer *p, int n_threads)
{
    static const char *const files[] = {"libdnnl.so.3", "libdnnl.so.2"};
    OneDnn *o = (OneDnn *)p;
    /* its threads outlive the peer: the library stays in memory */
    TRY(peer_library_open(p, files, sizeof files / sizeof *files, RTLD_NODELETE, &o->library));
    TRY(peer_symbols(p, &o->library, symbols, sizeof symbols / sizeof *symbols, &o->f));
    const Version *v = o->f.version();
    o->v3 = v->major >= 3;
    if (o->v3)
        TRY(peer_symbols(p, &o->library, symbols3, sizeof symbols3 / sizeof *symbols3, &o->f3));
    else
        TRY(peer_symbols(p, &o->library, symbols2, sizeof symbols2 / sizeof *symbols2, &o->f2));
    snprintf(o->base.version, sizeof o->base.version, "onednn %d.%d.%d", v->major, v->minor, v->patch);
    threads_set(o->library.handle, n_threads);
    TRY(status(o->f.engine_create(&o->engine, ENGINE_CPU, 0), "dnnl_engine_create"));
    return status(o->f.stream_create(&o->stream, o->engine, STREAM_DEFAULT), "dnnl_stream_create");
}

static void algo_end(OneDnn *o, Algo *a)
{
    for (int t = 0; t < CONV_TENSORS; t++) {
        if (a->plain[t] && a->plain[t] != a->memory[t]) o->f.memory_destroy(a->plain[t]);
        if (a->memory[t]) o->f.memory_destroy(a->memory[t]);
        if (a->reorder[t]) o->f.primitive_destroy(a->reorder[t]);
    }
    if (a->primitive) o->f.primitive_destroy(a->primitive);
    if (a->pd) o->f.pd_destroy(a->pd);
    *a = (Algo){0};
}

static void onednn_close(Peer *p)
{
    OneDnn *o = (OneDnn *)p;
    for (int i = 0; i < ALGOS; i++) algo_end(o, &o->algo[i]);
    if (o->stream) o->f.stream_destroy(o->stream);
    if (o->engine) o->f.engine_destroy(o->engine);
    peer_library_close(&o->library);
}

/* ---- a convolution ---- */

/* A memory descriptor: a structure in `bytes` (version 2) or a handle. */
typedef struct {
    void *at;
    _Alignas(16) unsigned char bytes[DESCRIPTOR_BYTES];
} Md;

static int data_type(DataType t)
{
    switch (t) {
    case TYPE_H:
        return 1;
    case TYPE_B:
        return 2;
    case TYPE_S:
        return 3;
    case TYPE_I:
        return 4;
    case TYPE_I8:
        return 5;
    default:
        return -1;
    }
}

/* Dimensions of a tensor as oneDNN counts them: filters of several groups have the group in front. */
static int dims_of(const ConvDesc *c, ConvTensor t, int64_t dims[DIMS], int64_t strides[DIMS])
{
    int64_t size[CONV_DIMS], stride[CONV_DIMS];
    const int64_t groups = c->size.groups;
    int n = 0;
    conv_tensor(c, t, size, stride);
    if (t == CONV_FILTER && groups > 1) {
        dims[n] = groups, strides[n++] = stride[0] * (size[0] / groups);
        size[0] /= groups;
    }
    for (int i = 0; i < CONV_DIMS; i++)
        if (i != 2 || c->n_spatial == CONV_SPATIAL) dims[n] = size[i], strides[n++] = stride[i];
    return n;
}

static Err md_init(OneDnn *o, const ConvDesc *c, ConvTensor t, bool any, Md *md)
{
    int64_t dims[DIMS], strides[DIMS];
    const int n = dims_of(c, t, dims, strides), type = data_type((DataType)c->type[t]);
    memset(md, 0, sizeof *md);
    if (type < 0) FAIL(ERR_INPUT, "peer onednn: no type for '%s'", type_enum_name((DataType)c->type[t]));
    int code;
    if (o->v3) {
        code = any ? o->f3.md_tag(&md->at, n, dims, type, FORMAT_ANY)
                   : o->f3.md_strides(&md->at, n, dims, type, strides);
    } else {
        md->at = md->bytes;
        code = any ? o->f2.md_tag(md->at, n, dims, type, FORMAT_ANY)
                   : o->f2.md_strides(md->at, n, dims, type, strides);
    }
    return status(code, "memory descriptor");
}

static void md_fini(OneDnn *o, Md *md)
{
    if (o->v3 && md->at) o->f3.md_destroy(md->at);
}

typedef struct {
    int64_t stride[CONV_SPATIAL], dilate[CONV_SPATIAL], left[CONV_SPATIAL], right[CONV_SPATIAL];
} Window;

/* Slowest dimension first; oneDNN's dilation of neighbours is 0. */
static void window_of(const ConvDesc *c, Window *w)
{
    const ConvSize *s = &c->size;
    for (int d = 0; d < c->n_spatial; d++) {
        const int to = c->n_spatial - 1 - d;
        w->stride[to] = s->stride[d], w->dilate[to] = s->dilation[d] - 1;
        w->left[to] = s->pad[d], w->right[to] = s->pad_end[d];
    }
}

/* A primitive descriptor; prop: the direction. hint: of the forward pass, for the other two. */
static int pd_make(OneDnn *o, int prop, Md md[CONV_TENSORS], const Window *w, const void *hint, void **pd)
{
    const void *in = md[CONV_INPUT].at, *filter = md[CONV_FILTER].at, *out = md[CONV_OUTPUT].at;
    const int how = ALGORITHM_DIRECT;
    if (o->v3 && prop == PROP_FORWARD)
        return o->f3.forward(pd, o->engine, prop, how, in, filter, NULL, out, w->stride, w->dilate, w->left,
                             w->right, NULL);
    if (o->v3 && prop == PROP_DATA)
        return o->f3.data(pd, o->engine, how, in, filter, out, w->stride, w->dilate, w->left, w->right, hint,
                          NULL);
    if (o->v3)
        return o->f3.weights(pd, o->engine, how, in, filter, NULL, out, w->stride, w->dilate, w->left,
                             w->right, hint, NULL);
    void *op = calloc(1, DESCRIPTOR_BYTES);
    if (!op) return 1;
    int code = prop == PROP_FORWARD ? o->f2.forward(op, prop, how, in, filter, NULL, out, w->stride,
                                                    w->dilate, w->left, w->right)
               : prop == PROP_DATA
                   ? o->f2.data(op, how, in, filter, out, w->stride, w->dilate, w->left, w->right)
                   : o->f2.weights(op, how, in, filter, NULL, out, w->stride, w->dilate, w->left, w->right);
    if (!code) code = o->f2.pd_create(pd, op, NULL, o->engine, hint);
    free(op);
    return code;
}

static int query_of(const ConvDesc *c, ConvTensor t)
{
    static const int plain[] = {QUERY_SRC, QUERY_WEIGHTS, QUERY_DST};
    static const int diff[] = {QUERY_DIFF_SRC, QUERY_DIFF_WEIGHTS, QUERY_DIFF_DST};
    const bool gradient = c->op != OP_CONV_FORWARD && (t == CONV_OUTPUT || t == conv_result(c));
    return gradient ? diff[t] : plain[t];
}

static int argument_of(const ConvDesc *c, ConvTensor t)
{
    static const int plain[] = {ARG_SRC, ARG_WEIGHTS, ARG_DST};
    static const int diff[] = {ARG_DIFF_SRC, ARG_DIFF_WEIGHTS, ARG_DIFF_DST};
    const bool gradient = c->op != OP_CONV_FORWARD && (t == CONV_OUTPUT || t == conv_result(c));
    return gradient ? diff[t] : plain[t];
}

/* The primitive descriptor of the direction, with the forward pass as its hint. */
static Err descriptor(OneDnn *o, const ConvDesc *c, bool any, void **pd)
{
    Md *md = calloc(CONV_TENSORS, sizeof *md);
    Window w = {0};
    void *hint = NULL;
    Err e = md ? ERR_OK : err_set(ERR_FAILED, "out of memory for the peer");
    window_of(c, &w);
    for (int t = 0; t < CONV_TENSORS && !e; t++) e = md_init(o, c, (ConvTensor)t, any, &md[t]);
    const int prop = c->op == OP_CONV_FORWARD         ? PROP_FORWARD
                     : c->op == OP_CONV_BACKWARD_DATA ? PROP_DATA
                                                      : PROP_WEIGHTS;
    if (!e && prop != PROP_FORWARD) e = status(pd_make(o, PROP_FORWARD, md, &w, NULL, &hint), "convolution");
    if (!e) e = status(pd_make(o, prop, md, &w, hint, pd), "convolution");
    if (hint) o->f.pd_destroy(hint);
    for (int t = 0; t < CONV_TENSORS && md; t++) md_fini(o, &md[t]);
    free(md);
    return e;
}

static int reorder_make(OneDnn *o, const void *from, const void *to, void **primitive)
{
    void *pd = NULL;
    int code = o->f.reorder(&pd, from, o->engine, to, o->engine, NULL);
    if (!code) code = o->f.primitive_create(primitive, pd);
    if (pd) o->f.pd_destroy(pd);
    return code;
}

/* Memory of a tensor: the caller's, or a buffer of oneDNN's with reorders. */
static Err memory_make(OneDnn *o, const ConvDesc *c, Algo *a, ConvTensor t)
{
    enum { ALLOCATE = -1 }; /* DNNL_MEMORY_ALLOCATE */
    const void *want = o->f.query_md(a->pd, query_of(c, t), 0);
    Md plain;
    TRY(md_init(o, c, t, false, &plain));
    int code;
    if (o->f.md_equal(want, plain.at)) {
        code = o->f.memory_create(&a->memory[t], plain.at, o->engine, NULL);
        a->plain[t] = a->memory[t];
    } else {
        const bool result = t == conv_result(c);
        code = o->f.memory_create(&a->memory[t], want, o->engine, (void *)(intptr_t)ALLOCATE);
        if (!code) code = o->f.memory_create(&a->plain[t], plain.at, o->engine, NULL);
        if (!code) code = reorder_make(o, result ? want : plain.at, result ? plain.at : want, &a->reorder[t]);
    }
    md_fini(o, &plain);
    return status(code, "memory");
}

static Err algo_init(OneDnn *o, const ConvDesc *c, bool any, Algo *a)
{
    TRY(descriptor(o, c, any, &a->pd));
    TRY(status(o->f.primitive_create(&a->primitive, a->pd), "dnnl_primitive_create"));
    for (int t = 0; t < CONV_TENSORS; t++) TRY(memory_make(o, c, a, (ConvTensor)t));
    return ERR_OK;
}

static Err onednn_conv(Peer *peer, const ConvDesc *c, int *n_algos)
{
    OneDnn *o = (OneDnn *)peer;
    for (int i = 0; i < ALGOS; i++) algo_end(o, &o->algo[i]);
    o->n_algos = 0;
    if (c->xf32) FAIL(ERR_INPUT, "peer onednn multiplies f32 without rounding (xf32)");
    for (int i = 0; i < ALGOS; i++) {
        Algo *a = &o->algo[o->n_algos];
        const Err e = algo_init(o, c, i == ALGO_BLOCKED, a);
        if (!e) {
            o->n_algos++;
            continue;
        }
        algo_end(o, a);
        if (e != ERR_INPUT || (i + 1 == ALGOS && !o->n_algos)) return e;
        err_clear();
    }
    *n_algos = o->n_algos;
    return ERR_OK;
}

static int reorder_run(OneDnn *o, const Algo *a, ConvTensor t, bool back)
{
    if (!a->reorder[t]) return 0;
    const Arg args[] = {{ARG_SRC, back ? a->memory[t] : a->plain[t]},
                        {ARG_DST, back ? a->plain[t] : a->memory[t]}};
    return o->f.execute(a->reorder[t], o->stream, 2, args);
}

static Err onednn_launch(Peer *peer, const ConvDesc *c, const uint64_t address[CONV_TENSORS], int algo)
{
    OneDnn *o = (OneDnn *)peer;
    const Algo *a = &o->algo[algo];
    const ConvTensor result = conv_result(c);
    Arg args[CONV_TENSORS];
    int code = 0;
    for (int t = 0; t < CONV_TENSORS && !code; t++) {
        args[t] = (Arg){argument_of(c, (ConvTensor)t), a->memory[t]};
        code = o->f.memory_set(a->plain[t], (void *)(uintptr_t)address[t]);
        if (!code && t != (int)result) code = reorder_run(o, a, (ConvTensor)t, false);
    }
    if (!code) code = o->f.execute(a->primitive, o->stream, CONV_TENSORS, args);
    if (!code) code = reorder_run(o, a, result, true);
    if (!code) code = o->f.stream_wait(o->stream);
    return status(code, "dnnl_primitive_execute");
}

static void onednn_algo_name(const Peer *peer, int algo, Buf *out)
{
    const OneDnn *o = (const OneDnn *)peer;
    bool blocked = false;
    for (int t = 0; t < CONV_TENSORS; t++) blocked |= o->algo[algo].reorder[t] != NULL;
    buf_puts(out, blocked ? "blocked" : "plain");
}

const PeerApi peer_onednn = {
    .name = "onednn",
    .device = "host",
    .package = "libdnnl3 or libdnnl2",
    .bytes = sizeof(OneDnn),
    .open = onednn_open,
    .close = onednn_close,
    .conv = onednn_conv,
    .conv_launch = onednn_launch,
    .algo_name = onednn_algo_name,
};
