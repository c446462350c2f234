/* The table of device kinds, and what devices of each there are. */
#include "client/device/device.h"

static const DeviceApi *const kinds[] = {&device_host, &device_sim, &device_hip, &device_cuda};
enum { N_KINDS = sizeof kinds / sizeof *kinds };

const DeviceApi *device_api_find(Str name)
{
    for (size_t i = 0; i < N_KINDS; i++)
        if (str_eq_nocase(name, str_from(kinds[i]->name))) return kinds[i];
    return NULL;
}

Err device_absent(Str name)
{
    FAIL(ERR_INPUT, "unknown device '%.*s' (host, sim, hip or cuda)", STR_ARG(name));
}

/* Err: the device cannot be opened. */
static Err device_record(const DeviceApi *api, int index, DeviceProps *p, AnswerRecord *out)
{
    Device *d;
    TRY(api->open(index, &(DeviceOptions){0}, &d));
    Err e = api->props(d, p);
    api->close(d);
    if (e) return e;
    *out = (AnswerRecord){.record = ANSWER_DEVICE,
                          .kind = str_from(api->name),
                          .index = index,
                          .name = str_from(p->name),
                          .arch = str_from(p->architecture),
                          .driver = str_from(api->is_gpu ? p->driver : ""),
                          .n_cu = p->n_cu,
                          .memory_bytes = (int64_t)p->memory_bytes,
                          .cache_bytes = (int64_t)p->l2_bytes,
                          .clock_mhz = p->clock_mhz};
    return 0;
}

void devices_each(void (*fn)(void *ctx, const AnswerRecord *r), void *ctx)
{
    int n[N_KINDS];
    Buf why[N_KINDS];
    for (size_t k = 0; k < N_KINDS; k++) {
        buf_init(&why[k]);
        n[k] = kinds[k]->count(&why[k]); /* counting forks, which an open device would not survive */
    }
    for (size_t k = 0; k < N_KINDS; k++) {
        AnswerRecord r = {.record = ANSWER_ABSENT, .kind = str_from(kinds[k]->name)};
        r.text = str_from(buf_cstr(&why[k]));
        if (n[k] == 0) fn(ctx, &r);
        for (int i = 0; i < n[k]; i++) {
            DeviceProps p;
            if (device_record(kinds[k], i, &p, &r))
                r = (AnswerRecord){.record = ANSWER_CLOSED,
                                   .kind = str_from(kinds[k]->name),
                                   .index = i,
                                   .text = str_from(err_message())};
            fn(ctx, &r);
        }
        buf_fini(&why[k]);
    }
}

bool device_takes_file(const DeviceApi *api, Str path)
{
    for (const char *const *suffix = api->code_object_suffixes; *suffix; suffix++)
        if (str_ends(path, *suffix)) return true;
    return false;
}

Err device_range(const DeviceMem *m, uint64_t offset, uint64_t bytes)
{
    if (offset > m->bytes || bytes > m->bytes - offset)
        FAIL(ERR_FAILED, "%llu bytes at %llu of a buffer of %llu", (unsigned long long)bytes,
             (unsigned long long)offset, (unsigned long long)m->bytes);
    return 0;
}
