/* A simulated device with known results and times, for tests of the pipeline, of statistics and of recovery.
 * It is used only when it is asked for by name.
 *
 * Time of a launch = flops / speed * (1 +- spread / 2 by hash of kernel name and problem) + overhead, times
 * drift and noise. The clock is virtual, so hours of simulated measuring take no time. Kernels give the
 * right result (DeviceTruth), unless their name contains one of the patterns below. Settings are
 * "key=value;..." in DeviceOptions.sim or TUNER_SIM:
 *
 *   seed=1          of the random numbers
 *   noise=0.01      relative standard deviation
 *   drift=0         relative, per virtual second
 *   outliers=0      share of launches that take ten times as long
 *   throttle=0      share of every 200 virtual ms that runs at two thirds of the clock
 *   sag=0           share of every 200 virtual ms, at its end, that runs at 95 % of the clock with no reason
 *                   for throttling given, as at a power limit
 *   gflops=100      speed
 *   spread=1        0: kernels differ by `fill` and `fast` alone
 *   overhead_ns=2000
 *   gap_ns=0        time in which the host queues a launch, or a graph of any number of launches: shorter
 *                   kernels that are launched one by one leave the device idle
 *   cus=60          compute units
 *   devices=1       number of devices, all alike
 *   unlike=         number of a device whose clock is another one's
 *   real=0          1: launches take their time on the machine's clock too, as when several devices are timed
 *   arch=gfx906
 *   fill=0          1: kernels take longer by the share of compute units without work-groups, and helper
 *                   kernels take the overhead only
 *   words=0         size of the effect of each word of a kernel's name ("DU32") on its time, in place of the
 *                   hash of the whole name: kernels that share parameters are alike, as they are on devices
 *   crash= hang= wrong= exit= abort= oob= fast=   comma-separated parts of kernel names
 *
 * Kernels named by `fast` are three times as fast; `crash` really crashes and `hang` really hangs, as they
 * test the isolation of the client. */
#include "client/device/device.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/random.h"
#include "client/device/host_memory.h"
#include "client/device/record.h"

enum { SIM_CRASH, SIM_HANG, SIM_WRONG, SIM_EXIT, SIM_ABORT, SIM_OOB, SIM_FAST, SIM_PATTERNS };
static const char *const pattern_key[SIM_PATTERNS] = {"crash", "hang", "wrong", "exit",
                                                      "abort", "oob",  "fast"};

/* BURST_NS: period of throttle and sag; SAGGED: clock of sag. */
static const double BURST_NS = 200e6, SAGGED = 0.95;

typedef struct {
    PlainDevice base; /* first */
    char text[512];   /* copy of the settings; patterns point into it */
    Str pattern[SIM_PATTERNS];
    double noise, drift, outliers, throttle, sag, words, gflops, overhead_ns, gap_ns, fill, spread;
    int n_cu, n_devices, unlike;
    bool real, replays; /* replays: launches come from a graph */
    char arch[32];
    uint64_t seed, clock_ns, n_launches;
    uint64_t host_ns; /* when the host has queued what it was given so far */
} SimDevice;

struct DeviceModule {
    Arena kernels;
};

struct DeviceKernel {
    uint64_t hash;
    double words; /* effect of the words of its name, a factor */
    bool is[SIM_PATTERNS];
};

static Err set_number(Str key, Str value, double min, double max, double *out)
{
    if (!str_to_f64(value, out) || *out < min || *out > max)
        FAIL(ERR_INPUT, "TUNER_SIM: %.*s '%.*s' is not a number from %g to %g", STR_ARG(key), STR_ARG(value),
             min, max);
    return 0;
}

static Err setting(SimDevice *s, Str key, Str value)
{
    double x;
    for (int i = 0; i < SIM_PATTERNS; i++)
        if (str_eq_c(key, pattern_key[i])) {
            s->pattern[i] = value;
            return 0;
        }
    if (str_eq_c(key, "noise")) return set_number(key, value, 0, 10, &s->noise);
    if (str_eq_c(key, "drift")) return set_number(key, value, -1, 1000, &s->drift);
    if (str_eq_c(key, "outliers")) return set_number(key, value, 0, 1, &s->outliers);
    if (str_eq_c(key, "throttle")) return set_number(key, value, 0, 1, &s->throttle);
    if (str_eq_c(key, "sag")) return set_number(key, value, 0, 1, &s->sag);
    if (str_eq_c(key, "words")) return set_number(key, value, 0, 0.9, &s->words);
    if (str_eq_c(key, "gflops")) return set_number(key, value, 1e-3, 1e9, &s->gflops);
    if (str_eq_c(key, "spread")) return set_number(key, value, 0, 1, &s->spread);
    if (str_eq_c(key, "fill")) return set_number(key, value, 0, 1, &s->fill);
    if (str_eq_c(key, "overhead_ns")) return set_number(key, value, 0, 1e9, &s->overhead_ns);
    if (str_eq_c(key, "gap_ns")) return set_number(key, value, 0, 1e9, &s->gap_ns);
    if (str_eq_c(key, "seed")) {
        TRY(set_number(key, value, 0, 1e15, &x));
        s->seed = (uint64_t)x;
        return 0;
    }
    if (str_eq_c(key, "cus")) {
        TRY(set_number(key, value, 1, 100000, &x));
        s->n_cu = (int)x;
        return 0;
    }
    if (str_eq_c(key, "devices")) {
        TRY(set_number(key, value, 1, 64, &x));
        s->n_devices = (int)x;
        return 0;
    }
    if (str_eq_c(key, "unlike")) {
        TRY(set_number(key, value, 0, 63, &x));
        s->unlike = (int)x;
        return 0;
    }
    if (str_eq_c(key, "real")) {
        TRY(set_number(key, value, 0, 1, &x));
        s->real = x > 0;
        return 0;
    }
    if (str_eq_c(key, "arch") && value.n < sizeof s->arch) {
        snprintf(s->arch, sizeof s->arch, "%.*s", STR_ARG(value));
        return 0;
    }
    FAIL(ERR_INPUT, "TUNER_SIM: unknown setting '%.*s=%.*s'", STR_ARG(key), STR_ARG(value));
}

static Err settings(SimDevice *s, const char *text)
{
    if (strlen(text) >= sizeof s->text)
        FAIL(ERR_INPUT, "TUNER_SIM: %zu characters, limit %zu", strlen(text), sizeof s->text - 1);
    snprintf(s->text, sizeof s->text, "%s", text);
    Str rest = str_from(s->text), part;
    while (str_split(&rest, ';', &part)) {
        if (str_trim(part).n == 0) continue;
        size_t eq = str_find(part, '=', 0);
        TRY(setting(s, str_trim(str_sub(part, 0, eq)), str_trim(str_sub(part, eq + 1, part.n))));
    }
    return 0;
}

static int sim_count(Buf *why)
{
    const char *env = getenv("TUNER_SIM");
    SimDevice s = {.n_devices = 1};
    if (env && !settings(&s, env)) return s.n_devices;
    if (env) return 1; /* opening it tells what is wrong */
    buf_puts(why, "simulated device, for tests: set TUNER_SIM (\"\" will do)");
    return 0;
}

static Err sim_open(int index, const DeviceOptions *options, Device **out)
{
    *out = NULL;
    const char *env = getenv("TUNER_SIM"), *text = options->sim ? options->sim : env ? env : "";
    SimDevice *s = calloc(1, sizeof *s);
    if (!s) FAIL(ERR_FAILED, "out of memory for a device (%zu bytes)", sizeof *s);
    *s = (SimDevice){.base.device = {&device_sim, index},
                     .n_devices = 1,
                     .unlike = -1,
                     .noise = 0.01,
                     .gflops = 100,
                     .overhead_ns = 2000,
                     .spread = 1,
                     .n_cu = 60,
                     .seed = 1,
                     .arch = "gfx906",
                     .clock_ns = 1000000000,
                     .host_ns = 1000000000};
    Err e = settings(s, text);
    if (!e && index >= s->n_devices)
        e = err_set(ERR_NO_DEVICE, "no simulated device %d: there %s %d, from number 0", index,
                    s->n_devices == 1 ? "is" : "are", s->n_devices);
    if (e)
        free(s);
    else
        *out = &s->base.device;
    return e;
}

static void sim_close(Device *d)
{
    if (d) record_free(((PlainDevice *)d)->recorder.open);
    free(d);
}

static Err sim_props(Device *d, DeviceProps *out)
{
    const SimDevice *s = (const SimDevice *)d;
    *out = (DeviceProps){.name = "simulated device",
                         .n_cu = s->n_cu,
                         .n_simd_per_cu = 4,
                         .wave_size = 64,
                         .memory_bytes = UINT64_C(16) << 30,
                         .l2_bytes = 4 << 20,
                         .lds_bytes = 65536,
                         .clock_mhz = s->base.device.index == s->unlike ? 1500 : 1700,
                         .memory_clock_mhz = 1000,
                         .driver = "sim 1"};
    memcpy(out->architecture, s->arch, sizeof out->architecture);
    return 0;
}

static Err sim_module_load(Device *d, const char *path, DeviceModule **out)
{
    (void)d;
    *out = NULL;
    if (access(path, R_OK)) FAIL(ERR_INPUT, "cannot read code object '%s'", path);
    *out = calloc(1, sizeof **out);
    if (!*out) FAIL(ERR_FAILED, "out of memory for '%s'", path);
    return 0;
}

static void sim_module_unload(Device *d, DeviceModule *m)
{
    (void)d;
    if (!m) return;
    arena_fini(&m->kernels);
    free(m);
}

static bool matches(Str patterns, const char *symbol)
{
    Str rest = patterns, part;
    char text[256];
    while (rest.s && str_split(&rest, ',', &part)) {
        snprintf(text, sizeof text, "%.*s", STR_ARG(part));
        if (part.n && strstr(symbol, text)) return true;
    }
    return false;
}

static double uniform(uint64_t seed, uint64_t i) { return random_unit(random_at(seed, i)); }

/* The product over the words of a name, which are separated by '_', of 1 - effect .. 1 + effect. */
static double words_effect(Str name, double effect)
{
    double factor = 1;
    Str word;
    while (str_split(&name, '_', &word)) factor *= 1 + effect * (2 * uniform(hash64(word), 1) - 1);
    return factor;
}

static Err sim_kernel_get(Device *d, DeviceModule *m, const char *symbol, DeviceKernel **out)
{
    const SimDevice *s = (const SimDevice *)d;
    DeviceKernel *k = *out = ARENA_NEW(&m->kernels, DeviceKernel);
    if (!k) FAIL(ERR_FAILED, "out of memory for kernel '%s'", symbol);
    k->hash = hash64(str_from(symbol));
    k->words = words_effect(str_from(symbol), s->words);
    for (int i = 0; i < SIM_PATTERNS; i++) k->is[i] = s->pattern[i].s && matches(s->pattern[i], symbol);
    return 0;
}

/* Mean share of the compute units that have a work-group, over the waves of work-groups of the grid. */
static double share_busy(const SimDevice *s, const uint32_t grid[3])
{
    double groups = (double)grid[0] * grid[1] * grid[2], cus = s->n_cu;
    return groups > 0 ? groups / (ceil(groups / cus) * cus) : 1;
}

/* The kernel's time without noise and drift. */
static double true_ns(const SimDevice *s, const DeviceKernel *k, const DeviceLaunch *l)
{
    const DeviceTruth *t = l->truth;
    uint64_t key = k->hash ^ (t ? t->problem_key * RANDOM_STEP : 0);
    double flops = t ? (double)t->flops : 0,
           factor = s->words > 0 ? k->words : 1 + s->spread * (uniform(key, 0) - 0.5);
    if (s->fill > 0 && l->is_helper) return s->overhead_ns;
    if (s->fill > 0) factor *= 1 + s->fill * (1 / share_busy(s, l->grid) - 1);
    return (flops / s->gflops * factor + s->overhead_ns) / (k->is[SIM_FAST] ? 3 : 1);
}

static void misbehave(const DeviceKernel *k, const DeviceTruth *t)
{
    if (k->is[SIM_HANG])
        for (;;) pause();
    if (k->is[SIM_CRASH]) raise(SIGSEGV);
    if (k->is[SIM_ABORT]) abort();
    if (k->is[SIM_EXIT]) exit(0);
    if (!t || !t->d) return;
    if (k->is[SIM_OOB]) ((volatile unsigned char *)t->d)[t->bytes] = 1;
    if (k->is[SIM_WRONG] && t->bytes) ((unsigned char *)t->d)[t->bytes - 1] ^= 0x40;
}

static bool throttled(const SimDevice *s)
{
    return fmod((double)s->clock_ns, BURST_NS) < s->throttle * BURST_NS;
}

static bool sagged(const SimDevice *s)
{
    return fmod((double)s->clock_ns, BURST_NS) >= (1 - s->sag) * BURST_NS;
}

static void really_wait(double ns)
{
    struct timespec t = {(time_t)(ns / 1e9), (long)fmod(ns, 1e9)};
    nanosleep(&t, NULL);
}

/* The device waits for what the host queues. */
static void queue(SimDevice *s)
{
    s->host_ns += (uint64_t)s->gap_ns;
    if (s->clock_ns < s->host_ns) s->clock_ns = s->host_ns;
}

static Err sim_launch(Device *d, const DeviceLaunch *l)
{
    SimDevice *s = (SimDevice *)d;
    DeviceKernel *k = (DeviceKernel *)(uintptr_t)l->kernel;
    const DeviceTruth *t = l->truth;
    if (s->base.recorder.open) return record_launch(&s->base.recorder, l);
    if (t && t->d && t->expect) memcpy(t->d, t->expect, t->bytes);
    misbehave(k, t);
    if (!s->replays) queue(s);
    uint64_t key = s->seed ^ k->hash ^ (t ? t->problem_key : 0), i = 4 * s->n_launches++;
    double u = uniform(key, i), v = uniform(key, i + 1);
    double normal = sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
    double ns =
        true_ns(s, k, l) * (1 + s->drift * (double)(s->clock_ns - 1000000000) / 1e9) * exp(s->noise * normal);
    if (uniform(key, i + 2) < s->outliers) ns *= 10;
    if (throttled(s)) ns *= 1.5;
    if (sagged(s)) ns /= SAGGED;
    if (l->start) l->start->ns = s->clock_ns;
    s->clock_ns += (uint64_t)ns;
    if (s->real) really_wait(ns);
    if (l->stop) l->stop->ns = s->clock_ns;
    return 0;
}

static Err sim_event_record(Device *d, DeviceEvent *e)
{
    e->ns = ((SimDevice *)d)->clock_ns;
    return 0;
}

static Err sim_graph_launch(Device *d, DeviceGraph *g)
{
    SimDevice *s = (SimDevice *)d;
    queue(s);
    s->replays = true;
    Err e = record_run(d, g);
    s->replays = false;
    return e;
}

static Err sim_sync(Device *d)
{
    SimDevice *s = (SimDevice *)d;
    s->host_ns = s->clock_ns;
    return 0;
}

static uint64_t sim_now(Device *d) { return ((SimDevice *)d)->clock_ns; }

static void sim_idle(Device *d, uint64_t ns)
{
    SimDevice *s = (SimDevice *)d;
    s->clock_ns += ns;
    s->host_ns = s->clock_ns;
}

static void sim_read(Device *d, DeviceReading *out)
{
    const SimDevice *s = (const SimDevice *)d;
    double warm = (double)(s->clock_ns - 1000000000) / 1e9;
    *out = (DeviceReading){.temp_c = 40 + fmin(40, warm),
                           .hotspot_c = 45 + fmin(45, warm),
                           .clock_sys_mhz = throttled(s) ? 1133
                                            : sagged(s)  ? 1700 * SAGGED
                                                         : 1700,
                           .clock_soc_mhz = 1000,
                           .clock_mem_mhz = 1000,
                           .fan_rpm = 2000,
                           .power_w = 200,
                           .throttle = throttled(s) ? THROTTLE_HW_SLOWDOWN : 0};
}

/* Simulated kernels do not read their arguments. */
static Err sim_tensor_map(Device *d, const TensorMap *map, unsigned char out[TENSOR_MAP_BYTES])
{
    (void)d, (void)map;
    memset(out, 0, TENSOR_MAP_BYTES);
    return 0;
}

const DeviceApi device_sim = {
    .name = "sim",
    .code_object_suffixes = {""},
    .has_guards = true,
    .has_gaps = true,
    .is_simulated = true,
    .count = sim_count,
    .open = sim_open,
    .close = sim_close,
    .props = sim_props,
    .module_load = sim_module_load,
    .module_unload = sim_module_unload,
    .kernel_get = sim_kernel_get,
    HOST_MEMORY_API,
    .launch = sim_launch,
    PLAIN_DEVICE_API,
    .sync = sim_sync,
    .graph_launch = sim_graph_launch,
    .tensor_map = sim_tensor_map,
    .event_record = sim_event_record,
    .now_ns = sim_now,
    .idle = sim_idle,
    .read = sim_read,
};
