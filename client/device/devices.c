/* The table of device kinds and the text of --list-devices. */
#include "client/device/device.h"

static const DeviceApi *const kinds[] = {&device_host, &device_sim, &device_hip, &device_cuda};
enum { N_KINDS = sizeof kinds / sizeof *kinds };

const DeviceApi *device_api_at(size_t i) { return i < N_KINDS ? kinds[i] : NULL; }

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

static Err list_one(const DeviceApi *api, int index, Buf *out)
{
    Device *d;
    DeviceProps p;
    TRY(api->open(index, &(DeviceOptions){0}, &d));
    Err e = api->props(d, &p);
    api->close(d);
    if (e) return e;
    buf_printf(out, "%s %d: %s, %s, %d CUs", api->name, index, p.name, p.architecture, p.n_cu);
    if (p.memory_bytes) buf_printf(out, ", %.1f GiB", (double)p.memory_bytes / 0x1p30);
    if (p.l2_bytes) buf_printf(out, ", cache %.1f MiB", (double)p.l2_bytes / 0x1p20);
    if (p.clock_mhz) buf_printf(out, ", %d MHz", p.clock_mhz);
    if (api->is_gpu && p.driver[0]) buf_printf(out, ", %s", p.driver);
    buf_putc(out, '\n');
    return 0;
}

/* All are counted before the first is opened: counting forks. */
Err devices_list(Buf *out)
{
    int n[N_KINDS];
    Buf why[N_KINDS];
    for (size_t k = 0; k < N_KINDS; k++) {
        buf_init(&why[k]);
        n[k] = kinds[k]->count(&why[k]);
    }
    for (size_t k = 0; k < N_KINDS; k++) {
        for (int i = 0; i < n[k]; i++)
            if (list_one(kinds[k], i, out))
                buf_printf(out, "%s %d: cannot be opened: %s\n", kinds[k]->name, i, err_message());
        if (n[k] == 0) buf_printf(out, "%s: none: %s\n", kinds[k]->name, buf_cstr(&why[k]));
        buf_fini(&why[k]);
    }
    return buf_check(out);
}

bool device_takes_file(const DeviceApi *api, Str path)
{
    for (const char *const *suffix = api->code_object_suffixes; *suffix; suffix++)
        if (str_ends(path, *suffix)) return true;
    return false;
}

void device_throttle_text(uint32_t throttle, Buf *out)
{
    static const char *const names[] = {"idle",        "clock setting", "power cap",
                                        "hw slowdown", "sync boost",    "sw thermal",
                                        "hw thermal",  "power brake",   "display clock"};
    bool more = false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!(throttle >> i & 1)) continue;
        buf_printf(out, "%s%s", more ? ", " : "", names[i]);
        more = true;
    }
}
