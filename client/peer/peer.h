/* Peer: another library's GEMM, timed and checked like a solution, for comparison: cuBLAS (cublasGemmEx and
 * the heuristic list of cublasLt) on NVIDIA GPUs, OpenBLAS on the host. Libraries are opened with dlopen when
 * they are asked for. A peer has several algorithms for a problem; once per problem the caller times them and
 * sets Peer.algo to the fastest. A peer lives in the worker process.
 */
#ifndef CLIENT_PEER_H
#define CLIENT_PEER_H

#include "client/worker/tensors.h"

typedef struct Peer Peer;
typedef struct PeerApi PeerApi;

struct PeerApi {
    const char *name; /* "cublas" */
    Err (*open)(Device *d, int n_threads, Peer **out);
    void (*close)(Peer *p);
    /* Prepares the problem and returns the number of algorithms. ERR_INPUT: the library cannot do it. */
    Err (*problem)(Peer *p, const Problem *problem, int *n_algos);
    Err (*launch)(Peer *p, const Problem *problem, const TensorSet *s, int algo);
    void (*algo_name)(const Peer *p, int algo, Buf *out);
};

/* Each kind embeds this as its first member. */
struct Peer {
    const PeerApi *api;
    char version[64];  /* "cublas 13.1.0" */
    int n_algos, algo; /* algorithms for the problem; the one that peer_launch uses */
};

extern const PeerApi peer_cublas, peer_openblas;

bool peer_known(const char *name);
/* ERR_INPUT: unknown peer. ERR_NO_DEVICE: the peer does not run on this device, or its library is missing. */
Err peer_open(const char *name, Device *d, int n_threads, Peer **out);
/* p may be NULL. */
void peer_close(Peer *p);
Err peer_problem(Peer *p, const Problem *problem);
/* Queues the GEMM on the device's queue; s: its tensors. */
Err peer_launch(Peer *p, const Problem *problem, const TensorSet *s);

#endif
