/* Unit tests of the devices: guard pages, the simulation's truth, host sensors, the client's options and
 * problems. */
#include "test/support.h"

#include <math.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/device/device.h"
#include "client/device/host_memory.h"
#include "client/device/host_monitor.h"
#include "client/options.h"
#include "client/worker/problem_set.h"

/* Does touching this byte end the process with SIGSEGV? */
static bool faults(const DeviceMem *m, int64_t at)
{
    pid_t pid = fork();
    if (pid == 0) {
        signal(SIGSEGV, SIG_DFL);
        signal(SIGBUS, SIG_DFL);
        ((volatile char *)m->host)[at] = 1;
        _exit(0);
    }
    int status;
    assert_true(waitpid(pid, &status, 0) == pid);
    return WIFSIGNALED(status);
}

static void test_guard_pages(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {1, 4, 4096, 4100, 10000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        DeviceMem front, back;
        int64_t n = (int64_t)sizes[i];
        assert_ok(host_memory_alloc(sizes[i], DEVICE_GUARD_FRONT, &front));
        assert_ok(host_memory_alloc(sizes[i], DEVICE_GUARD_BACK, &back));
        assert_true(faults(&front, -1) && !faults(&front, 0) && !faults(&front, n - 1));
        assert_true(faults(&back, n) && !faults(&back, n - 1) && !faults(&back, 0));
        assert_true(faults(&front, (n + 4095) / 4096 * 4096)); /* the other side: a page away at most */
        host_memory_free(&front);
        host_memory_free(&back);
        assert_null(back.host);
    }
    DeviceMem plain;
    assert_ok(host_memory_alloc(0, DEVICE_GUARD_NONE, &plain));
    assert_non_null(plain.host);
    assert_int_equal(device_range(&plain, 0, 1), ERR_FAILED);
    host_memory_free(&plain);
    assert_int_equal(host_memory_alloc(UINT64_C(1) << 60, DEVICE_GUARD_NONE, &plain), ERR_FAILED);
}

/* Median time of n launches of a kernel of this name. */
static double sim_time(const char *settings, const char *kernel, int n)
{
    Device *d;
    DeviceModule *m;
    DeviceKernel *k;
    assert_ok(device_sim.open(0, &(DeviceOptions){.sim = settings}, &d));
    assert_ok(device_sim.module_load(d, "/dev/null", &m));
    assert_ok(device_sim.kernel_get(d, m, kernel, &k));
    DeviceTruth truth = {.flops = 1000000, .problem_key = 5};
    double sum = 0;
    for (int i = 0; i < n; i++) {
        uint64_t before = device_sim.now_ns(d);
        assert_ok(device_sim.launch(d, &(DeviceLaunch){.kernel = k, .truth = &truth}));
        sum += (double)(device_sim.now_ns(d) - before);
    }
    device_sim.module_unload(d, m);
    device_sim.close(d);
    return sum / n;
}

/* Time of a launch of `groups` work-groups on a device of 100 compute units with fill=1. */
static double filled_ns(uint32_t groups, bool is_helper)
{
    const DeviceTruth truth = {.flops = 1000000000, .problem_key = 1};
    const DeviceOptions o = {.sim = "noise=0;fill=1;cus=100;overhead_ns=1000"};
    Device *d;
    DeviceModule *m;
    DeviceKernel *k;
    assert_ok(device_sim.open(0, &o, &d));
    assert_ok(device_sim.module_load(d, "/dev/null", &m));
    assert_ok(device_sim.kernel_get(d, m, "K", &k));
    uint64_t before = device_sim.now_ns(d);
    assert_ok(device_sim.launch(
        d, &(DeviceLaunch){.kernel = k, .grid = {groups, 1, 1}, .truth = &truth, .is_helper = is_helper}));
    double ns = (double)(device_sim.now_ns(d) - before);
    device_sim.module_unload(d, m);
    device_sim.close(d);
    return ns;
}

static void test_sim_fill(void **state)
{
    (void)state;
    double full = filled_ns(100, false) - 1000;
    assert_true(fabs((filled_ns(1, false) - 1000) / full - 100) < 0.01);
    assert_true(fabs((filled_ns(50, false) - 1000) / full - 2) < 0.01);
    assert_true(fabs((filled_ns(101, false) - 1000) / full - 200.0 / 101) <
                0.01); /* two waves of work-groups */
    assert_true(fabs((filled_ns(10000, false) - 1000) / full - 1) < 0.01);
    assert_true(filled_ns(1, true) == 1000);
}

static void test_sim(void **state)
{
    (void)state;
    double quiet = sim_time("noise=0", "K1", 10);
    assert_true(quiet == sim_time("noise=0", "K1", 10)); /* the same truth every time */
    assert_true(quiet != sim_time("noise=0", "K2", 10));
    assert_true(fabs(sim_time("noise=0.05;seed=3", "K1", 4000) / quiet - 1) < 0.01);
    assert_true(fabs(sim_time("noise=0;fast=K", "K1", 10) / quiet - 1.0 / 3) < 0.01);
    assert_true(sim_time("noise=0;outliers=0.1", "K1", 2000) > quiet * 1.6);
    assert_true(sim_time("noise=0;drift=1000", "K1", 1000) > quiet * 1.5);
    Device *d;
    assert_int_equal(device_sim.open(0, &(DeviceOptions){.sim = "nois=1"}, &d), ERR_INPUT);
    assert_int_equal(device_sim.open(0, &(DeviceOptions){.sim = "noise=x"}, &d), ERR_INPUT);
    assert_int_equal(device_sim.open(1, &(DeviceOptions){.sim = ""}, &d), ERR_NO_DEVICE);
}

/* What is recorded runs at graph_launch, and not before, with the arguments of its time. */
static void test_graph(void **state)
{
    (void)state;
    Device *d;
    DeviceModule *m;
    DeviceKernel *k;
    DeviceGraph *g;
    DeviceEvent *start, *stop;
    uint64_t one, four;
    const DeviceApi *api = &device_sim;
    const uint64_t gap = 500000;
    assert_ok(api->open(0, &(DeviceOptions){.sim = "noise=0;gap_ns=500000"}, &d));
    assert_ok(api->module_load(d, "/dev/null", &m));
    assert_ok(api->kernel_get(d, m, "K1", &k));
    assert_ok(api->event_new(d, &start));
    assert_ok(api->event_new(d, &stop));
    DeviceTruth truth = {.flops = 1000000, .problem_key = 5};
    unsigned char args[8] = {1};
    DeviceLaunch l = {
        .kernel = k, .args = args, .args_bytes = sizeof args, .start = start, .stop = stop, .truth = &truth};
    assert_ok(api->launch(d, &l));
    assert_ok(api->event_elapsed(d, start, stop, &one));
    assert_ok(api->sync(d));
    uint64_t before = api->now_ns(d);
    assert_ok(api->graph_begin(d));
    assert_int_equal(api->graph_begin(d), ERR_FAILED);
    for (int i = 0; i < 4; i++) assert_ok(api->launch(d, &l));
    assert_ok(api->graph_end(d, &g));
    assert_int_equal(api->now_ns(d), before);
    assert_ok(api->event_record(d, start));
    assert_ok(api->graph_launch(d, g));
    assert_ok(api->event_record(d, stop));
    assert_ok(api->event_elapsed(d, start, stop, &four));
    assert_true(one > 0);
    assert_int_equal(four, gap + 4 * one); /* the host queues a graph at once */
    assert_ok(api->sync(d));
    assert_ok(api->event_record(d, start));
    l.start = l.stop = NULL;
    for (int i = 0; i < 4; i++) assert_ok(api->launch(d, &l));
    assert_ok(api->event_record(d, stop));
    assert_ok(api->event_elapsed(d, start, stop, &four));
    assert_true(one < gap);
    assert_int_equal(four, 4 * gap + one); /* the device waits for each launch */
    api->graph_free(d, g);
    assert_int_equal(api->graph_end(d, &g), ERR_FAILED);
    assert_null(g);
    api->event_free(d, start);
    api->event_free(d, stop);
    api->module_unload(d, m);
    api->close(d);
}

static void put(Arena *a, const char *root, const char *path, const char *text)
{
    Str full = path_join(a, root, path);
    Str dir = arena_dup(a, path_dir(full));
    assert_ok(dir_make(dir.s));
    assert_ok(file_write(full.s, str_from(text)));
}

static void test_monitor(void **state)
{
    (void)state;
    Arena a;
    arena_init(&a, 0);
    char *root = test_dir();
    HostMonitor m;
    DeviceReading r;
    host_monitor_init(&m, root); /* nothing there */
    host_monitor_read(&m, &r);
    assert_true(isnan(r.temp_c) && isnan(r.clock_sys_mhz) && isnan(r.power_w) && isnan(r.fan_rpm));
    assert_int_equal(host_monitor_max_clock(&m), 0);
    put(&a, root, "sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "2400000\n");
    put(&a, root, "sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "3700000\n");
    put(&a, root, "sys/class/thermal/thermal_zone0/temp", "30000\n");
    put(&a, root, "sys/class/thermal/thermal_zone0/type", "acpitz\n");
    put(&a, root, "sys/class/thermal/thermal_zone1/temp", "65500\n");
    put(&a, root, "sys/class/thermal/thermal_zone1/type", "x86_pkg_temp\n");
    put(&a, root, "sys/class/powercap/intel-rapl:0/energy_uj", "1000000\n");
    host_monitor_init(&m, root);
    host_monitor_read(&m, &r);
    assert_true(r.clock_sys_mhz == 2400 && r.temp_c == 65.5 && isnan(r.power_w));
    assert_int_equal(host_monitor_max_clock(&m), 3700);
    m.last_ns -= 1000000000;
    put(&a, root, "sys/class/powercap/intel-rapl:0/energy_uj", "51000000\n");
    host_monitor_read(&m, &r);
    assert_true(r.power_w > 40 && r.power_w <= 50.1);
    assert_ok(dir_remove(root));
    free(root);
    arena_fini(&a);
}

static Err read_args(Arena *a, ClientOptions *o, int n, const char **args)
{
    char *argv[24] = {(char *)(uintptr_t) "tuner-client"};
    for (int i = 0; i < n; i++) argv[i + 1] = (char *)(uintptr_t)args[i];
    return options_read(a, n + 1, argv, o, &(bool){false});
}
#define ARGS(o, ...)                                                                                         \
    read_args(&a, (o), (int)(sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *)),                        \
              (const char *[]){__VA_ARGS__})

static void test_options(void **state)
{
    (void)state;
    Arena a;
    arena_init(&a, 0);
    char *dir = test_dir();
    ClientOptions o;
    Str ini = path_join(&a, dir, "c.ini");
    put(&a, dir, "c.ini",
        "library-file=x.yaml\nproblem-size=1,2,3,4\nproblem-size=5,6,7,8\ninit-a=TrigSin\n"
        "exit-on-error=True\nbounds-check=GuardPageBack\nlog-level=Terse\nnum-warmups=3\ntype=Double\n"
        "c-type=Half\nperf-l2-read-hits=0.5\nperformance-metric=CUEfficiency\n");
    assert_ok(ARGS(&o, "--config-file", ini.s));
    assert_int_equal(o.problem_sizes.n, 2);
    assert_str(o.problem_sizes.v[1], "5,6,7,8");
    assert_true(o.init_a == INIT_TRIG_SIN && o.exit_on_error && o.bounds_check == BOUNDS_BACK);
    assert_true(o.log_level == LEVEL_TERSE && o.n_warmups == 3 && o.cu_efficiency);
    assert_true(o.a_type == TYPE_D && o.c_type == TYPE_H && o.d_type == TYPE_D); /* the single type wins */
    assert_true(o.gpu_timer && o.n_validate == 0 && o.sleep_percent == 0 &&
                o.print_max == -1); /* own defaults */
    assert_true(o.n_solutions == -1 && o.solution_start == -1 && o.max_workspace == 33554432);
    assert_string_equal(o.results_file, "results.csv");
    /* The command line wins, wherever it stands; its lists replace the file's. */
    assert_ok(
        ARGS(&o, "--num-warmups=5", "--problem-size", "9,9,9,9", "--config-file", ini.s, "--best-solution"));
    assert_true(o.n_warmups == 5 && o.problem_sizes.n == 1 && o.best_solution);
    assert_int_equal(ARGS(&o, "--num-warmup=5"), ERR_INPUT);
    assert_string_equal(err_message(), "unknown option '--num-warmup' (did you mean '--num-warmups'?)");
    assert_int_equal(ARGS(&o, "--num-warmups=x"), ERR_INPUT);
    assert_string_equal(err_message(), "--num-warmups: expected an integer, found 'x'");
    assert_int_equal(ARGS(&o, "--num-warmups"), ERR_INPUT);
    assert_int_equal(ARGS(&o, "--bounds-check=Front"), ERR_INPUT);
    assert_int_equal(ARGS(&o, "stray"), ERR_INPUT);
    put(&a, dir, "c.ini", "library-file=x\n\nhardwaremonitor=True\n");
    assert_int_equal(ARGS(&o, "--config-file", ini.s), ERR_INPUT);
    assert_non_null(strstr(err_message(),
                           "c.ini:3: unknown option 'hardwaremonitor' (did you mean 'hardware-monitor'?)"));
    put(&a, dir, "c.ini", "library-file=x\nnum-warmups=many\n");
    assert_int_equal(ARGS(&o, "--config-file", ini.s), ERR_INPUT);
    assert_non_null(strstr(err_message(), "c.ini:2: num-warmups: expected an integer, found 'many'"));
    put(&a, dir, "c.ini", "init-a=Randon\n");
    assert_int_equal(ARGS(&o, "--config-file", ini.s), ERR_INPUT);
    assert_non_null(
        strstr(err_message(), "c.ini:1: init-a: unknown initialisation 'Randon' (did you mean 'Random'?)"));
    assert_ok(dir_remove(dir));
    free(dir);
    arena_fini(&a);
}

#define NN "--problem-identifier=Contraction_l_Ailk_Bljk_Cijk_Dijk"

static void test_problems(void **state)
{
    (void)state;
    Arena a;
    arena_init(&a, 0);
    ClientOptions o;
    ProblemSet set;
    assert_ok(ARGS(&o, NN, "--problem-size=10,20,3,7", "--a-strides=-1,16,-1", "--d-strides=1,12,300"));
    assert_ok(problem_set_read(&a, &o, &set));
    const Problem *p = &set.v[0];
    assert_true(p->shape.m == 10 && p->shape.n == 20 && p->shape.batch == 3 && p->shape.k == 7);
    assert_true(p->tensor[TENSOR_A].stride[1] == 16 && p->tensor[TENSOR_A].stride[2] == 112);
    assert_true(p->tensor[TENSOR_B].stride[1] == 7 && p->tensor[TENSOR_B].stride[2] == 140);
    assert_true(p->ld[0] == 12 && p->ld[1] == 10 && p->ld[2] == 16 && p->ld[3] == 7); /* D C A B */
    assert_true(p->gemm.a.row == 1 && p->gemm.a.col == 16 && p->gemm.alpha[0] == 2);
    assert_true(problem_flops(p) == 2.0 * 10 * 20 * 3 * 7);
    assert_ok(ARGS(&o, "--problem-identifier=Contraction_l_AlikC_Bjlk_Cijk_Dijk", "--problem-size=10,20,3,7",
                   "--type=ComplexFloat", "--init-alpha=Zero", "--init-beta=NegOne"));
    assert_ok(problem_set_read(&a, &o, &set));
    p = &set.v[0];
    assert_true(p->shape.trans_a && p->shape.trans_b && p->gemm.a.conj && !p->gemm.b.conj);
    assert_true(p->shape.k == 0 && p->gemm.k == 7 && p->shape.beta == SCALAR_NEG_ONE);
    assert_true(p->gemm.a.row == 7 && p->gemm.a.col == 1 && p->gemm.b.row == 20);
    assert_ok(ARGS(&o, "--problem-identifier=Contraction_k_Aik_Bkj_Cij_Dij", "--problem-size=4,5,6"));
    assert_ok(problem_set_read(&a, &o, &set));
    assert_true(set.n_sizes == 3 && set.v[0].shape.batch == 1 && set.v[0].shape.k == 6);
    assert_ok(ARGS(&o, NN, "--problem-size=10,20,3,7", "--type=Float8", "--b-type=BFloat8", "--d-type=Half"));
    assert_ok(problem_set_read(&a, &o, &set));
    p = &set.v[0];
    problem_set_target(&set, "gfx942");
    assert_true(p->gemm.a.type == TYPE_F8 && p->tensor[TENSOR_B].type == TYPE_B8);
    problem_set_target(&set, "gfx1201");
    assert_true(p->gemm.a.type == TYPE_F8_OCP && p->gemm.b.type == TYPE_B8_OCP && p->gemm.out == TYPE_H);
    assert_true(p->tensor[TENSOR_A].type == TYPE_F8_OCP && p->tensor[TENSOR_D].type == TYPE_H);
    assert_true(p->shape.types == types_pack(TYPE_F8, TYPE_B8, TYPE_F8, TYPE_H));
    assert_ok(ARGS(&o, NN, "--problem-size=10,20,3,7", "--d-strides=1,30,10", "--strided-batched=False"));
    assert_ok(problem_set_read(&a, &o, &set)); /* matrices between each other's columns; arrays of pointers */
    p = &set.v[0];
    assert_true(!p->shape.strided_batched && p->shape.d[2] == 0 && p->tensor[TENSOR_D].stride[2] == 10);
    static const char *const bad[][3] = {
        {NN, "--problem-size=10,20,3", ""},
        {NN, "--problem-size=0,20,3,7", ""},
        {NN, "--problem-size=10,-1,3,7", ""},
        {NN, "--problem-size=10,1099511627776,3,7", ""},
        {NN, "--problem-size=2147483647,2147483647,2147483647,1", ""},
        {NN, "--problem-size=10,20,3,7", "--d-strides=1,9,-1"},
        {NN, "--problem-size=10,20,3,7", "--d-strides=1,10,199"},
        {NN, "--problem-size=10,20,3,7", "--init-beta=Identity"},
        {NN, "--problem-size=10,20,3,7", "--d-strides=1,30,9"},
        {"--problem-identifier=Contraction_l_Ailk_Bljk_Cijk", "--problem-size=10,20,3,7", ""},
        {"--problem-identifier=Contraction_lm_Ailk_Bljk_Cijk_Dijk", "--problem-size=10,20,3,7", ""},
        {"--problem-identifier=Contraction_l_Ailk_Bjik_Cijk_Dijk", "--problem-size=10,20,3,7", ""},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_ok(read_args(&a, &o, bad[i][2][0] ? 3 : 2, (const char **)(uintptr_t)bad[i]));
        if (problem_set_read(&a, &o, &set) != ERR_INPUT) fail_msg("bad problem %zu was read", i);
    }
    arena_fini(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_guard_pages), cmocka_unit_test(test_sim),     cmocka_unit_test(test_sim_fill),
        cmocka_unit_test(test_monitor),     cmocka_unit_test(test_options), cmocka_unit_test(test_graph),
        cmocka_unit_test(test_problems),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
