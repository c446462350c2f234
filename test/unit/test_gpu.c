/* Unit tests of the GPU driver and the devices cuda and hip over fake driver libraries (test/fake):
 * properties by version, launches byte for byte, memory, graphs, faults, leaks. Each test runs
 * in a child, since a driver library is opened once per process. */
#include "test/support.h"

#include <dlfcn.h>
#include <math.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/device/device.h"
#include "client/device/gpu_monitor.h"

static const DeviceApi *api;
static const char *(*leaks)(void);
static char *dir;
static char code[4200], log_path[4200];

/* ---- children ---- */

/* The library is opened here by its path; the driver finds it as one that the program has loaded. */
static void use(const char *kind, const char *folder, const char *file, const char *settings)
{
    char path[4400], program[4096], value[5000];
    ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    assert_true(n > 0);
    program[n] = 0;
    snprintf(path, sizeof path, "%.*s/../fake/%s/%s", (int)(strrchr(program, '/') - program), program, folder,
             file);
    snprintf(value, sizeof value, "log=%s;%s", log_path, settings);
    setenv("TUNER_FAKE", value, 1);
    void *dl = dlopen(path, RTLD_NOW);
    if (!dl) fail_msg("%s", dlerror());
    void *p = dlsym(dl, "fake_leaks");
    memcpy(&leaks, &p, sizeof leaks);
    api = device_api_find(str_from(kind));
}

/* Runs a test's body in a child; a failed assertion there ends it with a message and another status. */
static void in_child(void (*body)(void))
{
    int status;
    fflush(NULL);
    unlink(log_path);
    pid_t pid = fork();
    if (pid == 0) {
        body();
        fflush(NULL);
        _exit(42);
    }
    assert_true(waitpid(pid, &status, 0) == pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 42);
}

#define CHECK(x)                                                                                             \
    do {                                                                                                     \
        if (!(x)) {                                                                                          \
            fprintf(stderr, "%s:%d: %s fails; last error: %s\n", __FILE__, __LINE__, #x, err_message());     \
            _exit(1);                                                                                        \
        }                                                                                                    \
    } while (0)
#define CHECK_TEXT(text) CHECK(!strcmp(err_message(), text))

static Str log_text(Arena *a)
{
    Str s = STR_NULL;
    if (file_exists(log_path)) assert_ok(file_read(a, log_path, 1 << 20, &s));
    return s;
}

static void write_code(const char *architecture)
{
    char text[500];
    snprintf(text, sizeof text, "FAKE %s\nscale 20 0\nbig 8 98304\nCijk_Ailk_Bljk_SB_x 0 0\n", architecture);
    assert_ok(file_write(code, str_from(text)));
}

/* ---- what the children do ---- */

static void cuda_properties(void)
{
    use("cuda", "cuda", "libcuda.so.1", "arch=sm_90;devices=2");
    Device *d;
    DeviceProps p;
    CHECK(!api->open(1, &(DeviceOptions){0}, &d) && !api->props(d, &p));
    CHECK(!strcmp(p.name, "Fake sm_90 1") && !strcmp(p.architecture, "sm_90") &&
          !strcmp(p.driver, "CUDA 13.0"));
    CHECK(p.n_cu == 104 && p.n_simd_per_cu == 1 && p.wave_size == 32 && p.memory_bytes == 1 << 30);
    CHECK(p.l2_bytes == 8 << 20 && p.lds_bytes == 232448 && p.clock_mhz == 1700 &&
          p.memory_clock_mhz == 1600);
    api->close(d);
    CHECK(!strcmp(leaks(), ""));
    CHECK(api->open(2, &(DeviceOptions){0}, &d) == ERR_NO_DEVICE);
    CHECK_TEXT("no cuda device 2: there are 2");
}

static void hip_checks(const char *driver)
{
    Device *d;
    DeviceProps p;
    CHECK(!api->open(0, &(DeviceOptions){0}, &d) && !api->props(d, &p));
    CHECK(!strcmp(p.architecture, "gfx90a") && !strcmp(p.driver, driver));
    CHECK(p.n_cu == 104 && p.n_simd_per_cu == 4 && p.wave_size == 64 && p.lds_bytes == 65536);
    api->close(d);
}

static void hip5_properties(void)
{
    use("hip", "hip5", "libamdhip64.so.5", "");
    hip_checks("HIP 5.2.21153");
}

static void hip6_properties(void)
{
    use("hip", "hip6", "libamdhip64.so.6", "");
    hip_checks("HIP 6.2.21153");
}

static void hip7_properties(void)
{
    use("hip", "hip7", "libamdhip64.so.7", "");
    hip_checks("HIP 7.2.21153");
}

static void no_devices(void)
{
    Buf why;
    Device *d;
    use("cuda", "cuda", "libcuda.so.1", "devices=0");
    buf_init(&why);
    CHECK(api->count(&why) == 0 && !strcmp(buf_cstr(&why), "the CUDA driver finds no device"));
    CHECK(api->open(0, &(DeviceOptions){0}, &d) == ERR_NO_DEVICE && !d);
    buf_fini(&why);
}

/* Counting leaves the driver of this process alone. */
static void counting(void)
{
    Buf why;
    int (*count)(int *), n;
    use("cuda", "cuda", "libcuda.so.1", "devices=3");
    buf_init(&why);
    CHECK(api->count(&why) == 3 && why.n == 0);
    buf_fini(&why);
    void *p = dlsym(dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD), "cuDeviceGetCount");
    memcpy(&count, &p, sizeof p);
    CHECK(count(&n) == 3); /* CUDA_ERROR_NOT_INITIALIZED */
}

static void not_starting(void)
{
    Device *d;
    use("cuda", "cuda", "libcuda.so.1", "nostart=1");
    CHECK(api->open(0, &(DeviceOptions){0}, &d) == ERR_NO_DEVICE);
    CHECK_TEXT("the CUDA driver does not start: CUDA error 999");
}

static void too_old(void)
{
    Device *d;
    use("cuda", "cuda_bad", "libcuda.so.1", "");
    CHECK(api->open(0, &(DeviceOptions){0}, &d) == ERR_NO_DEVICE);
    CHECK_TEXT("the CUDA driver library is too old: it has no cuEventElapsedTime");
}

static void without_graphs(void)
{
    Device *d;
    use("cuda", "cuda_old", "libcuda.so.1", "");
    CHECK(!api->open(0, &(DeviceOptions){0}, &d));
    CHECK(api->graph_begin(d) == ERR_FAILED);
    CHECK_TEXT("the CUDA driver has no graphs");
    api->close(d);
}

/* ---- launches ---- */

typedef struct {
    uint64_t d;
    float alpha;
    uint32_t n;
    uint32_t more;
} Args;

static void launches(const char *architecture, bool with_events_call)
{
    Device *d;
    DeviceModule *m;
    DeviceKernel *k, *big = NULL;
    DeviceEvent *start, *stop;
    uint64_t ns;
    Arena a;
    arena_init(&a, 0);
    write_code(architecture);
    CHECK(!api->open(0, &(DeviceOptions){0}, &d) && !api->module_load(d, code, &m));
    CHECK(!api->kernel_get(d, m, "scale", &k) && !api->event_new(d, &start) && !api->event_new(d, &stop));
    const Args args = {0x1122334455667788, 1.5f, 77, 5};
    DeviceLaunch l = {.kernel = k, .group = {64, 2, 1}, .grid = {10, 20, 3}, .args = &args, .args_bytes = 20};
    CHECK(!api->event_record(d, start) && !api->launch(d, &l) && !api->launch(d, &l) &&
          !api->event_record(d, stop));
    CHECK(!api->sync(d) && !api->event_elapsed(d, start, stop, &ns) && ns == 20000);
    l.start = start;
    l.stop = stop;
    CHECK(!api->launch(d, &l) && !api->sync(d) && !api->event_elapsed(d, start, stop, &ns) && ns == 10000);
    CHECK(!api->kernel_get(d, m, "big", &big));
    l = (DeviceLaunch){.kernel = big, .group = {32, 1, 1}, .grid = {1, 1, 1}, .args = &args, .args_bytes = 8};
    l.lds_bytes = with_events_call ? 16 : 0;
    Err e = api->launch(d, &l);
    CHECK(!e && !api->sync(d));
    l.grid[1] = 0; /* nothing to do */
    CHECK(!api->launch(d, &l));
    static const char bytes[] = "args 20 88776655443322110000c03f4d00000005000000\n";
    char want[700];
    snprintf(want, sizeof want,
             "launch scale grid 10,20,3 group 64,2,1 lds 0 %s"
             "launch scale grid 10,20,3 group 64,2,1 lds 0 %s"
             "%s scale grid 10,20,3 group 64,2,1 lds 0 %s"
             "launch big grid 1,1,1 group 32,1,1 lds %d args 8 8877665544332211\n",
             bytes, bytes, with_events_call ? "launch with events" : "launch", bytes,
             with_events_call ? 16 : 98304);
    Str got = log_text(&a);
    if (!str_eq_c(got, want)) fprintf(stderr, "%.*s--- wanted\n%s", STR_ARG(got), want);
    CHECK(str_eq_c(got, want));
    api->event_free(d, start);
    api->event_free(d, stop);
    api->module_unload(d, m);
    api->close(d);
    CHECK(!strcmp(leaks(), ""));
    arena_fini(&a);
}

static void cuda_launches(void)
{
    use("cuda", "cuda", "libcuda.so.1", "");
    launches("sm_90", false);
}

static void hip_launches(void)
{
    use("hip", "hip6", "libamdhip64.so.6", "");
    launches("gfx90a", true);
}

static void graphs(void)
{
    Device *d;
    DeviceModule *m;
    DeviceKernel *k;
    DeviceGraph *g;
    DeviceEvent *start, *stop;
    uint64_t ns;
    Arena a;
    arena_init(&a, 0);
    use("cuda", "cuda", "libcuda.so.1", "");
    write_code("sm_90");
    CHECK(!api->open(0, &(DeviceOptions){0}, &d) && !api->module_load(d, code, &m));
    CHECK(!api->kernel_get(d, m, "scale", &k) && !api->event_new(d, &start) && !api->event_new(d, &stop));
    const Args args = {0};
    DeviceLaunch l = {.kernel = k, .group = {64, 1, 1}, .grid = {1, 1, 1}, .args = &args, .args_bytes = 20};
    l.start = start; /* left out */
    CHECK(!api->graph_begin(d) && api->graph_begin(d) == ERR_FAILED);
    for (int i = 0; i < 3; i++) CHECK(!api->launch(d, &l));
    CHECK(!api->graph_end(d, &g) && g);
    CHECK(!api->event_record(d, start) && !api->graph_launch(d, g) && !api->graph_launch(d, g));
    CHECK(!api->event_record(d, stop) && !api->sync(d) && !api->event_elapsed(d, start, stop, &ns) &&
          ns == 60000);
    api->graph_free(d, g);
    /* an error in between comes out at the end, once more */
    CHECK(!api->graph_begin(d));
    l.args_bytes = 16;
    CHECK(api->launch(d, &l) == ERR_FAILED && api->graph_end(d, &g) == ERR_FAILED && !g);
    CHECK_TEXT("kernel scale takes 20 bytes of arguments, the launch has 16");
    CHECK(api->graph_end(d, &g) == ERR_FAILED);
    /* a structure's padding is cut off, more is refused */
    l.args_bytes = 24;
    CHECK(!api->launch(d, &l) && !api->sync(d));
    l.args_bytes = 28;
    CHECK(api->launch(d, &l) == ERR_FAILED);
    CHECK_TEXT("kernel scale takes 20 bytes of arguments, the launch has 28");
    CHECK(strstr(log_text(&a).s, "graph of 3 launches"));
    CHECK(!strstr(log_text(&a).s, "WRONG"));
    api->event_free(d, start);
    api->event_free(d, stop);
    api->module_unload(d, m);
    api->close(d);
    CHECK(!strcmp(leaks(), ""));
    arena_fini(&a);
}

/* ---- memory and faults ---- */

static void memory(void)
{
    Device *d;
    DeviceMem x, y, z;
    char text[16];
    use("cuda", "cuda", "libcuda.so.1", "memory=1000000");
    CHECK(!api->open(0, &(DeviceOptions){0}, &d));
    CHECK(!api->alloc(d, 16, DEVICE_GUARD_NONE, &x) && !api->alloc(d, 16, DEVICE_GUARD_BACK, &y));
    CHECK(!x.host && x.handle && x.address % 256 == 0 && x.bytes == 16);
    CHECK(!api->copy_to(d, &x, 0, "0123456789abcdef", 16) && !api->copy_to(d, &x, 3, "XY", 2));
    CHECK(!api->copy(d, &y, &x, 16) && !api->copy_from(d, text, &y, 2, 14) &&
          !memcmp(text, "2XY56789abcdef", 14));
    CHECK(!api->fill(d, &y, 0xA5) && !api->copy_from(d, text, &y, 15, 1) && text[0] == (char)0xA5);
    CHECK(api->copy_to(d, &x, 10, text, 7) == ERR_FAILED);
    CHECK_TEXT("7 bytes at 10 of a buffer of 16");
    CHECK(!api->copy_to(d, &x, 16, text, 0)); /* nothing */
    CHECK(api->alloc(d, 2000000, DEVICE_GUARD_NONE, &z) == ERR_FAILED && !z.handle);
    CHECK_TEXT("out of device memory: 2000000 bytes wanted, 999968 of 1000000 free: CUDA_ERROR_OUT_OF_MEMORY "
               "(fake)");
    CHECK(!api->alloc(d, 0, DEVICE_GUARD_NONE, &z) && z.handle && z.bytes == 0);
    CHECK(!strcmp(leaks(), "3 buffer, 1 stream"));
    api->free(d, &x);
    api->free(d, &y);
    api->free(d, &z);
    api->free(d, &z);
    CHECK(!api->lost(d));
    api->close(d);
    CHECK(!strcmp(leaks(), ""));
}

static void faults(const char *kind, const char *folder, const char *file, const char *error)
{
    Device *d;
    DeviceModule *m;
    DeviceKernel *k;
    DeviceMem x;
    use(kind, folder, file, "illegal=scale;fail=big");
    const bool cuda = !strcmp(kind, "cuda");
    write_code(cuda ? "sm_90" : "gfx90a");
    CHECK(!api->open(0, &(DeviceOptions){0}, &d) && !api->module_load(d, code, &m));
    CHECK(api->kernel_get(d, m, "nosuch", &k) == ERR_INPUT);
    CHECK_TEXT("no kernel 'nosuch'");
    const Args args = {0};
    CHECK(!api->kernel_get(d, m, "big", &k));
    DeviceLaunch l = {.kernel = k, .group = {64, 1, 1}, .grid = {1, 1, 1}, .args = &args, .args_bytes = 8};
    CHECK(api->launch(d, &l) == ERR_FAILED && strstr(err_message(), "launch of big: "));
    CHECK(api->lost(d)); /* a launch that failed is one of those that stay */
    CHECK(!api->kernel_get(d, m, "scale", &k));
    l.kernel = k;
    l.args_bytes = 20;
    CHECK(!api->launch(d, &l)); /* it shows later */
    CHECK(api->sync(d) == ERR_FAILED && api->lost(d));
    CHECK_TEXT(error);
    CHECK(api->alloc(d, 16, DEVICE_GUARD_NONE, &x) == ERR_FAILED && !x.handle);
    api->module_unload(d, m);
    api->close(d);
}

static void cuda_faults(void)
{
    faults("cuda", "cuda", "libcuda.so.1", "waiting for the device: CUDA_ERROR_ILLEGAL_ADDRESS (fake)");
}

static void hip_faults(void)
{
    faults("hip", "hip7", "libamdhip64.so.7",
           "waiting for the device: hipErrorIllegalAddress (an illegal memory access)");
}

static void wrong_code(void)
{
    Device *d;
    DeviceModule *m;
    char want[5000];
    use("cuda", "cuda", "libcuda.so.1", "arch=sm_80");
    write_code("sm_90");
    CHECK(!api->open(0, &(DeviceOptions){0}, &d));
    CHECK(api->module_load(d, code, &m) == ERR_FAILED && !m);
    snprintf(want, sizeof want, "code object %s has no code for sm_80: CUDA_ERROR_NO_BINARY_FOR_GPU (fake)",
             code);
    CHECK_TEXT(want);
    CHECK(!file_write(code, str_from("garbage that is no code object")));
    CHECK(api->module_load(d, code, &m) == ERR_FAILED && strstr(err_message(), "CUDA_ERROR_INVALID_IMAGE"));
    CHECK(!file_write(code, str_from("short")));
    CHECK(api->module_load(d, code, &m) == ERR_INPUT && strstr(err_message(), "truncated: 5 bytes"));
    CHECK(api->module_load(d, "/nonexistent", &m) != ERR_OK);
    CHECK(!api->lost(d));
    api->close(d);
    CHECK(!strcmp(leaks(), ""));
}

#define CHILD_TEST(name)                                                                                     \
    static void test_##name(void **state)                                                                    \
    {                                                                                                        \
        (void)state;                                                                                         \
        in_child(name);                                                                                      \
    }
CHILD_TEST(cuda_properties)
CHILD_TEST(hip5_properties)
CHILD_TEST(hip6_properties)
CHILD_TEST(hip7_properties)
CHILD_TEST(no_devices)
CHILD_TEST(counting)
CHILD_TEST(not_starting)
CHILD_TEST(too_old)
CHILD_TEST(without_graphs)
CHILD_TEST(cuda_launches)
CHILD_TEST(hip_launches)
CHILD_TEST(graphs)
CHILD_TEST(memory)
CHILD_TEST(cuda_faults)
CHILD_TEST(hip_faults)
CHILD_TEST(wrong_code)

/* ---- monitors ---- */

static void put(Arena *a, const char *path, const char *text)
{
    Str full = path_join(a, dir, path);
    assert_ok(dir_make(arena_dup(a, path_dir(full)).s));
    assert_ok(file_write(full.s, str_from(text)));
}

static void test_amdgpu_monitor(void **state)
{
    (void)state;
    Arena a;
    arena_init(&a, 0);
    DeviceReading r = DEVICE_READING_NONE;
    assert_null(amdgpu_monitor_at(dir, "0000:03:00.0"));
    put(&a, "sys/bus/pci/devices/0000:03:00.0/pp_dpm_sclk", "0: 500Mhz\n1: 1700Mhz *\n");
    put(&a, "sys/bus/pci/devices/0000:03:00.0/pp_dpm_socclk", "0: 400Mhz *\n1: 1000Mhz\n");
    put(&a, "sys/module/amdgpu/version", "6.3.6\n");
    GpuMonitor *m = amdgpu_monitor_at(dir, "0000:03:00.0");
    assert_non_null(m);
    m->read(m, &r);
    assert_true(r.clock_sys_mhz == 1700 && r.clock_soc_mhz == 400 && isnan(r.temp_c) && isnan(r.power_w));
    assert_string_equal(m->driver, "6.3.6");
    m->free(m);
    put(&a, "sys/bus/pci/devices/0000:03:00.0/hwmon/hwmon4/temp1_input", "51000\n");
    put(&a, "sys/bus/pci/devices/0000:03:00.0/hwmon/hwmon4/temp2_input", "63000\n");
    put(&a, "sys/bus/pci/devices/0000:03:00.0/hwmon/hwmon4/freq1_input", "1650000000\n");
    put(&a, "sys/bus/pci/devices/0000:03:00.0/hwmon/hwmon4/freq2_input", "1600000000\n");
    put(&a, "sys/bus/pci/devices/0000:03:00.0/hwmon/hwmon4/power1_input", "250000000\n");
    m = amdgpu_monitor_at(dir, "0000:03:00.0");
    m->read(m, &r);
    assert_true(r.temp_c == 51 && r.hotspot_c == 63 && r.clock_sys_mhz == 1650 && r.clock_mem_mhz == 1600);
    assert_true(r.power_w == 250 && isnan(r.fan_rpm) && r.throttle == 0);
    m->free(m);
    arena_fini(&a);
}

static void nvml(void)
{
    DeviceReading r = DEVICE_READING_NONE;
    use("cuda", "cuda", "libnvidia-ml.so.1", "");
    CHECK(!nvml_monitor_new("0000:bb:00.0"));
    GpuMonitor *m = nvml_monitor_new("0000:a0:00.0");
    CHECK(m && !strcmp(m->driver, "580.1"));
    m->read(m, &r);
    CHECK(r.clock_sys_mhz == 1755 && r.clock_mem_mhz == 2619 && r.temp_c == 41 && r.power_w == 612.5);
    CHECK(r.throttle == (THROTTLE_POWER_CAP | THROTTLE_SW_THERMAL) && isnan(r.fan_rpm));
    m->free(m);
}
CHILD_TEST(nvml)

static int set_up(void **state)
{
    (void)state;
    dir = test_dir();
    snprintf(code, sizeof code, "%s/kernels.cubin", dir);
    snprintf(log_path, sizeof log_path, "%s/log", dir);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    Err e = dir_remove(dir);
    free(dir);
    return e;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cuda_properties), cmocka_unit_test(test_hip5_properties),
        cmocka_unit_test(test_hip6_properties), cmocka_unit_test(test_hip7_properties),
        cmocka_unit_test(test_no_devices),      cmocka_unit_test(test_counting),
        cmocka_unit_test(test_not_starting),    cmocka_unit_test(test_too_old),
        cmocka_unit_test(test_without_graphs),  cmocka_unit_test(test_cuda_launches),
        cmocka_unit_test(test_hip_launches),    cmocka_unit_test(test_graphs),
        cmocka_unit_test(test_memory),          cmocka_unit_test(test_cuda_faults),
        cmocka_unit_test(test_hip_faults),      cmocka_unit_test(test_wrong_code),
        cmocka_unit_test(test_amdgpu_monitor),  cmocka_unit_test(test_nvml),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
