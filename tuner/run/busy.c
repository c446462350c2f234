/* Detects that other processes kept the CPU busy. See busy.h. */
#include "run/busy.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/fs.h"

static const uint64_t LOOK_NS = 1000000000;

void busy_look(Run *r)
{
    double load;
    uint64_t now = clock_ns();
    if (r->load_ns && now - r->load_ns < LOOK_NS) return;
    r->load_ns = now;
    if (getloadavg(&load, 1) == 1 && load > r->load) r->load = load;
}

/* Counts sizes with an interval, and those with a wide one. */
static Err wide_count(Run *r, const Group *g, Busy *b)
{
    Arena a, scratch;
    PlanView p;
    arena_init(&a, 0);
    arena_init(&scratch, 0);
    Err e = plan_load(&r->store, &a, g->plan, &p);
    for (size_t z = 0; !e && z < p.n_sizes; z++) {
        Result x;
        size_t used = g->chosen ? g->chosen[z] : SIZE_MAX;
        if (used >= p.n_candidates) continue;
        arena_reset(&scratch);
        e = result_get(&r->store, &scratch, &p, used, z, -1, &x);
        if (e || !x.good || x.ns.n < 2 || x.ns.level < 0.949)
            continue; /* intervals of few samples are wide on any machine */
        b->n_sizes++;
        b->n_wide += stats_relative_width(&x.ns) > BUSY_WIDTH;
    }
    arena_fini(&scratch);
    arena_fini(&a);
    return e;
}

Err busy_report(Run *r)
{
    Busy b = {.load = r->load_ns ? r->load : (double)NAN,
              .n_cores = sysconf(_SC_NPROCESSORS_ONLN),
              .margin = RUN_LOAD_MARGIN};
    char text[256];
    if (!str_eq_c(r->device.kind, "host") || r->n_groups == 0) return 0;
    for (size_t i = 0; i < r->n_groups; i++)
        if (!r->group[i].skip) TRY(wide_count(r, &r->group[i], &b));
    TRY(store_busy_add(&r->store, r->session, &b));
    if (busy_text(&b, text, sizeof text)) warning("%s", text);
    return 0;
}
