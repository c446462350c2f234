/* Tests on a real CUDA device: skipped where there is none, or no nvcc to compile their kernels. Prints what
 * a launch costs the host, what one costs in a graph, and what reading the sensors takes. */
#include "test/support.h"

#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/proc.h"
#include "client/device/device.h"

static const DeviceApi *const api = &device_cuda;
static char *dir;
static char cubin[4200];
static Device *device;
static DeviceModule *module;

static void compile(const char *architecture)
{
    Arena a;
    ProcResult r;
    arena_init(&a, 0);
    Str nvcc = proc_which(&a, "nvcc");
    const char *path = nvcc.s ? nvcc.s : "/usr/local/cuda/bin/nvcc";
    char arch[64], log[4200];
    snprintf(arch, sizeof arch, "-arch=%s", architecture);
    snprintf(cubin, sizeof cubin, "%s/kernels.cubin", dir);
    snprintf(log, sizeof log, "%s/log", dir);
    const char *const argv[] = {path, "-cubin", arch, "-o", cubin, "test/data/gpu/kernels.cu", NULL};
    if (!file_exists(path)) {
        print_message("skipped: no nvcc to compile kernels with\n");
        cubin[0] = 0;
    } else {
        assert_ok(proc_run(&(ProcSpec){.argv = argv, .stdout_path = log}, 0, &r));
        assert_true(r.end == PROC_EXITED && r.code == 0);
    }
    arena_fini(&a);
}

static DeviceKernel *kernel(const char *symbol)
{
    DeviceKernel *k;
    assert_ok(api->kernel_get(device, module, symbol, &k));
    return k;
}

static void launch(const DeviceKernel *k, uint32_t groups, uint32_t threads, const void *args, size_t bytes)
{
    DeviceLaunch l = {
        .kernel = k, .group = {threads, 1, 1}, .grid = {groups, 1, 1}, .args = args, .args_bytes = bytes};
    assert_ok(api->launch(device, &l));
}

/* A child with a device of its own, whose context the stray store ends. */
static int stray_child(void)
{
    const uint64_t nowhere = 0x10;
    DeviceMem m;
    if (api->open(0, &(DeviceOptions){0}, &device) || api->module_load(device, cubin, &module)) return 1;
    DeviceKernel *k;
    if (api->kernel_get(device, module, "stray", &k)) return 2;
    DeviceLaunch l = {.kernel = k, .group = {32, 1, 1}, .grid = {1, 1, 1}, .args = &nowhere, .args_bytes = 8};
    if (api->lost(device)) return 3;
    Err e = api->launch(device, &l);
    if (!e) e = api->sync(device);
    if (e != ERR_FAILED || !strstr(err_message(), "CUDA_ERROR_ILLEGAL_ADDRESS")) return 4;
    if (!api->lost(device)) return 5;
    return api->alloc(device, 100, DEVICE_GUARD_NONE, &m) == ERR_FAILED ? 42 : 6;
}

static void test_stray(void **state)
{
    (void)state;
    int status;
    if (!cubin[0]) skip();
    pid_t pid = fork();
    if (pid == 0) _exit(stray_child());
    assert_true(waitpid(pid, &status, 0) == pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 42);
}

/* A child whose kernel never ends. */
static void hang_child(int ready)
{
    struct {
        int64_t clocks;
        uint64_t out;
    } spin = {INT64_MAX, 0};
    DeviceKernel *k;
    if (api->open(0, &(DeviceOptions){0}, &device) || api->module_load(device, cubin, &module) ||
        api->kernel_get(device, module, "spin", &k))
        _exit(1);
    DeviceLaunch l = {.kernel = k, .group = {32, 1, 1}, .grid = {500, 1, 1}, .args = &spin, .args_bytes = 16};
    if (api->launch(device, &l) || write(ready, "", 1) != 1) _exit(2);
    api->sync(device);
    _exit(3);
}

/* Killing it is enough: the following tests open the device again. */
static void test_hang(void **state)
{
    (void)state;
    int fd[2], status;
    char byte;
    if (!cubin[0]) skip();
    assert_true(pipe(fd) == 0);
    pid_t pid = fork();
    if (pid == 0) hang_child(fd[1]);
    close(fd[1]);
    assert_true(read(fd[0], &byte, 1) == 1);
    close(fd[0]);
    usleep(300000);
    assert_true(waitpid(pid, &status, WNOHANG) == 0); /* still at it */
    uint64_t before = clock_ns();
    kill(pid, SIGKILL);
    assert_true(waitpid(pid, &status, 0) == pid);
    assert_true(WIFSIGNALED(status));
    print_message("a hanging kernel's process is gone after %.2f s\n", (double)(clock_ns() - before) / 1e9);
}

static void test_properties(void **state)
{
    (void)state;
    DeviceProps p;
    if (!cubin[0]) skip();
    assert_ok(api->open(0, &(DeviceOptions){0}, &device));
    assert_ok(api->props(device, &p));
    print_message("%s, %s, %d CUs, %.1f GiB, L2 %.0f MiB, LDS %" PRIu64
                  ", %d MHz, memory %d MHz, driver %s\n",
                  p.name, p.architecture, p.n_cu, (double)p.memory_bytes / 0x1p30,
                  (double)p.l2_bytes / 0x1p20, p.lds_bytes, p.clock_mhz, p.memory_clock_mhz, p.driver);
    assert_true(p.name[0] && !strncmp(p.architecture, "sm_", 3) && p.n_cu > 0 && p.wave_size == 32);
    assert_true(p.memory_bytes > 1 << 28 && p.l2_bytes > 0 && p.lds_bytes >= 49152 && p.driver[0]);
    assert_ok(api->module_load(device, cubin, &module));
}

static void test_memory_and_launch(void **state)
{
    (void)state;
    enum { N = 100000 };
    if (!module) skip();
    DeviceMem s, d;
    float *x = malloc(N * sizeof *x), *y = malloc(N * sizeof *y);
    for (int i = 0; i < N; i++) x[i] = (float)i;
    assert_ok(api->alloc(device, N * sizeof *x, DEVICE_GUARD_NONE, &s));
    assert_ok(api->alloc(device, N * sizeof *x, DEVICE_GUARD_NONE, &d));
    assert_true(s.address % 256 == 0 && !s.host && s.handle);
    assert_ok(api->copy_to(device, &s, 0, x, N * sizeof *x));
    assert_ok(api->fill(device, &d, 0xFF));
    struct {
        uint64_t d, s;
        float alpha;
        uint32_t n;
    } args = {d.address, s.address, 2.5f, N - 1};
    DeviceKernel *k = kernel("scale");
    launch(k, (N + 255) / 256, 256, &args, sizeof args);
    memset(&args, 0, sizeof args); /* they were copied */
    assert_ok(api->copy_from(device, y, &d, 0, N * sizeof *x));
    for (int i = 0; i < N - 1; i++) assert_true(y[i] == 2.5f * (float)i);
    assert_true(isnan(y[N - 1]));
    args.d = d.address;
    DeviceLaunch less = {
        .kernel = k, .group = {32, 1, 1}, .grid = {1, 1, 1}, .args = &args, .args_bytes = 16};
    Err e = api->launch(device, &less);
    print_message("too few arguments: %s\n", e ? err_message() : "(this driver does not check)");
    assert_int_equal(api->copy_from(device, y, &d, 4, N * sizeof *x), ERR_FAILED);
    /* dynamic shared memory */
    struct {
        uint64_t d;
        uint32_t n;
    } rev = {s.address, 24000};
    launch(kernel("reverse"), 1, 256, &rev, sizeof rev);
    assert_ok(api->copy_from(device, y, &s, 0, N * sizeof *x));
    for (int i = 0; i < 24000; i++) assert_true(y[i] == (float)(23999 - i));
    assert_true(y[24000] == 24000);
    assert_ok(api->copy(device, &d, &s, N * sizeof *x));
    assert_ok(api->sync(device));
    api->free(device, &s);
    api->free(device, &d);
    assert_true(s.handle == NULL);
    free(x);
    free(y);
}

static void test_errors(void **state)
{
    (void)state;
    if (!module) skip();
    DeviceMem m;
    DeviceKernel *k;
    DeviceModule *bad;
    Device *other;
    assert_int_equal(api->alloc(device, UINT64_C(1) << 45, DEVICE_GUARD_NONE, &m), ERR_FAILED);
    print_message("%s\n", err_message());
    assert_non_null(strstr(err_message(), "out of device memory: 35184372088832 bytes wanted"));
    assert_int_equal(api->kernel_get(device, module, "nosuch", &k), ERR_INPUT);
    assert_int_equal(api->module_load(device, "test/data/gpu/kernels.cu", &bad), ERR_FAILED);
    print_message("%s\n", err_message());
    assert_int_equal(api->open(999, &(DeviceOptions){0}, &other), ERR_NO_DEVICE);
    const uint64_t arg = 0;
    DeviceLaunch l = {
        .kernel = kernel("empty"), .group = {2048, 1, 1}, .grid = {1, 1, 1}, .args = &arg, .args_bytes = 8};
    assert_int_equal(api->launch(device, &l), ERR_FAILED);
    print_message("%s\n", err_message());
    assert_false(api->lost(device));
}

static uint64_t elapsed(DeviceEvent *start, DeviceEvent *stop)
{
    uint64_t ns;
    assert_ok(api->sync(device));
    assert_ok(api->event_elapsed(device, start, stop, &ns));
    return ns;
}

static void test_time(void **state)
{
    (void)state;
    enum { N = 1000, REPEAT = 20 };
    if (!module) skip();
    DeviceEvent *start, *stop;
    DeviceGraph *g;
    DeviceReading r;
    assert_ok(api->event_new(device, &start));
    assert_ok(api->event_new(device, &stop));
    struct {
        int64_t clocks;
        uint64_t out;
    } spin = {2000000, 0};
    DeviceKernel *k = kernel("spin"), *empty = kernel("empty");
    DeviceLaunch l = {.kernel = k, .group = {1, 1, 1}, .grid = {1, 1, 1}, .args = &spin, .args_bytes = 16};
    l.start = start;
    l.stop = stop;
    assert_ok(api->launch(device, &l));
    uint64_t ns = elapsed(start, stop);
    print_message("2000000 clocks: %.1f us\n", (double)ns / 1000);
    assert_true(ns > 400000 && ns < 20000000);
    const uint64_t arg = 0;
    for (int i = 0; i < 100; i++) launch(empty, 1, 32, &arg, 8);
    assert_ok(api->sync(device));
    uint64_t host = api->now_ns(device);
    assert_ok(api->event_record(device, start));
    for (int i = 0; i < N; i++) launch(empty, 1, 32, &arg, 8);
    host = api->now_ns(device) - host;
    assert_ok(api->event_record(device, stop));
    ns = elapsed(start, stop);
    print_message("launch: host %.2f us, device %.2f us each of %d\n", (double)host / N / 1000,
                  (double)ns / N / 1000, N);
    assert_ok(api->graph_begin(device));
    for (int i = 0; i < N; i++) launch(empty, 1, 32, &arg, 8);
    assert_ok(api->graph_end(device, &g));
    assert_ok(api->graph_launch(device, g));
    assert_ok(api->event_record(device, start));
    for (int i = 0; i < REPEAT; i++) assert_ok(api->graph_launch(device, g));
    assert_ok(api->event_record(device, stop));
    ns = elapsed(start, stop);
    print_message("in a graph: %.2f us each of %d\n", (double)ns / N / REPEAT / 1000, N);
    api->graph_free(device, g);
    uint64_t before = api->now_ns(device);
    for (int i = 0; i < REPEAT; i++) api->read(device, &r);
    print_message("sensors: %.0f MHz, memory %.0f MHz, %.1f W, %.0f C, throttle 0x%x; %.3f ms a reading\n",
                  r.clock_sys_mhz, r.clock_mem_mhz, r.power_w, r.temp_c, r.throttle,
                  (double)(api->now_ns(device) - before) / REPEAT / 1e6);
    api->event_free(device, start);
    api->event_free(device, stop);
    api->module_unload(device, module);
    api->close(device);
}

/* The device's architecture, asked of a child: this process must stay fit to fork. */
static bool architecture(char *out, size_t bytes)
{
    int fd[2], status;
    Buf why;
    buf_init(&why);
    bool there = api->count(&why) > 0;
    if (!there) print_message("skipped: cuda: %s\n", buf_cstr(&why));
    buf_fini(&why);
    if (!there) return false;
    assert_true(pipe(fd) == 0);
    pid_t pid = fork();
    if (pid == 0) {
        DeviceProps p = {0};
        bool ok = !api->open(0, &(DeviceOptions){0}, &device) && !api->props(device, &p);
        _exit(ok && write(fd[1], p.architecture, sizeof p.architecture) > 0 ? 0 : 1);
    }
    close(fd[1]);
    ssize_t n = read(fd[0], out, bytes);
    close(fd[0]);
    waitpid(pid, &status, 0);
    return n > 0;
}

static int set_up(void **state)
{
    (void)state;
    char arch[32] = "";
    dir = test_dir();
    if (architecture(arch, sizeof arch)) compile(arch);
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
        cmocka_unit_test(test_stray),      cmocka_unit_test(test_hang),
        cmocka_unit_test(test_properties), cmocka_unit_test(test_memory_and_launch),
        cmocka_unit_test(test_errors),     cmocka_unit_test(test_time),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
