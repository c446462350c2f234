/* Peer: somebody else's GEMM, timed and checked like a solution, so that times have something to stand
 * beside: cuBLAS (cublasGemmEx and the heuristic list of cublasLt) on NVIDIA GPUs, OpenBLAS on the host.
 * Libraries are opened with dlopen when they are asked for. A peer has several ways to do a problem
 * (algorithms); the best one is found once per problem by the caller, who times them (peer_use). Lives in the
 * worker. Used by worker.c, blocks.c and launches.c.
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
    /* Makes ready for the problem; *n_ways ways to do it. ERR_INPUT: the library does not do it. */
    Err (*problem)(Peer *p, const Problem *problem, int *n_ways);
    Err (*launch)(Peer *p, const Problem *problem, const TensorSet *s, int way);
    void (*way_name)(const Peer *p, int way, Buf *out);
};

/* Each kind embeds this as its first member. */
struct Peer {
    const PeerApi *api;
    char version[64]; /* "cublas 13.1.0" */
    int n_ways, way;
};

extern const PeerApi peer_cublas, peer_openblas;

bool peer_known(const char *name);
/* ERR_INPUT: no such peer. ERR_NO_DEVICE: not with this kind of device, or the library is not there. */
Err peer_open(const char *name, Device *d, int n_threads, Peer **out);
/* NULL is fine. */
void peer_close(Peer *p);
Err peer_problem(Peer *p, const Problem *problem);
/* Queued behind what was queued before, as launches are. */
Err peer_launch(Peer *p, const Problem *problem, const TensorSet *s);

#endif
