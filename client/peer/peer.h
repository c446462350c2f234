/* Peer: another library's GEMM or convolution, timed and checked like a solution, for comparison: cuBLAS
 * (cublasGemmEx and the heuristic list of cublasLt) on NVIDIA GPUs, OpenBLAS on the host; for convolutions
 * cuDNN (all engines that its heuristics name) and oneDNN. Libraries are opened with dlopen when they are
 * asked for. A peer has several algorithms for a problem; once per problem the caller times them and sets
 * Peer.algo to the fastest. A peer lives in the worker process.
 */
#ifndef CLIENT_PEER_H
#define CLIENT_PEER_H

#include "client/worker/tensors.h"
#include "problem/conv_desc.h"

typedef struct Peer Peer;
typedef struct PeerApi PeerApi;

struct PeerApi {
    const char *name;    /* "cublas" */
    const char *device;  /* kind of device that it runs on: "cuda" or "host" */
    const char *package; /* of Debian, that has the library; NULL: messages name none */
    size_t bytes;        /* of the structure whose first member is the Peer */
    /* Loads the library and makes what all problems need. The structure is zeroed but for api and device;
     * when opening fails, it is closed too. */
    Err (*open)(Peer *p, int n_threads);
    /* Ends what was made; the caller frees the structure. */
    void (*close)(Peer *p);
    /* GEMM; NULL: the library is a peer of convolutions only. Prepares the problem and returns the number of
     * algorithms. ERR_INPUT: the library cannot do it. */
    Err (*problem)(Peer *p, const Problem *problem, int *n_algos);
    Err (*launch)(Peer *p, const Problem *problem, const TensorSet *s, int algo);
    /* Convolutions; NULL: none. The same; address: of input, filter and output. Results are written whole. */
    Err (*conv)(Peer *p, const ConvDesc *c, int *n_algos);
    Err (*conv_launch)(Peer *p, const ConvDesc *c, const uint64_t address[CONV_TENSORS], int algo);
    void (*algo_name)(const Peer *p, int algo, Buf *out);
};

/* Each kind embeds this as its first member. */
struct Peer {
    const PeerApi *api;
    Device *device;
    char version[64];  /* "cublas 13.1.0" */
    int n_algos, algo; /* algorithms for the problem; the one that peer_launch uses */
};

extern const PeerApi peer_cublas, peer_openblas, peer_cudnn, peer_onednn;

/* Whether there is such a peer of GEMMs, of convolutions. */
bool peer_known(const char *name);
bool peer_known_conv(const char *name);
/* ERR_INPUT: unknown peer. ERR_NO_DEVICE: the peer does not run on this device, or its library is missing. */
Err peer_open(const char *name, Device *d, int n_threads, Peer **out);
/* p may be NULL. */
void peer_close(Peer *p);
Err peer_problem(Peer *p, const Problem *problem);
/* The same for a convolution. */
Err peer_conv(Peer *p, const ConvDesc *c);
Err peer_conv_launch(Peer *p, const ConvDesc *c, const uint64_t address[CONV_TENSORS]);
/* Queues the GEMM on the device's queue; s: its tensors. */
Err peer_launch(Peer *p, const Problem *problem, const TensorSet *s);

/* ---- for the kinds: libraries and their functions ---- */

typedef struct {
    void *handle; /* NULL: not open */
    const char *file;
} PeerLibrary;

typedef struct {
    const char *name;
    size_t offset; /* of the function's pointer in the table */
} PeerSymbol;

/* Opens the first of n files that there is. flags: of dlopen, beside RTLD_NOW and RTLD_LOCAL. */
Err peer_library_open(const Peer *p, const char *const *file, size_t n, int flags, PeerLibrary *out);
void peer_library_close(PeerLibrary *l);
/* Sets the table's pointers to the n functions. ERR_NO_DEVICE: the library has not all of them. */
Err peer_symbols(const Peer *p, const PeerLibrary *l, const PeerSymbol *symbol, size_t n, void *table);

#endif
