/* cuDNN as a peer of convolutions on NVIDIA GPUs. See peer.h.
 *
 * Uses the backend interface (operation graphs of one convolution). Algorithms are the first engine
 * configurations that the heuristics of modes A and fallback name and that can be finalised, as frameworks'
 * benchmark mode takes them. Engines that round f32 operands (tensor cores, down-conversion) are left out
 * unless the convolution asks for xf32. Numbers are those of cudnn_graph_v9.h; the library is found by the
 * dynamic linker. */
#include <stdio.h>
#include <string.h>

#include "client/peer/peer.h"

/* PLANS_MAX: of PyTorch (torch.backends.cudnn.benchmark_limit). The heuristics name 24 to 44 configurations,
 * of which some take a second to build; of 57 convolutions on an H200 and an H100 one of the first ten was
 * the fastest on 55. */
enum { PLANS_MAX = 10, RESULTS_MAX = 64, NOTES_MAX = 32, ALIGNMENT = 16 };
static const uint64_t WORKSPACE_MAX = UINT64_C(1) << 32;
enum { MODE_A = 3, MODE_FALLBACK = 2 };
enum { NOTE_TENSOR_CORE = 0, NOTE_DOWN_CONVERT = 1 };
enum { CROSS_CORRELATION = 1 };

/* cudnnBackendDescriptorType_t */
enum {
    D_CONVOLUTION = 1,
    D_ENGINE = 2,
    D_ENGINECFG = 3,
    D_HEURISTIC = 4,
    D_PLAN = 5,
    D_FORWARD = 10,
    D_BACKWARD_FILTER = 11,
    D_BACKWARD_DATA = 12,
    D_GRAPH = 15,
    D_VARIANT_PACK = 16,
    D_TENSOR = 17
};
/* cudnnBackendAttributeName_t */
enum {
    A_CONV_TYPE = 100,
    A_CONV_MODE,
    A_CONV_DILATIONS,
    A_CONV_STRIDES,
    A_CONV_POST_PADS,
    A_CONV_PRE_PADS,
    A_CONV_DIMS,
    A_HEUR_MODE = 200,
    A_HEUR_GRAPH,
    A_HEUR_RESULTS,
    A_CFG_ENGINE = 300,
    A_PLAN_HANDLE = 400,
    A_PLAN_CONFIG,
    A_PLAN_WORKSPACE,
    A_FORWARD = 700, /* alpha, beta, convolution, w, x, y */
    A_DATA = 706,    /* alpha, beta, convolution, w, dx, dy */
    A_FILTER = 712,  /* alpha, beta, convolution, dw, x, dy */
    A_GRAPH_HANDLE = 800,
    A_GRAPH_OPS,
    A_TENSOR_ALIGNMENT = 900,
    A_TENSOR_TYPE,
    A_TENSOR_DIMS,
    A_TENSOR_STRIDES,
    A_TENSOR_ID = 906,
    A_PACK_IDS = 1000,
    A_PACK_POINTERS,
    A_PACK_WORKSPACE = 1003,
    A_ENGINE_NOTES = 1303
};
/* cudnnBackendAttributeType_t */
enum {
    T_HANDLE = 0,
    T_DATA_TYPE = 1,
    T_INT64 = 3,
    T_FLOAT = 4,
    T_POINTER = 6,
    T_CONV_MODE = 7,
    T_HEUR_MODE = 8,
    T_NOTE = 11,
    T_DESCRIPTOR = 15
};

typedef struct {
    int (*create)(void **handle);
    int (*destroy)(void *handle);
    int (*set_stream)(void *handle, void *stream);
    size_t (*version)(void);
    const char *(*error)(int status);
    int (*make)(int type, void **descriptor);
    int (*drop)(void *descriptor);
    int (*finalize)(void *descriptor);
    int (*set)(void *descriptor, int name, int type, int64_t n, const void *elements);
    int (*get)(void *descriptor, int name, int type, int64_t n, int64_t *have, void *elements);
    int (*execute)(void *handle, void *plan, void *pack);
} Backend;

typedef struct {
    Peer base;
    PeerLibrary library;
    Backend f;
    void *handle;
    void *tensor[CONV_TENSORS], *convolution, *operation, *graph;
    void *plan[PLANS_MAX];
    int n_plans;
    DeviceMem workspace;
} Cudnn;

/* ---- loading ---- */

static const PeerSymbol symbols[] = {
    {"cudnnCreate", offsetof(Backend, create)},
    {"cudnnDestroy", offsetof(Backend, destroy)},
    {"cudnnSetStream", offsetof(Backend, set_stream)},
    {"cudnnGetVersion", offsetof(Backend, version)},
    {"cudnnGetErrorString", offsetof(Backend, error)},
    {"cudnnBackendCreateDescriptor", offsetof(Backend, make)},
    {"cudnnBackendDestroyDescriptor", offsetof(Backend, drop)},
    {"cudnnBackendFinalize", offsetof(Backend, finalize)},
    {"cudnnBackendSetAttribute", offsetof(Backend, set)},
    {"cudnnBackendGetAttribute", offsetof(Backend, get)},
    {"cudnnBackendExecute", offsetof(Backend, execute)},
};

static Err status(const Cudnn *c, int code, const char *doing)
{
    if (code == 0) return 0;
    FAIL(ERR_FAILED, "peer cudnn: %s: %s (%d)", doing, c->f.error(code), code);
}

static Err cudnn_open(Peer *p, int n_threads)
{
    static const char *const files[] = {"libcudnn.so.9", "/usr/local/cuda/lib64/libcudnn.so.9"};
    Cudnn *c = (Cudnn *)p;
    (void)n_threads;
    TRY(peer_library_open(p, files, sizeof files / sizeof *files, 0, &c->library));
    TRY(peer_symbols(p, &c->library, symbols, sizeof symbols / sizeof *symbols, &c->f));
    const size_t v = c->f.version(); /* 91400: 9.14.0 */
    snprintf(c->base.version, sizeof c->base.version, "cudnn %zu.%zu.%zu", v / 10000, v / 100 % 100, v % 100);
    TRY(status(c, c->f.create(&c->handle), "cudnnCreate"));
    return status(c, c->f.set_stream(c->handle, p->device->api->stream(p->device)), "cudnnSetStream");
}

static void drop(Cudnn *c, void **descriptor)
{
    if (*descriptor) c->f.drop(*descriptor);
    *descriptor = NULL;
}

static void problem_end(Cudnn *c)
{
    while (c->n_plans > 0) drop(c, &c->plan[--c->n_plans]);
    drop(c, &c->graph);
    drop(c, &c->operation);
    drop(c, &c->convolution);
    for (int t = 0; t < CONV_TENSORS; t++) drop(c, &c->tensor[t]);
    c->base.device->api->free(c->base.device, &c->workspace);
}

static void cudnn_close(Peer *p)
{
    Cudnn *c = (Cudnn *)p;
    if (c->handle) {
        problem_end(c);
        c->f.destroy(c->handle);
    }
    peer_library_close(&c->library);
}

/* ---- descriptors ---- */

/* Attributes are set until one fails. */
static int set(const Cudnn *c, int before, void *descriptor, int name, int type, int64_t n,
               const void *elements)
{
    return before ? before : c->f.set(descriptor, name, type, n, elements);
}

/* cudnnDataType_t; -1: none. */
static int data_type(DataType t)
{
    switch (t) {
    case TYPE_S:
        return 0;
    case TYPE_D:
        return 1;
    case TYPE_H:
        return 2;
    case TYPE_I8:
        return 3;
    case TYPE_I:
        return 4;
    case TYPE_B:
        return 9;
    case TYPE_F8:
    case TYPE_F8_OCP:
        return 12;
    case TYPE_B8:
    case TYPE_B8_OCP:
        return 13;
    default:
        return -1;
    }
}

static Err tensor_make(Cudnn *c, const ConvDesc *conv, ConvTensor t)
{
    int64_t size[CONV_DIMS], stride[CONV_DIMS], dims[CONV_DIMS], strides[CONV_DIMS];
    const int64_t id = t + 1, alignment = ALIGNMENT;
    const int type = data_type((DataType)conv->type[t]);
    int n = 0;
    if (type < 0) FAIL(ERR_INPUT, "peer cudnn: no type for '%s'", type_enum_name((DataType)conv->type[t]));
    conv_tensor(conv, t, size, stride);
    for (int i = 0; i < CONV_DIMS; i++)
        if (i != 2 || conv->n_spatial == CONV_SPATIAL) dims[n] = size[i], strides[n++] = stride[i];
    int code = c->f.make(D_TENSOR, &c->tensor[t]);
    void *d = c->tensor[t];
    code = set(c, code, d, A_TENSOR_TYPE, T_DATA_TYPE, 1, &type);
    code = set(c, code, d, A_TENSOR_DIMS, T_INT64, n, dims);
    code = set(c, code, d, A_TENSOR_STRIDES, T_INT64, n, strides);
    code = set(c, code, d, A_TENSOR_ID, T_INT64, 1, &id);
    code = set(c, code, d, A_TENSOR_ALIGNMENT, T_INT64, 1, &alignment);
    return status(c, code ? code : c->f.finalize(d), "tensor descriptor");
}

/* Strides, dilations and pads, slowest dimension first. */
static Err convolution_make(Cudnn *c, const ConvDesc *conv)
{
    const ConvSize *s = &conv->size;
    const int64_t n = conv->n_spatial;
    const int type = data_type((DataType)conv->compute), mode = CROSS_CORRELATION;
    int64_t stride[CONV_SPATIAL], dilation[CONV_SPATIAL], pre[CONV_SPATIAL], post[CONV_SPATIAL];
    for (int64_t d = 0; d < n; d++) {
        const int64_t to = n - 1 - d;
        stride[to] = s->stride[d], dilation[to] = s->dilation[d];
        pre[to] = s->pad[d], post[to] = s->pad_end[d];
    }
    int code = c->f.make(D_CONVOLUTION, &c->convolution);
    void *d = c->convolution;
    code = set(c, code, d, A_CONV_TYPE, T_DATA_TYPE, 1, &type);
    code = set(c, code, d, A_CONV_MODE, T_CONV_MODE, 1, &mode);
    code = set(c, code, d, A_CONV_DIMS, T_INT64, 1, &n);
    code = set(c, code, d, A_CONV_DILATIONS, T_INT64, n, dilation);
    code = set(c, code, d, A_CONV_STRIDES, T_INT64, n, stride);
    code = set(c, code, d, A_CONV_PRE_PADS, T_INT64, n, pre);
    code = set(c, code, d, A_CONV_POST_PADS, T_INT64, n, post);
    return status(c, code ? code : c->f.finalize(d), "convolution descriptor");
}

static Err graph_make(Cudnn *c, const ConvDesc *conv)
{
    const bool data = conv->op == OP_CONV_BACKWARD_DATA, weights = conv->op == OP_CONV_BACKWARD_WEIGHTS;
    const int first = data ? A_DATA : weights ? A_FILTER : A_FORWARD;
    const float alpha = 1, beta = 0;
    int code = c->f.make(data ? D_BACKWARD_DATA : weights ? D_BACKWARD_FILTER : D_FORWARD, &c->operation);
    void *d = c->operation;
    code = set(c, code, d, first, T_FLOAT, 1, &alpha);
    code = set(c, code, d, first + 1, T_FLOAT, 1, &beta);
    code = set(c, code, d, first + 2, T_DESCRIPTOR, 1, &c->convolution);
    code = set(c, code, d, first + 3, T_DESCRIPTOR, 1, &c->tensor[CONV_FILTER]);
    code = set(c, code, d, first + 4, T_DESCRIPTOR, 1, &c->tensor[CONV_INPUT]);
    code = set(c, code, d, first + 5, T_DESCRIPTOR, 1, &c->tensor[CONV_OUTPUT]);
    TRY(status(c, code ? code : c->f.finalize(d), "operation"));
    code = c->f.make(D_GRAPH, &c->graph);
    code = set(c, code, c->graph, A_GRAPH_HANDLE, T_HANDLE, 1, &c->handle);
    code = set(c, code, c->graph, A_GRAPH_OPS, T_DESCRIPTOR, 1, &c->operation);
    return status(c, code ? code : c->f.finalize(c->graph), "operation graph");
}

/* ---- plans ---- */

/* Whether an engine multiplies f32 as they are. */
static bool keeps_f32(const Cudnn *c, void *config)
{
    void *engine = NULL;
    int notes[NOTES_MAX];
    int64_t n = 0, n_notes = 0;
    bool keeps = true;
    if (c->f.make(D_ENGINE, &engine)) return true;
    if (!c->f.get(config, A_CFG_ENGINE, T_DESCRIPTOR, 1, &n, &engine) &&
        !c->f.get(engine, A_ENGINE_NOTES, T_NOTE, NOTES_MAX, &n_notes, notes))
        for (int64_t i = 0; i < n_notes && i < NOTES_MAX; i++)
            keeps &= notes[i] != NOTE_TENSOR_CORE && notes[i] != NOTE_DOWN_CONVERT;
    c->f.drop(engine);
    return keeps;
}

/* A plan of a configuration; configurations that cannot be finalised, or want too much memory, are passed
 * over. */
static void plan_make(Cudnn *c, void *config, uint64_t *workspace)
{
    int64_t bytes = 0, n = 0;
    void *plan = NULL;
    int code = c->f.make(D_PLAN, &plan);
    code = set(c, code, plan, A_PLAN_HANDLE, T_HANDLE, 1, &c->handle);
    code = set(c, code, plan, A_PLAN_CONFIG, T_DESCRIPTOR, 1, &config);
    if (!code) code = c->f.finalize(plan);
    if (!code) code = c->f.get(plan, A_PLAN_WORKSPACE, T_INT64, 1, &n, &bytes);
    if (code || bytes < 0 || (uint64_t)bytes > WORKSPACE_MAX) {
        drop(c, &plan);
        return;
    }
    if ((uint64_t)bytes > *workspace) *workspace = (uint64_t)bytes;
    c->plan[c->n_plans++] = plan;
}

static void plans_of_mode(Cudnn *c, int mode, bool f32, uint64_t *workspace)
{
    void *heuristic = NULL, *result[RESULTS_MAX] = {NULL};
    int64_t n = 0;
    int code = c->f.make(D_HEURISTIC, &heuristic), made = 0;
    code = set(c, code, heuristic, A_HEUR_GRAPH, T_DESCRIPTOR, 1, &c->graph);
    code = set(c, code, heuristic, A_HEUR_MODE, T_HEUR_MODE, 1, &mode);
    if (!code) code = c->f.finalize(heuristic);
    while (!code && made < RESULTS_MAX && !c->f.make(D_ENGINECFG, &result[made])) made++;
    if (!code && !c->f.get(heuristic, A_HEUR_RESULTS, T_DESCRIPTOR, made, &n, result))
        for (int64_t i = 0; i < n && i < made && c->n_plans < PLANS_MAX; i++)
            if (!f32 || keeps_f32(c, result[i])) plan_make(c, result[i], workspace);
    while (made > 0) c->f.drop(result[--made]);
    drop(c, &heuristic);
}

static Err cudnn_conv(Peer *peer, const ConvDesc *conv, int *n_algos)
{
    Cudnn *c = (Cudnn *)peer;
    const bool f32 = conv->type[conv_right(conv)] == TYPE_S && !conv->xf32;
    uint64_t workspace = 0;
    problem_end(c);
    for (int t = 0; t < CONV_TENSORS; t++) TRY(tensor_make(c, conv, (ConvTensor)t));
    TRY(convolution_make(c, conv));
    TRY(graph_make(c, conv));
    plans_of_mode(c, MODE_A, f32, &workspace);
    plans_of_mode(c, MODE_FALLBACK, f32, &workspace);
    if (c->n_plans == 0) FAIL(ERR_INPUT, "peer cudnn: its heuristics have nothing for this convolution");
    TRY(peer->device->api->alloc(peer->device, workspace, DEVICE_GUARD_NONE, &c->workspace));
    *n_algos = c->n_plans;
    return ERR_OK;
}

static Err cudnn_launch(Peer *peer, const ConvDesc *conv, const uint64_t address[CONV_TENSORS], int algo)
{
    Cudnn *c = (Cudnn *)peer;
    int64_t id[CONV_TENSORS];
    void *at[CONV_TENSORS], *pack = NULL, *workspace = (void *)(uintptr_t)c->workspace.address;
    (void)conv;
    for (int t = 0; t < CONV_TENSORS; t++) {
        id[t] = t + 1;
        at[t] = (void *)(uintptr_t)address[t];
    }
    int code = c->f.make(D_VARIANT_PACK, &pack);
    code = set(c, code, pack, A_PACK_IDS, T_INT64, CONV_TENSORS, id);
    code = set(c, code, pack, A_PACK_POINTERS, T_POINTER, CONV_TENSORS, at);
    code = set(c, code, pack, A_PACK_WORKSPACE, T_POINTER, 1, &workspace);
    if (!code) code = c->f.finalize(pack);
    if (!code) code = c->f.execute(c->handle, c->plan[algo], pack);
    drop(c, &pack);
    return status(c, code, "cudnnBackendExecute");
}

static void cudnn_algo_name(const Peer *peer, int algo, Buf *out)
{
    (void)peer;
    buf_printf(out, "plan%d", algo);
}

const PeerApi peer_cudnn = {
    .name = "cudnn",
    .device = "cuda",
    .bytes = sizeof(Cudnn),
    .open = cudnn_open,
    .close = cudnn_close,
    .conv = cudnn_conv,
    .conv_launch = cudnn_launch,
    .algo_name = cudnn_algo_name,
};
