/* The table of device kinds and the text of --list-devices. */
#include "client/device/device.h"

static const DeviceApi *const kinds[] = {&device_host, &device_sim};

/* Kinds that other builds have: named, so that a request for them is answered with the reason. */
typedef struct {
    const char *name, *why;
} Absent;
static const Absent absent[] = {
    {"hip", "AMD GPUs: this build has no HIP back end"},
    {"cuda", "NVIDIA GPUs: this build has no CUDA back end"},
};

const DeviceApi *device_api_at(size_t i) { return i < sizeof kinds / sizeof *kinds ? kinds[i] : NULL; }

const DeviceApi *device_api_find(Str name)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (str_eq_nocase(name, str_from(kinds[i]->name))) return kinds[i];
    return NULL;
}

Err device_absent(Str name)
{
    for (size_t i = 0; i < sizeof absent / sizeof *absent; i++)
        if (str_eq_nocase(name, str_from(absent[i].name)))
            FAIL(ERR_NO_DEVICE, "device '%s': %s", absent[i].name, absent[i].why);
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
    buf_putc(out, '\n');
    return 0;
}

Err devices_list(Buf *out)
{
    for (size_t k = 0; device_api_at(k); k++) {
        const DeviceApi *api = device_api_at(k);
        Buf why;
        buf_init(&why);
        int n = api->count(&why);
        for (int i = 0; i < n; i++)
            if (list_one(api, i, out))
                buf_printf(out, "%s %d: cannot be opened: %s\n", api->name, i, err_message());
        if (n == 0) buf_printf(out, "%s: none: %s\n", api->name, buf_cstr(&why));
        buf_fini(&why);
    }
    for (size_t i = 0; i < sizeof absent / sizeof *absent; i++)
        buf_printf(out, "%s: none: %s\n", absent[i].name, absent[i].why);
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
