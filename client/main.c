/* tuner-client: runs the solutions of a library on a device, validates them, times them. The pipeline's only
 * contact with generated code. ClientOptions, ini file, log and results are those of Tensile's client; see
 * options.def. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/fs.h"
#include "base/log.h"
#include "base/proc.h"
#include "client/peer/peer.h"
#include "client/race/supervise.h"
#include "problem/target.h"

/* What --list-devices and --check-peer found: records for another program (answer-fd), or lines to read. */
typedef struct {
    bool records;
    Buf text;
} Found;

static void found_add(void *ctx, const AnswerRecord *r)
{
    Found *f = ctx;
    if (f->records) {
        answer_add(r, &f->text);
        return;
    }
    answer_print(r, &f->text);
    buf_putc(&f->text, '\n');
}

/* Is the peer there, for this device? Asked before hours of compiling. */
static Err find_peer(const ClientOptions *o, Found *f)
{
    Device *d;
    Peer *p;
    const DeviceApi *api = device_api_find(str_from(o->device));
    if (!api) return device_absent(str_from(o->device));
    DeviceOptions options = {.n_threads = (int)o->host_threads, .sim = o->sim[0] ? o->sim : NULL};
    TRY(api->open((int)o->device_index, &options, &d));
    Err e = peer_open(o->peer, d, (int)o->host_threads, &p);
    if (!e) {
        found_add(f, &(AnswerRecord){.record = ANSWER_PEER, .text = str_from(p->version)});
        peer_close(p);
    }
    api->close(d);
    return e;
}

/* An error stands in the records, and the caller reports it. */
static Err answer(const ClientOptions *o)
{
    Found f = {.records = o->answer_fd >= 0};
    Err e = 0, written;
    buf_init(&f.text);
    if (f.records) answer_begin(&f.text);
    if (o->list_devices)
        devices_each(found_add, &f);
    else
        e = find_peer(o, &f);
    if (!f.records) {
        if (!e) return cli_print(&f.text);
        buf_fini(&f.text);
        return e;
    }
    if (e)
        found_add(&f, &(AnswerRecord){.record = ANSWER_ERROR, .index = e, .text = str_from(err_message())});
    answer_end(&f.text);
    written = buf_check(&f.text);
    if (!written) written = fd_write((int)o->answer_fd, buf_view(&f.text), "answer-fd");
    buf_fini(&f.text);
    return written;
}

static Err check_numbers(const ClientOptions *o)
{
    const struct {
        const char *name;
        int64_t value, min, max;
    } range[] = {
        {"num-benchmarks", o->n_benchmarks, 0, 1000000},
        {"num-warmups", o->n_warmups, 0, 1000000000},
        {"num-enqueues-per-sync", o->n_enqueues, 1, 1000000000},
        {"num-syncs-per-benchmark", o->n_syncs, 0, 1000000000},
        {"num-elements-to-validate", o->n_validate, -1, INT64_MAX},
        {"sleep-percent", o->sleep_percent, 0, 1000000},
        {"flush-count", o->flush_count, 0, 64},
        {"flush-memory-size", o->flush_bytes, 0, INT64_C(1) << 40},
        {"min-flops-per-sync", o->min_flops_per_sync, 0, INT64_MAX},
        {"max-workspace-size", o->max_workspace, 0, INT64_C(1) << 46},
        {"device-idx", o->device_index, 0, 1000},
        {"host-threads", o->host_threads, 0, 4096},
        {"events-fd", o->events_fd, -1, 1 << 20},
        {"answer-fd", o->answer_fd, -1, 1 << 20},
        {"problem-start-idx", o->problem_start, 0, INT64_MAX},
        {"num-problems", o->n_problems, -1, INT32_MAX},
        {"solution-start-idx", o->solution_start, -1, INT32_MAX},
        {"num-solutions", o->n_solutions, -1, INT32_MAX},
        {"race-all-from", o->race_all_from, -1, INT64_MAX},
        {"race-stages", o->race_stages, 0, 3},
    };
    for (size_t i = 0; i < sizeof range / sizeof *range; i++)
        if (range[i].value < range[i].min || range[i].value > range[i].max)
            FAIL(ERR_INPUT, "%s: %lld is not from %lld to %lld", range[i].name, (long long)range[i].value,
                 (long long)range[i].min, (long long)range[i].max);
    if (!(o->kernel_timeout > 0 && o->kernel_timeout <= 86400))
        FAIL(ERR_INPUT, "kernel-timeout: %g is not from 0 to 86400 seconds", o->kernel_timeout);
    if (!(o->race_seconds > 0 && o->race_seconds <= 86400))
        FAIL(ERR_INPUT, "race-seconds: %g is not from 0 to 86400 seconds", o->race_seconds);
    return 0;
}

static Err choose_timing(Session *s)
{
    const ClientOptions *o = &s->o;
    Str how = str_from(o->timing);
    if (!str_eq_nocase(how, STR("auto")) && !str_eq_nocase(how, STR("race")) &&
        !str_eq_nocase(how, STR("loop")))
        FAIL(ERR_INPUT, "timing: '%s' is none of auto, loop, race", o->timing);
    s->race = str_eq_nocase(how, STR("race")) ||
              (str_eq_nocase(how, STR("auto")) && (s->api->is_gpu || o->peer[0]));
    if (o->peer[0] && !peer_known(o->peer))
        FAIL(ERR_INPUT, "peer: '%s' is neither cublas nor openblas", o->peer);
    if (o->peer[0] && !s->race) FAIL(ERR_INPUT, "peer: needs timing=race, found timing=%s", o->timing);
    return 0;
}

/* Opens the library as libtuner does: for exactly this part of an NVIDIA generation first ("sm_90a"). */
static Err open_library(Session *s)
{
    char own[sizeof s->props.architecture + 1];
    Hardware hw = {STR_NULL, s->props.n_cu, s->props.integrated};
    snprintf(own, sizeof own, "%sa", s->props.architecture);
    const Target *t = target_find(str_from(own));
    if (t && target_runs(target_find(str_from(s->props.architecture)), t)) {
        hw.arch = str_from(t->name);
        TRY(library_open(s->o.library_file, &hw, &s->library));
        if (library_names_arch(s->library)) return 0;
        library_free(s->library);
        s->library = NULL;
    }
    hw.arch = str_from(s->props.architecture);
    return library_open(s->o.library_file, &hw, &s->library);
}

static Err open_session(Arena *a, Session *s)
{
    const ClientOptions *o = &s->o;
    TRY(check_numbers(o));
    s->api = device_api_find(str_from(o->device));
    if (!s->api) return device_absent(str_from(o->device));
    TRY(choose_timing(s));
    if (!o->library_file[0]) FAIL(ERR_INPUT, "--library-file is missing (see tuner-client --help)");
    TRY(problem_set_read(a, o, &s->problems));
    DeviceOptions options = {.n_threads = (int)o->host_threads, .sim = o->sim[0] ? o->sim : NULL};
    TRY(supervise_props(s->api, (int)o->device_index, &options, &s->props));
    problem_set_target(&s->problems, s->props.architecture);
    s->n_threads = cpu_count();
    s->no_data = s->api->is_simulated && o->n_validate == 0 && !o->print_a && !o->print_b && !o->print_c;
    TRY(open_library(s));
    return library_load_all(s->library);
}

static Err run(Arena *a, Session *s, int64_t *n_failures)
{
    RunPlan plan = {0};
    TRY(open_session(a, s));
    TRY(plan_make(a, s, &plan));
    Err e = supervise(s, &plan, n_failures);
    plan_free(&plan);
    return e;
}

int main(int argc, char **argv)
{
    Arena a;
    Session s = {0};
    int64_t n_failures = 0;
    bool done = false;
    log_init("tuner-client", LOG_VERBOSE);
    interrupt_init();
    signal(SIGPIPE, SIG_IGN);
    arena_init(&a, 0);
    Err e = options_read(&a, argc, argv, &s.o, &done);
    if (!e && !done) e = s.o.list_devices || s.o.check_peer ? answer(&s.o) : run(&a, &s, &n_failures);
    if (e) error_report(e);
    library_free(s.library);
    arena_fini(&a);
    return e ? e : n_failures > 255 ? 255 : (int)n_failures;
}
