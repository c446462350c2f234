/* The table of peers. See peer.h. */
#include "client/peer/peer.h"

static const PeerApi *const kinds[] = {&peer_cublas, &peer_openblas};

static const PeerApi *find(const char *name)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (str_eq_nocase(str_from(name), str_from(kinds[i]->name))) return kinds[i];
    return NULL;
}

bool peer_known(const char *name) { return find(name) != NULL; }

Err peer_open(const char *name, Device *d, int n_threads, Peer **out)
{
    const PeerApi *api = find(name);
    *out = NULL;
    if (api) return api->open(d, n_threads, out);
    FAIL(ERR_INPUT, "unknown peer '%s' (cublas or openblas)", name);
}

void peer_close(Peer *p)
{
    if (p) p->api->close(p);
}

Err peer_problem(Peer *p, const Problem *problem)
{
    p->algo = 0;
    return p->api->problem(p, problem, &p->n_algos);
}

Err peer_launch(Peer *p, const Problem *problem, const TensorSet *s)
{
    return p->api->launch(p, problem, s, p->algo);
}
