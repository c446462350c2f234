/* Measures on several devices. See measure_pool.h. */
#include "run/measure_pool.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/map.h"
#include "base/own.h"
#include "run/busy.h"

enum { IDLE_DEATHS_MAX = 2, GIVEN_BACK_MAX = 2, POLL_MS = 20 };

typedef struct {
    size_t p; /* number of the size */
    double flops;
    int n_given_back;
} Work;

typedef struct {
    Measuring m;
    DeviceChoice *device;
    Client client;
    bool running;
    uint64_t started_ns;
    int fifo;   /* -1: closed */
    Work *work; /* NULL: waits for some */
    int n_idle; /* deaths in a row without a finished pair */
    Buf out;    /* for the FIFO; the first n_sent bytes are written */
    size_t n_sent;
    Str fifo_path, number;
} Lane;

typedef struct {
    Run *r;
    MeasureTotals *all;
    Lane *lane;
    size_t n_lanes;
    Work *work; /* the sizes that lack results */
    size_t n_work;
    Work **queue; /* those that no device has yet; the last one is dealt next */
    size_t n_queue;
} Lanes;

/* ---- work ---- */

static int by_flops(const void *a, const void *b)
{
    const Work *x = a, *y = b;
    if (x->flops != y->flops) return x->flops < y->flops ? -1 : 1;
    return x->p < y->p ? 1 : x->p > y->p ? -1 : 0;
}

/* The sizes that lack results. A size that is listed twice is measured once. */
static Err work_find(Lanes *l, Measuring *m)
{
    Buf text;
    Map seen;
    Err e = 0;
    const size_t n_sizes = m->g->n_sizes;
    TRY_ALLOC(l->work = ARENA_ARRAY(&l->r->arena, n_sizes, Work));
    TRY_ALLOC(l->queue = ARENA_ARRAY(&l->r->arena, n_sizes, Work *));
    buf_init(&text);
    map_init(&seen);
    for (size_t p = 0; !e && p < n_sizes; p++) {
        bool added;
        size_t n = 0;
        if (!map_put(&seen, (Str){(const char *)&m->g->problem_id[p], sizeof(int64_t)}, &added))
            e = err_set(ERR_FAILED, "out of memory for %zu sizes", p);
        buf_reset(&text);
        if (!e && added) e = measuring_missing(m, p, &text, &n);
        if (!e && n) l->work[l->n_work++] = (Work){.p = p, .flops = measuring_flops(m->g, (int64_t)p)};
    }
    map_fini(&seen);
    buf_fini(&text);
    qsort(l->work, l->n_work, sizeof *l->work, by_flops);
    for (size_t i = 0; i < l->n_work; i++) l->queue[i] = &l->work[i];
    l->n_queue = l->n_work;
    return e;
}

static Work *work_of(Lanes *l, int64_t p)
{
    for (size_t i = 0; i < l->n_work; i++)
        if (l->work[i].p == (size_t)p) return &l->work[i];
    return NULL;
}

static void give_back(Lanes *l, Work *w)
{
    for (size_t i = 0; i < l->n_queue; i++)
        if (l->queue[i] == w) return;
    w->n_given_back++;
    l->queue[l->n_queue++] = w;
}

/* ---- one device ---- */

/* Whether the deadline of a search has passed. */
static bool is_late(const Lanes *l)
{
    return l->r->deadline_ns && l->all->done && clock_ns() > l->r->deadline_ns;
}

static Err lane_start(Lane *x)
{
    Run *r = x->m.r;
    const char **extra = measuring_args(r, x->number.s);
    TRY_ALLOC(extra);
    unlink(x->fifo_path.s);
    if (mkfifo(x->fifo_path.s, 0600))
        FAIL(ERR_FAILED, "cannot make '%s': %s", x->fifo_path.s, strerror(errno));
    x->fifo = open(x->fifo_path.s, O_RDWR | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
    if (x->fifo < 0) FAIL(ERR_FAILED, "cannot open '%s': %s", x->fifo_path.s, strerror(errno));
    ClientSpec spec = {.program = r->client.s,
                       .config_file = x->m.ini_path.s,
                       .plan_file = x->fifo_path.s,
                       .log_path = x->m.log_path.s,
                       .dir = x->m.build_dir.s,
                       .extra = extra};
    x->m.n_ended = 0;
    x->m.open = x->m.part_done = false;
    x->started_ns = clock_ns();
    TRY(client_start(&x->client, &spec));
    x->running = true;
    return 0;
}

/* Writes what the FIFO takes; the rest follows when it has room. */
static Err lane_send(Lane *x)
{
    while (x->n_sent < x->out.n) {
        ssize_t n = write(x->fifo, x->out.s + x->n_sent, x->out.n - x->n_sent);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && errno == EAGAIN) return 0;
        if (n < 0) FAIL(ERR_FAILED, "cannot write '%s': %s", x->fifo_path.s, strerror(errno));
        x->n_sent += (size_t)n;
    }
    return 0;
}

/* Gives the device the next size that lacks results, and starts its client where none runs. A client whose
 * FIFO is closed is about to end: the device waits for a new one. */
static Err lane_deal(Lanes *l, Lane *x)
{
    if (x->running && x->fifo < 0) return 0;
    while (l->n_queue && !x->work) {
        size_t n = 0;
        Work *w = l->queue[--l->n_queue];
        buf_reset(&x->out);
        x->n_sent = 0;
        TRY(measuring_missing(&x->m, w->p, &x->out, &n));
        buf_putc(&x->out, '\n');
        TRY(buf_check(&x->out));
        if (!n) {
            buf_reset(&x->out);
            continue;
        }
        if (!x->running) TRY(lane_start(x));
        x->work = w;
    }
    if (x->work && x->n_sent < x->out.n) return lane_send(x);
    return 0;
}

static void lane_close(Lane *x)
{
    if (x->fifo >= 0) close(x->fifo);
    x->fifo = -1;
    unlink(x->fifo_path.s);
}

static void lane_lose(Lanes *l, Lane *x, const char *how)
{
    x->device->is_lost = true;
    l->all->n_lost++;
    warning("%.*s:%" PRId64
            " is lost: its tuner-client %s without measuring anything, twice; its work goes to the "
            "other devices; what it said is in '%s'",
            STR_ARG(x->device->kind), x->device->index, how, x->m.log_path.s);
}

/* The client ended early: its size goes back into the queue, with the kernels that crashed on it last,
 * because the device may have caused the crashes. */
static Err lane_died(Lanes *l, Lane *x)
{
    Buf how;
    size_t kept = 0;
    Err e = 0;
    buf_init(&how);
    proc_describe(&x->client.end.result, &how);
    for (size_t i = 0; i < x->m.held.n; i++) {
        Work *w = work_of(l, x->m.held.v[i].p);
        if (w && w->n_given_back + 1 < GIVEN_BACK_MAX)
            give_back(l, w);
        else
            x->m.held.v[kept++] = x->m.held.v[i];
    }
    x->m.held.n = kept;
    e = measuring_release(&x->m);
    if (!e && x->m.open && x->work && x->work->n_given_back + 1 >= GIVEN_BACK_MAX) {
        x->m.holds = false;
        e = measuring_pair_end(&x->m, RUN_CRASHED, str_from(buf_cstr(&how)));
        x->m.holds = true;
    }
    if (x->work) give_back(l, x->work);
    x->work = NULL;
    x->n_idle = x->m.n_ended ? 0 : x->n_idle + 1;
    if (x->n_idle >= IDLE_DEATHS_MAX) lane_lose(l, x, buf_cstr(&how));
    buf_fini(&how);
    return e;
}

/* The client closed its events. */
static Err lane_ended(Lanes *l, Lane *x)
{
    x->running = false;
    lane_close(x);
    TRY(client_wait(&x->client));
    TRY(measuring_client_end(&x->m, &x->client.end, x->started_ns));
    TRY(measuring_environment(&x->m));
    return x->client.end.done ? measuring_release(&x->m) : lane_died(l, x);
}

static Err lane_read(Lanes *l, Lane *x)
{
    bool closed;
    const Globals *g = &l->r->config->globals;
    TRY(client_read(&x->client, measuring_event, &x->m, &closed));
    if (g->ExitOnFails == 2 && l->r->n_wrong + l->r->n_faults)
        FAIL(ERR_FAILED, "%.*s: a kernel failed and ExitOnFails is 2; tuner status %s", STR_ARG(x->m.g->name),
             l->r->outdir);
    if (x->m.part_done) x->work = NULL;
    x->m.part_done = false;
    return closed ? lane_ended(l, x) : 0;
}

/* ---- all devices ---- */

static Err lanes_open(Lanes *l, const Measuring *m)
{
    Run *r = l->r;
    TRY_ALLOC(l->lane = ARENA_ARRAY(&r->arena, r->n_pool, Lane));
    for (size_t i = 0; i < r->n_pool; i++) {
        Lane *x = &l->lane[l->n_lanes];
        if (r->pool[i].is_lost) continue;
        *x = (Lane){.device = &r->pool[i], .fifo = -1};
        x->m = (Measuring){.r = r, .g = m->g, .run = m->run, .all = m->all, .holds = true};
        buf_init(&x->m.environment);
        buf_init(&x->out);
        l->n_lanes++;
        TRY(measuring_device(&x->m, x->device));
        TRY(measuring_paths(&x->m));
        x->number = arena_printf(&r->arena, "%" PRId64, x->device->index);
        x->fifo_path = arena_printf(&r->arena, "%s/plan.%s.fifo", x->m.build_dir.s, x->number.s);
        x->m.log_path = arena_printf(&r->arena, "%s/client.%s.log", x->m.build_dir.s, x->number.s);
        TRY_ALLOC(x->number.s && x->fifo_path.s ? x->m.log_path.s : NULL);
        TRY(path_no_link(x->m.log_path.s));
    }
    return 0;
}

/* Ends the clients that still run, after an error or Ctrl-C. */
static Err lanes_kill(Lanes *l)
{
    Err e = 0;
    for (size_t i = 0; i < l->n_lanes; i++) {
        Lane *x = &l->lane[i];
        if (!x->running) continue;
        client_kill(&x->client);
        x->running = false;
        if (!e) e = measuring_client_end(&x->m, &x->client.end, x->started_ns);
    }
    return e;
}

static void lanes_fini(Lanes *l)
{
    for (size_t i = 0; i < l->n_lanes; i++) {
        Lane *x = &l->lane[i];
        if (x->fifo >= 0) lane_close(x);
        buf_fini(&x->out);
        measuring_fini(&x->m);
    }
}

static Err lanes_deal(Lanes *l)
{
    size_t n_busy = 0;
    if (is_late(l)) {
        l->all->late = true;
        l->n_queue = 0;
    }
    for (size_t i = 0; i < l->n_lanes; i++) {
        if (!l->lane[i].device->is_lost) TRY(lane_deal(l, &l->lane[i]));
        n_busy += l->lane[i].work != NULL;
    }
    for (size_t i = 0; i < l->n_lanes && !n_busy; i++)
        if (l->lane[i].fifo >= 0) lane_close(&l->lane[i]);
    return 0;
}

static bool any_runs(const Lanes *l)
{
    for (size_t i = 0; i < l->n_lanes; i++)
        if (l->lane[i].running) return true;
    return false;
}

/* Waits until a client says something or a FIFO has room, and reads. */
static Err lanes_poll(Lanes *l, Measuring *m, struct pollfd *fd)
{
    nfds_t n = 0;
    for (size_t i = 0; i < l->n_lanes; i++) {
        const Lane *x = &l->lane[i];
        fd[n++] = (struct pollfd){.fd = x->running ? x->client.fd : -1, .events = POLLIN};
        fd[n++] = (struct pollfd){.fd = x->n_sent < x->out.n ? x->fifo : -1, .events = POLLOUT};
    }
    int got = poll(fd, n, POLL_MS);
    TRY(run_check());
    measuring_tick(m);
    for (size_t i = 0; got > 0 && i < l->n_lanes; i++)
        if (fd[2 * i].revents) TRY(lane_read(l, &l->lane[i]));
    return 0;
}

static Err lanes_run(Lanes *l, Measuring *m)
{
    struct pollfd *fd = ARENA_ARRAY(&l->r->arena, 2 * l->n_lanes, struct pollfd);
    TRY_ALLOC(fd);
    for (;;) {
        TRY(lanes_deal(l));
        if (!any_runs(l)) break;
        TRY(lanes_poll(l, m, fd));
    }
    if (l->n_queue)
        FAIL(ERR_FAILED,
             "all %zu devices are lost, and %zu sizes of %.*s are not measured; run the same command "
             "again when they are back",
             l->r->n_pool, l->n_queue, STR_ARG(m->g->name));
    return 0;
}

Err pool_measure(Measuring *m)
{
    Lanes l = {.r = m->r, .all = m->all};
    m->all->n_devices = m->r->n_pool;
    TRY(work_find(&l, m));
    if (!l.n_work || m->all->late) return 0;
    Err e = lanes_open(&l, m);
    if (!e) e = lanes_run(&l, m);
    const Err killed = lanes_kill(&l);
    lanes_fini(&l);
    return e ? e : killed;
}
