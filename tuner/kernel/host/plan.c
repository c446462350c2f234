/* Computes the local buffers from a HostPlan's numbers, which come from kernel/plan_host.c. */
#include "kernel/host/plan.h"

static int64_t round_up(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

HostLocal host_plan_local(const HostPlan *p)
{
    HostLocal l = {0, 0, 0};
    if (p->pack[0]) l.a = round_up((int64_t)p->mc * p->kc * p->parts, 64);
    if (p->pack[1]) l.b = round_up((int64_t)p->nc * p->kc * p->parts, 64);
    if (!p->direct) l.sums = (int64_t)p->mr * p->nr * p->parts;
    if (host_plan_keeps_sums(p)) l.sums = (int64_t)p->mt0 * p->nc;
    return l;
}
