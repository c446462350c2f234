/* Step: chooses the device and the compiler.
 *
 * This program opens no device itself: tuner-client --list-devices answers with records. The architecture is
 * the requested one (--arch, then LibraryLogic, then GlobalParameters), or else that of the first device.
 * --compile-only needs an architecture and no device. See run.h.
 */
#include "run/run.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/proc.h"
#include "client/answer.h"
#include "run/client_ini.h"
#include "run/device_pool.h"
#include "run/gather.h"
#include "run/list.h"
#include "run/part_choice.h"

enum { LIST_BYTES_MAX = 1 << 20, LIST_SECONDS = 60, SIM_GFLOPS_OF_CU = 200 };

static Err client_find(Run *r)
{
    if (r->o->client_path) {
        char path[PATH_MAX];
        if (!realpath(r->o->client_path, path))
            FAIL(ERR_INPUT, "there is no '%s' (--client-path)", r->o->client_path);
        r->client = arena_dup(&r->arena, str_from(path));
        TRY_ALLOC(r->client.s);
    } else {
        Str dir;
        TRY(path_program_dir(&r->arena, &dir));
        r->client = path_join(&r->arena, dir.s, "tuner-client");
        TRY_ALLOC(r->client.s);
    }
    if (!file_exists(r->client.s)) FAIL(ERR_FAILED, "there is no '%s' (--client-path)", r->client.s);
    return 0;
}

/* Runs the client with argv, which must have room for three more entries. *out: its answer. An "error" record
 * becomes the returned error. */
static Err client_ask(Run *r, const char **argv, size_t n, AnswerRecord **out, size_t *n_out)
{
    char path[32], fd_text[16];
    Str text;
    *n_out = 0;
    int fd = memfd_create("answer", MFD_CLOEXEC);
    if (fd < 0) FAIL(ERR_FAILED, "cannot make a file for the answer of tuner-client: %s", strerror(errno));
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    snprintf(fd_text, sizeof fd_text, "%d", fd);
    argv[n] = "--answer-fd";
    argv[n + 1] = fd_text;
    argv[n + 2] = NULL;
    ProcSpec spec = {.argv = argv, .stderr_path = "-", .keep_fd = fd};
    ProcResult result;
    Err e = proc_run(&spec, (uint64_t)LIST_SECONDS * 1000000000u, &result);
    if (!e) e = file_read(&r->arena, path, LIST_BYTES_MAX, &text);
    close(fd);
    TRY(e);
    if (result.end != PROC_EXITED || result.code != 0) {
        Buf how;
        buf_init(&how);
        proc_describe(&result, &how);
        e = err_set(ERR_FAILED, "'%s %s': %s", argv[0], argv[1], buf_cstr(&how));
        buf_fini(&how);
        return e;
    }
    TRY(answer_parse(&r->arena, text, out, n_out));
    for (size_t i = 0; i < *n_out; i++) {
        const AnswerRecord *a = &(*out)[i];
        if (a->record != ANSWER_ERROR) continue;
        FAIL(a->index > 0 && a->index <= ERR_NO_DEVICE ? (Err)a->index : ERR_FAILED, "%.*s",
             STR_ARG(a->text));
    }
    return 0;
}

static Err devices_ask(Run *r, AnswerRecord **out, size_t *n)
{
    const char *argv[2 + 3] = {r->client.s, "--list-devices"};
    return client_ask(r, argv, 2, out, n);
}

/* A peer that is missing, or cannot run on this device, ends the run before anything is compiled. */
static Err peer_check(Run *r)
{
    char index[24];
    AnswerRecord *answer;
    size_t n;
    Str kind = arena_dup(&r->arena, r->device.kind);
    if (!r->config->globals.Peer || r->o->compile_only) return ERR_OK;
    TRY_ALLOC(kind.s);
    snprintf(index, sizeof index, "%" PRId64, r->device.index);
    const char *argv[8 + 3] = {
        r->client.s, "--check-peer", "--peer",       peer_name(r->config->globals.Peer),
        "--device",  kind.s,         "--device-idx", index};
    return client_ask(r, argv, 8, &answer, &n);
}

static void lines_print(const AnswerRecord *record, size_t n, Buf *out)
{
    for (size_t i = 0; i < n; i++) {
        answer_print(&record[i], out);
        buf_putc(out, '\n');
    }
}

Err list_devices(const Options *o, FILE *f)
{
    Run r = {.o = o};
    AnswerRecord *record;
    size_t n;
    Buf text;
    arena_init(&r.arena, 0);
    buf_init(&text);
    Err e = client_find(&r);
    if (!e) e = devices_ask(&r, &record, &n);
    if (!e) lines_print(record, n, &text);
    if (!e) e = buf_check(&text);
    if (!e) fputs(buf_cstr(&text), f);
    buf_fini(&text);
    arena_fini(&r.arena);
    return e;
}

bool device_of_record(Arena *a, const AnswerRecord *r, DeviceChoice *out)
{
    Buf text;
    if (r->record != ANSWER_DEVICE || !target_find(r->arch)) return false;
    buf_init(&text);
    answer_print(r, &text);
    *out = (DeviceChoice){.kind = r->kind,
                          .name = r->name,
                          .arch = r->arch,
                          .index = r->index,
                          .n_cu = r->n_cu,
                          .text = arena_dup(a, buf_view(&text))};
    buf_fini(&text);
    return out->text.s != NULL;
}

Err first_device(const Options *o, Arena *a, Str *arch)
{
    Run r = {.o = o};
    AnswerRecord *record;
    DeviceChoice d;
    size_t n = 0;
    *arch = STR_NULL;
    arena_init(&r.arena, 0);
    Err e = client_find(&r);
    if (!e) e = devices_ask(&r, &record, &n);
    for (size_t i = 0; i < n && !e && !arch->n; i++)
        if (device_of_record(&r.arena, &record[i], &d)) *arch = arena_dup(a, d.arch);
    arena_fini(&r.arena);
    if (!e && !arch->n)
        e = err_set(ERR_NO_DEVICE, "tuner-client finds no device; name an architecture with --arch");
    return e;
}

/* A CPU runs kernels for its own level and lower ones; an NVIDIA GPU those for its compute capability,
 * including the architecture-specific variant (sm_90a). */
static bool device_runs(const DeviceChoice *d, const Target *t)
{
    return target_runs(target_find(d->arch), t);
}

/* The requested architecture; n == 0: none. */
Str run_wanted_arch(const Run *r)
{
    const Config *c = r->config;
    if (r->o->arch) return str_from(r->o->arch);
    if (r->part) return str_from(r->part->arch);
    Str logic = c->logic.ArchitectureName;
    if (c->has_logic && logic.n && !str_eq_c(logic, "gfx000") && !str_eq_c(logic, "fallback")) return logic;
    Str global = c->globals.Architecture;
    if (global.n && !str_eq_c(global, "all")) return str_sub(global, 0, str_find(global, ';', 0));
    return STR_NULL;
}

static Err target_choose(Run *r, Str want)
{
    r->target = want.n ? target_find(want) : NULL;
    if (want.n && !r->target)
        FAIL(ERR_INPUT,
             "%s: unknown architecture '%.*s', expected a name such as gfx90a, sm_90, x86-64-v3 or host",
             r->config->path, STR_ARG(want));
    return 0;
}

Err run_target(Run *r)
{
    TRY(part_option(r->o, &r->part));
    TRY(target_choose(r, run_wanted_arch(r)));
    if (!r->target) r->target = target_host_level();
    return 0;
}

/* Error with the devices that exist, of the requested kind or of all kinds. */
static Err no_device(Run *r, Str want, Str kind, const AnswerRecord *record, size_t n)
{
    Str here;
    Buf shown;
    buf_init(&shown);
    for (size_t i = 0; i < n; i++) {
        if (kind.n && !str_eq(record[i].kind, kind)) continue;
        if (shown.n) buf_puts(&shown, "; ");
        answer_print(&record[i], &shown);
    }
    here = arena_dup(&r->arena, buf_view(&shown));
    buf_fini(&shown);
    TRY_ALLOC(here.s);
    if (want.n)
        FAIL(ERR_NO_DEVICE, "%s: no device %lld of architecture '%.*s' here (%.*s)%s", r->config->path,
             (long long)r->config->globals.Device, STR_ARG(want), STR_ARG(here),
             !target_family(r->target)->is_gpu ? "" : "; --arch host tunes for this CPU");
    FAIL(ERR_NO_DEVICE, "%s: there is no device %.*s%s%lld (%.*s)", r->config->path, STR_ARG(kind),
         kind.n ? ":" : "", (long long)r->config->globals.Device, STR_ARG(here));
}

static Err device_choose(Run *r, const AnswerRecord *record, size_t n)
{
    Str want = run_wanted_arch(r);
    bool sim = getenv("TUNER_SIM") != NULL, found = false;
    Str kind = str_from(r->o->device_kind ? r->o->device_kind : "");
    TRY(target_choose(r, want));
    if (r->o->devices) return device_pool_choose(r, record, n);
    const Target *t = r->target;
    for (size_t i = 0; i < n; i++) {
        DeviceChoice d;
        if (!device_of_record(&r->arena, &record[i], &d) || (t && !device_runs(&d, t))) continue;
        if (kind.n && !str_eq(kind, d.kind)) continue;
        if (d.index != r->config->globals.Device && !str_eq_c(d.kind, "sim")) continue;
        bool better = !found || (sim && str_eq_c(d.kind, "sim"));
        if (!better || (!sim && str_eq_c(d.kind, "sim"))) continue;
        r->device = d;
        found = true;
    }
    if (found) {
        r->target = t ? t : target_find(r->device.arch);
        if (r->part && r->part->n_cu != r->device.n_cu)
            notice("--part: %s has %d compute units, the device %" PRId64 ": its own count", r->part->name,
                   r->part->n_cu, r->device.n_cu);
        return 0;
    }
    return no_device(r, want, kind, record, n);
}

/* The placeholder for a device with --compile-only. */
static Err device_none(Run *r)
{
    TRY(run_target(r));
    if (r->o->device_kind && strcmp(r->o->device_kind, target_family(r->target)->device))
        FAIL(ERR_INPUT,
             "%s: --compile-only for device '%s', but the architecture is %s: name another (--arch)",
             r->config->path, r->o->device_kind, r->target->name);
    r->device = (DeviceChoice){.kind = str_from(target_family(r->target)->device),
                               .name = STR("none"),
                               .arch = str_from(r->target->name),
                               .index = r->config->globals.Device,
                               .text = STR("none: compile only")};
    Str part;
    return part_choose(r, r->part, &part, &r->device.n_cu);
}

/* Switches checks and the peer off: a simulated device computes nothing. */
static void simulated_settings(Run *r)
{
    if (r->config->globals.Peer) notice("Peer: a simulated run has none");
    r->config->globals.Peer = 0;
    r->config->globals.NumElementsToValidate = 0;
    r->config->globals.BoundsCheck = 0;
}

/* A simulated device of the requested architecture and part; settings of TUNER_SIM are appended and take
 * precedence. */
static Err device_simulated(Run *r)
{
    const char *env = getenv("TUNER_SIM");
    DeviceChoice *d = &r->device;
    Str part;
    TRY(run_target(r));
    if (r->o->device_kind && strcmp(r->o->device_kind, "sim"))
        FAIL(ERR_INPUT, "--simulate and --device %s: a simulated run has no other device", r->o->device_kind);
    *d = (DeviceChoice){.kind = STR("sim"), .arch = str_from(r->target->name), .is_simulated = true};
    TRY(part_choose(r, r->part, &part, &d->n_cu));
    if (d->n_cu == 0) d->n_cu = 1;
    d->name = arena_printf(&r->arena, "simulated %.*s", STR_ARG(part.n ? part : d->arch));
    d->sim = arena_printf(&r->arena, "arch=%s;cus=%" PRId64 ";gflops=%" PRId64 ";fill=1%s%s", r->target->name,
                          d->n_cu, SIM_GFLOPS_OF_CU * d->n_cu, env ? ";" : "", env ? env : "");
    d->text = arena_printf(&r->arena, "%.*s: %.*s", STR_ARG(d->name), STR_ARG(d->sim));
    TRY_ALLOC(d->name.s && d->sim.s ? d->text.s : NULL);
    notice("%.*s (%s, %" PRId64 " compute units): times are made up, nothing is computed; the logic and the "
           "library serve to try out, not to use",
           STR_ARG(d->name), r->target->name, d->n_cu);
    return 0;
}

/* CxxCompiler of the config is for AMD; Tensile's default, amdclang++, counts as not given. */
const char *run_compiler(Run *r)
{
    Str config = r->config->globals.CxxCompiler;
    if (!target_family(r->target)->is_gpu) return r->o->cc;
    if (r->o->cxx || !target_family(r->target)->is_tensile) return r->o->cxx;
    return config.n == 0 || str_eq_c(config, "amdclang++") ? NULL : arena_dup(&r->arena, config).s;
}

static Err toolchain_choose(Run *r)
{
    static const char *const version5[] = {"-mcode-object-version=5", NULL};
    bool v5 = target_family(r->target)->is_tensile && r->config->globals.CodeObjectVersion == CODE_OBJECT_V5;
    TRY(toolchain_find(&r->arena, r->target, run_compiler(r), v5 ? version5 : NULL, &r->toolchain));
    if (target_family(r->target)->is_gpu)
        notice("compiler for %s: %s (%s)", r->target->name, r->toolchain.program, r->toolchain.version);
    return 0;
}

/* On a CPU kernels share the client's address space and guard pages are cheap, so the default is 3: every
 * buffer ends at a guard page, and another one is at most a page before it. 4 (exact at both ends) needs a
 * second launch. */
static void bounds_choose(Run *r)
{
    Globals *g = &r->config->globals;
    if (g->BoundsCheck < 0) g->BoundsCheck = !target_family(r->target)->is_gpu ? 3 : 0;
}

/* Fallback logic (schedule 'hip' in rocBLAS) is for any AMD GPU and names no device, so that the run takes
 * the device of this machine. Warns when that is no AMD GPU. */
static void fallback_report(const Run *r)
{
    const LogicSettings *logic = &r->config->logic;
    bool named = logic->ArchitectureName.n && !str_eq_c(logic->ArchitectureName, "gfx000");
    bool fallback = str_eq_c(logic->ArchitectureName, "fallback");
    bool hip = !named && str_eq_c(logic->ScheduleName, "hip");
    if (!r->config->has_logic || r->o->arch || r->part || !(fallback || hip)) return;
    if (target_family(r->target)->is_tensile) return;
    warning("%s: %s is logic for any AMD GPU and names none: the kernels are made for %s and run on '%.*s' "
            "(--arch gfx90a, say, names another)",
            r->config->path, fallback ? "ArchitectureName 'fallback'" : "ScheduleName 'hip'", r->target->name,
            STR_ARG(r->device.name));
}

Err step_device(Run *r)
{
    AnswerRecord *record;
    size_t n;
    TRY(client_find(r));
    TRY(device_pool_check(r));
    if (r->o->simulate && r->o->compile_only)
        FAIL(ERR_INPUT, "--simulate and --compile-only: one or the other");
    if (r->gather) {
        TRY(run_target(r));
        gather_device(r);
    } else if (r->o->compile_only) {
        TRY(device_none(r));
    } else if (r->o->simulate) {
        TRY(device_simulated(r));
    } else {
        TRY(part_option(r->o, &r->part));
        TRY(devices_ask(r, &record, &n));
        TRY(device_choose(r, record, n));
    }
    if (r->device.is_simulated) simulated_settings(r);
    if (!r->gather) TRY(peer_check(r));
    part_notice(r);
    fallback_report(r);
    bounds_choose(r);
    TRY(toolchain_choose(r));
    verbose("device: %.*s\ncompiler: %s", STR_ARG(r->device.text), r->toolchain.version);
    return 0;
}
