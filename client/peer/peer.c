/* The table of peers. See peer.h. */
#include "client/peer/peer.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    if (!api)
        FAIL(ERR_INPUT, "unknown peer '%s' (cublas or openblas; of convolutions cudnn or onednn)", name);
    if (strcmp(d->api->name, api->device))
        FAIL(ERR_NO_DEVICE, "peer %s runs on device %s, not on '%s'", api->name, api->device, d->api->name);
    Peer *p = calloc(1, api->bytes);
    if (!p) FAIL(ERR_FAILED, "out of memory for the peer (%zu bytes)", api->bytes);
    p->api = api;
    p->device = d;
    const Err e = api->open(p, n_threads);
    if (e)
        peer_close(p);
    else
        *out = p;
    return e;
}

void peer_close(Peer *p)
{
    if (!p) return;
    p->api->close(p);
    free(p);
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

Err peer_library_open(const Peer *p, const char *const *file, size_t n, int flags, PeerLibrary *out)
{
    char first[200] = "";
    for (size_t i = 0; i < n; i++) {
        *out = (PeerLibrary){dlopen(file[i], RTLD_NOW | RTLD_LOCAL | flags), file[i]};
        if (out->handle) return ERR_OK;
        const char *why = dlerror();
        if (i == 0) snprintf(first, sizeof first, "%s", why ? why : "");
    }
    const char *package = p->api->package;
    FAIL(ERR_NO_DEVICE, "peer %s: there is no %s: %s%s%s%s", p->api->name, file[0], first,
         package ? " (package " : "", package ? package : "", package ? ")" : "");
}

void peer_library_close(PeerLibrary *l)
{
    if (l->handle) dlclose(l->handle);
    l->handle = NULL;
}

Err peer_symbols(const Peer *p, const PeerLibrary *l, const PeerSymbol *symbol, size_t n, void *table)
{
    for (size_t i = 0; i < n; i++) {
        void *at = dlsym(l->handle, symbol[i].name);
        if (!at) FAIL(ERR_NO_DEVICE, "peer %s: '%s' has no %s", p->api->name, l->file, symbol[i].name);
        memcpy((char *)table + symbol[i].offset, &at, sizeof at);
    }
    return ERR_OK;
}
