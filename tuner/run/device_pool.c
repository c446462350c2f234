/* --devices. See device_pool.h. */
#include "run/device_pool.h"

#include <inttypes.h>
#include <string.h>

#include "problem/target.h"

typedef struct {
    Str kind;
    Str list; /* "all" or "0,2" */
    bool all;
} Asked;

static Err asked_parse(const Run *r, Asked *out)
{
    Str text = str_from(r->o->devices);
    const size_t colon = str_find(text, ':', 0);
    *out = (Asked){str_sub(text, 0, colon), str_sub(text, colon + 1, text.n), false};
    out->all = str_eq_c(out->list, "all");
    if (str_eq_c(out->kind, "host"))
        FAIL(ERR_INPUT,
             "--devices %s: the host is one device, whose kernels use all its cores; --device host",
             r->o->devices);
    if (!str_eq_c(out->kind, "cuda") && !str_eq_c(out->kind, "hip") && !str_eq_c(out->kind, "sim"))
        FAIL(ERR_INPUT, "--devices '%s': expected cuda or hip, ':' and 'all' or numbers: cuda:all, hip:0,2",
             r->o->devices);
    if (!out->list.n) FAIL(ERR_INPUT, "--devices '%s': expected 'all' or numbers after ':'", r->o->devices);
    return 0;
}

Err device_pool_check(const Run *r)
{
    Asked asked;
    if (!r->o->devices) return 0;
    TRY(asked_parse(r, &asked));
    if (r->o->device_kind || r->o->has_device) FAIL(ERR_INPUT, "--device and --devices: one or the other");
    if (r->o->simulate) FAIL(ERR_INPUT, "--devices and --simulate: a simulated run has one device");
    if (r->o->compile_only) FAIL(ERR_INPUT, "--devices and --compile-only: nothing is measured");
    return 0;
}

static const AnswerRecord *record_find(const AnswerRecord *record, size_t n, Str kind, int64_t index)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq(record[i].kind, kind) && record[i].index == index && record[i].record != ANSWER_ABSENT)
            return &record[i];
    return NULL;
}

static Err unlike(const AnswerRecord *a, const AnswerRecord *b)
{
    Buf x, y;
    buf_init(&x);
    buf_init(&y);
    answer_print(a, &x);
    answer_print(b, &y);
    Err e = err_set(ERR_INPUT,
                    "--devices: '%s' and '%s' differ: a winner of one may lose on the other; tune each "
                    "separately",
                    buf_cstr(&x), buf_cstr(&y));
    buf_fini(&x);
    buf_fini(&y);
    return e;
}

static bool alike(const AnswerRecord *a, const AnswerRecord *b)
{
    return str_eq(a->name, b->name) && str_eq(a->arch, b->arch) && a->n_cu == b->n_cu &&
           a->clock_mhz == b->clock_mhz && a->memory_bytes == b->memory_bytes &&
           a->cache_bytes == b->cache_bytes;
}

static Err device_add(Run *r, const Asked *asked, const AnswerRecord *one, const AnswerRecord *first)
{
    DeviceChoice d;
    if (one->record == ANSWER_CLOSED && asked->all) {
        warning("--devices: %.*s:%" PRId64 " is left out: %.*s", STR_ARG(one->kind), one->index,
                STR_ARG(one->text));
        return 0;
    }
    if (!device_of_record(&r->arena, one, &d))
        FAIL(ERR_NO_DEVICE, "--devices: %.*s:%" PRId64 " cannot be used%s%.*s", STR_ARG(one->kind),
             one->index, one->text.n ? ": " : "", STR_ARG(one->text));
    if (r->target && !target_runs(target_find(d.arch), r->target))
        FAIL(ERR_NO_DEVICE, "--devices: %.*s:%" PRId64 " is %.*s, which does not run kernels for %s",
             STR_ARG(one->kind), one->index, STR_ARG(d.arch), r->target->name);
    if (r->n_pool && !alike(first, one)) return unlike(first, one);
    for (size_t i = 0; i < r->n_pool; i++)
        if (r->pool[i].index == d.index)
            FAIL(ERR_INPUT, "--devices '%s': number %" PRId64 " comes twice", r->o->devices, d.index);
    r->pool[r->n_pool++] = d;
    return 0;
}

/* The numbers of the list; of "all", those of the records. */
static Err listed_add(Run *r, const Asked *asked, const AnswerRecord *record, size_t n)
{
    Str rest = asked->list, part;
    const AnswerRecord *first = NULL;
    while (str_split(&rest, ',', &part)) {
        int64_t index;
        if (!str_to_i64(part, &index) || index < 0)
            FAIL(ERR_INPUT, "--devices '%s': '%.*s', expected the number of a device", r->o->devices,
                 STR_ARG(part));
        const AnswerRecord *one = record_find(record, n, asked->kind, index);
        if (!one)
            FAIL(ERR_NO_DEVICE, "--devices: there is no device %.*s:%" PRId64, STR_ARG(asked->kind), index);
        if (!first) first = one;
        if (r->n_pool >= n) FAIL(ERR_INPUT, "--devices '%s': a number comes twice", r->o->devices);
        TRY(device_add(r, asked, one, first));
    }
    return 0;
}

static Err all_add(Run *r, const Asked *asked, const AnswerRecord *record, size_t n)
{
    const AnswerRecord *first = NULL;
    for (size_t i = 0; i < n; i++) {
        if (!str_eq(record[i].kind, asked->kind) || record[i].record == ANSWER_ABSENT) continue;
        if (!first && record[i].record == ANSWER_DEVICE) first = &record[i];
        TRY(device_add(r, asked, &record[i], first));
    }
    return 0;
}

Err device_pool_choose(Run *r, const AnswerRecord *record, size_t n)
{
    Asked asked;
    TRY(asked_parse(r, &asked));
    TRY_ALLOC(r->pool = ARENA_ARRAY(&r->arena, n + 1, DeviceChoice));
    TRY(asked.all ? all_add(r, &asked, record, n) : listed_add(r, &asked, record, n));
    if (!r->n_pool) FAIL(ERR_NO_DEVICE, "--devices %s: there is no such device", r->o->devices);
    r->device = r->pool[0];
    if (!r->target) r->target = target_find(r->device.arch);
    if (r->n_pool > 1) notice("%zu devices measure: %.*s", r->n_pool, STR_ARG(r->device.name));
    return 0;
}
