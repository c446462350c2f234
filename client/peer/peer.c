/* The table of peers. See peer.h. */
#include "client/peer/peer.h"

static const PeerApi *const kinds[] = {&peer_cublas, &peer_openblas, &peer_cudnn, &peer_onednn};

static const PeerApi *find(const char *name)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (str_eq_nocase(str_from(name), str_from(kinds[i]->name))) return kinds[i];
    return NULL;
}

bool peer_known(const char *name)
{
    const PeerApi *api = find(name);
    return api && api->problem;
}

bool peer_known_conv(const char *name)
{
    const PeerApi *api = find(name);
    return api && api->conv;
}

Err peer_open(const char *name, Device *d, int n_threads, Peer **out)
{
    const PeerApi *api = find(name);
    *out = NULL;
    if (api) return api->open(d, n_threads, out);
    FAIL(ERR_INPUT, "unknown peer '%s' (cublas or openblas; of convolutions cudnn or onednn)", name);
}

void peer_close(Peer *p)
{
    if (p) p->api->close(p);
}

Err peer_problem(Peer *p, const Problem *problem)
{
    p->algo = 0;
    if (!p->api->problem) FAIL(ERR_INPUT, "peer %s is one of convolutions, not of GEMMs", p->api->name);
    return p->api->problem(p, problem, &p->n_algos);
}

Err peer_launch(Peer *p, const Problem *problem, const TensorSet *s)
{
    return p->api->launch(p, problem, s, p->algo);
}

Err peer_conv(Peer *p, const ConvDesc *c)
{
    p->algo = 0;
    if (!p->api->conv) FAIL(ERR_INPUT, "peer %s is one of GEMMs, not of convolutions", p->api->name);
    return p->api->conv(p, c, &p->n_algos);
}

Err peer_conv_launch(Peer *p, const ConvDesc *c, const uint64_t address[CONV_TENSORS])
{
    return p->api->conv_launch(p, c, address, p->algo);
}
